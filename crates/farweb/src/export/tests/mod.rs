//! Files from rows made by hand.

mod capture;
mod frames;
mod plot;
mod wrong;

use super::*;
use crate::record::{NULL_INT, PacketEvent};
use crate::tcp::{Codepoint, Flags, Options, SackBlocks, Segment, Timestamps};
use crate::workload::Words;

const ACK: Flags = Flags::ACK;
const SYN: Flags = Flags::SYN;

/// Clients, a router, a proxy and servers, with a leg to the proxy and one behind it.
fn route() -> Route {
    let nodes = ["clients", "router", "proxy", "servers"].map(str::to_owned).to_vec();
    Route::new(nodes, vec![(0, 2), (2, 3)]).unwrap()
}

/// A row of the packet table.
#[derive(Debug, Clone, Copy)]
struct Seen {
    time_ns: i64,
    connection: i64,
    leg: i64,
    point: Point,
    event: PacketEvent,
    up: bool,
    number: i64,
    segment: Segment,
    again: bool,
    credit_limit: Option<i64>,
}

/// Packets that the client of the first leg sends.
fn sent(segment: Segment) -> Seen {
    let (point, event) = (Point::End(0), PacketEvent::Send);
    Seen {
        time_ns: 0,
        connection: 0,
        leg: 0,
        point,
        event,
        up: true,
        number: 0,
        segment,
        again: false,
        credit_limit: None,
    }
}

/// Packets that arrive at the client of the first leg.
fn received(segment: Segment) -> Seen {
    Seen { event: PacketEvent::Receive, up: false, ..sent(segment) }
}

impl Seen {
    const fn at(mut self, time_ns: i64) -> Self {
        self.time_ns = time_ns;
        self
    }
}

fn segment(flags: Flags, seq: u64, ack: u64, len: u32) -> Segment {
    Segment { seq, ack, len, window: 8_000, flags, ecn: Codepoint::NotEct, options: Options::NONE }
}

fn with_sack(segment: Segment, blocks: &[(u64, u64)]) -> Segment {
    let sack = SackBlocks::new(segment.ack, blocks.iter().map(|(start, end)| *start..*end));
    Segment { options: Options { sack, ..segment.options }, ..segment }
}

/// The columns of some rows.
fn packets(seen: &[Seen]) -> Packets {
    let ints = |value: fn(&Seen) -> i64| seen.iter().map(value).collect::<Vec<_>>();
    let or_null = |value: Option<i64>| value.unwrap_or(NULL_INT);
    let node = |seen: &Seen| match seen.point {
        Point::End(node) => node as i32,
        Point::Link(link) => link as i32,
    };
    let words = |codes: Vec<i32>, words: &[&str]| Words {
        codes,
        words: words.iter().map(ToString::to_string).collect(),
    };
    let options = |value: fn(&Options) -> Option<i64>| {
        seen.iter().map(|seen| or_null(value(&seen.segment.options))).collect::<Vec<_>>()
    };
    Packets {
        time_ns: ints(|seen| seen.time_ns),
        connection: ints(|seen| seen.connection),
        leg: ints(|seen| seen.leg),
        host: words(vec![0; seen.len()], &["www.example"]),
        node: words(seen.iter().map(node).collect(), &["clients", "router", "proxy", "servers"]),
        link: ints(|seen| if let Point::Link(link) = seen.point { link as i64 } else { NULL_INT }),
        event: words(
            seen.iter().map(|seen| seen.event as i32).collect(),
            &["send", "receive", "drop", "pass"],
        ),
        direction: words(seen.iter().map(|seen| i32::from(!seen.up)).collect(), &["up", "down"]),
        packet: ints(|seen| seen.number),
        seq: ints(|seen| seen.segment.seq as i64),
        ack: ints(|seen| seen.segment.ack as i64),
        payload_bytes: ints(|seen| i64::from(seen.segment.len)),
        window_bytes: ints(|seen| i64::from(seen.segment.window)),
        window_field: ints(|seen| i64::from(seen.segment.window)),
        flags: Words {
            codes: seen.iter().map(|seen| i32::from(seen.segment.flags.bits())).collect(),
            words: Flags::all().map(|flags| flags.to_string()).collect(),
        },
        ecn: Some(words(seen.iter().map(|seen| seen.segment.ecn as i32).collect(), &Codepoint::NAMES)),
        retransmission: seen.iter().map(|seen| seen.again).collect(),
        mss_bytes: options(|options| options.mss.map(|mss| i64::from(mss.get()))),
        window_scale: options(|options| options.window_scale.map(i64::from)),
        sack_permitted: seen.iter().map(|seen| seen.segment.options.sack_permitted).collect(),
        sack: seen
            .iter()
            .map(|seen| {
                seen.segment.sack_blocks().map(|block| (block.start as i64, block.end as i64)).collect()
            })
            .collect(),
        timestamp: options(|options| options.timestamps.map(|Timestamps { value, .. }| i64::from(value))),
        timestamp_echo: options(|options| options.timestamps.map(|Timestamps { echo, .. }| i64::from(echo))),
        credit_limit: ints(|seen| seen.credit_limit.unwrap_or(NULL_INT)),
    }
}
