//! Rates of a link over time: in three numbers, and by equal spans.
//!
//! Steps, fading and outages are added up over the run. Handovers and variation count by their expectation: each run draws others.

use super::variation::Factor;
use super::{Handover, Schedule, Timeline};
use crate::units::{BitRate, Duration, Instant};

/// Rates of a link over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rates {
    /// Smallest one but for outages and gaps. Where the rate varies, one that few are below.
    pub min: BitRate,
    /// Mean over time, outages and gaps included.
    pub mean: BitRate,
    /// Largest one. Where the rate varies, one that few are above.
    pub max: BitRate,
}

/// Standard deviations from the middle to the smallest and largest of a rate that varies: 95 % of the time lies between.
const DEVIATIONS: f64 = 2.0;

/// Most changes that a mean adds up. Chosen: a millisecond of work.
const CHANGES_MAX: usize = 10_000;

/// Most changes that the rates of spans add up, the spans themselves included. Chosen: a tenth of a second of
/// work.
const SPANS_CHANGES_MAX: usize = 2_000_000;

impl Rates {
    /// Rates of a link with the rate `own` before its first step, their mean from the start of the run to `until`, or in
    /// the long run.
    #[must_use]
    pub fn of(timeline: &Timeline, own: BitRate, until: Option<Duration>) -> Self {
        if let Some(trace) = &timeline.trace {
            let [min, max] = trace.usual_rates();
            return Self { min, mean: trace.mean_rate(until), max };
        }
        let own = timeline.most(own);
        let faded = || timeline.fade.iter().filter_map(|piece| BitRate::from_bps(piece.rate));
        let stepped = || timeline.steps.iter().filter_map(|step| step.rate).chain(faded()).chain([own]);
        let (min, max) = (stepped().min().unwrap_or(own), stepped().max().unwrap_or(own));
        let (from, to) =
            until.map_or_else(|| timeline.long_run(), |until| (Instant::ZERO, Instant::ZERO + until));
        let schedule = Schedule::new(timeline, Some(own), Duration::ZERO);
        let (work, end) = schedule.work(from, to, &mut { CHANGES_MAX });
        let mean = work.checked_div(u128::from((end - from).as_nanos()));
        let mean = mean.and_then(|mean| BitRate::from_bps(u64::try_from(mean).ok()?.max(1)));
        let steps = Self { min, mean: mean.unwrap_or(own), max };
        let mean = mean_factor(timeline);
        let [least, most] = timeline.handover.map_or([1.0, 1.0], |handover| handover.rate);
        let [low, high] = [-DEVIATIONS, DEVIATIONS].map(|deviations| {
            timeline.variation.as_ref().map_or(1.0, |variation| variation.factor(deviations))
        });
        Self {
            min: times(steps.min, least * low),
            mean: times(steps.mean, mean),
            max: times(steps.max, most * high),
        }
    }
}

/// Mean rates, in bit/s, of a link with the rate `own` before its first step: in `count` spans of `every` from the start of
/// the run on. Where it changes too often to add that up, the last ones have the mean of all before.
#[must_use]
pub fn mean_rates(timeline: &Timeline, own: BitRate, every: Duration, count: usize) -> Vec<f64> {
    if let Some(trace) = &timeline.trace {
        let begin = |span: u64| Instant::ZERO + every * span;
        let of_span = |span| trace.work(begin(span), begin(span + 1)) as f64 / every.as_nanos() as f64;
        return (0..count as u64).map(of_span).collect();
    }
    let schedule = Schedule::new(timeline, Some(timeline.most(own)), Duration::ZERO);
    let mut changes = SPANS_CHANGES_MAX;
    let (mut rates, mut total) = (Vec::with_capacity(count), 0);
    for span in 0..count as u64 {
        let from = Instant::ZERO + every * span;
        let (work, end) = schedule.work(from, from + every, &mut changes);
        if end < from + every {
            break;
        }
        total += work;
        rates.push(work as f64 / every.as_nanos() as f64 * mean_factor(timeline));
    }
    let all = (every * rates.len() as u64).as_nanos().max(1);
    rates.resize(count, total as f64 / all as f64 * mean_factor(timeline));
    rates
}

/// Factor of handovers on the rate that is expected.
fn mean_factor(timeline: &Timeline) -> f64 {
    timeline.handover.as_ref().map_or(1.0, Handover::mean_factor)
}

/// `rate` times a factor, at least 1 bit/s.
fn times(rate: BitRate, factor: f64) -> BitRate {
    BitRate::from_bps(Factor::of(factor).times(rate.as_bps())).unwrap_or(rate)
}
