//! What a link direction carried, dropped and held, in total and by interval.
//!
//! All sums are integers, so that an interval's numbers do not depend on how often they were asked for. A packet
//! belongs to the interval in which its last bit leaves; one that leaves at the very end of an interval belongs to
//! it.

use crate::units::{Bytes, Duration, Instant};

use super::DropReason;

/// What a link direction did from `from` to `to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LinkStats {
    /// Start of the interval.
    pub from: Instant,
    /// End of the interval.
    pub to: Instant,
    /// IP bytes of the packets whose last bit was sent.
    pub bytes: Bytes,
    /// Packets whose last bit was sent.
    pub packets: u64,
    /// Packets that found the queue full.
    pub drops_queue: u64,
    /// Packets lost by the loss process.
    pub drops_loss: u64,
    /// Time during which the transmitter was sending.
    pub busy: Duration,
    /// Integral of the queue over time, in B·ns; waiting packets and the one in transmission, whole until its last bit
    /// has left.
    pub queue_byte_nanos: u128,
    /// Largest queue, counted likewise.
    pub queue_bytes_max: Bytes,
}

impl LinkStats {
    /// Packets dropped for any reason.
    #[must_use]
    pub const fn drops(&self) -> u64 {
        self.drops_queue + self.drops_loss
    }

    /// Share of the time during which the transmitter was sending, 0 to 1; 0 for an empty interval.
    #[must_use]
    pub fn busy_share(&self) -> f64 {
        self.mean(self.busy.as_nanos() as f64)
    }

    /// Time-weighted mean queue, in bytes; 0 for an empty interval.
    #[must_use]
    pub fn queue_bytes_mean(&self) -> f64 {
        self.mean(self.queue_byte_nanos as f64)
    }

    fn mean(&self, integral: f64) -> f64 {
        let nanos = (self.to - self.from).as_nanos();
        if nanos == 0 { 0.0 } else { integral / nanos as f64 }
    }

    /// This interval and `next`, which follows it, as one.
    #[must_use]
    fn joined(&self, next: &Self) -> Self {
        Self {
            from: self.from,
            to: next.to,
            bytes: self.bytes + next.bytes,
            packets: self.packets + next.packets,
            drops_queue: self.drops_queue + next.drops_queue,
            drops_loss: self.drops_loss + next.drops_loss,
            busy: self.busy + next.busy,
            queue_byte_nanos: self.queue_byte_nanos + next.queue_byte_nanos,
            queue_bytes_max: self.queue_bytes_max.max(next.queue_bytes_max),
        }
    }
}

/// Follows the queue of a link direction: how much it holds, and the statistics that come of it.
///
/// Calls come in order of time.
#[derive(Debug, Clone, Default)]
pub(super) struct Meter {
    /// What is in the queue now.
    pub(super) held_bytes: u64,
    pub(super) held_packets: u64,
    /// The open interval; `to` is the time up to which it is filled in.
    interval: LinkStats,
    /// All closed intervals.
    closed: LinkStats,
}

impl Meter {
    /// A packet of `bytes` bytes joins the queue.
    #[inline]
    pub(super) fn join(&mut self, now: Instant, bytes: u32) {
        self.advance(now);
        self.held_bytes += u64::from(bytes);
        self.held_packets += 1;
        let held = Bytes::new(self.held_bytes);
        self.interval.queue_bytes_max = self.interval.queue_bytes_max.max(held);
    }

    /// The last bit of the packet at the head, of `bytes` bytes, has been sent.
    #[inline]
    pub(super) fn leave(&mut self, at: Instant, bytes: u32) {
        self.advance(at);
        self.held_bytes -= u64::from(bytes);
        self.held_packets -= 1;
        self.sent_at_once(bytes);
    }

    /// A packet of `bytes` bytes was sent in no time, so that it never was in the queue.
    #[inline]
    pub(super) fn sent_at_once(&mut self, bytes: u32) {
        self.interval.bytes += Bytes::new(u64::from(bytes));
        self.interval.packets += 1;
    }

    /// A packet was dropped.
    pub(super) fn drop(&mut self, reason: DropReason) {
        match reason {
            DropReason::Queue => self.interval.drops_queue += 1,
            DropReason::Loss => self.interval.drops_loss += 1,
        }
    }

    /// Ends the open interval at `now` and opens the next one.
    pub(super) fn close_interval(&mut self, now: Instant) -> LinkStats {
        self.advance(now);
        let interval = self.interval;
        self.closed = self.closed.joined(&interval);
        self.interval = LinkStats {
            from: now,
            to: now,
            queue_bytes_max: Bytes::new(self.held_bytes),
            ..LinkStats::default()
        };
        interval
    }

    /// All from the start of the run to `now`.
    pub(super) fn totals(&mut self, now: Instant) -> LinkStats {
        self.advance(now);
        self.closed.joined(&self.interval)
    }

    /// Accounts for the time up to `now`, in which the queue did not change.
    #[inline]
    fn advance(&mut self, now: Instant) {
        if self.held_packets > 0 {
            let span = now - self.interval.to;
            self.interval.busy += span;
            self.interval.queue_byte_nanos += u128::from(self.held_bytes) * u128::from(span.as_nanos());
        }
        self.interval.to = now;
    }
}
