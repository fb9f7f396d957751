//! Size of a run or a sweep, estimated before anything is simulated, and held against limits.
//!
//! Rows of requests, of intervals and of exchanges follow from the scenario. Packets are segments, ACKs and those of connections
//! ([`super::packets`]), and cross each link of their leg until the run ends. Left out: retransmissions, and answers of caches.
//! Requests under way are the larger of two bounds: requests that start within the round trips of a request (Little's law, from
//! the mean rate), and the backlog of the busiest link while they arrive.

use serde::{Serialize, Serializer};

use super::demand::Demand;
use super::laid::Laid;
use super::offered::MINUTE_S;
use super::packets::Packets;
use super::rated::{RatedLink, Way, rated_links, segments_of_legs};
use super::rows::of_extent;
use crate::explain::{LegReport, Report, Row, Warning};
use crate::scenario::{CapturePoint, Packets as Recorded, Scenario, Workload};
use crate::units::words::count;

/// Rows of all tables that are warned of, and the most. Chosen: a row takes 14 B (of packets) to 45 B (of exchanges) on the disk, so
/// the limit is some tens of GB and the warning some GB.
const ROWS: Bounds = Bounds { warned: 100_000_000.0, most: 1_000_000_000.0 };

/// Requests under way at once. Chosen: a connection with its request takes 2 to 3 kB of memory (the case `open` of
/// docs/performance.md), so the limit is some tens of GB and the warning some GB.
const UNDER_WAY: Bounds = Bounds { warned: 1_000_000.0, most: 10_000_000.0 };

/// Packets over links, each counted at every link that it crosses. Chosen: a core does some 4 million in a second
/// (docs/performance.md), so the limit is about a day of a core and the warning most of an hour.
const HOPS: Bounds = Bounds { warned: 10_000_000_000.0, most: 300_000_000_000.0 };

const HOPS_AN_HOUR: f64 = 4_000_000.0 * 3600.0;

const SERIES: &str = "links, legs and caches";

/// Size that is warned of, and the largest that is allowed.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    warned: f64,
    most: f64,
}

/// Size of a run, or of all runs of a sweep, by estimate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Extent {
    /// 1, or the runs of the sweep.
    pub runs: u64,
    /// Requests of all runs that begin before they end.
    pub requests: u64,
    /// Packets that links carry, of all runs.
    pub packet_hops: u64,
    /// Requests under way at once in the largest run, at least.
    pub under_way: u64,
    /// Rows of all runs, by table. Links, legs and caches count together.
    pub rows: Rows,
    /// Key of the workload that says how many requests there are.
    #[serde(skip)]
    cause: &'static str,
}

/// Rows by table, in the order of a list for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rows(Vec<(&'static str, u64)>);

impl Serialize for Rows {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}

impl Rows {
    /// Rows of a table. 0 where it is not recorded.
    fn of(&self, table: &str) -> u64 {
        self.0.iter().find(|(name, _)| *name == table).map_or(0, |(_, rows)| *rows)
    }
}

/// Size beyond which there is a warning.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Large {
    /// Key that makes it large, and the size in words.
    #[serde(flatten)]
    pub warning: Warning,
    /// The same with the limit, where it is beyond that.
    pub refusal: Option<String>,
}

/// A size in numbers and in words.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExtentReport {
    #[serde(flatten)]
    extent: Extent,
    /// A label and a few words.
    row: Row,
    /// Sizes that are warned of.
    large: Vec<Large>,
}

impl Extent {
    /// The same in words as well.
    #[must_use]
    pub fn report(self) -> ExtentReport {
        ExtentReport { row: of_extent(&self), large: self.large(), extent: self }
    }

    /// The estimated size of a run.
    pub(super) fn of(scenario: &Scenario, report: &Report, demand: &Demand) -> Self {
        Point { scenario, report, demand, laid: Laid::of(&report.workload, scenario.run.until, demand) }
            .extent()
    }

    /// The size of so many runs, each of the extents standing for an equal part. None without extents.
    #[must_use]
    pub fn of_runs(extents: &[&Self], runs: u64) -> Option<Self> {
        let largest =
            extents.iter().reduce(|most, each| if each.requests > most.requests { each } else { most })?;
        let all = |value: &dyn Fn(&Self) -> u64| {
            let sum: f64 = extents.iter().map(|extent| value(extent) as f64).sum();
            (runs as f64 * (sum / extents.len() as f64)).round_ties_even() as u64
        };
        let mut rows: Vec<(&'static str, u64)> = Vec::new();
        for (table, _) in extents.iter().flat_map(|extent| &extent.rows.0) {
            if !rows.iter().any(|(name, _)| name == table) {
                rows.push((table, all(&|extent| extent.rows.of(table))));
            }
        }
        Some(Self {
            runs,
            requests: all(&|extent| extent.requests),
            packet_hops: all(&|extent| extent.packet_hops),
            under_way: extents.iter().map(|extent| extent.under_way).max().unwrap_or_default(),
            rows: Rows(rows),
            cause: largest.cause,
        })
    }

    /// Sizes that are warned of.
    fn large(&self) -> Vec<Large> {
        let who = |verb: &str| match self.runs {
            1 => format!("a run {verb}s"),
            runs => format!("{} runs {verb}", count(runs as f64)),
        };
        let rows: f64 = self.rows.0.iter().map(|(_, rows)| *rows as f64).sum();
        let (table, most) = first_most(&self.rows.0);
        let key = match table {
            SERIES => "record.links_every",
            "packets" => "record.packets",
            "exchanges" => "record.exchanges",
            _ => self.cause,
        };
        let (hops, under_way) = (self.packet_hops as f64, self.under_way as f64);
        let of_rows = format!(
            "{} about {} rows, most of them ({}) of {table}",
            who("write"),
            count(rows),
            count(most as f64)
        );
        let hours = count((hops / HOPS_AN_HOUR).round_ties_even());
        let of_hops = format!(
            "{} about {} packets over links, which take a core some {hours} h",
            who("send"),
            count(hops)
        );
        let of_requests =
            format!("about {} requests are in flight, with some kB of memory each", count(under_way));
        [
            (key, of_rows, rows, ROWS),
            (self.cause, of_hops, hops, HOPS),
            (self.cause, of_requests, under_way, UNDER_WAY),
        ]
        .into_iter()
        .filter(|(_, _, size, bounds)| *size > bounds.warned)
        .map(|(key, words, size, Bounds { most, .. })| Large {
            refusal: (size > most)
                .then(|| format!("{words}; the limit is {}, and --no-limits lifts it", count(most))),
            warning: Warning::new(key, words),
        })
        .collect()
    }

    /// True when nothing is beyond a limit.
    pub(super) fn is_allowed(&self) -> bool {
        self.large().iter().all(|large| large.refusal.is_none())
    }
}

fn first_most(rows: &[(&'static str, u64)]) -> (&'static str, u64) {
    let most = rows.iter().copied().reduce(|most, each| if each.1 > most.1 { each } else { most });
    most.expect("a run has requests")
}

/// A run that may be done.
struct Point<'a> {
    scenario: &'a Scenario,
    report: &'a Report,
    demand: &'a Demand,
    laid: Laid,
}

impl Point<'_> {
    fn extent(&self) -> Extent {
        let requests = self.laid.requests;
        Extent {
            runs: 1,
            requests,
            packet_hops: self.packet_hops(requests).round_ties_even() as u64,
            under_way: self.under_way(requests).round_ties_even() as u64,
            rows: self.rows(requests),
            cause: cause(&self.scenario.workload),
        }
    }

    /// Rows of the tables that are recorded.
    fn rows(&self, requests: u64) -> Rows {
        let (record, legs) = (&self.scenario.record, &self.report.legs);
        let of_legs = |number: usize| requests.saturating_mul(number as u64);
        let mut rows = vec![("requests", requests)];
        let alone = legs.iter().filter(|leg| leg.connection_use.is_alone()).count();
        if record.connections && alone > 0 {
            rows.push(("connections", of_legs(alone)));
        }
        if record.exchanges {
            rows.push(("exchanges", of_legs(legs.len())));
        }
        if let Some(every) = record.links_every {
            let series = 2 * self.report.links.len() + legs.len() + self.report.caches.len();
            let ends_s = self.laid.until_s.map_or(self.laid.ends_s, |until_s| until_s.min(self.laid.ends_s));
            let intervals = (ends_s / (every.as_nanos() as f64 / 1e9)).ceil() as u64;
            rows.push((SERIES, intervals.saturating_mul(series as u64)));
        }
        let seen = match record.packets {
            Recorded::None => return Rows(rows),
            Recorded::Sample => self.demand.sampled(),
            Recorded::All => 1.0,
        };
        let of_leg = |leg| requests as f64 * self.packets(leg, &record.points);
        let packets = seen * legs.iter().map(of_leg).sum::<f64>();
        rows.push(("packets", packets.round_ties_even() as u64));
        Rows(rows)
    }

    /// Rows of packets that a request leaves on a leg: in each direction, at each point on the leg.
    fn packets(&self, leg: &LegReport, points: &[CapturePoint]) -> f64 {
        let segments = segments_of_legs(self.scenario, self.report)[leg.index];
        let Packets { opens, down, up, acks_up, acks_down } = self.demand.packets(segments);
        let has_requests = f64::from(u8::from(leg.connection_use.requests));
        let opening = |way| opens * segments.opening_packets(way) as f64;
        let [to_servers, to_clients] = [
            acks_up + has_requests * (up + opening(Way::Up)),
            down + has_requests * (acks_down + opening(Way::Down)),
        ]
        .map(|all| all / self.demand.requests as f64);
        let links = self.report.links_of(leg);
        let at = |point: &CapturePoint| match *point {
            CapturePoint::Ends => (2 * leg.stretches.len().max(1)) as f64 * (to_servers + to_clients),
            CapturePoint::Link { link, up, down } if links.contains(&(link as usize)) => {
                f64::from(u8::from(up)) * to_servers + f64::from(u8::from(down)) * to_clients
            }
            CapturePoint::Link { .. } => 0.0,
        };
        points.iter().map(at).sum()
    }

    /// Packets over all links, cut to the share that the slowest link for them can carry until the run ends.
    fn packet_hops(&self, requests: u64) -> f64 {
        let links = 0..self.report.links.len() as u32;
        let everywhere: Vec<_> =
            links.map(|link| CapturePoint::Link { link, up: true, down: true }).collect();
        let of_leg = |leg| self.packets(leg, &everywhere);
        let hops = requests as f64 * self.report.legs.iter().map(of_leg).sum::<f64>();
        let give_up = self.scenario.clients.give_up;
        let given_up_s = give_up.map(|wait| self.laid.last_s + wait.as_nanos() as f64 / 1e9);
        let lasts_s = self.laid.until_s.into_iter().chain(given_up_s).fold(f64::INFINITY, f64::min);
        let times = requests as f64 / self.demand.requests as f64;
        let carried = self.bits().into_iter().filter(|(_, bits)| bits * times > 0.0);
        hops * carried.map(|(link, bits)| link.rate_bps * lasts_s / (bits * times)).fold(1.0, f64::min)
    }

    /// The larger of the two bounds.
    fn under_way(&self, requests: u64) -> f64 {
        let (scenario, report) = (self.scenario, self.report);
        let is_passed = |leg: &&LegReport| {
            !scenario.cache.iter().any(|cache| report.place(&cache.node) <= report.place(&leg.from))
        };
        let takes_s = |leg: &LegReport| {
            let trips = match (leg.connection_use.requests, leg.connection_use.is_alone()) {
                (false, _) => 0.5,
                (true, true) => 2.0,
                (true, false) => 1.0,
            };
            trips * leg.rtt_ns as f64 / 1e9
        };
        let takes_s: f64 = report.legs.iter().filter(is_passed).map(takes_s).sum();
        let (requests, span_s) = (requests as f64, self.laid.span_s);
        let moving = requests * if span_s > 0.0 { (takes_s / span_s).min(1.0) } else { 1.0 };
        if scenario.clients.give_up.is_some() {
            return moving;
        }
        let a_second = requests / self.demand.requests as f64 / span_s.max(MINUTE_S as f64);
        let busy =
            self.bits().into_iter().map(|(link, bits)| bits * a_second / link.rate_bps).fold(0.0, f64::max);
        moving.max(if busy > 1.0 { requests * (1.0 - 1.0 / busy) } else { 0.0 })
    }

    /// Load of all requests of the demand on each link, in bits. Behind a live cache what that cannot answer.
    fn bits(&self) -> Vec<(RatedLink, f64)> {
        let links = rated_links(self.scenario, self.report);
        links
            .into_iter()
            .map(|link| {
                let bits = 8.0 * link.total(self.demand);
                (link, bits)
            })
            .collect()
    }
}

/// The key that makes requests many.
fn cause(workload: &Workload) -> &'static str {
    if workload.load.get() > 1.0 {
        "workload.load"
    } else if workload.requests.is_some() {
        "workload.requests"
    } else {
        "workload.family"
    }
}
