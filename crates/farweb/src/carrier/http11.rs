//! HTTP/1.1: the connections of a leg are used again while they are idle, and closed when they have been idle for a time.
//!
//! Models which connection a request is sent on by [`http11::Pool`](crate::http::http11::Pool), which says why one is reused,
//! opened or waited for. A request that was sent on a connection used before, and closed or reset before a byte of the response
//! came, is sent again on another one: its server may have closed the connection while the request was on its way. Leaves out
//! pipelining, and limits on how often that may happen.
//!
//! Source: RFC 9112, sections 9.3 and 9.3.1; the NZ–US studies (CNDS 2001, pp. 97–102), section on persistent HTTP.

use crate::conn::{Closing, Connection, ConnectionId, Connections, End, Event, Exchange, ExchangeId};
use crate::http::http11::{Answer, Limits, Next, Pool};
use crate::scenario::ClosedBy;
use crate::units::{Duration, When};

use super::{Action, Carry, Context, Turn};

/// The connections of a leg, and when an idle one is closed.
pub(crate) struct Http11 {
    leg: usize,
    pool: Pool<ConnectionId, ExchangeId>,
    idle_timeout: Duration,
    closed_by: End,
}

impl Http11 {
    pub(crate) fn new(
        leg: usize,
        idle_timeout: Duration,
        closed_by: ClosedBy,
        per_host: Option<u32>,
        total: Option<u32>,
    ) -> Self {
        let closed_by = match closed_by {
            ClosedBy::Client => End::Client,
            ClosedBy::Server => End::Server,
        };
        Self { leg, pool: Pool::new(Limits { per_host, total }), idle_timeout, closed_by }
    }

    fn key_of(&self, cx: &Context, id: ExchangeId) -> u32 {
        cx.legs[self.leg].key(cx.exchanges.get(id).expect("who asks or waits has not ended").request.host)
    }

    /// Opens a connection for an exchange.
    fn open(&mut self, cx: &mut Context, connections: &mut Connections, id: ExchangeId) {
        let host = cx.exchanges.get(id).expect("it goes on").request.host;
        let leg = &cx.legs[self.leg];
        let (nodes, of, key) = (leg.nodes(), leg.host_of(host), leg.key(host));
        let connection = cx.open(connections, self.leg, of, nodes);
        self.pool.opened(key, connection);
        cx.assign(connections, id, connection, true);
    }

    /// Sends the request of an exchange on a connection that another has left, unless either is gone in the meantime.
    fn reuse(&mut self, cx: &mut Context, connections: &mut Connections, id: ExchangeId, on: ConnectionId) {
        let is_wanted = cx.exchanges.get(id).is_some_and(Exchange::is_alive);
        let usable = connections.get_mut(on).filter(|connection| connection.is_usable());
        match (is_wanted, usable) {
            (true, Some(connection)) => {
                if self.closed_by == End::Client {
                    connection.idle_since = When::NEVER;
                }
                cx.assign(connections, id, on, true);
                cx.actions.now(Action::Act(on, End::Client));
            }
            (true, None) => cx.actions.later(Action::Send(id)),
            (false, Some(connection)) => self.release(cx, on, connection),
            (false, None) => {}
        }
    }

    /// The exchange on a connection has come to its end: another one gets it, or it lies idle.
    fn release(&mut self, cx: &mut Context, on: ConnectionId, connection: &mut Connection) {
        connection.exchange = None;
        if !self.pool.has(on) {
            return;
        }
        match self.pool.idle(on, cx.now) {
            Next::Idle => {
                if self.closed_by == End::Client {
                    self.watch(cx, on, connection, End::Client);
                }
            }
            Next::Use(next) => {
                cx.actions.later(Action::Resume { exchange: next, leg: self.leg, turn: Turn::Use(on) });
            }
            Next::CloseFirst(next) => {
                cx.actions.later(Action::Close(on, End::Client, Closing::WhenWritten));
                self.allow(cx, Some(next));
            }
        }
    }

    /// Starts the idle time of a connection at `end`.
    fn watch(&self, cx: &mut Context, on: ConnectionId, connection: &mut Connection, end: End) {
        connection.idle_since = When::at(cx.now);
        cx.queue.push(cx.now + self.idle_timeout, Event::IdleEnds(on, end));
    }

    /// `next` may open a connection.
    fn allow(&self, cx: &mut Context, next: Option<ExchangeId>) {
        if let Some(exchange) = next {
            let turn = Turn::Open(self.key_of(cx, exchange));
            cx.actions.later(Action::Resume { exchange, leg: self.leg, turn });
        }
    }
}

impl Carry for Http11 {
    fn send_request(&mut self, cx: &mut Context, connections: &mut Connections, id: ExchangeId) {
        let key = self.key_of(cx, id);
        match self.pool.ask(key, id) {
            Answer::Use(on) => self.reuse(cx, connections, id, on),
            Answer::Open => self.open(cx, connections, id),
            Answer::CloseFirst(idle) => {
                cx.actions.now(Action::Close(idle, End::Client, Closing::WhenWritten));
                cx.actions.now(Action::Resume { exchange: id, leg: self.leg, turn: Turn::Open(key) });
            }
            Answer::Wait => {}
        }
    }

    fn resume(&mut self, cx: &mut Context, connections: &mut Connections, id: ExchangeId, turn: Turn) {
        match turn {
            Turn::Use(on) => self.reuse(cx, connections, id, on),
            Turn::Open(_) if cx.exchanges.alive(id).is_some() => self.open(cx, connections, id),
            Turn::Open(key) => {
                let next = self.pool.declined(key);
                self.allow(cx, next);
            }
        }
    }

    fn respond(
        &mut self,
        cx: &mut Context,
        on: ConnectionId,
        connection: &mut Connection,
        id: ExchangeId,
        bytes: u64,
        framing: u64,
    ) {
        let is_last = cx.queue_response(on, connection, id, bytes, framing);
        if is_last && self.closed_by == End::Server {
            connection.end_mut(End::Server).closing = Closing::WhenIdle;
        }
    }

    fn on_drained(&mut self, cx: &mut Context, on: ConnectionId, connection: &mut Connection, end: End) {
        self.watch(cx, on, connection, end);
    }

    fn on_response_read(&mut self, cx: &mut Context, on: ConnectionId, connection: &mut Connection) {
        self.release(cx, on, connection);
    }

    /// A connection has been idle for the timeout, if nothing has gone over it since.
    fn on_idle(&mut self, cx: &mut Context, on: ConnectionId, connection: &Connection, end: End) {
        if connection.idle_since.get().is_some_and(|since| since + self.idle_timeout == cx.now) {
            cx.actions.now(Action::Close(on, end, Closing::WhenWritten));
        }
    }

    /// The client end learns that the server end is gone when that answers its request. Only when the request is there already does
    /// nothing come any more.
    fn on_lost(&mut self, cx: &mut Context, on: ConnectionId, connection: &mut Connection, end: End) {
        let carried = connection.exchange.and_then(|id| Some((id, cx.exchanges.get(id)?)));
        if end == End::Server {
            if let Some((id, exchange)) = carried
                && exchange.bytes.is_requested()
            {
                cx.give_up(connection, id);
            }
            return;
        }
        let Some((id, exchange)) = carried else {
            return self.on_closing(cx, on);
        };
        let is_alive = exchange.is_alive();
        let may_repeat = connection.requests > 1 && exchange.bytes.received() == 0;
        connection.exchange = None;
        self.on_closing(cx, on);
        if is_alive && may_repeat {
            cx.actions.later(Action::SendAgain(id));
        } else if is_alive {
            cx.give_up(connection, id);
        }
    }

    fn on_closing(&mut self, cx: &mut Context, on: ConnectionId) {
        let next = self.pool.gone(on);
        self.allow(cx, next);
    }

    fn on_failed(&mut self, cx: &mut Context, id: ExchangeId, there: std::cmp::Ordering) {
        let exchange = cx.exchanges.get(id).expect("the caller has found it");
        if exchange.up.is_none() {
            let key = cx.legs[self.leg].key(exchange.request.host);
            self.pool.leave(key, id);
        }
        super::close_behind(cx, id, there);
    }
}
