//! Timers: retransmission, probes of a closed window, keepalive, and the ends of states.
//!
//! Models Linux's one transmission timer, which stands for the retransmission timeout, a tail loss probe, RACK's wait for
//! late segments, or a window probe. The delayed ACK belongs to the receiver. Another timer serves the SYN-ACK,
//! keepalive, FIN_WAIT_2 and TIME_WAIT. A connection needs only one of them at a time. These run on the timer wheel. The timer of
//! [`pacing`](super::pacing) runs to the nanosecond.
//!
//! Source: Linux 6.18 `tcp_timer.c`; `inet_connection_sock.c`, `reqsk_timer_handler()`; `tcp_output.c`,
//! `tcp_send_probe0()`, `tcp_write_wakeup()`; RFC 6298, section 5; RFC 5482 for the user timeout.

use super::connection::Connection;
use super::receive::AckDue;
use crate::tcp::state::{CloseReason, Emit, State};
use crate::units::{Duration, Instant, When};

/// Meaning of the transmission timer (`icsk_pending`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Pending {
    #[default]
    Retransmit,
    LossProbe,
    Reordering,
    WindowProbe,
}

/// Deadlines of a connection.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Timers {
    transmission: When,
    pending: Pending,
    /// The SYN-ACK goes out again, the connection was idle, or FIN_WAIT_2 or TIME_WAIT ends.
    state: When,
    /// Departure of a segment that pacing holds back.
    pub(super) pacing: When,
}

/// Probing of a window that is closed.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ZeroWindow {
    /// Probes without an answer.
    pub(super) probes: u32,
    /// Doublings of the interval.
    backoff: u32,
    /// Jiffy of the first probe since the window was open (`icsk_probes_tstamp`), 0 before it.
    since: u64,
}

impl Timers {
    pub(super) fn pending(&self) -> Option<Pending> {
        (!self.transmission.is_never()).then_some(self.pending)
    }

    pub(super) const fn cancel_transmission(&mut self) {
        self.transmission = When::NEVER;
    }

    pub(super) const fn cancel_state(&mut self) {
        self.state = When::NEVER;
    }

    /// True while pacing holds a segment back.
    pub(super) const fn waits_for_departure(&self) -> bool {
        !self.pacing.is_never()
    }

    /// The earliest deadline.
    fn earliest(&self) -> When {
        self.transmission.min(self.state).min(self.pacing)
    }
}

impl Connection {
    /// When [`on_timeout`](Self::on_timeout) has something to do. `None` when nothing is pending.
    #[must_use]
    pub fn next_timeout(&self) -> Option<Instant> {
        self.no_timeout_before().get()
    }

    /// No timer is due before this: [`next_timeout`](Self::next_timeout) itself.
    #[inline]
    #[must_use]
    pub fn no_timeout_before(&self) -> When {
        match self.receive.ack_due() {
            AckDue::At(at) if self.state != State::Closed => self.timers.earliest().min(When::at(at)),
            _ => self.timers.earliest(),
        }
    }

    /// Runs the timers that are due. May be called early or for nothing.
    pub fn on_timeout(&mut self, now: Instant, out: &mut impl Emit) {
        self.clock.advance(now);
        if let AckDue::At(at) = self.receive.ack_due()
            && at <= now
            && self.state != State::Closed
        {
            self.receive.on_delayed_ack_timer(&self.clock, &self.profile);
            self.send_due_ack(out);
        }
        if self.timers.state.is_by(now) {
            self.timers.cancel_state();
            self.on_state_expiry(out);
        }
        if self.timers.transmission.is_by(now) {
            self.on_transmission_expiry(self.timers.pending, out);
        }
        if self.timers.pacing.is_by(now) {
            self.on_departure(out);
        }
    }

    /// Sends an ACK if one is due.
    pub(super) fn send_due_ack(&mut self, out: &mut impl Emit) {
        if self.receive.ack_due() == AckDue::Now {
            self.send_ack(out);
        }
    }

    fn on_transmission_expiry(&mut self, pending: Pending, out: &mut impl Emit) {
        match pending {
            Pending::Reordering => self.on_reordering_expiry(out),
            Pending::LossProbe => self.on_probe_expiry(out),
            Pending::Retransmit => {
                self.timers.cancel_transmission();
                self.on_retransmit_expiry(out);
            }
            Pending::WindowProbe => {
                self.timers.cancel_transmission();
                self.on_window_probe_expiry(out);
            }
        }
        if self.state != State::Closed {
            self.check_space(out);
        }
    }

    /// Sets the transmission timer to expire after `wait`, for `pending` in place of its last purpose.
    pub(super) fn set_transmission(&mut self, pending: Pending, wait: Duration) {
        let wait = wait.min(self.profile.rto_max);
        self.timers.pending = pending;
        self.timers.transmission = When::at(self.clock.wheel_deadline(self.clock.jiffies_in(wait)));
    }

    /// The same, with `wait` counted from the next departure.
    #[inline]
    pub(super) fn set_paced_transmission(&mut self, pending: Pending, mut wait: Duration) {
        if self.congestion.paces() {
            wait += self.ticks_until_departure();
        }
        self.set_transmission(pending, wait);
    }

    pub(super) fn set_state_timer(&mut self, wait: Duration) {
        self.timers.state = When::at(self.clock.wheel_deadline(self.clock.jiffies_in(wait)));
    }

    /// Sets the timer for the flight: a probe if one is allowed, else the retransmission timeout.
    pub(super) fn set_transmit_timer(&mut self) {
        if !self.schedule_probe(true) {
            self.rearm_rto();
        }
    }

    /// Time left until the retransmission timeout, as counted from the transmission of the first segment. Zero if it is
    /// over.
    pub(super) fn until_rto(&self) -> Duration {
        let Some(front) = self.queue.front() else { return Duration::ZERO };
        // The kernel counts the timeout in ticks.
        let rto = self.profile.jiffy * self.rtt.rto_ticks();
        (front.sent_at + rto).saturating_since(self.clock.now())
    }

    /// Sets the retransmission timer anew. One that stands for a probe of some kind goes on from where it was.
    pub(super) fn rearm_rto(&mut self) {
        if self.queue.is_empty() {
            self.timers.cancel_transmission();
            return;
        }
        let wait = match self.timers.pending() {
            Some(Pending::Reordering | Pending::LossProbe) => self.until_rto().max(Duration::from_micros(1)),
            _ => self.rtt.rto(),
        };
        self.set_paced_transmission(Pending::Retransmit, wait);
    }

    /// The flight was not acknowledged in time: the first segment goes again, with a window of one segment.
    fn on_retransmit_expiry(&mut self, out: &mut impl Emit) {
        if self.queue.is_empty() {
            return;
        }
        let is_opening = matches!(self.state, State::SynSent | State::SynReceived);
        let is_window_probe = self.snd_wnd == 0 && !self.detached && !is_opening;
        if is_window_probe {
            // The window was shut on bytes in flight: the connection lives as long as probes are answered.
            if self.is_shut_out() {
                self.finish(CloseReason::TimedOut, out);
                return;
            }
            self.enter_loss();
        } else {
            if self.is_given_up() {
                self.finish(CloseReason::TimedOut, out);
                return;
            }
            self.enter_loss();
            self.timeouts += 1;
            self.recovery.timeouts_in_a_row += 1;
        }
        self.transmit_again(self.queue.first_id(), true, out);
        let is_linear =
            self.state == State::SynSent && self.timeouts <= u64::from(self.profile.syn_linear_timeouts);
        if !is_linear {
            self.rtt.back_off(&self.profile);
        }
        let wait = self.rtt.rto();
        self.set_transmission(Pending::Retransmit, self.within_user_timeout(wait, self.sent_again_for()));
    }

    /// `wait`, shortened to the end of the user timeout, with `elapsed` of it passed.
    fn within_user_timeout(&self, wait: Duration, elapsed: Duration) -> Duration {
        match self.profile.user_timeout {
            Duration::ZERO => wait,
            patience => wait.min((patience - elapsed.min(patience)).max(self.profile.jiffy)),
        }
    }

    /// Time since the first segment in flight was sent again for the first time, or sent where it was not.
    fn sent_again_for(&self) -> Duration {
        match (self.recovery.undo.first_retransmit, self.queue.front()) {
            (Some(start), _) => {
                Duration::from_millis(u64::from(self.clock.timestamp_ms().wrapping_sub(start)))
            }
            (None, Some(front)) => self.clock.now().saturating_since(front.sent_at),
            (None, None) => Duration::ZERO,
        }
    }

    /// True when nothing was heard for more than twice the longest timeout, and the flight was sent again for as long
    /// (`tcp_rtx_probe0_timed_out()`).
    fn is_shut_out(&self) -> bool {
        let (sent_again_for, mut limit) = (self.sent_again_for(), self.profile.rto_max * 2);
        let patience = self.profile.user_timeout;
        if patience > Duration::ZERO {
            if sent_again_for > patience {
                return true;
            }
            limit = limit.min(patience);
        }
        self.ticks_since(self.heard_at) > self.clock.jiffies_in(limit) && sent_again_for > limit
    }

    /// True after so many unanswered timeouts in a row that the peer counts as gone.
    fn is_given_up(&self) -> bool {
        let timeouts = self.recovery.timeouts_in_a_row;
        let profile = &self.profile;
        match self.state {
            State::SynSent => {
                timeouts >= profile.syn_retries + profile.syn_linear_timeouts
                    || self.is_unanswered_for(profile.syn_retries, profile.rto_initial)
            }
            State::SynReceived => {
                timeouts >= profile.syn_retries
                    || self.is_unanswered_for(profile.syn_retries, profile.rto_initial)
            }
            _ if self.detached => self.is_unanswered_for(profile.orphan_retries, profile.rto_min),
            _ => self.is_unanswered_for(profile.retries_max, profile.rto_min),
        }
    }

    /// True when as much time has passed as `retries` timeouts take that double from `base` on (`tcp_model_timeout()`), or as the user
    /// timeout is, where there is one.
    fn is_unanswered_for(&self, retries: u32, base: Duration) -> bool {
        if self.recovery.undo.first_retransmit.is_none() || self.recovery.timeouts_in_a_row == 0 {
            return false;
        }
        if self.profile.user_timeout > Duration::ZERO {
            return self.sent_again_for() >= self.profile.user_timeout;
        }
        let rto_max = self.profile.rto_max;
        let doublings = (rto_max.as_nanos() / base.as_nanos().max(1)).max(1).ilog2();
        let doubling = base * ((2_u64 << retries.min(doublings)) - 1);
        self.sent_again_for() >= doubling + rto_max * u64::from(retries.saturating_sub(doublings))
    }

    /// Data waits, nothing is in flight, and the window has no room for it.
    pub(super) fn set_window_probe(&mut self) {
        let base = self.rtt.rto().max(self.profile.rto_min);
        let doublings =
            (self.profile.rto_max.as_nanos() / self.profile.rto_min.as_nanos().max(1)).max(1).ilog2() + 1;
        let mut wait = base * (1 << self.zero_window.backoff.min(doublings));
        if self.zero_window.since > 0 {
            wait = self.within_user_timeout(wait, self.probed_for());
        }
        self.set_paced_transmission(Pending::WindowProbe, wait);
    }

    /// Time since the window was probed for the first time.
    fn probed_for(&self) -> Duration {
        self.profile.jiffy * self.ticks_since(self.zero_window.since)
    }

    /// An ACK while nothing is in flight: the window is open for the next segment, or is probed on.
    pub(super) fn on_window_probe_answer(&mut self) {
        if !self.unsent_segment_waits() {
            return;
        }
        if self.is_next_in_window() {
            self.zero_window.backoff = 0;
            self.zero_window.since = 0;
            if self.timers.pending() == Some(Pending::WindowProbe) {
                self.timers.cancel_transmission();
            }
        } else {
            self.set_window_probe();
        }
    }

    /// Probes the window: with what fits, or with a number that the peer has seen.
    fn on_window_probe_expiry(&mut self, out: &mut impl Emit) {
        if !self.queue.is_empty() || !self.unsent_segment_waits() {
            self.zero_window.probes = 0;
            self.zero_window.since = 0;
            return;
        }
        if self.zero_window.since == 0 {
            self.zero_window.since = self.clock.jiffies();
        } else if self.profile.user_timeout > Duration::ZERO && self.probed_for() >= self.profile.user_timeout
        {
            self.finish(CloseReason::TimedOut, out);
            return;
        }
        let probes_max = if self.detached { self.profile.orphan_retries } else { self.profile.retries_max };
        if self.zero_window.probes >= probes_max {
            self.finish(CloseReason::TimedOut, out);
            return;
        }
        let edge = self.snd_una + self.snd_wnd;
        if self.snd_nxt < edge {
            let (whole, has_fin) = self.next_segment();
            let len = whole.min(edge - self.snd_nxt);
            self.send.push_next(self.snd_nxt + len);
            self.transmit_new(len, has_fin && self.snd_nxt + whole < edge, out);
            self.rearm_rto();
            self.zero_window = ZeroWindow::default();
            return;
        }
        self.send_old_number(out);
        self.zero_window.probes += 1;
        self.zero_window.backoff = (self.zero_window.backoff + 1).min(self.profile.retries_max);
        self.set_window_probe();
    }

    fn on_state_expiry(&mut self, out: &mut impl Emit) {
        match self.state {
            State::SynReceived => self.on_request_expiry(out),
            State::Established | State::CloseWait => self.on_keepalive_expiry(out),
            State::FinWait2 | State::TimeWait => self.finish(CloseReason::Finished, out),
            _ => {}
        }
    }

    /// Starts the watch over an idle connection, if it is wanted.
    pub(super) fn start_keepalive(&mut self) {
        self.timers.cancel_state();
        if self.profile.keepalive {
            self.set_state_timer(self.profile.keepalive_idle);
        }
    }

    fn on_keepalive_expiry(&mut self, out: &mut impl Emit) {
        let (idle, interval) = (self.profile.keepalive_idle, self.profile.keepalive_interval);
        if !self.queue.is_empty() || self.unsent_segment_waits() {
            // Data about to be sent shows if the peer lives.
            self.set_state_timer(idle);
            return;
        }
        let silence = self.profile.jiffy * self.ticks_since(self.heard_at);
        if silence < idle {
            self.keepalive_probes = 0;
            self.set_state_timer(idle - silence);
            return;
        }
        let is_given_up = match self.profile.user_timeout {
            Duration::ZERO => self.keepalive_probes >= self.profile.keepalive_probes,
            patience => self.keepalive_probes > 0 && silence >= patience,
        };
        if is_given_up {
            self.drop_connection(CloseReason::TimedOut, out);
            return;
        }
        self.keepalive_probes += 1;
        self.send_old_number(out);
        self.set_state_timer(interval);
    }

    /// The application is gone and our FIN is acknowledged: the peer has so much time to finish too.
    pub(super) fn set_fin_wait_2_timer(&mut self) {
        // At least three and a half timeouts (`tcp_fin_time()`).
        let patience = self.rtt.rto().mul_div(7, 2);
        self.set_state_timer(self.profile.fin_wait_2_timeout.max(patience));
    }

    /// (Re)starts TIME_WAIT. Nothing else runs there.
    pub(super) fn enter_time_wait(&mut self) {
        self.state = State::TimeWait;
        self.timers.cancel_transmission();
        self.set_state_timer(self.profile.time_wait);
    }
}
