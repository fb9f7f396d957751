//! Warnings about allowed values that are seldom meant.

use std::fmt;

use serde::Serialize;

use super::leg::{Stretch, WindowLimit, asks_host};
use super::{figures, queue_bytes, queue_text};
use crate::net::{Direction, Trace};
use crate::scenario::{
    HostOr, Link, LinkDirection, Loss, Outage, OutageMode, Packets, Record, Scenario, Until,
};
use crate::tcp::Profile;
use crate::tcp::segment::{HEADER_BYTES, WINDOW_FIELD_MAX};
use crate::units::Duration;
use crate::workload::Directory;

/// A setting that is allowed but may be a mistake.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// Its key.
    pub key: String,
    /// Why.
    pub words: String,
}

impl Warning {
    pub(crate) fn new(key: impl Into<String>, words: impl Into<String>) -> Self {
        Self { key: key.into(), words: words.into() }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key, self.words)
    }
}

/// Share of the bandwidth–delay product below which a queue is called small. Chosen: a tenth still absorbs the bursts of
/// a few connections. With less even a single one loses packets long before the link is full.
const SMALL_QUEUE: f64 = 0.1;

const WAYS: [Direction; 2] = [Direction::Up, Direction::Down];

/// All about a scenario.
pub(super) fn of(scenario: &Scenario, hosts: Option<&Directory>) -> Vec<Warning> {
    let mut warnings = Vec::new();
    links(scenario, &mut warnings);
    queues(scenario, &mut warnings);
    traces(scenario, &mut warnings);
    warnings.extend(super::marks::warnings(scenario, &stretches(scenario).collect::<Vec<_>>()));
    lost(scenario, &mut warnings);
    acknowledgements(scenario, &mut warnings);
    buffers(scenario, &mut warnings);
    host_values(scenario, hosts, &mut warnings);
    nagle(scenario, &mut warnings);
    stepped_factors(scenario, &mut warnings);
    if let Until::Time(until) = scenario.run.until
        && scenario.run.warmup >= until
    {
        let warmup = scenario.run.warmup;
        warnings.push(Warning::new(
            "run.warmup",
            format!("{warmup} is not before run.until ({until}): summaries have no requests"),
        ));
    }
    if scenario.record.packets == Packets::None && scenario.record.points != Record::default().points {
        warnings.push(Warning::new("record.points", "has no effect, as record.packets is \"none\""));
    }
    warnings
}

fn directions(scenario: &Scenario) -> impl Iterator<Item = (String, &LinkDirection)> {
    scenario.path.link.iter().enumerate().flat_map(|(index, link)| {
        WAYS.map(|way| (format!("path.link.{index}.{}", way.name()), link.towards(way)))
    })
}

/// The stretches of all legs.
fn stretches(scenario: &Scenario) -> impl Iterator<Item = Stretch<'_>> {
    scenario.leg.iter().flat_map(|leg| Stretch::all(leg, scenario))
}

fn links(scenario: &Scenario, warnings: &mut Vec<Warning>) {
    let is_free = |link: &Link, way: Direction| {
        let direction = link.towards(way);
        !direction.is_rated() && direction.loss == Loss::None && link.timeline(way).is_constant()
    };
    if scenario.path.link.iter().all(|link| WAYS.iter().all(|way| is_free(link, *way))) {
        warnings.push(Warning::new(
            "path.link",
            "every rate is unlimited and nothing is lost: only delays and windows matter",
        ));
        return;
    }
    for (key, way) in directions(scenario) {
        if way.is_rated() && way.delay == Duration::ZERO {
            warnings.push(Warning::new(
                format!("{key}.delay"),
                "0 ms on a link with a rate: it adds its transmission time only",
            ));
        }
        if !way.is_rated() && way.queue.is_some() {
            warnings.push(Warning::new(
                format!("{key}.queue"),
                "the rate is unlimited, so no packet ever waits in this queue",
            ));
        }
    }
    for (index, link) in scenario.path.link.iter().enumerate() {
        if link.up.is_rated() != link.down.is_rated() {
            warnings.push(Warning::new(
                format!("path.link.{index}"),
                "one direction has a rate, the other is unlimited",
            ));
        }
    }
}

/// Warns of a run that ends with a trace, and of clients who give up in a gap.
fn traces(scenario: &Scenario, warnings: &mut Vec<Warning>) {
    for (key, way) in directions(scenario) {
        let Some(Trace { opportunities, repeats, .. }) = way.trace() else { continue };
        let (length, gap) = (opportunities.period(), opportunities.longest_gap());
        let is_within = matches!(scenario.run.until, Until::Time(until) if until <= length);
        if !repeats && !is_within {
            let length = figures::span(length);
            warnings.push(Warning::new(
                format!("{key}.trace_repeat"),
                format!("the run ends with the trace after {length} at most, whatever is open then"),
            ));
        }
        if let Some(patience) = scenario.clients.give_up.filter(|patience| *patience < gap) {
            let [gap, patience] = [gap, patience].map(figures::span);
            warnings.push(Warning::new(
                format!("{key}.trace"),
                format!("its longest gap is {gap}, and clients give up after {patience} (clients.give_up)"),
            ));
        }
    }
}

/// Warns of links that let nothing through, and of outages that the timeouts of a one-way agent can meet again and again.
fn lost(scenario: &Scenario, warnings: &mut Vec<Warning>) {
    for (key, way) in directions(scenario) {
        if super::limit::mean_loss(&way.loss) >= 1.0 && way.steps.iter().all(|step| step.loss.is_none()) {
            warnings.push(Warning::new(
                format!("{key}.loss"),
                "every packet is lost, so that no request over it ends",
            ));
        }
        if matches!(&way.loss, Loss::List { drop, mark, .. } if drop.is_empty() && mark.is_empty()) {
            warnings.push(Warning::new(format!("{key}.loss"), "the list names no packet to drop or mark"));
        }
    }
    for (place, leg) in scenario.leg.iter().enumerate() {
        for stretch in Stretch::all(leg, scenario) {
            for way in WAYS {
                let Some(share) = super::limit::beyond_bbr(&stretch, way) else { continue };
                let (share, way) = (figures::percent(share), way.name());
                warnings.push(Warning::new(format!("leg.{place}.tcp"), format!("BBR takes {share} lost {way} for a policer's losses, and sends for 48 round trips at the rate that \
                     gets through, time and again: little of the link may be left"
                )));
            }
        }
        let Profile::Ns2(profile) = leg.tcp.profile() else { continue };
        let stretch = Stretch::of(leg, scenario);
        let drops = |outage: &Outage| outage.mode == OutageMode::Drop && outage.every.is_some();
        let ways = stretch.links.iter().flat_map(|link| WAYS.map(|way| link.towards(way)));
        if ways.flat_map(|way| &way.outage).any(drops) {
            warnings.push(Warning::new(format!("leg.{place}.tcp.profile"), format!("the timeouts of an agent of ns-2 may meet each outage that drops; it gives up after {} of \
                 them in a row, and a run until \"done\" waits for that",
                profile.timeouts_max
            )));
        }
    }
}

fn queues(scenario: &Scenario, warnings: &mut Vec<Warning>) {
    for stretch in stretches(scenario) {
        let packet = WindowLimit::on(&stretch, None).packet_bytes();
        for (index, link) in stretch.links.iter().enumerate() {
            for way in WAYS {
                let key = format!("path.link.{}.{}.queue", stretch.first + index, way.name());
                let whys = [small_queue(link, way, &stretch, packet), idle_queue(index, way, &stretch)];
                warnings.extend(whys.into_iter().flatten().map(|why| Warning::new(&*key, why)));
            }
        }
    }
}

/// Why the queue of a direction is small for a leg with full packets of `packet` bytes, at the largest of its rates.
fn small_queue(link: &Link, way: Direction, stretch: &Stretch<'_>, packet: u64) -> Option<String> {
    let (rate, trip) = (link.rates(way, stretch.until)?.max, stretch.round_trip());
    let way = link.towards(way);
    let (bytes, written) = (queue_bytes(way, packet)?, queue_text(way));
    if bytes < packet {
        let effect = if way.is_barred_above_limit() { "pass" } else { "wait" };
        return Some(format!("{written} is less than one packet of {packet} B: such packets never {effect}"));
    }
    let product = rate.data_in(trip).get() as f64;
    let share = bytes as f64 / product;
    (share < SMALL_QUEUE).then(|| {
        let (share, product) = (figures::percent(share), figures::bytes(product));
        format!("{written} is {share} of what the path holds ({product}): bursts will lose packets")
    })
}

/// Why active queue management on a link does nothing: another link of the leg is slower.
fn idle_queue(index: usize, way: Direction, stretch: &Stretch<'_>) -> Option<String> {
    let (link, (slowest, rate)) = (stretch.links.get(index)?, stretch.bottleneck(way)?);
    let is_behind = (stretch.first + index < slowest) == (way == Direction::Down);
    let is_slower = rate < link.rates(way, stretch.until)?.mean;
    (is_slower && link.towards(way).queue.is_some_and(|queue| queue.is_aqm())).then(|| {
        let waits = if is_behind { "none wait here" } else { "bursts alone wait here" };
        format!("packets queue at link {slowest}, which has {}: {waits}", figures::rate(rate.as_bps() as f64))
    })
}

/// Warns where the ACKs of a full downward link do not fit into the upward one, one ACK for two segments, at the largest
/// rate down and the smallest up.
fn acknowledgements(scenario: &Scenario, warnings: &mut Vec<Warning>) {
    for stretch in stretches(scenario) {
        let (Some((index, _)), Some((full, _))) =
            (stretch.bottleneck(Direction::Up), stretch.bottleneck(Direction::Down))
        else {
            continue;
        };
        let [up, down] = [(index, Direction::Up), (full, Direction::Down)].map(|(link, way)| {
            scenario.path.link[link].rates(way, stretch.until).expect("a bottleneck has a rate")
        });
        let (up, down) = (up.min, down.max);
        let window = WindowLimit::on(&stretch, None);
        let acknowledgement = u64::from(HEADER_BYTES) + window.mss_bytes - window.payload_bytes;
        let needed = down.as_bps() as f64 * acknowledgement as f64 / (2 * window.packet_bytes()) as f64;
        if needed > up.as_bps() as f64 {
            let (needed, up, down) = (
                figures::rate(needed),
                figures::rate(up.as_bps() as f64),
                figures::rate(down.as_bps() as f64),
            );
            warnings.push(Warning::new(
                format!("path.link.{index}.up.rate"),
                format!("ACKs for a full link of {down} down need {needed}, more than the {up} up"),
            ));
        }
    }
}

/// Warns of a factor that holds only until the first step.
fn stepped_factors(scenario: &Scenario, warnings: &mut Vec<Warning>) {
    let factors = scenario.sweep.iter().flat_map(|sweep| &sweep.factors.0);
    for name in factors.map(|factor| &factor.name) {
        for (key, way) in directions(scenario) {
            let sets_rate =
                way.steps.iter().any(|step| step.rate.is_some()) && *name == format!("{key}.rate");
            let sets_delay =
                way.steps.iter().any(|step| step.delay.is_some()) && *name == format!("{key}.delay");
            if sets_rate || sets_delay {
                warnings.push(Warning::new(
                    format!("sweep.factors.\"{name}\""),
                    format!("{key}.steps set it anew, whatever the level"),
                ));
            }
        }
    }
}

fn buffers(scenario: &Scenario, warnings: &mut Vec<Warning>) {
    for (index, leg) in scenario.leg.iter().enumerate() {
        let common = (String::new(), Some(leg.tcp.mss), leg.tcp.buffer);
        let ends = [("from.", leg.tcp.from), ("to.", leg.tcp.to)].map(|(name, end)| {
            let end = end.unwrap_or_default();
            (name.to_owned(), end.mss.or(end.buffer.map(|_| leg.tcp.mss)), end.buffer)
        });
        for (end, mss, buffer) in std::iter::once(common).chain(ends) {
            let Some(HostOr::Size(buffer)) = buffer else { continue };
            let key = format!("leg.{index}.tcp.{end}buffer");
            if buffer.get() > WINDOW_FIELD_MAX && !leg.tcp.profile().window_scaling() {
                warnings.push(Warning::new(&*key, format!("{buffer}, but at most {WINDOW_FIELD_MAX} B are in flight without leg.{index}.tcp.constants.window_scaling"
                )));
            }
            if let Some(HostOr::Size(mss)) = mss
                && buffer < mss
            {
                warnings.push(Warning::new(
                    &*key,
                    format!("{buffer} is less than the MSS of {mss}: segments have {buffer} at most"),
                ));
            }
        }
    }
}

/// Warns of Nagle's rule under TLS: TLS ends switch it off.
fn nagle(scenario: &Scenario, warnings: &mut Vec<Warning>) {
    for (index, leg) in scenario.leg.iter().enumerate() {
        if leg.tls.is_some() && leg.tcp.constants.0.get("nagle").is_some_and(|value| *value == true) {
            warnings.push(Warning::new(
                format!("leg.{index}.tcp.constants.nagle"),
                "true, but both ends of TLS switch Nagle's rule off, as OpenSSL's clients and nginx do",
            ));
        }
    }
}

fn host_values(scenario: &Scenario, hosts: Option<&Directory>, warnings: &mut Vec<Warning>) {
    let workload = &scenario.workload;
    for (index, leg) in scenario.leg.iter().enumerate() {
        let (mss, buffer) = asks_host(leg, scenario);
        let asked = [
            ("mss", mss, format!("workload.default_mss ({})", workload.default_mss)),
            ("buffer", buffer, format!("workload.default_window ({})", workload.default_window)),
        ];
        for (name, _, default) in asked.iter().filter(|(_, asked, _)| *asked) {
            let key = format!("leg.{index}.tcp.{name}");
            match hosts {
                None if workload.hosts.is_none() && workload.family.is_none() => {
                    warnings.push(Warning::new(
                        &*key,
                        format!("\"host\", but there is no workload.hosts: all have {default}"),
                    ));
                }
                None => {}
                Some(hosts) => warnings.extend(hosts_without(hosts, name, default)),
            }
        }
    }
}

/// Number of hosts of the table without the value.
fn hosts_without(hosts: &Directory, name: &str, default: &str) -> Option<Warning> {
    let all = hosts.hosts().len();
    let (what, lack) = match name {
        "mss" => ("MSS", hosts.hosts().iter().filter(|(_, host)| host.mss.is_none()).count()),
        _ => ("window", hosts.hosts().iter().filter(|(_, host)| host.buffer.is_none()).count()),
    };
    let words = format!("{lack} of {all} hosts have no {what}: they get {default}");
    (lack > 0).then(|| Warning::new("workload.hosts", words))
}
