//! Input of segments that were not predicted: the steps of segment processing, in the order of RFC 793 as 4.4BSD-Lite has them.
//!
//! Models `tcp_input()` behind header prediction. Each step is a method. A step that ends the processing gives the
//! [`Rejection`] that says how. Leaves out urgent data. One change: a retransmitted FIN in TIME_WAIT starts the 2 MSL
//! anew. The comment in BSD's code says so, but the code gets there only with an ACK of something new, which cannot come.
//!
//! Source: 4.4BSD-Lite `tcp_input.c` 8.5; RFC 793, section 3.9; RFC 1323, section 4 (timestamps).

use super::connection::Connection;
use super::timers::Timer;
use crate::tcp::segment::{FIRST_BYTE, Flags, Plain, Segment};
use crate::tcp::state::{CloseReason, Emit, Notice, State};

/// Reason that ends the processing of a segment early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rejection {
    /// Without an answer.
    Silent,
    /// With an ACK that says where we are.
    Acknowledge,
    /// With a reset.
    Reset,
}

impl Connection {
    /// Processes a segment that header prediction did not take.
    pub(super) fn on_unpredicted(&mut self, segment: &Plain, out: &mut impl Emit) {
        let window = self.window_in(segment);
        let mut segment = *segment;
        self.open_receive_window();
        match self.process(&mut segment, window, out) {
            Ok(need_output) => {
                if need_output || self.ack_now {
                    self.output(out);
                }
            }
            Err(Rejection::Silent) => {}
            Err(Rejection::Acknowledge) => {
                if !segment.flags.contains(Flags::RST) {
                    self.ack_now = true;
                    self.output(out);
                }
            }
            Err(Rejection::Reset) => out.refuse(&segment),
        }
    }

    /// The SYN that makes a passive open.
    pub(super) fn on_first_syn(&mut self, syn: &Segment, out: &mut impl Emit) {
        let opens = syn.flags.contains(Flags::SYN) && !syn.flags.intersects(Flags::ACK.union(Flags::RST));
        assert!(opens, "{syn:?} opens no connection");
        let mut segment = syn.plain();
        self.read_options(syn);
        self.open_receive_window();
        self.start_receiving(&mut segment);
        self.take_segment(&segment, out);
        self.output(out);
    }

    /// The peer's window in bytes, as a segment has it. A SYN's is not scaled (RFC 1323, section 2.2).
    pub(super) fn window_in(&self, segment: &Plain) -> u64 {
        let scale = if segment.flags.contains(Flags::SYN) { 0 } else { self.negotiated.snd_scale };
        u64::from(segment.window) << scale
    }

    /// All steps, for a segment with `window`. True when there may be something to send.
    fn process(&mut self, segment: &mut Plain, window: u64, out: &mut impl Emit) -> Result<bool, Rejection> {
        let mut need_output = false;
        if self.state == State::SynSent {
            self.process_syn_sent(segment, out)?;
        } else {
            self.check_timestamp(segment)?;
            self.trim_front(segment)?;
            self.refuse_data_without_reader(segment, out)?;
            self.trim_tail(segment)?;
            self.note_timestamp_in_window(segment);
            self.process_reset_and_syn(segment, out)?;
            need_output = self.process_ack(segment, window, out)?;
        }
        need_output |= self.update_window(segment, window);
        self.take_segment(segment, out);
        Ok(need_output)
    }

    /// The window that accepts segments: free space, but not less than was advertised.
    fn open_receive_window(&mut self) {
        self.rcv_wnd = self.receive.space().max(self.advertised().max(0) as u64);
    }

    /// The answer to our SYN, or a SYN that crossed it.
    fn process_syn_sent(&mut self, segment: &mut Plain, out: &mut impl Emit) -> Result<(), Rejection> {
        let has_ack = segment.flags.contains(Flags::ACK);
        if has_ack && (segment.ack < FIRST_BYTE || segment.ack > self.snd_max) {
            return Err(Rejection::Reset);
        }
        if segment.flags.contains(Flags::RST) {
            if has_ack {
                self.finish(CloseReason::Refused, out);
            }
            return Err(Rejection::Silent);
        }
        if !segment.flags.contains(Flags::SYN) {
            return Err(Rejection::Silent);
        }
        self.timers.cancel(Timer::Retransmit);
        if has_ack {
            self.snd_una = segment.ack;
            self.snd_nxt = self.snd_nxt.max(self.snd_una);
        }
        self.start_receiving(segment);
        if has_ack {
            self.become_established(out);
            // Nothing is timed when the SYN was sent again.
            self.rtt.on_ack(segment.ack, self.clock.tick, None, &self.profile);
        } else {
            self.state = State::SynReceived;
        }
        Ok(())
    }

    /// Takes the peer's first number from its SYN, and leaves in the segment what follows the SYN.
    fn start_receiving(&mut self, segment: &mut Plain) {
        self.rcv_nxt = segment.seq + 1;
        self.rcv_adv = self.rcv_nxt;
        self.ack_now = true;
        segment.seq += 1;
        segment.flags = segment.flags.without(Flags::SYN);
        if u64::from(segment.len) > self.rcv_wnd {
            segment.len = self.rcv_wnd as u32;
            segment.flags = segment.flags.without(Flags::FIN);
        }
        self.snd_wl1 = segment.seq - 1;
    }

    fn become_established(&mut self, out: &mut impl Emit) {
        self.state = State::Established;
        self.negotiated.settle_scaling();
        if !self.profile.keepalive {
            self.timers.cancel(Timer::Keep);
        }
        out.notify(Notice::Connected);
        self.deliver_early_text(out);
    }

    /// PAWS: a segment with an older timestamp than the last one is a copy from long ago.
    fn check_timestamp(&mut self, segment: &Plain) -> Result<(), Rejection> {
        if segment.flags.contains(Flags::RST) || !self.is_timestamp_old(segment) {
            return Ok(());
        }
        if self.clock.since(self.negotiated.ts_recent_tick) > self.profile.ticks.timestamp_age_max {
            self.negotiated.ts_recent = 0;
            return Ok(());
        }
        Err(Rejection::Acknowledge)
    }

    /// True when a segment carries a timestamp before the one to be echoed.
    pub(super) const fn is_timestamp_old(&self, segment: &Plain) -> bool {
        let recent = self.negotiated.ts_recent;
        match segment.timestamps() {
            Some(stamps) => recent != 0 && (stamps.value.wrapping_sub(recent) as i32) < 0,
            None => false,
        }
    }

    /// Keeps the timestamp of the segment that the last ACK asked for.
    pub(super) const fn note_timestamp_in_window(&mut self, segment: &Plain) {
        if let Some(stamps) = segment.timestamps()
            && segment.seq <= self.last_ack_sent
            && self.last_ack_sent < segment.end()
        {
            self.note_timestamp(stamps);
        }
    }

    /// Drops bytes received before.
    fn trim_front(&mut self, segment: &mut Plain) -> Result<(), Rejection> {
        if segment.seq >= self.rcv_nxt {
            return Ok(());
        }
        let mut known = self.rcv_nxt - segment.seq;
        if segment.flags.contains(Flags::SYN) {
            segment.flags = segment.flags.without(Flags::SYN);
            segment.seq += 1;
            known -= 1;
        }
        let len = u64::from(segment.len);
        let has_fin = segment.flags.contains(Flags::FIN);
        if known == len + 1 && has_fin {
            // Only our ACK of its FIN was lost. Its own ACK still counts, or two that close at once would never end.
            segment.flags = segment.flags.without(Flags::FIN);
            self.ack_now = true;
            known = len;
        } else if known > len || (known == len && !has_fin) {
            let answers_syn = known == 0 && segment.flags.contains(Flags::ACK);
            if !answers_syn {
                return Err(Rejection::Acknowledge);
            }
        }
        segment.seq += known;
        segment.len -= known as u32;
        Ok(())
    }

    /// Data for an application that has closed ends the connection.
    fn refuse_data_without_reader(&mut self, segment: &Plain, out: &mut impl Emit) -> Result<(), Rejection> {
        if self.detached && self.state > State::CloseWait && segment.len > 0 {
            self.finish(CloseReason::Reset, out);
            return Err(Rejection::Reset);
        }
        Ok(())
    }

    /// Drops what lies beyond the window, and all of it when nothing is in the window. A probe is answered.
    fn trim_tail(&mut self, segment: &mut Plain) -> Result<(), Rejection> {
        let end = segment.seq + u64::from(segment.len);
        let edge = self.rcv_nxt + self.rcv_wnd;
        if end <= edge {
            return Ok(());
        }
        let beyond = end - edge;
        if beyond >= u64::from(segment.len) {
            let probes = self.rcv_wnd == 0 && segment.seq == self.rcv_nxt;
            if !probes {
                return Err(Rejection::Acknowledge);
            }
            self.ack_now = true;
        }
        segment.len -= beyond as u32;
        segment.flags = segment.flags.without(Flags::PSH.union(Flags::FIN));
        Ok(())
    }

    /// Control bits of a segment in the window.
    fn process_reset_and_syn(&mut self, segment: &Plain, out: &mut impl Emit) -> Result<(), Rejection> {
        if segment.flags.contains(Flags::RST) {
            let reason = match self.state {
                State::SynReceived => CloseReason::Refused,
                State::Established | State::FinWait1 | State::FinWait2 | State::CloseWait => {
                    CloseReason::Reset
                }
                _ => CloseReason::Finished,
            };
            self.finish(reason, out);
            return Err(Rejection::Silent);
        }
        if segment.flags.contains(Flags::SYN) {
            self.finish(CloseReason::Reset, out);
            return Err(Rejection::Reset);
        }
        if !segment.flags.contains(Flags::ACK) {
            return Err(Rejection::Silent);
        }
        Ok(())
    }

    /// The ACK: establishes, counts as a duplicate, or acknowledges new data. True when there may be something to send.
    fn process_ack(&mut self, segment: &Plain, window: u64, out: &mut impl Emit) -> Result<bool, Rejection> {
        if self.state == State::SynReceived {
            if segment.ack < FIRST_BYTE || segment.ack > self.snd_max {
                return Err(Rejection::Reset);
            }
            self.become_established(out);
        }
        if self.state == State::TimeWait {
            self.enter_time_wait();
        }
        if segment.ack <= self.snd_una {
            self.process_old_ack(segment, window, out)?;
            return Ok(false);
        }
        self.process_new_ack(segment, out)
    }

    /// Takes a newer window of the peer. True when it did.
    fn update_window(&mut self, segment: &Plain, window: u64) -> bool {
        let newer = (segment.seq, segment.ack) > (self.snd_wl1, self.snd_wl2)
            || ((segment.seq, segment.ack) == (self.snd_wl1, self.snd_wl2) && window > self.snd_wnd);
        if !segment.flags.contains(Flags::ACK) || !newer {
            return false;
        }
        self.snd_wnd = window;
        self.snd_wl1 = segment.seq;
        self.snd_wl2 = segment.ack;
        self.max_sndwnd = self.max_sndwnd.max(window);
        true
    }

    /// The text, and the FIN if it is in order.
    #[inline(always)]
    fn take_segment(&mut self, segment: &Plain, out: &mut impl Emit) {
        if segment.sequence_len() > 0 && self.take_text(segment, out) {
            self.take_fin(out);
        }
    }

    fn take_fin(&mut self, out: &mut impl Emit) {
        self.rcv_nxt += 1;
        self.ack_now = true;
        out.notify(Notice::EndOfStream);
        match self.state {
            State::SynReceived | State::Established => self.state = State::CloseWait,
            State::FinWait1 => self.state = State::Closing,
            State::FinWait2 => self.enter_time_wait(),
            _ => {}
        }
    }
}
