//! The path: nodes in a row, a link in each direction between neighbours, and the way of a packet along them.

use crate::define_ids;
use crate::id::{Id, IdVec};
use crate::net::{self, Carried, Link, LinkStats, PacketKind};
use crate::rng::Streams;
use crate::scenario;
use crate::tcp::{Flags, Segment};
use crate::units::Instant;

use super::capture::Mark;
use super::pair::{ConnectionId, End};
use super::{Event, World};

define_ids! {
    /// One direction of a link: twice the link's number, and one more for `down`.
    pub(super) LinkId,
}

/// Which way a packet goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Towards the servers.
    Up,
    /// Towards the clients.
    Down,
}

/// A segment on its way to one end of a connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct Packet {
    pub(super) connection: ConnectionId,
    pub(super) segment: Segment,
    /// Size on the wire.
    pub(super) bytes: u32,
    pub(super) toward: End,
    /// Node at which the leg ends in the direction of the packet.
    pub(super) destination: u8,
    pub(super) mark: Mark,
}

/// The nodes and links of a scenario.
pub(super) struct Path {
    nodes: Vec<String>,
    links: IdVec<LinkId, Link<Packet>>,
}

/// What one direction of a link carried over a whole run, or in the measured interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkTotals {
    /// Link, from 0 at the clients.
    pub link: usize,
    /// Direction.
    pub direction: Direction,
    /// Its statistics, with the interval that they are for.
    pub stats: LinkStats,
}

impl Direction {
    /// As results and scenarios write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
        }
    }
}

impl LinkId {
    pub(super) fn of(link: usize, direction: Direction) -> Self {
        Self::new(2 * link + direction as usize)
    }

    pub(super) fn link(self) -> usize {
        self.index() / 2
    }

    pub(super) fn direction(self) -> Direction {
        if self.index().is_multiple_of(2) { Direction::Up } else { Direction::Down }
    }

    /// The first link of a packet that leaves `node`.
    fn leaving(node: u8, direction: Direction) -> Self {
        let node = usize::from(node);
        Self::of(if direction == Direction::Up { node } else { node - 1 }, direction)
    }

    /// The node before the link.
    pub(super) fn near_node(self) -> u8 {
        (self.link() + self.index() % 2) as u8
    }

    fn far_node(self) -> u8 {
        (self.link() + 1 - self.index() % 2) as u8
    }
}

impl net::Packet for Packet {
    fn bytes(&self) -> u32 {
        self.bytes
    }

    fn flow(&self) -> u64 {
        self.connection.to_u64()
    }

    fn kind(&self) -> PacketKind {
        let flags = self.segment.flags;
        match () {
            () if flags.contains(Flags::RST) => PacketKind::Reset,
            () if flags.contains(Flags::SYN | Flags::ACK) => PacketKind::SynAck,
            () if flags.contains(Flags::SYN) => PacketKind::Syn,
            () if self.segment.len > 0 => PacketKind::Data,
            () if flags.contains(Flags::FIN) => PacketKind::Fin,
            () => PacketKind::Ack,
        }
    }
}

impl Path {
    pub(super) fn new(path: &scenario::Path, streams: &Streams) -> Self {
        let mut links = IdVec::new();
        for pair in &path.link {
            for direction in [&pair.up, &pair.down] {
                let number = links.len() as u64;
                links.push(Link::new(&direction.config(), |purpose| streams.stream(purpose, number)));
            }
        }
        Self { nodes: path.nodes.clone(), links }
    }

    pub(super) fn nodes(&self) -> &[String] {
        &self.nodes
    }

    /// Closes the interval that ends at `now` on every link.
    pub(super) fn close_intervals(&mut self, now: Instant) -> impl Iterator<Item = (LinkId, LinkStats)> {
        self.links.iter_mut().map(move |(id, link)| (id, link.close_interval(now)))
    }

    pub(super) fn totals(&mut self, now: Instant) -> Vec<LinkTotals> {
        self.collect(|link| link.totals(now))
    }

    pub(super) fn begin_measuring(&mut self, now: Instant) {
        self.links.iter_mut().for_each(|(_, link)| link.begin_measuring(now));
    }

    pub(super) fn end_measuring(&mut self, now: Instant) {
        self.links.iter_mut().for_each(|(_, link)| link.end_measuring(now));
    }

    pub(super) fn measured(&mut self, now: Instant) -> Vec<LinkTotals> {
        self.collect(|link| link.measured(now))
    }

    fn collect(&mut self, stats: impl Fn(&mut Link<Packet>) -> LinkStats) -> Vec<LinkTotals> {
        let total = |(id, link): (LinkId, &mut Link<Packet>)| LinkTotals {
            link: id.link(),
            direction: id.direction(),
            stats: stats(link),
        };
        self.links.iter_mut().map(total).collect()
    }

    /// The packet that a link accepted last, if it is still there.
    pub(super) fn newest(&self, id: LinkId) -> Option<Carried<'_, Packet>> {
        self.links[id].newest()
    }

    /// Frees what the links remember of a connection that is gone.
    pub(super) fn forget(&mut self, connection: ConnectionId) {
        for (_, link) in self.links.iter_mut() {
            link.forget(connection.to_u64());
        }
    }
}

impl World {
    /// Sends `packet` from `node`; whether its first link took it.
    #[inline]
    pub(super) fn send(&mut self, now: Instant, node: u8, packet: Packet) -> bool {
        self.enqueue(now, LinkId::leaving(node, packet.toward.direction()), packet)
    }

    pub(super) fn on_packet_arrival(&mut self, now: Instant, id: LinkId) {
        let due = self.path.links[id].on_event(now);
        if let Some(at) = due.next {
            self.queue.push(at, Event::PacketArrives(id));
        }
        let Some(packet) = &due.arrived else { return };
        self.progress.packet_hops += 1;
        let node = id.far_node();
        if node == packet.destination {
            self.deliver(now, packet);
        } else {
            if !self.enqueue(now, LinkId::leaving(node, id.direction()), *packet) {
                self.lose(now, packet.connection);
            }
        }
    }

    #[inline]
    fn enqueue(&mut self, now: Instant, id: LinkId, packet: Packet) -> bool {
        let recorded = packet.mark.recorded;
        match self.path.links[id].enqueue(now, packet) {
            net::Enqueued::Queued { event } => {
                if let Some(at) = event {
                    self.queue.push(at, Event::PacketArrives(id));
                }
                if recorded {
                    self.record_passage(id);
                }
                true
            }
            net::Enqueued::Dropped { packet, .. } => {
                if recorded {
                    self.record_drop(now, id, &packet);
                }
                false
            }
        }
    }
}
