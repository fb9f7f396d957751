//! The recorder: turns what happens in the world into rows. It reads the world and never changes it.

use crate::id::Id;
use crate::record::{
    Column, ConnectionColumns, ConnectionRow, Event, LinkColumns, LinkRow, PacketColumns, PacketRow,
    RequestColumns, RequestRow, Status,
};
use crate::scenario::{Packets, Record};
use crate::tcp::{self, Flags, Segment};
use crate::units::{Duration, Instant};
use crate::workload::{Directory, Request};

use super::World;
use super::connections::{ConnectionId, End, Pair};
use super::path::{LinkId, Packet, Path};

/// The tag of requests that are measured in every run.
const SAMPLE: &str = "sample";

pub(super) struct Recorder {
    requests: RequestColumns,
    connections: Option<ConnectionColumns>,
    links: LinkColumns,
    packets: PacketColumns,
    whose_packets: Packets,
    interval: Option<Duration>,
    interval_start: Instant,
}

impl Recorder {
    pub(super) fn new(record: &Record) -> Self {
        Self {
            requests: RequestColumns::default(),
            connections: record.connections.then(ConnectionColumns::default),
            links: LinkColumns::default(),
            packets: PacketColumns::default(),
            whose_packets: record.packets,
            interval: record.links_every,
            interval_start: Instant::ZERO,
        }
    }

    pub(super) fn take(&mut self) -> Vec<(&'static str, Vec<(&'static str, Column)>)> {
        let mut tables = vec![("requests", self.requests.take())];
        tables.extend(self.connections.as_mut().map(|columns| ("connections", columns.take())));
        tables.push(("links", self.links.take()));
        tables.push(("packets", self.packets.take()));
        tables
    }

    /// Distance of the rows of the link table, if there are any.
    pub(super) const fn interval(&self) -> Option<Duration> {
        self.interval
    }

    /// Whether packets of a connection that carries `request` are recorded.
    pub(super) fn wants_packets(&self, request: &Request, directory: &Directory) -> bool {
        match self.whose_packets {
            Packets::None => false,
            Packets::Sample => request.tag.is_some_and(|tag| &*directory.tags.words()[tag] == SAMPLE),
            Packets::All => true,
        }
    }

    pub(super) fn push_request(&mut self, pair: &Pair, status: Status) {
        let exchange = &pair.exchange;
        let request = &exchange.request;
        self.requests.push(&RequestRow {
            request: int(exchange.number),
            host: code(request.host),
            source: request.source.map(code),
            tag: request.tag.map(code),
            status: status as i32,
            start_ns: nanos(request.start),
            connect_ns: exchange.connected.map(nanos),
            first_byte_ns: exchange.first_byte.map(nanos),
            end_ns: exchange.end.map(nanos),
            acked_ns: exchange.acked.map(nanos),
            request_bytes: int(request.request_bytes),
            response_bytes: int(request.response_bytes),
            connection: int(pair.number),
            retransmits: int(pair.retransmits()),
            timeouts: int(pair.timeouts()),
        });
    }

    pub(super) fn push_connection(&mut self, pair: &Pair) {
        let Some(columns) = &mut self.connections else {
            return;
        };
        let [up, down] = pair.sent;
        columns.push(&ConnectionRow {
            connection: int(pair.number),
            leg: pair.leg as i64,
            host: code(pair.host),
            open_ns: nanos(pair.opened),
            close_ns: pair.closed.map(nanos),
            bytes_up: int(up.bytes),
            bytes_down: int(down.bytes),
            segments_up: int(up.segments),
            segments_down: int(down.segments),
            retransmits: int(pair.retransmits()),
            timeouts: int(pair.timeouts()),
            requests: 1,
        });
    }

    /// Writes a row for each link, of what happened since the last call; none for an empty interval.
    pub(super) fn close_interval(&mut self, now: Instant, path: &mut Path) {
        let span = now.saturating_since(self.interval_start);
        if self.interval.is_none() || span == Duration::ZERO {
            return;
        }
        self.interval_start = now;
        for (id, stats) in path.close_intervals(now) {
            self.links.push(&LinkRow {
                link: id.link() as i64,
                direction: id.direction() as i32,
                time_ns: nanos(now),
                interval_ns: int(span.as_nanos()),
                bytes: int(stats.bytes.get()),
                packets: int(stats.packets),
                drops: int(stats.drops()),
                queue_bytes_mean: stats.queue_bytes_mean(),
                queue_bytes_max: int(stats.queue_bytes_max.get()),
                busy: stats.busy_share(),
            });
        }
    }
}

impl World {
    pub(super) fn record_departure(&mut self, now: Instant, id: ConnectionId, end: End, segment: &Segment) {
        let Some(pair) = self.connections.get_mut(id) else {
            return;
        };
        let sent = &mut pair.sent[end as usize];
        let again = segment.sequence_len() > 0 && segment.seq < sent.highest;
        sent.highest = sent.highest.max(segment.end());
        self.record_packet(now, id, end, Event::Send, segment, again);
    }

    pub(super) fn record_arrival(&mut self, now: Instant, id: ConnectionId, end: End, segment: &Segment) {
        self.record_packet(now, id, end, Event::Receive, segment, false);
    }

    /// A row for what the endpoint at `end` did with a segment.
    fn record_packet(
        &mut self,
        now: Instant,
        id: ConnectionId,
        end: End,
        event: Event,
        segment: &Segment,
        again: bool,
    ) {
        let Some(pair) = self.connections.get(id).filter(|pair| pair.recorded) else {
            return;
        };
        let sender = if event == Event::Send { end } else { end.other() };
        let own = pair.tcp(end);
        let node = self.legs[pair.leg].node(end);
        let mut row = packet_row(now, pair, sender, node, segment);
        row.event = event as i32;
        row.retransmission = again;
        row.cwnd_bytes = own.map(|tcp| int(tcp.cwnd()));
        row.ssthresh_bytes = own.map(|tcp| int(tcp.ssthresh()));
        self.recorder.packets.push(&row);
    }

    pub(super) fn record_drop(&mut self, now: Instant, link: LinkId, packet: &Packet) {
        let Some(pair) = self.connections.get(packet.connection).filter(|pair| pair.recorded) else {
            return;
        };
        let row = packet_row(now, pair, packet.toward.other(), link.near_node(), &packet.segment);
        self.recorder.packets.push(&row);
    }
}

/// A row for a drop of `segment` at `node`.
fn packet_row(now: Instant, pair: &Pair, sender: End, node: u8, segment: &Segment) -> PacketRow {
    let is_syn = segment.flags.contains(Flags::SYN);
    let shift = if is_syn { 0 } else { pair.tcp(sender).map_or(0, tcp::Connection::window_shift) };
    PacketRow {
        time_ns: nanos(now),
        connection: int(pair.number),
        leg: pair.leg as i64,
        node: i32::from(node),
        event: Event::Drop as i32,
        direction: sender.other().direction() as i32,
        seq: int(segment.seq),
        ack: if segment.flags.contains(Flags::ACK) { int(segment.ack) } else { 0 },
        payload_bytes: i64::from(segment.len),
        window_bytes: i64::from(segment.window) << shift,
        flags: i32::from(segment.flags.bits()),
        retransmission: false,
        cwnd_bytes: None,
        ssthresh_bytes: None,
    }
}

fn nanos(at: Instant) -> i64 {
    int(at.as_nanos())
}

fn int(value: u64) -> i64 {
    i64::try_from(value).expect("counts and times below 2^63")
}

fn code(id: impl Id) -> i32 {
    i32::try_from(id.index()).expect("fewer than 2^31 words")
}
