//! Congestion control: how much may fly, in segments. What is lost is the matter of recovery.

use super::profile::Profile;
use crate::units::{Duration, Instant};

/// `ssthresh` before the first loss (`TCP_INFINITE_SSTHRESH`).
pub(super) const SSTHRESH_INFINITE: u32 = 0x7fff_ffff;

/// The windows of a connection, in segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    /// Segments that may be in flight.
    pub(super) cwnd: u32,
    /// Window up to which growth is exponential.
    pub(super) ssthresh: u32,
    /// Segments acknowledged towards the next growth of cwnd by one.
    pub(super) cwnd_cnt: u32,
}

/// What an ACK shows.
#[derive(Debug, Clone, Copy)]
pub(super) struct AckSample {
    pub(super) now: Instant,
    /// Segments newly delivered, by ACK or SACK.
    pub(super) acked: u32,
    /// Round trip of this ACK, if it shows one.
    pub(super) rtt: Option<Duration>,
    pub(super) srtt: Option<Duration>,
    pub(super) min_rtt: Option<Duration>,
    pub(super) snd_una: u64,
    pub(super) snd_nxt: u64,
    /// Segments in flight before the ACK.
    pub(super) in_flight: u32,
    /// Whether cwnd, and not the application or the peer's window, has limited sending.
    pub(super) cwnd_limited: bool,
}

/// The congestion control of a connection.
#[derive(Debug, Clone)]
pub(super) enum Congestion {
    /// RFC 5681.
    Reno,
}

impl Congestion {
    pub(super) const fn new(_profile: &Profile) -> Self {
        Self::Reno
    }

    /// An ACK of new data was taken, before cwnd grows (`pkts_acked`: HyStart looks at its delay).
    pub(super) fn on_sample(&mut self, _window: &mut Window, _sample: &AckSample) {}

    /// Grows the window (`cong_avoid`).
    pub(super) fn grow(&mut self, _window: &mut Window, _sample: &AckSample) {}

    /// A loss was found: the new ssthresh.
    pub(super) fn ssthresh_after_loss(&mut self, window: &Window) -> u32 {
        (window.cwnd / 2).max(2)
    }

    /// The loss was none: the cwnd to go back to, `prior_cwnd` being that before it (`undo_cwnd`).
    pub(super) fn undo_cwnd(&self, window: &Window, prior_cwnd: u32) -> u32 {
        window.cwnd.max(prior_cwnd)
    }

    /// The retransmission timer expired.
    pub(super) const fn on_loss_state(&mut self) {}

    /// The first segment is sent after nothing was in flight; `last_sent` is when the one before it left.
    pub(super) fn on_send_after_idle(&mut self, _now: Instant, _last_sent: Instant) {}
}
