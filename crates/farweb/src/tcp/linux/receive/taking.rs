//! Intake of a segment: data in order, data beyond a gap, copies, and the lessons of the receiver.
//!
//! Models what becomes of payload and FIN, and the estimate of the peer's segment size. Leaves out urgent data, and joining
//! and pruning of what lies beyond a gap.
//!
//! Source: Linux 6.18 `tcp_input.c`, `tcp_data_queue()`, `tcp_data_queue_ofo()`, `tcp_ofo_queue()`, `tcp_measure_rcv_mss()`.

use super::super::input::Incoming;
use super::reassembly::Released;
use super::window::memory_of;
use super::{
    Arrival, Clock, Context, Fin, Receiver, SEGMENT_ASSUMED, SEGMENT_MIN, SharedProfile, TIMESTAMP_BYTES,
};
use crate::tcp::segment::Flags;

/// Least payload that lets the window grow.
const GROWING_LEN: u64 = 128;
/// Bytes of an IP header, and of a TCP header without options.
const IP_HEADER_BYTES: u32 = 20;
const TCP_HEADER: u64 = 20;

impl Receiver {
    /// The receiver's round trip, from the timestamp that comes back. An ACK without data uses up the timestamp that it brings, so
    /// the ACK of a request leaves the first flight of the response without a sample.
    #[inline]
    pub(super) fn note_echo(&mut self, clock: &Clock, segment: Incoming<'_>) {
        if let Some(stamps) = segment.timestamps().filter(|_| self.timestamps) {
            let age = clock.timestamp_ms().wrapping_sub(stamps.echo);
            let is_full = segment.sequence_len() >= self.segment;
            self.tuning.on_echo(stamps.echo, age, is_full && age < u32::MAX / 2);
        }
    }

    pub(super) fn take(&mut self, context: &Context<'_>, segment: Incoming<'_>) -> Arrival {
        let (seq, end) = (segment.seq, segment.end());
        let left = self.window.left(self.rcv_nxt);
        let is_bare_fin = segment.len == 0;
        if end <= self.rcv_nxt {
            self.report_duplicate(seq..end);
            self.drop_segment(context.profile);
        } else if seq < self.rcv_nxt {
            self.report_duplicate(seq..self.rcv_nxt);
            if left == 0 {
                self.drop_segment(context.profile);
            } else {
                return self.take_in_order(context, segment);
            }
        } else if seq == self.rcv_nxt && (left > 0 || is_bare_fin) {
            return self.take_in_order(context, segment);
        } else if seq >= self.rcv_nxt + left {
            self.drop_segment(context.profile);
        } else {
            self.take_early(context, segment);
        }
        Arrival::default()
    }

    /// A copy, or a segment beyond the window: the peer has not heard our ACKs, or probes.
    fn drop_segment(&mut self, profile: &SharedProfile) {
        self.acking.go_quick(self.half_window(), profile.quick_acks_max, profile);
        self.acking.schedule();
    }

    fn take_in_order(&mut self, context: &Context<'_>, segment: Incoming<'_>) -> Arrival {
        let memory = memory_of(u64::from(segment.packet_bytes()));
        if self.used() > self.window.memory() && !self.window.make_room(self.used()) && self.readable > 0 {
            self.acking.stop_quick();
            self.acking.schedule();
            self.acking.schedule_at_once();
            return Arrival::default();
        }
        let mut delivered = segment.end() - segment.flags.contains(Flags::FIN) as u64 - self.rcv_nxt;
        self.rcv_nxt += delivered;
        if segment.len > 0 {
            self.memory += memory;
            self.on_data(context, segment, memory);
        }
        if segment.flags.contains(Flags::FIN) {
            self.receive_fin();
        } else if let Some(released) = self.early.release(self.rcv_nxt) {
            delivered += self.take_released(released);
        }
        self.readable += delivered;
        self.sack.acknowledge(self.rcv_nxt);
        Arrival { delivered, fin: self.fin == Fin::Received }
    }

    fn receive_fin(&mut self) {
        self.rcv_nxt += 1;
        self.fin = Fin::Received;
    }

    /// A gap was filled: what lay beyond it is in order. Gives its bytes.
    fn take_released(&mut self, released: Released) -> u64 {
        if let Some(duplicate) = released.duplicate {
            self.report_duplicate(duplicate);
        }
        self.memory += released.memory;
        let has_fin = self.fin == Fin::Early(released.rcv_nxt - 1);
        let data_end = released.rcv_nxt - u64::from(has_fin);
        let delivered = data_end - self.rcv_nxt;
        self.rcv_nxt = data_end;
        if has_fin {
            self.receive_fin();
        }
        if self.early.is_empty() {
            // RFC 5681, section 4.2: an immediate ACK for what fills a gap.
            self.acking.schedule_at_once();
        }
        delivered
    }

    /// Data came in order: delays and window adapt.
    fn on_data(&mut self, context: &Context<'_>, segment: Incoming<'_>, memory: u64) {
        self.measure(segment, memory);
        self.tuning.on_data(context.clock.now(), self.rcv_nxt, self.window.advertised());
        let half_window = self.half_window();
        self.acking.on_data(context, half_window);
        self.note_mark(context.profile, segment);
        self.grow_window(segment, memory);
    }

    fn grow_window(&mut self, segment: Incoming<'_>, memory: u64) {
        let len = u64::from(segment.len);
        if len >= GROWING_LEN && self.window.grow(len, memory, self.used(), self.segment) {
            self.acking.on_window_growth();
        }
    }

    /// Learns the size of the peer's segments, and what memory they take.
    fn measure(&mut self, segment: Incoming<'_>, memory: u64) {
        let len = u64::from(segment.len);
        let last_small = std::mem::take(&mut self.small_segment);
        if len >= self.segment {
            if len != self.segment
                && let Some(clamp) = self.window.on_new_size(len, memory)
            {
                self.tuning.limit_best(clamp);
            }
            self.segment = len.min(self.window.mss());
            self.acking.on_full_segment(segment.flags.contains(Flags::PSH));
            return;
        }
        // Headers count, because SACK blocks make segments of one sender differ in payload.
        let with_header = u64::from(segment.packet_bytes() - IP_HEADER_BYTES);
        let is_final = segment.flags.intersects(Flags::PSH | Flags::FIN);
        let could_be_full = with_header >= SEGMENT_ASSUMED + TCP_HEADER
            || (with_header >= SEGMENT_MIN + TCP_HEADER && !is_final);
        if could_be_full {
            let fixed = TCP_HEADER + if self.timestamps { TIMESTAMP_BYTES } else { 0 };
            self.small_segment = with_header - fixed;
            if self.small_segment == last_small {
                self.segment = self.small_segment;
                return;
            }
        }
        self.acking.on_small_segment();
    }

    /// Keeps a segment that lies beyond a gap.
    fn take_early(&mut self, context: &Context<'_>, segment: Incoming<'_>) {
        self.note_mark(context.profile, segment);
        let memory = memory_of(u64::from(segment.packet_bytes()));
        if self.used() > self.window.memory() && !self.window.make_room(self.used()) {
            return;
        }
        self.measure(segment, memory);
        self.acking.schedule();
        if segment.flags.contains(Flags::FIN) {
            self.fin = Fin::Early(segment.end() - 1);
        }
        let range = segment.seq..segment.end();
        let (duplicate, is_copy) = self.early.insert(range.clone(), memory);
        if let Some(duplicate) = duplicate {
            self.report_duplicate(duplicate);
        }
        if !self.sacks {
            return;
        }
        if self.sack.add(range) && self.acking.has_compressed() {
            self.acking.schedule_at_once();
        }
        if !is_copy {
            self.grow_window(segment, memory);
            let early = self.early.end().unwrap_or(self.rcv_nxt) - self.rcv_nxt;
            self.window.tune(self.tuning.best(), self.tuning.best(), early);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Agreed;
    use super::*;
    use crate::tcp::host::HostClock;
    use crate::tcp::linux::Profile;
    use crate::tcp::segment::{Plain, Timestamps};
    use crate::units::{Duration, Instant};

    #[test]
    fn an_ack_without_data_uses_up_its_timestamp() {
        let profile = SharedProfile::new(Profile::linux());
        let clock = Clock::new(Instant::from_nanos(1_001_000_000), HostClock::default(), &profile);
        let stamps = Some(Timestamps { value: 1, echo: 1000 });
        let rtt_after = |lens: &[u32]| {
            let mut receiver = Receiver::new(&profile, 1460, None);
            let agreed =
                Agreed { scaling: true, timestamps: true, sack: true, ecn: false, mss: 1448, passive: false };
            receiver.start(&clock, 1, agreed);
            for len in lens {
                let segment = Plain::new(1, 1, *len, 100, Flags::ACK, stamps);
                receiver.note_echo(&clock, Incoming { plain: &segment, rare: None });
            }
            receiver.tuning.rtt()
        };
        assert_eq!(rtt_after(&[1448]), Some(Duration::from_millis(1)));
        assert_eq!(rtt_after(&[0, 1448]), None);
    }
}
