//! PIE: a packet that arrives is dropped with a probability that follows the delay of the queue (RFC 8033).
//!
//! Models PIE as Linux has it. The delay is how long the packet waited that was taken for transmission last, or zero
//! where nothing was left behind it. Every `update` the probability moves by how far the delay is from the target, and
//! by how it has changed. A burst from an empty queue passes. Drops are spread out: the probabilities of packets are
//! added up since the last drop, none falls below a sum of 0.85, and one always does at 8.5. So a probability p that
//! stays drops one packet in 1.85 / p.
//!
//! Updates are made up for when a packet arrives, each with what had happened by its time. The packet in transmission
//! counts for nothing, as it has left the queue.
//!
//! With ECN a packet is marked in place of being dropped while the probability is at most a tenth. A mark that the sum of 8.5 made
//! certain leaves the sum, so that the next packets are marked too.
//!
//! Left out: packets weighed by their size, delays from a measured rate, derandomization switched off.
//!
//! Source: RFC 8033; Linux 6.18, `net/sched/sch_pie.c`, whose timer first runs after 0.5 s and then every 4 ticks of 250 Hz.

use std::collections::VecDeque;

use crate::net::config::QueueLimit;
use crate::net::{DropReason, Packet};
use crate::rng::RandomStream;
use crate::units::{Duration, Instant};

use super::Backlog;

/// Parameters of PIE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pie {
    /// Delay that it holds.
    pub target: Duration,
    /// Time between two updates of the probability.
    pub update: Duration,
    /// Most that waits, the packet in transmission left out.
    pub limit: QueueLimit,
    /// How long a burst from an empty queue passes.
    pub burst: Duration,
    /// True when it marks packets whose senders take marks.
    pub ecn: bool,
}

/// When the probability is first updated.
const FIRST_UPDATE: Duration = Duration::from_millis(500);

/// Change of the probability a second for each second that the delay is off its target, and that it has grown by.
const GAINS: [f64; 2] = [0.125, 1.25];

/// Least delay that adds a further step to the probability, and that step.
const LONG: (Duration, f64) = (Duration::from_millis(250), 0.02);

/// Sums of probabilities: below the first no packet is dropped, from the second on one always is.
const SUMS: [f64; 2] = [0.85, 8.5];

/// Largest probability that marks packets and does not drop them.
const MARKING_MAX: f64 = 0.1;

/// Fewest bytes in the queue for a drop: two full packets.
const FEW_BYTES: u64 = 2 * 1500;

/// PIE at work in front of a transmitter.
#[derive(Debug, Clone)]
pub(super) struct State {
    config: Pie,
    random: RandomStream,
    next_update: Instant,
    /// Of the packet taken last, and as it was at the update before.
    delays: [Duration; 2],
    probability: f64,
    /// Since the last drop.
    sum: f64,
    /// The same as it was before the last drop.
    sum_before: f64,
    burst_left: Duration,
    /// When the last packet was taken, since the burst began.
    taken_at: Option<Instant>,
    /// When packets joined, and when they are taken for transmission, of those that wait.
    waiting: VecDeque<(Instant, Instant)>,
    reason: DropReason,
}

impl State {
    pub(super) fn new(config: Pie, random: RandomStream) -> Self {
        Self {
            config,
            random,
            next_update: Instant::ZERO + FIRST_UPDATE,
            delays: [Duration::ZERO; 2],
            probability: 0.0,
            sum: 0.0,
            sum_before: 0.0,
            burst_left: config.burst,
            taken_at: None,
            waiting: VecDeque::new(),
            reason: DropReason::Full,
        }
    }

    /// True when a packet of `bytes` bytes that arrives at `now` may join, behind a backlog that is drained.
    pub(super) fn admits<P: Packet>(&mut self, now: Instant, bytes: u32, backlog: &Backlog<P>) -> bool {
        self.advance(now);
        let held = backlog.bytes() - backlog.in_transmission().map_or(0, u64::from);
        let packets = self.waiting.len() as u64;
        let is_full = !self.config.limit.holds(packets + 1, held + u64::from(bytes));
        // Where the transmitter is free a packet does not wait.
        let waits = backlog.packets() > 0;
        if (is_full && waits) || self.drops_early(held) {
            self.reason = if is_full { DropReason::Full } else { DropReason::Aqm };
            self.sum_before = std::mem::take(&mut self.sum);
            return false;
        }
        self.wait(now, backlog);
        true
    }

    /// True when the packet that was just refused joins, marked.
    pub(super) fn admits_marked<P: Packet>(
        &mut self,
        now: Instant,
        packet: &mut P,
        backlog: &Backlog<P>,
    ) -> bool {
        let may_mark = self.config.ecn && self.reason == DropReason::Aqm && self.probability <= MARKING_MAX;
        let is_marked = may_mark && packet.set_ce();
        if is_marked {
            if self.sum_before >= SUMS[1] {
                self.sum = self.sum_before;
            }
            self.wait(now, backlog);
        }
        is_marked
    }

    /// A packet joins.
    fn wait<P: Packet>(&mut self, now: Instant, backlog: &Backlog<P>) {
        let free_at = backlog.newest().map_or(now, |(departure, _)| departure.max(now));
        self.waiting.push_back((now, free_at));
    }

    pub(super) const fn refuses_for(&self) -> DropReason {
        self.reason
    }

    fn drops_early(&mut self, held: u64) -> bool {
        let is_short = self.delays[0] * 2 < self.config.target && self.probability < 0.2;
        if self.burst_left > Duration::ZERO || is_short || held < FEW_BYTES {
            return false;
        }
        self.sum = if self.probability > 0.0 { self.sum + self.probability } else { 0.0 };
        self.sum >= SUMS[0] && (self.sum >= SUMS[1] || self.random.happens(self.probability))
    }

    /// Makes up for the packets taken and the updates due by `now`. A packet taken at the instant of an update comes
    /// first.
    fn advance(&mut self, now: Instant) {
        while self.next_update <= now {
            self.take_until(self.next_update);
            self.update();
            self.next_update += self.config.update * self.updates_until(now);
        }
        self.take_until(now);
    }

    /// Updates from the next one on up to the first that may differ from it: of an idle queue, all up to `now`.
    fn updates_until(&self, now: Instant) -> u64 {
        let is_idle =
            self.waiting.is_empty() && self.delays == [Duration::ZERO; 2] && self.probability == 0.0;
        let idle =
            if is_idle { (now - self.next_update).as_nanos() / self.config.update.as_nanos() } else { 0 };
        1 + idle
    }

    fn take_until(&mut self, now: Instant) {
        while let Some(&(joined, taken)) = self.waiting.front()
            && taken <= now
        {
            self.waiting.pop_front();
            let is_last = self.waiting.front().is_none_or(|(next_joined, _)| *next_joined >= taken);
            self.delays[0] = if is_last { Duration::ZERO } else { taken - joined };
            let since = self.taken_at.replace(taken).map_or(Duration::ZERO, |before| taken - before);
            self.burst_left = self.burst_left - since.min(self.burst_left);
        }
    }

    fn update(&mut self) {
        let [delay, before] = self.delays;
        let off = delay.as_secs_f64() - self.config.target.as_secs_f64();
        let grown = delay.as_secs_f64() - before.as_secs_f64();
        let mut step = (GAINS[0] * off + GAINS[1] * grown) * scale(self.probability);
        if self.probability >= 0.1 {
            step = step.min(0.02);
        }
        if delay >= LONG.0 {
            step += LONG.1;
        }
        self.probability = (self.probability + step).clamp(0.0, 1.0);
        let is_empty = delay == Duration::ZERO && self.waiting.is_empty();
        if is_empty && before == Duration::ZERO {
            self.probability *= 1.0 - 1.0 / 64.0;
        }
        if delay.max(before) * 2 < self.config.target && self.probability == 0.0 {
            self.burst_left = self.config.burst;
            self.taken_at = None;
            self.sum = 0.0;
        }
        self.delays[1] = delay;
    }
}

/// Factor on the gains: smaller probabilities move in smaller steps.
fn scale(probability: f64) -> f64 {
    let halved = if probability < 0.1 { 0.5 } else { 1.0 };
    [1e-2, 1e-3, 1e-4, 1e-5, 1e-6]
        .iter()
        .filter(|below| probability < **below)
        .fold(halved, |scale, _| scale / 4.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::queue::tests::{drive, ms, overload};
    use crate::net::tests::{ECT, MARKED, TestPacket, at, data, link, plain};
    use crate::net::{LinkConfig, QueueConfig};
    use crate::rng::RandomStreams;
    use crate::units::{BitRate, Bytes};

    const PIE: Pie = Pie {
        target: Duration::from_millis(15),
        update: Duration::from_millis(16),
        limit: QueueLimit::Packets(1000),
        burst: Duration::from_millis(150),
        ecn: false,
    };

    fn state() -> State {
        State::new(PIE, RandomStreams::new(1).stream("aqm", 0))
    }

    #[test]
    fn a_constant_probability_drops_a_packet_in_1_85_over_it() {
        let mut pie =
            State { probability: 0.01, burst_left: Duration::ZERO, delays: [PIE.target; 2], ..state() };
        let mut gaps = vec![0];
        for _ in 0..1_000_000 {
            match pie.drops_early(FEW_BYTES) {
                true => {
                    pie.sum = 0.0;
                    gaps.push(0);
                }
                false => *gaps.last_mut().unwrap() += 1,
            }
        }
        let mean = 1_000_000.0 / gaps.len() as f64;
        assert!((mean - 185.0).abs() < 5.0, "{mean}");
        // A sum of 0.84 is safe, one of 0.85 not.
        gaps.pop();
        assert_eq!(gaps.iter().min(), Some(&84));
    }

    #[test]
    fn early_drops_have_bounds() {
        let ms = Duration::from_millis;
        // Certain, but for the bounds that a case is about.
        let drops = |change: &dyn Fn(&mut State), held| {
            let mut pie = State {
                probability: 1.0,
                sum: 8.0,
                burst_left: Duration::ZERO,
                delays: [PIE.target; 2],
                ..state()
            };
            change(&mut pie);
            pie.drops_early(held)
        };
        assert!(drops(&|_| (), 3000));
        assert!(!drops(&|_| (), 2999));
        assert!(!drops(&|pie| pie.burst_left = Duration::from_nanos(1), 3000));
        // A delay below half the target, beside a probability below a fifth.
        let short = |delay, probability| {
            move |pie: &mut State| {
                (pie.delays[0], pie.probability, pie.sum) = (delay, probability, 8.5);
            }
        };
        let half = Duration::from_micros(7500);
        assert!(drops(&short(half, 0.1), 3000));
        assert!(!drops(&short(half - Duration::from_nanos(1), 0.199), 3000));
        assert!(drops(&short(ms(0), 0.2), 3000));
        // A sum of 8.5 is certain whatever is drawn, and a probability of 0 forgets it.
        for seed in 0..20 {
            let random = RandomStreams::new(seed).stream("aqm", 0);
            let certain = |pie: &mut State| {
                (pie.sum, pie.probability, pie.random) = (8.25, 0.25, random.clone());
            };
            assert!(drops(&certain, 3000));
        }
        let mut calm = State { sum: 8.5, burst_left: Duration::ZERO, delays: [PIE.target; 2], ..state() };
        assert!(!calm.drops_early(3000));
        assert_eq!(calm.sum, 0.0);
    }

    #[test]
    fn updates_begin_at_half_a_second_and_come_every_16_ms() {
        let probability = |now| {
            let mut pie = State { delays: [Duration::from_millis(40), Duration::ZERO], ..state() };
            pie.advance(now);
            pie.probability
        };
        let first = 0.053_125 / 2048.0;
        assert_eq!(probability(at(499_999_999)), 0.0);
        assert!((probability(ms(500)) - first).abs() < 1e-12);
        assert_eq!(probability(at(515_999_999)), probability(ms(500)));
        // The second one sees no growth any more.
        assert!((probability(ms(516)) - first - 0.003_125 / 128.0).abs() < 1e-12);
    }

    #[test]
    fn updates_of_an_idle_queue_are_passed_over() {
        let mut pie = state();
        pie.advance(ms(500 + 16 * 1000 + 15));
        assert_eq!(pie.next_update, ms(500 + 16 * 1001));
        pie.advance(ms(500 + 16 * 1001));
        assert_eq!(pie.next_update, ms(500 + 16 * 1002));
    }

    #[test]
    fn a_quiet_queue_lets_a_burst_pass_again() {
        let after = |delays, probability| {
            let (sum, taken_at) = (0.5, Some(ms(1)));
            let mut pie = State { delays, probability, sum, taken_at, burst_left: Duration::ZERO, ..state() };
            pie.update();
            (pie.burst_left, pie.taken_at, pie.sum)
        };
        let renewed = (PIE.burst, None, 0.0);
        let half = Duration::from_micros(7500);
        let less = half - Duration::from_nanos(1);
        let kept = (Duration::ZERO, Some(ms(1)), 0.5);
        assert_eq!(after([less, less], 0.0), renewed);
        assert_eq!(after([half, less], 0.0), kept);
        assert_eq!(after([less, half], 0.0), kept);
        assert_eq!(after([less, less], 0.01), kept);
    }

    #[test]
    fn only_an_empty_queue_loses_a_64th_of_its_probability() {
        let after = |delays, waiting: &[(Instant, Instant)]| {
            let waiting = waiting.iter().copied().collect();
            let mut pie = State { probability: 0.5, delays, waiting, ..state() };
            pie.update();
            pie.probability
        };
        let zero = Duration::ZERO;
        let moved = 0.5 - 0.125 * 0.015;
        assert_eq!(after([zero; 2], &[(ms(0), ms(1))]), moved);
        assert_eq!(after([zero; 2], &[]), moved * (1.0 - 1.0 / 64.0));
        let shrunk = 0.5 - (0.125 * 0.015 + 1.25 * 0.001);
        assert!((after([zero, Duration::from_millis(1)], &[]) - shrunk).abs() < 1e-12);
    }

    #[test]
    fn the_delay_is_that_of_the_packet_taken_last_and_zero_behind_an_empty_queue() {
        let mut pie = state();
        // Joined and taken, in ms: the third joins as the second is taken.
        pie.waiting =
            [(0, 5), (1, 9), (9, 12), (12, 15)].map(|(joined, taken)| (ms(joined), ms(taken))).into();
        let delays = [4, 5, 8, 9, 12].map(|now| {
            pie.take_until(ms(now));
            pie.delays[0].as_nanos() / 1_000_000
        });
        assert_eq!(delays, [0, 5, 5, 0, 0]);
        assert_eq!(pie.waiting.len(), 1);
    }

    #[test]
    fn the_limit_counts_those_that_wait_and_the_packet_itself() {
        let limited = |limit, offers: u64| {
            let queue = QueueConfig::Pie(Pie { limit, ..PIE });
            let mut link = link(&LinkConfig { queue, ..plain() });
            let offers: Vec<_> = (0..offers).map(|number| (ms(0), data(number, 1500))).collect();
            let seen = drive(&mut link, &offers, &[ms(1)]);
            (seen.arrived.len(), seen.stats[0].drops_full, seen.stats[0].drops_aqm)
        };
        assert_eq!(limited(QueueLimit::Packets(3), 6), (4, 2, 0));
        assert_eq!(limited(QueueLimit::Bytes(Bytes::new(4500)), 6), (4, 2, 0));
        assert_eq!(limited(QueueLimit::Bytes(Bytes::new(4499)), 6), (3, 3, 0));
        // A packet that finds the transmitter free need not fit.
        assert_eq!(limited(QueueLimit::Packets(0), 2), (1, 1, 0));
    }

    #[test]
    fn an_update_moves_the_probability_by_the_delay_and_its_growth() {
        let ms = Duration::from_millis;
        let after = |probability, delays| {
            let mut pie = State { probability, delays, ..state() };
            pie.update();
            pie.probability
        };
        // (0.125 × 25 ms + 1.25 × 40 ms) at a 2048th below 10⁻⁶, a half below a tenth, whole above.
        let close = |found: f64, wanted: f64| assert!((found - wanted).abs() < 1e-12, "{found} for {wanted}");
        close(after(0.0, [ms(40), ms(0)]), 0.053_125 / 2048.0);
        close(after(0.05, [ms(40), ms(20)]), 0.05 + (0.003_125 + 0.025) / 2.0);
        close(after(0.2, [ms(40), ms(39)]), 0.2 + 0.003_125 + 0.001_25);
        // Two hundredths at most there, and as much again at 250 ms.
        close(after(0.2, [ms(240), ms(0)]), 0.22);
        close(after(0.1, [ms(240), ms(0)]), 0.12);
        close(after(0.2, [ms(250), ms(0)]), 0.24);
        // An empty queue takes a 64th off, and no probability is below 0.
        close(after(0.5, [ms(0), ms(0)]), (0.5 - 0.125 * 0.015) * 63.0 / 64.0);
        close(after(1e-7, [ms(0), ms(10)]), 0.0);
    }

    #[test]
    fn an_overload_of_a_quarter_loses_a_fifth_and_waits_for_the_target() {
        let queue = QueueConfig::Pie(PIE);
        let rate = BitRate::from_bps(12_000_000);
        let mut link = link(&LinkConfig { rate, delay: Duration::ZERO, queue, ..plain() });
        let offers = overload(60);
        let seen = drive(&mut link, &offers, &[]);
        // No update before half a second: 125 ms are waiting then.
        assert!(seen.dropped[0].0 > ms(500), "{:?}", seen.dropped[0]);
        let late = seen.dropped.iter().filter(|(at, _)| *at >= ms(30_000)).count();
        assert!((7200..7800).contains(&late), "{late} of 37500");
        let waits = seen
            .arrived
            .iter()
            .filter(|(at, _)| *at >= ms(30_000))
            .map(|(at, number)| *at - offers[*number as usize].0);
        let waits: Vec<u64> = waits.map(|wait| wait.as_nanos() - 1_000_000).collect();
        let mean = waits.iter().sum::<u64>() / waits.len() as u64;
        assert!((14_000_000..16_000_000).contains(&mean), "{mean}");
        assert!(waits.iter().all(|wait| *wait < 40_000_000));
    }

    #[test]
    fn a_burst_passes_that_follows_an_idle_time() {
        let mut pie = State { probability: 1.0, delays: [PIE.target; 2], ..state() };
        pie.waiting = (1..=160).map(|place| (at(0), at(place * 1_000_000))).collect();
        // The allowance is used up by 150 ms between packets taken, from the first one on.
        pie.take_until(at(150_000_000));
        assert!(!pie.drops_early(FEW_BYTES));
        pie.take_until(at(151_000_000));
        assert!(pie.drops_early(FEW_BYTES));
        assert_eq!(pie.delays[0], Duration::from_millis(151));
    }

    #[test]
    fn packets_are_marked_up_to_a_tenth_and_one_after_the_other_where_it_was_certain() {
        let config = Pie { ecn: true, ..PIE };
        let mark = |pie: State, flow| {
            let mut pie = pie;
            let mut packet = TestPacket { flow, ..data(0, 1500) };
            let joins = pie.admits_marked(at(0), &mut packet, &Backlog::default());
            assert_eq!(joins, packet.number == MARKED);
            (joins, pie.sum)
        };
        let refused = |probability, sum_before| State {
            probability,
            sum_before,
            config,
            reason: DropReason::Aqm,
            ..state()
        };
        assert_eq!(mark(refused(0.1, 0.9), ECT), (true, 0.0));
        assert_eq!(mark(refused(0.1, 8.5), ECT), (true, 8.5));
        assert_eq!(mark(refused(0.11, 0.9), ECT), (false, 0.0));
        assert_eq!(mark(refused(0.1, 8.5), 1), (false, 0.0));
        assert_eq!(mark(State { reason: DropReason::Full, ..refused(0.1, 0.9) }, ECT), (false, 0.0));
        assert_eq!(mark(State { config: PIE, ..refused(0.1, 0.9) }, ECT), (false, 0.0));
    }
}
