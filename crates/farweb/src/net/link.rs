//! A link in one direction: losses, queue, transmitter, propagation.
//!
//! A packet that reaches the link may be lost by the loss process; else the queue's discipline may drop it; else it
//! waits for its turn, takes size / rate on the transmitter, and arrives one propagation delay after its last bit was
//! sent. First in, first out. With an unlimited rate nothing ever waits, and the queue takes every packet.
//!
//! Rate and delay are constant, or change at times that are known (`timeline.rs`), and the discipline decides on
//! arrival: departure and arrival are known when a packet is accepted. The link keeps its packets in one FIFO, and the
//! owner keeps **one** pending event, for the arrival of the head. That event always brings a packet.
//!
//! A discipline that decides when a packet is **taken out** (CoDel, FQ) breaks the second condition alone. Its link would
//! keep the packets that wait in the discipline, and in the FIFO those that were taken, whose departure is known; it
//! would take the next one at an event of its own, when the transmitter becomes free. To the owner that is the same
//! link: [`enqueue`](Link::enqueue) asks for an event whenever an earlier one than those pending is needed, and
//! [`on_event`](Link::on_event) would bring no packet at times and only ask to be called again, or find that an earlier event
//! has done its work. Its answer would have to say so, and to report packets dropped as they are taken out, and [`newest`](Link::newest) would
//! know a packet only from then on.
//!
//! Left out: framing below IP, propagation that reorders, priorities.
//!
//! Source: the link of ns-2.35, a queue and a delay (`queue/queue.cc`, `link/delay.cc`).

use crate::rng::RandomStream;
use crate::units::{Duration, Instant};

use super::config::LinkConfig;
use super::loss::LossProcess;
use super::queue::{Queue, QueueConfig};
use super::stats::{LinkStats, Meter};
use super::timeline::{Changes, Cursor};
use super::transmitter::Transmitter;
use super::{DropReason, Enqueued, Packet};

/// One direction of a link, with the packets that wait, are sent or travel on it.
///
/// Time never goes back: each call's `now` is at or after the one before.
#[derive(Debug, Clone)]
pub struct Link<P> {
    loss: LossProcess,
    queue: Queue<P>,
    transmitter: Transmitter,
    /// Of a link that does not change.
    delay: Duration,
    takes_no_time: bool,
    meter: Meter,
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
    /// An empty link. `random` gives it a stream for each of its purposes ("loss"), which no one else should use.
    ///
    /// # Panics
    /// When a loss probability is not in 0 to 1.
    #[must_use]
    pub fn new(config: &LinkConfig, random: impl Fn(&str) -> RandomStream) -> Self {
        let queue = if config.rate.is_some() { config.queue } else { QueueConfig::Unlimited };
        let mut loss = LossProcess::new(&config.loss, random("loss"));
        let mut transmitter = Transmitter::new(config.rate);
        let start = Cursor::new(&config.timeline, config.rate, config.delay, &random);
        let meter = Meter::new(config.rate, start.clone());
        if let Some(start) = start {
            loss = loss.changing(start.clone().of_one_rate(), random("steps"));
            let changes = Changes::new(start, config.timeline.jitter, random("jitter"));
            transmitter = Transmitter::changing(changes);
        }
        let (queue, takes_no_time) = (Queue::new(&queue), config.takes_no_time());
        Self { loss, queue, transmitter, delay: config.delay, takes_no_time, meter }
    }

    /// True when each packet that reaches the link has arrived at its far end at once.
    #[inline]
    pub(super) const fn takes_no_time(&self) -> bool {
        self.takes_no_time
    }

    /// `packet` passes a link that takes no time, and is empty.
    #[inline]
    pub(super) fn pass(&mut self, packet: &P) {
        self.meter.accept(packet.bytes());
    }

    /// `packet` reaches the link.
    ///
    /// The answer may ask for an event, at which the owner must call [`on_event`](Self::on_event).
    #[inline(never)]
    pub fn enqueue(&mut self, now: Instant, packet: &P) -> Enqueued {
        if self.loss.loses(now, packet) {
            return self.drop(DropReason::Loss);
        }
        let bytes = packet.bytes();
        if !self.queue.admits(now, bytes) {
            return self.drop(DropReason::Queue);
        }
        let start = self.transmitter.free_from(now);
        let departure = self.transmitter.send(now, bytes);
        self.meter.accept(bytes);
        let event = (self.queue.backlog.on_link() == 0).then(|| self.newest_arrival(departure));
        self.queue.backlog.join(departure, packet.clone());
        if departure > now {
            self.meter.hold(now, start, departure, bytes, self.queue.backlog.bytes());
        }
        Enqueued::Queued { event }
    }

    #[inline]
    fn drop(&mut self, reason: DropReason) -> Enqueued {
        self.meter.drop(reason);
        Enqueued::Dropped { reason }
    }

    /// The event that the owner scheduled: the packet that arrives, and when the owner must call this again, which may be at
    /// the same instant.
    ///
    /// # Panics
    /// With debug assertions, when `now` is not the time at which the head arrives.
    #[inline(always)]
    pub fn on_event(&mut self, now: Instant) -> (P, Option<Instant>) {
        let next = self.event_after(now);
        (self.arrive(), next)
    }

    /// When the next event behind the one of `now` is due. [`arrive`](Self::arrive) follows.
    ///
    /// # Panics
    /// With debug assertions, when `now` is not the time at which the head arrives.
    #[inline(always)]
    pub(super) fn event_after(&mut self, now: Instant) -> Option<Instant> {
        if self.transmitter.is_changing() {
            return self.transmitter.arrive(now);
        }
        let arrival = |place| self.queue.backlog.departure(place).map(|departure| departure + self.delay);
        debug_assert_eq!(arrival(0), Some(now), "an arrival at the wrong time");
        arrival(1)
    }

    /// The packet at the head arrives.
    #[inline(always)]
    pub(super) fn arrive(&mut self) -> P {
        self.queue.backlog.arrive()
    }

    /// The packet that the link accepted last, unless it has arrived.
    #[must_use]
    pub fn newest(&self) -> Option<Carried<'_, P>> {
        let (departure, packet) = self.queue.backlog.newest()?;
        Some(Carried { packet, departure, arrival: self.newest_arrival(departure) })
    }

    /// When the packet accepted last, which leaves at `departure`, arrives.
    #[inline]
    fn newest_arrival(&self, departure: Instant) -> Instant {
        if self.transmitter.is_changing() {
            self.transmitter.newest_arrival()
        } else {
            departure + self.delay
        }
    }

    /// A connection has ended: what the loss process counted for it is dropped.
    ///
    /// A packet of the connection that reaches the link later is counted as the first of a new one.
    pub fn forget(&mut self, flow: u64) {
        self.loss.forget(flow);
    }

    /// Ends the open statistics interval at `now`; the next one starts there.
    pub fn close_interval(&mut self, now: Instant) -> LinkStats {
        self.meter.close_interval(now, &mut self.queue.backlog)
    }

    /// Statistics from the start of the run to `now`, open interval included.
    pub fn totals(&mut self, now: Instant) -> LinkStats {
        self.meter.totals(now, &mut self.queue.backlog)
    }

    /// Measures from `now` on; see [`measured`](Self::measured).
    pub fn begin_measuring(&mut self, now: Instant) {
        self.meter.begin_measuring(now, &mut self.queue.backlog);
    }

    /// Measures up to `now`.
    pub fn end_measuring(&mut self, now: Instant) {
        self.meter.end_measuring(now, &mut self.queue.backlog);
    }

    /// Statistics since measuring began, to its end or to `now`; what stood in the queue at the beginning counts for its
    /// mean and its greatest length.
    pub fn measured(&mut self, now: Instant) -> LinkStats {
        self.meter.measured(now, &mut self.queue.backlog)
    }

    /// Packets on the link: waiting, in transmission, and travelling to the far end.
    #[must_use]
    pub fn packets(&self) -> usize {
        self.queue.backlog.on_link()
    }
}
