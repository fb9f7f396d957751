//! The send buffer: bytes written and not yet acknowledged, and how a write is handed to TCP.
//!
//! Models the accounting of a BSD stream socket: a blocked writer, the low-water mark, and copying in pieces with an
//! output call after each, where a profile asks for it. Leaves out memory for headers of buffers (`sb_mbmax`).
//!
//! Source: 4.4BSD-Lite `sys/kern/uipc_socket.c` 8.3 (`sosend`), `uipc_socket2.c` 8.1, `sys/sys/mbuf.h`.

use std::collections::VecDeque;

use super::connection::Connection;
use super::profile::Profile;
use crate::tcp::segment::FIRST_BYTE;
use crate::tcp::state::{Emit, Notice, State};
use crate::units::Instant;

/// Writes of this size and more are copied into clusters, smaller rests into small buffers (`MINCLSIZE`, `MHLEN`).
const SMALL_REST: u64 = 208;
const SMALL_PIECE: u64 = 100;

/// The send buffer.
#[derive(Debug, Clone)]
pub(super) struct SendBuffer {
    /// Sequence number after the last byte written.
    pub(super) end: u64,
    /// Bytes that it holds.
    pub(super) capacity: u64,
    /// Bytes that a blocked writer still has. Zero when none waits.
    wanted: u64,
    /// Sequence numbers after the last byte of each write that is not acknowledged, where segments end there.
    #[expect(clippy::box_collection, reason = "a word in each of the many connections that join writes")]
    writes: Option<Box<VecDeque<u64>>>,
}

impl SendBuffer {
    pub(super) const fn new(capacity: u64) -> Self {
        Self { end: FIRST_BYTE, capacity, wanted: 0, writes: None }
    }

    /// Bytes from `snd_una` on.
    pub(super) fn queued(&self, snd_una: u64) -> u64 {
        self.end.saturating_sub(snd_una.max(FIRST_BYTE))
    }

    /// Of the `len` bytes from `seq` on, those up to the end of the first write that ends among them.
    #[inline]
    pub(super) fn in_one_write(&self, seq: u64, len: u64) -> u64 {
        let Some(writes) = &self.writes else {
            return len;
        };
        writes.iter().copied().find(|end| *end > seq).map_or(len, |end| len.min(end - seq))
    }

    /// A write of `bytes` is about to be copied. A segment ends behind it.
    fn end_write(&mut self, bytes: u64, snd_una: u64) {
        let writes = self.writes.get_or_insert_default();
        while writes.front().is_some_and(|end| *end <= snd_una) {
            writes.pop_front();
        }
        writes.push_back(self.end + bytes);
    }

    fn space(&self, snd_una: u64) -> u64 {
        self.capacity.saturating_sub(self.queued(snd_una))
    }

    /// True when a writer of `bytes` may go on: all fits, or a piece worth copying does.
    fn admits(&self, bytes: u64, snd_una: u64, profile: &Profile) -> bool {
        let space = self.space(snd_una);
        space >= bytes || space >= profile.send_low_water.get().min(self.capacity)
    }

    /// The stream has ended: no writer waits any more.
    pub(super) const fn forget_writer(&mut self) {
        self.wanted = 0;
    }

    /// True when a blocked writer may go on. True once.
    pub(super) fn take_writable(&mut self, snd_una: u64, profile: &Profile) -> bool {
        let writable = self.wanted > 0 && self.admits(self.wanted, snd_una, profile);
        if writable {
            self.wanted = 0;
        }
        writable
    }
}

impl Connection {
    /// Writes up to `bytes` to the stream and gives the number accepted, which may be zero.
    ///
    /// Before [`Notice::Connected`] and after the end of our stream nothing is accepted. When the buffer takes less than
    /// all, [`Notice::Writable`] says when to try again with the rest. As with a blocking BSD writer, that is once the
    /// rest fits or the low-water mark is free.
    pub fn write(&mut self, now: Instant, bytes: u64, out: &mut impl Emit) -> u64 {
        self.catch_up(now, out);
        if !matches!(self.state, State::Established | State::CloseWait) {
            return 0;
        }
        if !self.send.admits(bytes, self.snd_una, &self.profile) {
            self.send.wanted = bytes;
            return 0;
        }
        let accepted = bytes.min(self.send.space(self.snd_una));
        if !self.profile.join_writes && accepted == bytes && bytes > 0 {
            self.send.end_write(bytes, self.snd_una);
        }
        let mut copied = 0;
        while copied < accepted {
            let piece = self.piece_of(bytes - copied).min(accepted - copied);
            self.send.end += piece;
            copied += piece;
            self.output(out);
        }
        self.send.wanted = bytes - accepted;
        accepted
    }

    /// Bytes of the next piece, handed over at once, of a write with `rest` bytes to go.
    fn piece_of(&self, rest: u64) -> u64 {
        let cluster = self.profile.socket_cluster.get();
        if self.profile.socket_small_pieces && rest < SMALL_REST {
            SMALL_PIECE
        } else if cluster > 0 {
            cluster
        } else {
            rest
        }
    }

    /// Gives a blocked writer the notice that it may go on.
    pub(super) fn wake_writer(&mut self, out: &mut impl Emit) {
        if self.send.take_writable(self.snd_una, &self.profile) {
            out.notify(Notice::Writable);
        }
    }
}
