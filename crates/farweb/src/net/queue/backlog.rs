//! What stands in a queue: the packets whose last bit has not left the transmitter.
//!
//! A packet in transmission is in the queue, whole, until its last bit has left; what leaves at an instant no longer
//! counts for what arrives at the same instant. Departures are known when packets join, so nothing happens at a
//! departure: [`drain`](Backlog::drain) takes out what has left by the time at which someone looks.
//!
//! Left out: the packets themselves, which the link keeps; when they joined.
//!
//! Source: chosen. Where the packet in transmission is not to count, a discipline leaves it out.

use std::collections::VecDeque;

use crate::units::Instant;

/// Packets that wait, behind the one in transmission.
#[derive(Debug, Clone, Default)]
pub(in crate::net) struct Backlog {
    packets: VecDeque<Queued>,
    /// Sum of their sizes.
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
        self.packets.len() as u64
    }

    /// Their size, in bytes.
    #[inline]
    pub(in crate::net) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Size of the packet in transmission, in bytes.
    #[inline]
    pub(super) fn in_transmission(&self) -> Option<u32> {
        self.packets.front().map(|packet| packet.bytes)
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
        while let Some(Queued { departure, bytes }) = self.packets.front()
            && *departure <= now
        {
            self.bytes -= u64::from(*bytes);
            self.packets.pop_front();
        }
    }

    /// When the last bit of each packet leaves, and the packet's size in bytes.
    pub(in crate::net) fn departures(&self) -> impl Iterator<Item = (Instant, u32)> {
        self.packets.iter().map(|packet| (packet.departure, packet.bytes))
    }
}
