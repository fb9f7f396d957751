//! The kernel's clock: ticks, the timer wheel, and the clock of timestamps.
//!
//! Source: Linux 6.18 `kernel/time/timer.c` (`calc_wheel_index()`, `calc_index()`), `include/net/tcp.h` (`tcp_time_stamp_ms()`).

use super::profile::Profile;
use crate::tcp::HostClock;
use crate::units::{Duration, Instant};

/// Time as the kernel of a host counts it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    /// How long the host has been up at the start of the run.
    uptime: Duration,
    jiffy: Duration,
}

impl Clock {
    pub(super) const fn new(host: HostClock, profile: &Profile) -> Self {
        // `HostClock::uptime` comes with the restructured endpoint; until then every host has just been started.
        let _ = host;
        Self { uptime: Duration::ZERO, jiffy: profile.jiffy }
    }

    /// Ticks of the kernel up to `now` (`jiffies`).
    pub(super) fn jiffies(&self, now: Instant) -> u64 {
        (self.uptime.as_nanos() + now.as_nanos()) / self.jiffy.as_nanos()
    }

    /// Whole ticks in `span`, rounded up as `usecs_to_jiffies()` does.
    pub(super) const fn jiffies_in(&self, span: Duration) -> u64 {
        span.as_nanos().div_ceil(self.jiffy.as_nanos())
    }

    /// When a timer that is set at `now` for `timeout` runs.
    pub(super) fn wheel_deadline(&self, now: Instant, timeout: Duration) -> Instant {
        now + timeout
    }

    /// The clock that goes into timestamps, in milliseconds.
    pub(super) const fn timestamp_ms(&self, now: Instant) -> u32 {
        ((self.uptime.as_nanos() + now.as_nanos()) / 1_000_000) as u32
    }
}
