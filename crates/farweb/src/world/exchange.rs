//! A request on one leg: how far it is, and which connections carry it.
//!
//! A request travels leg by leg. Each leg has an exchange of its own, linked `below`, towards the clients, and `above`,
//! towards the servers. The exchange of the first leg writes the row of the request; that of the last one talks to the
//! origin. Where two legs meet is a proxy, which stores and forwards the request and passes the response on as it reads it.

use crate::http;
use crate::id::SlabId;
use crate::units::Instant;
use crate::workload::Request;

use super::World;
use super::held::HeldTimes;
use super::leg::Carrier;
use super::occupancy::Counted;
use super::origin::Releasing;
use super::pair::{ConnectionId, End};
use super::unacknowledged::Response;

pub(super) type ExchangeId = SlabId;

/// A request on one leg, and how far it is.
pub(super) struct Exchange {
    /// Number of the request.
    pub(super) number: u64,
    pub(super) request: Request,
    pub(super) leg: usize,
    /// The same request on the leg towards the clients.
    pub(super) below: Option<ExchangeId>,
    /// The same request on the leg towards the servers, once it is there.
    pub(super) above: Option<ExchangeId>,
    /// The connection that carries the request.
    pub(super) up: Option<Ride>,
    /// The connection that carries the response; with all carriers but a mux that of the request.
    pub(super) down: Option<Ride>,
    /// The connection that counts it among the requests on it.
    pub(super) aboard: Option<ConnectionId>,
    pub(super) bytes: http::Exchange,
    pub(super) times: Times,
    /// What the clocks of the connection showed when the first bytes of the response were there; how much further they were
    /// when its last byte had been sent.
    pub(super) held: HeldTimes,
    /// The response that the origin is releasing.
    pub(super) releasing: Option<Releasing>,
    /// The node that serves it, on the first leg and once the response has begun.
    pub(super) served_by: Option<u8>,
    /// How often its request was sent again.
    pub(super) resent: u64,
    /// Whether it is given up, on all legs.
    pub(super) failed: bool,
}

/// A connection that carries a message, and what had happened on it before.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ride {
    pub(super) connection: ConnectionId,
    pub(super) number: u64,
    pub(super) retransmits: u64,
    pub(super) timeouts: u64,
}

/// When an exchange came how far.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Times {
    /// It was queued on the leg.
    pub(super) start: Instant,
    /// Its connection was there.
    pub(super) connected: Option<Instant>,
    /// The whole request was at the far end.
    pub(super) requested: Option<Instant>,
    /// The first bytes of the response were there to be sent at the far end.
    pub(super) ready_first: Option<Instant>,
    /// The last byte was.
    pub(super) ready_last: Option<Instant>,
    /// The last byte was sent for the first time.
    pub(super) sent_last: Option<Instant>,
    /// The first bytes of the response were read at the near end.
    pub(super) first_byte: Option<Instant>,
    /// The last byte was.
    pub(super) end: Option<Instant>,
    /// The far end had the last byte acknowledged.
    pub(super) acked: Option<Instant>,
}

impl Exchange {
    fn new(now: Instant, leg: usize, number: u64, request: Request, below: Option<ExchangeId>) -> Self {
        Self {
            number,
            request,
            leg,
            below,
            above: None,
            up: None,
            down: None,
            aboard: None,
            bytes: http::Exchange::new(request.request_bytes, request.response_bytes),
            times: Times { start: now, ..Times::default() },
            held: HeldTimes::default(),
            releasing: None,
            served_by: None,
            resent: 0,
            failed: false,
        }
    }

    /// Its request is to be sent again from the near end, and nothing has come of it yet.
    pub(super) fn start_again(&mut self) {
        let Self { number, request, leg, below, times, resent, .. } = *self;
        *self = Self { resent: resent + 1, ..Self::new(times.start, leg, number, request, below) };
    }

    /// Whether it is still going on.
    pub(super) const fn is_alive(&self) -> bool {
        !self.failed && self.times.end.is_none()
    }
}

impl World {
    /// Queues a request on a leg.
    pub(super) fn start_exchange(
        &mut self,
        now: Instant,
        leg: usize,
        number: u64,
        request: Request,
        below: Option<ExchangeId>,
    ) -> ExchangeId {
        let id = self.exchanges.insert(Exchange::new(now, leg, number, request, below));
        self.legs[leg].occupancy.add(now, Counted::Requests);
        id
    }

    /// The proxy at the far end of an exchange has the whole request: it goes on, on the next leg.
    pub(super) fn pass_on(&mut self, now: Instant, below: ExchangeId) {
        let Some(Exchange { number, request, leg, .. }) =
            self.exchanges.get(below).filter(|exchange| exchange.is_alive())
        else {
            return;
        };
        let (number, request, leg) = (*number, *request, leg + 1);
        let above = self.start_exchange(now, leg, number, request, Some(below));
        self.exchanges.get_mut(below).expect("found above").above = Some(above);
        self.find_connection(now, above);
    }

    /// Gives an exchange the connection that its carrier has for it.
    pub(super) fn find_connection(&mut self, now: Instant, id: ExchangeId) {
        let Some(exchange) = self.exchanges.get(id).filter(|exchange| exchange.is_alive()) else {
            return;
        };
        match self.legs[exchange.leg].carrier {
            Carrier::Single => self.open_for(now, id),
            Carrier::Persistent(_) => self.ask_for_connection(now, id),
            Carrier::Mux(_) => self.send_request_on_mux(now, id),
        }
    }

    /// The response to the request of an exchange begins at `node`.
    pub(super) fn note_server(&mut self, id: ExchangeId, node: u8) {
        let mut lowest = id;
        while let Some(below) = self.exchanges.get(lowest).and_then(|exchange| exchange.below) {
            lowest = below;
        }
        if let Some(exchange) = self.exchanges.get_mut(lowest) {
            exchange.served_by = Some(node);
        }
    }

    /// Puts the request of an exchange on a connection that both of its messages go over, or on one that only it does.
    pub(super) fn assign_request(&mut self, now: Instant, id: ExchangeId, connection: ConnectionId) {
        let Self { exchanges, connections, .. } = self;
        let (Some(exchange), Some(pair)) = (exchanges.get_mut(id), connections.get_mut(connection)) else {
            return;
        };
        exchange.up = Some(pair.ride(connection));
        exchange.times.connected = pair.established.map(|_| now);
        pair.streams[End::Client as usize].push(id, exchange.request.request_bytes, 0);
        if !matches!(self.legs[exchange.leg].carrier, Carrier::Mux(_)) {
            exchange.down = exchange.up;
            pair.exchange = Some(id);
        }
        self.board(now, id, connection, true);
    }

    /// Counts an exchange among those on a connection, and no longer among those on another; `is_new` when this one has not
    /// carried any of it before.
    pub(super) fn board(&mut self, now: Instant, id: ExchangeId, connection: ConnectionId, is_new: bool) {
        self.alight(now, id);
        let exchange = self.exchanges.get_mut(id).expect("the caller has found it");
        exchange.aboard = Some(connection);
        let pair = self.connections.get_mut(connection).expect("the caller has found it");
        self.legs[pair.leg].occupancy.board(now, pair.aboard);
        if pair.aboard == 0 {
            pair.busy_since = now;
        }
        pair.aboard += 1;
        pair.aboard_max = pair.aboard_max.max(pair.aboard);
        pair.requests += u64::from(is_new);
        if !pair.recorded && self.recorder.packets.wants(&exchange.request, &self.directory) {
            pair.record_from_now();
        }
    }

    /// Counts an exchange no longer among those on a connection.
    pub(super) fn alight(&mut self, now: Instant, id: ExchangeId) {
        let Self { exchanges, connections, legs, .. } = self;
        let connection = exchanges.get_mut(id).and_then(|exchange| exchange.aboard.take());
        if let Some(pair) = connection.and_then(|connection| connections.get_mut(connection)) {
            legs[pair.leg].occupancy.alight(now, pair.aboard);
            pair.aboard -= 1;
            if pair.aboard == 0 {
                pair.busy += now - pair.busy_since;
            }
        }
    }

    /// Counts nothing among the exchanges on a connection any more.
    pub(super) fn alight_all(&mut self, now: Instant, id: ConnectionId) {
        for exchange in self.aboard(id) {
            self.alight(now, exchange);
        }
    }

    /// `bytes` of the response are there at the far end of an exchange: they go into the stream of its connection, behind
    /// `framing` bytes. Behind its last byte a server of HTTP/1.0 closes.
    pub(super) fn on_response_ready(&mut self, now: Instant, id: ExchangeId, bytes: u64, framing: u64) {
        let Self { exchanges, connections, legs, .. } = self;
        let Some(exchange) = exchanges.get_mut(id) else {
            return;
        };
        let Some(pair) = exchange.down.and_then(|ride| connections.get_mut(ride.connection)) else {
            return;
        };
        if bytes > 0 && exchange.times.ready_first.is_none() {
            exchange.times.ready_first = Some(now);
            exchange.held = pair.held_at(now);
        }
        let stream = &mut pair.streams[End::Server as usize];
        stream.push(id, bytes, framing);
        if exchange.bytes.on_ready(bytes) {
            exchange.times.ready_last = Some(now);
            pair.unacknowledged.push(Response { exchange: id, end: stream.pushed() });
            if let Some(closing) = legs[exchange.leg].closing_after_response() {
                pair.closing[End::Server as usize] = closing;
            }
        }
    }

    /// The near end of an exchange has the whole response.
    pub(super) fn on_response_complete(&mut self, now: Instant, id: ExchangeId) {
        self.leave_leg(now, id);
        let exchange = self.exchanges.get(id).expect("its response has arrived");
        let (leg, below, ride) = (exchange.leg, exchange.below, exchange.down);
        if let (Carrier::Persistent(_), Some(ride)) = (&self.legs[leg].carrier, ride) {
            self.leave_idle(now, ride.connection);
        }
        if leg > 0 {
            if let Some(below) = below.and_then(|below| self.exchanges.get_mut(below)) {
                below.above = None;
            }
            self.forget_exchange(id);
        }
    }

    /// Counts an exchange no longer among those on its leg.
    pub(super) fn leave_leg(&mut self, now: Instant, id: ExchangeId) {
        self.alight(now, id);
        if let Some(exchange) = self.exchanges.get(id) {
            self.legs[exchange.leg].occupancy.remove(now, Counted::Requests);
        }
    }
}
