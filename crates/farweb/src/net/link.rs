//! A link in one direction: transmitter, drop-tail queue, propagation.
//!
//! A packet that reaches the link may be lost by the loss process; else it is dropped when the queue is full; else it
//! waits for its turn, takes size / rate on the transmitter, and arrives one propagation delay after its last bit was
//! sent. First in, first out. As rate and delay are constant, departure and arrival are known when the packet is
//! accepted: the link keeps its packets in one FIFO, and the owner keeps **one** pending event, for the arrival of
//! the head.
//!
//! A packet in transmission is in the queue, whole, until its last bit has left; what leaves at an instant no longer
//! counts for what arrives at the same instant. With [`QueueCounts::All`] a packet is accepted if with it the queue,
//! the packet in transmission included, stays within the limit; with [`QueueCounts::Waiting`], if it need not wait or
//! if with it those that wait stay within the limit. With an unlimited rate nothing ever waits and the limit has no
//! effect.
//!
//! Left out: framing below IP, propagation that varies or reorders, priorities, active queue management.
//!
//! Source: the drop-tail queue and the delay link of ns-2.35 (`queue/drop-tail.cc`, `link/delay.cc`), whose limit of n
//! packets holds n − 1 waiting and one in transmission, as [`QueueCounts::All`] does.

use std::collections::VecDeque;

use crate::rng::Stream;
use crate::units::{Bytes, Duration, Instant};

use super::config::{LinkConfig, QueueCounts, QueueLimit};
use super::loss::LossProcess;
use super::stats::{LinkStats, Meter};
use super::transmitter::Transmitter;
use super::{DropReason, Enqueued, Packet};

/// One direction of a link, with the packets that wait, are sent or travel on it.
///
/// Time never goes back: each call's `now` is at or after the one before.
#[derive(Debug, Clone)]
pub struct Link<P> {
    transmitter: Transmitter,
    delay: Duration,
    limit: Option<QueueLimit>,
    counts: QueueCounts,
    loss: LossProcess,
    /// All packets on the link, in order.
    carried: VecDeque<Held<P>>,
    /// How many of them, at the front, have left the transmitter as far as `drain` has looked.
    travelling: usize,
    meter: Meter,
}

#[derive(Debug, Clone)]
struct Held<P> {
    /// When the last bit leaves.
    departure: Instant,
    packet: P,
}

/// A packet on a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Carried<'a, P> {
    /// The packet.
    pub packet: &'a P,
    /// When its last bit leaves the transmitter.
    pub departure: Instant,
    /// When it arrives at the far end.
    pub arrival: Instant,
}

impl<P: Packet> Link<P> {
    /// An empty link. Its loss process draws from `random`, which no one else should use.
    ///
    /// # Panics
    /// When a loss probability is not in 0 to 1.
    #[must_use]
    pub fn new(config: &LinkConfig, random: Stream) -> Self {
        Self {
            transmitter: Transmitter::new(config.rate),
            delay: config.delay,
            limit: config.limit,
            counts: config.counts,
            loss: LossProcess::new(&config.loss, random),
            carried: VecDeque::new(),
            travelling: 0,
            meter: Meter::default(),
        }
    }

    /// `packet` reaches the link.
    ///
    /// When it becomes the head of the link, the answer carries its arrival, at which the owner must call
    /// [`on_event`](Self::on_event).
    #[inline]
    pub fn enqueue(&mut self, now: Instant, packet: P) -> Enqueued<P> {
        self.drain(now);
        if self.loss.loses(&packet) {
            self.meter.drop(DropReason::Loss);
            return Enqueued::Dropped { reason: DropReason::Loss, packet };
        }
        let bytes = packet.bytes();
        if !self.has_room_for(bytes) {
            self.meter.drop(DropReason::Queue);
            return Enqueued::Dropped { reason: DropReason::Queue, packet };
        }
        let departure = self.transmitter.send(now, bytes);
        let event = self.carried.is_empty().then(|| departure + self.delay);
        if departure == now {
            // Nothing is in transmission, as that would leave later than now.
            self.travelling += 1;
            self.meter.sent_at_once(bytes);
        } else {
            self.meter.join(now, bytes);
        }
        self.carried.push_back(Held { departure, packet });
        Enqueued::Queued { event }
    }

    /// The event that the owner scheduled: the packet that arrives at the far end, if one does, and when the owner must
    /// call again. That may be at the same instant.
    ///
    /// # Panics
    /// When `now` is not the time at which the head arrives.
    #[inline]
    pub fn on_event(&mut self, now: Instant) -> (Option<P>, Option<Instant>) {
        // Any that travel were taken out of the queue before; the others can wait for the next look at it.
        if self.travelling == 0 {
            self.drain(now);
        }
        let head = self.carried.pop_front().expect("a packet on the link");
        assert!(head.departure + self.delay == now, "an arrival at the wrong time, {now}");
        self.travelling -= 1;
        (Some(head.packet), self.carried.front().map(|next| next.departure + self.delay))
    }

    /// The packet that the link accepted last, unless it has arrived.
    #[must_use]
    pub fn newest(&self) -> Option<Carried<'_, P>> {
        self.carried.back().map(|newest| Carried {
            packet: &newest.packet,
            departure: newest.departure,
            arrival: newest.departure + self.delay,
        })
    }

    /// A connection has ended: what the loss process counted for it is dropped.
    ///
    /// A packet of the connection that reaches the link later is counted as the first of a new one.
    pub fn forget(&mut self, flow: u64) {
        self.loss.forget(flow);
    }

    /// Ends the open statistics interval at `now`; the next one starts there.
    pub fn close_interval(&mut self, now: Instant) -> LinkStats {
        self.drain(now);
        self.meter.close_interval(now)
    }

    /// Statistics from the start of the run to `now`, open interval included.
    pub fn totals(&mut self, now: Instant) -> LinkStats {
        self.drain(now);
        self.meter.totals(now)
    }

    /// Measures from `now` on; see [`measured`](Self::measured).
    pub fn begin_measuring(&mut self, now: Instant) {
        self.drain(now);
        self.meter.begin_measuring(now);
    }

    /// Measures up to `now`.
    pub fn end_measuring(&mut self, now: Instant) {
        self.drain(now);
        self.meter.end_measuring(now);
    }

    /// Statistics since measuring began, to its end or to `now`; what stood in the queue at the beginning counts for its
    /// mean and its greatest length.
    pub fn measured(&mut self, now: Instant) -> LinkStats {
        self.drain(now);
        self.meter.measured(now)
    }

    /// Bytes that wait or are in transmission at `now`.
    pub fn queue_bytes(&mut self, now: Instant) -> Bytes {
        self.drain(now);
        Bytes::new(self.meter.held_bytes)
    }

    /// Packets on the link: waiting, in transmission, and travelling to the far end.
    #[must_use]
    pub fn packets(&self) -> usize {
        self.carried.len()
    }

    /// Takes the packets whose last bit has left by `now` out of the queue.
    #[inline]
    fn drain(&mut self, now: Instant) {
        while let Some(Held { departure, packet }) = self.carried.get(self.travelling) {
            if *departure > now {
                break;
            }
            self.meter.leave(*departure, packet.bytes());
            self.travelling += 1;
        }
    }

    /// Whether the limit lets a packet of `bytes` bytes in.
    #[inline]
    fn has_room_for(&self, bytes: u32) -> bool {
        let Some(limit) = self.limit else { return true };
        if self.transmitter.is_unlimited() {
            return true;
        }
        let (mut held_bytes, mut held_packets) = (self.meter.held_bytes, self.meter.held_packets);
        if self.counts == QueueCounts::Waiting {
            let Some(in_transmission) = self.carried.get(self.travelling) else { return true };
            held_bytes -= u64::from(in_transmission.packet.bytes());
            held_packets -= 1;
        }
        match limit {
            QueueLimit::Bytes(limit) => held_bytes + u64::from(bytes) <= limit.get(),
            QueueLimit::Packets(limit) => held_packets < limit,
        }
    }
}
