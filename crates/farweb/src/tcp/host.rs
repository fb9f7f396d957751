//! The clock of a host: where its timer ticks lie, which all its connections share.
//!
//! Models the phases of 4.4BSD's two grids, and the uptime of a Linux host. Leaves out drift: all clocks run
//! at one rate.
//!
//! Source: 4.4BSD-Lite `sys/kern/uipc_domain.c` (`pfslowtimo()`, `pffasttimo()`); Linux 6.18 `kernel/time/timer.c`
//! (`jiffies`).

use crate::rng::RandomStream;
use crate::units::Duration;

/// Longest time that a host has been up when a simulation begins. Chosen: long enough that every level of Linux's timer
/// wheel has a phase of its own.
const UPTIME_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// Where a host's timer ticks lie. The same for all its connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HostClock {
    /// First tick of 4.4BSD's slow grid (500 ms), below its period.
    pub slow_phase: Duration,
    /// First tick of 4.4BSD's fast grid (200 ms), below its period.
    pub fast_phase: Duration,
    /// Time since the host was started when the simulation begins. Linux counts its ticks from there.
    pub uptime: Duration,
}

impl HostClock {
    /// The clock of a host that was started at random, with slow and fast ticks of these periods.
    pub fn random(random: &mut RandomStream, slow_tick: Duration, fast_tick: Duration) -> Self {
        let mut phase = |period| random.duration_between(Duration::ZERO, period);
        Self { slow_phase: phase(slow_tick), fast_phase: phase(fast_tick), uptime: phase(UPTIME_MAX) }
    }
}
