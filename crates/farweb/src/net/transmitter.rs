//! The transmitter of a link: when the last bit of each packet leaves.
//!
//! Packets are sent one after the other without a gap. A packet that finds the transmitter free starts at once. The
//! k-th packet of a busy period that began at `start` has left at `start + ceil(bits of packets 1..=k / rate)`, in
//! whole nanoseconds. Because the sum is rounded and not each packet, the rounding error stays below one nanosecond
//! however long the period lasts.
//!
//! The sum is not kept: it is enough to know by how much the last departure was rounded up. With `slack` in units of
//! 1/rate ns, a packet that takes `whole + part / rate` ns leaves `whole` later when `part` fits into the slack, and
//! `whole + 1` later when it does not. This is exact.
//!
//! A packet that waits for an opportunity, a grant or a radio counts as in transmission once those before it have left.
//!
//! Left out: framing below IP, a medium shared by several senders.
//!
//! Source: the transmission time of ns-2.35 (`link/delay.h`, `txtime`). Differs: whole nanoseconds, exact over a busy
//! period, where ns-2 adds floating-point times.

use super::timeline::{Changes, Grants, Turns};
use crate::units::{BitRate, Duration, Instant};

/// Sends packets in order at a rate, or at once.
#[derive(Debug, Clone)]
pub(super) struct Transmitter {
    /// A constant one.
    rate: Option<BitRate>,
    /// Changes of a link that has them, in place of the rate.
    changes: Option<Box<Changes>>,
    /// When the last packet has left.
    free_at: Instant,
    /// Time of `free_at` past the exact end of the last packet, in units of 1/rate ns, less than `rate`.
    slack: u64,
}

/// Turn of a packet on a transmitter.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sent {
    /// When the transmitter is free for it.
    pub(super) start: Instant,
    /// When its first bit leaves: later where it waits for a grant, or for a radio to wake.
    pub(super) begin: Instant,
    /// When its last bit leaves.
    pub(super) departure: Instant,
}

/// Nanoseconds that a byte takes at 1 bit/s.
const NANOS_PER_BYTE_AT_1_BPS: u64 = 8 * 1_000_000_000;

impl Transmitter {
    /// A free transmitter. `None` stands for a rate so high that a packet takes no time.
    pub(super) const fn new(rate: Option<BitRate>) -> Self {
        Self { rate, changes: None, free_at: Instant::ZERO, slack: 0 }
    }

    /// A free transmitter of a link that changes, which knows when its packets arrive, too.
    pub(super) fn changing(changes: Changes) -> Self {
        Self { changes: Some(Box::new(changes)), ..Self::new(None) }
    }

    /// When a packet that is there at `now` would start to be sent.
    #[inline]
    pub(super) fn free_from(&self, now: Instant) -> Instant {
        now.max(self.free_at)
    }

    /// Takes a packet of `bytes` bytes on a link that does not change.
    ///
    /// # Panics
    /// When the packet has 2^31 bytes or more: no IP packet has.
    #[inline]
    pub(super) fn send(&mut self, now: Instant, bytes: u32) -> Sent {
        let Some(rate) = self.rate else { return Sent { start: now, begin: now, departure: now } };
        if now >= self.free_at {
            (self.free_at, self.slack) = (now, 0);
        }
        assert!(bytes < 1 << 31, "a packet of {bytes} bytes");
        let (start, rate) = (self.free_at, rate.as_bps());
        let scaled = u64::from(bytes) * NANOS_PER_BYTE_AT_1_BPS;
        let (mut nanos, part) = (scaled / rate, scaled % rate);
        if part <= self.slack {
            self.slack -= part;
        } else {
            nanos += 1;
            self.slack += rate - part;
        }
        self.free_at += Duration::from_nanos(nanos);
        Sent { start, begin: start, departure: self.free_at }
    }

    /// Takes a packet of `bytes` bytes on any link.
    pub(super) fn send_any(&mut self, now: Instant, bytes: u32) -> Sent {
        if self.is_changing() { self.send_changing(now, bytes) } else { self.send(now, bytes) }
    }

    /// Takes a packet at a rate that changes, or when its turn comes.
    ///
    /// Work is counted in 10⁻⁹ bit: a rate of 1 bit/s does one a nanosecond. A piece does `slack` of it for nothing at
    /// its begin, as it was rounded up before, and leaves the rest to the next one. A rate of none is unlimited.
    fn send_changing(&mut self, now: Instant, bytes: u32) -> Sent {
        let start = self.free_from(now);
        let Self { changes: Some(changes), free_at, slack, .. } = self else { panic!("a link that changes") };
        let now = changes.awake_for(now);
        let mut begin = now.max(*free_at);
        if let Some(turns) = changes.turns.as_deref_mut() {
            match turns {
                Turns::Trace(chances) => *free_at = chances.send(now, *free_at, bytes),
                Turns::Dama(terminal) => [begin, *free_at] = terminal.send(now, bytes),
            }
            changes.travel(*free_at);
            return Sent { start, begin, departure: *free_at };
        }
        if now >= *free_at {
            (*free_at, *slack) = (now, 0);
        }
        assert!(bytes < 1 << 31, "a packet of {bytes} bytes");
        let mut work = u64::from(bytes) * NANOS_PER_BYTE_AT_1_BPS;
        while work > 0 {
            let (values, until) = changes.rate.at(*free_at);
            let Some(rate) = values.rate else { break };
            let done = work.min(*slack);
            *slack -= done;
            work -= done;
            let whole = (rate > 0).then(|| work.div_ceil(rate));
            let left = until.map(|until| (until - *free_at).as_nanos());
            let nanos = [whole, left].into_iter().flatten().min().expect("a rate of 0 ends");
            *slack += (nanos * rate).saturating_sub(work);
            work = work.saturating_sub(nanos * rate);
            *free_at += Duration::from_nanos(nanos);
        }
        changes.travel(*free_at);
        Sent { start, begin, departure: *free_at }
    }

    /// Grants up to `now` since the last such call. None on a link without a hub.
    pub(super) fn grants_until(&mut self, now: Instant) -> Option<Grants> {
        match self.changes.as_mut()?.turns.as_deref_mut()? {
            Turns::Dama(terminal) => Some(terminal.grants_until(now)),
            Turns::Trace(_) => None,
        }
    }

    /// True on a link that changes.
    #[inline]
    pub(super) const fn is_changing(&self) -> bool {
        self.changes.is_some()
    }

    /// When the packet sent last, which leaves at `departure`, arrives on a link that has a delay of `delay` or changes.
    pub(super) fn newest_arrival(&self, departure: Instant, delay: Duration) -> Instant {
        self.changes.as_ref().map_or(departure + delay, |changes| changes.newest)
    }

    /// When the packet at this place on a link that changes arrives.
    #[cold]
    pub(super) fn arrival(&self, place: usize) -> Option<Instant> {
        self.changes.as_ref().expect("a link that changes").arrival(place)
    }

    /// The first packet on a link that changes arrives. Returns when the next one does.
    #[cold]
    pub(super) fn arrive(&mut self, now: Instant) -> Option<Instant> {
        self.changes.as_mut().expect("a link that changes").arrive(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Bytes;
    use proptest::prelude::*;

    fn transmitter(bps: u64) -> Transmitter {
        Transmitter::new(BitRate::from_bps(bps))
    }

    #[test]
    fn a_million_packets_back_to_back_end_where_their_sum_ends() {
        let e3 = BitRate::from_bps(34_368_000).unwrap();
        let mut line = transmitter(34_368_000);
        let start = Instant::from_nanos(17);
        for sent in 1..=1_000_000_u64 {
            assert_eq!(line.send(start, 1500).departure, start + e3.time_to_send(Bytes::new(1500 * sent)));
        }
        // 12e9 bits at 34.368 Mbit/s: 349.162011173… s. Rounding each packet up would end 989 µs later.
        assert_eq!(line.free_at, start + Duration::from_nanos(349_162_011_174));
    }

    #[test]
    fn a_packet_that_finds_the_transmitter_free_starts_at_once() {
        // 1 byte at 3 bit/s takes 2.666… s.
        let mut line = transmitter(3);
        let first = line.send(Instant::ZERO, 1).departure;
        assert_eq!(first, Instant::from_nanos(2_666_666_667));
        // Offered at the very instant of the departure: a new busy period, whose rounding starts afresh.
        assert_eq!(line.send(first, 1).departure, Instant::from_nanos(2 * 2_666_666_667));
        // Offered a nanosecond before the end of that one: it follows without a gap, at 2 × 2.666… s.
        let late = Instant::from_nanos(2 * 2_666_666_667 - 1);
        assert_eq!(line.send(late, 1).departure, first + Duration::from_nanos(5_333_333_334));
    }

    #[test]
    fn without_a_rate_a_packet_takes_no_time() {
        let mut line = Transmitter::new(None);
        assert_eq!(line.send(Instant::from_nanos(5), 1500).departure, Instant::from_nanos(5));
        assert_eq!(line.send(Instant::from_nanos(5), 1500).departure, Instant::from_nanos(5));
    }

    proptest! {
        #[test]
        fn departures_are_the_rounded_sum(
            bps in 1..=200_000_000_000_u64,
            packets in prop::collection::vec((0..3_000_000_u64, 0..70_000_u32), 1..200),
        ) {
            let rate = BitRate::from_bps(bps).unwrap();
            let mut line = transmitter(bps);
            let (mut now, mut start, mut sum, mut end) = (Instant::ZERO, Instant::ZERO, 0, Instant::ZERO);
            for (gap, bytes) in packets {
                now += Duration::from_nanos(gap);
                if now >= end {
                    (start, sum) = (now, 0);
                }
                sum += u64::from(bytes);
                end = start + rate.time_to_send(Bytes::new(sum));
                prop_assert_eq!(line.send(now, bytes).departure, end);
            }
        }
    }
}
