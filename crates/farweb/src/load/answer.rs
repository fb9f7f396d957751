//! The answer of a check: whether a path can carry its load, in a sentence.

use serde::Serialize;

use super::offered::{BUSY, Offered, OfferedLoad};
use super::{Check, Unheld};
use crate::explain::Warning;
use crate::units::words::{plural, seconds, share};

/// A load against a path, from best to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    /// There is room left.
    Carried,
    /// The contents of caches decide.
    Open,
    /// Whatever a cache answers.
    Full,
    /// Likewise, beyond the rate of a link.
    Overloaded,
}

impl State {
    fn of(load: &Offered) -> Self {
        let least = load.surely_fullest().least_fullness();
        if least > 1.0 {
            Self::Overloaded
        } else if least > BUSY {
            Self::Full
        } else if load.fullest().fullness() > BUSY {
            Self::Open
        } else {
            Self::Carried
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Carried => "The path carries",
            Self::Open => "The cache decides",
            Self::Full => "Nearly full",
            Self::Overloaded => "Overloaded",
        }
    }
}

/// A sentence: whether the fullest link has room, and the least time of a request.
pub(super) fn of(check: &Check) -> String {
    let least = least(check.least_s(), !check.report.caches.is_empty());
    let load = match check.offered() {
        Ok(load) => load,
        Err(why) => return format!("The load was not held against the path: {}. {least}", why.words()),
    };
    let (state, says) = (State::of(load), says(load));
    let head = state.words();
    match state {
        State::Overloaded => format!("{head}: {says}"),
        State::Open => format!("{head} whether the path carries this load: {says} {least}"),
        State::Full => format!("{head}: {says} Latencies are mostly queueing. {least}"),
        State::Carried => format!("{head} this load: {says} {least}"),
    }
}

fn least(time_s: f64, has_cache: bool) -> String {
    let which = if has_cache { " to the servers" } else { "" };
    format!("No request{which} can take less than {}.", seconds(time_s))
}

/// How full the fullest link is, as a sentence goes on.
fn says(load: &Offered) -> String {
    let state = State::of(load);
    let fullest = if state <= State::Open { load.fullest() } else { load.surely_fullest() };
    if state == State::Overloaded {
        let whatever = if fullest.at_most { ", whatever a cache answers" } else { "" };
        let (part, name, when) = (fullest.part(), fullest.name(), fullest.least_when());
        if fullest.least_fullness().is_infinite() {
            return format!("{name} carries nothing {when}{whatever}, and requests come; queues grow.");
        }
        return format!(
            "{part} from {name} {when}{whatever}; queues grow. Raise the rate or lower workload.load."
        );
    }
    let of_mean = if fullest.is_mean { format!(", of {}", fullest.line()) } else { String::new() };
    let (name, when) = (fullest.name(), fullest.when());
    if fullest.at_most && state > State::Carried {
        let [least, most] = [fullest.least_fullness(), fullest.fullness()].map(share);
        return format!(
            "its fullest link, {name}, is {least} to {most} busy {when}, by what a cache answers{of_mean}."
        );
    }
    let at_most = if fullest.at_most { "at most " } else { "" };
    let busy = share(fullest.fullness());
    format!("its fullest link, {name}, is {at_most}{busy} busy {when}{}{of_mean}.", of_second(fullest))
}

/// The busiest second, as the sentence goes on: beyond the rate no link is busy, and it is the load that requests ask for.
fn of_second(link: &OfferedLoad) -> String {
    let Some(second_bps) = link.second_bps else { return String::new() };
    let of_rate = second_bps / link.peak().1;
    if of_rate > 1.0 {
        let whose = if link.is_mean { "" } else { " of its rate" };
        return format!("; the busiest second offers {}{whose}", share(of_rate));
    }
    format!(", {} in the busiest second", share(of_rate))
}

/// A point of a sweep.
#[derive(Debug, Clone, Copy)]
pub struct PointLoad<'a> {
    /// Its name, short enough for a sentence.
    pub name: &'a str,
    /// The scenario there.
    pub check: &'a Check,
}

/// Figures of a point: fullness of its fullest link, and the least time of a request to the servers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PointReport {
    /// None where that is unknown or without end.
    fullest_link: Option<f64>,
    /// In s.
    least_s: f64,
}

impl PointLoad<'_> {
    pub(super) fn report(&self) -> PointReport {
        let fullness = self.check.offered().ok().map(|load| load.fullest().fullness());
        PointReport {
            fullest_link: fullness.filter(|fullness| fullness.is_finite()),
            least_s: self.check.least_s(),
        }
    }
}

/// The answer of a sweep: at how many points, which is the worst, and how full its fullest link is. `points` are those looked
/// at, at least one, of so many.
pub(super) fn of_points(points: &[PointLoad<'_>], number: usize) -> String {
    let known = loads(points);
    let has_cache = points.iter().any(|point| !point.check.report.caches.is_empty());
    let least_s = points.iter().map(|point| point.check.least_s()).fold(f64::INFINITY, f64::min);
    let least = least(least_s, has_cache);
    let all = plural(number as u64, "point");
    let Some((worst, load)) = worst(&known) else {
        let mut whys: Vec<_> = points.iter().filter_map(|point| point.check.offered().err()).collect();
        whys.dedup();
        let whys: Vec<_> = whys.into_iter().map(Unheld::words).collect();
        return format!("The load of {all} was not held against the path: {}. {least}", whys.join(", or "));
    };
    let (state, says) = (State::of(load), says(load));
    let looked =
        if known.len() == number { all } else { format!("{} points looked at, of {number}", known.len()) };
    if state == State::Carried {
        let comma = if known.len() == number { "" } else { "," };
        let is_alike = known.iter().all(|(_, each)| self::says(each) == says);
        let at = if is_alike { String::new() } else { format!(", at {}", worst.name) };
        let says = says.trim_end_matches('.');
        return format!("{} the load of all {looked}{comma}: {says}{at}. {least}", state.words());
    }
    let there: Vec<_> = known.iter().filter(|(_, each)| State::of(each) == state).collect();
    let (head, many) = (state.words(), there.len());
    let first = there[0].0.name;
    let first = if state == State::Open || std::ptr::eq(there[0].1, load) {
        String::new()
    } else {
        format!("first at {first}, ")
    };
    let end = if state == State::Overloaded { String::new() } else { format!(" {least}") };
    format!("{head} at {many} of {looked}, {first}worst at {}: {says}{end}", worst.name)
}

/// Warnings about the load of the worst point.
pub(super) fn warnings_of_points(points: &[PointLoad<'_>]) -> Vec<Warning> {
    let known = loads(points);
    let Some((worst, load)) = worst(&known) else { return Vec::new() };
    let at_point =
        |warning: &Warning| Warning::new(&*warning.key, format!("{} (at {})", warning.words, worst.name));
    load.warnings.iter().map(at_point).collect()
}

fn loads<'a>(points: &[PointLoad<'a>]) -> Vec<(PointLoad<'a>, &'a Offered)> {
    points.iter().filter_map(|point| Some((*point, point.check.offered().ok()?))).collect()
}

/// The first of the worst points.
fn worst<'a>(known: &[(PointLoad<'a>, &'a Offered)]) -> Option<(PointLoad<'a>, &'a Offered)> {
    let severity =
        |load: &Offered| (State::of(load), load.surely_fullest().least_fullness(), load.fullest().fullness());
    known
        .iter()
        .copied()
        .reduce(|worst, each| if severity(each.1) > severity(worst.1) { each } else { worst })
}
