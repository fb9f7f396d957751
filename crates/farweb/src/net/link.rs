//! A link in one direction: losses, queue, transmitter, propagation.
//!
//! A packet that reaches the link may be lost or marked by the loss process. The queue's discipline may drop or mark it then.
//! Otherwise it waits for its turn, takes size / rate on the transmitter, and arrives one propagation delay after its last
//! bit was sent. First in, first out. With an unlimited rate nothing ever waits, and the queue takes every packet.
//!
//! Rate and delay are constant, or change at times that are known (`timeline.rs`). Where the discipline decides on arrival,
//! departure and arrival are known when a packet is accepted. The link keeps its packets in one FIFO, and the owner keeps
//! **one** pending event, for the arrival of the head. That event always brings a packet.
//!
//! A discipline that decides as a packet is **taken** for transmission (drop-head, CoDel, FQ-CoDel) keeps the packets that
//! wait, and the FIFO those that were taken. It needs no event of its own: takes are made up for, each at its instant, when
//! the transmitter became free, whenever the link is looked at. While something waits a packet is in transmission, so that
//! its arrival is pending, and comes no earlier than the next take. What such a queue drops the owner learns then, by
//! [`take_dropped`](Link::take_dropped), with the time of the drop.
//!
//! At an instant, a transmission ends and the next packet is taken before another packet arrives.
//!
//! A terminal with capacity on demand takes packets on arrival, and its grants decide when they leave (`timeline/dama.rs`).
//!
//! Left out: framing below IP, propagation that reorders, priorities.
//!
//! Source: the link of ns-2.35, a queue and a delay (`queue/queue.cc`, `link/delay.cc`).

use crate::rng::RandomStream;
use crate::units::{Duration, Instant};

use super::config::LinkConfig;
use super::loss::{Hit, LossProcess};
use super::queue::{Dropped, Late, Queue, QueueConfig, Verdict};
use super::stats::{LinkStats, Meter};
use super::timeline::{Chances, Changes, Cursor, Terminal, Turns};
use super::transmitter::{Sent, Transmitter};
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
    meets: Meets,
    meter: Meter,
}

/// Parts that a packet meets besides a rate, a delay and a drop-tail queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meets {
    /// None.
    Nothing,
    /// Losses, and marks of a list.
    Losses,
    /// Another queue, a link that changes, or a measurement of waits. Losses too, if there are any.
    More,
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
        let rate = config.rate.map(|own| config.timeline.most(own));
        let start = if queue.is_late() {
            Some(Cursor::of_any(&config.timeline, rate, config.delay, &random))
        } else {
            Cursor::new(&config.timeline, rate, config.delay, &random)
        };
        let trace = config.timeline.trace.as_ref().map(|trace| trace.begun(&random));
        let meter = Meter::new(config.rate, start.clone(), trace.clone());
        if let Some(start) = start {
            if !config.timeline.is_constant() {
                loss = loss.changing(start.clone().of_one_rate(), random("steps"));
            }
            let terminal = config.timeline.dama.zip(config.rate);
            let terminal =
                terminal.map(|(dama, rate)| Turns::Dama(Terminal::new(dama, rate, random("dama"))));
            let turns = trace.map(|trace| Turns::Trace(Chances::new(trace))).or(terminal);
            let changes = Changes::new(start, turns, &config.timeline, random("jitter"));
            transmitter = Transmitter::changing(changes);
        }
        let queue = Queue::new(queue, || random("aqm"));
        let meets = match () {
            () if queue.is_managed() || transmitter.is_changing() => Meets::More,
            () if loss.is_none() => Meets::Nothing,
            () => Meets::Losses,
        };
        Self {
            meets,
            loss,
            queue,
            transmitter,
            delay: config.delay,
            takes_no_time: config.takes_no_time(),
            meter,
        }
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
    /// The answer may ask for an event: the owner must then call [`on_event`](Self::on_event).
    #[inline(never)]
    pub fn enqueue(&mut self, now: Instant, packet: &P) -> Enqueued {
        match self.meets {
            Meets::Nothing => {}
            Meets::Losses => {
                if let Some(hit) = self.loses(now, packet) {
                    return self.suffer(now, packet, hit);
                }
            }
            Meets::More => return self.meet(now, packet),
        }
        let bytes = packet.bytes();
        if !self.queue.fits(now, bytes) {
            return self.drop(DropReason::Full);
        }
        let sent = self.transmitter.send(now, bytes);
        let event = (self.queue.backlog.on_link() == 0).then(|| sent.departure + self.delay);
        self.accept(now, packet, sent, event)
    }

    #[inline(never)]
    fn loses(&mut self, now: Instant, packet: &P) -> Option<Hit> {
        self.loss.hit(now, packet)
    }

    /// The same on a link with more than losses.
    #[inline(never)]
    fn meet(&mut self, now: Instant, packet: &P) -> Enqueued {
        match self.loss.hit(now, packet) {
            None => self.queue_up(now, packet),
            Some(hit) => self.suffer(now, packet, hit),
        }
    }

    /// The loss process has chosen a packet.
    #[cold]
    fn suffer(&mut self, now: Instant, packet: &P, hit: Hit) -> Enqueued {
        match hit {
            Hit::Lost => self.drop(DropReason::Loss),
            Hit::Marked => self.mark(now, packet),
        }
    }

    /// The loss process marks a packet, which it drops if that takes no marks.
    #[cold]
    fn mark(&mut self, now: Instant, packet: &P) -> Enqueued {
        let mut marked = packet.clone();
        if !marked.set_ce() {
            return self.drop(DropReason::Loss);
        }
        let enqueued = self.queue_up(now, &marked);
        if !matches!(enqueued, Enqueued::Dropped { .. }) {
            self.meter.mark();
        }
        enqueued
    }

    /// A packet that is not lost reaches the queue.
    fn queue_up(&mut self, now: Instant, packet: &P) -> Enqueued {
        let bytes = packet.bytes();
        match self.queue.verdict(now, bytes) {
            Verdict::Joins => self.send(now, packet),
            Verdict::Refused(reason) => self.drop(reason),
            Verdict::ChosenByPie => self.mark_or_drop(now, packet),
            Verdict::Waits => self.enqueue_late(now, packet),
        }
    }

    /// PIE has chosen a packet.
    #[cold]
    fn mark_or_drop(&mut self, now: Instant, packet: &P) -> Enqueued {
        let mut marked = packet.clone();
        match self.queue.mark_or_refuse(now, &mut marked) {
            Some(reason) => self.drop(reason),
            None => {
                self.meter.mark();
                self.send(now, &marked)
            }
        }
    }

    /// A packet takes its turn on the transmitter.
    fn send(&mut self, now: Instant, packet: &P) -> Enqueued {
        let sent = self.transmitter.send_any(now, packet.bytes());
        let event = (self.queue.backlog.on_link() == 0)
            .then(|| self.transmitter.newest_arrival(sent.departure, self.delay));
        if sent.departure > now {
            self.meter.note_wait(sent.begin, now);
        }
        self.accept(now, packet, sent, event)
    }

    /// A packet joins the backlog, when its turn is known.
    #[inline(always)]
    fn accept(&mut self, now: Instant, packet: &P, sent: Sent, event: Option<Instant>) -> Enqueued {
        let bytes = packet.bytes();
        self.meter.accept(bytes);
        self.queue.backlog.join(sent.departure, packet.clone());
        if sent.departure > now {
            self.meter.hold(now, sent, bytes, self.queue.backlog.bytes());
        }
        Enqueued::Queued { event }
    }

    /// A packet joins a queue that decides later.
    fn enqueue_late(&mut self, now: Instant, packet: &P) -> Enqueued {
        self.serve(now);
        let Self { queue: Queue { backlog, .. }, transmitter, .. } = self;
        backlog.drain(now);
        let (is_idle, is_free) = (backlog.on_link() == 0, transmitter.free_from(now) == now);
        self.late().join(now, packet.clone());
        if is_free {
            self.take(now);
        }
        self.queue.backlog.drain(now);
        let (sent, held) = (self.queue.backlog.in_transmission(), self.queue.backlog.bytes());
        let late = self.late();
        late.shed(now, sent);
        let waiting = late.bytes();
        self.meter.note_held(held + waiting);
        Enqueued::Late { event: is_idle.then(|| self.transmitter.newest_arrival(now, self.delay)) }
    }

    fn late(&mut self) -> &mut Late<P> {
        self.queue.late().expect("a queue that decides as packets are taken")
    }

    /// Makes up for the packets that were taken by `now`, where the queue decides as they are.
    pub(super) fn serve(&mut self, now: Instant) {
        while self.queue.late().is_some_and(|late| late.has_work()) {
            let free_at = self.transmitter.free_from(Instant::ZERO);
            if free_at > now || !self.take(free_at) {
                return;
            }
        }
    }

    /// The free transmitter takes a packet. False when the queue has none left.
    fn take(&mut self, now: Instant) -> bool {
        let Some((joined, packet)) = self.late().take(now) else { return false };
        let bytes = packet.bytes();
        // It was there by then: the busy period of the packet before goes on.
        let sent = self.transmitter.send_any(joined, bytes);
        self.meter.accept(bytes);
        self.queue.backlog.join(sent.departure, packet);
        self.meter.send(joined, Sent { start: now, ..sent }, bytes);
        true
    }

    /// Brings the statistics of what waits, and is granted, up to `now`.
    fn settle(&mut self, now: Instant) {
        self.serve(now);
        if let Some(grants) = self.transmitter.grants_until(now) {
            self.meter.grant(grants);
        }
        if let Some(late) = self.queue.late() {
            self.meter.wait(&late.take_sums(now), late.bytes());
        }
    }

    /// Next packet that the queue dropped after it had joined, in the order of the drops. Each is told once.
    pub fn take_dropped(&mut self) -> Option<Dropped<P>> {
        self.queue.late()?.dropped().pop_front()
    }

    /// True when the queue decides as packets are taken.
    pub(super) fn decides_late(&mut self) -> bool {
        self.queue.late().is_some()
    }

    /// True when [`take_dropped`](Self::take_dropped) or [`next_taken`](Self::next_taken) has something new.
    pub(super) fn has_news(&mut self) -> bool {
        self.queue.late().is_some_and(|late| late.has_news())
    }

    /// Has [`next_taken`](Self::next_taken) report packets from now on.
    pub fn watch(&mut self) {
        if let Some(late) = self.queue.late() {
            late.untold = Some(0);
        }
    }

    /// Takes the next packet that went into transmission since [`watch`](Self::watch), in order.
    pub fn next_taken(&mut self) -> Option<Carried<'_, P>> {
        let on_link = self.queue.backlog.on_link();
        let untold = self.queue.late()?.untold.as_mut().filter(|untold| **untold > 0)?;
        let place = on_link - *untold;
        *untold -= 1;
        let (departure, packet) = self.queue.backlog.at(place)?;
        Some(Carried { packet, departure, arrival: self.transmitter.arrival(place)? })
    }

    /// Time of the first drop or departure that is still to be reported, `now` without one.
    pub(super) fn told_until(&mut self, now: Instant) -> Instant {
        let (free_at, on_link) = (self.transmitter.free_from(Instant::ZERO), self.queue.backlog.on_link());
        let Some(late) = self.queue.late() else { return now };
        let dropped = late.dropped().front().map(|dropped| dropped.at);
        let next = late.has_work().then_some(free_at);
        let first_taken = on_link - late.untold.unwrap_or(0);
        let left = self.queue.backlog.departure(first_taken);
        [dropped, next, left].into_iter().flatten().fold(now, Instant::min)
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
    /// With debug assertions, when the head does not arrive at `now`.
    #[inline(always)]
    pub fn on_event(&mut self, now: Instant) -> (P, Option<Instant>) {
        let next = self.event_after(now, || {});
        (self.arrive(), next)
    }

    /// When the next event behind the one of `now` is due. [`arrive`](Self::arrive) follows. `tell` is called where the link has
    /// news.
    ///
    /// # Panics
    /// With debug assertions, when the head does not arrive at `now`.
    #[inline(always)]
    pub(super) fn event_after(&mut self, now: Instant, tell: impl FnOnce()) -> Option<Instant> {
        if self.transmitter.is_changing() {
            if self.serves_news(now) {
                tell();
            }
            return self.transmitter.arrive(now);
        }
        let arrival = |place| self.queue.backlog.departure(place).map(|departure| departure + self.delay);
        debug_assert_eq!(arrival(0), Some(now), "an arrival at the wrong time");
        arrival(1)
    }

    /// Makes up for the packets taken by `now`. True when there is news.
    #[inline(never)]
    fn serves_news(&mut self, now: Instant) -> bool {
        self.serve(now);
        self.has_news()
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
        Some(Carried { packet, departure, arrival: self.transmitter.newest_arrival(departure, self.delay) })
    }

    /// A connection has ended, without a packet on the link: what loss process and queue keep of it is dropped.
    ///
    /// A packet of the connection that reaches the link later is counted as the first of a new one.
    pub fn forget(&mut self, flow: u64) {
        self.loss.forget(flow);
        if let Some(late) = self.queue.late() {
            late.forget(flow);
        }
    }

    /// Ends the open statistics interval at `now`. The next one starts there.
    pub fn close_interval(&mut self, now: Instant) -> LinkStats {
        self.settle(now);
        self.meter.close_interval(now, &mut self.queue.backlog)
    }

    /// Statistics from the start of the run to `now`, open interval included.
    pub fn totals(&mut self, now: Instant) -> LinkStats {
        self.settle(now);
        self.meter.totals(now, &mut self.queue.backlog)
    }

    /// Measures from `now` on. See [`measured`](Self::measured).
    pub fn begin_measuring(&mut self, now: Instant) {
        self.settle(now);
        self.meter.begin_measuring(now, &mut self.queue.backlog);
    }

    /// Measures up to `now`.
    pub fn end_measuring(&mut self, now: Instant) {
        self.settle(now);
        self.meter.end_measuring(now, &mut self.queue.backlog);
    }

    /// Statistics since measuring began, to its end or to `now`. The queue at the beginning counts for its mean and its
    /// greatest length.
    pub fn measured(&mut self, now: Instant) -> LinkStats {
        self.settle(now);
        self.meter.measured(now, &mut self.queue.backlog)
    }

    /// Measures how long packets wait, from now on.
    pub fn measure_waits(&mut self) {
        self.meter.measure_waits();
        self.meets = Meets::More;
    }

    /// Packets on the link: waiting, in transmission, and travelling to the far end.
    #[must_use]
    pub fn packets(&self) -> usize {
        self.queue.backlog.on_link() + self.queue.waiting()
    }
}
