//! Statistics of one direction of a link: packets carried, dropped and queued, in total and by interval.
//!
//! All sums are integers: an interval's numbers do not depend on how often they were asked for. A packet belongs to the
//! interval that its last bit leaves in, even at the very end of it.
//!
//! Left out: distributions of the queue beside its mean and peak. How long packets wait is measured where it is asked for
//! ([`sojourn`](super::sojourn)).
//!
//! Source: time averages by their definition, integral over length.

use crate::units::{BitRate, Bytes, Duration, Instant};

use super::queue::{Backlog, Sums};
use super::sojourn::{Histogram, Sojourn, Waits};
use super::timeline::{Cursor, Grants, Trace};
use super::transmitter::Sent;
use super::{DropReason, Packet};

/// Statistics of one direction of a link from `from` to `to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LinkStats {
    /// Start of the interval.
    pub from: Instant,
    /// End of the interval.
    pub to: Instant,
    /// IP bytes of the packets sent to their last bit.
    pub bytes: Bytes,
    /// Packets sent to their last bit.
    pub packets: u64,
    /// Packets dropped for a full queue.
    pub drops_full: u64,
    /// Packets dropped by active queue management.
    pub drops_aqm: u64,
    /// Packets lost by the loss process.
    pub drops_loss: u64,
    /// Packets marked, by loss process or queue.
    pub marks: u64,
    /// Time that the transmitter was sending.
    pub busy: Duration,
    /// Integral of the queue over time, in B·ns. Counts waiting packets and the one in transmission, whole until its
    /// last bit has left.
    pub queue_byte_nanos: u128,
    /// Largest queue, counted likewise.
    pub queue_bytes_max: Bytes,
    /// Integral of the rate in force, in 10⁻⁹ bit. None where it is unlimited, or changes too often for that.
    pub available: Option<u128>,
    /// Waits of the packets whose transmission began, where they are measured and there are some.
    pub waits: Option<Waits>,
    /// Grants of the frames that began, with capacity on demand.
    pub grants: Option<Grants>,
}

impl LinkStats {
    /// Packets dropped for any reason.
    #[must_use]
    pub const fn drops(&self) -> u64 {
        self.drops_full + self.drops_aqm + self.drops_loss
    }

    /// Share of the time that the transmitter was sending, 0 to 1. An empty interval has 0.
    #[must_use]
    pub fn busy_share(&self) -> f64 {
        self.mean(self.busy.as_nanos() as f64)
    }

    /// Whole bytes that the rate in force would have carried. None where it is unlimited.
    #[must_use]
    pub fn available_bytes(&self) -> Option<Bytes> {
        const PER_BYTE: u128 = 8_000_000_000;
        self.available.map(|work| Bytes::new(u64::try_from(work / PER_BYTE).unwrap_or(u64::MAX)))
    }

    /// Time-weighted mean of the rate in force, in bit/s. None where it is unlimited, and for an empty interval.
    #[must_use]
    pub fn rate_bps_mean(&self) -> Option<f64> {
        self.available.filter(|_| self.from < self.to).map(|work| self.mean(work as f64))
    }

    /// Time-weighted mean queue, in bytes. An empty interval has 0.
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
            drops_full: self.drops_full + next.drops_full,
            drops_aqm: self.drops_aqm + next.drops_aqm,
            drops_loss: self.drops_loss + next.drops_loss,
            marks: self.marks + next.marks,
            busy: self.busy + next.busy,
            queue_byte_nanos: self.queue_byte_nanos + next.queue_byte_nanos,
            queue_bytes_max: self.queue_bytes_max.max(next.queue_bytes_max),
            available: next.available.map(|work| work + self.available.unwrap_or(0)),
            waits: None,
            grants: next.grants.map(|grants| grants.joined(self.grants.unwrap_or_default())),
        }
    }
}

/// Counts what a link direction does, into statistics.
///
/// A packet's fate is known when it is accepted, and counted at once, in one open piece. Where an interval of
/// any kind begins or ends the piece is cut: the rest of the packets still in the queue goes over to the next
/// piece. A cut piece is added to all intervals that it belongs to: overlaps cost nothing per packet.
#[derive(Debug, Clone, Default)]
pub(super) struct Meter {
    /// The open piece, as if every accepted packet had left. A cut fills in `to`.
    open: LinkStats,
    /// Parts cut off since the last recording interval ended.
    interval: LinkStats,
    /// All that was cut off.
    cut: LinkStats,
    /// Parts cut off since measuring began.
    measured: LinkStats,
    is_measuring: bool,
    /// Bytes that wait outside the backlog, of a queue that decides as packets are taken.
    waiting: Bytes,
    /// Where it is measured how long packets wait.
    sojourn: Option<Box<Waiting>>,
    available: Option<Box<Available>>,
}

/// How long packets wait, likewise.
#[derive(Debug, Clone, Default)]
struct Waiting {
    sojourn: Sojourn,
    interval: Histogram,
    cut: Histogram,
    measured: Histogram,
}

/// Most changes of rate that a run adds up. Chosen: 28 hours of a rate that varies every 100 ms, a twentieth of a second of
/// work.
const CHANGES_MAX: u32 = 1_000_000;

/// The rate in force, read forwards in time.
#[derive(Debug, Clone)]
struct Available {
    rate: BitRate,
    /// Rates of a link that changes, in place of that one.
    changing: Option<Cursor>,
    /// Opportunities, in place of rates.
    trace: Option<Trace>,
    /// Read until then.
    at: Instant,
    changes_left: u32,
}

impl Available {
    /// Its integral from there to `now`. None from the change on that is one too many.
    fn until(&mut self, now: Instant) -> Option<u128> {
        if let Some(trace) = &self.trace {
            let from = std::mem::replace(&mut self.at, now);
            return Some(trace.work(from, now));
        }
        let mut work = 0;
        while self.at < now {
            let (rate, end) = match &mut self.changing {
                Some(cursor) => {
                    self.changes_left = self.changes_left.checked_sub(1)?;
                    let (values, until) = cursor.at(self.at);
                    (values.rate.unwrap_or(0), until.unwrap_or(now).min(now))
                }
                None => (self.rate.as_bps(), now),
            };
            work += u128::from(rate) * u128::from((end - self.at).as_nanos());
            self.at = end;
        }
        Some(work)
    }
}

impl Meter {
    /// Of a link with a rate, with rates that change, or with a trace.
    pub(super) fn new(rate: Option<BitRate>, changing: Option<Cursor>, trace: Option<Trace>) -> Self {
        let (at, changes_left) = (Instant::ZERO, CHANGES_MAX);
        let available = rate.map(|rate| Box::new(Available { rate, changing, trace, at, changes_left }));
        Self { available, ..Self::default() }
    }

    /// Measures how long packets wait.
    pub(super) fn measure_waits(&mut self) {
        self.sojourn = Some(Box::default());
    }

    /// A packet of `bytes` bytes is accepted.
    #[inline]
    pub(super) fn accept(&mut self, bytes: u32) {
        self.open.bytes += Bytes::new(u64::from(bytes));
        self.open.packets += 1;
    }

    /// The accepted packet is in the queue from `now` until it is sent. With it the queue has `held_bytes`.
    #[inline]
    pub(super) fn hold(&mut self, now: Instant, sent: Sent, bytes: u32, held_bytes: u64) {
        self.open.busy += sent.departure - sent.start;
        self.open.queue_byte_nanos += byte_nanos(bytes, sent.departure - now);
        self.open.queue_bytes_max = self.open.queue_bytes_max.max(Bytes::new(held_bytes));
    }

    /// A packet that joined at `joined` is in transmission.
    pub(super) fn send(&mut self, joined: Instant, sent: Sent, bytes: u32) {
        self.open.busy += sent.departure - sent.start;
        self.open.queue_byte_nanos += byte_nanos(bytes, sent.departure - sent.start);
        self.note_wait(sent.begin, joined);
    }

    /// A packet that joined at `joined` is in transmission from `start` on.
    pub(super) fn note_wait(&mut self, start: Instant, joined: Instant) {
        if let Some(waiting) = &mut self.sojourn {
            waiting.sojourn.note(start, start - joined);
        }
    }

    /// Frames have begun with these grants.
    pub(super) fn grant(&mut self, grants: Grants) {
        self.open.grants = Some(grants.joined(self.open.grants.unwrap_or_default()));
    }

    /// So much stands in the queue.
    pub(super) fn note_held(&mut self, bytes: u64) {
        self.open.queue_bytes_max = self.open.queue_bytes_max.max(Bytes::new(bytes));
    }

    /// Sums over the packets outside the backlog since the last such call. `bytes` still wait.
    pub(super) fn wait(&mut self, sums: &Sums, bytes: u64) {
        self.open.queue_byte_nanos += sums.byte_nanos;
        self.open.drops_full += sums.drops_full;
        self.open.drops_aqm += sums.drops_aqm;
        self.open.marks += sums.marks;
        self.waiting = Bytes::new(bytes);
    }

    /// A packet was marked.
    pub(super) const fn mark(&mut self) {
        self.open.marks += 1;
    }

    /// A packet was dropped.
    pub(super) fn drop(&mut self, reason: DropReason) {
        match reason {
            DropReason::Full => self.open.drops_full += 1,
            DropReason::Aqm => self.open.drops_aqm += 1,
            DropReason::Loss => self.open.drops_loss += 1,
        }
    }

    /// Ends the open recording interval at `now` and opens the next one.
    pub(super) fn close_interval<P: Packet>(&mut self, now: Instant, backlog: &mut Backlog<P>) -> LinkStats {
        let next = self.cut(now, backlog);
        let interval = self.sojourn.as_mut().map(|waiting| std::mem::take(&mut waiting.interval));
        LinkStats {
            waits: interval.and_then(|waits| waits.waits()),
            ..std::mem::replace(&mut self.interval, next)
        }
    }

    /// Measures from `now` on.
    pub(super) fn begin_measuring<P: Packet>(&mut self, now: Instant, backlog: &mut Backlog<P>) {
        self.measured = self.cut(now, backlog);
        if let Some(waiting) = &mut self.sojourn {
            waiting.measured = Histogram::default();
        }
        self.is_measuring = true;
    }

    /// Measures up to `now`.
    pub(super) fn end_measuring<P: Packet>(&mut self, now: Instant, backlog: &mut Backlog<P>) {
        self.cut(now, backlog);
        self.is_measuring = false;
    }

    /// All since measuring began, to its end or to `now`.
    pub(super) fn measured<P: Packet>(&mut self, now: Instant, backlog: &mut Backlog<P>) -> LinkStats {
        self.cut(now, backlog);
        LinkStats {
            waits: self.sojourn.as_ref().and_then(|waiting| waiting.measured.waits()),
            ..self.measured
        }
    }

    /// All from the start of the run to `now`.
    pub(super) fn totals<P: Packet>(&mut self, now: Instant, backlog: &mut Backlog<P>) -> LinkStats {
        self.cut(now, backlog);
        LinkStats { waits: self.sojourn.as_ref().and_then(|waiting| waiting.cut.waits()), ..self.cut }
    }

    /// Ends the open piece at `now` and opens the next one. Gives an empty interval that begins there.
    fn cut<P: Packet>(&mut self, now: Instant, backlog: &mut Backlog<P>) -> LinkStats {
        backlog.drain(now);
        let mut ahead = ahead(now, backlog);
        ahead.queue_bytes_max += self.waiting;
        let piece = LinkStats {
            to: now,
            bytes: self.open.bytes - ahead.bytes,
            packets: self.open.packets - ahead.packets,
            busy: self.open.busy - ahead.busy,
            queue_byte_nanos: self.open.queue_byte_nanos - ahead.queue_byte_nanos,
            available: self.available.as_mut().and_then(|available| available.until(now)),
            ..self.open
        };
        self.open = ahead;
        self.cut = self.cut.joined(&piece);
        self.interval = self.interval.joined(&piece);
        if self.is_measuring {
            self.measured = self.measured.joined(&piece);
        }
        if let Some(waiting) = &mut self.sojourn {
            let waits = waiting.sojourn.until(now);
            waiting.cut.join(&waits);
            waiting.interval.join(&waits);
            if self.is_measuring {
                waiting.measured.join(&waits);
            }
        }
        LinkStats { from: now, to: now, queue_bytes_max: self.open.queue_bytes_max, ..LinkStats::default() }
    }
}

/// Statistics of one direction of a link from `now` on, when `backlog` was drained, until all have left.
fn ahead<P: Packet>(now: Instant, backlog: &Backlog<P>) -> LinkStats {
    let held = Bytes::new(backlog.bytes());
    let mut ahead =
        LinkStats { from: now, to: now, bytes: held, queue_bytes_max: held, ..LinkStats::default() };
    for (departure, bytes) in backlog.departures() {
        ahead.packets += 1;
        ahead.busy = departure - now;
        ahead.queue_byte_nanos += byte_nanos(bytes, departure - now);
    }
    ahead
}

#[inline]
fn byte_nanos(bytes: u32, span: Duration) -> u128 {
    u128::from(bytes) * u128::from(span.as_nanos())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::tests::{TestPacket, data};
    use proptest::prelude::*;

    const fn at(nanos: u64) -> Instant {
        Instant::from_nanos(nanos)
    }

    /// A queue that is measured, of packets of 100 B that take 10 ns each.
    #[derive(Default)]
    struct Measured {
        meter: Meter,
        backlog: Backlog<TestPacket>,
        free_at: Instant,
    }

    impl Measured {
        fn join(&mut self, now: Instant) {
            self.backlog.drain(now);
            let start = now.max(self.free_at);
            self.free_at = start + Duration::from_nanos(10);
            self.backlog.join(self.free_at, data(0, 100));
            self.meter.accept(100);
            self.meter.hold(
                now,
                Sent { start, begin: start, departure: self.free_at },
                100,
                self.backlog.bytes(),
            );
        }

        fn stats(
            &mut self,
            stats: fn(&mut Meter, Instant, &mut Backlog<TestPacket>) -> LinkStats,
            now: Instant,
        ) -> LinkStats {
            stats(&mut self.meter, now, &mut self.backlog)
        }
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
    fn burst() -> Measured {
        let mut queue = Measured::default();
        (0..5).for_each(|_| queue.join(at(0)));
        queue
    }

    #[test]
    fn what_is_measured_begins_and_ends_at_the_very_instant() {
        let mut queue = burst();
        queue.meter.begin_measuring(at(13), &mut queue.backlog);
        queue.meter.drop(DropReason::Full);
        queue.meter.end_measuring(at(34), &mut queue.backlog);
        queue.meter.drop(DropReason::Full);
        (0..100).for_each(|_| queue.join(at(41)));
        let measured = queue.stats(Meter::measured, at(60));
        assert_eq!((measured.from, measured.to), (at(13), at(34)));
        assert_eq!((measured.packets, measured.bytes, measured.drops()), (2, Bytes::new(200), 1));
        assert_eq!(measured.busy, Duration::from_nanos(21));
        assert_eq!(measured.queue_byte_nanos, 7 * 400 + 10 * 300 + 4 * 200);
        // Initial backlog only.
        assert_eq!(measured.queue_bytes_max, Bytes::new(400));
    }

    #[test]
    fn measuring_that_has_not_ended_goes_up_to_now() {
        let mut queue = burst();
        queue.meter.begin_measuring(at(5), &mut queue.backlog);
        for end in [70, 100] {
            let measured = queue.stats(Meter::measured, at(end));
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
            let mut plain = Measured::default();
            let (mut recorded, mut measured) = (Measured::default(), Measured::default());
            let (mut now, mut intervals, mut expected) = (at(0), Vec::new(), Vec::new());
            for (step, (gap, action, close)) in steps.into_iter().enumerate() {
                now += Duration::from_nanos(gap);
                for queue in [&mut plain, &mut recorded, &mut measured] {
                    match action {
                        0 => queue.meter.drop(DropReason::Loss),
                        1 => queue.meter.accept(40),
                        _ => queue.join(now),
                    }
                }
                if step == begin {
                    measured.meter.begin_measuring(now, &mut measured.backlog);
                }
                if step == begin + length {
                    measured.meter.end_measuring(now, &mut measured.backlog);
                }
                if close {
                    expected.push(recorded.stats(Meter::close_interval, now));
                    intervals.push(measured.stats(Meter::close_interval, now));
                }
            }
            prop_assert_eq!(intervals, expected);
            prop_assert_eq!(measured.stats(Meter::totals, now), plain.stats(Meter::totals, now));
        }
    }
}
