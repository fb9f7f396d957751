//! HTTP/1.1: the connections of a leg are used again while they are idle, and closed when they have been idle for a time.
//!
//! Models which connection a request is sent on by [`http11::Pool`], one for each client, which says why a connection is reused,
//! opened or waited for. A request that was sent on a connection used before, and closed or reset before a byte of the response
//! came, is sent again on another one: its server may have closed the connection while the request was on its way. A tunnel
//! (`CONNECT`) has a connection of its own, which its server closes behind it, and limits of its own for each host. A connection
//! counts in the limits until its client end closes or the request on it fails: a client would hold the place of a server end that died
//! unheard for as long as its keepalive or user timeout. Leaves out pipelining, limits on how often a request is sent again, and
//! that wait.
//!
//! Source: RFC 9112, sections 9.3 and 9.3.1; the NZ–US studies (CNDS 2001, pp. 97–102), section on persistent HTTP.

use std::cmp::Ordering;

use rustc_hash::FxHashMap;

use crate::conn::{Closing, Connection, ConnectionId, Connections, End, Exchange, ExchangeId, Key};
use crate::context::{Action, Context, Turn};
use crate::http::http11::{self, Answer, Limits, Next};
use crate::id::Id;
use crate::tcp;
use crate::units::{Duration, When};
use crate::workload::{ClientId, Method};

use super::{Allot, ClosedBy};

type Pool = http11::Pool<ConnectionId, ExchangeId>;

/// Client and node of the connections of a pool, as keys have them.
type Between = (Option<ClientId>, Option<u8>);

/// The connections of a leg, and when an idle one is closed.
pub(crate) struct Reuse {
    leg: usize,
    limits: Limits,
    /// By client, and by node where their connections end. One without a connection and a request that waits has no pool.
    pools: FxHashMap<Between, Pool>,
    idle_timeout: Duration,
    closed_by: End,
    /// Most requests on a connection.
    per_connection: Option<u32>,
}

impl Reuse {
    pub(crate) fn new(
        leg: usize,
        idle_timeout: Duration,
        closed_by: ClosedBy,
        limits: Limits,
        per_connection: Option<u32>,
    ) -> Self {
        let closed_by = match closed_by {
            ClosedBy::Client => End::Client,
            ClosedBy::Server => End::Server,
        };
        Self { leg, limits, pools: FxHashMap::default(), idle_timeout, closed_by, per_connection }
    }

    /// Sends the request of an exchange on a connection. The server closes it behind the response to the last one that it takes.
    fn assign(&self, cx: &mut Context, connections: &mut Connections, id: ExchangeId, on: ConnectionId) {
        cx.assign_alone(connections, id, on);
        let connection = connections.get_mut(on).expect("the caller has found it");
        if self.is_used_up(connection) {
            connection.behind_response = Closing::WhenWritten;
        }
    }

    fn is_used_up(&self, connection: &Connection) -> bool {
        connection.key.tunnel || self.per_connection.is_some_and(|most| connection.requests >= most)
    }

    fn key_of(&self, cx: &Context, id: ExchangeId) -> Key {
        let exchange = cx.exchanges.get(id).expect("who asks or waits has not ended");
        Key { tunnel: exchange.request.method == Method::Connect, ..cx.legs[self.leg].key(exchange) }
    }

    fn pool(&mut self, key: Key) -> &mut Pool {
        let limits = if key.client.is_some() { self.limits.or_of_a_browser() } else { self.limits };
        self.pools.entry(between(key)).or_insert_with(|| Pool::new(limits))
    }

    /// Forgets a pool that is not needed.
    fn drop_if_empty(&mut self, between: Between) {
        if self.pools.get(&between).is_some_and(Pool::is_empty) {
            self.pools.remove(&between);
        }
    }

    /// Opens a connection for an exchange.
    fn open(&mut self, cx: &mut Context, connections: &mut Connections, id: ExchangeId) {
        let key = self.key_of(cx, id);
        let nodes = cx.legs[self.leg].nodes_of(&key);
        let on = cx.open(connections, self.leg, key, nodes);
        if self.closed_by == End::Server {
            let connection = connections.get_mut(on).expect("it has just been added");
            connection.behind_response = Closing::AfterIdle(self.idle_timeout);
        }
        self.pool(key).opened(host(key), on);
        self.assign(cx, connections, id, on);
    }

    /// Sends the request of an exchange on a connection that another has left, unless either is gone in the meantime.
    fn reuse(&mut self, cx: &mut Context, connections: &mut Connections, id: ExchangeId, on: ConnectionId) {
        let is_wanted = cx.exchanges.get(id).is_some_and(Exchange::is_alive);
        let usable = connections.get_mut(on).filter(|connection| connection.is_usable());
        match (is_wanted, usable) {
            (true, Some(connection)) => {
                if self.closed_by == End::Client {
                    connection.idle_until = When::NEVER;
                }
                self.assign(cx, connections, id, on);
                cx.actions.now(Action::Act(on, End::Client));
            }
            (true, None) => cx.actions.later(Action::Send(id)),
            (false, Some(connection)) => self.on_free(cx, on, connection),
            (false, None) => {}
        }
    }

    /// `next` may open a connection.
    fn allow(&self, cx: &mut Context, next: Option<ExchangeId>) {
        if let Some(exchange) = next {
            let turn = Turn::Open(self.key_of(cx, exchange));
            cx.actions.later(Action::Resume { exchange, leg: self.leg, turn });
        }
    }

    /// A connection carries no other request: another may be opened in its place.
    fn leave(&mut self, cx: &mut Context, on: ConnectionId, between: Between) {
        if let Some(pool) = self.pools.get_mut(&between) {
            let next = pool.gone(on);
            self.allow(cx, next);
            self.drop_if_empty(between);
        }
    }
}

fn between(key: Key) -> Between {
    (key.client, key.node)
}

/// Number of a host in a client's pool. Tunnels to it count apart, and so do requests in the clear: they never share a connection
/// with others.
fn host(key: Key) -> u32 {
    const TUNNEL: u32 = 1 << 31;
    const CLEAR: u32 = 1 << 30;
    let host = key.host.map_or(0, |host| host.index() as u32);
    host | if key.tunnel { TUNNEL } else { 0 } | if key.tls { 0 } else { CLEAR }
}

impl Allot for Reuse {
    fn ask(&mut self, cx: &mut Context, connections: &mut Connections, id: ExchangeId) {
        let key = self.key_of(cx, id);
        match self.pool(key).ask(host(key), id) {
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
                let next = self.pool(key).declined(host(key));
                self.allow(cx, next);
                self.drop_if_empty(between(key));
            }
        }
    }

    /// Another request gets the connection, or it lies idle. The client closes its end where the server takes no other.
    fn on_free(&mut self, cx: &mut Context, on: ConnectionId, connection: &mut Connection) {
        connection.exchange = None;
        if self.is_used_up(connection) {
            return cx.actions.later(Action::Close(on, End::Client, Closing::WhenWritten));
        }
        let Some(pool) = self.pools.get_mut(&between(connection.key)).filter(|pool| pool.has(on)) else {
            return;
        };
        match pool.idle(on, cx.now) {
            Next::Idle => {
                if self.closed_by == End::Client {
                    cx.lie_idle(on, connection, End::Client, self.idle_timeout);
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

    /// The client end learns that the server end is gone when that answers what the client sends. When it has nothing to send, since
    /// the request has arrived or a handshake of TLS waits for the server, nothing happens any more, and the request fails now.
    fn on_lost(&mut self, cx: &mut Context, on: ConnectionId, connection: &mut Connection, end: End) {
        let carried = connection.exchange.and_then(|id| Some((id, cx.exchanges.get(id)?)));
        if end == End::Server {
            let is_silent = |client: &tcp::Connection| client.bytes_unsent_or_unacknowledged() == 0;
            if let Some((id, exchange)) = carried
                && (exchange.bytes.is_requested() || connection.end(End::Client).tcp().is_some_and(is_silent))
            {
                cx.give_up(connection, id);
            }
            return;
        }
        let Some((id, exchange)) = carried else {
            return self.leave(cx, on, between(connection.key));
        };
        let is_alive = exchange.is_alive();
        let may_repeat = connection.requests > 1 && exchange.bytes.received() == 0;
        connection.exchange = None;
        self.leave(cx, on, between(connection.key));
        if is_alive && may_repeat {
            cx.actions.later(Action::SendAgain(id));
        } else if is_alive {
            cx.give_up(connection, id);
        }
    }

    fn on_closing(&mut self, cx: &mut Context, on: ConnectionId, connection: &mut Connection) {
        self.leave(cx, on, between(connection.key));
    }

    /// A request that fails gives its place in the pool back, although its client may not have heard that the server end is gone.
    fn on_failed(
        &mut self,
        cx: &mut Context,
        _connections: &mut Connections,
        id: ExchangeId,
        there: Ordering,
    ) {
        let key = self.key_of(cx, id);
        match cx.exchanges.get(id).expect("the caller has found it").up {
            None => {
                if let Some(pool) = self.pools.get_mut(&between(key)) {
                    pool.leave(host(key), id);
                    self.drop_if_empty(between(key));
                }
            }
            Some(up) if there == Ordering::Equal => self.leave(cx, up.connection, between(key)),
            Some(_) => {}
        }
        super::close_behind(cx, id, there);
    }
}
