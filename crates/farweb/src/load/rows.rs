//! Facts about the path, the requests and each leg: a label and a few words.

use serde::Serialize;

use super::Check;
use super::clients::ClientReport;
use super::demand::Demand;
use super::extent::Extent;
use super::offered::of_rate;
use crate::explain::{ConnectionLimit, DirectionReport, LegReport, LimitedBy, LinkReport, Report, Row};
use crate::scenario::{Carrier, Leg};
use crate::units::words::{count, plain, rate, seconds, share};

/// A table for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Sheet {
    /// Its heading.
    pub title: String,
    /// A text a column.
    pub header: Vec<String>,
    /// As many texts each.
    pub rows: Vec<Vec<String>>,
}

/// The requests that the TLS of legs is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Schemes {
    /// Under TLS by the table.
    pub https: u64,
    /// In the clear by it.
    pub http: u64,
    /// Others that are no tunnels.
    pub unknown: u64,
}

impl Schemes {
    pub(super) const fn of(demand: &Demand) -> Self {
        Self { https: demand.secure, http: demand.clear, unknown: demand.of_unknown_scheme() }
    }
}

/// Least time of a request to the servers, in s. `schemes` are those of the requests, where there are any.
pub(super) fn least_s(report: &Report, schemes: Option<Schemes>) -> f64 {
    report.legs.iter().map(|leg| least_ns(leg, schemes)).sum::<f64>() / 1e9
}

/// Least time of a request on a leg: on an open connection, where there may be one.
fn least_ns(leg: &LegReport, schemes: Option<Schemes>) -> f64 {
    if !leg.connection_use.requests {
        return leg.rtt_ns as f64 / 2.0;
    }
    if !leg.connection_use.is_alone() {
        return leg.rtt_ns as f64;
    }
    let is_clear = schemes.is_some_and(|schemes| schemes.http > 0) || leg.has_bare_tunnels;
    (if is_clear { leg.first_byte_clear_ns } else { leg.first_byte_ns }) as f64
}

/// All rows but the size of runs.
pub(super) fn rows(check: &Check) -> Vec<Row> {
    let Check { scenario, report, demand, .. } = check;
    let mut rows = vec![Row::new("path", path(report))];
    rows.extend(changes(report));
    if let (Ok(load), Some(demand)) = (check.offered(), demand) {
        let clients = ClientReport::of(scenario, report, demand);
        let multiple = plain(load.rate_multiple, 3);
        let is_less = multiple.parse::<f64>().is_ok_and(|multiple| multiple < load.load);
        let times = if is_less { format!(" ({multiple} times the rate)") } else { String::new() };
        let copies =
            if load.load == 1.0 { String::new() } else { format!(", load {}{times}", plain(load.load, 6)) };
        let (requests, span) = (count(load.requests as f64), seconds(load.span_s));
        rows.push(Row::new("requests", format!("{requests} in {span}{copies}; {}", clients.text)));
    }
    let tunnels = demand.as_deref().map_or(0, Demand::opened_tunnels);
    if tunnels > 0 {
        let inside = match &scenario.clients.tunnels.tls {
            Some(tls) => format!("TLS {} inside, over the whole path", tls.version.word()),
            None => "each one transfer of all its bytes".to_owned(),
        };
        rows.push(Row::new("tunnels", format!("{}, {inside}", count(tunnels as f64))));
    }
    for (leg, described) in report.legs.iter().zip(&scenario.leg) {
        rows.extend(of_leg(report, check.schemes(), leg, described));
    }
    rows.extend(
        report.caches.iter().map(|cache| Row(format!("cache at {}", cache.node), cache.contents.clone())),
    );
    rows
}

/// The size of a run or of all runs of a sweep, as one row.
pub(super) fn of_extent(extent: &Extent) -> Row {
    let runs = match extent.runs {
        1 => "a run".to_owned(),
        runs => format!("{} runs", count(runs as f64)),
    };
    Row(runs, format!("about {} packets over links", rounded(extent.packet_hops)))
}

/// A number by thousands, with three digits that are not zero.
fn rounded(number: u64) -> String {
    let unit = 10_u64.pow(number.checked_ilog10().unwrap_or(0).saturating_sub(2));
    let (whole, rest) = (number / unit, number % unit);
    let is_up = rest * 2 > unit || (rest * 2 == unit && whole % 2 == 1);
    count(((whole + u64::from(is_up)) * unit) as f64)
}

fn path(report: &Report) -> String {
    let mut path = report.nodes[0].clone();
    for LinkReport { up, down, to, .. } in &report.links {
        let says = if up == down {
            format!("{}, {}", up.rate, up.delay)
        } else if up.delay == down.delay {
            format!("{} up, {} down, {}", up.rate, down.rate, up.delay)
        } else {
            format!("{}, {} up, {}, {} down", up.rate, up.delay, down.rate, down.delay)
        };
        let is_lossless = up.loss == "none" && down.loss == "none";
        path += &format!(" -- {says}{} -- {to}", if is_lossless { "" } else { ", losses" });
    }
    path
}

/// Changes of links with time, a row a direction where they differ.
fn changes(report: &Report) -> Vec<Row> {
    let of_link = |link: &LinkReport| {
        let [up, down] = [&link.up, &link.down].map(|way| way.changes.join("; "));
        let ways = if up == down { vec![("up and down", up)] } else { vec![("up", up), ("down", down)] };
        let said = ways.into_iter().filter(|(_, said)| !said.is_empty());
        said.map(|(way, said)| Row::new("changes", format!("{} to {}, {way}: {said}", link.from, link.to)))
            .collect::<Vec<_>>()
    };
    report.links.iter().flat_map(of_link).collect()
}

/// How a leg uses connections, their limits, and the queues of its slowest link.
fn of_leg(report: &Report, schemes: Option<Schemes>, leg: &LegReport, described: &Leg) -> Vec<Row> {
    let mut rows = vec![manner(report, schemes, leg, described)];
    if !leg.stretches.is_empty() {
        let [first, whole] =
            [leg.first_byte_ns, leg.first_byte_unsplit_ns].map(|nanos| seconds(nanos as f64 / 1e9));
        let nodes = listed(leg.stretches.iter().skip(1).map(|stretch| stretch.from.as_str()));
        let words =
            format!("TCP ends at {nodes}: {first} to the first byte on a new connection, {whole} without");
        rows.push(Row::new("splits", words));
    }
    rows.extend(limit_down(report, leg));
    rows.extend(limit_up(report, leg));
    rows.extend(losses(leg));
    rows.extend(leg.ecn.iter().map(|ecn| Row::new("ECN", ecn.clone())));
    rows.extend(queues(report, leg));
    rows
}

fn manner(report: &Report, schemes: Option<Schemes>, leg: &LegReport, described: &Leg) -> Row {
    let uses = leg.connection_use;
    let manner = if !uses.requests {
        "responses come alone"
    } else if uses.standing {
        "connections always stand"
    } else if uses.shared {
        "requests share connections"
    } else if uses.reused {
        "connections are kept"
    } else {
        "a connection a request"
    };
    let mut least = String::new();
    if uses.requests && leg.rtt_ns > 0 {
        let shortest = least_ns(leg, schemes);
        let trips = shortest / leg.rtt_ns as f64;
        let turns = ["a round trip", "two round trips", "three round trips", "four round trips"];
        let time = match (trips as usize)
            .checked_sub(1)
            .and_then(|place| turns.get(place))
            .filter(|_| trips.fract() == 0.0)
        {
            Some(turns) => format!("{turns} of {}", seconds(leg.rtt_ns as f64 / 1e9)),
            None => seconds(shortest / 1e9),
        };
        least = format!(": {time} at least");
    }
    let tls = described.tls.as_ref();
    let secured =
        tls.map(|tls| format!(", TLS {}{}", tls.version.word(), of_schemes(schemes))).unwrap_or_default();
    let of = if report.legs.len() == 1 { String::new() } else { format!("{} to {}: ", leg.from, leg.to) };
    Row(carrier(leg, &described.carrier), format!("{of}{manner}{least}{secured}"))
}

/// A carrier in a word: `http/1.1`, `mux over 50`.
fn carrier(leg: &LegReport, carrier: &Carrier) -> String {
    let connections = match carrier {
        Carrier::Mux { connections, .. } => *connections,
        Carrier::Http2(http2) => http2.connections,
        _ => return leg.carrier.clone(),
    };
    format!("{} over {connections}", leg.carrier)
}

/// The requests that have a leg's TLS, or nothing where none is known to go in the clear.
fn of_schemes(schemes: Option<Schemes>) -> String {
    let Some(Schemes { https, http, unknown }) = schemes.filter(|schemes| schemes.http > 0) else {
        return String::new();
    };
    let of_unknown =
        if unknown > 0 { format!(", {} of them unknown", count(unknown as f64)) } else { String::new() };
    let part = 1.0 - http as f64 / (https + http + unknown) as f64;
    format!(" for {} of the requests{of_unknown}", share(part))
}

/// Limit of a response where its session has less credit than its connection can carry, or of a connection.
fn limit_down(report: &Report, leg: &LegReport) -> Option<Row> {
    let (limit, why) = limit(&leg.least)?;
    let line = leg.bottleneck_down_bps.map(|bps| bps as f64).filter(|line| limit < *line);
    let connection = leg.least.connection_limit_bps.unwrap_or_default();
    let Some(line) = line else {
        let none = || Row::new("limit", format!("none: a connection can carry {}", rate(connection)));
        return (report.legs.len() == 1).then(none);
    };
    let of_line = words_of_line(report, leg, line, |link| &link.down);
    let words = match leg.connections_to_fill {
        _ if limit < connection => format!("{} a response, of {of_line} ({why})", rate(limit)),
        fill => {
            let fill = fill.map_or_else(|| "–".to_owned(), |fill| count(fill as f64));
            format!("{} a connection, of {of_line} ({why}); {fill} fill it", rate(limit))
        }
    };
    Some(Row::new("limit", words))
}

/// Limit of an upload, where a credit or losses set another one than the window.
fn limit_up(report: &Report, leg: &LegReport) -> Option<Row> {
    let up = leg.up.as_ref()?;
    let (limit, why) = limit(up)?;
    let line = leg.bottleneck_up_bps.map(|bps| bps as f64).filter(|line| limit < *line)?;
    let of_line = words_of_line(report, leg, line, |link| &link.up);
    (why != OF_WINDOW)
        .then(|| Row::new("limit up", format!("{} an upload, of {of_line} ({why})", rate(limit))))
}

/// Effect of losses beside the limits. A limit up is not always said: losses up are where no estimate has them.
fn losses(leg: &LegReport) -> Vec<Row> {
    let (down, up) = (leg.least.loss_limit_text.as_ref(), leg.up.as_ref());
    let up = up.filter(|up| up.loss_limit_bps.is_none()).and_then(|up| up.loss_limit_text.as_ref());
    let mut rows: Vec<_> = down.map(|text| Row::new("losses", text.clone())).into_iter().collect();
    rows.extend(up.filter(|up| Some(*up) != down).map(|text| Row::new("losses up", text.clone())));
    rows
}

/// The queues of the slowest link of the path, where the leg has it.
fn queues(report: &Report, leg: &LegReport) -> Option<Row> {
    let rate = |link: &&LinkReport| link.down.rate_bps_mean.filter(|bps| *bps > 0).unwrap_or(u64::MAX);
    let narrow = report.links.iter().min_by_key(rate)?;
    if !report.links_of(leg).contains(&narrow.index) || narrow.down.queue == "unlimited" {
        return None;
    }
    let of_path = match (narrow.down.queue_bytes, leg.bdp_bytes) {
        (Some(held @ 1..), Some(product @ 1..)) => of_path(held, product, leg.limit.window_bytes),
        _ => String::new(),
    };
    Some(Row::new("queues", format!("{} up, {} down{of_path}", narrow.up.queue, narrow.down.queue)))
}

/// A queue beside the content of the path. Half of slow start's last window queues: it sends twice as much as ACKs bring.
fn of_path(held: u64, product: u64, window: u64) -> String {
    let is_short = (held as f64) < product.min(window) as f64 / 2.0;
    let short = if is_short { ", too short for slow start's bursts" } else { "" };
    format!(": {} of what the path holds{short}", share(held as f64 / product as f64))
}

const OF_WINDOW: &str = "receive window";

/// Rate of one transfer in a direction, in bit/s, and its cause. None without a limit.
fn limit(way: &ConnectionLimit) -> Option<(f64, &'static str)> {
    let connection = way.connection_limit_bps?;
    let by = match way.limited_by {
        LimitedBy::Window => OF_WINDOW,
        LimitedBy::Credit => "credit of the carrier",
        LimitedBy::SendBuffer => "send buffer",
        LimitedBy::Loss => "losses",
    };
    match way.session_limit_bps.filter(|session| *session < connection) {
        Some(session) => Some((session, "credit of the carrier")),
        None => Some((connection, by)),
    }
}

/// Rate of the slowest link of a leg in words.
fn words_of_line(
    report: &Report,
    leg: &LegReport,
    line: f64,
    way: impl Fn(&LinkReport) -> &DirectionReport,
) -> String {
    of_rate(line, report.links[report.links_of(leg)].iter().any(|link| way(link).varies))
}

/// Words as a person lists them: `a, b and c`.
fn listed<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let words: Vec<_> = words.collect();
    match words.split_last() {
        Some((last, first)) if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        Some((last, _)) => (*last).to_owned(),
        None => String::new(),
    }
}
