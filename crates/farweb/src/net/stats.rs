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
/// Calls come in order of time. What happens goes into one open piece; where an interval of any kind begins or ends the
/// piece is cut and added to those that it belongs to, so that intervals may overlap at no cost a packet.
#[derive(Debug, Clone, Default)]
pub(super) struct Meter {
    /// What is in the queue now.
    pub(super) held_bytes: u64,
    pub(super) held_packets: u64,
    /// The open piece; `to` is the time up to which it is filled in.
    open: LinkStats,
    /// What was cut off since the last recording interval ended.
    interval: LinkStats,
    /// All that was cut off.
    cut: LinkStats,
    /// What was cut off since measuring began.
    measured: LinkStats,
    is_measuring: bool,
}

impl Meter {
    /// A packet of `bytes` bytes joins the queue.
    #[inline]
    pub(super) fn join(&mut self, now: Instant, bytes: u32) {
        self.advance(now);
        self.held_bytes += u64::from(bytes);
        self.held_packets += 1;
        let held = Bytes::new(self.held_bytes);
        self.open.queue_bytes_max = self.open.queue_bytes_max.max(held);
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
        self.open.bytes += Bytes::new(u64::from(bytes));
        self.open.packets += 1;
    }

    /// A packet was dropped.
    pub(super) fn drop(&mut self, reason: DropReason) {
        match reason {
            DropReason::Queue => self.open.drops_queue += 1,
            DropReason::Loss => self.open.drops_loss += 1,
        }
    }

    /// Ends the open recording interval at `now` and opens the next one.
    pub(super) fn close_interval(&mut self, now: Instant) -> LinkStats {
        self.cut(now);
        let next = self.from(now);
        std::mem::replace(&mut self.interval, next)
    }

    /// Measures from `now` on.
    pub(super) fn begin_measuring(&mut self, now: Instant) {
        self.cut(now);
        self.measured = self.from(now);
        self.is_measuring = true;
    }

    /// Measures up to `now`.
    pub(super) fn end_measuring(&mut self, now: Instant) {
        self.cut(now);
        self.is_measuring = false;
    }

    /// All since measuring began, to its end or to `now`.
    pub(super) fn measured(&mut self, now: Instant) -> LinkStats {
        self.advance(now);
        if self.is_measuring { self.measured.joined(&self.open) } else { self.measured }
    }

    /// All from the start of the run to `now`.
    pub(super) fn totals(&mut self, now: Instant) -> LinkStats {
        self.advance(now);
        self.cut.joined(&self.open)
    }

    /// Ends the open piece at `now` and opens the next one.
    fn cut(&mut self, now: Instant) {
        self.advance(now);
        let next = self.from(now);
        let piece = std::mem::replace(&mut self.open, next);
        self.cut = self.cut.joined(&piece);
        self.interval = self.interval.joined(&piece);
        if self.is_measuring {
            self.measured = self.measured.joined(&piece);
        }
    }

    /// Statistics that begin at `now`, with what stands in the queue.
    fn from(&self, now: Instant) -> LinkStats {
        LinkStats { from: now, to: now, queue_bytes_max: Bytes::new(self.held_bytes), ..LinkStats::default() }
    }

    /// Accounts for the time up to `now`, in which the queue did not change.
    #[inline]
    fn advance(&mut self, now: Instant) {
        if self.held_packets > 0 {
            let span = now - self.open.to;
            self.open.busy += span;
            self.open.queue_byte_nanos += u128::from(self.held_bytes) * u128::from(span.as_nanos());
        }
        self.open.to = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const fn at(nanos: u64) -> Instant {
        Instant::from_nanos(nanos)
    }

    /// 5 packets of 100 B join at 0, and one leaves every 10 ns.
    ///
    /// | ns | in the queue |
    /// |---|---|
    /// | 0–10 | 500 B |
    /// | 10–20 | 400 B |
    /// | 20–30 | 300 B |
    /// | 30–40 | 200 B |
    /// | 40–50 | 100 B |
    fn burst(meter: &mut Meter) {
        (0..5).for_each(|_| meter.join(at(0), 100));
    }

    #[test]
    fn what_is_measured_begins_and_ends_at_the_very_instant() {
        let mut meter = Meter::default();
        burst(&mut meter);
        meter.leave(at(10), 100);
        meter.begin_measuring(at(13));
        meter.leave(at(20), 100);
        meter.leave(at(30), 100);
        meter.drop(DropReason::Queue);
        meter.end_measuring(at(34));
        meter.drop(DropReason::Queue);
        meter.leave(at(40), 100);
        meter.join(at(41), 1_000_000);
        let measured = meter.measured(at(60));
        assert_eq!((measured.from, measured.to), (at(13), at(34)));
        assert_eq!((measured.packets, measured.bytes, measured.drops()), (2, Bytes::new(200), 1));
        assert_eq!(measured.busy, Duration::from_nanos(21));
        assert_eq!(measured.queue_byte_nanos, 7 * 400 + 10 * 300 + 4 * 200);
        // What stood there at the beginning, and not what came before or after.
        assert_eq!(measured.queue_bytes_max, Bytes::new(400));
    }

    #[test]
    fn measuring_that_has_not_ended_goes_up_to_now() {
        let mut meter = Meter::default();
        burst(&mut meter);
        meter.begin_measuring(at(5));
        (1..=5).for_each(|packet| meter.leave(at(10 * packet), 100));
        for end in [70, 100] {
            let measured = meter.measured(at(end));
            assert_eq!((measured.to, measured.busy), (at(end), Duration::from_nanos(45)));
            assert_eq!(measured.queue_byte_nanos, 5 * 500 + 10 * (400 + 300 + 200 + 100));
            assert_eq!((measured.queue_bytes_max, measured.packets), (Bytes::new(500), 5));
        }
    }

    proptest! {
        #[test]
        fn recording_intervals_and_measuring_leave_each_other_alone(
            steps in prop::collection::vec((0..50_u64, 0..4_u8, any::<bool>()), 2..60), begin in 0..30_usize, length in 0..30_usize,
        ) {
            let (mut plain, mut recorded, mut measured) = (Meter::default(), Meter::default(), Meter::default());
            let (mut now, mut intervals, mut expected) = (at(0), Vec::new(), Vec::new());
            for (step, (gap, action, close)) in steps.into_iter().enumerate() {
                now += Duration::from_nanos(gap);
                for meter in [&mut plain, &mut recorded, &mut measured] {
                    match action {
                        0 if meter.held_packets > 0 => meter.leave(now, 100),
                        1 => meter.drop(DropReason::Loss),
                        2 => meter.sent_at_once(40),
                        _ => meter.join(now, 100),
                    }
                }
                if step == begin {
                    measured.begin_measuring(now);
                }
                if step == begin + length {
                    measured.end_measuring(now);
                }
                if close {
                    expected.push(recorded.close_interval(now));
                    intervals.push(measured.close_interval(now));
                }
            }
            prop_assert_eq!(intervals, expected);
            prop_assert_eq!(measured.totals(now), plain.totals(now));
        }
    }
}
