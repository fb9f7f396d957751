//! The sink: takes packets and acknowledges them.
//!
//! Models both of ns-2's: the plain sink answers each packet with an ACK of the last packet in order. The delaying one lets
//! a packet in order wait for the next, or for its interval. Whatever arrives while one waits, or out of order, is
//! acknowledged at once. A sink has room for any number of packets. Leaves out selective acknowledgement (`Sack1`) and the
//! echo of timestamps.
//!
//! Source: ns-2.35 `tcp/tcp-sink.cc` (`Acker`, `TcpSink`, `DelAckSink`).

use crate::tcp::ranges;
use std::ops::Range;

use super::profile::Profile;
use crate::tcp::segment::Segment;
use crate::tcp::state::{Emit, Notice};
use crate::units::Instant;

/// The receiving agent of a one-way transfer: a state machine without clock, queue or I/O.
#[derive(Debug, Clone)]
pub struct Sink {
    profile: Profile,
    /// Next packet expected (`next_`).
    next: u64,
    /// The packet after the highest that has arrived.
    max: u64,
    /// Packets beyond `next`, in ranges apart from each other and in order.
    early: Vec<Range<u64>>,
    /// When the ACK that waits is sent.
    timer: Option<Instant>,
}

impl Sink {
    /// An agent that expects packet 0.
    #[must_use]
    pub const fn new(profile: &Profile) -> Self {
        Self { profile: *profile, next: 0, max: 0, early: Vec::new(), timer: None }
    }

    /// A packet arrived.
    pub fn on_segment(&mut self, now: Instant, segment: &Segment, out: &mut impl Emit) {
        let number = self.profile.packet_number(segment.seq);
        let before = self.received();
        self.take(number);
        if self.received() > before {
            out.notify(Notice::Readable);
        }
        if self.may_wait(number) {
            self.timer = Some(now + self.profile.delayed_ack_interval);
        } else {
            self.timer = None;
            out.send_with_options(&self.profile.acknowledgement(self.next));
        }
    }

    /// When [`on_timeout`](Self::on_timeout) has something to do. `None` when no ACK waits.
    #[must_use]
    pub const fn next_timeout(&self) -> Option<Instant> {
        self.timer
    }

    /// Sends the ACK that waits, when it is due. May be called early or for nothing.
    pub fn on_timeout(&mut self, now: Instant, out: &mut impl Emit) {
        if self.timer.take_if(|at| *at <= now).is_some() {
            out.send_with_options(&self.profile.acknowledgement(self.next));
        }
    }

    /// Notes packet `number`, and moves on to the next missing one.
    fn take(&mut self, number: u64) {
        self.max = self.max.max(number + 1);
        if number > self.next {
            self.keep(number);
        } else if number == self.next {
            self.next += 1;
            if self.early.first().is_some_and(|range| range.start == self.next) {
                self.next = self.early.remove(0).end;
            }
        }
    }

    /// Keeps a packet that is out of order. Ranges that touch become one.
    fn keep(&mut self, number: u64) {
        ranges::insert(&mut self.early, number..number + 1);
    }

    /// True when the ACK of packet `number`, which has just arrived, waits.
    ///
    /// It waits if no other ACK does and the packet is the last one in order. A packet that fills a gap is not.
    fn may_wait(&self, number: u64) -> bool {
        let profile = &self.profile;
        let fills_gap = profile.immediate_ack_in_gap && number + 1 < self.max;
        let is_first = profile.immediate_ack_of_first && number == 0;
        profile.delayed_ack && self.timer.is_none() && number + 1 == self.next && !fills_gap && !is_first
    }

    /// Bytes of payload that have arrived in order. The last packet counts whole.
    #[must_use]
    pub fn received(&self) -> u64 {
        self.profile.data_bytes(self.next)
    }

    /// Size of an ACK of the agent on the wire, in bytes.
    #[must_use]
    pub fn packet_bytes(&self, segment: &Segment) -> u32 {
        self.profile.packet_bytes(segment)
    }

    /// Next number expected.
    #[must_use]
    pub fn rcv_nxt(&self) -> u64 {
        self.profile.sequence_number(self.next)
    }
}
