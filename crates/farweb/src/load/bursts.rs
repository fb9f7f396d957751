//! Copies that lie so close together that their bursts meet, or so far apart that the workload takes longer.
//!
//! The peak factor is the largest load over a window divided by the mean load. Copies far enough apart have a factor near 1, as
//! bursts of some meet quiet times of others. Copies that burst together keep the factor of a single one.

use super::demand::Demand;
use super::laid::{Laid, peak};
use crate::explain::Warning;
use crate::scenario::Workload;
use crate::units::words::{plain, seconds};

/// Windows, in s.
const WINDOWS_S: [u64; 3] = [60, 600, 3600];

/// Least peak factor of a burst. Chosen: less than twice the mean is no burst.
const BURST: f64 = 2.0;

/// Chosen: more than half of the burst of one copy above its mean is still there.
const TOGETHER: f64 = 0.5;

/// Chosen: a load that is a tenth less than it says is another load.
const STRETCHED: f64 = 0.9;

/// A warning about copies that burst together.
pub(super) fn together(workload: &Workload, demand: &Demand, laid: &Laid) -> Option<Warning> {
    let copies = laid.copies(demand);
    if copies < 2.0 {
        return None;
    }
    let responses = demand.responses();
    let [one, all] =
        [demand.days as u32, laid.load].map(|load| laid.cut(laid.series(&responses, demand, load)));
    let span_s = (demand.last_s - demand.first_s) / laid.speed;
    let mean = 8.0 * one.iter().sum::<f64>() / span_s;
    let factors = |window_s: u64| {
        let of = |series: &[f64]| peak(series, window_s, laid.step_s).map_or(0.0, |(bps, _)| bps);
        (window_s, of(&all) / (mean * copies), of(&one) / mean)
    };
    let (window_s, together, alone) = WINDOWS_S
        .into_iter()
        .filter(|window_s| (window_s * 4) as f64 <= span_s && laid.step_s <= *window_s)
        .map(factors)
        .filter(|(_, together, alone)| *alone >= BURST && together - 1.0 > TOGETHER * (alone - 1.0))
        .reduce(|worst, each| if each.1 > worst.1 { each } else { worst })?;
    let words = format!(
        "{} keeps the bursts of {} copies together: the busiest {} of all have {together:.1} times the mean load, those of \
         one copy {alone:.1} times; copies spread over the whole trace have {}",
        workload.copies_offset,
        plain(copies, 3),
        seconds(window_s as f64),
        whole_trace(demand, laid)
    );
    Some(Warning::new("workload.copies_offset", words))
}

/// A warning about copies, or repeats, that stretch the workload.
pub(super) fn stretched(demand: &Demand, laid: &Laid) -> Option<Warning> {
    let (times, multiple) = (laid.times(), laid.rate_multiple(demand));
    if multiple >= STRETCHED * times {
        return None;
    }
    let (cause, remedy) = if laid.rate > 1.0 {
        let offset = whole(demand.last_s / laid.speed / 60.0);
        ("repeats start up to".to_owned(), format!("copies_offset = \"{offset} s\""))
    } else {
        (format!("{} copies start each", plain(laid.copies(demand), 3)), whole_trace(demand, laid))
    };
    let wanted = plain(times, 6);
    let words = format!(
        "{wanted} is {} times the rate of requests: {cause} {} later (copies_offset), and the workload takes longer; for \
         {wanted} times the rate write {remedy}",
        plain(multiple, 3),
        seconds(laid.offset_s)
    );
    Some(Warning::new("workload.load", words))
}

/// Keys that spread copies over the whole trace, which stays as long as it is.
fn whole_trace(demand: &Demand, laid: &Laid) -> String {
    let last_s = demand.last_s / laid.speed;
    let (period, offset) = (whole(last_s + 1.0), whole(last_s / laid.copies(demand)));
    format!("period = \"{period} s\" and copies_offset = \"{offset} s\"")
}

fn whole(value: f64) -> u64 {
    (value.round_ties_even() as u64).max(1)
}
