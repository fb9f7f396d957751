//! Output: new data as windows and pacing allow, retransmissions, ACKs, and the use of the window.
//!
//! Models `tcp_write_xmit()` without segmentation offload: a segment at a time, each of one MSS, as long as congestion
//! control allows it ([`Connection::may_send`]). Leaves out TSO deferral and autosizing, small queues, and autocorking.
//!
//! Source: Linux 6.18 `tcp_output.c`, `tcp_write_xmit()`, `tcp_nagle_test()`, `__tcp_retransmit_skb()`,
//! `tcp_xmit_retransmit_queue()`, `__tcp_transmit_skb()`, `tcp_ecn_send()`; RFC 896; RFC 3168, section 6.1.

use super::congestion::Flight;
use super::connection::Connection;
use super::recovery::{CaState, Resend};
use super::sent::SegmentId;
use super::timers::Pending;
use crate::tcp::segment::{Codepoint, Flags, Options, Plain, SackBlocks, Segment, Timestamps};
use crate::tcp::state::{Emit, Limit, State};
use crate::units::Instant;

/// `TCP_INIT_CWND`, in segments, where no route says otherwise (RFC 6928).
pub(super) const INITIAL_CWND: u32 = 10;

/// SACK blocks that fit beside timestamps, and without them (40 bytes of options).
const BLOCKS_BESIDE_TIMESTAMPS: usize = 3;

/// Mode of sending new data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Push {
    /// Small segments wait for the ACK of the one before.
    Nagle,
    /// Small segments go too.
    Now,
    /// One segment, whatever the congestion window: a tail loss probe.
    Probe,
}

impl Connection {
    /// Sends new data as far as pacing, windows and Nagle's rule allow.
    pub(super) fn push(&mut self, mode: Push, out: &mut impl Emit) {
        let (mut sent, paces) = (0, self.congestion.paces());
        while self.unsent_segment_waits()
            && !(paces && self.is_paced())
            && (mode == Push::Probe || self.may_send())
        {
            let (len, has_fin) = self.next_segment();
            if !self.fits_window(len, has_fin) || (!has_fin && self.is_held_by_nagle(len, mode)) {
                break;
            }
            self.transmit_new(len, has_fin, out);
            sent += 1;
            if mode == Push::Probe {
                break;
            }
        }
        let fills_window = !self.may_send();
        if sent > 0 || fills_window {
            self.validate_usage(fills_window);
        }
        if sent > 0 {
            if self.recovery.state.is_reducing() {
                self.congestion.on_recovery_sent(sent);
            }
            if mode != Push::Probe {
                self.schedule_probe(false);
            }
        } else if self.queue.is_empty() && self.unsent_segment_waits() && self.timers.pending().is_none() {
            self.set_window_probe();
        }
    }

    /// True when congestion control lets another segment leave.
    pub(super) fn may_send(&self) -> bool {
        self.congestion.may_send(self.queue.in_flight())
    }

    /// Limit on further sending of the stream. `more` says that the application has more to write than the
    /// send buffer took.
    #[must_use]
    pub fn limit(&self, more: bool) -> Limit {
        if self.state == State::Closed {
            return Limit::None;
        }
        let unsent = self.unsent();
        if unsent > 0 && !self.is_next_in_window() {
            Limit::Window
        } else if more && self.bytes_unsent_or_unacknowledged() > 0 && unsent < self.current_mss() {
            Limit::Buffer
        } else if unsent > 0 && !self.may_send() {
            Limit::Cwnd
        } else if unsent > 0 && self.timers.waits_for_departure() {
            Limit::Pacing
        } else if unsent > 0 {
            let (len, has_fin) = self.next_segment();
            let is_held = !has_fin && self.is_held_by_nagle(len, Push::Nagle);
            if is_held { Limit::Nagle } else { Limit::Recovery }
        } else if more {
            self.state.limit_of_writer()
        } else {
            Limit::None
        }
    }

    /// Bytes of the next new segment, and true if the FIN goes with them.
    pub(super) fn next_segment(&self) -> (u64, bool) {
        let len = self.unsent().min(self.current_mss());
        (len, self.send.has_fin && self.snd_nxt + len == self.send.end)
    }

    /// True when the whole of the next segment fits into the peer's window, the FIN too.
    pub(super) fn is_next_in_window(&self) -> bool {
        let (len, has_fin) = self.next_segment();
        self.fits_window(len, has_fin)
    }

    fn fits_window(&self, len: u64, has_fin: bool) -> bool {
        self.snd_nxt + len + u64::from(has_fin) <= self.snd_una + self.snd_wnd
    }

    /// Payload of a full segment now: SACK blocks take room.
    pub(super) fn current_mss(&self) -> u64 {
        if self.receive.sack_count() == 0 { self.mss } else { self.mss_beside_sack() }
    }

    #[cold]
    fn mss_beside_sack(&self) -> u64 {
        let blocks = self.receive.sack_count().min(self.blocks_max()) as u64;
        let option_bytes = if self.agreed.sack { 4 + 8 * blocks } else { 0 };
        self.mss - option_bytes.min(self.mss - 1)
    }

    const fn blocks_max(&self) -> usize {
        if self.agreed.timestamps { BLOCKS_BESIDE_TIMESTAMPS } else { SackBlocks::MAX }
    }

    /// True when a small segment has to wait: another small one is not acknowledged (Minshall's form of Nagle's rule).
    fn is_held_by_nagle(&self, len: u64, mode: Push) -> bool {
        mode == Push::Nagle
            && self.small_end > self.snd_una
            && self.small_end <= self.snd_nxt
            && self.profile.nagle
            && !self.nodelay
            && !self.queue.is_empty()
            && len < self.current_mss()
    }

    /// Sends `len` bytes, and the FIN if that is wanted, for the first time. A probe that is allowed is left to the caller to schedule.
    pub(super) fn transmit_new(&mut self, len: u64, has_fin: bool, out: &mut impl Emit) {
        let seq = self.snd_nxt;
        let mut flags = self.send.take_push(seq, seq + len);
        if has_fin {
            flags = flags | Flags::FIN;
        }
        let end = seq + len + u64::from(flags.contains(Flags::FIN));
        let starts_timer = self.queue.is_empty() || self.timers.pending() == Some(Pending::LossProbe);
        let stamp = self.emit(seq, len, flags | Flags::ACK, out);
        self.queue.push(stamp, seq, end, flags);
        self.snd_nxt = end;
        if len < self.current_mss() {
            self.small_end = end;
        }
        if starts_timer && !self.may_probe() {
            self.rearm_rto();
        }
        self.check_space(out);
    }

    /// Sends lost segments again, as far as window and pacing allow.
    pub(super) fn retransmit_lost(&mut self, out: &mut impl Emit) {
        let mut sent_first = false;
        while self.may_send() {
            let Some(id) = self.queue.next_to_retransmit() else { break };
            if self.is_paced() || !self.transmit_again(id, true, out) {
                break;
            }
            if self.recovery.state.is_reducing() {
                self.congestion.on_recovery_sent(1);
            }
            sent_first |= id == self.queue.first_id();
        }
        if sent_first && self.timers.pending() != Some(Pending::Reordering) {
            self.set_paced_transmission(Pending::Retransmit, self.rtt.rto());
        }
    }

    /// Sends a segment once more, and true if it left. A probe is not counted as a retransmission in flight. SACK blocks that leave
    /// it less room than it had split it first: the rest is another segment from then on.
    ///
    /// A window that was taken back holds it up, but for the first segment, which then serves as a probe. What begins in such
    /// a window goes whole, where Linux would cut it at the edge.
    pub(super) fn transmit_again(&mut self, id: SegmentId, is_counted: bool, out: &mut impl Emit) -> bool {
        self.queue.trim_front(self.snd_una);
        let (seq, flags) = (self.queue.get(id).seq, self.queue.get(id).flags);
        let is_open = seq < self.snd_una + self.snd_wnd;
        if !is_open && seq != self.snd_una && !flags.contains(Flags::SYN) {
            return false;
        }
        self.retransmits += 1;
        let stamp = if flags.contains(Flags::SYN) {
            self.emit_syn(flags, out);
            self.clock.now()
        } else {
            if self.queue.get(id).payload() > self.current_mss() {
                self.queue.split(id, self.current_mss());
            }
            let sent = self.queue.get(id);
            let (len, flags) = (sent.payload(), sent.flags);
            self.emit(seq, len, flags | Flags::ACK, out)
        };
        self.queue.on_retransmit(id, stamp, is_counted);
        if is_counted {
            self.recovery.undo.on_retransmit(self.clock.timestamp_ms_at(stamp));
        }
        true
    }

    /// Sends what recovery asks for after an ACK.
    pub(super) fn resend(&mut self, resend: Resend, out: &mut impl Emit) {
        match resend {
            Resend::Nothing => return,
            Resend::New => {
                self.push(Push::Now, out);
                if self.snd_nxt > self.recovery.high_seq {
                    return;
                }
                self.recovery.frto = false;
            }
            Resend::Lost => {}
        }
        self.retransmit_lost(out);
    }

    /// Puts a segment on the wire, with the ACK, the window and the options that go with it. Returns its time stamp: now, or
    /// later where pacing would have held it back.
    fn emit(&mut self, seq: u64, len: u64, flags: Flags, out: &mut impl Emit) -> Instant {
        if len > 0 {
            if self.queue.in_flight() == 0 {
                self.congestion.on_send_after_idle(&self.clock, self.last_sent);
                if self.congestion.is_by_rate() {
                    self.restart_by_rate();
                }
            }
            self.last_sent = self.clock.jiffies();
            self.receive.on_data_sent(&self.clock);
        }
        let window = self.receive.advertise();
        let ack = self.receive.rcv_nxt();
        let stamp = self.congestion.on_departure(self.clock.now(), len);
        let segment = Plain::new(seq, ack, len as u32, window, flags, self.timestamps(stamp));
        if self.agreed.ecn || (self.agreed.sack && self.receive.sack_count() > 0) {
            self.emit_with_reports(segment, out);
        } else {
            out.send(segment);
        }
        self.receive.on_ack_sent(&self.profile);
        self.last_ack_sent = ack;
        stamp
    }

    /// The same with the bits of ECN, and SACK blocks of what lies beyond a gap.
    #[inline(never)]
    fn emit_with_reports(&mut self, mut segment: Plain, out: &mut impl Emit) {
        if self.agreed.ecn {
            self.put_ecn(&mut segment);
        }
        if !self.agreed.sack || self.receive.sack_count() == 0 {
            out.send(segment);
            return;
        }
        let blocks = self.receive.sack_blocks().take(self.blocks_max());
        let sack = SackBlocks::new(segment.ack, blocks);
        let options = Options { timestamps: segment.timestamps(), sack, ..Options::NONE };
        out.send_with_options(&Segment { options, ..segment.segment() });
    }

    /// Gives a segment the bits of ECN: only new data is ECT, as a mark on anything else would be lost with it.
    #[cold]
    fn put_ecn(&mut self, segment: &mut Plain) {
        if self.receive.echoes_mark() {
            segment.flags = segment.flags | Flags::ECE;
        }
        if segment.len == 0 || segment.seq < self.snd_nxt {
            return;
        }
        if std::mem::take(&mut self.recovery.owes_cwr) {
            segment.flags = segment.flags | Flags::CWR;
        }
        segment.set_ecn(Codepoint::Ect0);
    }

    /// The timestamps of a segment that leaves at `at`, if they were agreed on.
    pub(super) fn timestamps(&self, at: Instant) -> Option<Timestamps> {
        self.agreed.timestamps.then(|| Timestamps {
            value: self.clock.timestamp_ms_at(at),
            echo: self.agreed.ts_recent.unwrap_or(0),
        })
    }

    /// An ACK without data.
    pub fn send_ack(&mut self, out: &mut impl Emit) {
        self.emit(self.acceptable_seq(), 0, Flags::ACK, out);
    }

    /// A reset.
    pub(super) fn send_reset(&mut self, out: &mut impl Emit) {
        self.emit(self.acceptable_seq(), 0, Flags::RST | Flags::ACK, out);
    }

    /// An ACK with a number that the peer has seen makes it answer (`tcp_xmit_probe_skb()`).
    pub(super) fn send_old_number(&mut self, out: &mut impl Emit) {
        self.emit(self.snd_una - 1, 0, Flags::ACK, out);
    }

    /// `snd_nxt`, or the end of the peer's window if that was taken back by more than its scale rounds off.
    fn acceptable_seq(&self) -> u64 {
        let edge = self.snd_una + self.snd_wnd;
        if edge >= self.snd_nxt || self.snd_nxt - edge < 1 << self.receive.shift() {
            self.snd_nxt
        } else {
            edge
        }
    }

    /// Notes how much of the congestion window is used after as much was sent as may be.
    fn validate_usage(&mut self, fills_window: bool) {
        let (snd_una, snd_nxt) = (self.snd_una, self.snd_nxt);
        let flight = Flight { packets: self.queue.packets_out(), fills_window, snd_una, snd_nxt };
        self.congestion.on_sent(&self.clock, &flight);
        if self.profile.slow_start_after_idle
            && self.congestion.is_unused_for(&self.clock, self.rtt.rto_ticks())
            && !self.congestion.is_by_rate()
        {
            let may_shrink = self.recovery.state == CaState::Open && !self.send.is_blocked();
            self.congestion.on_unused(&self.clock, &self.profile, may_shrink);
        }
    }

    /// An idle connection loses part of its window.
    pub(super) fn restart_after_idle(&mut self) {
        let (idle, rto) = (self.ticks_since(self.last_sent), self.rtt.rto_ticks().max(1));
        if !self.profile.slow_start_after_idle
            || !self.queue.is_empty()
            || idle <= rto
            || self.congestion.is_by_rate()
        {
            return;
        }
        // Every full RTO counts but for a last one that ends just now.
        let rtos = ((idle - 1) / rto).min(31) as u32;
        let is_reducing = self.recovery.state.is_reducing();
        self.congestion.on_idle(&self.clock, &self.profile, rtos, is_reducing);
    }
}
