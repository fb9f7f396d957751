//! Values that all connections of a profile share: its constants, and those durations that every segment needs in ticks.
//!
//! Models how Linux rounds its timeouts to jiffies.
//! Leaves out those that only a rare event needs: they are rounded where it happens.
//!
//! Source: Linux 6.18 `include/net/tcp.h` (`TCP_DELACK_MIN`, `TCP_DELACK_MAX`), `tcp_output.c`, `tcp_send_delayed_ack()`,
//! `tcp_delack_max()`.

use std::ops::Deref;

use super::profile::Profile;
use crate::units::Duration;

/// Longest delay of an ACK where neither dialogue nor push is known (`HZ / 2` in `tcp_send_delayed_ack()`).
const DELAY_MAX_UNKNOWN: Duration = Duration::from_millis(500);

/// A profile as connections use it.
#[derive(Debug, Clone, PartialEq)]
pub struct SharedProfile {
    profile: Profile,
    pub(super) jiffies: Jiffies,
}

/// Durations in ticks of [`Profile::jiffy`].
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Jiffies {
    pub(super) delayed_ack_min: u64,
    pub(super) delayed_ack_max: u64,
    /// Longest delay of an ACK where neither dialogue nor push is known.
    pub(super) delayed_ack_unknown: u64,
    /// Longest delay of any ACK: below the timeout of the peer.
    pub(super) delayed_ack_limit: u64,
}

impl SharedProfile {
    /// Shares `profile`. Its constants need not be in range yet.
    #[must_use]
    pub fn new(profile: Profile) -> Self {
        let jiffy = profile.jiffy.as_nanos().max(1);
        let jiffies = |span: Duration| span.as_nanos().div_ceil(jiffy);
        let below_rto = profile.rto_min.as_nanos().saturating_sub(jiffy).max(jiffy);
        let jiffies = Jiffies {
            delayed_ack_min: jiffies(profile.delayed_ack_min),
            delayed_ack_max: jiffies(profile.delayed_ack_max),
            delayed_ack_unknown: jiffies(DELAY_MAX_UNKNOWN),
            delayed_ack_limit: jiffies(profile.delayed_ack_max.min(Duration::from_nanos(below_rto))),
        };
        Self { profile, jiffies }
    }
}

impl Deref for SharedProfile {
    type Target = Profile;

    fn deref(&self) -> &Profile {
        &self.profile
    }
}
