//! The receive buffer and the reassembly of what arrives out of order.
//!
//! Models byte counts and ranges. Payload has no content, so which of two overlapping copies is kept cannot matter.
//! A FIN that arrives early is remembered by its number. Leaves out urgent data.
//!
//! Source: 4.4BSD-Lite `tcp_input.c` 8.5 (`tcp_reass`), `sys/kern/uipc_socket.c` 8.3 (`soreceive`).

use std::ops::Range;

use super::connection::Connection;
use crate::tcp::ranges;
use crate::tcp::segment::{Flags, Plain};
use crate::tcp::state::{Emit, Notice, State};
use crate::units::Instant;

/// The receive buffer, and what waits for a gap to be filled.
#[derive(Debug, Clone)]
pub(super) struct ReceiveBuffer {
    /// Bytes that it holds.
    pub(super) capacity: u64,
    /// Bytes in order and not yet read.
    pub(super) buffered: u64,
    /// Segments that wait for a gap to be filled. Most connections never have any.
    early: Option<Box<Early>>,
}

/// Segments that arrived out of order.
#[derive(Debug, Clone, Default)]
struct Early {
    /// Ranges beyond `rcv_nxt`, apart from each other and in order.
    ranges: Vec<Range<u64>>,
    /// Number of a FIN.
    fin: Option<u64>,
}

impl ReceiveBuffer {
    pub(super) const fn new(capacity: u64) -> Self {
        Self { capacity, buffered: 0, early: None }
    }

    /// Free space for data in order.
    pub(super) const fn space(&self) -> u64 {
        self.capacity.saturating_sub(self.buffered)
    }

    /// True when nothing waits for a gap to be filled.
    pub(super) const fn is_in_order(&self) -> bool {
        self.early.is_none()
    }

    /// Keeps `range` until everything before it has arrived. Ranges that touch become one.
    fn insert(&mut self, range: Range<u64>) {
        ranges::insert(&mut self.early.get_or_insert_default().ranges, range);
    }

    /// Keeps a FIN of that number likewise.
    fn insert_fin(&mut self, number: u64) {
        self.early.get_or_insert_default().fin = Some(number);
    }

    /// Takes the range that begins at or before `rcv_nxt`, if there is one, and gives its end.
    fn take_next(&mut self, rcv_nxt: u64) -> Option<u64> {
        let ranges = &mut self.early.as_mut()?.ranges;
        let end = ranges.first().filter(|range| range.start <= rcv_nxt)?.end;
        ranges.remove(0);
        self.free_if_empty();
        Some(end)
    }

    /// Takes the FIN if its number is `rcv_nxt`. False when it is not.
    fn take_fin(&mut self, rcv_nxt: u64) -> bool {
        let taken =
            self.early.as_mut().is_some_and(|early| early.fin.take_if(|fin| *fin == rcv_nxt).is_some());
        self.free_if_empty();
        taken
    }

    /// With nothing left out of order, all is in order.
    fn free_if_empty(&mut self) {
        self.early.take_if(|early| early.ranges.is_empty() && early.fin.is_none());
    }
}

impl Connection {
    /// Bytes that can be read.
    #[must_use]
    pub const fn readable(&self) -> u64 {
        self.receive.buffered
    }

    /// Reads up to `bytes` and gives the number read. May send a window update, and with it the ACK of the bytes read.
    #[inline(always)]
    pub fn read(&mut self, now: Instant, bytes: u64, out: &mut impl Emit) -> u64 {
        self.catch_up(now, out);
        let read = bytes.min(self.receive.buffered);
        self.receive.buffered -= read;
        if read > 0 && self.state != State::Closed {
            self.output(out);
        }
        read
    }

    /// Takes the text and the FIN of an acceptable segment that has one of them. True when a FIN is now in order.
    pub(super) fn take_text(&mut self, segment: &Plain, out: &mut impl Emit) -> bool {
        if self.state == State::TimeWait {
            return false;
        }
        let has_fin = segment.flags.contains(Flags::FIN);
        let in_order = segment.seq == self.rcv_nxt && self.receive.is_in_order();
        if self.state == State::Established && in_order {
            self.delay_ack();
        } else {
            self.ack_now = true;
        }
        if self.state < State::Established || !in_order {
            return self.reassemble(segment, out);
        }
        self.accept_text(u64::from(segment.len), out);
        has_fin
    }

    /// Appends `len` bytes in order.
    pub(super) fn accept_text(&mut self, len: u64, out: &mut impl Emit) {
        if len > 0 {
            self.rcv_nxt += len;
            self.receive.buffered += len;
            out.notify(Notice::Readable);
        }
    }

    /// Keeps a segment that is out of order, or that came while data is not delivered yet.
    fn reassemble(&mut self, segment: &Plain, out: &mut impl Emit) -> bool {
        let end = segment.seq + u64::from(segment.len);
        if segment.len > 0 {
            self.receive.insert(segment.seq..end);
        }
        if segment.flags.contains(Flags::FIN) {
            self.receive.insert_fin(end);
        }
        self.deliver_early_text(out);
        self.receive.take_fin(self.rcv_nxt)
    }

    /// Delivers text that has become in order. It waits until the connection is established.
    pub(super) fn deliver_early_text(&mut self, out: &mut impl Emit) {
        if self.state < State::Established {
            return;
        }
        while let Some(end) = self.receive.take_next(self.rcv_nxt) {
            self.accept_text(end.saturating_sub(self.rcv_nxt), out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(ranges: &[(u64, u64)]) -> Vec<(u64, u64)> {
        let mut buffer = ReceiveBuffer::new(1 << 20);
        ranges.iter().for_each(|(start, end)| buffer.insert(*start..*end));
        buffer.early.iter().flat_map(|early| &early.ranges).map(|range| (range.start, range.end)).collect()
    }

    #[test]
    fn ranges_stay_in_order_and_apart() {
        assert_eq!(kept(&[(30, 40), (10, 20), (50, 60)]), [(10, 20), (30, 40), (50, 60)]);
    }

    #[test]
    fn ranges_that_touch_or_overlap_become_one() {
        assert_eq!(kept(&[(10, 20), (20, 30)]), [(10, 30)]);
        assert_eq!(kept(&[(20, 30), (10, 20)]), [(10, 30)]);
        assert_eq!(kept(&[(10, 20), (30, 40), (15, 35)]), [(10, 40)]);
        assert_eq!(kept(&[(10, 40), (20, 30)]), [(10, 40)]);
        assert_eq!(kept(&[(20, 30), (60, 70), (40, 50), (10, 65)]), [(10, 70)]);
    }
}
