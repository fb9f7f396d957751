//! The origin servers at the far end of the last leg: when their responses are there to be sent.

use crate::http::ReleasePlan;
use crate::tcp::Output;
use crate::units::{Duration, Instant};

use super::exchange::ExchangeId;
use super::pair::{ConnectionId, End};
use super::{Event, World};

/// A response that its origin is releasing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Releasing {
    since: Instant,
    plan: ReleasePlan,
}

impl World {
    /// The origin has the whole request: plans the release of the response and releases what is due at once.
    pub(super) fn start_release(
        &mut self,
        now: Instant,
        id: ExchangeId,
        connection: ConnectionId,
        output: &mut Output,
    ) {
        let exchange = self.exchanges.get_mut(id).expect("its request has arrived");
        let leg = &self.legs[exchange.leg];
        let request = &exchange.request;
        let mss = u64::from(leg.mss(End::Server, Some(&self.directory.hosts()[request.host])));
        let server = request.server.unwrap_or(Duration::ZERO);
        let plan = ReleasePlan::new(leg.release, request.response_bytes, server, mss);
        exchange.releasing = Some(Releasing { since: now, plan });
        self.release_due(now, id, connection, output);
    }

    pub(super) fn on_origin_release(&mut self, now: Instant, id: ExchangeId) {
        let Some(ride) = self.exchanges.get(id).and_then(|exchange| exchange.down) else {
            return;
        };
        let mut output = std::mem::take(&mut self.output);
        self.release_due(now, id, ride.connection, &mut output);
        self.settle(now, ride.connection, End::Server, output);
    }

    fn release_due(&mut self, now: Instant, id: ExchangeId, connection: ConnectionId, output: &mut Output) {
        let Some(exchange) = self.exchanges.get_mut(id) else {
            return;
        };
        let Some(Releasing { since, plan }) = &mut exchange.releasing else {
            return;
        };
        let released = plan.release(now - *since);
        if let Some(due) = plan.next_due() {
            self.queue.push(*since + due, Event::OriginReleases(id));
        }
        if released > 0 && exchange.times.ready_first.is_none() {
            let origin = self.legs[exchange.leg].to;
            self.note_server(id, origin);
        }
        self.on_response_ready(now, id, released, 0);
        self.write(now, connection, End::Server, output);
    }
}
