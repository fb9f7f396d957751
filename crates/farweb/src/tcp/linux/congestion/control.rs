//! The congestion controls, behind the calls that each answers.
//!
//! Models the calls of `struct tcp_congestion_ops` that Reno and CUBIC answer, and `ssthresh` of BBR. The rest of BBR is reached
//! by [`Congestion`](super::Congestion). Leaves out nothing.
//!
//! Source: Linux 6.18 `include/net/tcp.h`, `struct tcp_congestion_ops`.

use super::super::clock::Clock;
use super::super::profile::{CongestionControl, Profile};
use super::bbr::Bbr;
use super::cubic::Cubic;
use super::window::Window;
use super::{AckSample, reno};

/// The congestion control of a connection.
#[derive(Debug, Clone)]
pub(super) enum Control {
    /// RFC 5681.
    Reno,
    /// RFC 9438.
    Cubic(Cubic),
    /// Version 1.
    Bbr(Box<Bbr>),
}

impl Control {
    /// A control that counts ACKs. In the place of BBR, which draws, stands Reno.
    #[inline]
    pub(super) const fn new(profile: &Profile) -> Self {
        match profile.congestion_control {
            CongestionControl::Reno | CongestionControl::Bbr => Self::Reno,
            CongestionControl::Cubic => Self::Cubic(Cubic::new(profile.hystart)),
        }
    }

    /// Forgets what the handshake has shown. BBR begins behind it.
    pub(super) fn renew(&mut self, profile: &Profile) {
        if let Self::Cubic(cubic) = self {
            *cubic = Cubic::new(profile.hystart);
        }
    }

    /// An ACK shows something, and the window has not grown yet (`pkts_acked`).
    #[inline]
    pub(super) fn on_sample(
        &mut self,
        clock: &Clock,
        profile: &Profile,
        window: &mut Window,
        sample: &AckSample,
    ) {
        match self {
            Self::Reno | Self::Bbr(_) => {}
            Self::Cubic(cubic) => cubic.on_sample(clock, profile, window, sample),
        }
    }

    /// `acked` segments were acknowledged while cwnd limited sending (`cong_avoid`).
    #[inline]
    pub(super) fn grow(&mut self, clock: &Clock, profile: &Profile, window: &mut Window, acked: u32) {
        match self {
            Self::Reno => reno::grow(window, acked),
            Self::Cubic(cubic) => cubic.grow(clock, profile, window, acked),
            Self::Bbr(_) => {}
        }
    }

    /// A loss was found: the new ssthresh (`ssthresh`).
    pub(super) fn ssthresh_after_loss(&mut self, profile: &Profile, window: &Window) -> u32 {
        let cwnd = window.cwnd;
        match self {
            Self::Reno => reno::ssthresh_after_loss(cwnd),
            Self::Cubic(cubic) => cubic.ssthresh_after_loss(profile, cwnd),
            Self::Bbr(bbr) => {
                bbr.save_window(cwnd);
                window.ssthresh
            }
        }
    }

    /// The retransmission timer expired (`set_state` with `TCP_CA_Loss`).
    pub(super) fn on_timeout(&mut self, clock: &Clock, snd_nxt: u64) {
        match self {
            Self::Reno | Self::Bbr(_) => {}
            Self::Cubic(cubic) => cubic.on_timeout(clock, snd_nxt),
        }
    }

    /// The first segment leaves after nothing was in flight (`cwnd_event` with `CA_EVENT_TX_START`). The one before it left in
    /// jiffy `last_sent`.
    pub(super) fn on_send_after_idle(&mut self, clock: &Clock, last_sent: u64) {
        match self {
            Self::Reno | Self::Bbr(_) => {}
            Self::Cubic(cubic) => cubic.on_send_after_idle(clock, last_sent),
        }
    }
}
