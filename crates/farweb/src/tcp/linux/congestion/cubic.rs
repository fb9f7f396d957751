//! CUBIC: the window follows a cubic function of the time since the last loss.
//!
//! Models Linux's module in its integers: windows in segments, time in jiffies turned into 1024ths of a second, C and beta
//! in 1024ths. It differs from RFC 9438 in that the window grows by at most one segment for every two acknowledged, by at
//! least one for every 20 while no maximum is known, and in that the friendly window grows by 8 / 15 of a segment a
//! window throughout. The cube root is exact where Linux takes one that is 0.2 % off on average. Leaves out ECN.
//!
//! Source: Linux 6.18 `tcp_cubic.c`; RFC 9438.

use super::super::clock::Clock;
use super::super::profile::{HystartKind, Profile};
use super::AckSample;
use super::hystart::Hystart;
use super::hystart_plus::HystartPlus;
use super::window::Window;
use crate::units::Duration;

/// Factor of values that profiles count in 1024ths.
const SCALE: u32 = 1024;
/// Unit of the cubic function's time: 2^10 in a second (`BICTCP_HZ`).
const TIME_SHIFT: u32 = 10;
/// Time after a loss without a look at round-trip samples.
const SETTLING: Duration = Duration::from_secs(1);
/// Time before the growth of an unchanged window is computed anew: a 32nd of a second.
const RECOMPUTE: Duration = Duration::from_micros(31_250);
/// Segments for one of growth while no maximum is known, at most: 5 % a round trip.
const STEP_MAX_UNKNOWN: u32 = 20;
/// Segments for one of growth, at least.
const STEP_MIN: u32 = 2;

/// State of CUBIC.
#[derive(Debug, Clone)]
pub(super) struct Cubic {
    /// Window before the last loss, or what fast convergence made of it. Zero before the first.
    last_max_cwnd: u32,
    /// Smallest round-trip time.
    delay_min: Option<Duration>,
    /// How the window grows beyond slow start, once it has. Most connections end before.
    avoidance: Option<Box<Avoidance>>,
    exit: SlowStartExit,
}

/// Growth in congestion avoidance.
#[derive(Debug, Clone, Default)]
struct Avoidance {
    /// Acknowledged segments that grow the window by one.
    step: u32,
    /// Window that `step` was computed for, and the jiffy of that.
    last_cwnd: u32,
    last_time: u64,
    /// Plateau of the cubic function, and its time since the epoch began, in 1024ths of a second.
    origin: u32,
    time_to_origin: u64,
    /// First jiffy of growth after a loss. `None` until then.
    epoch_start: Option<u64>,
    /// Segments acknowledged towards the growth of `friendly_cwnd`, the window that Reno would have.
    friendly_acked: u32,
    friendly_cwnd: u32,
}

#[derive(Debug, Clone)]
enum SlowStartExit {
    Off,
    Hystart(Hystart),
    HystartPlus(HystartPlus),
}

impl Cubic {
    pub(super) const fn new(hystart: HystartKind) -> Self {
        Self {
            last_max_cwnd: 0,
            delay_min: None,
            avoidance: None,
            exit: match hystart {
                HystartKind::Off => SlowStartExit::Off,
                HystartKind::Linux => SlowStartExit::Hystart(Hystart::new()),
                HystartKind::PlusPlus => SlowStartExit::HystartPlus(HystartPlus::new()),
            },
        }
    }

    pub(super) fn on_sample(
        &mut self,
        clock: &Clock,
        profile: &Profile,
        window: &mut Window,
        sample: &AckSample,
    ) {
        let Some(rtt) = sample.rtt else { return };
        if let Some(start) = self.avoidance.as_ref().and_then(|avoidance| avoidance.epoch_start)
            && clock.jiffies().saturating_sub(start) < clock.jiffies_in(SETTLING)
        {
            return;
        }
        let delay_min = self.delay_min.map_or(rtt, |min| min.min(rtt));
        self.delay_min = Some(delay_min);
        if !window.in_slow_start() {
            return;
        }
        match &mut self.exit {
            SlowStartExit::Off => {}
            SlowStartExit::Hystart(hystart) => {
                hystart.on_sample(clock.now(), profile, window, sample, rtt, delay_min);
            }
            SlowStartExit::HystartPlus(plus) => plus.on_sample(window, sample, rtt),
        }
    }

    /// `acked` segments were acknowledged while cwnd limited sending.
    pub(super) fn grow(&mut self, clock: &Clock, profile: &Profile, window: &mut Window, mut acked: u32) {
        if window.in_slow_start() {
            if let SlowStartExit::HystartPlus(plus) = &mut self.exit {
                acked = plus.growth(acked, profile.paces());
            }
            acked = window.slow_start(acked);
            if acked == 0 {
                return;
            }
        }
        let avoidance = self.avoidance.get_or_insert_default();
        avoidance.friendly_acked += acked;
        if avoidance.is_step_due(clock, window.cwnd) {
            let now = clock.jiffies();
            // The cubic function is evaluated once a jiffy at most, and at once after a loss.
            if avoidance.epoch_start.is_none() || now != avoidance.last_time {
                (avoidance.last_cwnd, avoidance.last_time) = (window.cwnd, now);
                let start = match avoidance.epoch_start {
                    Some(start) => start,
                    None => avoidance.begin_epoch(profile, window.cwnd, self.last_max_cwnd, now, acked),
                };
                let ahead = self.delay_min.map_or(0, |delay| clock.jiffies_in(delay));
                let time = clock.span(now.saturating_sub(start) + ahead);
                let step = avoidance.cubic_step(profile, window.cwnd, time);
                let is_first = self.last_max_cwnd == 0;
                avoidance.step = if is_first { step.min(STEP_MAX_UNKNOWN) } else { step };
            }
            avoidance.bound_step(profile, window.cwnd);
        }
        window.avoid(avoidance.step, acked);
    }

    pub(super) fn ssthresh_after_loss(&mut self, profile: &Profile, cwnd: u32) -> u32 {
        let beta = profile.cubic_beta_1024ths;
        if let Some(avoidance) = &mut self.avoidance {
            avoidance.epoch_start = None;
        }
        let gives_way = cwnd < self.last_max_cwnd && profile.cubic_fast_convergence;
        self.last_max_cwnd = if gives_way { cwnd * (SCALE + beta) / (2 * SCALE) } else { cwnd };
        if let SlowStartExit::HystartPlus(plus) = &mut self.exit {
            plus.end();
        }
        (cwnd * beta / SCALE).max(2)
    }

    pub(super) fn on_timeout(&mut self, clock: &Clock, snd_nxt: u64) {
        (self.last_max_cwnd, self.delay_min, self.avoidance) = (0, None, None);
        match &mut self.exit {
            SlowStartExit::Off => {}
            SlowStartExit::Hystart(hystart) => hystart.restart(clock.now(), snd_nxt),
            SlowStartExit::HystartPlus(plus) => plus.end(),
        }
    }

    /// Idle time does not count: the epoch moves on by it.
    pub(super) fn on_send_after_idle(&mut self, clock: &Clock, last_sent: u64) {
        let now = clock.jiffies();
        if let Some(start) = self.avoidance.as_mut().and_then(|avoidance| avoidance.epoch_start.as_mut()) {
            *start = (*start + now.saturating_sub(last_sent)).min(now);
        }
    }
}

impl Avoidance {
    /// True when it is time to compute anew how many segments must be acknowledged for one of growth (`bictcp_update()`).
    fn is_step_due(&self, clock: &Clock, cwnd: u32) -> bool {
        let since_last = clock.jiffies().saturating_sub(self.last_time);
        self.last_cwnd != cwnd || clock.span(since_last) > RECOMPUTE
    }

    /// An epoch begins at `now`, which it gives back.
    fn begin_epoch(&mut self, profile: &Profile, cwnd: u32, last_max_cwnd: u32, now: u64, acked: u32) -> u64 {
        self.epoch_start = Some(now);
        self.friendly_acked = acked;
        self.friendly_cwnd = cwnd;
        let below = last_max_cwnd.saturating_sub(cwnd);
        self.origin = last_max_cwnd.max(cwnd);
        // C · t^3 = segments, with C = scale / 2^10 and t in 2^-10 s: t = cbrt(segments · 2^40 / scale).
        let cubed = (1_u64 << (10 + 3 * TIME_SHIFT)) / u64::from(scale(profile));
        self.time_to_origin = cube_root(cubed * u64::from(below));
        now
    }

    /// Segments for one of growth after the cubic function, at `time` in the epoch: a round trip ahead.
    fn cubic_step(&self, profile: &Profile, cwnd: u32, time: Duration) -> u32 {
        let time = (time.as_nanos() << TIME_SHIFT) / 1_000_000_000;
        let distance = u128::from(time.abs_diff(self.time_to_origin));
        let change = (u128::from(scale(profile)) * distance.pow(3)) >> (10 + 3 * TIME_SHIFT);
        let change = u32::try_from(change).unwrap_or(u32::MAX);
        let target = if time < self.time_to_origin {
            self.origin.saturating_sub(change)
        } else {
            self.origin.saturating_add(change)
        };
        if target > cwnd { cwnd / (target - cwnd) } else { 100 * cwnd }
    }

    /// Growth is at least what Reno would have, where it is to be, and at most one segment for two.
    fn bound_step(&mut self, profile: &Profile, cwnd: u32) {
        if profile.cubic_reno_friendly {
            self.step = self.step.min(self.friendly_step(cwnd, profile.cubic_beta_1024ths));
        }
        self.step = self.step.max(STEP_MIN);
    }

    /// Segments for one of growth that bring the window to where Reno, with CUBIC's beta, would have it.
    fn friendly_step(&mut self, cwnd: u32, beta: u32) -> u32 {
        // Eighths of a window for one segment of growth: (1 + beta) / (3 (1 - beta)), in integers.
        let eighths = 8 * (SCALE + beta) / 3 / (SCALE - beta);
        let step = (cwnd * eighths) >> 3;
        while self.friendly_acked > step {
            self.friendly_acked -= step;
            self.friendly_cwnd += 1;
        }
        match self.friendly_cwnd.checked_sub(cwnd) {
            Some(behind) if behind > 0 => cwnd / behind,
            _ => u32::MAX,
        }
    }
}

/// C in 1024ths of a segment over a second cubed.
const fn scale(profile: &Profile) -> u32 {
    profile.cubic_scale * 10
}

/// Cube root, rounded down.
fn cube_root(value: u64) -> u64 {
    // Bit by bit from the top: the root of 64 bits has at most 22.
    (0..22).rev().map(|bit| 1_u64 << bit).fold(0, |root, bit| {
        let larger = root | bit;
        if larger.pow(2).checked_mul(larger).is_some_and(|cube| cube <= value) { larger } else { root }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::HostClock;
    use crate::units::Instant;

    const LINUX: Profile = Profile::linux();

    fn cubic() -> Cubic {
        Cubic::new(LINUX.hystart)
    }

    fn at(millis: u64) -> Clock {
        Clock::new(Instant::ZERO + Duration::from_millis(millis), HostClock::default(), &LINUX)
    }

    #[test]
    fn cube_roots_are_exact() {
        for (value, root) in
            [(0, 0), (1, 1), (7, 1), (8, 2), (26, 2), (27, 3), (999_999, 99), (u64::MAX, 2_642_245)]
        {
            assert_eq!(cube_root(value), root, "{value}");
        }
    }

    #[test]
    fn a_loss_leaves_seven_tenths_and_a_second_one_gives_way() {
        let mut cubic = cubic();
        assert_eq!(cubic.ssthresh_after_loss(&LINUX, 100), 70);
        assert_eq!(cubic.last_max_cwnd, 100);
        // A loss below the maximum: the next maximum is 80 · (1 + 0.7) / 2.
        assert_eq!(cubic.ssthresh_after_loss(&LINUX, 80), 56);
        assert_eq!(cubic.last_max_cwnd, 68);
        assert_eq!(cubic.ssthresh_after_loss(&LINUX, 2), 2);
    }

    #[test]
    fn the_function_reaches_its_plateau_after_the_cube_root_of_what_was_lost() {
        // 300 segments lost at C = 410 / 1024: cbrt(300 / C) = 9.0827 s, 9300 units.
        let mut avoidance = Avoidance::default();
        avoidance.begin_epoch(&LINUX, 700, 1000, 0, 1);
        assert_eq!((avoidance.origin, avoidance.time_to_origin), (1000, 9300));
        let step = |cwnd, millis| avoidance.cubic_step(&LINUX, cwnd, Duration::from_millis(millis));
        // After 2 s the target is 1000 - C · 7.0827^3 = 857.7, rounded up: 700 / 158 segments for one of growth.
        assert_eq!((step(700, 2000), step(850, 2000)), (4, 106));
        // Twice as far out it is as far above.
        assert_eq!(step(1290, 4 * 4542), 129);
    }

    #[test]
    fn without_a_maximum_a_round_trip_adds_a_twentieth() {
        let mut cubic = cubic();
        let mut window = Window { cwnd: 100, ssthresh: 50, cwnd_cnt: 0 };
        cubic.grow(&at(0), &LINUX, &mut window, 100);
        assert_eq!(window.cwnd, 105);
    }

    #[test]
    fn growth_is_at_most_one_segment_for_two() {
        let mut cubic = cubic();
        let mut window = Window { cwnd: 10, ssthresh: 5, cwnd_cnt: 0 };
        cubic.grow(&at(0), &LINUX, &mut window, 1);
        // A minute later the function is far above the window.
        cubic.grow(&at(60_000), &LINUX, &mut window, 9);
        assert_eq!(window.cwnd, 15);
    }

    #[test]
    fn idle_time_moves_the_epoch() {
        let mut cubic = cubic();
        cubic.grow(&at(1000), &LINUX, &mut Window { cwnd: 10, ssthresh: 5, cwnd_cnt: 0 }, 1);
        cubic.on_send_after_idle(&at(5000), at(2000).jiffies());
        assert_eq!(cubic.avoidance.as_ref().unwrap().epoch_start, Some(1000));
        cubic.on_send_after_idle(&at(5000), at(2000).jiffies());
        assert_eq!(cubic.avoidance.as_ref().unwrap().epoch_start, Some(1250));
    }
}
