//! Clients: what the one who asks does when a request begins, and when it fails.
//!
//! Models a client that asks when the request table says so, and waits for the whole response, for ever or for a time. Then it gives the
//! request up. Where its connection has failed and it has not heard of that, it closes its end when it would have given up. What becomes
//! of the request then is the world's matter (`world/ending.rs`). Leaves out requests that follow from a response, and retries by hand.

mod visits;

use crate::conn::{Event, ExchangeId};
use crate::context::Context;
use crate::units::Duration;
use crate::workload::Request;

use visits::Visits;

/// The clients at the first node.
pub(crate) struct Clients {
    /// Time that each waits for the end of a request.
    patience: Option<Duration>,
    visits: Visits,
}

impl Clients {
    pub(crate) fn new(patience: Option<Duration>) -> Self {
        Self { patience, visits: Visits::default() }
    }

    /// A client asks: its request, number `number`, is there to be sent over the first leg.
    pub(crate) fn ask(&mut self, cx: &mut Context, number: u64, request: Request) -> ExchangeId {
        let visit = request.client.map(|client| self.visits.ask(cx.now, client));
        let exchange = cx.start_exchange(0, number, request);
        if let Some(begun) = cx.exchanges.get_mut(exchange) {
            begun.visit = visit;
        }
        if let Some(patience) = self.patience {
            cx.queue.push(cx.now + patience, Event::ClientGivesUp(exchange));
        }
        exchange
    }

    /// The connection of a request has failed on the first leg.
    pub(crate) fn on_lost(&self, cx: &mut Context, id: ExchangeId) {
        if let Some(patience) = self.patience
            && let Some(exchange) = cx.exchanges.get(id)
            && let Some(ride) = exchange.up
        {
            cx.queue.push(exchange.times.start + patience, Event::ClientCloses(ride.connection));
        }
    }
}
