//! Context of carriers and nodes: the parts of the world that they may touch, and the operations that they share.

use crate::conn::{
    Connection, ConnectionId, Connections, Content, End, Event, Exchange, ExchangeId, Exchanges, Hosts, Leg,
    Releasing, Response, Ride, Transport,
};
use crate::engine::EventQueue;
use crate::observe::{Counted, Observer};
use crate::tcp::{self, Limit, Output, Segment};
use crate::units::{Instant, When};
use crate::workload::{Directory, HostId, Request};

use super::{Action, Actions};

/// Context of carriers and nodes: all that they may touch. Connections are apart: who may touch more than the one at hand gets
/// them beside it.
pub(crate) struct Context {
    /// The time.
    pub(crate) now: Instant,
    pub(crate) queue: EventQueue<Event>,
    pub(crate) legs: Vec<Leg>,
    hosts: Hosts,
    pub(crate) directory: Directory,
    pub(crate) exchanges: Exchanges,
    pub(crate) actions: Actions,
    pub(crate) observer: Observer,
    connections_opened: u64,
}

/// Bytes of a response that are there to be sent.
pub(crate) struct Ready {
    /// Those that were there before.
    pub(crate) before: u64,
    /// Whether they are the last ones.
    pub(crate) is_last: bool,
}

impl Context {
    pub(crate) fn new(legs: Vec<Leg>, hosts: Hosts, directory: Directory, observer: Observer) -> Self {
        Self {
            now: Instant::ZERO,
            queue: EventQueue::new(),
            legs,
            hosts,
            directory,
            exchanges: Exchanges::new(),
            actions: Actions::default(),
            observer,
            connections_opened: 0,
        }
    }

    /// Adds a connection between two nodes, which starts when the caller has returned.
    pub(crate) fn open(
        &mut self,
        connections: &mut Connections,
        leg: usize,
        host: Option<HostId>,
        nodes: [u8; 2],
    ) -> ConnectionId {
        let id = connections.insert(Connection::new(self.now, self.connections_opened, leg, host, nodes));
        self.connections_opened += 1;
        let connection = connections.get_mut(id).expect("it has just been added");
        connection.tls = self.legs[leg].tls();
        self.observer.on_open(self.now, id, connection);
        self.actions.now(Action::Open(id));
        id
    }

    /// Starts TCP at the client end of a connection; its SYN goes into `out`.
    pub(crate) fn connect(&mut self, connection: &mut Connection, out: &mut Output) {
        self.start_tcp(connection, End::Client, None, out);
    }

    /// Starts TCP at `end`, which a SYN has reached; the answer goes into `out`.
    pub(crate) fn accept(&mut self, connection: &mut Connection, end: End, syn: &Segment, out: &mut Output) {
        self.start_tcp(connection, end, Some(syn), out);
    }

    fn start_tcp(&mut self, connection: &mut Connection, end: End, syn: Option<&Segment>, out: &mut Output) {
        let leg = &mut self.legs[connection.leg];
        let host = connection.host.map(|host| &self.directory.hosts()[host]);
        let config = leg.config(end, host);
        let clock = self.hosts.clock(connection.end(end).node, connection.host, &leg.profile);
        let tcp = tcp::Connection::open(leg.take_ended(), self.now, &config, clock, syn, out);
        connection.end_mut(end).transport = Some(Transport::Tcp(tcp));
    }

    /// Puts the request of an exchange on a connection; with `both`, its response comes back on the same one, which it has for
    /// itself.
    pub(crate) fn assign(
        &mut self,
        connections: &mut Connections,
        id: ExchangeId,
        on: ConnectionId,
        both: bool,
    ) {
        let Some(exchange) = self.ride(connections, id, on, both) else {
            return;
        };
        let request_bytes = exchange.request.request_bytes;
        let connection = connections.get_mut(on).expect("the exchange rides it");
        connection.end_mut(End::Client).stream.push(Content::Message(id), request_bytes, 0);
        if both {
            connection.exchange = Some(id);
        }
    }

    /// Gives an exchange the connection for its request, with `both` for its response as well; nothing of it is written yet.
    pub(crate) fn ride(
        &mut self,
        connections: &mut Connections,
        id: ExchangeId,
        on: ConnectionId,
        both: bool,
    ) -> Option<&Exchange> {
        let (exchange, connection) = (self.exchanges.get_mut(id)?, connections.get_mut(on)?);
        exchange.up = Some(Ride::on(on, connection));
        if both {
            exchange.down = exchange.up;
        }
        exchange.times.connected = connection.established.get().map(|_| self.now).into();
        self.board(connections, id, on, true);
        self.exchanges.get(id)
    }

    /// Counts an exchange among those on a connection, and no longer among those on another; `is_new` when this one has not
    /// carried any of it before.
    pub(crate) fn board(
        &mut self,
        connections: &mut Connections,
        id: ExchangeId,
        on: ConnectionId,
        is_new: bool,
    ) {
        self.leave_connection(connections, id);
        let exchange = self.exchanges.get_mut(id).expect("the caller has found it");
        exchange.aboard = Some(on);
        let wants_packets = self.observer.packets.wants(&exchange.request, &self.directory);
        let connection = connections.get_mut(on).expect("the caller has found it");
        self.observer.legs[connection.leg].board(self.now, connection.aboard);
        connection.board(self.now, is_new);
        if wants_packets && !connection.recorded {
            connection.record_from_now();
        }
    }

    /// Counts an exchange no longer among those on its connection, whichever that is.
    pub(crate) fn leave_connection(&mut self, connections: &mut Connections, id: ExchangeId) {
        let on = self.exchanges.get(id).and_then(|exchange| exchange.aboard);
        if let Some((on, connection)) = on.and_then(|on| Some((on, connections.get_mut(on)?))) {
            self.alight(on, connection, id);
        }
    }

    /// Counts an exchange no longer among those on `connection`, where it was.
    #[inline]
    pub(crate) fn alight(&mut self, on: ConnectionId, connection: &mut Connection, id: ExchangeId) {
        if let Some(exchange) = self.exchanges.get_mut(id)
            && exchange.aboard == Some(on)
        {
            exchange.aboard = None;
            self.observer.legs[connection.leg].alight(self.now, connection.aboard);
            connection.alight(self.now);
        }
    }

    /// A connection may carry requests: those that wait for it have got it.
    pub(crate) fn note_established(&mut self, on: ConnectionId) {
        for id in self.aboard(on) {
            self.exchanges.get_mut(id).expect("listed above").times.connected.set_once(self.now);
        }
    }

    /// A connection is gone, and with it all that it carries.
    pub(crate) fn give_up_all(&mut self, on: ConnectionId, connection: &Connection) {
        for id in self.aboard(on) {
            self.give_up(connection, id);
        }
    }

    /// The exchanges that a connection carries, by age of their places.
    pub(crate) fn aboard(&self, on: ConnectionId) -> Vec<ExchangeId> {
        let carried = self.exchanges.iter().filter(|(_, exchange)| exchange.aboard == Some(on));
        carried.map(|(exchange, _)| exchange).collect()
    }

    /// `bytes` of the response to an exchange go into the stream of its connection, behind `framing` bytes. Whether they are
    /// its last ones.
    #[inline]
    pub(crate) fn queue_response(
        &mut self,
        on: ConnectionId,
        connection: &mut Connection,
        id: ExchangeId,
        bytes: u64,
        framing: u64,
    ) -> bool {
        let Some(Ready { before, is_last }) = self.note_ready(on, id, bytes) else {
            return false;
        };
        let application = self.legs[connection.leg].application;
        let stream = &mut connection.end_mut(End::Server).stream;
        application.write_to(stream, id, before, bytes, framing);
        let end = stream.pushed();
        if is_last {
            connection.unacknowledged.push(Response { exchange: id, end });
        }
        is_last
    }

    /// `bytes` of the response to an exchange are there to be sent over the connection that it has.
    #[inline(always)]
    pub(crate) fn note_ready(&mut self, on: ConnectionId, id: ExchangeId, bytes: u64) -> Option<Ready> {
        let exchange = self.exchanges.get_mut(id)?;
        let before = exchange.bytes.ready();
        let is_last = exchange.bytes.on_ready(bytes);
        if self.observer.wants_senders() {
            let sending = exchange.sending.get_or_insert_default();
            if bytes > 0 && sending.ready_first.is_never() {
                sending.ready_first = When::at(self.now);
                sending.held = self.observer.held(self.now, on);
            }
            if is_last {
                sending.ready_last = When::at(self.now);
            } else {
                self.observer.on_response_due(on, id);
            }
        }
        Some(Ready { before, is_last })
    }

    /// Notes which responses the sender on a connection has sent to the end, and what holds it from now on: `limit` says its
    /// transport, where one runs.
    pub(crate) fn note_sent(
        &mut self,
        on: ConnectionId,
        connection: &mut Connection,
        limit: Option<Limit>,
        waits_for_credit: bool,
    ) {
        let exchanges = &self.exchanges;
        let is_due = |id: ExchangeId| {
            let exchange =
                exchanges.get(id).filter(|exchange| exchange.is_alive() && exchange.rides_down(on));
            exchange.is_some_and(|exchange| exchange.bytes.ready() < exchange.bytes.response())
        };
        self.observer.note_cause(self.now, on, limit, waits_for_credit, is_due);
        let sent = connection.bytes_sent();
        while let Some(response) = connection.unacknowledged.note_sent(sent) {
            if let Some(exchange) = self.exchanges.get_mut(response.exchange) {
                let sending = exchange.sending.get_or_insert_default();
                sending.sent_last = When::at(self.now);
                sending.held = self.observer.held(self.now, on).since(sending.held);
            }
        }
    }

    /// The connection that carries an exchange is there for it.
    pub(crate) fn note_connected(&mut self, id: ExchangeId) {
        if let Some(exchange) = self.exchanges.get_mut(id) {
            exchange.times.connected = When::at(self.now);
        }
    }

    /// The connection of an exchange is lost: it is gone, or cannot give it a whole response any more.
    pub(crate) fn give_up(&mut self, connection: &Connection, id: ExchangeId) {
        if let Some(exchange) = self.exchanges.alive(id) {
            exchange.failure = exchange.failure.or(connection.lost);
            self.actions.later(Action::Fail(id));
        }
    }

    /// A request is there to be sent over a leg.
    pub(crate) fn start_exchange(&mut self, leg: usize, number: u64, request: Request) -> ExchangeId {
        self.observer.legs[leg].add(self.now, Counted::Requests);
        self.exchanges.start(self.now, leg, number, request)
    }

    /// The response to an exchange starts at the server end of its leg, when the connection at hand is settled.
    pub(crate) fn release_later(&mut self, id: ExchangeId, response: Releasing) {
        if let Some(exchange) = self.exchanges.alive(id) {
            exchange.releasing = Some(response);
            self.actions.later(Action::Release(id));
        }
    }

    /// An exchange is over on its leg: nothing more of its response comes there.
    pub(crate) fn leave_leg(&mut self, leg: usize) {
        self.observer.legs[leg].remove(self.now, Counted::Requests);
    }

    /// Forgets an exchange that has ended, with its row.
    pub(crate) fn forget_exchange(&mut self, id: ExchangeId) {
        if let Some(exchange) = self.exchanges.get(id) {
            self.observer.on_exchange_end(exchange);
        }
        self.exchanges.forget(id);
        if self.exchanges.is_empty() {
            self.actions.later(Action::Rest);
        }
    }
}
