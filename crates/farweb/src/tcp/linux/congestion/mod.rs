//! Congestion control: how much may fly, in segments. What is lost is the matter of recovery.
//!
//! Models what Linux's modules are asked: to look at the delay of an ACK, to grow the window, to say how far it shrinks.
//! The window itself belongs to the connection, because recovery changes it too. Leaves out pacing, which neither Reno
//! nor CUBIC asks for by itself, and ECN.
//!
//! Source: Linux 6.18 `tcp_cong.c`; `include/net/tcp.h`, `struct tcp_congestion_ops`.

mod cubic;
mod hystart;
mod hystart_plus;
mod reno;

use cubic::Cubic;

use super::clock::Clock;
use super::profile::{CongestionControl, Profile};
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
    pub(super) snd_una: u64,
    pub(super) snd_nxt: u64,
    /// Whether cwnd, and not the application or the peer's window, has limited sending.
    pub(super) cwnd_limited: bool,
}

/// The congestion control of a connection.
#[derive(Debug, Clone)]
pub(super) enum Congestion {
    /// RFC 5681.
    Reno,
    /// RFC 9438.
    Cubic(Cubic),
}

impl Window {
    pub(super) const fn new(profile: &Profile) -> Self {
        Self { cwnd: profile.initial_cwnd_segments, ssthresh: SSTHRESH_INFINITE, cwnd_cnt: 0 }
    }

    pub(super) const fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Grows by `acked` segments, but not beyond ssthresh. Gives those that are left over (`tcp_slow_start()`).
    fn slow_start(&mut self, acked: u32) -> u32 {
        let growth = acked.min(self.ssthresh - self.cwnd);
        self.cwnd += growth;
        acked - growth
    }

    /// Grows by one for every `per_segment` segments acknowledged (`tcp_cong_avoid_ai()`).
    const fn avoid(&mut self, per_segment: u32, acked: u32) {
        // What was gathered for a larger step is spent at once, but gives no more than one.
        if self.cwnd_cnt >= per_segment {
            self.cwnd_cnt = 0;
            self.cwnd += 1;
        }
        self.cwnd_cnt += acked;
        self.cwnd += self.cwnd_cnt / per_segment;
        self.cwnd_cnt %= per_segment;
    }
}

impl Congestion {
    pub(super) fn new(profile: &Profile, clock: Clock) -> Self {
        match profile.congestion_control {
            CongestionControl::Reno => Self::Reno,
            CongestionControl::Cubic => Self::Cubic(Cubic::new(profile, clock)),
        }
    }

    /// An ACK of new data was taken, before cwnd grows (`pkts_acked`: HyStart looks at its delay).
    pub(super) fn on_sample(&mut self, window: &mut Window, sample: &AckSample) {
        match self {
            Self::Reno => {}
            Self::Cubic(cubic) => cubic.on_sample(window, sample),
        }
    }

    /// Grows the window (`cong_avoid`).
    pub(super) fn grow(&mut self, window: &mut Window, sample: &AckSample) {
        if !sample.cwnd_limited {
            return;
        }
        match self {
            Self::Reno => reno::grow(window, sample.acked),
            Self::Cubic(cubic) => cubic.grow(window, sample.now, sample.acked),
        }
    }

    /// A loss was found: the new ssthresh.
    pub(super) fn ssthresh_after_loss(&mut self, window: &Window) -> u32 {
        match self {
            Self::Reno => reno::ssthresh_after_loss(window.cwnd),
            Self::Cubic(cubic) => cubic.ssthresh_after_loss(window.cwnd),
        }
    }

    /// The loss was none: the cwnd to go back to, `prior_cwnd` being that before it (`undo_cwnd`).
    pub(super) fn undo_cwnd(&self, window: &Window, prior_cwnd: u32) -> u32 {
        window.cwnd.max(prior_cwnd)
    }

    /// The retransmission timer expired.
    pub(super) fn on_loss_state(&mut self, now: Instant, snd_nxt: u64) {
        match self {
            Self::Reno => {}
            Self::Cubic(cubic) => cubic.on_loss_state(now, snd_nxt),
        }
    }

    /// The first segment is sent after nothing was in flight; `last_sent` is when the one before it left.
    pub(super) fn on_send_after_idle(&mut self, now: Instant, last_sent: Instant) {
        match self {
            Self::Reno => {}
            Self::Cubic(cubic) => cubic.on_send_after_idle(now, last_sent),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(cwnd: u32, ssthresh: u32) -> Window {
        Window { cwnd, ssthresh, cwnd_cnt: 0 }
    }

    #[test]
    fn slow_start_stops_at_ssthresh_and_gives_the_rest_back() {
        let mut window = window(10, 12);
        assert_eq!(window.slow_start(5), 3);
        assert_eq!((window.cwnd, window.in_slow_start()), (12, false));
    }

    #[test]
    fn avoidance_adds_one_for_each_step_of_segments() {
        let mut window = window(10, 10);
        window.avoid(10, 9);
        assert_eq!((window.cwnd, window.cwnd_cnt), (10, 9));
        window.avoid(10, 12);
        assert_eq!((window.cwnd, window.cwnd_cnt), (12, 1));
    }

    #[test]
    fn what_was_gathered_for_a_larger_step_gives_one() {
        let mut window = Window { cwnd_cnt: 35, ..window(10, 10) };
        window.avoid(10, 1);
        assert_eq!((window.cwnd, window.cwnd_cnt), (11, 1));
    }
}
