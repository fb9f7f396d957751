//! The receiving half of a connection: reassembly, when to acknowledge, and what window to offer.
//!
//! Models what Linux does with the payload of an acceptable segment, and with reading. Leaves out urgent
//! data, peeking, low-water marks, and pruning beyond a gap: a segment is dropped when there is no memory for
//! it.
//!
//! Source: Linux 6.18 `tcp_input.c`, `tcp_data_queue()`, `tcp_sequence()`, `tcp_send_dupack()`; `tcp.c`, `tcp_recvmsg()`,
//! `__tcp_cleanup_rbuf()`; RFC 9293, section 3.10.7.4.

mod acking;
mod marks;
mod reassembly;
mod sack;
mod taking;
mod tuning;
mod window;

use std::ops::Range;

use acking::{Acking, HalfWindow, ReceiveState};
use marks::Marks;
use reassembly::Early;
use sack::SackReport;
use tuning::Tuning;
use window::ReceiveWindow;

use super::clock::Clock;
use super::input::Incoming;
use super::profile::Profile;
use super::rtt::Rtt;
use super::shared::SharedProfile;
use crate::units::Instant;

/// Size of the peer's segments that is assumed at first, and the least that is (`TCP_MIN_RCVMSS`, `TCP_MIN_MSS`).
const SEGMENT_ASSUMED: u64 = 536;
const SEGMENT_MIN: u64 = 88;
/// Segments that the first round trip is taken to bring (`TCP_INIT_CWND`).
const FIRST_ROUND: u64 = 10;
/// Bytes of the timestamps in a header.
const TIMESTAMP_BYTES: u64 = 12;

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

/// Context lent to the receiver for a segment: the time, the constants, and the sender's round trip.
#[derive(Debug, Clone, Copy)]
pub(super) struct Context<'c> {
    pub(super) clock: &'c Clock,
    pub(super) profile: &'c SharedProfile,
    pub(super) rtt: &'c Rtt,
}

/// Result of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Arrival {
    /// Bytes that have become readable.
    pub(super) delivered: u64,
    /// True when the FIN is now in order. `rcv_nxt` is behind it.
    pub(super) fin: bool,
}

/// Agreement of the two SYNs, as far as the receiver needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Agreed {
    /// Window scaling is in force both ways.
    pub(super) scaling: bool,
    pub(super) timestamps: bool,
    pub(super) sack: bool,
    pub(super) ecn: bool,
    /// Largest payload that we send to the peer, in bytes, options taken off.
    pub(super) mss: u64,
    /// True when the peer opened the connection.
    pub(super) passive: bool,
}

/// The receiving half of a connection.
#[derive(Debug, Clone)]
pub(super) struct Receiver {
    rcv_nxt: u64,
    /// Number after the last byte that the application has read.
    copied_seq: u64,
    /// Bytes in order and not read, and the memory that they take.
    readable: u64,
    memory: u64,
    fin: Fin,
    early: Early,
    sack: SackReport,
    acking: Acking,
    window: ReceiveWindow,
    tuning: Tuning,
    /// Of routers, where ECN is in use.
    marks: Option<Marks>,
    /// Estimated payload of the peer's segments, and payload of the last small one (`rcv_mss`, `last_seg_size`).
    segment: u64,
    small_segment: u64,
    timestamps: bool,
    sacks: bool,
    dsacks: bool,
}

/// The peer's FIN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fin {
    Unknown,
    /// Arrived beyond a gap, with that number.
    Early(u64),
    Received,
}

impl Receiver {
    /// `mss` is what we offer. `clamp` is a receive window in bytes that a scenario sets, or auto-tuning.
    #[inline]
    pub(super) fn new(profile: &Profile, mss: u16, clamp: Option<u64>) -> Self {
        Self {
            rcv_nxt: 0,
            copied_seq: 0,
            readable: 0,
            memory: 0,
            fin: Fin::Unknown,
            early: Early::default(),
            sack: SackReport::default(),
            acking: Acking::new(),
            window: ReceiveWindow::new(profile, u64::from(mss), clamp),
            tuning: Tuning::new(),
            marks: None,
            segment: SEGMENT_ASSUMED,
            small_segment: 0,
            timestamps: false,
            sacks: false,
            dsacks: profile.dsack,
        }
    }

    /// Shift of our window that our SYN offers. `None` when scaling is off.
    pub(super) const fn scale_offered(&self) -> Option<u8> {
        self.window.scale_offered()
    }

    /// Window field of our SYN or SYN-ACK, which is never scaled.
    pub(super) fn syn_window(&self) -> u16 {
        self.window.syn_field()
    }

    /// Both SYNs are known: `rcv_nxt` follows the peer's.
    #[inline]
    pub(super) fn start(&mut self, clock: &Clock, rcv_nxt: u64, agreed: Agreed) {
        self.rcv_nxt = rcv_nxt;
        self.copied_seq = rcv_nxt;
        (self.timestamps, self.sacks) = (agreed.timestamps, agreed.sack);
        self.marks = agreed.ecn.then(Marks::default);
        let option_bytes = if agreed.timestamps { TIMESTAMP_BYTES } else { 0 };
        self.window.start(rcv_nxt, agreed.scaling, option_bytes, agreed.passive);
        self.tuning.start(clock.now(), rcv_nxt, self.window.initial_round(FIRST_ROUND));
        let half_window = self.window.advertised() / 2;
        self.segment =
            SEGMENT_ASSUMED.min(self.window.mss()).min(agreed.mss).min(half_window).max(SEGMENT_MIN);
        self.acking.start(clock);
    }

    /// True when a segment from `seq` to `end` is in the window.
    ///
    /// One that reaches beyond it is taken if nothing waits to be read: the window was too small for a single segment.
    pub(super) fn is_acceptable(&self, seq: u64, end: u64) -> bool {
        let edge = self.rcv_nxt + self.window.left(self.rcv_nxt);
        end >= self.window.last_ack() && seq <= edge && (end <= edge || self.readable == 0)
    }

    /// A segment from `seq` to `end` was not acceptable, and the peer is to learn where we are.
    pub(super) fn on_unacceptable(&mut self, seq: u64, end: u64, profile: &SharedProfile) {
        if seq < end && seq < self.rcv_nxt {
            self.acking.go_quick(self.half_window(), profile.quick_acks_max, profile);
            self.report_duplicate(seq..end.min(self.rcv_nxt));
        }
    }

    fn report_duplicate(&mut self, range: Range<u64>) {
        if self.sacks && self.dsacks {
            self.sack.add_duplicate(range);
        }
    }

    /// Half of the window as it was advertised, in segments of the peer.
    fn half_window(&self) -> HalfWindow {
        HalfWindow { bytes: self.window.advertised() / 2, segment: self.segment }
    }

    /// Memory that is taken, in bytes.
    fn used(&self) -> u64 {
        self.memory + self.early.memory()
    }

    /// Takes the payload and the FIN of an acceptable segment, and decides when it is acknowledged.
    ///
    /// A segment without either only brings a timestamp back. The caller has dealt with SYN, RST and old timestamps.
    #[inline(always)]
    pub(super) fn on_segment(&mut self, context: &Context<'_>, segment: Incoming<'_>) -> Arrival {
        self.note_echo(context.clock, segment);
        if segment.sequence_len() == 0 || self.fin == Fin::Received {
            return Arrival::default();
        }
        self.on_payload(context, segment)
    }

    fn on_payload(&mut self, context: &Context<'_>, segment: Incoming<'_>) -> Arrival {
        self.sack.forget_duplicate();
        let arrival = self.take(context, segment);
        if self.fin == Fin::Received {
            self.acking.on_fin(context.profile);
            self.early.clear();
        }
        self.decide(context);
        arrival
    }

    fn decide(&mut self, context: &Context<'_>) {
        let (chosen, is_short) = self.window.choose(self.used(), self.segment);
        if is_short {
            self.acking.stop_quick();
        }
        let state = ReceiveState {
            rcv_nxt: self.rcv_nxt,
            unacknowledged: self.unacknowledged(),
            segment: self.segment,
            window_advances: chosen >= self.window.advertised(),
            has_gap: !self.early.is_empty(),
            sack: self.sacks,
            receiver_rtt: self.tuning.rtt(),
        };
        self.acking.decide(context, &state);
    }

    /// Numbers received in order since the last ACK.
    const fn unacknowledged(&self) -> u64 {
        self.rcv_nxt - self.window.last_ack()
    }

    /// When an ACK is due.
    pub(super) fn ack_due(&self) -> AckDue {
        self.acking.due()
    }

    /// A deadline of [`ack_due`](Self::ack_due) has come.
    pub(super) fn on_delayed_ack_timer(&mut self, clock: &Clock, profile: &SharedProfile) {
        self.acking.on_timer(clock, profile);
    }

    /// A segment with an ACK has left, after [`advertise`](Self::advertise).
    pub(super) fn on_ack_sent(&mut self, profile: &SharedProfile) {
        self.acking.on_ack_sent(profile);
        self.sack.forget_duplicate();
    }

    /// A segment with data has left: in a dialogue ACKs ride on data.
    pub(super) fn on_data_sent(&mut self, clock: &Clock) {
        self.acking.on_data_sent(clock);
    }

    /// The window field for a segment that leaves now, scaled. Moves `rcv_adv`.
    #[inline(always)]
    pub(super) fn advertise(&mut self) -> u16 {
        let (chosen, is_short) = self.window.choose(self.used(), self.segment);
        if is_short {
            self.acking.stop_quick();
        }
        self.window.advertise(self.rcv_nxt, chosen)
    }

    /// SACK blocks for a segment that leaves now, the report of a duplicate first.
    #[inline]
    pub(super) fn sack_blocks(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.sack.blocks()
    }

    /// Number of [`sack_blocks`](Self::sack_blocks).
    pub(super) fn sack_count(&self) -> usize {
        self.sack.count()
    }

    /// Bytes that can be read.
    pub(super) const fn readable(&self) -> u64 {
        self.readable
    }

    /// Reads up to `bytes` and gives the number read. May make an ACK due.
    pub(super) fn read(&mut self, now: Instant, bytes: u64, profile: &SharedProfile) -> u64 {
        let read = bytes.min(self.readable);
        if read == 0 {
            return 0;
        }
        // The buffer holds segments. A part of the bytes frees that part of their memory (chosen).
        self.memory -= if read == self.readable {
            self.memory
        } else {
            (u128::from(self.memory) * u128::from(read) / u128::from(self.readable)) as u64
        };
        // A read is judged after each segment that it takes, so at one instant only the first of them counts.
        let first = read.min(self.segment);
        if let Some((copied, before)) =
            self.tuning.on_read(now, self.copied_seq + first, self.readable - first)
        {
            let early = self.early.end().map_or(0, |end| end - self.rcv_nxt);
            self.window.tune(copied, before, early);
        }
        self.readable -= read;
        self.copied_seq += read;
        let is_emptied = self.used() == 0;
        let is_due = self.acking.on_read(is_emptied, self.unacknowledged(), self.segment, profile);
        if !is_due && self.fin != Fin::Received {
            self.announce_opened_window();
        }
        read
    }

    /// An ACK is due when reading has at least doubled the window.
    fn announce_opened_window(&mut self) {
        let left = self.window.left(self.rcv_nxt);
        if 2 * left > self.window.clamp() {
            return;
        }
        let (chosen, is_short) = self.window.choose(self.used(), self.segment);
        if is_short {
            self.acking.stop_quick();
        }
        if chosen > 0 && chosen >= 2 * left {
            self.acking.on_window_opened();
        }
    }

    /// The application has closed: unread bytes are forgotten. True if there were any.
    pub(super) fn discard(&mut self) -> bool {
        let had_unread = self.readable > 0;
        self.copied_seq += self.readable;
        (self.readable, self.memory) = (0, 0);
        had_unread
    }

    /// Next number expected.
    pub(super) const fn rcv_nxt(&self) -> u64 {
        self.rcv_nxt
    }

    /// Right edge of the window as it was advertised.
    pub(super) const fn rcv_adv(&self) -> u64 {
        self.window.edge()
    }

    /// Shift of our window in force.
    pub(super) const fn shift(&self) -> u8 {
        self.window.shift()
    }

    /// Memory of the receive buffer, in bytes.
    pub(super) const fn buffer(&self) -> u64 {
        self.window.memory()
    }
}
