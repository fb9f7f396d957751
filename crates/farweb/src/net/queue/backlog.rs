//! The packets on a link: those that travel, and behind them those that stand in the queue.
//!
//! A packet in transmission is in the queue, whole, until its last bit has left; what leaves at an instant no longer
//! counts for what arrives at the same instant. Departures are known when packets join, so nothing happens at a
//! departure: [`drain`](Backlog::drain) takes packets out of the queue that have left by the time someone looks. From then
//! on a packet travels, until it arrives.
//!
//! Left out: when packets joined.
//!
//! Source: chosen. Where the packet in transmission is not to count, a discipline leaves it out.

use std::collections::VecDeque;

use crate::net::Packet;
use crate::units::Instant;

/// Packets that wait, behind the one in transmission, and before it those that travel.
#[derive(Debug, Clone)]
pub(in crate::net) struct Backlog<P> {
    /// All of them, in order.
    accepted: VecDeque<Accepted<P>>,
    /// Number of packets that travel.
    travelling: usize,
    /// Sum of the sizes of the others.
    bytes: u64,
}

#[derive(Debug, Clone)]
struct Accepted<P> {
    /// When the last bit leaves.
    departure: Instant,
    packet: P,
}

impl<P: Packet> Backlog<P> {
    /// Packets that wait or are in transmission.
    #[inline]
    pub(super) fn packets(&self) -> u64 {
        (self.accepted.len() - self.travelling) as u64
    }

    /// Their size, in bytes.
    #[inline]
    pub(in crate::net) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Size of the packet in transmission, in bytes.
    #[inline]
    pub(super) fn in_transmission(&self) -> Option<u32> {
        self.accepted.get(self.travelling).map(|first| first.packet.bytes())
    }

    /// Packets that wait, are in transmission or travel.
    #[inline]
    pub(in crate::net) fn on_link(&self) -> usize {
        self.accepted.len()
    }

    /// A packet joins; its last bit will leave at `departure`.
    #[inline]
    pub(in crate::net) fn join(&mut self, departure: Instant, packet: P) {
        self.bytes += u64::from(packet.bytes());
        self.accepted.push_back(Accepted { departure, packet });
    }

    /// Takes out the packets that have left, to the last bit, by `now`.
    #[inline]
    pub(in crate::net) fn drain(&mut self, now: Instant) {
        while let Some(first) = self.accepted.get(self.travelling)
            && first.departure <= now
        {
            self.bytes -= u64::from(first.packet.bytes());
            self.travelling += 1;
        }
    }

    /// The first packet arrives.
    ///
    /// # Panics
    /// When there is none.
    #[inline(always)]
    pub(in crate::net) fn arrive(&mut self) -> P {
        match self.travelling.checked_sub(1) {
            Some(others) => self.travelling = others,
            None => self.bytes -= u64::from(self.accepted.front().map_or(0, |first| first.packet.bytes())),
        }
        self.accepted.pop_front().expect("a packet on the link").packet
    }

    /// When the last bit of the packet at a place on the link leaves, counted from the one that arrives first.
    #[inline]
    pub(in crate::net) fn departure(&self, place: usize) -> Option<Instant> {
        self.accepted.get(place).map(|accepted| accepted.departure)
    }

    /// The packet that joined last, and when its last bit leaves.
    pub(in crate::net) fn newest(&self) -> Option<(Instant, &P)> {
        self.accepted.back().map(|newest| (newest.departure, &newest.packet))
    }

    /// When the last bit of each packet leaves that has not left, and the packet's size in bytes.
    pub(in crate::net) fn departures(&self) -> impl Iterator<Item = (Instant, u32)> {
        let standing = self.accepted.iter().skip(self.travelling);
        standing.map(|accepted| (accepted.departure, accepted.packet.bytes()))
    }
}

impl<P> Default for Backlog<P> {
    fn default() -> Self {
        Self { accepted: VecDeque::new(), travelling: 0, bytes: 0 }
    }
}
