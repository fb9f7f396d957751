//! The send buffer: bytes written and not acknowledged, counted in memory, and its growth.
//!
//! Models `tcp_sendmsg()` for a blocked or polling writer: a write is accepted a segment at a time while the memory in use
//! is below the buffer's size, the writer goes on when a third of it is free, and the buffer grows with cwnd. Every segment
//! costs memory beyond its bytes. Leaves out locking of the buffer by `SO_SNDBUF`, and copying of user pages.
//!
//! Source: Linux 6.18 `tcp.c` (`tcp_sendmsg_locked()`, `forced_push()`), `tcp_input.c` (`tcp_sndbuf_expand()`,
//! `tcp_check_space()`), `include/net/sock.h` (`sk_stream_is_writeable()`).

use std::collections::VecDeque;
use std::num::NonZeroU64;

use super::connection::Connection;
use super::output::Push;
use super::profile::Profile;
use crate::tcp::segment::{FIRST_BYTE, Flags};
use crate::tcp::state::{Emit, Notice, State};
use crate::units::Instant;

/// Room for headers in every segment's memory: `MAX_TCP_HEADER` and `skb_shared_info`, 256 B and 320 B on x86-64.
const HEADER_ROOM: u64 = 576;
/// Memory of an `sk_buff`, aligned: 256 B on x86-64.
const BUFFER_DESCRIPTOR: u64 = 256;
/// Memory of a queued segment beyond its payload. A running kernel 6.18 reports 2280 B for segments of 1448 B and 1356 B for
/// segments of 524 B (`ss -m`).
const SEGMENT_OVERHEAD: u64 = HEADER_ROOM + BUFFER_DESCRIPTOR;

/// The send buffer.
#[derive(Debug, Clone)]
pub(super) struct SendBuffer {
    /// Number after the last byte written.
    pub(super) end: u64,
    /// True when the stream ends there: the FIN has that number.
    pub(super) has_fin: bool,
    /// Memory that it may take, in bytes (`sk_sndbuf`).
    pub(super) capacity: u64,
    /// A writer waits for room (`SOCK_NOSPACE`).
    is_blocked: bool,
    /// Ends of unsent segments that carry PSH: the first, and those after it, once there have been any.
    push: Option<NonZeroU64>,
    #[expect(clippy::box_collection, reason = "a word in each of the many endpoints that never have two")]
    later_pushes: Option<Box<VecDeque<NonZeroU64>>>,
    /// The last of them ever (`pushed_seq`).
    pushed: u64,
}

impl SendBuffer {
    pub(super) const fn new(profile: &Profile) -> Self {
        Self {
            end: FIRST_BYTE,
            has_fin: false,
            capacity: profile.send_buffer_initial.get(),
            is_blocked: false,
            push: None,
            later_pushes: None,
            pushed: FIRST_BYTE,
        }
    }

    /// Nothing more is written: a FIN follows, and no writer waits.
    pub(super) const fn end_stream(&mut self) {
        self.has_fin = true;
        self.is_blocked = false;
    }

    /// True when a writer waits for room.
    pub(super) const fn is_blocked(&self) -> bool {
        self.is_blocked
    }

    fn last_push(&self) -> Option<NonZeroU64> {
        self.later_pushes.as_ref().and_then(|later| later.back()).copied().or(self.push)
    }

    fn mark_push(&mut self, end: u64) {
        self.pushed = end;
        let end = NonZeroU64::new(end);
        if self.push.is_none() {
            self.push = end;
        } else if self.last_push() != end {
            self.later_pushes.get_or_insert_default().extend(end);
        }
    }

    /// The segment that is sent next ends at `end` and carries PSH, whatever was written.
    pub(super) fn push_next(&mut self, end: u64) {
        if self.push.is_none_or(|push| push.get() > end)
            && let Some(later) = std::mem::replace(&mut self.push, NonZeroU64::new(end))
        {
            self.later_pushes.get_or_insert_default().push_front(later);
        }
    }

    /// PSH, if a segment of new data from `start` to `end` carries it.
    pub(super) fn take_push(&mut self, start: u64, end: u64) -> Flags {
        let mut flags = Flags::NONE;
        while let Some(push) = self.push.filter(|push| push.get() <= end) {
            if push.get() > start {
                flags = Flags::PSH;
            }
            self.push = self.later_pushes.as_mut().and_then(|later| later.pop_front());
        }
        flags
    }
}

impl Profile {
    /// Segments of `payload` bytes that the send buffer lets go in a round trip, in the long run: a writer that waits goes on when a third
    /// is free, so that two thirds fly. Bulk transfers keep within 1 % of it with 256 KiB and more, and within 7 % with 64 KiB.
    #[must_use]
    pub fn segments_of_send_buffer(&self, payload: u64) -> u64 {
        let whole = self.send_buffer_max.get().div_ceil(payload + SEGMENT_OVERHEAD);
        (whole * 2 / 3).max(1)
    }
}

impl Connection {
    /// Bytes written and not yet sent.
    pub(super) fn unsent(&self) -> u64 {
        self.send.end.saturating_sub(self.snd_nxt)
    }

    /// True when data or a FIN waits to be sent for the first time.
    pub(super) fn unsent_segment_waits(&self) -> bool {
        self.unsent() > 0 || (self.send.has_fin && self.snd_nxt == self.send.end)
    }

    /// Memory that queued segments take. Those that were SACKed share theirs with their neighbours.
    fn memory_in_use(&self) -> u64 {
        let sent = u64::from(self.queue.packets_out() - self.queue.merged);
        let segments = sent + self.unsent().div_ceil(self.mss);
        self.bytes_unsent_or_unacknowledged() + segments * SEGMENT_OVERHEAD
    }

    /// Writes up to `bytes` to the stream and gives the number accepted, which may be zero.
    ///
    /// Before [`Notice::Connected`] and after the end of our stream nothing is accepted. When the buffer takes less than
    /// all, [`Notice::Writable`] says when to try again with the rest.
    pub fn write(&mut self, now: Instant, bytes: u64, out: &mut impl Emit) -> u64 {
        self.clock.advance(now);
        if !matches!(self.state, State::Established | State::CloseWait) || bytes == 0 {
            return 0;
        }
        // The last unsent segment is filled up first. That needs no new one.
        let tail = (self.mss - self.unsent() % self.mss) % self.mss;
        let free = self.send.capacity.saturating_sub(self.memory_in_use());
        let segments = free.div_ceil(self.mss + SEGMENT_OVERHEAD);
        let accepted = bytes.min(tail + segments * self.mss);
        self.send.is_blocked = accepted < bytes;
        if accepted == 0 {
            return 0;
        }
        self.restart_after_idle();
        self.check_application_limit();
        self.append(accepted);
        // A writer that has to wait has all that it wrote sent, small segments too.
        self.push(if self.send.is_blocked { Push::Now } else { Push::Nagle }, out);
        accepted
    }

    /// Appends `bytes` to the stream. The last segment carries PSH, and one whenever half the peer's window was written.
    fn append(&mut self, bytes: u64) {
        let half_window = self.max_window / 2;
        let end = self.send.end + bytes;
        loop {
            let beyond = self.send.pushed + half_window + 1;
            let segments = beyond.saturating_sub(self.snd_nxt).div_ceil(self.mss);
            let forced = self.snd_nxt + segments * self.mss;
            if forced >= end {
                break;
            }
            self.send.mark_push(forced);
        }
        self.send.end = end;
        self.send.mark_push(end);
    }

    /// Lets a blocked writer go on when a third of the buffer is free. The buffer grows where cwnd would take more.
    #[inline]
    pub(super) fn check_space(&mut self, out: &mut impl Emit) {
        if self.send.is_blocked {
            self.make_space(out);
        }
    }

    fn make_space(&mut self, out: &mut impl Emit) {
        if self.may_send() {
            self.expand_send_buffer();
            self.congestion.on_buffer_expanded(&self.clock);
        }
        let in_use = self.memory_in_use();
        if self.send.capacity >= in_use + in_use / 2 {
            self.send.is_blocked = false;
            out.notify(Notice::Writable);
        }
    }

    /// Twice cwnd, three times with BBR, in memory of segments, fits into the buffer.
    pub(super) fn expand_send_buffer(&mut self) {
        let per_segment =
            (self.agreed.mss_clamp.max(self.mss) + HEADER_ROOM).next_power_of_two() + BUFFER_DESCRIPTOR;
        let segments =
            self.congestion.cwnd().max(super::output::INITIAL_CWND).max(self.recovery.reordering + 1);
        let wanted = self.congestion.buffered_windows() * u64::from(segments) * per_segment;
        if self.send.capacity < wanted {
            self.send.capacity = wanted.min(self.profile.send_buffer_max.get()).max(self.send.capacity);
        }
    }
}
