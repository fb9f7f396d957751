//! What stands in a queue: the packets whose last bit has not left the transmitter.
//!
//! A packet in transmission is in the queue, whole, until its last bit has left; what leaves at an instant no longer
//! counts for what arrives at the same instant. Departures are known when packets join, so nothing happens at a
//! departure: [`drain`](Backlog::drain) takes out what has left by the time at which someone looks. Behind the transmitter packets
//! travel on, and their departures are kept until they arrive.
//!
//! Left out: the packets themselves, which the link keeps; when they joined.
//!
//! Source: chosen. Where the packet in transmission is not to count, a discipline leaves it out.

use std::collections::VecDeque;

use crate::units::Instant;

/// Packets that wait, behind the one in transmission, and before it those that travel.
#[derive(Debug, Clone, Default)]
pub(in crate::net) struct Backlog {
    /// All of them, in order.
    packets: VecDeque<Queued>,
    /// How many travel.
    travelling: usize,
    /// Sum of the sizes of the others.
    bytes: u64,
}

#[derive(Debug, Clone, Copy)]
struct Queued {
    /// When the last bit leaves.
    departure: Instant,
    bytes: u32,
}

impl Backlog {
    /// Packets that wait or are in transmission.
    #[inline]
    pub(super) fn packets(&self) -> u64 {
        (self.packets.len() - self.travelling) as u64
    }

    /// Their size, in bytes.
    #[inline]
    pub(in crate::net) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Size of the packet in transmission, in bytes.
    #[inline]
    pub(super) fn in_transmission(&self) -> Option<u32> {
        self.packets.get(self.travelling).map(|packet| packet.bytes)
    }

    /// A packet joins whose last bit will leave at `departure`.
    #[inline]
    pub(in crate::net) fn join(&mut self, departure: Instant, bytes: u32) {
        self.bytes += u64::from(bytes);
        self.packets.push_back(Queued { departure, bytes });
    }

    /// Takes out the packets whose last bit has left by `now`.
    #[inline]
    pub(in crate::net) fn drain(&mut self, now: Instant) {
        while let Some(Queued { departure, bytes }) = self.packets.get(self.travelling)
            && *departure <= now
        {
            self.bytes -= u64::from(*bytes);
            self.travelling += 1;
        }
    }

    /// The first packet arrives. When its last bit left, and when that of the next one does.
    ///
    /// # Panics
    /// When there is none.
    #[inline]
    pub(in crate::net) fn arrive(&mut self) -> (Instant, Option<Instant>) {
        let first = self.packets.pop_front().expect("a packet on the link");
        match self.travelling.checked_sub(1) {
            Some(others) => self.travelling = others,
            None => self.bytes -= u64::from(first.bytes),
        }
        (first.departure, self.packets.front().map(|next| next.departure))
    }

    /// When the last bit of the packet that joined last leaves.
    pub(in crate::net) fn last_departure(&self) -> Option<Instant> {
        self.packets.back().map(|packet| packet.departure)
    }

    /// When the last bit of each packet leaves that has not left, and the packet's size in bytes.
    pub(in crate::net) fn departures(&self) -> impl Iterator<Item = (Instant, u32)> {
        self.packets.iter().skip(self.travelling).map(|packet| (packet.departure, packet.bytes))
    }
}
