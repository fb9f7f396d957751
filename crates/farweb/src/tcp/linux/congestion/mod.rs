//! Congestion control: how much may fly, in segments. [`recovery`](super::recovery) finds losses.
//!
//! [`Congestion`] owns the window: nothing else writes cwnd, ssthresh or the count towards the next growth. The
//! connection reports events, and a [`Control`] (Reno, CUBIC, BBR) answers with a window. Another one is a file here and a
//! variant there. Beside it stand the parts common to controls: the reduction in step with deliveries ([`prr`]), the
//! fate of an unused window ([`usage`]), and the pace ([`Pacing`]). BBR models the path, and sets window and pace in place of them:
//! a control *by rate*.
//!
//! Models the changes that Linux's core makes to the window between the calls of its modules. Leaves out ECN.
//!
//! Source: Linux 6.18 `tcp_cong.c`, `tcp_input.c` (`tcp_cong_control()`, `tcp_enter_loss()`, `tcp_undo_cwnd_reduction()`),
//! `tcp_output.c` (`tcp_cwnd_restart()`); `include/net/tcp.h`, `struct tcp_congestion_ops`.

mod bbr;
mod control;
mod cubic;
mod hystart;
mod hystart_plus;
mod prr;
mod reno;
mod usage;
mod window;

use bbr::Bbr;
pub use bbr::{BbrReport, Mode as BbrMode};
pub(super) use bbr::{Event, Found, RateSample};
use control::Control;
use prr::Reduction;
pub(super) use usage::Flight;
use usage::Usage;
pub(super) use window::Window;

use super::clock::Clock;
use super::pacing::Pacing;
use super::profile::Profile;
use crate::rng::RandomStream;
use crate::units::{Duration, Instant};

/// Window after more than one lost SYN (RFC 5681, section 3.1, as Linux reads it).
const CWND_AFTER_LOST_SYN: u32 = 1;

/// The window of a connection, and the state that decides about it.
#[derive(Debug, Clone)]
pub(super) struct Congestion {
    window: Window,
    control: Control,
    reduction: Reduction,
    usage: Usage,
    /// Pace and next departure of an established connection that paces.
    pacing: Option<Box<Pacing>>,
}

/// Sample of an ACK of new data.
#[derive(Debug, Clone, Copy)]
pub(super) struct AckSample {
    /// Round trip of this ACK, if it shows one.
    pub(super) rtt: Option<Duration>,
    pub(super) snd_una: u64,
    pub(super) snd_nxt: u64,
}

impl Congestion {
    /// A control that counts ACKs. [`begin_by_rate`](Self::begin_by_rate) follows for BBR.
    #[inline]
    pub(super) fn new(clock: &Clock, profile: &Profile) -> Self {
        Self {
            window: Window::new(profile.initial_cwnd_segments),
            control: Control::new(profile),
            reduction: Reduction::NONE,
            usage: Usage::new(clock.jiffies()),
            pacing: None,
        }
    }

    /// BBR controls, which draws from `random`.
    pub(super) fn begin_by_rate(&mut self, random: RandomStream) {
        self.control = Control::Bbr(Box::new(Bbr::new(random)));
    }

    /// Segments that may be in flight.
    pub(super) const fn cwnd(&self) -> u32 {
        self.window.cwnd
    }

    /// Window where exponential growth ends. `None` before the first loss.
    pub(super) const fn ssthresh(&self) -> Option<u32> {
        if self.window.has_ssthresh() { Some(self.window.ssthresh) } else { None }
    }

    /// ssthresh as it is worth now: not below three quarters of a window that is in use (`tcp_current_ssthresh()`).
    pub(super) fn current_ssthresh(&self, is_reducing: bool) -> u32 {
        let Window { cwnd, ssthresh, .. } = self.window;
        if is_reducing { ssthresh } else { ssthresh.max(cwnd / 2 + cwnd / 4) }
    }

    /// True when another segment may leave beside those in flight.
    pub(super) const fn may_send(&self, in_flight: u32) -> bool {
        in_flight < self.window.cwnd
    }

    /// Both SYNs are acknowledged. `syn_was_lost` more than once.
    pub(super) fn on_established(&mut self, clock: &Clock, profile: &Profile, syn_was_lost: bool) {
        self.window =
            Window::new(if syn_was_lost { CWND_AFTER_LOST_SYN } else { profile.initial_cwnd_segments });
        self.pacing = profile.paces().then(|| Box::new(Pacing::new()));
        self.usage.on_window_changed(clock);
    }

    /// Forgets what the handshake has shown.
    pub(super) fn renew(&mut self, clock: &Clock, profile: &Profile) {
        self.control.renew(profile);
        self.reduction = Reduction::NONE;
        self.usage = Usage::new(clock.jiffies());
    }

    /// The first segment leaves after an empty flight. `last_sent` is the jiffy of the segment before it.
    pub(super) fn on_send_after_idle(&mut self, clock: &Clock, last_sent: u64) {
        self.control.on_send_after_idle(clock, last_sent);
    }

    /// New data was acknowledged, or SACKed. The window does not grow yet (`pkts_acked`: HyStart looks at the delay).
    pub(super) fn on_sample(&mut self, clock: &Clock, profile: &Profile, sample: &AckSample) {
        self.control.on_sample(clock, profile, &mut self.window, sample);
    }

    /// True when the control models the path and sets window and pace itself (`cong_control`).
    #[inline]
    pub(super) const fn is_by_rate(&self) -> bool {
        matches!(self.control, Control::Bbr(_))
    }

    /// Moves a control by rate by an event.
    #[cold]
    pub(super) fn on_event(&mut self, found: &Found, event: Event) {
        if let Control::Bbr(bbr) = &mut self.control {
            bbr.on_event(found, event, &mut self.window);
            self.set_pace();
        }
    }

    /// Moves a control by rate by an ACK. True while it keeps the flight small itself.
    pub(super) fn on_rate(&mut self, clock: &Clock, found: &Found, sample: &RateSample) -> bool {
        let Control::Bbr(bbr) = &mut self.control else { return false };
        let is_limiting = bbr.on_ack(found, sample, &mut self.window);
        self.usage.on_window_changed(clock);
        self.set_pace();
        is_limiting
    }

    /// The model of BBR at `now`, in microseconds, with full segments of `mss` bytes.
    pub(super) fn report(&self, now: u64, mss: u64) -> Option<BbrReport> {
        match &self.control {
            Control::Bbr(bbr) if bbr.pace() > 0 => Some(bbr.report(now, mss)),
            _ => None,
        }
    }

    /// Takes the pace of a control by rate.
    fn set_pace(&mut self) {
        if let (Control::Bbr(bbr), Some(pacing)) = (&self.control, &mut self.pacing) {
            pacing.rate = bbr.pace();
        }
    }

    /// Takes the pace of another control after an ACK (`tcp_update_pacing_rate()`).
    #[cold]
    pub(super) fn follow_pace(&mut self, mss: u64, packets_out: u32, srtt: Duration) {
        if let (Some(pacing), false) = (&mut self.pacing, matches!(self.control, Control::Bbr(_))) {
            pacing.follow(&self.window, mss, packets_out, srtt);
        }
    }

    /// True when segments leave at a pace.
    #[inline]
    pub(super) const fn paces(&self) -> bool {
        self.pacing.is_some()
    }

    /// Pace in bit/s of payload. `None` without pacing, and before the first round trip is known.
    pub(super) fn pace_bps(&self) -> Option<u64> {
        self.pacing.as_ref().map(|pacing| pacing.rate.saturating_mul(8)).filter(|rate| *rate > 0)
    }

    /// Earliest departure of the next segment. `None` without pacing.
    #[inline]
    pub(super) fn next_departure(&self) -> Option<Instant> {
        self.pacing.as_ref().map(|pacing| pacing.next())
    }

    /// A segment with `len` bytes of payload leaves at `now`. Returns its time stamp.
    #[inline]
    pub(super) fn on_departure(&mut self, now: Instant, len: u64) -> Instant {
        match &mut self.pacing {
            Some(pacing) => pacing.on_sent(now, len),
            None => now,
        }
    }

    /// Windows that the send buffer has room for (`sndbuf_expand`).
    pub(super) const fn buffered_windows(&self) -> u64 {
        if self.is_by_rate() { 3 } else { 2 }
    }

    /// An ACK made progress while nothing is wrong: the window grows where it has limited sending (`cong_avoid`).
    pub(super) fn on_progress(&mut self, clock: &Clock, profile: &Profile, acked: u32) {
        if self.is_limiting() {
            self.control.grow(clock, profile, &mut self.window, acked);
        }
        self.usage.on_window_changed(clock);
    }

    /// A loss was found: the window is going to shrink in step with deliveries.
    pub(super) fn on_loss_found(&mut self, profile: &Profile) {
        self.window.cwnd_cnt = 0;
        self.reduction = Reduction::starting_at(self.window.cwnd);
        self.window.ssthresh = self.control.ssthresh_after_loss(profile, &self.window);
    }

    /// An ACK came while the window shrinks: `delivered` more segments have arrived, and `in_flight` are out. `is_safe` when
    /// it moved and showed no new loss.
    pub(super) fn on_recovery_ack(&mut self, delivered: u32, is_safe: bool, in_flight: u32) {
        if delivered > 0 && self.reduction.has_begun() && !self.is_by_rate() {
            let quota = self.reduction.quota(delivered, is_safe, in_flight, self.window.ssthresh);
            self.window.cwnd = in_flight + quota;
        }
    }

    /// Segments were sent while the window shrinks.
    pub(super) const fn on_recovery_sent(&mut self, segments: u32) {
        self.reduction.on_sent(segments);
    }

    /// Losses are repaired.
    pub(super) const fn on_recovered(&mut self, clock: &Clock) {
        if self.window.has_ssthresh() && !self.is_by_rate() {
            self.window.cwnd = self.window.ssthresh;
            self.usage.on_window_changed(clock);
        }
    }

    /// The retransmission timer expired with `in_flight` segments still out. `is_new` when that is a loss which no episode
    /// has answered yet.
    pub(super) fn on_timeout(
        &mut self,
        clock: &Clock,
        profile: &Profile,
        is_new: bool,
        in_flight: u32,
        snd_nxt: u64,
    ) {
        if is_new {
            self.reduction.prior_cwnd = self.window.cwnd;
            self.window.ssthresh = self.control.ssthresh_after_loss(profile, &self.window);
        }
        self.window.cwnd = in_flight + 1;
        self.window.cwnd_cnt = 0;
        self.usage.on_window_changed(clock);
        self.control.on_timeout(clock, snd_nxt);
    }

    /// The loss was none: the window goes back to its old size, if there was a `prior_ssthresh` (`undo_cwnd`).
    pub(super) fn on_undo(&mut self, clock: &Clock, prior_ssthresh: Option<u32>) {
        if let Some(prior_ssthresh) = prior_ssthresh {
            if !self.is_by_rate() {
                self.window.cwnd = self.window.cwnd.max(self.reduction.prior_cwnd);
            }
            self.window.ssthresh = self.window.ssthresh.max(prior_ssthresh);
        }
        self.usage.on_window_changed(clock);
    }
}
