//! What an event leaves to be done at the same instant, on other connections than the one that it happened to.
//!
//! An endpoint tells its application what happened while the world settles that connection. The application may act on
//! that endpoint at once; what concerns another connection (a response goes on, a request starts on the next leg, a
//! failure is passed on) waits in a list until the connection is settled. So no connection is acted on twice at a time.

use crate::units::Instant;

use super::World;
use super::exchange::ExchangeId;
use super::pair::{Closing, ConnectionId, End};

/// Something to be done now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Task {
    /// The request of this exchange is whole at a proxy and goes on.
    PassOn(ExchangeId),
    /// This exchange needs a connection.
    FindConnection(ExchangeId),
    /// This exchange, which has waited, may open a connection to a host.
    Open {
        /// Leg of the exchange.
        leg: usize,
        /// Host by which connections are kept apart there.
        key: u32,
        /// The exchange.
        exchange: ExchangeId,
    },
    /// This exchange, which has waited, uses a connection.
    Reuse(ExchangeId, ConnectionId),
    /// The request of this exchange is sent again.
    SendAgain(ExchangeId),
    /// A part of a response has been read by a proxy and goes on in this exchange.
    Forward {
        /// The exchange of the next leg towards the clients.
        exchange: ExchangeId,
        /// Payload.
        bytes: u64,
        /// Segments in which it came.
        segments: u64,
    },
    /// This exchange cannot come to its end.
    Fail(ExchangeId),
    /// The near end of this connection closes it.
    Close(ConnectionId, Closing),
}

impl World {
    /// Does what the event has left to be done, and what comes of that.
    #[inline]
    pub(super) fn run_tasks(&mut self, now: Instant) {
        while let Some(task) = self.tasks.pop_front() {
            match task {
                Task::PassOn(exchange) => self.pass_on(now, exchange),
                Task::FindConnection(exchange) => self.find_connection(now, exchange),
                Task::Open { leg, key, exchange } => self.open_allowed(now, leg, key, exchange),
                Task::Reuse(exchange, connection) => self.reuse(now, exchange, connection),
                Task::SendAgain(exchange) => self.send_again(now, exchange),
                Task::Forward { exchange, bytes, segments } => self.forward(now, exchange, bytes, segments),
                Task::Fail(exchange) => self.fail(now, exchange),
                Task::Close(connection, closing) => {
                    self.close_connection(now, connection, End::Client, closing);
                }
            }
        }
    }
}
