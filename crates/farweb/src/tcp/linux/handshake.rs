//! Opening a connection: SYN, SYN-ACK, what the options of both settle, and the start of the transfer.
//!
//! Models the active opener with its SYN in the retransmission queue, the passive one as a request with a timer of its own
//! that retransmits the SYN-ACK, and the crossing of two SYNs. Leaves out Fast Open, SYN cookies and the accept queue.
//!
//! Source: Linux 6.18 `tcp_output.c` (`tcp_connect()`, `tcp_syn_options()`, `tcp_synack_options()`), `tcp_input.c`
//! (`tcp_rcv_synsent_state_process()`, `tcp_init_transfer()`, `tcp_try_undo_spurious_syn()`), `tcp_minisocks.c`
//! (`tcp_check_req()`, `tcp_create_openreq_child()`), `inet_connection_sock.c` (`reqsk_timer_handler()`), `tcp_metrics.c`
//! (`tcp_init_metrics()`), `include/net/tcp_ecn.h` (`tcp_ecn_send_syn()`, `tcp_ecn_rcv_synack()`); RFC 9293, section 3.10;
//! RFC 6298, section 5.7; RFC 7323; RFC 3168, section 6.1.1.

use std::num::NonZeroU16;

use super::acknowledge::Verdict;
use super::connection::{Config, Connection};
use super::input::Incoming;
use super::profile::EcnKind;
use super::receive::Agreed;
use super::timers::Pending;
use crate::tcp::segment::{
    Codepoint, FIRST_BYTE, Flags, ISS, Options, Segment, Timestamps, WINDOW_SCALE_MAX,
};
use crate::tcp::state::{CloseReason, Emit, Notice, State};
use crate::units::Instant;

/// Bytes of timestamps in a header, with their padding.
const TIMESTAMP_BYTES: u64 = 12;
/// Smallest payload that the peer's window may press the MSS down to (`tcp_bound_to_half_wnd()`).
const MSS_BOUND_MIN: u64 = 68 - 20;

/// Agreement of the options of both SYNs.
#[derive(Debug, Clone)]
pub(super) struct Negotiated {
    /// MSS that we offer.
    mss_offered: u16,
    /// The smaller of both MSS, options included (`mss_clamp`).
    pub(super) mss_clamp: u64,
    pub(super) sack: bool,
    pub(super) timestamps: bool,
    /// ECN is in use. Before the peer's SYN is known, it may be.
    pub(super) ecn: bool,
    scaling: bool,
    /// Shift of the peer's window field.
    pub(super) snd_scale: u8,
    /// Timestamp to be echoed, and when it came.
    pub(super) ts_recent: Option<u32>,
    pub(super) ts_recent_at: Instant,
}

/// A SYN-ACK that was sent in answer to a SYN.
#[derive(Debug, Clone, Copy)]
pub(super) struct Request {
    /// Number of the peer's SYN.
    peer_syn: u64,
    /// When the SYN-ACK was first sent.
    sent_at: Instant,
    /// Times that it was sent again, for whatever reason.
    retransmits: u32,
    /// Times that its timer expired.
    timeouts: u32,
}

impl Negotiated {
    pub(super) fn new(config: &Config, is_passive: bool) -> Self {
        let ecn = config.profile.ecn;
        Self {
            mss_offered: config.mss,
            mss_clamp: config.profile.mss_default.get().min(u64::from(config.mss)),
            sack: false,
            timestamps: false,
            ecn: ecn == EcnKind::Request || (ecn == EcnKind::Accept && is_passive),
            scaling: false,
            snd_scale: 0,
            ts_recent: None,
            ts_recent_at: Instant::ZERO,
        }
    }

    /// Bytes of options that every segment has.
    pub(super) const fn option_bytes(&self) -> u64 {
        if self.timestamps { TIMESTAMP_BYTES } else { 0 }
    }
}

impl Connection {
    /// The SYN of an active open.
    pub(super) fn send_first_syn(&mut self, out: &mut impl Emit) {
        self.recovery.undo.first_retransmit = Some(self.clock.timestamp_ms());
        self.emit_syn(Flags::SYN, out);
        self.queue.push(self.clock.now(), ISS, FIRST_BYTE, Flags::SYN);
        self.snd_nxt = FIRST_BYTE;
        self.rearm_rto();
    }

    /// The SYN of a passive open.
    pub(super) fn answer_first_syn(&mut self, syn: &Segment, out: &mut impl Emit) {
        let opens = syn.flags.contains(Flags::SYN) && !syn.flags.intersects(Flags::ACK | Flags::RST);
        assert!(opens, "{syn:?} opens no connection");
        let (plain, rare) = (&syn.plain(), Some(&syn.options));
        self.settle_options(Incoming { plain, rare });
        self.start_receiving(syn.seq, true);
        self.snd_nxt = FIRST_BYTE;
        self.request =
            Some(Request { peer_syn: syn.seq, sent_at: self.clock.now(), retransmits: 0, timeouts: 0 });
        self.emit_syn(Flags::SYN | Flags::ACK, out);
        self.set_state_timer(self.profile.rto_initial);
    }

    /// Request of a SYN, or consent of a SYN-ACK.
    #[cold]
    fn ecn_of_syn(&self, is_answer: bool) -> Flags {
        match is_answer {
            true => Flags::ECE,
            // Sent again it asks for nothing: the way may drop SYNs that do.
            false if self.retransmits == 0 => Flags::ECE | Flags::CWR,
            false => Flags::NONE,
        }
    }

    /// Sends a SYN or SYN-ACK.
    pub(super) fn emit_syn(&mut self, flags: Flags, out: &mut impl Emit) {
        let is_answer = flags.contains(Flags::ACK);
        let flags = if self.agreed.ecn { flags | self.ecn_of_syn(is_answer) } else { flags };
        let stamps = if is_answer { self.agreed.timestamps } else { self.profile.timestamps };
        let scale = self.receive.scale_offered().filter(|_| !is_answer || self.agreed.scaling);
        let options = Options {
            mss: NonZeroU16::new(self.agreed.mss_offered),
            window_scale: scale,
            timestamps: stamps.then(|| Timestamps {
                value: self.clock.timestamp_ms(),
                echo: self.agreed.ts_recent.unwrap_or(0),
            }),
            sack_permitted: if is_answer { self.agreed.sack } else { self.profile.sack },
            ..Options::NONE
        };
        let ack = if is_answer { self.receive.rcv_nxt() } else { 0 };
        let window = self.receive.syn_window();
        let ecn = Codepoint::NotEct;
        out.send_with_options(&Segment { seq: ISS, ack, len: 0, window, flags, ecn, options });
        self.last_ack_sent = ack;
    }

    /// Takes the options of the peer's SYN or SYN-ACK.
    fn settle_options(&mut self, syn: Incoming<'_>) {
        let Options { mss, window_scale, timestamps, sack_permitted, .. } = syn.segment().options;
        let peer = mss.map_or(self.profile.mss_default.get(), |mss| u64::from(mss.get()));
        let agreed = &mut self.agreed;
        agreed.mss_clamp = peer.max(self.profile.mss_min.get()).min(u64::from(agreed.mss_offered));
        agreed.sack = self.profile.sack && sack_permitted;
        agreed.timestamps = self.profile.timestamps && timestamps.is_some();
        // ECE and CWR ask, ECE alone agrees.
        agreed.ecn = agreed.ecn
            && syn.flags.contains(Flags::ECE)
            && syn.flags.contains(Flags::CWR) != syn.flags.contains(Flags::ACK);
        agreed.scaling = self.profile.window_scaling && window_scale.is_some();
        agreed.snd_scale = if agreed.scaling { window_scale.unwrap_or(0).min(WINDOW_SCALE_MAX) } else { 0 };
        if agreed.timestamps {
            agreed.ts_recent = timestamps.map(|stamps| stamps.value);
            agreed.ts_recent_at = self.clock.now();
        }
        self.snd_wnd = u64::from(syn.window);
        self.max_window = self.snd_wnd;
        self.snd_wl1 = syn.seq;
        self.bound_mss();
    }

    /// The payload of a full segment: the MSS without options, but not above half of the peer's largest window.
    pub(super) fn bound_mss(&mut self) {
        let mss = self.agreed.mss_clamp - self.agreed.option_bytes().min(self.agreed.mss_clamp - 1);
        // A peer with very little memory is given all that it has at once.
        let bound = if self.max_window > self.profile.mss_default.get() {
            self.max_window / 2
        } else {
            self.max_window
        };
        self.mss = if bound > 0 && mss > bound { bound.max(MSS_BOUND_MIN).min(mss) } else { mss };
    }

    /// The number of the peer's SYN is known: its data is taken from now on.
    fn start_receiving(&mut self, syn: u64, is_passive: bool) {
        let agreed = Agreed {
            scaling: self.agreed.scaling,
            timestamps: self.agreed.timestamps,
            sack: self.agreed.sack,
            ecn: self.agreed.ecn,
            mss: self.mss,
            passive: is_passive,
        };
        self.receive.start(&self.clock, syn + 1, agreed);
    }

    /// A segment in SYN_SENT.
    pub(super) fn on_segment_in_syn_sent(&mut self, segment: Incoming<'_>, out: &mut impl Emit) {
        let has_ack = segment.flags.contains(Flags::ACK);
        if has_ack && (segment.ack <= self.snd_una || segment.ack > self.snd_nxt) {
            // The peer answers for an earlier connection, which the reset ends: our SYN goes out again at once
            // (`TCP_TIMEOUT_MIN`, in jiffies), unless a timeout has already sent it again.
            if self.retransmits == 0 {
                self.set_transmission(Pending::Retransmit, self.profile.jiffy * 2);
            }
            out.refuse(&segment);
            return;
        }
        if segment.flags.contains(Flags::RST) {
            if has_ack {
                self.finish(CloseReason::Refused, out);
            }
            return;
        }
        if !segment.flags.contains(Flags::SYN) {
            return;
        }
        self.settle_options(segment);
        self.start_receiving(segment.seq, false);
        if has_ack {
            self.on_syn_ack(segment, out);
        } else {
            // Two SYNs have crossed: ours goes out again, as an answer.
            self.state = State::SynReceived;
            self.queue.turn_syn_into_syn_ack();
            self.emit_syn(Flags::SYN | Flags::ACK, out);
        }
    }

    /// Our SYN was answered.
    fn on_syn_ack(&mut self, segment: Incoming<'_>, out: &mut impl Emit) {
        self.last_echo = self.echo_in(segment);
        self.undo_spurious_syn();
        self.on_ack(segment, out);
        self.snd_wnd = u64::from(segment.window);
        self.become_established(self.retransmits, out);
        self.send_ack(out);
    }

    /// The answer is to the first SYN: sending it again was not called for, and its loss is none (RFC 3522).
    fn undo_spurious_syn(&mut self) {
        let undo = &mut self.recovery.undo;
        if undo.first_retransmit.is_some() && undo.first_retransmit == self.last_echo {
            undo.marker = None;
        }
    }

    /// Both SYNs are acknowledged: the transfer starts. `syn_retransmits`: times that ours was sent again.
    pub(super) fn become_established(&mut self, syn_retransmits: u64, out: &mut impl Emit) {
        let was_lost = syn_retransmits > 1 && self.recovery.undo.marker.is_some();
        self.state = State::Established;
        if self.rtt.srtt().is_none() {
            self.rtt.fall_back(&self.profile);
        }
        self.congestion.on_established(&self.clock, &self.profile, was_lost);
        self.begin_pacing();
        self.last_sent = self.clock.jiffies();
        self.expand_send_buffer();
        self.start_keepalive();
        out.notify(Notice::Connected);
    }

    /// A segment for a SYN-ACK that waits for its ACK. True when it establishes the connection and is to be processed further.
    pub(super) fn on_segment_for_request(
        &mut self,
        segment: Incoming<'_>,
        request: Request,
        out: &mut impl Emit,
    ) -> bool {
        let is_syn = segment.flags.contains(Flags::SYN);
        let is_reset = segment.flags.contains(Flags::RST);
        let has_ack = segment.flags.contains(Flags::ACK);
        if is_syn && !has_ack && !is_reset && segment.seq == request.peer_syn {
            if !self.is_rate_limited() {
                self.retransmit_syn_ack(request, out);
                let wait = self.profile.rto_initial * (1 << request.timeouts.min(31));
                self.set_state_timer(wait);
            }
            return false;
        }
        if has_ack && !is_reset && segment.ack != FIRST_BYTE {
            out.refuse(&segment);
            return false;
        }
        let is_acceptable = self.receive.is_acceptable(segment.seq, segment.end());
        if !is_acceptable || self.is_timestamp_old(segment) {
            if !is_reset && !self.is_rate_limited() {
                self.send_ack(out);
            }
            return false;
        }
        if is_reset || is_syn {
            if is_syn {
                out.refuse(&segment);
            }
            self.finish(CloseReason::Refused, out);
            return false;
        }
        if has_ack {
            self.establish_request(segment, request, out);
        }
        has_ack
    }

    /// The SYN-ACK is acknowledged.
    fn establish_request(&mut self, segment: Incoming<'_>, request: Request, out: &mut impl Emit) {
        self.request = None;
        self.snd_una = FIRST_BYTE;
        self.last_echo = self.echo_in(segment);
        let measured = if request.retransmits == 0 {
            Some(self.clock.now() - request.sent_at)
        } else {
            self.echoed_rtt(segment)
        };
        if let Some(rtt) = measured {
            self.rtt.on_sample(rtt, self.snd_una, self.snd_nxt, &self.profile);
            self.rtt.on_minimum_sample(self.clock.now(), rtt, &self.profile);
        }
        if request.timeouts > 0 {
            self.recovery.undo.marker = Some(ISS);
            self.recovery.undo.first_retransmit = Some(self.clock.timestamp_ms_at(request.sent_at));
            self.undo_spurious_syn();
        }
        self.queue.delivered_total += 1;
        self.become_established(u64::from(request.retransmits), out);
        self.recovery.undo = super::recovery::Undo::default();
    }

    /// The third segment of the handshake, where two SYNs have crossed. True when it is to be processed further.
    pub(super) fn establish_crossed(&mut self, segment: Incoming<'_>, out: &mut impl Emit) -> bool {
        if !segment.flags.contains(Flags::ACK) {
            return false;
        }
        if self.on_ack(segment, out) != Verdict::Taken || self.snd_una < FIRST_BYTE {
            out.refuse(&segment);
            return false;
        }
        self.become_established(self.retransmits, out);
        true
    }

    /// The SYN-ACK was not answered in time.
    pub(super) fn on_request_expiry(&mut self, out: &mut impl Emit) {
        let Some(mut request) = self.request else { return };
        if request.timeouts >= self.profile.synack_retries {
            self.finish(CloseReason::TimedOut, out);
            return;
        }
        self.timeouts += 1;
        request.timeouts += 1;
        self.retransmit_syn_ack(request, out);
        let wait = self.profile.rto_initial * (1 << request.timeouts.min(31));
        self.set_state_timer(wait.min(self.profile.rto_max));
    }

    fn retransmit_syn_ack(&mut self, request: Request, out: &mut impl Emit) {
        self.request = Some(Request { retransmits: request.retransmits + 1, ..request });
        self.retransmits += 1;
        self.emit_syn(Flags::SYN | Flags::ACK, out);
    }
}
