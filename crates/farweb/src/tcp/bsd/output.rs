//! Output: the one routine that decides to send or not, and what.
//!
//! Called after every write, read and close, when a timer expires, and at the end of a segment's processing when there may
//! be something to send. Models `tcp_output` of 4.4BSD-Lite step by step, with two changes. A FIN never leaves before the
//! end of the data when options shorten the last segment (as in 4.4BSD-Lite2). And a call that sends an ACK without data
//! starts the persist timer too where data is stuck: BSD leaves that to the next call, which never comes when the ACK
//! that shut the window was the last segment in flight and the update that opens it is lost. Leaves out urgent data.
//!
//! Source: 4.4BSD-Lite `tcp_output.c` 8.3; RFC 896 (Nagle); RFC 2581, section 4.1 (restart); RFC 1122, sections 4.2.3.3 and 4.2.3.4 (silly windows).

use super::connection::Connection;
use super::profile::IdleRestart;
use super::timers::Timer;
use crate::tcp::segment::{Codepoint, Flags, ISS, Plain, Segment, TIMESTAMP_BYTES, WINDOW_FIELD_MAX};
use crate::tcp::state::{Emit, Limit, State};

/// One segment, before the decision to send it.
#[derive(Debug, Clone, Copy)]
struct Plan {
    flags: Flags,
    /// Bytes of data.
    len: u64,
    /// Bytes of data that it would have if it might go beyond the end of a write.
    joined_len: u64,
    /// Bytes in the send buffer before and from the first byte of the segment: `offset` and `queued - offset`.
    offset: u64,
    queued: u64,
    /// True when the window allows another segment after this one.
    more: bool,
}

impl Connection {
    /// Sends all that may be sent now.
    #[inline]
    pub(super) fn output(&mut self, out: &mut impl Emit) {
        if self.has_nothing_to_send() {
            self.restart_after_idle();
            if self.ack_now || self.is_window_update_due() {
                self.acknowledge(out);
            }
        } else {
            self.send_all(false, out);
        }
    }

    /// Sends all that may be sent now, at least one byte into a window that is shut.
    pub(super) fn output_forced(&mut self, out: &mut impl Emit) {
        self.send_all(true, out);
    }

    fn send_all(&mut self, force: bool, out: &mut impl Emit) {
        // Taken once for all segments of the call: the last, small one of a write may follow its full ones (Nagle).
        let mut idle = self.snd_max == self.snd_una;
        if idle {
            self.restart_after_idle();
        }
        loop {
            let plan = self.plan(force);
            if !self.is_worth_sending(&plan, idle, force) {
                self.persist_if_stuck(plan.queued);
                return;
            }
            if plan.flags.contains(Flags::SYN) {
                return self.transmit_syn(plan.flags, out);
            }
            if !self.transmit(plan, force, out) {
                return;
            }
            if self.profile.nagle_each_segment {
                idle = self.snd_max == self.snd_una;
            }
        }
    }

    /// True when all of our stream is sent and acknowledged, as it is at most readers: only an ACK may leave.
    #[inline]
    fn has_nothing_to_send(&self) -> bool {
        self.snd_max == self.snd_una
            && self.snd_nxt == self.snd_una
            && self.state.flags() == Flags::ACK
            && self.send.queued(self.snd_una) == 0
    }

    /// Sends an ACK when there is nothing to send.
    #[inline(never)]
    fn acknowledge(&mut self, out: &mut impl Emit) {
        let window = self.next_window();
        let (field, timestamps) = (self.window_field(window), self.timestamps_for(Flags::ACK));
        out.send(Plain::new(self.snd_max, self.rcv_nxt, 0, field, Flags::ACK, timestamps));
        self.note_acknowledged(window);
    }

    /// A segment has left that acknowledges all that has come, and offers `window`.
    #[inline(always)]
    fn note_acknowledged(&mut self, window: i64) {
        self.rcv_adv = self.rcv_adv.max(self.rcv_nxt + window as u64);
        self.last_ack_sent = self.rcv_nxt;
        self.ack_now = false;
        self.unacked_segments = 0;
        self.timers.cancel(Timer::DelayedAck);
    }

    /// An ACK without data.
    pub fn send_ack(&mut self, out: &mut impl Emit) {
        self.ack_now = true;
        self.output(out);
    }

    /// Lowers cwnd when nothing passed for so long that it is out of date.
    ///
    /// 4.4BSD goes back to one segment, RFC 2581 to no more than the initial window.
    fn restart_after_idle(&mut self) {
        if !self.is_restart_due() {
            return;
        }
        let segments = match self.profile.idle_restart {
            IdleRestart::SinceReceived | IdleRestart::Off => 1,
            IdleRestart::SinceSent => u64::from(self.profile.initial_cwnd_segments),
        };
        self.congestion.on_idle(segments * self.mss);
    }

    /// True when cwnd, with nothing in flight, is out of date.
    fn is_restart_due(&self) -> bool {
        let idle_ticks = match self.profile.idle_restart {
            IdleRestart::SinceReceived => self.idle_ticks(),
            IdleRestart::SinceSent => self.clock.since(self.sent_tick),
            IdleRestart::Off => return false,
        };
        idle_ticks >= self.rtt.rto()
    }

    /// Limit on further sending of the stream. `more` says that the application has more to write than the
    /// send buffer took.
    #[must_use]
    pub fn limit(&self, more: bool) -> Limit {
        if self.state == State::Closed {
            return Limit::None;
        }
        let (offset, queued) = (self.snd_nxt - self.snd_una, self.send.queued(self.snd_una));
        let next = queued.saturating_sub(offset).min(self.mss);
        if next > 0 && offset + next > self.snd_wnd {
            Limit::Window
        } else if more && queued > 0 && next < self.mss {
            Limit::Buffer
        } else if next > 0 && offset + next > self.congestion.cwnd() {
            Limit::Cwnd
        } else if next > 0 {
            Limit::Nagle
        } else if more {
            self.state.limit_of_writer()
        } else {
            Limit::None
        }
    }

    /// Bytes that the windows and the send buffer allow from `snd_nxt` on.
    #[inline(always)]
    fn plan(&mut self, force: bool) -> Plan {
        let offset = self.snd_nxt - self.snd_una;
        let queued = self.send.queued(self.snd_una);
        let mut window = self.snd_wnd.min(self.congestion.cwnd());
        let mut flags = self.state.flags();
        if force && window == 0 {
            window = 1;
            if offset < queued {
                flags = flags.without(Flags::FIN);
            }
        } else if force {
            self.timers.cancel(Timer::Persist);
            self.rtt.reset_backoff();
        }
        let usable = queued.min(window);
        if usable < offset && window == 0 {
            // The window was shut on bytes in flight: persisting takes over from retransmitting.
            self.timers.cancel(Timer::Retransmit);
            self.snd_nxt = self.snd_una;
        }
        let allowed = usable.saturating_sub(offset);
        let joined_len = allowed.min(self.mss);
        let len = self.send.in_one_write(self.snd_nxt, joined_len);
        if self.snd_nxt + len < self.snd_una + queued {
            flags = flags.without(Flags::FIN);
        }
        Plan { flags, len, joined_len, offset, queued, more: allowed > len }
    }

    #[inline(always)]
    fn is_worth_sending(&self, plan: &Plan, idle: bool, force: bool) -> bool {
        (plan.len > 0 && self.is_data_worth_sending(plan, idle, force))
            || self.is_window_update_due()
            || self.ack_now
            || plan.flags.intersects(Flags::SYN.union(Flags::RST))
            || (plan.flags.contains(Flags::FIN) && (!self.sent_fin || self.snd_nxt == self.snd_una))
    }

    /// The sender's rules against small segments.
    #[inline(always)]
    fn is_data_worth_sending(&self, plan: &Plan, idle: bool, force: bool) -> bool {
        let empties = plan.offset + plan.joined_len >= plan.queued;
        plan.joined_len == self.mss
            || ((idle || self.nodelay || !self.profile.nagle) && empties)
            || force
            || plan.joined_len >= self.max_sndwnd / 2
            || self.snd_nxt < self.snd_max
    }

    /// True when the window can be moved by two segments or half the buffer. This is what acknowledges every second
    /// segment in 4.4BSD: there is no other rule for that (but for `ack_every`).
    #[inline(always)]
    fn is_window_update_due(&self) -> bool {
        let space = self.receive.space();
        if space == 0 {
            return false;
        }
        let advance = space.min(self.largest_window()) as i64 - self.advertised();
        (self.profile.ack_on_read && advance >= 2 * self.mss as i64)
            || 2 * advance >= self.receive.capacity as i64
    }

    /// Rest of the window as advertised. -1 when a FIN came beyond a window that was used up.
    pub(super) const fn advertised(&self) -> i64 {
        self.rcv_adv as i64 - self.rcv_nxt as i64
    }

    const fn largest_window(&self) -> u64 {
        WINDOW_FIELD_MAX << self.negotiated.rcv_scale
    }

    /// Data that cannot be sent, with nothing in flight that would bring an ACK: waits for the window on its own.
    #[inline(always)]
    fn persist_if_stuck(&mut self, queued: u64) {
        if queued > 0 && !self.timers.is_set(Timer::Retransmit) && !self.timers.is_set(Timer::Persist) {
            self.rtt.reset_backoff();
            self.set_persist();
        }
    }

    /// Sends the SYN or SYN-ACK: nothing was written before it.
    #[cold]
    fn transmit_syn(&mut self, flags: Flags, out: &mut impl Emit) {
        self.snd_nxt = ISS;
        let window = self.next_window();
        let (field, options) = (self.window_field(window), self.syn_options(flags));
        let ack = if flags.contains(Flags::ACK) { self.rcv_nxt } else { 0 };
        out.send_with_options(&Segment {
            seq: ISS,
            ack,
            len: 0,
            window: field,
            flags,
            ecn: Codepoint::NotEct,
            options,
        });
        self.advance(1);
        self.note_acknowledged(window);
    }

    /// Builds and sends a segment. True when another one may follow.
    #[inline(always)]
    fn transmit(&mut self, mut plan: Plan, force: bool, out: &mut impl Emit) -> bool {
        let timestamps = self.timestamps_for(plan.flags);
        let room = self.mss - u64::from(if timestamps.is_some() { TIMESTAMP_BYTES } else { 0 });
        if plan.len > room {
            plan.len = room;
            plan.more = true;
            plan.flags = plan.flags.without(Flags::FIN);
        }
        if plan.len > 0 && plan.offset + plan.len == plan.queued {
            plan.flags = plan.flags | Flags::PSH;
        }
        if plan.flags.contains(Flags::FIN) && self.sent_fin && self.snd_nxt == self.snd_max {
            self.snd_nxt -= 1;
        }
        let has_fin = plan.flags.contains(Flags::FIN);
        let taken = plan.len + u64::from(has_fin);
        let persisting = self.timers.is_set(Timer::Persist);
        let seq = if taken > 0 || persisting { self.snd_nxt } else { self.snd_max };
        let window = self.next_window();
        let ack = if plan.flags.contains(Flags::ACK) { self.rcv_nxt } else { 0 };
        let field = self.window_field(window);
        out.send(Plain::new(seq, ack, plan.len as u32, field, plan.flags, timestamps));
        if force && persisting {
            // A probe is not in flight as other segments are: it is not timed, and the persist timer sends it again.
            self.snd_max = self.snd_max.max(self.snd_nxt + plan.len);
        } else {
            self.sent_fin |= has_fin;
            self.advance(taken);
        }
        self.note_acknowledged(window);
        if plan.len == 0 {
            self.persist_if_stuck(plan.queued);
        } else {
            self.sent_tick = self.clock.tick;
        }
        plan.more
    }

    /// Moves `snd_nxt` over a segment that has taken so many numbers, times it, and starts the retransmission timer.
    #[inline(always)]
    fn advance(&mut self, taken: u64) {
        let start = self.snd_nxt;
        if taken > 0 && start < self.snd_max {
            self.retransmits += 1;
        }
        self.snd_nxt += taken;
        if self.snd_nxt > self.snd_max {
            self.snd_max = self.snd_nxt;
            self.rtt.on_sent(start, self.clock.tick);
        }
        if !self.timers.is_set(Timer::Retransmit) && self.snd_nxt != self.snd_una {
            self.set_timer(Timer::Retransmit, self.rtt.rto());
            if self.timers.is_set(Timer::Persist) {
                self.timers.cancel(Timer::Persist);
                self.rtt.reset_backoff();
            }
        }
    }

    /// The window to advertise: the receiver's rule against silly windows, and never a smaller right edge.
    #[inline(always)]
    fn next_window(&self) -> i64 {
        let space = self.receive.space();
        let silly = space < self.receive.capacity / 4 && space < self.mss;
        let offered = if silly { 0 } else { space.min(self.largest_window()) };
        (offered as i64).max(self.advertised())
    }

    /// `window` as the field of a segment has it.
    pub(super) fn window_field(&self, window: i64) -> u16 {
        (window.max(0) >> self.negotiated.rcv_scale).min(WINDOW_FIELD_MAX as i64) as u16
    }
}
