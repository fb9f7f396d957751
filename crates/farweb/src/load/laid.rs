//! Days and copies of a demand laid over each other, as a run lays them.
//!
//! Memory: a number a second of the workload, or a longer step beyond `BINS_MAX` seconds.

use super::demand::Demand;
use crate::explain::WorkloadReport;
use crate::scenario::Until;

/// Most steps of a series. Chosen: 97 days of seconds, 64 MB.
const BINS_MAX: f64 = (1_u64 << 23) as f64;

/// Lengths of steps, in s, and the one beyond them.
const STEPS_S: [u64; 6] = [1, 10, 60, 600, 3600, 86_400];
const LONGEST_S: u64 = 604_800;

/// Placement of days and copies, and the number of requests that they have then.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Laid {
    /// Days and copies.
    pub(super) load: u32,
    /// Number of requests as a multiple of the table's.
    pub(super) rate: f64,
    pub(super) offset_s: f64,
    period_s: Option<f64>,
    pub(super) speed: f64,
    /// Length of the steps of a series.
    pub(super) step_s: u64,
    /// From the first to the last start.
    pub(super) span_s: f64,
    /// End of the run. None where it ends with its last request.
    pub(super) until_s: Option<f64>,
    /// Last start.
    pub(super) ends_s: f64,
    /// Of all days and copies.
    pub(super) requests: u64,
}

impl Laid {
    pub(super) fn of(workload: &WorkloadReport, until: Until, demand: &Demand) -> Self {
        let (load, speed) = (workload.load, workload.speed);
        let offset_s = workload.copies_offset_ns as f64 / 1e9;
        let period_s = workload.period_ns.map(|period| period as f64 / 1e9);
        let copies = u64::from(load).div_ceil(demand.days);
        let shifted_s = if period_s.is_some() { 0.0 } else { (copies - 1) as f64 * offset_s };
        let length_s = demand.last_s / speed + shifted_s;
        let longest_s = length_s.max(period_s.unwrap_or_default());
        let fits = |step: &u64| longest_s / (*step as f64) < BINS_MAX;
        let wrapped_s = period_s.filter(|_| copies > 1);
        let first_s = if wrapped_s.is_some() { 0.0 } else { demand.first_s / speed };
        let ends_s = wrapped_s.unwrap_or(length_s);
        let until_s = match until {
            Until::Done => None,
            Until::Time(until) => Some(until.as_nanos() as f64 / 1e9),
        };
        let rows = demand.requests as f64 * f64::from(load) / demand.days as f64;
        Self {
            load,
            rate: workload.rate,
            offset_s,
            period_s,
            speed,
            step_s: STEPS_S.into_iter().find(fits).unwrap_or(LONGEST_S),
            span_s: (ends_s - first_s).min(until_s.unwrap_or(ends_s)),
            until_s,
            ends_s,
            requests: (rows * workload.rate).round_ties_even() as u64,
        }
    }

    /// Days and copies, or as many times the requests.
    pub(super) fn times(&self) -> f64 {
        f64::from(self.load) * self.rate
    }

    /// Copies of all days.
    pub(super) fn copies(&self, demand: &Demand) -> f64 {
        f64::from(self.load) / demand.days as f64
    }

    /// Mean requests a second, relative to a load of 1: less where copies begin so far apart that the workload takes longer.
    pub(super) fn rate_multiple(&self, demand: &Demand) -> f64 {
        let alone_s = (demand.last_s - demand.first_s) / self.speed;
        if self.period_s.is_some() || alone_s == 0.0 {
            return self.times();
        }
        let shifted = match self.rate {
            1.0 => (u64::from(self.load).div_ceil(demand.days) - 1) as f64,
            rate => f64::from(u8::from(rate > 1.0)),
        };
        self.times() * alone_s / (alone_s + self.offset_s * shifted)
    }

    /// Bytes by step until the run ends, of so many days and copies. `values` are of each slot of the demand.
    pub(super) fn series(&self, values: &[f64], demand: &Demand, load: u32) -> Vec<f64> {
        let copies = u64::from(load).div_ceil(demand.days);
        let shift_s = |copy: u64| copy as f64 * self.offset_s;
        let shifted_s = if self.period_s.is_some() { 0.0 } else { shift_s(copies - 1) };
        let last_s = (demand.last_s / self.speed + shifted_s).max(self.period_s.unwrap_or_default());
        let mut steps = vec![0.0; self.step(last_s) + 2];
        for copy in 0..copies {
            let days = u64::from(load) - copy * demand.days;
            for (slot, value) in
                demand.slots.iter().zip(values).filter(|(slot, _)| u64::from(slot.day) < days)
            {
                let at_s = slot.second as f64 / self.speed + shift_s(copy);
                steps[self.step(self.period_s.map_or(at_s, |period_s| at_s % period_s))] += value;
            }
        }
        steps.truncate(self.until_s.map_or(usize::MAX, |until_s| self.step(until_s) + 1));
        steps
    }

    fn step(&self, at_s: f64) -> usize {
        (at_s / self.step_s as f64) as usize
    }
}

/// The window of a series with the largest mean rate, in bit/s, and its begin, in s. None when steps are longer than the window.
pub(super) fn peak(series: &[f64], window_s: u64, step_s: u64) -> Option<(f64, f64)> {
    (step_s <= window_s).then(|| largest(windows(series, window_s, step_s).into_iter(), step_s))
}

/// The first of the largest values by step, and its time in s.
pub(super) fn largest(values: impl Iterator<Item = f64>, step_s: u64) -> (f64, f64) {
    let (place, value) = values
        .enumerate()
        .fold((0, f64::NEG_INFINITY), |most, each| if each.1 > most.1 { each } else { most });
    (value, (place as u64 * step_s) as f64)
}

/// Mean rates over each window of bytes by step, in bit/s. One of a series that is shorter.
pub(super) fn windows(series: &[f64], window_s: u64, step_s: u64) -> Vec<f64> {
    let steps = (window_s / step_s) as usize;
    let mut sums = vec![0.0];
    sums.extend(series.iter().scan(0.0, |sum, bytes| {
        *sum += bytes;
        Some(*sum)
    }));
    let rate = |bytes: f64| 8.0 * bytes / window_s as f64;
    match sums.len() > steps {
        true => sums[steps..].iter().zip(&sums).map(|(end, begin)| rate(end - begin)).collect(),
        false => vec![rate(sums[series.len()])],
    }
}
