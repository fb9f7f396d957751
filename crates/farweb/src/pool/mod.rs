//! Pools: which connection of a leg a request gets, and its response, a file a policy, behind the one match on them.
//!
//! A pool keeps the connections of a leg by [`Key`](crate::conn::Key), client and host. It opens and reuses them within its
//! limits, lets requests wait for one, and decides about the requests of a lost one. It owns its state, gets a [`Context`] with
//! all that it may touch, and answers with [`Action`](crate::context::Action)s. Which bytes go on a connection is its sessions'
//! matter (`session`).
//!
//! A new pool is a file with an implementation of [`Allot`], and a line in each place of this one that names the others.

mod bundle;
mod each;
mod reuse;
mod shared;
mod transfer;

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::conn::{Closing, Connection, ConnectionId, Connections, End, ExchangeId};
use crate::context::{Action, Context, Turn};
use crate::workload::{Request, WorkloadError};

pub(crate) use bundle::Bundle;
pub(crate) use each::Each;
pub(crate) use reuse::Reuse;
pub use shared::{AssignStream, OpenRule};
pub(crate) use shared::{Rules, Shared};
pub(crate) use transfer::Transfer;

/// Pool of a leg.
pub(crate) enum Pool {
    /// A connection a request.
    Each(Each),
    /// A connection carries one request after another.
    Reuse(Reuse),
    /// A connection carries many at once.
    Shared(Shared),
    /// A number of connections that stand between two proxies.
    Bundle(Bundle),
    /// A one-way transfer a request.
    Transfer(Transfer),
}

/// End that closes a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ClosedBy {
    /// The client end, at `leg.from`.
    #[default]
    Client,
    /// The server end, at `leg.to`; a request that is on its way then is sent again.
    Server,
}

/// The match on pools.
macro_rules! on_pool {
    ($pool:expr, $own:ident => $call:expr) => {
        match $pool {
            $crate::pool::Pool::Each($own) => $call,
            $crate::pool::Pool::Reuse($own) => $call,
            $crate::pool::Pool::Shared($own) => $call,
            $crate::pool::Pool::Bundle($own) => $call,
            $crate::pool::Pool::Transfer($own) => $call,
        }
    };
}
pub(crate) use on_pool;

impl Pool {
    /// True where a connection is for one request: the row of the request waits for its end.
    pub(crate) const fn is_for_each(&self) -> bool {
        matches!(self, Self::Each(_) | Self::Transfer(_))
    }

    /// Checks that `request` may go over its connections.
    ///
    /// # Errors
    /// The problem with the workload.
    pub(crate) fn check(&self, request: &Request, cx: &Context) -> Result<(), WorkloadError> {
        match self {
            Self::Transfer(own) => own.check(request, cx),
            _ => request.require_bytes(),
        }
    }
}

/// Behaviour of a pool when something happens on its leg. Default methods do nothing.
///
/// There are two moments. Where the connections are given, nothing is being settled, and the pool may ask for actions that are
/// done at once. Where only the one at hand is given, that one is being settled, and all that concerns others is done later.
pub(crate) trait Allot {
    /// The run begins.
    fn begin(&mut self, _cx: &mut Context, _connections: &mut Connections) {}

    /// The request of an exchange that goes on is to be sent.
    fn ask(&mut self, cx: &mut Context, connections: &mut Connections, id: ExchangeId);

    /// An exchange that has waited may go on, unless it has ended in the meantime.
    fn resume(&mut self, _cx: &mut Context, _connections: &mut Connections, _id: ExchangeId, _turn: Turn) {}

    /// Bytes of a response without a connection are there at the server end: gives it one.
    fn place_response(&mut self, _cx: &mut Context, _connections: &mut Connections, _id: ExchangeId) {}

    /// A request and its response are over on a connection, which has room for another.
    fn on_free(&mut self, _cx: &mut Context, _on: ConnectionId, _connection: &mut Connection) {}

    /// The connection in a place is settled: bytes that wait at `end`, or are on their way and not acknowledged.
    fn on_settled(&mut self, _slot: u32, _end: End, _outstanding: u64) {}

    /// `end` of a connection can go on no more: it is gone, or the other end has finished.
    fn on_lost(&mut self, cx: &mut Context, on: ConnectionId, connection: &mut Connection, end: End);

    /// The client end of a connection is about to be closed: it carries no other request.
    fn on_closing(&mut self, _cx: &mut Context, _on: ConnectionId, _connection: &mut Connection) {}

    /// An exchange has failed on the leg that lies there as seen from this one: `Less` when this one is nearer to the clients. A client
    /// that gives up lies before the first leg.
    fn on_failed(
        &mut self,
        cx: &mut Context,
        _connections: &mut Connections,
        id: ExchangeId,
        there: Ordering,
    ) {
        close_behind(cx, id, there);
    }

    /// No request is left, on any leg, and none will come.
    fn on_rest(&mut self, _cx: &mut Context, _connections: &mut Connections) {}
}

/// An exchange has failed elsewhere: the proxy at the end of its connection towards there closes it.
fn close_behind(cx: &mut Context, id: ExchangeId, there: Ordering) {
    let (end, closing) = match there {
        Ordering::Less => (End::Server, Closing::WhenWritten),
        Ordering::Equal => return,
        Ordering::Greater => (End::Client, Closing::Now),
    };
    if let Some(up) = cx.exchanges.get(id).and_then(|exchange| exchange.up) {
        cx.actions.now(Action::Close(up.connection, end, closing));
    }
}
