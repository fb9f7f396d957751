//! Report on a scenario before the run: the path in text, round trips, bandwidth–delay products, the limit of one connection,
//! and warnings about allowed values that may be mistakes.

mod cache;
mod carrier;
mod drawing;
mod figures;
mod handshake;
mod leg;
mod limit;
mod marks;
mod ports;
mod rounds;
mod silence;
mod split;
mod sweep;
#[cfg(test)]
mod tests;
mod text;
mod warnings;

use std::fmt::Write;
use std::ops::Range;

use serde::Serialize;

use crate::http::tls::Parts;
use crate::net::{self, Direction};
use crate::scenario::{
    Carrier, Clients, ConnectionUse, Leg, Link, LinkDirection, Queue, QueueLimit, QueueTable, Scenario, Tcp,
    Tls, Until, Workload,
};
use crate::sweep::Design;
use crate::units::{BitRate, Duration};
use crate::workload::Directory;
pub use cache::CacheReport;
pub use handshake::{FlightReport, HandshakeReport, PartReport};
use leg::Stretch;
pub use leg::{HostLimits, WindowLimit};
use limit::Course;
pub use limit::{ConnectionLimit, LimitedBy};
pub use split::StretchReport;
pub use sweep::{FactorReport, SweepReport};
pub use text::{Line, Row, Text};
pub use warnings::Warning;

/// Report on a scenario.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Name of the scenario.
    pub name: String,
    /// Nodes, from the clients to the servers.
    pub nodes: Vec<String>,
    /// Links, one between each node and the next.
    pub links: Vec<LinkReport>,
    /// Legs, from the clients to the servers.
    pub legs: Vec<LegReport>,
    /// Caches, from the clients to the servers.
    pub caches: Vec<CacheReport>,
    /// Its workload: how often rows come, and when.
    pub workload: WorkloadReport,
    /// Summary of its sweep, if it has one.
    pub sweep: Option<SweepReport>,
    /// Warnings about allowed values that may be mistakes.
    pub warnings: Vec<Warning>,
    /// The path drawn in text, and a paragraph a leg, one a cache and one for the sweep. At most 100 columns.
    pub text: Text,
}

/// A link, in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LinkReport {
    /// Place on the path, from 0.
    pub index: usize,
    /// Node nearer to the clients.
    pub from: String,
    /// Node nearer to the servers.
    pub to: String,
    /// Figures of its preset, each with its source. Empty without one.
    pub preset: Vec<String>,
    /// Towards the servers.
    pub up: DirectionReport,
    /// Towards the clients.
    pub down: DirectionReport,
}

/// Placement of the rows of a workload as the requests of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorkloadReport {
    /// Days in the trace of a family. None for families without days and for tables.
    pub days: Option<u32>,
    /// Days and copies that run at the same time.
    pub load: u32,
    /// Time between the starts of two copies.
    pub copies_offset_ns: u64,
    /// Time within which copies are turned round. None where they are shifted.
    pub period_ns: Option<u64>,
    /// Speed-up against the times of the table.
    pub speed: f64,
    /// Number of requests as a multiple of the table's.
    pub rate: f64,
}

/// One direction of a link, in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DirectionReport {
    /// Changes with time, in words. None of a constant link.
    pub changes: Vec<String>,
    /// Smallest rate over time, in bit/s, outages and gaps left out. A rate that varies is below it for 2 % of the time. None
    /// when unlimited.
    pub rate_bps_min: Option<u64>,
    /// Mean over the run, outages and gaps included. With `run.until = "done"` in the long run.
    pub rate_bps_mean: Option<u64>,
    /// Largest rate over time. A rate that varies is above it for 2 % of the time.
    pub rate_bps_max: Option<u64>,
    /// True when it changes with time, be it by outages.
    pub varies: bool,
    /// Rate before its first step, or "unlimited".
    pub rate: String,
    /// Propagation delay, one way.
    pub delay: String,
    /// Discipline of the queue, unless drop-tail, and its limit, or "unlimited".
    pub queue: String,
    /// The same in bytes. None where it counts packets or is unlimited.
    pub queue_bytes: Option<u64>,
    /// Losses other than a full queue.
    pub loss: String,
}

/// Figures of a leg for one connection.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LegReport {
    /// Place among the legs, from 0.
    pub index: usize,
    /// Node that opens connections.
    pub from: String,
    /// Node that accepts them.
    pub to: String,
    /// Description of its carrier.
    pub carrier: String,
    /// The same in sentences.
    pub carrier_sentences: String,
    /// Use of connections by the carrier.
    pub connection_use: ConnectionUse,
    /// TCP profile.
    pub profile: String,
    /// Segments of a new connection that are acknowledged one by one, before every second one is.
    pub quick_acks: u32,
    /// Parts of its handshakes, defaults included. None without TLS, and where only sizes are given.
    pub tls_parts: Option<Parts>,
    /// Handshakes of TLS that its connections begin with. Empty without TLS.
    pub handshakes: Vec<HandshakeReport>,
    /// Propagation there and back, the least over time. Transmission is apart, in `limit.segment_ns`.
    pub rtt_ns: u64,
    /// Stretches between its ends and splits. Empty without splits. The limits of the leg belong to the slowest.
    pub stretches: Vec<StretchReport>,
    /// Time by propagation from the opening of a connection until the first byte of a response, with the handshakes of TCP and TLS.
    pub first_byte_ns: u64,
    /// The same without its splits.
    pub first_byte_unsplit_ns: u64,
    /// The same of a request in the clear, or a tunnel with TLS inside, which do without the leg's.
    pub first_byte_clear_ns: u64,
    /// True where tunnels have TLS inside.
    pub has_bare_tunnels: bool,
    /// Smallest mean rate of a link towards the servers. None when unlimited.
    pub bottleneck_up_bps: Option<u64>,
    /// Smallest mean rate of a link towards the clients.
    pub bottleneck_down_bps: Option<u64>,
    /// Data that the bottleneck towards the clients carries in a round trip.
    pub bdp_bytes: Option<u64>,
    /// One connection. With "host" and a host table, the connection to the host with the median limit.
    #[serde(flatten)]
    pub limit: WindowLimit,
    /// Limit of such a connection towards the clients, by its window, its credits and losses.
    #[serde(flatten)]
    pub least: ConnectionLimit,
    /// Likewise towards the servers. None of transfers, which have no requests.
    pub up: Option<ConnectionLimit>,
    /// Use of ECN in words: who asks, and what marks packets. None where no end asks.
    pub ecn: Option<String>,
    /// Number of such connections that fill the bottleneck towards the clients.
    pub connections_to_fill: Option<u64>,
    /// Most connections of the carrier. A mux keeps them open all the time.
    pub connections: Option<u32>,
    /// Limit of so many connections together, in bit/s.
    pub connections_limit_bps: Option<f64>,
    /// Most connections a second that its client end can open to one server, by source ports. None where these are no limit.
    pub opens_per_s_max: Option<f64>,
    /// Spread over the hosts of the host table, when its values matter.
    pub hosts: Option<HostLimits>,
    /// The same as a paragraph.
    pub text: Text,
}

impl Report {
    /// Place of a node on the path, from 0.
    ///
    /// # Panics
    /// When there is none of this name.
    #[must_use]
    pub fn place(&self, node: &str) -> usize {
        self.nodes.iter().position(|name| name == node).expect("a checked scenario names its nodes")
    }

    /// Places of the links that a leg passes.
    #[must_use]
    pub fn links_of(&self, leg: &LegReport) -> Range<usize> {
        self.place(&leg.from)..self.place(&leg.to)
    }
}

/// Report on a scenario. `design` is the design of its sweep, and `hosts` its host table. A file of a link that is not
/// read has its name there.
#[must_use]
pub fn report(scenario: &Scenario, design: Option<&Design>, hosts: Option<&Directory>) -> Report {
    let nodes = &scenario.path.nodes;
    let link = |(index, link): (usize, &Link)| LinkReport {
        index,
        from: nodes[index].clone(),
        to: nodes[index + 1].clone(),
        preset: link.preset.map(|name| name.preset().facts()).unwrap_or_default(),
        up: direction(link, Direction::Up, scenario.run.until),
        down: direction(link, Direction::Down, scenario.run.until),
    };
    let legs: Vec<_> =
        scenario.leg.iter().enumerate().map(|(index, leg)| leg_report(index, leg, scenario, hosts)).collect();
    let mut text = Text::default();
    if !scenario.name.trim().is_empty() {
        text.say(&scenario.name);
        text.say("");
    }
    text.say(drawing::draw(scenario).trim_end_matches('\n'));
    for (index, link) in scenario.path.link.iter().enumerate() {
        let Some(name) = link.preset else { continue };
        let title = &name.preset().title;
        text.say(&format!("\nlink {index}: preset {name}, {title}; the scenario's own keys stand"));
        for fact in name.preset().facts() {
            text.say(text::wrapped(&fact).trim_end_matches('\n'));
        }
    }
    legs.iter().for_each(|leg| text.add(&leg.text));
    let caches = cache::reports(scenario);
    caches.iter().for_each(|cache| text.add(&cache.text));
    let sweep = design.map(sweep::sweep_report);
    sweep.iter().for_each(|sweep| text.add(&sweep.text));
    Report {
        name: scenario.name.clone(),
        nodes: nodes.clone(),
        links: scenario.path.link.iter().enumerate().map(link).collect(),
        warnings: warnings::of(scenario, hosts),
        workload: workload(&scenario.workload),
        legs,
        caches,
        sweep,
        text,
    }
}

fn workload(workload: &Workload) -> WorkloadReport {
    let load = workload.load();
    WorkloadReport {
        days: workload.days(),
        load: load.load,
        copies_offset_ns: load.offset.as_nanos(),
        period_ns: load.period.map(Duration::as_nanos),
        speed: workload.speed.unwrap_or(1.0),
        rate: workload.rate().map_or(1.0, |(rate, _)| rate),
    }
}

fn direction(link: &Link, way: Direction, until: Until) -> DirectionReport {
    let (direction, rates) = (link.towards(way), link.rates(way, until));
    DirectionReport {
        changes: drawing::changes(link, way, until),
        rate_bps_min: rates.map(|rates| rates.min.as_bps()),
        rate_bps_mean: rates.map(|rates| rates.mean.as_bps()),
        rate_bps_max: rates.map(|rates| rates.max.as_bps()),
        varies: rates.is_some_and(|rates| rates.min != rates.mean || rates.mean != rates.max),
        rate: rate_text(direction),
        delay: figures::span(direction.delay),
        queue: queue_text(direction),
        queue_bytes: match direction.limit() {
            Some(net::QueueLimit::Bytes(bytes)) => Some(bytes.get()),
            Some(net::QueueLimit::Packets(_)) | None => None,
        },
        loss: drawing::loss_text(&direction.loss),
    }
}

fn leg_report(index: usize, leg: &Leg, scenario: &Scenario, hosts: Option<&Directory>) -> LegReport {
    let stretch = Stretch::of(leg, scenario);
    let (limit, hosts) = leg::limits(leg, scenario, hosts);
    let least = slowest(leg, scenario, &limit, Direction::Down);
    let up =
        (!matches!(leg.carrier, Carrier::Transfer {})).then(|| slowest(leg, scenario, &limit, Direction::Up));
    let connections = carrier::connections(&leg.carrier);
    let down = stretch.bottleneck(Direction::Down).map(|(_, rate)| rate);
    let mut report = LegReport {
        index,
        from: leg.from.clone(),
        to: leg.to.clone(),
        carrier: carrier::name(&leg.carrier).to_owned(),
        carrier_sentences: carrier::sentences(&leg.carrier).to_owned(),
        connection_use: leg.carrier.connection_use(),
        profile: profile_name(&leg.tcp),
        quick_acks: leg.tcp.profile().quick_acks(),
        tls_parts: leg.tls.as_ref().and_then(Tls::parts),
        handshakes: handshake::handshakes(index, leg, scenario, &limit),
        rtt_ns: stretch.round_trip().as_nanos(),
        stretches: split::stretches(leg, scenario),
        first_byte_ns: split::first_byte(leg, scenario).as_nanos(),
        first_byte_unsplit_ns: split::first_byte(&Leg { split: Vec::new(), ..leg.clone() }, scenario)
            .as_nanos(),
        first_byte_clear_ns: split::first_byte(&Leg { tls: None, ..leg.clone() }, scenario).as_nanos(),
        has_bare_tunnels: scenario.clients.tunnels.tls.is_some(),
        bottleneck_up_bps: stretch.bottleneck(Direction::Up).map(|(_, rate)| rate.as_bps()),
        bottleneck_down_bps: down.map(BitRate::as_bps),
        bdp_bytes: down.map(|rate| rate.data_in(stretch.round_trip()).get()),
        limit,
        ecn: marks::text(&Stretch::all(leg, scenario)),
        connections_to_fill: down.and_then(|rate| least.connections_to_fill(rate)),
        connections,
        connections_limit_bps: connections
            .and_then(|number| least.connection_limit_bps.map(|limit| limit * f64::from(number))),
        least,
        up,
        opens_per_s_max: ports::opens_per_s_max(index, leg, scenario),
        hosts,
        text: Text::default(),
    };
    let mut lines = carrier::lines(&leg.carrier);
    lines.extend(carrier::tls_line(leg));
    lines.extend(carrier::programs(&leg.application));
    if index == 0 {
        lines.push(("clients", clients(&scenario.clients)));
        lines.extend(carrier::tunnels_line(&scenario.clients.tunnels));
    }
    report.text = paragraph(&report, &lines, &stretch);
    report
}

/// Limits of a connection in a direction, on the stretch of its leg that limits it most. Without splits with the window of `limit`.
fn slowest(leg: &Leg, scenario: &Scenario, limit: &WindowLimit, way: Direction) -> ConnectionLimit {
    let whole = Stretch::of(leg, scenario);
    let on = |stretch: Stretch<'_>| {
        let window = if leg.split.is_empty() { *limit } else { WindowLimit::on(&stretch, None) };
        let window = window.towards(&stretch, way);
        ConnectionLimit::of(&Course { carrier: &leg.carrier, whole: &whole, stretch: &stretch, window, way })
    };
    // A limit without an estimate is less than any that has one.
    let unknown = |by: LimitedBy| if by == LimitedBy::Loss { 0.0 } else { f64::INFINITY };
    let bps =
        |limit: &ConnectionLimit| limit.connection_limit_bps.unwrap_or_else(|| unknown(limit.limited_by));
    let all = Stretch::all(leg, scenario).into_iter().map(on);
    all.min_by(|a, b| bps(a).total_cmp(&bps(b))).expect("a leg has a stretch")
}

/// Time that clients wait, in words.
fn clients(clients: &Clients) -> String {
    match clients.give_up {
        None => "no client timeout".to_owned(),
        Some(wait) => format!("give up after {}", figures::span(wait)),
    }
}

fn paragraph(leg: &LegReport, carrier: &[(&str, String)], stretch: &Stretch<'_>) -> Text {
    let limit = &leg.limit;
    let packet = limit.packet_bytes();
    let (trip, segment) = (Duration::from_nanos(leg.rtt_ns), Duration::from_nanos(limit.segment_ns));
    let mut text = Text::default();
    text.say(&format!("leg {}: {} to {}, {} over {}", leg.index, leg.from, leg.to, leg.carrier, leg.profile));
    carrier.iter().for_each(|(label, value)| text.row(label, &**value));
    leg.handshakes.iter().for_each(|handshake| handshake.say(&mut text));
    let mut line = |label: &str, value: String| text.row(label, value);
    line(
        "round trip",
        format!(
            "{} of propagation; a segment of {packet} B takes {} more",
            figures::span(trip),
            figures::span(segment)
        ),
    );
    for (index, stretch) in leg.stretches.iter().enumerate() {
        stretch.lines(index).into_iter().for_each(|(label, value)| line(&label, value));
    }
    if !leg.stretches.is_empty() {
        let [split, whole] = [leg.first_byte_ns, leg.first_byte_unsplit_ns].map(Duration::from_nanos);
        line(
            "first byte",
            format!(
                "{} after a connection opens, by propagation; {} without the splits",
                figures::span(split),
                figures::span(whole)
            ),
        );
    }
    let or_unlimited =
        |rate: Option<u64>| rate.map_or("unlimited".to_owned(), |bps| figures::rate(bps as f64));
    line(
        "bottleneck",
        format!("up {}, down {}", or_unlimited(leg.bottleneck_up_bps), or_unlimited(leg.bottleneck_down_bps)),
    );
    if stretch.changes() {
        line("links change", "rates here are means over time, delays the least".to_owned());
    }
    for (label, text) in silence::lines(stretch) {
        line(label, text);
    }
    for (name, bottleneck) in
        [("up", stretch.bottleneck(Direction::Up)), ("down", stretch.bottleneck(Direction::Down))]
    {
        if let Some((index, rate)) = bottleneck {
            line(
                &format!("path holds, {name}"),
                bandwidth_delay(name, index, rate.data_in(trip).get(), stretch, packet),
            );
        }
    }
    line(
        "window",
        format!(
            "{} B, {} whole segments of {} B ({} B)",
            limit.window_bytes,
            limit.window_segments,
            limit.payload_bytes,
            limit.window_segments * limit.payload_bytes
        ),
    );
    // Both directions have one window and one send buffer. Their limits up differ by the time of a segment alone.
    let is_of_tcp = |by: LimitedBy| matches!(by, LimitedBy::Window | LimitedBy::SendBuffer);
    let is_one = |up: &ConnectionLimit| up.limited_by == leg.least.limited_by && is_of_tcp(up.limited_by);
    let other = leg.up.as_ref().filter(|up| !is_one(up));
    let said = |text: fn(&ConnectionLimit) -> Option<String>| (text(&leg.least), other.and_then(text));
    let of_connection = said(|limit| limit.connection_limit_text.clone());
    let of_session = said(|limit| limit.session_limit_text.clone());
    for (label, (down, up)) in
        [("a connection can carry", of_connection), ("a session can carry", of_session)]
    {
        match (down, up) {
            (Some(down), Some(up)) if down != up => {
                line(label, format!("down {down}"));
                line(label, format!("up {up}"));
            }
            (down, _) => down.into_iter().for_each(|down| line(label, down)),
        }
    }
    let up = leg.up.as_ref().and_then(|up| up.loss_limit_text.clone());
    let down = leg.least.loss_limit_text.clone();
    match (down, up) {
        (Some(down), Some(up)) if down == up => line("losses", down),
        (down, up) => {
            down.into_iter().for_each(|text| line("losses down", text));
            up.into_iter().for_each(|text| line("losses up", text));
        }
    }
    if let Some(ecn) = &leg.ecn {
        line("ECN", ecn.clone());
    }
    if let (Some(number), Some(bps)) = (leg.connections, leg.connections_limit_bps) {
        line(&format!("{number} of them can carry"), figures::rate(bps));
    }
    if let Some(connections) = leg.connections_to_fill {
        line("connections to fill down", connections.to_string());
    }
    if let Some(opens) = leg.opens_per_s_max {
        line("source ports", ports::text(opens));
    }
    if let Some(hosts) = &leg.hosts {
        let (min, median, max) =
            (hosts.window_limit_bps_min, hosts.window_limit_bps_median, hosts.window_limit_bps_max);
        let spread = [min, median, max].map(figures::rate);
        line(
            "by host",
            format!("min {}, median {}, max {}; {} hosts", spread[0], spread[1], spread[2], hosts.hosts),
        );
    }
    text
}

/// The bandwidth–delay product, and the queue at the bottleneck relative to it.
fn bandwidth_delay(
    direction: &str,
    index: usize,
    product: u64,
    stretch: &Stretch<'_>,
    packet: u64,
) -> String {
    let link = &stretch.links[index - stretch.first];
    let way = if direction == "up" { &link.up } else { &link.down };
    let mut against = format!("queue {}", queue_text(way));
    if let (Some(bytes), 1..) = (queue_bytes(way, packet), product) {
        let share = bytes as f64 / product as f64;
        let _ = write!(against, ", {} of it", figures::percent(share));
    }
    format!("{}; {against}", figures::bytes(product as f64))
}

/// The queue limit of a direction in bytes, full packets of `packet` bytes. None when unlimited.
fn queue_bytes(direction: &LinkDirection, packet: u64) -> Option<u64> {
    direction.limit().map(|limit| match limit {
        net::QueueLimit::Bytes(bytes) => bytes.get(),
        net::QueueLimit::Packets(packets) => packets.saturating_mul(packet),
    })
}

fn rate_text(direction: &LinkDirection) -> String {
    let rate = direction.rate().map(|rate| figures::rate(rate.as_bps() as f64));
    let file = direction.trace.as_ref().map(|file| format!("by {}", drawing::shorten(file)));
    match (rate, file) {
        (None, None) => "unlimited".to_owned(),
        (rate, file) => rate.into_iter().chain(file).collect::<Vec<_>>().join(" "),
    }
}

/// The queue of a direction, such as "62.5 kB", "100 packets", "250 ms (62.5 kB)" or "pie 15 ms, 1000 packets".
fn queue_text(direction: &LinkDirection) -> String {
    let limit = limit_text(direction);
    match direction.queue {
        Some(Queue::Table(QueueTable::Pie { target, .. })) => {
            format!("pie {}, {limit}", figures::span(target))
        }
        Some(Queue::Table(QueueTable::DropHead { .. })) => format!("drop-head {limit}"),
        Some(Queue::Table(QueueTable::Codel { target, interval, .. })) => {
            format!("codel {} / {}, {limit}", figures::span(target), figures::span(interval))
        }
        Some(Queue::Table(QueueTable::FqCodel { target, interval, .. })) => {
            format!("fq-codel {} / {}, {limit}", figures::span(target), figures::span(interval))
        }
        Some(Queue::Limit(_) | Queue::Table(QueueTable::DropTail { .. })) | None => limit,
    }
}

fn limit_text(direction: &LinkDirection) -> String {
    let in_force = match direction.limit() {
        None => return "unlimited".to_owned(),
        Some(net::QueueLimit::Bytes(bytes)) => figures::bytes(bytes.get() as f64),
        Some(net::QueueLimit::Packets(1)) => "1 packet".to_owned(),
        Some(net::QueueLimit::Packets(packets)) => format!("{packets} packets"),
    };
    match direction.queue.and_then(|queue| queue.limit()) {
        Some(QueueLimit::Time(time)) => format!("{} ({in_force})", figures::span(time)),
        _ => in_force,
    }
}

/// The profile as a scenario writes it.
fn profile_name(tcp: &Tcp) -> String {
    let name = serde_json::to_value(tcp.profile).expect("a profile is a word");
    name.as_str().unwrap_or_default().to_owned()
}
