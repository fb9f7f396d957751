//! Context of clients, pools and nodes: the parts of the world that they may touch, the operations that they share, and the actions
//! that they answer with.

mod action;
mod report;

use crate::conn::{
    Closing, Connection, ConnectionId, Connections, End, Event, Exchange, ExchangeId, Exchanges, Hosts, Key,
    Leg, Place, Relays, Releasing, Ride, Transport,
};
use crate::engine::EventQueue;
use crate::http::Turns;
use crate::http::tls::Handshake;
use crate::net::LinkId;
use crate::observe::{Counted, Observer};
use crate::session::{Application, Part};
use crate::tcp::ns2::{Sender, Sink};
use crate::tcp::{self, HostClock, Limit, Output, Profile};
use crate::units::{Duration, Instant, When};
use crate::workload::{Caching, Directory, Method, Request};

pub(crate) use action::{Action, Actions, Turn};
use report::Log;

/// Context of clients, pools and nodes: all that they may touch. Connections are apart: who may touch more than the one at hand gets
/// them beside it.
pub(crate) struct Context {
    /// The time.
    pub(crate) now: Instant,
    pub(crate) queue: EventQueue<Event, LinkId>,
    pub(crate) legs: Vec<Leg>,
    hosts: Hosts,
    pub(crate) directory: Directory,
    pub(crate) exchanges: Exchanges,
    pub(crate) actions: Actions,
    pub(crate) observer: Observer,
    /// Handshake of TLS inside tunnels, where that is simulated.
    tunnels: Option<Handshake>,
    connections_opened: u64,
}

impl Context {
    pub(crate) fn new(
        legs: Vec<Leg>,
        hosts: Hosts,
        directory: Directory,
        observer: Observer,
        tunnels: Option<Handshake>,
    ) -> Self {
        Self {
            now: Instant::ZERO,
            queue: EventQueue::new(),
            legs,
            hosts,
            directory,
            exchanges: Exchanges::new(),
            actions: Actions::default(),
            observer,
            tunnels,
            connections_opened: 0,
        }
    }

    /// Adds a connection between two nodes, which starts when the caller has returned.
    pub(crate) fn open(
        &mut self,
        connections: &mut Connections,
        leg: usize,
        key: Key,
        nodes: [u8; 2],
    ) -> ConnectionId {
        let (number, sessions) = (self.connections_opened, self.legs[leg].sessions(self.now, &key));
        let relays = Relays::new(&self.legs[leg].config.splits, nodes);
        let id = connections.insert(Connection::new(self.now, number, leg, key, nodes, relays, sessions));
        self.connections_opened += 1;
        self.observer.on_open(self.now, id, connections.get_mut(id).expect("it has just been added"));
        self.actions.now(Action::Open(id));
        id
    }

    /// Starts the agents of a transfer: ns-2 makes them for it, and the sender's clock has a phase of its own.
    ///
    /// True when its leg has such agents. The sender's first packets go into `out`.
    pub(crate) fn start_agents(&mut self, connection: &mut Connection, out: &mut Output) -> bool {
        let Profile::Ns2(profile) = self.legs[connection.leg].profile(End::Server) else {
            return false;
        };
        let exchange =
            connection.exchange.and_then(|id| self.exchanges.get(id)).expect("it has its exchange");
        let (phase, random) = self.hosts.agent(exchange.number, profile.tick);
        let mut sender = Sender::new(profile, phase, random);
        sender.write(self.now, exchange.bytes.response(), out);
        connection.end_mut(End::Client).socket.transport =
            Some(Transport::Sink(Box::new(Sink::new(profile))));
        connection.end_mut(End::Server).socket.transport = Some(Transport::Sender(Box::new(sender)));
        true
    }

    /// Configuration and clock of a TCP that starts at a place of a connection, and one that has ended, for its memory.
    #[inline(always)]
    pub(crate) fn tcp_parts(
        &mut self,
        connection: &Connection,
        place: Place,
    ) -> (Option<tcp::Connection>, tcp::Config, HostClock) {
        let ended = self.legs[connection.leg].take_ended();
        let (config, clock) = self.host_at(connection, place);
        (ended, config, clock)
    }

    /// Starts TCP at both ends of the stretch between a side of a relay and its peer, as if it had stood for long.
    #[cold]
    pub(crate) fn stand(&mut self, connection: &mut Connection, near: Place, round_trip: Duration) {
        let far = connection.peer(near);
        let hosts = [near, far].map(|place| self.host_at(connection, place));
        let both = tcp::Connection::standing(self.now, hosts, round_trip);
        for (place, tcp) in [near, far].into_iter().zip(both) {
            connection.socket_mut(place).transport = Some(Transport::Tcp(tcp));
        }
    }

    /// Configuration and clock of TCP at a place of a connection.
    #[inline(always)]
    fn host_at(&mut self, connection: &Connection, place: Place) -> (tcp::Config, HostClock) {
        let host = connection.key.host.map(|host| &self.directory.hosts()[host]);
        let random = self.hosts.random(connection.number, place);
        let config = self.legs[connection.leg].config(place, host, random);
        let clock = self.hosts.clock(connection.socket(place).node, connection.key.host, &config.profile);
        (config, clock)
    }

    /// Puts the request of an exchange on a connection. With `both`, its response comes back on the same one.
    pub(crate) fn assign(
        &mut self,
        connections: &mut Connections,
        id: ExchangeId,
        on: ConnectionId,
        both: bool,
    ) {
        if self.ride(connections, id, on, both).is_some_and(|exchange| !exchange.answers_connect()) {
            self.send_request(connections, id);
        }
    }

    /// The request of an exchange, or the next turn of a tunnel, goes on the connection that it has, which is given back.
    pub(crate) fn send_request(
        &mut self,
        connections: &mut Connections,
        id: ExchangeId,
    ) -> Option<ConnectionId> {
        let exchange = self.exchanges.get_mut(id)?;
        let on = exchange.up?.connection;
        let connection = connections.get_mut(on)?;
        if let Some(tunnel) = &mut exchange.tunnel {
            tunnel.has_begun = true;
        }
        let part = exchange.next_of_request(id);
        let (session, mut log) = Log::of(self, connection, End::Client);
        session.send(part, &Application::WHOLE, 0, &mut log);
        Some(on)
    }

    /// The connection of an exchange stands. A proxy that has opened it for a tunnel answers the CONNECT.
    fn answer_connect(&mut self, id: ExchangeId) {
        if self.exchanges.get(id).is_some_and(Exchange::answers_connect) {
            for below in self.exchanges.waiting_for(id) {
                let waiting = self.exchanges.get(below).expect("it waits");
                let bytes = waiting.answer_to(waiting.request.response_bytes);
                self.actions.later(Action::Respond { exchange: below, bytes, mss: bytes });
            }
        }
    }

    /// Puts the request of an exchange on a connection that it has for itself until the response is whole.
    pub(crate) fn assign_alone(&mut self, connections: &mut Connections, id: ExchangeId, on: ConnectionId) {
        self.assign(connections, id, on, true);
        connections.get_mut(on).expect("the caller has found it").exchange = Some(id);
    }

    /// Gives an exchange the connection for its request, with `both` for its response as well. Nothing of it is written yet.
    fn ride(
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
        let is_there = connection.established.get().is_some();
        exchange.times.connected = is_there.then_some(self.now).into();
        self.board(connections, id, on, true);
        if is_there {
            self.answer_connect(id);
        }
        self.exchanges.get(id)
    }

    /// Counts an exchange among those on a connection, and no longer among those on another. `is_new` when this one has not
    /// carried any of it before.
    pub(crate) fn board(
        &mut self,
        connections: &mut Connections,
        id: ExchangeId,
        on: ConnectionId,
        is_new: bool,
    ) {
        self.leave_connection(connections, id);
        let connection = connections.get_mut(on).expect("the caller has found it");
        let older = connection.newest_aboard.replace(id);
        let exchange = self.exchanges.get_mut(id).expect("the caller has found it");
        (exchange.aboard, exchange.beside_aboard) = (Some(on), [None, older]);
        let wants_packets = self.observer.packets.wants(&exchange.request, &self.directory);
        if let Some(older) = older.and_then(|older| self.exchanges.get_mut(older)) {
            older.beside_aboard[0] = Some(id);
        }
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
            let [newer, older] = std::mem::take(&mut exchange.beside_aboard);
            match newer {
                None => connection.newest_aboard = older,
                Some(newer) => self.in_chain(newer).beside_aboard[1] = older,
            }
            if let Some(older) = older {
                self.in_chain(older).beside_aboard[0] = newer;
            }
            self.observer.legs[connection.leg].alight(self.now, connection.aboard);
            connection.alight(self.now);
        }
    }

    /// A connection lies idle, and is closed at `end` when it has done so for a time.
    pub(crate) fn lie_idle(
        &mut self,
        on: ConnectionId,
        connection: &mut Connection,
        end: End,
        idle_timeout: Duration,
    ) {
        let until = self.now + idle_timeout;
        connection.idle_until = When::at(until);
        self.queue.push(until, Event::IdleEnds(on, end));
    }

    /// A connection may carry requests: the waiting ones have got it.
    pub(crate) fn note_established(&mut self, connection: &Connection) {
        let mut next = connection.newest_aboard;
        while let Some((id, exchange)) = next.and_then(|id| Some((id, self.exchanges.get_mut(id)?))) {
            exchange.times.connected.set_once(self.now);
            next = exchange.beside_aboard[1];
            self.answer_connect(id);
        }
    }

    /// A connection is gone, and with it all that it carries.
    pub(crate) fn give_up_all(&mut self, connection: &Connection) {
        for id in self.aboard(connection) {
            self.give_up(connection, id);
        }
    }

    /// The exchanges that a connection carries, by age of their places.
    pub(crate) fn aboard(&self, connection: &Connection) -> Vec<ExchangeId> {
        let older = |id: &ExchangeId| self.exchanges.get(*id)?.beside_aboard[1];
        let mut carried: Vec<_> = std::iter::successors(connection.newest_aboard, older).collect();
        carried.sort_unstable();
        carried
    }

    fn in_chain(&mut self, id: ExchangeId) -> &mut Exchange {
        self.exchanges.get_mut(id).expect("who is on a connection has not ended")
    }

    /// The next `bytes` of the response to an exchange, which came in segments of up to `mss` bytes, are there to be sent over the
    /// connection that it has.
    #[inline]
    pub(crate) fn respond(
        &mut self,
        on: ConnectionId,
        connection: &mut Connection,
        id: ExchangeId,
        bytes: u64,
        mss: u64,
    ) {
        let Some(part) = self.note_ready(on, id, bytes) else {
            return;
        };
        let leg = &mut self.legs[connection.leg];
        let (application, framing) = (leg.config.application, leg.frame(bytes, mss));
        let (session, mut log) = Log::of(self, connection, End::Server);
        session.send(part, &application, framing, &mut log);
        if part.is_last() && connection.behind_response != Closing::No {
            connection.end_mut(End::Server).closing = connection.behind_response;
        }
    }

    /// `bytes` of the response to an exchange are there to be sent over the connection that it has.
    #[inline(always)]
    fn note_ready(&mut self, on: ConnectionId, id: ExchangeId, bytes: u64) -> Option<Part> {
        let exchange = self.exchanges.get_mut(id)?;
        let before = exchange.bytes.ready();
        let is_last = exchange.bytes.on_ready(bytes);
        let part = exchange.part_of_response(id, before, bytes);
        if self.observer.wants_senders() && exchange.is_in_last_turn(before) {
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
        Some(part)
    }

    /// Bytes that `end` of a connection would hand to its transport now in one write.
    #[inline(always)]
    pub(crate) fn next_write(&mut self, connection: &mut Connection, end: End) -> u64 {
        let (session, mut log) = Log::of(self, connection, end);
        session.next_write(log.now(), &mut log)
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
            // A server that has not heard that its client gave up goes on releasing.
            let is_coming = |exchange: &&Exchange| exchange.is_alive() || exchange.releasing.is_some();
            let exchange = exchanges.get(id).filter(|exchange| exchange.rides_down(on)).filter(is_coming);
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
            if let Some(relays) = &mut connection.relays {
                relays.responses.push(response);
            }
        }
    }

    /// Notes responses that the relay nearest to the client has sent to the end, and the holder of this side's relay from now on.
    pub(crate) fn note_relayed(&mut self, connection: &mut Connection, side: u8) {
        let Connection { ends, relays, .. } = connection;
        let relays = relays.as_mut().expect("the caller has one");
        relays.note_cwnd(self.now, side);
        let bytes = ends[End::Server as usize].session.bytes_relayed(relays.bytes_relayed());
        while let Some(response) = relays.responses.take_up_to(bytes) {
            if let Some(exchange) = self.exchanges.get_mut(response.exchange) {
                exchange.sending.get_or_insert_default().relayed_last = When::at(self.now);
            }
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
        let id = self.exchanges.start(self.now, leg, number, request);
        if let Some(turns) = self.turns(leg, &request) {
            self.exchanges.get_mut(id).expect("it has just been started").make_tunnel(turns);
        }
        id
    }

    /// Turns of a request on a leg, where it is a tunnel with TLS inside, which no cache serves.
    fn turns(&self, leg: usize, request: &Request) -> Option<Turns> {
        let has_tls = request.method == Method::Connect && !request.is_clear();
        let handshake = self.tunnels.as_ref().filter(|_| has_tls)?;
        if request.caching != Caching::Bypass || request.source.is_some() {
            return None;
        }
        let turns = Turns::new(handshake, request.request_bytes, request.response_bytes)?;
        Some(if leg + 1 == self.legs.len() { turns.on_last_leg(leg > 0) } else { turns })
    }

    /// The response to an exchange starts at the server end of its leg, when the connection at hand is settled.
    pub(crate) fn release_later(&mut self, id: ExchangeId, response: Releasing) {
        if self.exchanges.alive(id).is_some() {
            self.exchanges.release(id, response);
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
