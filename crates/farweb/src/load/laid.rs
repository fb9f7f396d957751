//! Days and copies of a demand laid over each other, as a run lays them.
//!
//! Memory: a number a second of the workload, or a longer step beyond `BINS_MAX` seconds.

use std::ops::Add;

use super::demand::Demand;
use super::offered::MINUTE_S;
use crate::explain::WorkloadReport;
use crate::scenario::Until;

/// Most steps of a series. Chosen: 97 days of seconds, 64 MB.
const BINS_MAX: f64 = (1_u64 << 23) as f64;

/// Lengths of steps, in s, and the one beyond them.
const STEPS_S: [u64; 6] = [1, 10, 60, 600, 3600, 86_400];
const LONGEST_S: u64 = 604_800;

/// Placement of days and copies, and the number of requests that start before the run ends.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Laid {
    /// Days and copies.
    pub(super) load: u32,
    /// Number of requests as a multiple of the table's.
    pub(super) rate: f64,
    pub(super) offset_s: f64,
    /// Time that copies wrap around in.
    wraps_s: Option<f64>,
    has_period: bool,
    pub(super) speed: f64,
    /// Length of the steps of a series.
    pub(super) step_s: u64,
    /// First start.
    first_s: f64,
    /// From the first to the last start.
    pub(super) span_s: f64,
    /// From the first start to the last byte, as far as it is known before a run.
    pub(super) busy_s: f64,
    /// End of the run. None where it ends with its last request.
    pub(super) until_s: Option<f64>,
    /// Last start.
    pub(super) last_s: f64,
    /// Last byte, likewise.
    pub(super) ends_s: f64,
    /// Of all days and copies, before the run ends.
    pub(super) requests: u64,
}

impl Laid {
    pub(super) fn of(workload: &WorkloadReport, until: Until, demand: &Demand) -> Self {
        let (load, speed) = (workload.load, workload.speed);
        let offset_s = workload.copies_offset_ns as f64 / 1e9;
        let copies = u64::from(load).div_ceil(demand.days);
        let period_s = workload.period_ns.map(|period| period as f64 / 1e9);
        let wraps_s = period_s.filter(|_| copies > 1);
        let shifted_s = if wraps_s.is_some() { 0.0 } else { (copies - 1) as f64 * offset_s };
        let [last_s, ends_s] =
            [demand.last_s, demand.ends_s].map(|at_s| wraps_s.unwrap_or(at_s / speed + shifted_s));
        let fits = |step: &u64| ends_s / (*step as f64) < BINS_MAX;
        let first_s = if wraps_s.is_some() { 0.0 } else { demand.first_s / speed };
        let until_s = match until {
            Until::Done => None,
            Until::Time(until) => Some(until.as_nanos() as f64 / 1e9),
        };
        let up_to = |at_s: f64| until_s.map_or(at_s, |until_s| at_s.min(until_s)) - first_s;
        let mut laid = Self {
            load,
            rate: workload.rate,
            offset_s,
            wraps_s,
            has_period: period_s.is_some(),
            speed,
            step_s: STEPS_S.into_iter().find(fits).unwrap_or(LONGEST_S),
            first_s,
            span_s: up_to(last_s).max(0.0),
            busy_s: up_to(ends_s).max(0.0),
            until_s,
            last_s,
            ends_s,
            requests: 0,
        };
        laid.requests = laid.begun(demand).round_ties_even() as u64;
        laid
    }

    /// Requests that start before the run ends, and at that instant.
    fn begun(&self, demand: &Demand) -> f64 {
        let (days, load) = (Day::all(demand, self.rate), u64::from(self.load));
        // Copies of a day, as far as the load reaches.
        let copies = |place: u64| (load + demand.days - 1 - place) / demand.days;
        let days = days.iter().zip(0..).map(|(day, place)| (day, copies(place)));
        match self.until_s.filter(|until_s| *until_s < self.last_s) {
            Some(until_s) if until_s * self.speed < demand.first_s && self.wraps_s.is_none() => 0.0,
            Some(until_s) => {
                let of_day = |(day, copies): (&Day, u64)| {
                    (0..copies).map(|copy| self.begun_by(until_s, day, copy)).sum::<f64>()
                };
                let first = if self.wraps_s.is_none() { 1.0 } else { 0.0 }; // has begun, wherever in its second
                days.map(of_day).sum::<f64>().max(first)
            }
            None => days.map(|(day, copies)| day.requests() * copies as f64).sum(),
        }
    }

    /// Requests of a copy of a day that start by then.
    fn begun_by(&self, until_s: f64, day: &Day, copy: u64) -> f64 {
        let by = |at_s: f64| day.until(at_s * self.speed);
        let shift_s = copy as f64 * self.offset_s;
        let Some(period_s) = self.wraps_s else { return by(until_s - shift_s) };
        let turned_s = period_s - shift_s % period_s;
        by(until_s + turned_s - period_s) + by(until_s + turned_s) - day.before(turned_s * self.speed)
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
        if self.has_period || alone_s == 0.0 {
            return self.times();
        }
        let shifted = match self.rate {
            1.0 => (u64::from(self.load).div_ceil(demand.days) - 1) as f64,
            rate => f64::from(u8::from(rate > 1.0)),
        };
        self.times() * alone_s / (alone_s + self.offset_s * shifted)
    }

    /// Sums by step, of so many days and copies. `values` are of each slot of the demand.
    pub(super) fn series<T: Copy + Default + Add<Output = T>>(
        &self,
        values: &[T],
        demand: &Demand,
        load: u32,
    ) -> Vec<T> {
        let mut steps = vec![T::default(); self.step(self.ends_s) + 2];
        for copy in 0..u64::from(load).div_ceil(demand.days) {
            let days = u64::from(load) - copy * demand.days;
            let shift_s = copy as f64 * self.offset_s;
            for (slot, value) in
                demand.slots.iter().zip(values).filter(|(slot, _)| u64::from(slot.day) < days)
            {
                let at_s = slot.second as f64 / self.speed + shift_s;
                let step = &mut steps[self.step(self.wraps_s.map_or(at_s, |period_s| at_s % period_s))];
                *step = *step + *value;
            }
        }
        steps
    }

    /// A series up to the end of the run. The step in which it ends counts in proportion.
    pub(super) fn cut(&self, mut series: Vec<f64>) -> Vec<f64> {
        if let Some(until_s) = self.until_s {
            let last = self.step(until_s);
            series.truncate(last + 1);
            if let Some(step) = series.get_mut(last) {
                *step *= until_s / self.step_s as f64 - last as f64;
            }
        }
        series
    }

    /// Mean of a series from the first start to the last byte, in bit/s, over a minute at least.
    pub(super) fn mean_bps(&self, series: &[f64]) -> f64 {
        let over_s = self.busy_s.max(MINUTE_S as f64);
        let steps = self.step(self.first_s + over_s) + 1;
        8.0 * series.iter().take(steps).sum::<f64>() / over_s
    }

    fn step(&self, at_s: f64) -> usize {
        (at_s / self.step_s as f64) as usize
    }
}

/// Seconds of a day in which requests start, as a run has them at a rate.
#[derive(Default)]
struct Day(Vec<Second>);

struct Second {
    second: u64,
    /// Requests before it.
    before: f64,
    /// Requests that start with it.
    at_once: f64,
    /// Requests that start later in it.
    later: f64,
}

impl Day {
    fn all(demand: &Demand, rate: f64) -> Vec<Self> {
        let mut days: Vec<_> = (0..demand.days).map(|_| Self::default()).collect();
        for (slot, starts) in demand.slots.iter().zip(&demand.starts) {
            let all = (starts.at_once + starts.later) as f64;
            if all == 0.0 {
                continue;
            }
            let each = expected(rate, starts.sampled as f64 / all);
            let [at_once, later] = [starts.at_once, starts.later].map(|number| number as f64 * each);
            let day = &mut days[slot.day as usize];
            day.0.push(Second { second: slot.second, before: day.requests(), at_once, later });
        }
        days
    }

    fn requests(&self) -> f64 {
        self.0.last().map_or(0.0, |last| last.before + last.at_once + last.later)
    }

    /// Requests that start before then. Those within a second count in proportion.
    fn before(&self, at_s: f64) -> f64 {
        let behind = self.0.partition_point(|each| (each.second as f64) < at_s);
        let Some(last) = behind.checked_sub(1).map(|place| &self.0[place]) else { return 0.0 };
        last.before + last.at_once + last.later * (at_s - last.second as f64).min(1.0)
    }

    /// The same and requests that start at that instant.
    fn until(&self, at_s: f64) -> f64 {
        let found = self.0.binary_search_by(|each| (each.second as f64).total_cmp(&at_s));
        self.before(at_s) + found.map_or(0.0, |place| self.0[place].at_once)
    }
}

/// How often a request occurs on average at a rate. Requests tagged `sample` occur at least once.
pub(super) fn expected(rate: f64, sampled: f64) -> f64 {
    rate + (1.0 - rate).max(0.0) * sampled
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
