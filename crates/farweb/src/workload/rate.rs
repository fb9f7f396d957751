//! Load as a rate: every request of a table occurs never, once or several times, so that the load is a factor on their number.
//!
//! Models more or fewer users of the same kind by the hour: each request occurs as often as the whole part of the load, and once
//! more with the probability of its fraction. The first is the request itself; repeats start later, each by a time of its own,
//! uniform below a window, without tags. A request tagged `sample` is there in any case, so that the same requests are measured in
//! every run: below load 1 they are a larger share than in the table. One draw a row decides for every load, so that a run with a
//! smaller load and the same seed has a part of the requests of one with a larger. Variations of the rate over longer times than the
//! window stay, and so does the mix of requests. Leaves out bursts among repeats: requests that a page makes at once are repeated
//! one by one. Copies keep bursts, and come in whole numbers.
//!
//! Source: thinning as P. A. W. Lewis and G. S. Shedler have it, "Simulation of nonhomogeneous Poisson processes by thinning", Naval
//! Research Logistics Quarterly 26(3), 1979. Chosen: how repeats are spread.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::{Directory, Request, RequestSource, WorkloadError};
use crate::rng::{RandomStream, RandomStreams};
use crate::units::{Duration, Instant};

/// Smallest and largest load as a rate. Chosen: as for the speed; what is beyond is a slip.
pub const RATE_MIN: f64 = 0.001;
/// Largest.
pub const RATE_MAX: f64 = 1_000_000.0;

/// The tag of requests that are measured in every run.
const MEASURED: &str = "sample";

/// Latest start, in ns: results hold times as int64.
const LATEST: u64 = i64::MAX as u64;

/// The requests of another source at so many times their rate. Memory is that of the repeats within a window.
#[derive(Debug)]
pub struct AtRate<S> {
    source: S,
    load: f64,
    window: Duration,
    streams: RandomStreams,
    choices: RandomStream,
    rows: u64,
    /// The request of the source that is next, unless it is to be read.
    head: Option<Request>,
    has_ended: bool,
    repeats: BinaryHeap<Repeat>,
    repeated: u64,
}

/// A repeat that is still to come; the greatest is the earliest, and of equal starts the one that was made first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Repeat {
    request: Request,
    number: u64,
}

impl Ord for Repeat {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.request.start, other.number).cmp(&(self.request.start, self.number))
    }
}

impl PartialOrd for Repeat {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<S: RequestSource> AtRate<S> {
    /// The requests of `source` at `load` times their rate, drawn from `streams`; repeats start less than `window` later, or at the
    /// same time where that is zero.
    ///
    /// # Panics
    /// When the load is out of range.
    #[must_use]
    pub fn new(source: S, load: f64, window: Duration, streams: RandomStreams) -> Self {
        assert!((RATE_MIN..=RATE_MAX).contains(&load), "checked with the scenario");
        Self {
            source,
            load,
            window,
            streams,
            choices: streams.stream("load as a rate", 0),
            rows: 0,
            head: None,
            has_ended: false,
            repeats: BinaryHeap::new(),
            repeated: 0,
        }
    }

    /// Reads requests of the source until there is one of which at least one is wanted, and makes its repeats.
    fn read(&mut self, directory: &mut Directory) -> Result<(), WorkloadError> {
        while self.head.is_none() && !self.has_ended {
            let Some(request) = self.source.next_request(directory)? else {
                self.has_ended = true;
                return Ok(());
            };
            let row = self.rows;
            self.rows += 1;
            let wanted = self.load.floor() as u64 + u64::from(self.choices.happens(self.load.fract()));
            let is_measured = request.tag.is_some_and(|tag| &*directory.tags.words()[tag] == MEASURED);
            if wanted > 0 || is_measured {
                self.head = Some(request);
            }
            if wanted > 1 {
                self.repeat(&request, row, wanted - 1)?;
            }
        }
        Ok(())
    }

    /// Makes repeats of the request in a row.
    fn repeat(&mut self, request: &Request, row: u64, times: u64) -> Result<(), WorkloadError> {
        let mut later = self.streams.stream("repeats of a request", row);
        for _ in 0..times {
            let by = match self.window {
                Duration::ZERO => Duration::ZERO,
                window => later.duration_between(Duration::ZERO, window),
            };
            let start = request.start.as_nanos().saturating_add(by.as_nanos());
            if start > LATEST {
                return Err(WorkloadError(format!(
                    "workload.copies_offset: found {}; a repeat of a request then starts after 292 years",
                    self.window
                )));
            }
            let request = Request { start: Instant::from_nanos(start), tag: None, ..*request };
            self.repeats.push(Repeat { request, number: self.repeated });
            self.repeated += 1;
        }
        Ok(())
    }
}

impl<S: RequestSource> RequestSource for AtRate<S> {
    fn next_request(&mut self, directory: &mut Directory) -> Result<Option<Request>, WorkloadError> {
        self.read(directory)?;
        let is_repeat = match (self.repeats.peek(), &self.head) {
            (Some(repeat), Some(head)) => repeat.request.start < head.start,
            (repeat, _) => repeat.is_some(),
        };
        Ok(if is_repeat { self.repeats.pop().map(|repeat| repeat.request) } else { self.head.take() })
    }
}

#[cfg(test)]
mod tests;
