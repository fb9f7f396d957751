//! Recorded packets: their connections, their points, and their rows. Like the recorder it reads the world
//! and never changes it.
//!
//! At an end of a leg a packet is seen as the endpoint sends or receives it, as in a capture on that host. A tap on a link sees
//! the same as a splitter on the wire at the link's end nearer to the clients: packets going up when their last bit leaves the
//! transmitter, packets going down when they arrive. It does not see drops of the link. Both moments are known when the link
//! accepts the packet, or its queue gives it to the transmitter. The row waits until then, and rows stand in the order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::{Deserialize, Serialize};

use crate::conn::{Connection, Extras, Mark, Packet, Place, Transport};
use crate::id::Id;
use crate::net::{Carried, Direction, LinkId};
use crate::record::{Column, PacketColumns, PacketEvent, PacketRow};
use crate::tcp::{self, Flags, Segment};
use crate::units::Instant;
use crate::workload::{Directory, Request};

use super::recorder::{code, int, nanos};
use super::{CapturePoint, Config};

/// The tag of requests that are measured in every run.
const SAMPLE: &str = "sample";

/// Connections with recorded packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Packets {
    /// None.
    #[default]
    None,
    /// Packets of connections with a request tagged `sample`.
    Sample,
    /// All.
    All,
}

pub(crate) struct Capture {
    whose: Packets,
    at_ends: bool,
    /// By the number of the link's direction: true with a tap.
    taps: Vec<bool>,
    /// True where a queue drops packets that it is told of later: rows wait until no earlier one can come.
    waits: bool,
    rows: PacketColumns,
    /// Rows of packets on their way to a tap, the earliest on top.
    ahead: BinaryHeap<Reverse<Ahead>>,
    /// Packets that links with a tap have accepted.
    accepted: u64,
}

/// Action of an endpoint on a packet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen {
    pub(crate) place: Place,
    pub(crate) event: PacketEvent,
    /// Sequence number that the application's credit reaches.
    pub(crate) credit_limit: Option<u64>,
}

/// A row that waits for its time.
struct Ahead {
    at: Instant,
    /// Order of acceptance, for equal times.
    number: u64,
    row: PacketRow,
}

impl Capture {
    pub(crate) fn new(config: &Config) -> Self {
        let mut taps = vec![false; 2 * config.links];
        for point in &config.record.points {
            if let CapturePoint::Link { link, up, down } = *point {
                for (direction, seen) in [(Direction::Up, up), (Direction::Down, down)] {
                    taps[LinkId::of(link as usize, direction).index()] |= seen;
                }
            }
        }
        Self {
            whose: config.record.packets,
            at_ends: config.record.points.contains(&CapturePoint::Ends),
            taps,
            waits: false,
            rows: PacketColumns::default(),
            ahead: BinaryHeap::new(),
            accepted: 0,
        }
    }

    /// True when packets that pass a link are recorded.
    pub(crate) fn sees(&self, link: LinkId) -> bool {
        self.whose != Packets::None && self.taps[link.index()]
    }

    /// From now on rows may come later than others of their time. [`take`](Self::take) says up to when none do.
    pub(crate) const fn wait(&mut self) {
        self.waits = true;
    }

    /// True when packets of a connection that carries `request` are recorded.
    pub(crate) fn wants(&self, request: &Request, directory: &Directory) -> bool {
        match self.whose {
            Packets::None => false,
            Packets::Sample => request.tag.is_some_and(|tag| &*directory.tags.words()[tag] == SAMPLE),
            Packets::All => true,
        }
    }

    /// True when packets of every connection are recorded.
    pub(crate) fn wants_all(&self) -> bool {
        self.whose == Packets::All
    }

    /// Takes all rows up to `now`. No row of an earlier time will come.
    pub(crate) fn take(&mut self, now: Instant) -> Vec<(&'static str, Column)> {
        self.catch_up(now);
        self.rows.take()
    }

    fn push(&mut self, now: Instant, row: PacketRow) {
        if self.waits {
            return self.push_at(now, row);
        }
        self.catch_up(now);
        self.rows.push(row);
    }

    fn push_at(&mut self, at: Instant, row: PacketRow) {
        self.ahead.push(Reverse(Ahead { at, number: self.accepted, row }));
        self.accepted += 1;
    }

    /// Writes the rows that are due.
    fn catch_up(&mut self, now: Instant) {
        while let Some(Reverse(next)) = self.ahead.peek()
            && next.at <= now
        {
            self.rows.push(next.row);
            self.ahead.pop();
        }
    }

    /// A row for a segment that the endpoint at `place` sends as its packet `number`. Returns the mark for its rows wherever it
    /// is seen.
    #[cold]
    pub(crate) fn record_departure(
        &mut self,
        now: Instant,
        connection: &mut Connection,
        place: Place,
        segment: &Segment,
        number: u32,
        credit_limit: Option<u64>,
    ) -> Mark {
        let sent = &mut connection.socket_mut(place).way;
        let again = segment.sequence_len() > 0 && segment.seq < sent.highest;
        sent.highest = sent.highest.max(segment.end());
        let mark = Mark { number, again, recorded: true };
        let seen = Seen { place, event: PacketEvent::Send, credit_limit };
        self.record_at_end(now, connection, seen, segment, mark);
        mark
    }

    /// A row for a segment sent or received by an endpoint.
    #[cold]
    pub(crate) fn record_at_end(
        &mut self,
        now: Instant,
        connection: &Connection,
        seen: Seen,
        segment: &Segment,
        mark: Mark,
    ) {
        if !self.at_ends {
            return;
        }
        let Seen { place, event, credit_limit } = seen;
        let sender = if event == PacketEvent::Send { place } else { connection.peer(place) };
        let socket = connection.socket(place);
        let windows = socket.transport.as_ref().and_then(Transport::windows);
        let tcp = socket.stack();
        let row = PacketRow {
            event: event as i32,
            node: i32::from(socket.node),
            cwnd_bytes: windows.map(|(cwnd, _)| int(cwnd)),
            ssthresh_bytes: windows.map(|(_, ssthresh)| int(ssthresh)),
            pace_bps: tcp.and_then(tcp::Connection::pace_bps).map(int),
            bbr_state: tcp.and_then(tcp::Connection::bbr).map(|bbr| bbr.mode as i32),
            credit_limit: credit_limit.map(int),
            ..packet_row(now, connection, sender, segment, mark)
        };
        self.push(now, row);
    }

    /// A row for a packet of `connection` that a link dropped.
    #[cold]
    pub(crate) fn record_drop(
        &mut self,
        now: Instant,
        connection: &Connection,
        link: LinkId,
        packet: &Packet,
        extras: &Extras,
    ) {
        let row = PacketRow {
            event: PacketEvent::Drop as i32,
            node: i32::from(link.near_node()),
            link: Some(link.link() as i64),
            ..packet_row(
                now,
                connection,
                sender_of(packet, connection),
                &packet.segment(extras),
                packet.mark(),
            )
        };
        self.push(now, row);
    }

    /// A row for a packet of `connection` whose times on `link` are known, if there is a tap.
    #[cold]
    pub(crate) fn record_passage(
        &mut self,
        connection: &Connection,
        link: LinkId,
        carried: Carried<'_, Packet>,
        extras: &Extras,
    ) {
        if !self.taps[link.index()] {
            return;
        }
        let Carried { packet, departure, arrival } = carried;
        let at = if link.direction() == Direction::Up { departure } else { arrival };
        let row = PacketRow {
            event: PacketEvent::Pass as i32,
            node: link.link() as i32,
            link: Some(link.link() as i64),
            left_ns: Some(nanos(departure)),
            arrived_ns: Some(nanos(arrival)),
            ..packet_row(
                at,
                connection,
                sender_of(packet, connection),
                &packet.segment(extras),
                packet.mark(),
            )
        };
        self.push_at(at, row);
    }
}

impl Ord for Ahead {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

impl PartialOrd for Ahead {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ahead {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for Ahead {}

/// The sender of a packet on a link.
fn sender_of(packet: &Packet, connection: &Connection) -> Place {
    connection.peer(connection.place_at(packet.toward, packet.destination))
}

/// A row for `segment`, filled except for the point where it is seen.
fn packet_row(
    at: Instant,
    connection: &Connection,
    sender: Place,
    segment: &Segment,
    mark: Mark,
) -> PacketRow {
    let is_syn = segment.flags.contains(Flags::SYN);
    let shift = if is_syn {
        0
    } else {
        connection.socket(sender).transport.as_ref().map_or(0, Transport::window_shift)
    };
    let options = &segment.options;
    PacketRow {
        time_ns: nanos(at),
        connection: int(connection.number),
        leg: connection.leg as i64,
        stretch: connection.stretch(sender) as i64,
        host: connection.key.host.map(code),
        node: 0,
        link: None,
        event: PacketEvent::Send as i32,
        direction: sender.toward().direction() as i32,
        packet: i64::from(mark.number),
        seq: int(segment.seq),
        ack: if segment.flags.contains(Flags::ACK) { int(segment.ack) } else { 0 },
        payload_bytes: i64::from(segment.len),
        window_bytes: i64::from(segment.window) << shift,
        window_field: i64::from(segment.window),
        flags: i32::from(segment.flags.bits()),
        ecn: segment.ecn as i32,
        retransmission: mark.again,
        mss_bytes: options.mss.map(|mss| i64::from(mss.get())),
        window_scale: options.window_scale.map(i64::from),
        sack_permitted: options.sack_permitted,
        sack: segment.sack_blocks().map(|block| (int(block.start), int(block.end))).collect(),
        timestamp: options.timestamps.map(|timestamps| i64::from(timestamps.value)),
        timestamp_echo: options.timestamps.map(|timestamps| i64::from(timestamps.echo)),
        cwnd_bytes: None,
        ssthresh_bytes: None,
        pace_bps: None,
        bbr_state: None,
        credit_limit: None,
        left_ns: None,
        arrived_ns: None,
    }
}
