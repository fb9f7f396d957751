//! A segment that was sent and is not acknowledged, with its marks.
//!
//! Models the record of a packet in the retransmission queue. The times of rate samples lie in
//! [`rates`](super::rates). Leaves out what several packets in one buffer need, and the mark of ECN.
//!
//! Source: Linux 6.18 `include/net/tcp.h`, `struct tcp_skb_cb`; RFC 8985, section 6.2, for the order of transmissions.

use crate::tcp::segment::Flags;
use crate::units::Instant;

/// Number of a segment in the queue. No connection sends 2^32 of them.
pub(super) type SegmentId = u32;

/// A segment that was sent.
#[derive(Debug, Clone)]
pub(super) struct Sent {
    /// Number of its first byte, or of the SYN or FIN.
    pub(super) seq: u64,
    /// The number after the last one that it takes.
    pub(super) end: u64,
    /// SYN, FIN and PSH as it carries them.
    pub(super) flags: Flags,
    /// When it was last transmitted.
    pub(super) sent_at: Instant,
    /// Segments that had been delivered when it was last transmitted. `None` once that has made a sample.
    pub(super) delivered: Option<u64>,
    /// A SACK block covers it.
    pub(super) sacked: bool,
    /// It is taken to be lost.
    pub(super) lost: bool,
    /// A retransmission of it is in flight.
    pub(super) retransmitted: bool,
    /// It was retransmitted at some time.
    pub(super) ever_retransmitted: bool,
    /// Neighbours in the order by time of transmission, while it is there and the queue keeps it.
    pub(super) earlier: SegmentId,
    pub(super) later: SegmentId,
    pub(super) in_time_order: bool,
}

impl Sent {
    /// New sequence space from `seq` to `end` that leaves at `now`.
    pub(super) const fn new(now: Instant, seq: u64, end: u64, flags: Flags) -> Self {
        Self {
            seq,
            end,
            flags,
            sent_at: now,
            delivered: None,
            sacked: false,
            lost: false,
            retransmitted: false,
            ever_retransmitted: false,
            earlier: SegmentId::MAX,
            later: SegmentId::MAX,
            in_time_order: false,
        }
    }

    /// Bytes of the stream in it.
    pub(super) fn payload(&self) -> u64 {
        self.end - self.seq - u64::from(self.flags.contains(Flags::FIN))
    }

    /// True when it was sent again, or may have been.
    pub(super) const fn was_retransmitted(&self) -> bool {
        self.retransmitted || self.ever_retransmitted
    }
}

/// True when the segment that ends at `end` and left at `at` was sent after another one. A microsecond is the finest
/// difference that the kernel sees, and segments of the same one are ordered by number (RFC 8985, section 6.2).
pub(super) const fn sent_after(at: Instant, end: u64, other_at: Instant, other_end: u64) -> bool {
    if end > other_end && at.as_nanos() >= other_at.as_nanos() {
        return true; // As it is of nearly all, and without a division.
    }
    let (micros, other_micros) = (at.as_nanos() / 1000, other_at.as_nanos() / 1000);
    micros > other_micros || (micros == other_micros && end > other_end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_of_one_microsecond_are_ordered_by_number() {
        let (early, late) = (Instant::from_nanos(5_000), Instant::from_nanos(5_999));
        assert!(sent_after(early, 200, late, 100));
        assert!(!sent_after(late, 100, early, 200));
        assert!(sent_after(Instant::from_nanos(6_000), 100, late, 200));
    }
}
