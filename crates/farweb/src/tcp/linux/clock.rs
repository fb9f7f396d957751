//! The kernel's clock: ticks, the timer wheel, and the clock of timestamps.
//!
//! Models the jiffies of a host that was started [`HostClock::uptime`] before the run, and the rounding of its timer wheel.
//! A timer never runs early: it runs at the tick after the one that it names, when a tick's length has surely
//! passed. The farther away it is, the coarser the wheel: up to 62 ticks to the tick, up to 503 ticks to 8
//! ticks, and so on by factors of 8. At 4 ms a tick, timers below 252 ms run up to 4 ms late, those below 2 s
//! up to 36 ms.
//! Leaves out the time that running timers takes, and a wheel that an idle processor has left behind.
//!
//! Source: Linux 6.18 `kernel/time/timer.c`, `calc_wheel_index()`, `calc_index()`; `include/net/tcp.h`,
//! `tcp_time_stamp_ms()`.

use super::profile::Profile;
use crate::tcp::host::HostClock;
use crate::units::{Duration, Instant};

/// Levels of the timer wheel at 250 ticks a second (`LVL_DEPTH`: 9 above 100 Hz).
const LEVELS: u32 = 9;
/// Fewest ticks that put a timer into the second level. Each level after it begins 8 times as far away.
const SECOND_LEVEL: u64 = 63;
/// Each level is 2 to this power coarser than the one before (`LVL_CLK_SHIFT`).
const LEVEL_SHIFT: u32 = 3;

/// Time as the kernel of a host counts it.
#[derive(Debug, Clone)]
pub(super) struct Clock {
    /// Time that the host has been up when the simulation begins.
    uptime: Duration,
    jiffy: Duration,
    /// The instant of the call that is being answered.
    now: Instant,
    /// Ticks of the kernel up to `now`, and when the next comes.
    jiffies: u64,
    next_jiffy: Instant,
}

impl Clock {
    pub(super) fn new(now: Instant, host: HostClock, profile: &Profile) -> Self {
        let (uptime, jiffy) = (host.uptime, profile.jiffy);
        let mut clock = Self { uptime, jiffy, now, jiffies: 0, next_jiffy: Instant::ZERO };
        clock.advance(now);
        clock
    }

    /// A call comes at `now`.
    pub(super) fn advance(&mut self, now: Instant) {
        debug_assert!(now >= self.now, "time goes back from {} to {now}", self.now);
        self.now = now;
        if now >= self.next_jiffy {
            self.jiffies = self.since_boot(now) / self.jiffy.as_nanos();
            self.next_jiffy = self.instant_of(self.jiffies + 1);
        }
    }

    /// The instant of the call that is being answered.
    pub(super) const fn now(&self) -> Instant {
        self.now
    }

    /// Ticks of the kernel up to now (`jiffies`).
    pub(super) const fn jiffies(&self) -> u64 {
        self.jiffies
    }

    const fn since_boot(&self, at: Instant) -> u64 {
        self.uptime.as_nanos() + at.as_nanos()
    }

    /// When the tick `jiffies` begins, which must not be before the run.
    const fn instant_of(&self, jiffies: u64) -> Instant {
        Instant::from_nanos(jiffies * self.jiffy.as_nanos() - self.uptime.as_nanos())
    }

    /// Ticks in `span`, rounded up (`usecs_to_jiffies()`).
    pub(super) const fn jiffies_in(&self, span: Duration) -> u64 {
        span.as_nanos().div_ceil(self.jiffy.as_nanos())
    }

    /// The span of `jiffies` ticks.
    pub(super) fn span(&self, jiffies: u64) -> Duration {
        self.jiffy * jiffies
    }

    /// When a timer that is set now for `ticks` runs.
    #[inline]
    pub(super) const fn wheel_deadline(&self, ticks: u64) -> Instant {
        if ticks < SECOND_LEVEL {
            self.instant_of(self.jiffies + ticks + 1)
        } else {
            self.coarse_deadline(ticks)
        }
    }

    /// The same on a level of the wheel that is coarser than a tick.
    const fn coarse_deadline(&self, ticks: u64) -> Instant {
        let level = (ticks / SECOND_LEVEL).ilog2() / LEVEL_SHIFT + 1;
        let shift = LEVEL_SHIFT * if level < LEVELS { level } else { LEVELS - 1 };
        self.instant_of((((self.jiffies + ticks) >> shift) + 1) << shift)
    }

    /// Reading of the clock of timestamps now, in milliseconds (`TCP_TS_HZ` 1000).
    pub(super) const fn timestamp_ms(&self) -> u32 {
        self.timestamp_ms_at(self.now)
    }

    /// Its reading at `at`.
    pub(super) const fn timestamp_ms_at(&self, at: Instant) -> u32 {
        (self.since_boot(at) / 1_000_000) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn micros(micros: u64) -> Instant {
        Instant::from_nanos(micros * 1000)
    }

    /// A clock at `now` of a host that had been up for `uptime`, both in microseconds.
    fn clock(uptime: u64, now: u64) -> Clock {
        let host = HostClock { uptime: Duration::from_micros(uptime), ..HostClock::default() };
        Clock::new(micros(now), host, &Profile::linux())
    }

    /// When a timer runs that is set at `now` for `millis`.
    fn deadline(uptime: u64, now: u64, millis: u64) -> Instant {
        let clock = clock(uptime, now);
        clock.wheel_deadline(clock.jiffies_in(Duration::from_millis(millis)))
    }

    #[test]
    fn ticks_count_from_when_the_host_was_started() {
        let mut clock = clock(1_000_001_000, 0);
        assert_eq!((clock.jiffies(), clock.timestamp_ms()), (250_000, 1_000_001));
        clock.advance(micros(2999));
        assert_eq!(clock.jiffies(), 250_000);
        clock.advance(micros(3000));
        assert_eq!(clock.jiffies(), 250_001);
    }

    #[test]
    fn a_near_timer_runs_at_the_tick_after_its_own() {
        // 40 ms are 10 ticks. Set 1 ms into a tick, it runs 11 ticks after the start of that tick.
        assert_eq!(deadline(0, 1000, 40), micros(44_000));
        assert_eq!(deadline(1000, 0, 40), micros(43_000));
        // Exactly on a tick as well: the tick may be about to end.
        assert_eq!(deadline(0, 0, 40), micros(44_000));
        assert_eq!(deadline(0, 0, 1), micros(8000));
    }

    #[test]
    fn farther_timers_run_on_coarser_grids() {
        // 62 ticks: the last on the finest grid. 63: on a grid of 32 ms.
        assert_eq!(deadline(0, 1000, 248), micros(252_000));
        assert_eq!(deadline(0, 1000, 252), micros(256_000));
        assert_eq!(deadline(0, 5000, 252), micros(288_000));
        assert_eq!(deadline(0, 1000, 1000), micros(1_024_000));
        // 503 ticks are on that grid too, 504 on one of 256 ms, 4032 on one of 2.048 s.
        assert_eq!(deadline(0, 0, 503 * 4), micros(2_016_000));
        assert_eq!(deadline(0, 0, 504 * 4), micros(2_048_000));
        assert_eq!(deadline(0, 0, 60_000), micros(61_440_000));
    }

    proptest! {
        #[test]
        fn a_timer_is_never_early_and_at_most_an_eighth_late(
            uptime in 0..100_000_000_000_u64, now in 0..1_000_000_000_000_u64, timeout in 1..200_000_000_000_u64,
        ) {
            let (now, timeout) = (Instant::from_nanos(now), Duration::from_nanos(timeout));
            let mut clock = clock(uptime, 0);
            clock.advance(now);
            let deadline = clock.wheel_deadline(clock.jiffies_in(timeout));
            let late = deadline - (now + timeout);
            let tick = Duration::from_millis(4);
            prop_assert!(late <= tick + tick + timeout.mul_div(1, 7));
            prop_assert_eq!((deadline.as_nanos() + uptime * 1000) % 4_000_000, 0);
        }
    }
}
