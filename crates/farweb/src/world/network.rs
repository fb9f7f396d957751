//! The network around a connection, and the way of its segments between endpoints and links.
//!
//! Models the hosts at both ends. An arriving segment goes to the endpoint. Its application reacts to the notices in the same
//! call ([`application`](super::application)), and the resulting segments leave. **A delayed ACK leaves here as any other
//! segment does**, when the timer of its endpoint fires. How long it waits is the stack's matter. Leaves out the time that
//! hosts take.
//!
//! Every method acts on one connection. Effects on others become actions for later.

use crate::conn::{
    Connection, ConnectionId, End, Event, Extras, Mark, Packet, PacketPath, Passed, Place, Transport, Way,
};
use crate::context::{Action, Context};
use crate::engine::Channel;
use crate::id::IdVec;
use crate::net::{Enqueued, LinkId};
use crate::node::Node;
use crate::observe::Seen;
use crate::pool::{Allot, Pool, on_pool};
use crate::record;
use crate::tcp::{self, Emit, FIRST_BYTE, Flags, Limit, Output, Segment, State};
use crate::units::{Instant, When};

use super::launch::{Launch, on_tcp};

/// All but the connections.
pub(super) struct Network {
    pub(super) path: PacketPath,
    /// By link: its place in the event queue.
    channels: IdVec<LinkId, Channel>,
    /// Parts of packets on the path, stored outside them.
    pub(super) extras: Extras,
    pub(super) nodes: Vec<Node>,
    /// By leg.
    pub(super) pools: Vec<Pool>,
    pub(super) context: Context,
    /// Lent to relays, beside the output of the event.
    pub(super) spare: Output,
}

/// Work left for a connection that is settled.
#[derive(Debug, Clone, Copy)]
pub(super) struct Settled {
    /// The sender of responses has had the last byte of one acknowledged.
    pub(super) has_responses: bool,
    /// Both ends are closed or in TIME_WAIT.
    pub(super) is_over: bool,
}

impl Network {
    pub(super) fn new(
        mut path: PacketPath,
        nodes: Vec<Node>,
        pools: Vec<Pool>,
        mut context: Context,
    ) -> Self {
        let mut channels = IdVec::new();
        for link in path.links() {
            channels.push(context.queue.add_channel(link));
            if path.decides_late(link) {
                context.observer.packets.wait();
            }
            if context.observer.packets.sees(link) {
                path.watch(link);
            }
        }
        Self { path, channels, extras: Extras::default(), nodes, pools, context, spare: Output::default() }
    }

    /// The time is `now`.
    #[inline]
    pub(super) fn move_to(&mut self, now: Instant) {
        self.context.now = now;
        let observer = &mut self.context.observer;
        if observer.measurement.is_due(now) {
            observer.measurement.begin(&mut self.path, &mut observer.legs, &mut observer.caches);
        }
    }

    /// The event of a link: the packet that arrives at its far end.
    #[inline(always)]
    pub(super) fn run_link(&mut self, link: LinkId) -> Packet {
        let Self { path, context: Context { now, queue, actions, .. }, .. } = self;
        path.on_event(*now, link, |next| queue.rearm(next), || actions.later(Action::SettleLink(link)))
    }

    /// Lets a packet pass a link without an event, where that takes no time and nothing else happens now. True when it did.
    #[inline]
    pub(super) fn pass(&mut self, link: LinkId, packet: &Packet) -> bool {
        let passes =
            self.path.takes_no_time(link) && !packet.mark().recorded && self.context.queue.is_alone();
        if passes {
            self.path.pass(link, packet);
        }
        passes
    }

    /// Gives a packet to a link, and records it if `connection` is recorded. True if the link took it.
    #[inline(always)]
    pub(super) fn enqueue(&mut self, link: LinkId, packet: &Packet, connection: Option<&Connection>) -> bool {
        let Self { path, channels, extras, context: Context { now, queue, observer, .. }, .. } = self;
        match path.enqueue(*now, link, packet) {
            Enqueued::Queued { event } => {
                if let Some(at) = event {
                    queue.push_on(channels[link], at);
                }
                if let Some(connection) = connection {
                    let newest = path.newest(link).expect("the link has just accepted a packet");
                    observer.packets.record_passage(connection, link, newest, extras);
                }
                true
            }
            Enqueued::Late { event } => {
                self.enqueued_late(link, event);
                true
            }
            Enqueued::Dropped { .. } => {
                if let Some(connection) = connection {
                    observer.packets.record_drop(*now, connection, link, packet, extras);
                }
                packet.leave(extras);
                false
            }
        }
    }

    /// A link has taken a packet that decides later.
    #[cold]
    fn enqueued_late(&mut self, link: LinkId, event: Option<Instant>) {
        let Self { path, channels, context: Context { queue, actions, .. }, .. } = self;
        if let Some(at) = event {
            queue.push_on(channels[link], at);
        }
        if path.has_news(link) {
            actions.later(Action::SettleLink(link));
        }
    }

    /// Gives a packet to the end of its connection, or the relay, that it is for.
    #[inline]
    pub(super) fn deliver(
        &mut self,
        connection: &mut Connection,
        packet: &Packet,
        output: &mut Output,
    ) -> Settled {
        let (now, end) = (self.context.now, packet.toward);
        connection.in_flight -= 1;
        if connection.end(end).socket.node != packet.destination {
            return self.relay(connection, packet, output);
        }
        let taken = match packet.as_plain() {
            Some(plain) => on_tcp!(self, packet.connection, connection, end, output, (_, tcp, out) => {
                tcp.on_plain(now, plain, out);
            }),
            None => None,
        };
        if taken.is_none() {
            self.deliver_other(connection, packet, output);
        }
        if packet.mark().recorded {
            let segment = packet.segment(&self.extras);
            let credit = credit_limit(connection, end);
            let seen =
                Seen { place: Place::End(end), event: record::PacketEvent::Receive, credit_limit: credit };
            self.context.observer.packets.record_at_end(now, connection, seen, &segment, packet.mark());
        }
        packet.leave(&mut self.extras);
        self.settle_delivery(packet.connection, connection, end, output)
    }

    /// Gives a packet to an end in a rare case: it has rare options, or no usable TCP takes it.
    #[cold]
    fn deliver_other(&mut self, connection: &mut Connection, packet: &Packet, output: &mut Output) {
        let (now, id, end) = (self.context.now, packet.connection, packet.toward);
        let segment = packet.segment(&self.extras);
        let taken = on_tcp!(self, id, connection, end, output, (_, tcp, out) => {
            tcp.on_segment(now, &segment, out);
        });
        if taken.is_none() {
            self.on_other(id, connection, Place::End(end), &segment, output);
        }
    }

    /// A timer of an endpoint may be due.
    #[inline]
    pub(super) fn fire_timer(
        &mut self,
        id: ConnectionId,
        connection: &mut Connection,
        end: End,
        output: &mut Output,
    ) -> Option<Settled> {
        let now = self.context.now;
        let socket = &mut connection.end_mut(end).socket;
        if socket.timer != When::at(now) {
            return None; // An earlier event has been pushed since, or this one was superseded.
        }
        socket.timer = When::NEVER;
        let is_tcp =
            on_tcp!(self, id, connection, end, output, (_, tcp, out) => tcp.on_timeout(now, out)).is_some();
        if !is_tcp {
            connection.end_mut(end).socket.transport.as_mut()?.on_timeout(now, output);
        }
        Some(self.settle(id, connection, end, output))
    }

    /// Gives a segment to a place of a connection without a TCP for the application: to another transport, or to none.
    pub(super) fn on_other(
        &mut self,
        id: ConnectionId,
        connection: &mut Connection,
        place: Place,
        segment: &Segment,
        output: &mut Output,
    ) {
        match &mut connection.socket_mut(place).transport {
            Some(transport) => transport.on_segment(self.context.now, segment, output),
            None if segment.flags.contains(Flags::SYN) && !segment.flags.contains(Flags::ACK) => {
                self.start_tcp(id, connection, place, Some(segment), output);
            }
            None => output.refuse(&segment.plain()),
        }
    }

    /// Starts TCP at a place of a connection, with the SYN that has reached it if there is one.
    pub(super) fn start_tcp(
        &mut self,
        id: ConnectionId,
        connection: &mut Connection,
        place: Place,
        syn: Option<&Segment>,
        output: &mut Output,
    ) {
        let now = self.context.now;
        let (ended, config, clock) = self.context.tcp_parts(connection, place);
        let tcp = match place {
            Place::End(end) if connection.is_plain() => {
                let Connection { ends, in_flight, .. } = &mut *connection;
                let socket = &mut ends[end as usize].socket;
                let out = &mut Launch::new(self, id, end, &mut socket.way, in_flight, output);
                tcp::Connection::open(ended, now, config, clock, syn, out)
            }
            _ => tcp::Connection::open(ended, now, config, clock, syn, output),
        };
        connection.socket_mut(place).transport = Some(Transport::Tcp(tcp));
    }

    /// Starts the TCPs and applications at the ends of a connection.
    pub(super) fn open(
        &mut self,
        id: ConnectionId,
        connection: &mut Connection,
        output: &mut Output,
    ) -> Settled {
        if self.context.start_agents(connection, output) {
            return self.settle(id, connection, End::Server, output);
        }
        self.start_tcp(id, connection, Place::End(End::Client), None, output);
        self.settle(id, connection, End::Client, output)
    }

    /// Lets an end of a connection read bytes that its session has left, then write and close as due.
    pub(super) fn act(
        &mut self,
        id: ConnectionId,
        connection: &mut Connection,
        end: End,
        output: &mut Output,
    ) -> Settled {
        let endpoint = connection.end(end);
        if !endpoint.is_waking && endpoint.tcp().is_some_and(|tcp| tcp.readable() > 0) {
            self.read(id, connection, end, output);
            if connection.end(end).tcp().is_some_and(|tcp| tcp.state() == State::CloseWait) {
                self.on_end_of_stream(id, connection, end, output);
            }
        }
        self.write(id, connection, end, output);
        self.settle(id, connection, end, output)
    }

    /// The application at an end acts on its notice.
    pub(super) fn wake(
        &mut self,
        id: ConnectionId,
        connection: &mut Connection,
        end: End,
        output: &mut Output,
    ) -> Settled {
        connection.end_mut(end).is_waking = false;
        self.act(id, connection, end, output)
    }

    /// Carries out the `output` of an endpoint: sends segments, gives the application its notices, sets the timer.
    #[inline(never)]
    pub(super) fn settle(
        &mut self,
        id: ConnectionId,
        connection: &mut Connection,
        end: End,
        output: &mut Output,
    ) -> Settled {
        self.settle_delivery(id, connection, end, output)
    }

    /// The same on the hot path: compiled into the delivery of a packet.
    #[inline(always)]
    fn settle_delivery(
        &mut self,
        id: ConnectionId,
        connection: &mut Connection,
        end: End,
        output: &mut Output,
    ) -> Settled {
        self.carry_out(id, connection, end, output);
        let socket = &mut connection.end_mut(end).socket;
        let (no_timeout_before, is_over) =
            socket.transport.as_ref().map_or((When::NEVER, true), Transport::standing);
        if socket.timer > no_timeout_before
            && let Some(at) = socket.timer_to_set()
        {
            self.context.queue.push(at, Event::TimerFires(id, end));
        }
        let is_sender = end == End::Server;
        if is_sender && self.context.observer.wants_senders() {
            self.note_sender(id, connection);
        }
        if let Some(slot) = connection.slot {
            self.note_outstanding(connection, slot, end);
        }
        let has_responses = is_sender && connection.has_acknowledged_response();
        let may_be_over = is_over || connection.severed;
        Settled { has_responses, is_over: may_be_over && connection.end(end.other()).is_over() }
    }

    /// Sends the segments in `output`, and gives the application its notices.
    #[inline(always)]
    fn carry_out(&mut self, id: ConnectionId, connection: &mut Connection, end: End, output: &mut Output) {
        let mut noticed = 0;
        loop {
            if !output.segments.is_empty() || connection.end(end).socket.way.refused > 0 {
                self.send_out(id, connection, end, output);
            }
            let Some(notice) = output.notices.get(noticed).copied() else {
                break;
            };
            noticed += 1;
            self.on_notice(id, connection, end, output, notice);
        }
        output.notices.clear();
    }

    /// Sends the segments of a recorded or regulated connection. An endpoint learns of those that its link refused.
    #[cold]
    fn send_out(&mut self, id: ConnectionId, connection: &mut Connection, end: End, output: &mut Output) {
        if connection.end(end).socket.way.refused > 0 {
            connection.end_mut(end).socket.tell_refused();
        }
        for segment in &output.segments {
            if end == End::Server && connection.regulator.is_some() {
                self.regulate(id, connection, segment);
            } else {
                self.transmit(id, connection, Place::End(end), segment);
            }
        }
        output.segments.clear();
    }

    /// Reports to the pool of a connection how much waits at one end.
    #[inline(never)]
    fn note_outstanding(&mut self, connection: &Connection, slot: u32, end: End) {
        let outstanding = connection.end(end).outstanding();
        on_pool!(&mut self.pools[connection.leg], own => own.on_settled(slot, end, outstanding));
    }

    /// Reports to the observer how far the sender of responses has come, and its cause for waiting.
    fn note_sender(&mut self, id: ConnectionId, connection: &mut Connection) {
        let limit = connection.limit();
        let waits_for_credit =
            limit == Some(Limit::None) && connection.end(End::Server).session.waits_for_credit();
        self.context.note_sent(id, connection, limit, waits_for_credit);
    }

    /// Sends a segment through the regulator of its connection.
    #[cold]
    fn regulate(&mut self, id: ConnectionId, connection: &mut Connection, segment: &Segment) {
        let Context { now, queue, exchanges, .. } = &mut self.context;
        let regulator = connection.regulator.as_mut().expect("the caller has asked");
        let at = regulator.departure(*now, segment, |Passed { exchange, at }| {
            if let Some(exchange) = exchanges.get_mut(exchange) {
                exchange.sending.get_or_insert_default().left_last = When::at(at);
            }
        });
        if at <= *now && regulator.next().is_none() {
            return self.transmit(id, connection, Place::End(End::Server), segment);
        }
        // Until it leaves it is on its way: the connection outlives it.
        connection.in_flight += 1;
        if regulator.keep(at, *segment) {
            queue.push(at, Event::RegulatorIsDue(id));
        }
    }

    /// Sends the segments that leave the regulator of a connection now.
    pub(super) fn leave_regulator(&mut self, id: ConnectionId, connection: &mut Connection) {
        let now = self.context.now;
        while let Some(segment) = connection.regulator.as_mut().and_then(|regulator| regulator.take(now)) {
            connection.in_flight -= 1;
            self.transmit(id, connection, Place::End(End::Server), &segment);
        }
        if let Some(at) = connection.regulator.as_ref().and_then(|regulator| regulator.next()) {
            self.context.queue.push(at, Event::RegulatorIsDue(id));
        }
    }

    #[inline(always)]
    pub(super) fn transmit(
        &mut self,
        id: ConnectionId,
        connection: &mut Connection,
        place: Place,
        segment: &Segment,
    ) {
        let socket = connection.socket_mut(place);
        let Way { link, peer: destination, .. } = socket.way;
        let (toward, bytes) = (place.toward(), socket.packet_bytes(segment));
        let number = socket.way.count(bytes);
        connection.in_flight += 1;
        let mark = if connection.recorded {
            let credit = if let Place::End(end) = place { credit_limit(connection, end) } else { None };
            let packets = &mut self.context.observer.packets;
            packets.record_departure(self.context.now, connection, place, segment, number, credit)
        } else {
            Mark::unrecorded(number)
        };
        let packet = Packet::new(id, toward, destination, segment, bytes, mark, &mut self.extras);
        let recorded = mark.recorded.then_some(&*connection);
        if !self.enqueue(link, &packet, recorded) {
            connection.in_flight -= 1;
            let socket = connection.socket_mut(place);
            socket.way.refused += 1;
            socket.tell_refused();
        }
    }
}

/// Sequence number that the present credit of `end` of a connection reaches.
#[cold]
fn credit_limit(connection: &Connection, end: End) -> Option<u64> {
    Some(FIRST_BYTE + connection.end(end).session.credit_limit()?)
}
