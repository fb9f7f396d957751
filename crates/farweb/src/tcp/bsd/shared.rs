//! Values that all connections of a profile share: its constants, and its durations in ticks.
//!
//! Models the rounding of 4.4BSD, which counts every duration except the delayed ACK's in ticks of the slow grid, rounded
//! up. They are counted once here, and not at every segment that sets a timer. Leaves nothing out.
//!
//! Source: 4.4BSD-Lite `tcp_timer.h` 8.1 (the `TCPTV_` constants are such counts).

use std::ops::Deref;

use super::negotiation::TIMESTAMP_AGE_MAX;
use super::profile::Profile;
use crate::units::Duration;

/// A profile as connections use it.
#[derive(Debug, Clone, PartialEq)]
pub struct SharedProfile {
    profile: Profile,
    pub(super) ticks: Ticks,
}

/// Durations of a profile in ticks of [`Profile::slow_tick`], by their names there.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ticks {
    pub(super) rto_initial: u32,
    pub(super) rttvar_initial: u32,
    pub(super) rto_min: u32,
    pub(super) rto_max: u32,
    pub(super) connect_timeout: u32,
    pub(super) msl: u32,
    pub(super) persist_min: u32,
    pub(super) persist_max: u32,
    pub(super) fin_wait_2_timeout: u32,
    pub(super) keepalive_idle: u32,
    pub(super) keepalive_interval: u32,
    pub(super) keepalive_timeout: u32,
    /// Age that makes a peer's timestamp too old to judge by.
    pub(super) timestamp_age_max: u32,
}

impl SharedProfile {
    /// Shares `profile`. Its constants need not be in range yet.
    #[must_use]
    pub fn new(profile: Profile) -> Self {
        let tick = profile.slow_tick.as_nanos().max(1);
        let ticks = |span: Duration| u32::try_from(span.as_nanos().div_ceil(tick)).unwrap_or(u32::MAX);
        let ticks = Ticks {
            rto_initial: ticks(profile.rto_initial),
            rttvar_initial: ticks(profile.rttvar_initial),
            rto_min: ticks(profile.rto_min),
            rto_max: ticks(profile.rto_max),
            connect_timeout: ticks(profile.connect_timeout),
            msl: ticks(profile.msl),
            persist_min: ticks(profile.persist_min),
            persist_max: ticks(profile.persist_max),
            fin_wait_2_timeout: ticks(profile.fin_wait_2_timeout),
            keepalive_idle: ticks(profile.keepalive_idle),
            keepalive_interval: ticks(profile.keepalive_interval),
            keepalive_timeout: ticks(profile.keepalive_timeout),
            timestamp_age_max: ticks(TIMESTAMP_AGE_MAX),
        };
        Self { profile, ticks }
    }
}

impl Deref for SharedProfile {
    type Target = Profile;

    fn deref(&self) -> &Profile {
        &self.profile
    }
}
