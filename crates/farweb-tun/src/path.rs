//! The path between our endpoint and the kernel: the simulator's links in real time, reordering and duplicates behind.
//!
//! Each direction is a [`Link`]. Behind it chosen packets are held up, for others to overtake, or delivered twice.
//! Packets are chosen by kind and number as they reach the link, as in a loss list.

use std::collections::BTreeMap;

use farweb::net::{
    DropTail, Enqueued, Link, LinkConfig, ListedPackets, Packet, PacketKind, QueueConfig, QueueCounts,
    Timeline,
};
use farweb::rng::RandomStream;
use farweb::tcp::Flags;
use farweb::units::{Duration, Instant};
use serde::Serialize;

use crate::codec;
use crate::description::{Late, Way};

/// A packet on the path.
#[derive(Debug, Clone)]
pub(crate) struct Travelling {
    pub(crate) bytes: Vec<u8>,
    /// Distinguishes connections.
    pub(crate) flow: u64,
    pub(crate) kind: PacketKind,
    is_marked: bool,
    /// Its number among packets of its kind, and among all.
    number: u32,
    number_of_all: u32,
}

/// One direction of the path.
#[derive(Debug)]
pub(crate) struct Direction {
    link: Link<Travelling>,
    /// Arrival of the link's head.
    head: Option<Instant>,
    late: Vec<Late>,
    twice: Vec<ListedPackets>,
    /// Packets that are held up, by arrival, then by the order they were taken.
    detained: BTreeMap<(Instant, u64), Travelling>,
    counters: BTreeMap<u64, Census>,
    pub(crate) report: DirectionReport,
}

/// Fates of the packets of a direction. Packets are named as in a loss list: `data 8`.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct DirectionReport {
    /// Packets that reached the link, by kind.
    pub(crate) packets: BTreeMap<&'static str, u32>,
    /// Packets that were lost or found the queue full.
    pub(crate) dropped: Vec<String>,
    /// Packets that were marked.
    pub(crate) marked: Vec<String>,
    /// Packets that were held up.
    pub(crate) late: Vec<String>,
    /// Packets that were delivered twice.
    pub(crate) twice: Vec<String>,
}

/// Packets of a connection so far.
#[derive(Debug, Clone, Default)]
struct Census {
    by_kind: BTreeMap<PacketKind, u32>,
    all: u32,
}

impl Packet for Travelling {
    fn bytes(&self) -> u32 {
        self.bytes.len() as u32
    }

    fn flow(&self) -> u64 {
        self.flow
    }

    fn kind(&self) -> PacketKind {
        self.kind
    }

    fn set_ce(&mut self) -> bool {
        let is_marked = codec::set_ce(&mut self.bytes);
        self.is_marked |= is_marked;
        is_marked
    }
}

impl Travelling {
    fn is_one_of(&self, listed: &ListedPackets) -> bool {
        match listed.kind() {
            Some(kind) => kind == self.kind && listed.contains(self.number),
            None => listed.contains(self.number_of_all),
        }
    }

    fn name(&self) -> String {
        format!("{} {}", name_of(self.kind), self.number)
    }
}

impl Direction {
    /// An empty direction. Its random losses come from `random`.
    pub(crate) fn new(way: &Way, random: &RandomStream) -> Self {
        let drop_tail = |limit| QueueConfig::DropTail(DropTail { limit, counts: QueueCounts::All });
        let config = LinkConfig {
            rate: way.rate,
            delay: way.delay.unwrap_or(Duration::ZERO),
            queue: way.queue.and_then(|queue| queue.at(way.rate)).map_or(QueueConfig::Unlimited, drop_tail),
            loss: way.loss.clone(),
            timeline: Timeline::default(),
        };
        Self {
            link: Link::new(&config, |_| random.clone()),
            head: None,
            late: way.late.clone(),
            twice: way.twice.clone(),
            detained: BTreeMap::new(),
            counters: BTreeMap::new(),
            report: DirectionReport::default(),
        }
    }

    /// A packet reaches the link.
    pub(crate) fn enqueue(&mut self, now: Instant, bytes: Vec<u8>, flow: u64, kind: PacketKind) {
        let census = self.counters.entry(flow).or_default();
        let number = census.by_kind.entry(kind).or_default();
        *number += 1;
        census.all += 1;
        *self.report.packets.entry(name_of(kind)).or_default() += 1;
        let packet =
            Travelling { bytes, flow, kind, is_marked: false, number: *number, number_of_all: census.all };
        match self.link.enqueue(now, &packet) {
            Enqueued::Queued { event } | Enqueued::Late { event } => self.head = event.or(self.head),
            Enqueued::Dropped { .. } => self.report.dropped.push(packet.name()),
        }
    }

    /// When a packet next arrives at the far end.
    pub(crate) fn next_arrival(&self) -> Option<Instant> {
        let detained = self.detained.first_key_value().map(|((arrival, _), _)| *arrival);
        [self.head, detained].into_iter().flatten().min()
    }

    /// The packet that arrives at `now`, which is [`next_arrival`](Self::next_arrival). None when it is held up.
    pub(crate) fn take_arrived(&mut self, now: Instant) -> Vec<Travelling> {
        if self.head != Some(now) {
            return self.detained.pop_first().map(|(_, packet)| packet).into_iter().collect();
        }
        let (packet, next) = self.link.on_event(now);
        self.head = next;
        if packet.is_marked {
            self.report.marked.push(packet.name());
        }
        if let Some(late) = self.late.iter().find(|late| packet.is_one_of(&late.packets)) {
            self.report.late.push(packet.name());
            self.detained.insert((now + late.by, self.report.late.len() as u64), packet);
            return Vec::new();
        }
        if self.twice.iter().any(|listed| packet.is_one_of(listed)) {
            self.report.twice.push(packet.name());
            return vec![packet.clone(), packet];
        }
        vec![packet]
    }

    /// True when no packet is on the way.
    pub(crate) fn is_empty(&self) -> bool {
        self.head.is_none() && self.detained.is_empty()
    }
}

/// Kind of a segment, for losses by list.
pub(crate) const fn kind_of(flags: Flags, payload: usize) -> PacketKind {
    if flags.contains(Flags::RST) {
        PacketKind::Reset
    } else if flags.contains(Flags::SYN.union(Flags::ACK)) {
        PacketKind::SynAck
    } else if flags.contains(Flags::SYN) {
        PacketKind::Syn
    } else if payload > 0 {
        PacketKind::Data
    } else if flags.contains(Flags::FIN) {
        PacketKind::Fin
    } else {
        PacketKind::Ack
    }
}

const fn name_of(kind: PacketKind) -> &'static str {
    match kind {
        PacketKind::Syn => "syn",
        PacketKind::SynAck => "synack",
        PacketKind::Data => "data",
        PacketKind::Fin => "fin",
        PacketKind::Ack => "ack",
        PacketKind::Reset => "rst",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use farweb::rng::RandomStreams;

    fn direction(way: &str) -> Direction {
        Direction::new(&serde_json::from_str(way).unwrap(), &RandomStreams::new(1).stream("loss", 0))
    }

    /// Sends data packets of 1000 B, one each ms, numbered by their first byte. Returns when and what arrives.
    fn arrivals(mut direction: Direction, packets: u8) -> (Vec<(u64, u8)>, DirectionReport) {
        for number in 1..=packets {
            let mut bytes = vec![0; 1000];
            bytes[0] = number;
            direction.enqueue(Instant::from_nanos(u64::from(number) * 1_000_000), bytes, 7, PacketKind::Data);
        }
        let mut arrived = Vec::new();
        while let Some(now) = direction.next_arrival() {
            let packets = direction.take_arrived(now);
            arrived.extend(packets.iter().map(|packet| (now.as_nanos() / 1000, packet.bytes[0])));
        }
        assert!(direction.is_empty());
        (arrived, direction.report)
    }

    #[test]
    fn packets_take_the_time_of_the_link() {
        let (arrived, report) = arrivals(direction(r#"{"delay": "10 ms", "rate": "4 Mbit/s"}"#), 3);
        assert_eq!(arrived, [(13_000, 1), (15_000, 2), (17_000, 3)]);
        assert_eq!(report.packets, BTreeMap::from([("data", 3)]));
    }

    #[test]
    fn lost_packets_do_not_arrive() {
        let lossy = direction(r#"{"loss": {"kind": "list", "drop": ["data 2..3"]}}"#);
        let (arrived, report) = arrivals(lossy, 4);
        assert_eq!(arrived, [(1000, 1), (4000, 4)]);
        assert_eq!(report.dropped, ["data 2", "data 3"]);
    }

    #[test]
    fn a_late_packet_is_overtaken_and_counts_where_it_was_sent() {
        let late = direction(r#"{"delay": "1 ms", "late": [{"packets": "data 2", "by": "2500 us"}]}"#);
        let (arrived, report) = arrivals(late, 5);
        assert_eq!(arrived, [(2000, 1), (4000, 3), (5000, 4), (5500, 2), (6000, 5)]);
        assert_eq!(report.late, ["data 2"]);
    }

    #[test]
    fn a_packet_may_arrive_twice() {
        let (arrived, report) = arrivals(direction(r#"{"twice": ["any 2"]}"#), 3);
        assert_eq!(arrived, [(1000, 1), (2000, 2), (2000, 2), (3000, 3)]);
        assert_eq!(report.twice, ["data 2"]);
    }
}
