//! The receiving half of a connection: reassembly, when to acknowledge, and what window to offer.
//!
//! Source: Linux 6.18 `tcp_input.c`, `tcp_output.c`, `tcp.c`.

use std::ops::Range;

use super::clock::Clock;
use super::profile::Profile;
use crate::tcp::segment::Segment;
use crate::units::{Duration, Instant};

/// When an ACK must leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AckDue {
    /// Nothing is to be acknowledged.
    No,
    /// Before anything else happens.
    Now,
    /// At that instant, if no segment has carried it before.
    At(Instant),
}

/// What a segment brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Arrival {
    /// Bytes that have become readable.
    pub(super) delivered: u64,
    /// Whether the FIN is now in order; `rcv_nxt` is behind it.
    pub(super) fin: bool,
}

/// The receiving half of a connection.
#[derive(Debug, Clone)]
pub(super) struct Receiver {
    rcv_nxt: u64,
}

impl Receiver {
    /// `mss` is what we offer; `clamp` is a receive window in bytes that a scenario sets, or auto-tuning.
    pub(super) fn new(profile: &Profile, mss: u16, clamp: Option<u64>) -> Self {
        let _ = (profile, mss, clamp);
        Self { rcv_nxt: 0 }
    }

    /// Shift of our window that our SYN offers; `None` when scaling is off.
    pub(super) fn scale_offered(&self) -> Option<u8> {
        None
    }

    /// Window field of our SYN or SYN-ACK, which is never scaled.
    pub(super) fn syn_window(&self) -> u16 {
        0
    }

    /// Both SYNs are known: `rcv_nxt` follows the peer's SYN, `mss` is what the peer will send at most (options taken off),
    /// `timestamps` and `sack` say what was agreed, `scaled` whether our shift is in force.
    pub(super) fn start(&mut self, now: Instant, rcv_nxt: u64, agreed: Agreed) {
        let _ = (now, agreed);
        self.rcv_nxt = rcv_nxt;
    }

    /// Takes the payload and the FIN of an acceptable segment (the caller has checked PAWS, the window, RST and SYN).
    ///
    /// `srtt` is the sender's estimate. A segment without payload and FIN changes nothing.
    pub(super) fn on_segment(
        &mut self,
        now: Instant,
        clock: &Clock,
        segment: &Segment,
        srtt: Option<Duration>,
    ) -> Arrival {
        let _ = (now, clock, segment, srtt);
        Arrival::default()
    }

    /// Whether any of the numbers from `seq` to `end` is in the window (RFC 9293, section 3.10.7.4; `tcp_sequence()`).
    pub(super) fn is_acceptable(&self, seq: u64, end: u64) -> bool {
        let _ = (seq, end);
        true
    }

    /// A segment was not acceptable, or a copy, and the peer must learn where we are; the range is reported as a
    /// duplicate if D-SACK is on (`tcp_send_dupack()`).
    pub(super) fn on_unacceptable(&mut self, seq: u64, end: u64) {
        let _ = (seq, end);
    }

    /// When an ACK is due.
    pub(super) fn ack_due(&self) -> AckDue {
        AckDue::No
    }

    /// The delayed-ACK deadline has come: an ACK is due now (`tcp_delack_timer_handler()`).
    pub(super) fn on_delayed_ack_timer(&mut self, now: Instant, clock: &Clock) {
        let _ = (now, clock);
    }

    /// A segment with an ACK has left (`tcp_event_ack_sent()`).
    pub(super) fn on_ack_sent(&mut self, now: Instant) {
        let _ = now;
    }

    /// A segment with data has left (`tcp_event_data_sent()`): a dialogue has its ACKs ride on data.
    pub(super) fn on_data_sent(&mut self, now: Instant, clock: &Clock) {
        let _ = (now, clock);
    }

    /// The window field for a segment that leaves now, scaled; moves `rcv_adv` (`tcp_select_window()`).
    pub(super) fn advertise(&mut self) -> u16 {
        0
    }

    /// SACK blocks for a segment that leaves now, the report of a duplicate first; at most `limit` are to be sent.
    pub(super) fn sack_blocks(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        std::iter::empty()
    }

    /// Bytes that can be read.
    pub(super) fn readable(&self) -> u64 {
        0
    }

    /// Reads up to `bytes` and gives the number read. May make an ACK due (`tcp_cleanup_rbuf()`).
    pub(super) fn read(&mut self, now: Instant, clock: &Clock, bytes: u64) -> u64 {
        let _ = (now, clock, bytes);
        0
    }

    /// The application has closed: what was not read is forgotten. Whether something was.
    pub(super) fn discard(&mut self) -> bool {
        false
    }

    /// Next number expected.
    pub(super) const fn rcv_nxt(&self) -> u64 {
        self.rcv_nxt
    }

    /// Right edge of the window as it was advertised.
    pub(super) const fn rcv_adv(&self) -> u64 {
        self.rcv_nxt
    }

    /// Shift of our window in force.
    pub(super) const fn shift(&self) -> u8 {
        0
    }

    /// Memory of the receive buffer, in bytes.
    pub(super) const fn buffer(&self) -> u64 {
        0
    }
}

/// What the two SYNs have settled, as far as the receiver needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Agreed {
    /// Window scaling is in force both ways.
    pub(super) scaling: bool,
    pub(super) timestamps: bool,
    pub(super) sack: bool,
    /// Largest payload that we send to the peer, in bytes, options taken off.
    pub(super) mss: u64,
    /// Whether the peer opened the connection.
    pub(super) passive: bool,
}
