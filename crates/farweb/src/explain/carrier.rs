//! Describes in words how the carrier of a leg uses its connections.

use super::figures;
use crate::http::h2::endpoint::Role;
use crate::http::h2::tuning::{Tuning, TuningRule};
use crate::http::tls::{Start, Version};
use crate::scenario::{
    Application, Assign, AssignStream, Carrier, ClosedBy, Http2, Layout, Leg, OpenRule, Overhead, Ties, Tls,
    Tunnels,
};
use crate::units::{Bytes, Duration};

/// As a scenario writes it.
pub(super) const fn name(carrier: &Carrier) -> &'static str {
    match carrier {
        Carrier::Http10 { .. } => "http/1.0",
        Carrier::Http11 { .. } => "http/1.1",
        Carrier::Mux { .. } => "mux",
        Carrier::WebMux { .. } => "webmux",
        Carrier::Http2(_) => "http/2",
        Carrier::Transfer {} => "transfer",
    }
}

/// Most connections at a time, if the carrier limits them. A mux keeps that many open.
pub(super) const fn connections(carrier: &Carrier) -> Option<u32> {
    match carrier {
        Carrier::Mux { connections, .. } => Some(*connections),
        Carrier::Http11 { total, .. } => *total,
        Carrier::Http2(http2) if matches!(http2.open_rule, OpenRule::Fixed) => Some(http2.connections),
        _ => None,
    }
}

/// Describes in sentences how requests ride its connections.
pub(super) const fn sentences(carrier: &Carrier) -> &'static str {
    match carrier {
        Carrier::Http10 { .. } => {
            "Every request opens a connection of its own (HTTP/1.0), however many are open already."
        }
        Carrier::Http11 { .. } => {
            "A request takes a connection that lies idle and leads to its host (to a proxy: any), or opens one (HTTP/1.1). A \
             connection carries one request at a time, without pipelining."
        }
        Carrier::Mux { .. } => {
            "Requests and responses share connections that stay open (mux), those of different requests interleaved: each \
             goes to the connection that the leg's rule names when its first bytes are there."
        }
        Carrier::WebMux { .. } => {
            "Requests and responses share a connection to their host (to a proxy: one) as sessions of W3C MUX, in fragments that \
             take turns. A session sends as much as its credit allows, and its reader grants more when more than half is taken."
        }
        Carrier::Http2(_) => {
            "Requests share connections (HTTP/2), on the last leg those of one host: each has a stream of its own, whose data the \
             other end grants credit for, as it does for the whole connection."
        }
        Carrier::Transfer {} => "Only the data of responses travel: no request, no handshake, no close.",
    }
}

const fn end(closed_by: ClosedBy) -> &'static str {
    match closed_by {
        ClosedBy::Client => "client",
        ClosedBy::Server => "server",
    }
}

/// Properties of the connections of a leg, each with its label.
pub(super) fn lines(carrier: &Carrier) -> Vec<(&'static str, String)> {
    match carrier {
        Carrier::Http10 { closed_by } => {
            vec![("connections", format!("one for each request, closed by the {}", end(*closed_by)))]
        }
        Carrier::Transfer {} => vec![("connections", "none: each response alone, one-way".to_owned())],
        Carrier::Http11 { idle_timeout, closed_by, per_host, total, per_connection } => {
            let rule = format!("used again; closed by the {} after {idle_timeout} idle", end(*closed_by));
            let most = [(per_host, "a host"), (total, "in all"), (per_connection, "requests each")];
            let most: Vec<_> =
                most.iter().filter_map(|(limit, of)| limit.map(|limit| format!("{limit} {of}"))).collect();
            let limits = (!most.is_empty()).then(|| ("at most", most.join(", ")));
            std::iter::once(("connections", rule)).chain(limits).collect()
        }
        Carrier::WebMux { credit, write_buffer, read_buffer, fragment, layout } => {
            let year = match layout {
                Layout::Y1996 => "1996",
                Layout::Y1998 => "1998",
            };
            vec![
                ("connections", "one to each host, opened by its first request and kept".to_owned()),
                ("sessions", format!("a request each; credit {credit} each way, fragments of {fragment}")),
                ("buffers", format!("write {write_buffer}, read {read_buffer}; layout of {year}")),
            ]
        }
        Carrier::Http2(http2) => http2_lines(http2),
        Carrier::Mux { connections, overhead, assign, ties } => {
            let turn = match (assign, ties) {
                (Assign::RoundRobin, _) => "in turn",
                (Assign::LeastOutstanding, Ties::First) => "fewest outstanding bytes first",
                (Assign::LeastOutstanding, Ties::Next) => {
                    "fewest outstanding bytes first, equal ones in turn"
                }
            };
            let framing = match overhead {
                Overhead::None => "none".to_owned(),
                Overhead::PerSegment(bytes) => format!("{bytes} for each segment from the next leg"),
                Overhead::Share(_) => format!("{overhead} of the response"),
            };
            vec![("connections", format!("{connections}, always open; {turn}")), ("framing", framing)]
        }
    }
}

/// Describes the programs at both ends, if the scenario sets them.
pub(super) fn programs(application: &Application) -> impl Iterator<Item = (&'static str, String)> {
    let Application { wake, write, head } = *application;
    let wakes = (wake > Duration::ZERO).then(|| ("programs wake", format!("after {}", figures::span(wake))));
    let by_itself = format!("head of {head} by itself");
    let writes = match (head > Bytes::ZERO, write) {
        (false, None) => None,
        (true, None) => Some(by_itself),
        (false, Some(bytes)) => Some(format!("at most {bytes} at once")),
        (true, Some(bytes)) => Some(format!("{by_itself}; at most {bytes} at once")),
    };
    wakes.into_iter().chain(writes.map(|writes| ("programs write", writes)))
}

/// Describes TLS on its connections, with its label.
pub(super) fn tls_line(leg: &Leg) -> Option<(&'static str, String)> {
    let tls = leg.tls.as_ref()?;
    Some(("TLS", format!("{} before a request; records to {}", handshake(tls), tls.record)))
}

/// Describes TLS inside tunnels, with its label.
pub(super) fn tunnels_line(tunnels: &Tunnels) -> Option<(&'static str, String)> {
    let tls = tunnels.tls.as_ref()?;
    Some(("TLS inside tunnels", format!("{} of the path behind CONNECT", handshake(tls))))
}

/// Version of TLS, and the round trips of its handshake.
fn handshake(tls: &Tls) -> String {
    let (version, trips) = match (tls.version, tls.start) {
        (Version::V12, Start::Full) => ("1.2", "two round trips"),
        (Version::V12, _) => ("1.2, resumed", "a round trip"),
        (Version::V13, Start::Full) => ("1.3", "a round trip"),
        (Version::V13, Start::Resumed) => ("1.3, resumed", "a round trip"),
        (Version::V13, Start::EarlyData) => ("1.3, 0-RTT", "no round trip"),
    };
    format!("{version}: {trips}")
}

fn http2_lines(http2: &Http2) -> Vec<(&'static str, String)> {
    let Http2 { connections, open_rule, assign, idle_timeout, .. } = http2;
    let opened = match open_rule {
        OpenRule::AtSessionLimit => "another when the others are full",
        OpenRule::Fixed => "always open",
    };
    let turn = match assign {
        AssignStream::FirstWithRoom => "the first one with room",
        AssignStream::RoundRobin => "in turn",
        AssignStream::LeastSessions => "fewest streams first",
    };
    let credit = |role| {
        let credit = http2.config(role).credit;
        let grows = match credit.tuning {
            None => String::new(),
            Some(Tuning { rule: TuningRule::DrainEighth, max }) => format!("; a stream grows to {max} B"),
            Some(Tuning { max, .. }) => format!("; both grow to {max} B"),
        };
        format!("{} B a stream, {} B in all{grows}", credit.stream, credit.connection)
    };
    let frames = |role| format!("data up to {} B", http2.config(role).fragment);
    let end = |role| {
        let preset = http2.preset(role);
        let word = serde_json::to_value(preset).expect("a preset is a word");
        let chosen = if http2.has_preset(role) { "" } else { ", default" };
        format!("{} (preset {word}{chosen})", preset.program())
    };
    vec![
        ("connections", format!("up to {connections}, {opened}; {turn}")),
        ("client end", end(Role::Client)),
        ("server end", end(Role::Server)),
        ("closed after", format!("{idle_timeout} idle")),
        ("credit down", credit(Role::Client)),
        ("credit up", credit(Role::Server)),
        ("frames down", frames(Role::Server)),
    ]
}
