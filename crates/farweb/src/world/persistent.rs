//! The connections of a leg with HTTP/1.1: used again while they are idle, closed when they have been idle for a time.
//!
//! A request that was sent on a connection used before, and closed or reset before a byte of the response came, is sent again
//! on another one: its server may have closed the connection while the request was on its way (RFC 9112, section 9.3.1).

use crate::http::http11::{Answer, Limits, Next, Pool};
use crate::id::Id;
use crate::units::{Duration, Instant};
use crate::workload::HostId;

use super::exchange::{Exchange, ExchangeId};
use super::leg::Carrier;
use super::pair::{Closing, ConnectionId, End};
use super::tasks::Task;
use super::{Event, World};

/// The connections of a leg, and when an idle one is closed.
pub(super) struct Persistent {
    pool: Pool<ConnectionId, ExchangeId>,
    idle_timeout: Duration,
    closed_by: End,
    /// Whether a connection serves requests to one host only, as its far end is an origin server.
    by_host: bool,
}

impl Persistent {
    pub(super) fn new(limits: Limits, idle_timeout: Duration, closed_by: End, by_host: bool) -> Self {
        Self { pool: Pool::new(limits), idle_timeout, closed_by, by_host }
    }

    /// Whether the server closes a connection that has been idle.
    pub(super) fn is_closed_by_server(&self) -> bool {
        self.closed_by == End::Server
    }

    /// The host by which connections for requests to `host` are kept apart.
    fn key(&self, host: HostId) -> u32 {
        if self.by_host { host.index() as u32 } else { 0 }
    }
}

impl World {
    fn persistent(&mut self, leg: usize) -> Option<&mut Persistent> {
        match &mut self.legs[leg].carrier {
            Carrier::Persistent(persistent) => Some(persistent),
            _ => None,
        }
    }

    /// The connections of the leg of an exchange, and the exchange's host there.
    fn persistent_of(&mut self, id: ExchangeId) -> Option<(&mut Persistent, u32)> {
        let Exchange { leg, request, .. } = self.exchanges.get(id)?;
        let (leg, host) = (*leg, request.host);
        let persistent = self.persistent(leg)?;
        let key = persistent.key(host);
        Some((persistent, key))
    }

    /// Asks for a connection for an exchange, which may have to wait for it.
    pub(super) fn ask_for_connection(&mut self, now: Instant, id: ExchangeId) {
        let (persistent, key) = self.persistent_of(id).expect("the caller has looked");
        match persistent.pool.ask(key, id) {
            Answer::Use(connection) => self.reuse(now, id, connection),
            Answer::Open => self.open_for(now, id),
            Answer::CloseFirst(idle) => {
                self.close_connection(now, idle, End::Client, Closing::WhenWritten);
                self.open_for(now, id);
            }
            Answer::Wait => {}
        }
    }

    /// Opens the connection that an exchange may have now, unless that has been given up in the meantime.
    pub(super) fn open_allowed(&mut self, now: Instant, leg: usize, key: u32, id: ExchangeId) {
        if self.exchanges.get(id).is_some_and(Exchange::is_alive) {
            return self.open_for(now, id);
        }
        let next = self.persistent(leg).and_then(|persistent| persistent.pool.declined(key));
        self.allow(leg, next);
    }

    /// Sends the request of an exchange on a connection that another has left, unless either is gone in the meantime.
    pub(super) fn reuse(&mut self, now: Instant, id: ExchangeId, connection: ConnectionId) {
        let is_wanted = self.exchanges.get(id).is_some_and(Exchange::is_alive);
        let is_open = self.connections.get(connection).is_some_and(|pair| pair.is_usable());
        match (is_wanted, is_open) {
            (true, true) => {
                self.note_use(connection);
                self.assign_request(now, id, connection);
                self.act(now, connection, End::Client);
            }
            (true, false) => self.tasks.push_back(Task::FindConnection(id)),
            (false, true) => self.leave_idle(now, connection),
            (false, false) => {}
        }
    }

    /// The near end uses a connection, which so is not idle any more where that end closes idle ones.
    fn note_use(&mut self, id: ConnectionId) {
        let Self { connections, legs, .. } = self;
        if let Some(pair) = connections.get_mut(id)
            && matches!(&legs[pair.leg].carrier, Carrier::Persistent(persistent) if persistent.closed_by == End::Client)
        {
            pair.idle_since = None;
        }
    }

    /// The pool has a new connection.
    pub(super) fn add_to_pool(&mut self, id: ExchangeId, connection: ConnectionId) {
        if let Some((persistent, key)) = self.persistent_of(id) {
            persistent.pool.opened(key, connection);
        }
    }

    /// The exchange on a connection has come to its end: another one gets it, or it lies idle.
    pub(super) fn leave_idle(&mut self, now: Instant, id: ConnectionId) {
        let pair = self.connections.get_mut(id).expect("the caller has found it");
        pair.exchange = None;
        let leg = pair.leg;
        let Some(persistent) = self.persistent(leg).filter(|persistent| persistent.pool.has(id)) else {
            return;
        };
        match persistent.pool.idle(id, now) {
            Next::Idle => {
                if persistent.closed_by == End::Client {
                    self.watch_idle(now, id, End::Client);
                }
            }
            Next::Use(next) => self.tasks.push_back(Task::Reuse(next, id)),
            Next::CloseFirst(next) => {
                self.tasks.push_back(Task::Close(id, Closing::WhenWritten));
                self.allow(leg, Some(next));
            }
        }
    }

    /// From now on, `end` of a connection counts how long it is idle.
    pub(super) fn watch_idle(&mut self, now: Instant, id: ConnectionId, end: End) {
        let pair = self.connections.get_mut(id).expect("the caller has found it");
        pair.idle_since = Some(now);
        let leg = pair.leg;
        if let Some(timeout) = self.persistent(leg).map(|persistent| persistent.idle_timeout) {
            self.queue.push(now + timeout, Event::IdleEnds(id, end));
        }
    }

    /// A connection has been idle for the timeout, if nothing has gone over it since.
    pub(super) fn on_idle_end(&mut self, now: Instant, id: ConnectionId, end: End) {
        let Some(pair) = self.connections.get_mut(id) else {
            return;
        };
        let (leg, since) = (pair.leg, pair.idle_since);
        let timeout = self.persistent(leg).map(|persistent| persistent.idle_timeout);
        if let (Some(since), Some(timeout)) = (since, timeout)
            && since + timeout == now
        {
            self.close_connection(now, id, end, Closing::WhenWritten);
        }
    }

    /// A connection is not to be used again.
    pub(super) fn leave_pool(&mut self, id: ConnectionId) {
        let Some(leg) = self.connections.get(id).map(|pair| pair.leg) else {
            return;
        };
        let next = self.persistent(leg).and_then(|persistent| persistent.pool.gone(id));
        self.allow(leg, next);
    }

    /// An exchange does not wait for a connection any more.
    pub(super) fn stop_waiting(&mut self, id: ExchangeId) {
        if let Some((persistent, key)) = self.persistent_of(id) {
            persistent.pool.leave(key, id);
        }
    }

    /// `next` may open a connection.
    fn allow(&mut self, leg: usize, next: Option<ExchangeId>) {
        if let Some(next) = next {
            let host = self.exchanges.get(next).expect("who waits has not been given up").request.host;
            let key = self.persistent(leg).expect("the caller has found it").key(host);
            self.tasks.push_back(Task::Open { leg, key, exchange: next });
        }
    }

    /// `end` of a connection can go on no more: the exchange on it is sent again, or fails.
    ///
    /// The near end learns that the far end is gone when that answers its request. Only when the request is there already
    /// does nothing come any more.
    pub(super) fn on_persistent_lost(&mut self, id: ConnectionId, end: End) {
        let pair = self.connections.get_mut(id).expect("the caller has found it");
        let was_used = pair.requests > 1;
        let Some((of, exchange)) = pair.exchange.and_then(|of| Some((of, self.exchanges.get(of)?))) else {
            if end == End::Client {
                self.leave_pool(id);
            }
            return;
        };
        if end == End::Server {
            if exchange.bytes.is_requested() {
                self.give_up(of);
            }
            return;
        }
        pair.exchange = None;
        let is_alive = exchange.is_alive();
        let may_repeat = was_used && exchange.bytes.received() == 0;
        self.leave_pool(id);
        if !is_alive {
            return;
        }
        if may_repeat {
            self.tasks.push_back(Task::SendAgain(of));
        } else {
            self.give_up(of);
        }
    }

    /// Sends a request again, on another connection; what has become of it on the legs above is forgotten.
    pub(super) fn send_again(&mut self, now: Instant, id: ExchangeId) {
        if self.exchanges.get(id).is_none_or(|exchange| !exchange.is_alive()) {
            return;
        }
        self.alight(now, id);
        self.fail_above(now, id);
        self.exchanges.get_mut(id).expect("found above").start_again();
        self.find_connection(now, id);
    }
}
