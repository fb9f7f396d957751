//! Drop-tail: a packet that does not fit is dropped.
//!
//! With [`QueueCounts::All`] a packet is accepted if with it the queue, the packet in transmission included, stays within
//! the limit. With [`QueueCounts::Waiting`] it is accepted if it need not wait, or if with it those that wait stay within
//! the limit.
//!
//! Left out: nothing.
//!
//! Source: ns-2.35, `queue/drop-tail.cc`, whose limit of n packets holds n − 1 waiting and one in transmission, as
//! [`QueueCounts::All`] does.

use crate::net::Packet;
use crate::net::config::{QueueCounts, QueueLimit};

use super::Backlog;

/// Limit of a drop-tail queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DropTail {
    /// Its limit.
    pub limit: QueueLimit,
    /// Packets that count against the limit.
    pub counts: QueueCounts,
}

impl DropTail {
    /// True when a packet of `bytes` bytes fits behind `backlog`.
    #[inline]
    pub(super) fn admits<P: Packet>(&self, bytes: u32, backlog: &Backlog<P>) -> bool {
        let (mut held_bytes, mut held_packets) = (backlog.bytes(), backlog.packets());
        if self.counts == QueueCounts::Waiting {
            let Some(in_transmission) = backlog.in_transmission() else { return true };
            held_bytes -= u64::from(in_transmission);
            held_packets -= 1;
        }
        self.limit.holds(held_packets + 1, held_bytes + u64::from(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::tests::{TestPacket, at, link, offer, plain};
    use crate::net::{Link, LinkConfig, QueueConfig};
    use crate::units::Bytes;

    fn limited(limit: QueueLimit, counts: QueueCounts) -> Link<TestPacket> {
        let queue = QueueConfig::DropTail(DropTail { limit, counts });
        link(&LinkConfig { queue, ..plain() })
    }

    #[test]
    fn a_limit_in_packets_counts_all_or_those_that_wait() {
        let limited = |counts| limited(QueueLimit::Packets(3), counts);
        let mut all = limited(QueueCounts::All);
        assert_eq!(offer(&mut all, at(0), &[100; 5]), [true, true, true, false, false]);
        let mut waiting = limited(QueueCounts::Waiting);
        assert_eq!(offer(&mut waiting, at(0), &[100; 5]), [true, true, true, true, false]);
    }

    #[test]
    fn a_limit_in_bytes_counts_all_or_those_that_wait() {
        let limited = |counts| limited(QueueLimit::Bytes(Bytes::new(250)), counts);
        // A packet that does not fit is dropped. A small enough one still fits behind it, to the byte.
        let mut all = limited(QueueCounts::All);
        assert_eq!(offer(&mut all, at(0), &[100, 100, 51, 50, 1]), [true, true, false, true, false]);
        let mut waiting = limited(QueueCounts::Waiting);
        assert_eq!(
            offer(&mut waiting, at(0), &[100, 100, 100, 51, 50, 1]),
            [true, true, true, false, true, false]
        );
    }

    #[test]
    fn a_packet_above_the_limit_passes_only_where_those_in_transmission_do_not_count() {
        let tiny = |counts| limited(QueueLimit::Bytes(Bytes::new(99)), counts);
        assert_eq!(offer(&mut tiny(QueueCounts::All), at(0), &[100]), [false]);
        assert_eq!(offer(&mut tiny(QueueCounts::Waiting), at(0), &[100, 100, 99]), [true, false, true]);
    }

    #[test]
    fn what_leaves_at_an_instant_makes_room_for_what_arrives_at_it() {
        for (counts, limit) in [(QueueCounts::All, 2), (QueueCounts::Waiting, 1)] {
            let mut early = limited(QueueLimit::Packets(limit), counts);
            assert_eq!(offer(&mut early, at(0), &[100, 100]), [true, true]);
            let mut punctual = early.clone();
            // The first packet's last bit leaves at 100 µs.
            assert_eq!(offer(&mut early, at(99_999), &[100]), [false]);
            assert_eq!(offer(&mut punctual, at(100_000), &[100]), [true]);
        }
    }
}
