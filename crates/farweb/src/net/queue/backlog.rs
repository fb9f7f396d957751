//! The packets on a link: those that travel, and behind them those that stand in the queue.
//!
//! A packet in transmission is in the queue, whole, until its last bit has left. A packet that leaves at an instant no
//! longer counts for one that arrives at the same instant. Departures are known when packets join, so nothing happens at a
//! departure: [`drain`](Backlog::drain) takes packets out of the queue that have left by the time someone looks. From then
//! on a packet travels, until it arrives.
//!
//! Left out: when packets joined.
//!
//! Source: chosen. Where the packet in transmission is not to count, a discipline leaves it out.

use crate::net::Packet;
use crate::units::Instant;

/// Packets that wait, behind the one in transmission, and before it those that travel.
///
/// A packet is known by its number among all that ever joined.
#[derive(Debug, Clone)]
pub(in crate::net) struct Backlog<P> {
    /// Each at its number modulo the length, a power of two. At least one place is empty.
    ring: Vec<Option<Accepted<P>>>,
    /// Number of the packet that arrives next.
    first: usize,
    /// Number of the packet that leaves the queue next.
    leaving: usize,
    /// Number of the packet that joins next.
    joining: usize,
    /// Sum of the sizes of those in the queue.
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
    pub(super) const fn packets(&self) -> u64 {
        (self.joining - self.leaving) as u64
    }

    /// Their size, in bytes.
    #[inline]
    pub(in crate::net) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Size of the packet in transmission, in bytes.
    #[inline]
    pub(in crate::net) fn in_transmission(&self) -> Option<u32> {
        self.get(self.leaving).map(|first| first.packet.bytes())
    }

    /// Packets that wait, are in transmission or travel.
    #[inline]
    pub(in crate::net) const fn on_link(&self) -> usize {
        self.joining - self.first
    }

    /// A packet joins. Its last bit will leave at `departure`.
    #[inline]
    pub(in crate::net) fn join(&mut self, departure: Instant, packet: P) {
        if self.on_link() + 1 >= self.ring.len() {
            self.grow();
        }
        self.bytes += u64::from(packet.bytes());
        let place = self.place(self.joining);
        self.ring[place] = Some(Accepted { departure, packet });
        self.joining += 1;
    }

    /// Takes out the packets that have left, to the last bit, by `now`.
    #[inline]
    pub(in crate::net) fn drain(&mut self, now: Instant) {
        while let Some(first) = self.get(self.leaving)
            && first.departure <= now
        {
            self.bytes -= u64::from(first.packet.bytes());
            self.leaving += 1;
        }
    }

    /// The first packet arrives.
    ///
    /// # Panics
    /// When there is none.
    #[inline(always)]
    pub(in crate::net) fn arrive(&mut self) -> P {
        if self.leaving == self.first {
            self.bytes -= self.in_transmission().map_or(0, u64::from);
            self.leaving += 1;
        }
        let place = self.place(self.first);
        self.first += 1;
        self.ring[place].take().expect("a packet on the link").packet
    }

    /// When the last bit of the packet at a place on the link leaves, counted from the one that arrives first.
    #[inline]
    pub(in crate::net) fn departure(&self, place: usize) -> Option<Instant> {
        self.get(self.first + place).map(|accepted| accepted.departure)
    }

    #[inline]
    fn get(&self, number: usize) -> Option<&Accepted<P>> {
        self.ring.get(self.place(number))?.as_ref()
    }

    #[inline]
    const fn place(&self, number: usize) -> usize {
        number & self.ring.len().wrapping_sub(1)
    }

    #[cold]
    fn grow(&mut self) {
        let mut packets: Vec<_> =
            (self.first..self.joining).map(|number| self.get(number).cloned()).collect();
        packets.resize_with((2 * self.ring.len()).max(4), || None);
        let first = self.first % packets.len();
        packets.rotate_right(first);
        self.ring = packets;
    }

    /// The packet that joined last, and when its last bit leaves.
    pub(in crate::net) fn newest(&self) -> Option<(Instant, &P)> {
        self.get(self.joining.wrapping_sub(1)).map(|newest| (newest.departure, &newest.packet))
    }

    /// The packet at a place on the link, and when its last bit leaves.
    pub(in crate::net) fn at(&self, place: usize) -> Option<(Instant, &P)> {
        self.get(self.first + place).map(|accepted| (accepted.departure, &accepted.packet))
    }

    /// When the last bit of each packet leaves that has not left, and the packet's size in bytes.
    pub(in crate::net) fn departures(&self) -> impl Iterator<Item = (Instant, u32)> {
        let standing = (self.leaving..self.joining).filter_map(|number| self.get(number));
        standing.map(|accepted| (accepted.departure, accepted.packet.bytes()))
    }
}

impl<P> Default for Backlog<P> {
    fn default() -> Self {
        Self { ring: Vec::new(), first: 0, leaving: 0, joining: 0, bytes: 0 }
    }
}
