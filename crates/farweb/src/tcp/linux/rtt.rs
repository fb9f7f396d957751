//! Round-trip time and retransmission timeout.
//!
//! Source: Linux 6.18 `tcp_input.c`, `tcp_rtt_estimator()`, `tcp_set_rto()`; `include/net/tcp.h`, `__tcp_set_rto()`; RFC 6298.

use super::profile::Profile;
use crate::units::{Duration, Instant};

/// The estimator of a connection.
#[derive(Debug, Clone)]
pub(super) struct Rtt {
    rto: Duration,
}

impl Rtt {
    pub(super) const fn new(profile: &Profile) -> Self {
        Self { rto: profile.rto_initial }
    }

    /// A round trip took `rtt`; `snd_una` and `snd_nxt` are those after the ACK that shows it.
    pub(super) fn on_sample(&mut self, now: Instant, rtt: Duration, snd_una: u64, snd_nxt: u64) {
        let _ = (now, rtt, snd_una, snd_nxt);
    }

    /// The retransmission timeout in force, backed off.
    pub(super) const fn rto(&self) -> Duration {
        self.rto
    }

    /// The timeout is doubled.
    pub(super) const fn back_off(&mut self) {}

    /// The timeout is that of the estimate again.
    pub(super) const fn reset_backoff(&mut self) {}

    /// Smoothed round-trip time; `None` before the first sample.
    pub(super) const fn srtt(&self) -> Option<Duration> {
        None
    }

    /// Smallest round-trip time of the window; `None` before the first sample.
    pub(super) const fn min_rtt(&self) -> Option<Duration> {
        None
    }
}
