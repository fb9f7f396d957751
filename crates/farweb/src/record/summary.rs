//! Summary of a run's requests: counts, and distributions of their times.
//!
//! A request without a whole response has no time, but was not quick: it counts as slower than any that ended, so that leaving
//! failures out flatters no distribution. A quantile among such requests is infinite, which JSON writes as null.
//!
//! Source: censored data, with every censored time behind the last observed one (Klein and Moeschberger, Survival Analysis, 2nd
//! ed., 2003, chapter 3). Quantiles are type 1 of Hyndman and Fan (The American Statistician 50, 1996).

use serde::Serialize;

use super::{Column, NULL_INT};
use crate::units::Duration;

/// Shares of requests whose quantiles a summary has.
const SHARES: [f64; 3] = [0.5, 0.9, 0.99];
/// Excess over a place that does not reach the next one. Chosen: above a double's rounding.
const ROUNDING: f64 = 1e-9;

/// The requests of a run that began after the warm-up.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// How many began after the warm-up.
    pub requests: usize,
    /// Requests with a whole response.
    pub done: usize,
    /// Requests that failed.
    pub failed: usize,
    /// Requests cut off by the end of the run.
    pub unfinished: usize,
    /// Requests that began in the warm-up, in no other number.
    pub left_out: usize,
    /// Times from the request at the first node to the last byte of its response there.
    pub latency: Times,
    /// The same to the first byte.
    pub first_byte: Times,
}

/// A distribution of times in s. Mean and maximum are of requests that ended, quantiles of all.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Times {
    /// Requests that ended.
    pub n: usize,
    /// Their mean.
    pub mean_s: Option<f64>,
    /// The slowest of them.
    pub max_s: Option<f64>,
    /// The smallest times that half, 90 % and 99 % of all requests took at most.
    pub observed_s: Option<[f64; 3]>,
}

impl Summary {
    /// The summary of the table of requests. Those that began before `warmup` are left out.
    ///
    /// # Panics
    /// When a column of the table is missing.
    #[must_use]
    pub fn of(requests: &[(&'static str, Column)], warmup: Duration) -> Self {
        let column = |name| {
            let found = requests.iter().find(|(own, _)| *own == name);
            found
                .map(|(_, column)| column)
                .unwrap_or_else(|| panic!("the table of requests has a column {name}"))
        };
        let (start, first, end) =
            (ints(column("start_ns")), ints(column("first_byte_ns")), ints(column("end_ns")));
        let Column::Word(status, _) = column("status") else { unreachable!("a status is a word") };
        let [mut done, mut failed, mut left_out] = [0; 3];
        let (mut latency, mut first_byte) = (Vec::new(), Vec::new());
        for row in 0..start.len() {
            match status[row] {
                _ if start[row] < warmup.as_nanos() as i64 => left_out += 1,
                DONE => {
                    done += 1;
                    latency.push(since(start[row], end[row]));
                    first_byte.push(since(start[row], first[row]));
                }
                FAILED => failed += 1,
                _ => {}
            }
        }
        let all = start.len() - left_out;
        let lost = all - done;
        Self {
            requests: all,
            done,
            failed,
            unfinished: lost - failed,
            left_out,
            latency: Times::of(latency, lost),
            first_byte: Times::of(first_byte, lost),
        }
    }
}

/// Codes of the words of the column `status`.
const DONE: i32 = 0;
const FAILED: i32 = 1;

fn ints(column: &Column) -> &[i64] {
    let Column::Int(values) = column else { unreachable!("a time is a whole number") };
    values
}

fn since(start: i64, end: i64) -> u64 {
    debug_assert_ne!(end, NULL_INT, "a request that is done has ended");
    (end - start) as u64
}

impl Times {
    /// The distribution of times in ns that ended, beside as many that did not.
    fn of(mut ended: Vec<u64>, lost: usize) -> Self {
        ended.sort_unstable();
        let (n, all) = (ended.len(), ended.len() + lost);
        let total: u128 = ended.iter().map(|time| u128::from(*time)).sum();
        let at = |place: usize| ended.get(place).map_or(f64::INFINITY, |time| *time as f64);
        Self {
            n,
            mean_s: (n > 0).then(|| total as f64 / n as f64 / 1e9),
            max_s: ended.last().map(|time| *time as f64 / 1e9),
            observed_s: (all > 0).then(|| SHARES.map(|share| at(observed(all, share)) / 1e9)),
        }
    }
}

/// Place, from 0, of the smallest of so many values with at least this share at or below it.
fn observed(number: usize, share: f64) -> usize {
    ((share * number as f64 - ROUNDING).ceil() as usize).max(1) - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Dictionary;

    /// Requests that start at 0, 10, 20, … ns and take these times. `None`: it failed.
    fn table(times: &[Option<i64>]) -> Vec<(&'static str, Column)> {
        let start: Vec<i64> = (0..times.len() as i64).map(|row| 10 * row).collect();
        let end = |half: bool| {
            let ends = start.iter().zip(times).map(|(start, time)| match time {
                Some(time) => start + if half { time / 2 } else { *time },
                None => NULL_INT,
            });
            Column::Int(ends.collect())
        };
        let status = times.iter().map(|time| if time.is_some() { DONE } else { FAILED }).collect();
        let words = Dictionary::Fixed(&["done", "failed", "unfinished"]);
        vec![
            ("first_byte_ns", end(true)),
            ("end_ns", end(false)),
            ("status", Column::Word(status, words)),
            ("start_ns", Column::Int(start)),
        ]
    }

    #[test]
    fn quantiles_are_those_of_the_definitions() {
        let times: Vec<_> = (1..=5).rev().map(|second| Some(second * 1_000_000_000)).collect();
        let found = Summary::of(&table(&times), Duration::ZERO);
        assert_eq!((found.requests, found.done, found.failed, found.unfinished), (5, 5, 0, 0));
        assert_eq!((found.latency.mean_s, found.latency.max_s), (Some(3.0), Some(5.0)));
        assert_eq!(found.latency.observed_s, Some([3.0, 5.0, 5.0]));
        assert_eq!(found.first_byte.mean_s, Some(1.5));
        // A share of a whole number of requests is that request's own, whatever a double makes of 0.9 × 10.
        let ten: Vec<_> = (1..=10).map(|second| Some(second * 1_000_000_000)).collect();
        assert_eq!(Summary::of(&table(&ten), Duration::ZERO).latency.observed_s, Some([5.0, 9.0, 10.0]));
    }

    #[test]
    fn a_failed_request_is_slower_than_any_that_ended() {
        let found = Summary::of(&table(&[Some(4_000_000_000), None, Some(2_000_000_000)]), Duration::ZERO);
        assert_eq!((found.done, found.failed, found.latency.n), (2, 1, 2));
        assert_eq!(found.latency.mean_s, Some(3.0));
        assert_eq!(found.latency.observed_s, Some([4.0, f64::INFINITY, f64::INFINITY]));
        let json = serde_json::to_value(&found.latency).unwrap();
        assert_eq!(json["observed_s"], serde_json::json!([4.0, null, null]));
    }

    #[test]
    fn requests_of_the_warm_up_are_in_no_number() {
        let found = Summary::of(&table(&[Some(7), None, Some(30)]), Duration::from_nanos(20));
        assert_eq!((found.requests, found.done, found.failed, found.left_out), (1, 1, 0, 2));
        assert_eq!(found.latency.max_s, Some(30e-9));
        let none = Summary::of(&table(&[]), Duration::ZERO);
        assert_eq!((none.requests, none.latency.mean_s, none.latency.observed_s), (0, None, None));
    }
}
