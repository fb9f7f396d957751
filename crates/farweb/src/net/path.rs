//! The path: nodes in a row, and a link in each direction between neighbours.
//!
//! Models a chain: a packet that leaves a node goes over the link to the next one in its direction. Leaves out routing:
//! there is one way. What a packet does at a node is the owner's matter.

use crate::define_ids;
use crate::id::{Id, IdVec};
use crate::rng::RandomStreams;
use crate::units::Instant;

use super::timeline::{HANDOVER, TRACE};
use super::{Carried, Dropped, Enqueued, Link, LinkConfig, LinkStats, Packet};

define_ids! {
    /// One direction of a link: twice the link's number, and one more for `down`.
    pub LinkId,
}

/// Direction of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Towards the servers.
    Up,
    /// Towards the clients.
    Down,
}

/// Nodes, by name, and the links between them.
pub struct Path<P> {
    nodes: Vec<String>,
    links: IdVec<LinkId, Link<P>>,
    /// True when there is a link that takes no time.
    has_instant: bool,
    ends: Option<Instant>,
}

/// Totals of one direction of a link over a whole run, or in the measured interval.
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
    /// The other one.
    #[must_use]
    pub const fn opposite(self) -> Self {
        match self {
            Self::Up => Self::Down,
            Self::Down => Self::Up,
        }
    }

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
    /// Id of the `link`-th link in `direction`.
    #[must_use]
    pub fn of(link: usize, direction: Direction) -> Self {
        Self::new(2 * link + direction as usize)
    }

    /// Number of the link, from 0 at the clients.
    #[must_use]
    pub fn link(self) -> usize {
        self.index() / 2
    }

    /// Direction of its packets.
    #[must_use]
    pub fn direction(self) -> Direction {
        if self.index().is_multiple_of(2) { Direction::Up } else { Direction::Down }
    }

    /// The first link of a packet that leaves `node`.
    #[must_use]
    pub fn leaving(node: u8, direction: Direction) -> Self {
        let node = usize::from(node);
        Self::of(if direction == Direction::Up { node } else { node - 1 }, direction)
    }

    /// The next one in its direction.
    #[inline]
    #[must_use]
    pub fn next(self) -> Self {
        let number = self.0.get(); // from 1: odd where its packets go up
        let next = if number.is_multiple_of(2) { number - 2 } else { number + 2 };
        Self(std::num::NonZeroU32::new(next).expect("a packet has a way to go"))
    }

    /// The node before it.
    #[must_use]
    pub fn near_node(self) -> u8 {
        (self.link() + self.index() % 2) as u8
    }

    /// The node behind it.
    #[must_use]
    pub fn far_node(self) -> u8 {
        (self.link() + 1 - self.index() % 2) as u8
    }
}

impl<P: Packet> Path<P> {
    /// The path with these nodes, fewer than 256, and `links`: both directions of each, `up` first. Each direction draws from
    /// random streams of its own, but for handovers, which it shares with the other. A link that takes no time has none: a node
    /// added beside another changes nothing of what is drawn.
    #[must_use]
    pub fn new(
        nodes: Vec<String>,
        links: impl Iterator<Item = [LinkConfig; 2]>,
        streams: &RandomStreams,
    ) -> Self {
        let mut path = Self { nodes, links: IdVec::new(), has_instant: false, ends: None };
        let mut number = 0;
        for directions in links {
            for (direction, config) in (0..).zip(&directions) {
                let random = |purpose: &str| {
                    streams.stream(
                        purpose,
                        if matches!(purpose, HANDOVER | TRACE) { number } else { 2 * number + direction },
                    )
                };
                let link = Link::new(config, random);
                path.has_instant |= link.takes_no_time();
                let ends = config.timeline.trace.as_ref().and_then(|trace| trace.begun(random).ends());
                path.ends = [path.ends, ends].into_iter().flatten().min();
                path.links.push(link);
            }
            number += u64::from(!directions.iter().all(LinkConfig::takes_no_time));
        }
        path
    }

    /// When a trace ends that does not come again, if there is one.
    #[must_use]
    pub const fn ends(&self) -> Option<Instant> {
        self.ends
    }

    /// Names of the nodes, clients first.
    #[must_use]
    pub fn nodes(&self) -> &[String] {
        &self.nodes
    }

    /// The last node.
    #[must_use]
    pub fn last_node(&self) -> u8 {
        u8::try_from(self.nodes.len() - 1).expect("fewer than 256 nodes")
    }

    /// Each direction of each link.
    pub fn links(&self) -> impl Iterator<Item = LinkId> + use<P> {
        (0..self.links.len()).map(LinkId::new)
    }

    /// A packet reaches a link. See [`Link::enqueue`].
    #[inline(always)]
    pub fn enqueue(&mut self, now: Instant, link: LinkId, packet: &P) -> Enqueued {
        self.links[link].enqueue(now, packet)
    }

    /// True when each packet that reaches a link is at its far end at once.
    #[inline]
    #[must_use]
    pub fn takes_no_time(&self, link: LinkId) -> bool {
        self.has_instant && self.links[link].takes_no_time()
    }

    /// A packet passes a link that takes no time, and has no other packets.
    #[inline]
    pub fn pass(&mut self, link: LinkId, packet: &P) {
        self.links[link].pass(packet);
    }

    /// An event that a link asked for: the packet that arrives. `rearm` gets the time of the next one. See [`Link::on_event`].
    /// `tell` is called where [`take_dropped`](Self::take_dropped) or [`next_taken`](Self::next_taken) has something new.
    #[inline(always)]
    pub fn on_event(
        &mut self,
        now: Instant,
        link: LinkId,
        rearm: impl FnOnce(Option<Instant>),
        tell: impl FnOnce(),
    ) -> P {
        let link = &mut self.links[link];
        rearm(link.event_after(now, tell));
        link.arrive()
    }

    /// True when [`take_dropped`](Self::take_dropped) or [`next_taken`](Self::next_taken) has something new.
    pub fn has_news(&mut self, link: LinkId) -> bool {
        self.links[link].has_news()
    }

    /// True when the queue of a link decides as packets are taken.
    pub fn decides_late(&mut self, link: LinkId) -> bool {
        self.links[link].decides_late()
    }

    /// Measures how long packets wait on every link.
    pub fn measure_waits(&mut self) {
        self.links.iter_mut().for_each(|(_, link)| link.measure_waits());
    }

    /// Has a link tell the packets that are taken for transmission, where its queue decides then.
    pub fn watch(&mut self, link: LinkId) {
        self.links[link].watch();
    }

    /// Next packet taken on a link that is watched. See [`Link::next_taken`].
    pub fn next_taken(&mut self, link: LinkId) -> Option<Carried<'_, P>> {
        self.links[link].next_taken()
    }

    /// Next packet that the queue of a link dropped after it had joined. See [`Link::take_dropped`].
    pub fn take_dropped(&mut self, link: LinkId) -> Option<Dropped<P>> {
        self.links[link].take_dropped()
    }

    /// Makes up for the packets that were taken by `now`.
    pub fn serve(&mut self, now: Instant, link: LinkId) {
        self.links[link].serve(now);
    }

    /// Time of the first drop or departure on any link that is still to be reported, `now` without one.
    pub fn told_until(&mut self, now: Instant) -> Instant {
        self.links.iter_mut().map(|(_, link)| link.told_until(now)).fold(now, Instant::min)
    }

    /// The packet that a link accepted last, if it is still there.
    #[must_use]
    pub fn newest(&self, link: LinkId) -> Option<Carried<'_, P>> {
        self.links[link].newest()
    }

    /// Frees what the links remember of a connection that is gone.
    pub fn forget(&mut self, flow: u64) {
        self.links.iter_mut().for_each(|(_, link)| link.forget(flow));
    }

    /// Closes the interval that ends at `now` on every link.
    pub fn close_intervals(&mut self, now: Instant) -> impl Iterator<Item = (LinkId, LinkStats)> {
        self.links.iter_mut().map(move |(id, link)| (id, link.close_interval(now)))
    }

    /// Totals of each link since the start of the run, by link and direction.
    pub fn totals(&mut self, now: Instant) -> Vec<LinkTotals> {
        self.collect(|link| link.totals(now))
    }

    /// Measures from `now` on.
    pub fn begin_measuring(&mut self, now: Instant) {
        self.links.iter_mut().for_each(|(_, link)| link.begin_measuring(now));
    }

    /// Measures up to `now`.
    pub fn end_measuring(&mut self, now: Instant) {
        self.links.iter_mut().for_each(|(_, link)| link.end_measuring(now));
    }

    /// Totals of each link since measuring began, to its end or to `now`.
    pub fn measured(&mut self, now: Instant) -> Vec<LinkTotals> {
        self.collect(|link| link.measured(now))
    }

    fn collect(&mut self, stats: impl Fn(&mut Link<P>) -> LinkStats) -> Vec<LinkTotals> {
        let total = |(id, link): (LinkId, &mut Link<P>)| LinkTotals {
            link: id.link(),
            direction: id.direction(),
            stats: stats(link),
        };
        self.links.iter_mut().map(total).collect()
    }
}
