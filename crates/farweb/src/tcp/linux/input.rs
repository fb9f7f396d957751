//! Input: checks of a segment, its ACK, its text, its FIN.
//!
//! Models `tcp_rcv_state_process()` and the slow path of `tcp_rcv_established()`. The fast path is the same with fewer
//! checks. Resets and SYNs that are in the window but not exactly expected are challenged. Leaves out urgent data.
//!
//! Source: Linux 6.18 `tcp_input.c`, `tcp_validate_incoming()`, `tcp_reset()`, `tcp_fin()`, `tcp_rcv_state_process()`;
//! `tcp_minisocks.c`, `tcp_timewait_state_process()`; RFC 9293, section 3.10.7; RFC 5961; RFC 7323, section 5.

use std::ops::Deref;

use super::acknowledge::Verdict;
use super::connection::Connection;
use super::output::Push;
use super::receive::Context;
use crate::tcp::segment::{Flags, HEADER_BYTES, Options, Plain, Segment};
use crate::tcp::state::{CloseReason, Emit, Notice, State};
use crate::units::{Duration, Instant, When};

/// Age of a timestamp to be echoed that has gone around and is no longer compared (`TCP_PAWS_WRAP`, 24 days;
/// RFC 7323, section 5.5).
const TIMESTAMP_AGE_MAX: Duration = Duration::from_secs(24 * 24 * 60 * 60);
/// Ticks of the peer's clock that its timestamps may go back (`TCP_PAWS_WINDOW`).
const TIMESTAMP_WINDOW: i32 = 1;
/// Ticks of the fastest clock that timestamps are expected from, a second (`tcp_tsval_replay()`).
const TIMESTAMP_RATE: u64 = 1200;

/// A segment that arrives: what all have, and the options of one that has rare ones.
#[derive(Debug, Clone, Copy)]
pub(super) struct Incoming<'s> {
    pub(super) plain: &'s Plain,
    pub(super) rare: Option<&'s Options>,
}

impl Incoming<'_> {
    /// True when it has SACK blocks.
    #[inline]
    pub(super) fn has_sack(self) -> bool {
        self.rare.is_some_and(|options| !options.sack.is_empty())
    }

    /// The segment with all of its options.
    pub(super) fn segment(self) -> Segment {
        let segment = self.plain.segment();
        Segment { options: self.rare.copied().unwrap_or(segment.options), ..segment }
    }

    /// Size of the IP packet that carries it.
    #[inline]
    pub(super) fn packet_bytes(self) -> u32 {
        self.rare.map_or(self.plain.packet_bytes(), |options| HEADER_BYTES + options.bytes() + self.len)
    }
}

impl Deref for Incoming<'_> {
    type Target = Plain;

    #[inline]
    fn deref(&self) -> &Plain {
        self.plain
    }
}

impl Connection {
    /// A segment arrived.
    pub fn on_segment(&mut self, now: Instant, segment: &Segment, out: &mut impl Emit) {
        let (plain, rare) = (&segment.plain(), Some(&segment.options));
        self.on_incoming(now, Incoming { plain, rare }, out);
    }

    /// A segment without rare options arrived.
    pub fn on_plain(&mut self, now: Instant, plain: &Plain, out: &mut impl Emit) {
        self.on_incoming(now, Incoming { plain, rare: None }, out);
    }

    fn on_incoming(&mut self, now: Instant, segment: Incoming<'_>, out: &mut impl Emit) {
        self.clock.advance(now);
        self.last_echo = None;
        match self.state {
            State::Closed => out.refuse(&segment),
            State::SynSent => self.on_segment_in_syn_sent(segment, out),
            State::TimeWait => self.on_segment_in_time_wait(segment, out),
            _ => self.on_synchronised(segment, out),
        }
        if self.state != State::Closed {
            self.send_due_ack(out);
        }
    }

    /// A segment when both SYNs are known.
    fn on_synchronised(&mut self, segment: Incoming<'_>, out: &mut impl Emit) {
        if let Some(request) = self.request {
            if !self.on_segment_for_request(segment, request, out) {
                return;
            }
        } else if !segment.flags.intersects(Flags::ACK | Flags::RST | Flags::SYN) {
            return;
        }
        self.last_echo = self.echo_in(segment);
        if !self.validate(segment, out) {
            return;
        }
        if self.state == State::SynReceived {
            if !self.establish_crossed(segment, out) {
                return;
            }
        } else {
            match self.on_ack(segment, out) {
                Verdict::Taken | Verdict::Old => {}
                Verdict::TooOld => return self.challenge(out),
                Verdict::Unsent if self.state == State::Established => return,
                Verdict::Unsent => return self.challenge(out),
            }
        }
        if !self.advance_closing(segment, out) {
            return;
        }
        self.take_text(segment, out);
        if self.state != State::Closed {
            self.push_pending(out);
        }
    }

    /// Sends what windows allow now, and wakes a writer.
    fn push_pending(&mut self, out: &mut impl Emit) {
        if self.state == State::TimeWait {
            return;
        }
        if self.unsent_segment_waits() {
            self.push(Push::Nagle, out);
        }
        self.check_space(out);
    }

    /// The timestamp that a segment echoes, if there is one.
    pub(super) fn echo_in(&self, segment: Incoming<'_>) -> Option<u32> {
        let stamps = segment.timestamps().filter(|_| self.agreed.timestamps)?;
        (stamps.echo != 0).then_some(stamps.echo)
    }

    /// Keeps the timestamp of a segment that does not begin beyond the last ACK.
    pub(super) fn note_timestamp(&mut self, segment: Incoming<'_>) {
        let Some(stamps) = segment.timestamps().filter(|_| self.agreed.timestamps) else { return };
        if segment.seq <= self.last_ack_sent && !self.is_older_than_recent(stamps.value, 0) {
            self.agreed.ts_recent = Some(stamps.value);
            self.agreed.ts_recent_at = self.clock.now();
        }
    }

    fn is_older_than_recent(&self, value: u32, window: i32) -> bool {
        let is_fresh = self.clock.now().saturating_since(self.agreed.ts_recent_at) < TIMESTAMP_AGE_MAX;
        self.agreed.ts_recent.is_some_and(|recent| is_fresh && recent.wrapping_sub(value) as i32 > window)
    }

    /// PAWS: true if a segment carries a timestamp from before the one to be echoed (RFC 7323, section 5).
    pub(super) fn is_timestamp_old(&self, segment: Incoming<'_>) -> bool {
        match segment.timestamps().filter(|_| self.agreed.timestamps) {
            Some(stamps) => self.is_older_than_recent(stamps.value, TIMESTAMP_WINDOW),
            None => false,
        }
    }

    /// A duplicate ACK without data that others have overtaken is harmless, and counts for loss recovery.
    fn is_overtaken_ack(&self, segment: Incoming<'_>) -> bool {
        let Some(stamps) = segment.timestamps() else { return false };
        let Some(recent) = self.agreed.ts_recent else { return false };
        let replay = (self.rtt.rto().as_nanos() * TIMESTAMP_RATE / 1_000_000_000) as i64;
        segment.sequence_len() == 0
            && segment.seq == self.receive.rcv_nxt()
            && segment.ack == self.snd_una
            && !self.may_update_window(segment, u64::from(segment.window) << self.agreed.snd_scale)
            && i64::from(recent.wrapping_sub(stamps.value) as i32) <= replay
    }

    /// True when a segment is to be processed. If not, it is answered as it must be.
    fn validate(&mut self, segment: Incoming<'_>, out: &mut impl Emit) -> bool {
        let (is_reset, is_syn) = (segment.flags.contains(Flags::RST), segment.flags.contains(Flags::SYN));
        let is_old = !is_reset && self.is_timestamp_old(segment) && !self.is_overtaken_ack(segment);
        if is_old || !self.receive.is_acceptable(segment.seq, segment.end()) {
            if is_reset {
                if self.is_reset_after_fin(segment) {
                    self.on_reset(out);
                }
            } else if is_syn {
                self.challenge(out);
            } else {
                self.answer_unacceptable(segment, out);
            }
            return false;
        }
        if is_reset {
            let is_exact = segment.seq == self.receive.rcv_nxt()
                || self.is_reset_after_fin(segment)
                || self.receive.sack_blocks().map(|block| block.end).max() == Some(segment.seq);
            if is_exact {
                self.on_reset(out);
            } else {
                self.challenge(out);
            }
            return false;
        }
        if is_syn && !self.is_crossed_syn_ack(segment) {
            self.challenge(out);
            return false;
        }
        true
    }

    /// True for the SYN-ACK that completes the handshake after both SYNs crossed.
    fn is_crossed_syn_ack(&self, segment: Incoming<'_>) -> bool {
        self.state == State::SynReceived
            && segment.flags.contains(Flags::ACK)
            && segment.len == 0
            && segment.seq + 1 == self.receive.rcv_nxt()
            && segment.ack == self.snd_nxt
    }

    /// A peer that has finished may reset with the number of its FIN.
    fn is_reset_after_fin(&self, segment: Incoming<'_>) -> bool {
        segment.seq + 1 == self.receive.rcv_nxt()
            && matches!(self.state, State::CloseWait | State::LastAck | State::Closing)
    }

    fn on_reset(&mut self, out: &mut impl Emit) {
        let reason = match self.state {
            State::SynReceived => CloseReason::Refused,
            State::Closing | State::LastAck | State::TimeWait => CloseReason::Finished,
            _ => CloseReason::Reset,
        };
        self.finish(reason, out);
    }

    /// Says where we are, to a segment that is old or beyond the window. A duplicate is reported.
    fn answer_unacceptable(&mut self, segment: Incoming<'_>, out: &mut impl Emit) {
        // Data is always answered, or a peer that missed our ACKs would send it for ever.
        if segment.sequence_len() == 0 && self.is_rate_limited() {
            return;
        }
        self.receive.on_unacceptable(segment.seq, segment.end(), &self.profile);
        self.send_ack(out);
    }

    /// A challenge ACK: who is really the peer answers it with a reset that fits (RFC 5961, section 3).
    fn challenge(&mut self, out: &mut impl Emit) {
        if !self.is_rate_limited() {
            self.send_ack(out);
        }
    }

    /// True when the last answer to something out of place is too recent for another one.
    pub(super) fn is_rate_limited(&mut self) -> bool {
        let limit = self.profile.invalid_rate_limit;
        if self.challenged_at.get().is_some_and(|at| self.clock.now() - at < limit) {
            return true;
        }
        self.challenged_at = When::at(self.clock.now());
        false
    }

    /// Our FIN may be acknowledged now. True when the segment is to be processed further.
    fn advance_closing(&mut self, segment: Incoming<'_>, out: &mut impl Emit) -> bool {
        let is_all_acknowledged = self.send.has_fin && self.snd_una > self.send.end;
        match self.state {
            State::FinWait1 if is_all_acknowledged => {
                self.state = State::FinWait2;
                if self.detached {
                    self.set_fin_wait_2_timer();
                }
            }
            State::Closing if is_all_acknowledged => {
                self.enter_time_wait();
                return false;
            }
            State::LastAck if is_all_acknowledged => {
                self.finish(CloseReason::Finished, out);
                return false;
            }
            _ => {}
        }
        let brings_data = segment.len > 0 && segment.seq + u64::from(segment.len) > self.receive.rcv_nxt();
        if self.detached && brings_data {
            // No reader is left (RFC 1122, section 4.2.2.13).
            out.refuse(&segment);
            self.finish(CloseReason::Reset, out);
            return false;
        }
        true
    }

    /// Takes the text, and the FIN if it is in order.
    fn take_text(&mut self, segment: Incoming<'_>, out: &mut impl Emit) {
        let context = Context { clock: &self.clock, profile: &self.profile, rtt: &self.rtt };
        let arrival = self.receive.on_segment(&context, segment);
        if arrival.delivered > 0 {
            out.notify(Notice::Readable);
        }
        if !arrival.fin {
            return;
        }
        out.notify(Notice::EndOfStream);
        match self.state {
            State::SynReceived | State::Established => self.state = State::CloseWait,
            State::FinWait1 => {
                self.send_ack(out);
                self.state = State::Closing;
            }
            State::FinWait2 => {
                self.send_ack(out);
                self.enter_time_wait();
            }
            _ => {}
        }
    }

    /// A segment in TIME_WAIT: the ACK is repeated for what the peer may not have learnt.
    fn on_segment_in_time_wait(&mut self, segment: Incoming<'_>, out: &mut impl Emit) {
        let rcv_nxt = self.receive.rcv_nxt();
        let is_reset = segment.flags.contains(Flags::RST);
        let is_old = self.is_timestamp_old(segment);
        if !is_old && segment.seq == rcv_nxt && (is_reset || segment.sequence_len() == 0) {
            if is_reset {
                self.finish(CloseReason::Finished, out);
            } else {
                self.enter_time_wait();
            }
            return;
        }
        if is_reset {
            return;
        }
        if segment.flags.contains(Flags::ACK) {
            self.enter_time_wait();
        }
        if segment.sequence_len() > 0 || !self.is_rate_limited() {
            self.send_ack(out);
        }
    }

    /// Reads up to `bytes` and gives the number read. May send a window update, and with it their ACK.
    #[inline(always)]
    pub fn read(&mut self, now: Instant, bytes: u64, out: &mut impl Emit) -> u64 {
        self.clock.advance(now);
        let read = self.receive.read(now, bytes, &self.profile);
        if self.state != State::Closed {
            self.send_due_ack(out);
        }
        read
    }
}
