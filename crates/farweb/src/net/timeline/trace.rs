//! A link that sends at the opportunities of a trace, so many bytes at each, and nothing between.
//!
//! Packets wait first in, first out. The rest of an opportunity is for the packet behind. A packet larger than the rest goes
//! on at the next opportunity, and leaves then. A packet that reaches the link at the time of an opportunity is too late for
//! it. An opportunity that finds an empty queue is lost. The packet at the head is in transmission from when the one before
//! it has left, though it waits for an opportunity. In an outage opportunities are lost.
//!
//! Left out: serialisation of what an opportunity carries.
//!
//! Source: the link shell of mahimahi (`src/frontend/link_queue.cc`), which counts 4 bytes of a TUN device for each packet.

use std::sync::Arc;

use super::TRACE;
use super::handover::Phase;
use super::opportunities::{MS, Opportunities};
use crate::rng::RandomStream;
use crate::units::{BitRate, Duration, Instant};

/// A trace of a link.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// When it may send.
    pub opportunities: Arc<Opportunities>,
    /// Bytes that an opportunity carries, above the overhead.
    pub bytes: u32,
    /// Bytes of it that each packet takes besides its own.
    pub overhead: u32,
    /// True when it comes again. Otherwise the run ends with it.
    pub repeats: bool,
    /// Time of the trace at the start of the run. Both directions of a link share a random one.
    pub offset: Phase,
}

impl Trace {
    /// A trace as mahimahi plays it, from its begin on: 1504 bytes an opportunity, 4 of them besides each packet.
    #[must_use]
    pub const fn of_mahimahi(opportunities: Arc<Opportunities>) -> Self {
        Self { opportunities, bytes: 1504, overhead: 4, repeats: true, offset: Phase::At(Duration::ZERO) }
    }

    /// Mean rate in the long run, of packets that fill an opportunity each.
    #[must_use]
    pub fn rate(&self) -> BitRate {
        self.rate_of(self.opportunities.times().len() as f64 / self.opportunities.period().as_secs_f64())
    }

    /// Mean rate of a run of this length, in the long run where it has none or begins at random.
    pub(super) fn mean_rate(&self, until: Option<Duration>) -> BitRate {
        let Some(until) = until.filter(|until| *until > Duration::ZERO) else { return self.rate() };
        let work = self.work(Instant::ZERO, Instant::ZERO + until) / u128::from(until.as_nanos());
        BitRate::from_bps(u64::try_from(work).unwrap_or(u64::MAX))
            .unwrap_or(BitRate::from_bps(1).expect("not 0"))
    }

    /// Rates that 2.5 % of the windows are below, and 2.5 % above.
    #[must_use]
    pub fn usual_rates(&self) -> [BitRate; 2] {
        self.opportunities.usual_per_s().map(|each| self.rate_of(each))
    }

    fn rate_of(&self, per_s: f64) -> BitRate {
        let bps = (per_s * self.bits() as f64).round() as u64;
        BitRate::from_bps(bps.max(1)).expect("at least 1 bit/s")
    }

    /// IP bits of a packet that fills an opportunity.
    const fn bits(&self) -> u64 {
        8 * (self.bytes - self.overhead) as u64
    }

    /// Its work between two times in 10⁻⁹ bit, by the mean rate where the offset is random.
    pub(in crate::net) fn work(&self, from: Instant, to: Instant) -> u128 {
        match self.offset {
            Phase::At(offset) => self.work_at(offset, from, to),
            Phase::Random => u128::from(self.rate().as_bps()) * u128::from((to - from).as_nanos()),
        }
    }

    fn work_at(&self, offset: Duration, from: Instant, to: Instant) -> u128 {
        let [from, to] = [from, to].map(|at| self.opportunities.until(at - Instant::ZERO + offset));
        u128::from(to - from) * u128::from(self.bits()) * 1_000_000_000
    }

    /// When the run ends with it.
    pub(in crate::net) fn ends(&self) -> Option<Instant> {
        let Phase::At(offset) = self.offset else { panic!("a trace begins with a run") };
        (!self.repeats).then(|| Instant::ZERO + (self.opportunities.period() - offset))
    }

    /// As a run meets it: with an offset within the period.
    pub(in crate::net) fn begun(&self, random: impl Fn(&str) -> RandomStream) -> Self {
        let period = self.opportunities.period_ms();
        let offset = match self.offset {
            Phase::At(offset) => Duration::from_nanos(offset.as_nanos() % (period * MS)),
            Phase::Random => Duration::from_millis((random(TRACE).uniform() * period as f64) as u64),
        };
        Self { offset: Phase::At(offset), ..self.clone() }
    }
}

/// A trace, read forwards in time.
#[derive(Debug, Clone)]
pub(in crate::net) struct Chances {
    trace: Trace,
    /// Time of the trace at the start of the run, in ns.
    offset: u64,
    /// Begin of the pass, in ns of the trace.
    pass: u64,
    /// The next opportunity, in that pass.
    next: usize,
    /// Bytes that the last opportunity has left.
    left: u32,
}

impl Chances {
    /// At the start of the run.
    pub(in crate::net) fn new(trace: Trace) -> Self {
        let Phase::At(offset) = trace.offset else { panic!("a trace begins with a run") };
        let mut chances = Self { trace, offset: offset.as_nanos(), pass: 0, next: 0, left: 0 };
        chances.skip(Instant::ZERO);
        chances
    }

    /// Takes a packet that joined at `joined`, when the one before it leaves at `free_at`. Returns when it leaves.
    pub(in crate::net) fn send(&mut self, joined: Instant, free_at: Instant, bytes: u32) -> Instant {
        if joined >= free_at {
            self.left = 0;
            self.skip(joined);
        }
        let (mut needed, mut departure) = (bytes + self.trace.overhead, free_at);
        loop {
            let taken = needed.min(self.left);
            needed -= taken;
            self.left -= taken;
            if needed == 0 {
                return departure;
            }
            departure = self.next_at();
            self.advance();
            self.left = self.trace.bytes;
        }
    }

    fn next_at(&self) -> Instant {
        let time = u64::from(self.trace.opportunities.times()[self.next]);
        Instant::from_nanos(self.pass + time * MS - self.offset)
    }

    fn advance(&mut self) {
        self.next += 1;
        if self.next == self.trace.opportunities.times().len() {
            self.pass += self.trace.opportunities.period_ms() * MS;
            self.next = 0;
        }
    }

    /// Passes opportunities up to `now`, which is included.
    fn skip(&mut self, now: Instant) {
        let now = (now - Instant::ZERO).as_nanos() + self.offset;
        let time = |next: usize| u64::from(self.trace.opportunities.times()[next]) * MS;
        if self.pass + time(self.next) > now {
            return;
        }
        let period = self.trace.opportunities.period_ms() * MS;
        self.pass = now - now % period;
        self.next =
            self.trace.opportunities.times().partition_point(|time| u64::from(*time) * MS <= now % period);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::RandomStreams;

    fn trace(times: &[u32], offset: Phase) -> Trace {
        let opportunities = Opportunities::new(times.to_vec()).unwrap().into();
        Trace { opportunities, bytes: 1504, overhead: 4, repeats: true, offset }
    }

    fn chances(times: &[u32]) -> Chances {
        Chances::new(trace(times, Phase::At(Duration::ZERO)))
    }

    fn ms(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    /// When packets leave that join at their times, in ms.
    fn departures(chances: &mut Chances, packets: &[(Instant, u32)]) -> Vec<f64> {
        let mut free_at = Instant::ZERO;
        let mut send = |(joined, bytes): &(Instant, u32)| {
            free_at = chances.send(*joined, free_at, *bytes);
            (free_at - Instant::ZERO).as_secs_f64() * 1e3
        };
        packets.iter().map(&mut send).collect()
    }

    #[test]
    fn small_packets_share_an_opportunity_and_the_one_too_many_goes_on_at_the_next() {
        let joined = Instant::from_nanos(500_000);
        let packets = [vec![(joined, 1500); 2], vec![(joined, 40); 35]].concat();
        let mut line = chances(&[1, 2, 2, 5]);
        assert_eq!(departures(&mut line, &packets), [vec![1.0, 2.0], vec![2.0; 34], vec![5.0]].concat());
        // 8 B of the 35th went at 2: 36 of it and 1468 of others at 5, then the next pass.
        let more = [(joined, 1464), (joined, 1500), (joined, 1500), (joined, 1500), (joined, 1500)];
        let mut free_at = ms(5);
        let left: Vec<_> = more
            .iter()
            .map(|(joined, bytes)| {
                free_at = line.send(*joined, free_at, *bytes);
                free_at
            })
            .collect();
        assert_eq!(left, [5, 6, 7, 7, 10].map(ms));
    }

    #[test]
    fn a_packet_at_the_time_of_an_opportunity_is_too_late_for_it() {
        let mut line = chances(&[1, 2, 2, 5]);
        let packets = [(ms(2), 40), (Instant::from_nanos(4_999_999), 40), (ms(5), 40), (ms(17), 40)];
        assert_eq!(departures(&mut line, &packets), [5.0, 5.0, 6.0, 20.0]);
    }

    #[test]
    fn what_is_larger_than_an_opportunity_takes_several() {
        let mut line = chances(&[10, 20]);
        assert_eq!(departures(&mut line, &[(ms(0), 4508), (ms(0), 1500)]), [30.0, 40.0]);
    }

    #[test]
    fn a_first_opportunity_at_0_coincides_with_the_last_one_of_the_pass_before() {
        let packets = [(ms(1), 1500); 5];
        assert_eq!(departures(&mut chances(&[0, 3, 4]), &packets), [3.0, 4.0, 4.0, 7.0, 8.0]);
    }

    #[test]
    fn an_offset_begins_within_the_trace() {
        let begun =
            |offset| trace(&[1, 2, 2, 5], offset).begun(|purpose| RandomStreams::new(7).stream(purpose, 0));
        let mut line = Chances::new(begun(Phase::At(Duration::from_millis(7))));
        assert_eq!(departures(&mut line, &[(ms(0), 1500), (ms(0), 1500)]), [3.0, 4.0]);
        assert_eq!(begun(Phase::At(Duration::from_millis(12))).ends(), None);
        let once = Trace { repeats: false, ..begun(Phase::At(Duration::from_millis(12))) };
        assert_eq!(once.ends(), Some(ms(3)));
        let drawn = begun(Phase::Random);
        assert_eq!(drawn, begun(Phase::Random));
        assert!(matches!(drawn.offset, Phase::At(offset) if offset < Duration::from_millis(5)));
    }

    #[test]
    fn work_counts_opportunities_by_full_packets() {
        let trace = trace(&[1, 2, 2, 5], Phase::At(Duration::from_millis(1)));
        let bits = |from, to| trace.work(ms(from), ms(to)) / 1_000_000_000;
        // Behind the offset: at 1 ms twice, at 4, 5, 6 twice, 9.
        assert_eq!(
            [bits(0, 1), bits(0, 4), bits(1, 4), bits(4, 9)],
            [2, 3, 1, 4].map(|count| count * 12_000)
        );
        assert_eq!(trace.rate().as_bps(), 9_600_000);
        assert_eq!(trace.mean_rate(Some(Duration::from_millis(4))).as_bps(), 9_000_000);
    }
}
