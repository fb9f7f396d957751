//! Load that a workload offers to each link, held against the rate of the link.
//!
//! Left out: retransmissions, server times. Links behind a live cache have two bounds: all that
//! is asked for, and what no cache answers, however large: uncacheable requests and the first ones for objects.

use serde::Serialize;

use super::bursts;
use super::demand::Demand;
use super::laid::{Laid, largest, peak, windows};
use super::rated::{RatedLink, Sent, Way, Which, rated_links};
use super::rows::Sheet;
use crate::explain::{Report, Warning};
use crate::scenario::Scenario;
use crate::units::Duration;
use crate::units::words::{began, count, plain, rate, seconds, share};
use crate::workload::CopiesHosts;

/// Share of a link's rate above which its busiest minute is warned of. Chosen: queues of random arrivals are some packets long below it and
/// grow without bound towards 1 (in M/D/1 a packet waits for 2 others at 0.8, for 4.5 at 0.9).
pub(super) const BUSY: f64 = 0.8;

/// Shortest time over which a mean load is taken, in s.
pub(super) const MINUTE_S: u64 = 60;

/// Load that requests offer to one direction of a link.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OfferedLoad {
    /// Place of the link on the path, from 0.
    pub link: usize,
    /// Direction of it.
    pub direction: Way,
    /// The node that sends.
    pub from_node: String,
    /// The node that receives.
    pub to_node: String,
    /// Rate of the bits that it carries, in bit/s.
    pub rate_bps: f64,
    /// True when that is a mean over time.
    pub is_mean: bool,
    /// Offered from the first start to the last byte, over a minute at least.
    pub mean_bps: f64,
    /// In the busiest minute, in which the load takes the largest share of the rate. None in a workload too long for steps of a
    /// minute.
    pub minute_bps: Option<f64>,
    /// Begin of that minute, since the start of the run.
    pub minute_from_s: Option<f64>,
    /// Start of the run on the clock of its log. None: it has none, or keeps none at another speed.
    pub origin_unix_s: Option<f64>,
    /// Mean rate of the link in that minute.
    pub minute_rate_bps: Option<f64>,
    /// In the busiest second. None in a workload too long for steps of a second.
    pub second_bps: Option<f64>,
    /// True when a live cache nearer to the clients takes an unknown part of it off.
    pub at_most: bool,
    /// The part that no cache answers, as `mean_bps`. Without such a cache all.
    pub least_mean_bps: f64,
    /// Begin of the busiest minute of that part, or None as above.
    pub least_from_s: Option<f64>,
    /// That part then or on average.
    pub least_minute_bps: f64,
    /// Mean rate of the link in that minute.
    pub least_rate_bps: f64,
}

/// Load that a workload offers to the links with a rate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Offered {
    /// Requests of all days and copies.
    pub requests: u64,
    /// From the first to the last start, in s.
    pub span_s: f64,
    /// Days and copies that run at the same time, or how many times as many requests there are.
    pub load: f64,
    /// Both directions of each link that has a rate, at least one.
    pub links: Vec<OfferedLoad>,
    /// Loads that will not fit, and copies that stretch the workload or burst together.
    #[serde(skip)]
    pub(super) warnings: Vec<Warning>,
    /// Mean requests a second relative to a load of 1: less than the load where copies begin so far apart that the workload takes
    /// longer.
    pub rate_multiple: f64,
}

impl Offered {
    /// The load that `demand` offers. None when no link has a rate.
    pub(super) fn of(scenario: &Scenario, report: &Report, demand: &Demand) -> Option<Self> {
        let laid = Laid::of(&report.workload, scenario.run.until, demand);
        let against = |link: &RatedLink| OfferedLoad::of(scenario, report, demand, &laid, link);
        let links: Vec<_> = rated_links(scenario, report).iter().map(against).collect();
        if links.is_empty() {
            return None;
        }
        let mut warnings: Vec<_> = links.iter().filter_map(OfferedLoad::warning).collect();
        warnings.extend(bursts::together(&scenario.workload, demand, &laid));
        warnings.extend(bursts::stretched(demand, &laid));
        Some(Self {
            requests: laid.requests,
            span_s: laid.span_s,
            load: laid.times(),
            links,
            warnings,
            rate_multiple: laid.rate_multiple(demand),
        })
    }

    /// The link that is fullest, with all that is asked for.
    pub(super) fn fullest(&self) -> &OfferedLoad {
        first_most(&self.links, OfferedLoad::fullness)
    }

    /// The link that is fullest by what no cache answers.
    pub(super) fn surely_fullest(&self) -> &OfferedLoad {
        first_most(&self.links, OfferedLoad::least_fullness)
    }

    pub(super) fn sheet(&self) -> Sheet {
        let of = |bps: f64, rate_bps: f64| {
            let part = if rate_bps > 0.0 { share(bps / rate_bps) } else { "∞".to_owned() };
            format!("{part} ({})", rate(bps))
        };
        let or_none = |text: Option<String>| text.unwrap_or_else(|| "–".to_owned());
        let row = |load: &OfferedLoad| {
            let at_most = if load.at_most { ", at most" } else { "" };
            vec![
                format!("{}{at_most}", load.name()),
                of_rate(load.rate_bps, load.is_mean),
                of(load.mean_bps, load.rate_bps),
                or_none(load.minute_bps.map(|bps| of(bps, load.peak().1))),
                or_none(load.second_bps.map(|bps| of(bps, load.rate_bps))),
                or_none(load.minute_from_s.map(|from_s| began(from_s, load.origin_unix_s))),
            ]
        };
        let (requests, span) = (count(self.requests as f64), seconds(self.span_s));
        Sheet {
            title: format!("Offered load: {requests} requests in {span}, load {}", plain(self.load, 6)),
            header: ["", "rate", "mean", "busiest minute", "busiest second", "busiest minute from"]
                .map(str::to_owned)
                .into(),
            rows: self.links.iter().map(row).collect(),
        }
    }
}

/// The first of the items with the largest value.
fn first_most<T>(items: &[T], value: impl Fn(&T) -> f64) -> &T {
    items
        .iter()
        .reduce(|most, each| if value(each) > value(most) { each } else { most })
        .expect("at least one")
}

/// A rate in words, which say when it is a mean over time.
pub(super) fn of_rate(rate_bps: f64, is_mean: bool) -> String {
    format!("{}{}", if is_mean { "a mean of " } else { "" }, rate(rate_bps))
}

impl OfferedLoad {
    fn of(scenario: &Scenario, report: &Report, demand: &Demand, laid: &Laid, link: &RatedLink) -> Self {
        let series = laid.cut(paced(
            link,
            &laid.series(&link.sent(Which::All, demand, laid.rate), demand, laid.load),
            laid,
        ));
        let busiest = fullest_minute(scenario, link, &series, laid.step_s);
        let is_renamed = scenario.workload.copies_hosts == CopiesHosts::Renamed;
        let missed =
            link.at_most.then(|| laid.cut(paced(link, &missed(link, laid, demand, is_renamed), laid)));
        let least = missed.as_deref().unwrap_or(&series);
        let least_minute = fullest_minute(scenario, link, least, laid.step_s);
        let [near, far] = [link.index, link.index + 1].map(|place| report.nodes[place].clone());
        let (from_node, to_node) = if link.way == Way::Up { (near, far) } else { (far, near) };
        Self {
            link: link.index,
            direction: link.way,
            from_node,
            to_node,
            rate_bps: link.rate_bps,
            is_mean: link.is_mean,
            mean_bps: laid.mean_bps(&series),
            minute_bps: busiest.map(|minute| minute.load_bps),
            minute_from_s: busiest.map(|minute| minute.from_s),
            origin_unix_s: demand.imported.origin_unix_s.filter(|_| laid.speed == 1.0),
            minute_rate_bps: busiest.map(|minute| minute.rate_bps),
            second_bps: peak(&series, 1, laid.step_s).map(|(bps, _)| bps),
            at_most: link.at_most,
            least_mean_bps: laid.mean_bps(least),
            least_from_s: least_minute.map(|minute| minute.from_s),
            least_minute_bps: least_minute.map_or_else(|| laid.mean_bps(least), |minute| minute.load_bps),
            least_rate_bps: least_minute.map_or(link.rate_bps, |minute| minute.rate_bps),
        }
    }

    /// The direction by its ends.
    pub(super) fn name(&self) -> String {
        format!("{} to {}", self.from_node, self.to_node)
    }

    /// The busiest minute in words, or the mean over time.
    pub(super) fn when(&self) -> String {
        when(self.minute_from_s, self.origin_unix_s)
    }

    /// The same of what no cache answers.
    pub(super) fn least_when(&self) -> String {
        when(self.least_from_s, self.origin_unix_s)
    }

    /// Load and rate of the link in the busiest minute, or where that is not known on average, in bit/s.
    pub(super) fn peak(&self) -> (f64, f64) {
        self.minute_bps.zip(self.minute_rate_bps).unwrap_or((self.mean_bps, self.rate_bps))
    }

    /// Their ratio. Infinite for a load on a link that sends nothing.
    pub(super) fn fullness(&self) -> f64 {
        let (load, line) = self.peak();
        ratio(load, line)
    }

    /// The same of what no cache answers.
    pub(super) fn least_fullness(&self) -> f64 {
        ratio(self.least_minute_bps, self.least_rate_bps)
    }

    /// The rate of the busiest minute in words.
    pub(super) fn line(&self) -> String {
        let rate_bps = self.peak().1;
        of_rate(rate_bps, self.is_mean || rate_bps != self.rate_bps)
    }

    /// The share of that rate in words, behind a live cache the least one.
    pub(super) fn part(&self) -> String {
        if self.least_fullness().is_infinite() {
            return "while it carries nothing".to_owned();
        }
        let at_least = if self.at_most { "at least " } else { "" };
        format!("{at_least}{} of {}", share(self.least_fullness()), self.line())
    }

    /// A load above `BUSY`.
    fn warning(&self) -> Option<Warning> {
        if self.least_fullness() <= BUSY {
            return None;
        }
        let cost = match self.least_fullness() > 1.0 {
            true => "latencies are those of a queue that grows",
            false => "latencies are mostly queueing",
        };
        let way = if self.direction == Way::Up { "up" } else { "down" };
        let words = if self.at_most {
            format!("what no cache answers takes {} {}: {cost}", self.part(), self.least_when())
        } else {
            let (load, mean) = (rate(self.peak().0), share(self.mean_bps / self.rate_bps));
            format!("the workload offers {load} {}, {} (on average {mean}): {cost}", self.when(), self.part())
        };
        Some(Warning::new(format!("path.link.{}.{way}.rate", self.link), words))
    }
}

fn when(begin_s: Option<f64>, origin_unix_s: Option<f64>) -> String {
    match begin_s {
        None => "on average".to_owned(),
        Some(begin_s) => format!("in the busiest minute (from {} on)", began(begin_s, origin_unix_s)),
    }
}

fn ratio(load: f64, line: f64) -> f64 {
    match (load, line) {
        (load, line) if line > 0.0 => load / line,
        (0.0, _) => 0.0,
        _ => f64::INFINITY,
    }
}

/// A minute of a link.
#[derive(Debug, Clone, Copy)]
struct Minute {
    load_bps: f64,
    from_s: f64,
    /// Mean rate of the link.
    rate_bps: f64,
}

/// The minute in which the load takes the largest share of the rate. None when steps are longer than it.
fn fullest_minute(scenario: &Scenario, link: &RatedLink, series: &[f64], step_s: u64) -> Option<Minute> {
    let (load_bps, from_s) = peak(series, MINUTE_S, step_s)?;
    let number = series.len().max((MINUTE_S / step_s) as usize);
    let every = Duration::from_secs(step_s);
    let rates = || scenario.path.link[link.index].mean_rates(link.way.into(), every, number);
    let Some(rates) = link.changes.then(rates).flatten() else {
        return Some(Minute { load_bps, from_s, rate_bps: link.rate_bps });
    };
    let loads = windows(series, MINUTE_S, step_s);
    let lines = windows(&scaled(rates, step_s as f64 / 8.0), MINUTE_S, step_s);
    let shares = loads.iter().zip(&lines).map(|(load, line)| if *load > 0.0 { load / line } else { 0.0 });
    let (_, from_s) = largest(shares, step_s);
    let place = (from_s as u64 / step_s) as usize;
    Some(Minute { load_bps: loads[place], from_s, rate_bps: lines[place] })
}

/// Bytes by step that no cache answers. Copies ask for the same objects, unless their hosts are renamed.
fn missed(link: &RatedLink, laid: &Laid, demand: &Demand, is_renamed: bool) -> Vec<Sent> {
    let missed = link.sent(Which::Missed, demand, laid.rate);
    if is_renamed {
        return laid.series(&missed, demand, laid.load);
    }
    let always = link.sent(Which::Always, demand, laid.rate);
    let once = missed
        .iter()
        .zip(&always)
        .map(|(missed, always)| (*missed - *always).times(1.0 / laid.rate.max(1.0)));
    let days = laid.load.min(u32::try_from(demand.days).unwrap_or(u32::MAX));
    let first = laid.series(&once.collect::<Vec<_>>(), demand, days);
    let all = laid.series(&always, demand, laid.load);
    all.into_iter().zip(first).map(|(all, first)| all + first).collect()
}

/// Bytes by step, with ACKs as late as what they are for, which waits for a link too slow for it. A minute of the wait that is
/// left behind the last step follows.
fn paced(link: &RatedLink, sent: &[Sent], laid: &Laid) -> Vec<f64> {
    let room = link.other_bps.map_or(f64::INFINITY, |bps| bps / 8.0 * laid.step_s as f64);
    let rest = std::iter::repeat_n(Sent::default(), MINUTE_S.div_ceil(laid.step_s) as usize);
    let mut waiting = Sent::default();
    let step = |sent: Sent| {
        waiting = waiting + Sent { own: 0.0, ..sent };
        let part = if waiting.other > room { room / waiting.other } else { 1.0 };
        let comes = waiting.times(part);
        waiting = waiting - comes;
        sent.own + comes.acks
    };
    sent.iter().copied().chain(rest).map(step).collect()
}

fn scaled(mut series: Vec<f64>, by: f64) -> Vec<f64> {
    series.iter_mut().for_each(|value| *value *= by);
    series
}
