//! Ends of requests and connections, and their rows.
//!
//! Models four ends of a request. Its last byte is acknowledged at the sender on the first leg. Or it fails on one leg and at
//! the same instant on all others, as no reader is left. Or its client gives it up, a failure on the clients' side of all legs.
//! Or the run ends. A server end that is gone is no failure while the rest of the response is under way or at a relay. After a
//! failure the proxy closes an HTTP/1 connection between the clients and the failed leg at its end, behind the bytes already
//! written. A connection towards the servers is closed at once. A client that gives up closes an HTTP/1 connection, as a
//! browser closes a socket (a FIN, and a reset for bytes that still arrive), or resets a stream of HTTP/2 or a session of W3C
//! MUX. A mux and a transfer have no such word and deliver the bytes in flight.
//!
//! A connection is over when both ends are closed or in TIME_WAIT, and is forgotten with its last packet: without packets the
//! rest of its 2 MSL has no effect. Leaves out error responses of a proxy, and the time for word of a failure to reach the next
//! leg: its packets take their time, but proxies beyond stop at once.
//!
//! Sources: RFC 9113, sections 5.4.2 and 8.7 (`CANCEL`); RFC 9112, section 9.5; RFC 2525, section 2.17, for the reset.

use std::collections::BTreeSet;

use crate::conn::{ConnectionId, End, Exchange, ExchangeId};
use crate::context::{Action, Context};
use crate::node::{self, Node, Stand, on_node};
use crate::pool::{Allot, on_pool};
use crate::record::{Failure, Status};
use crate::units::When;

use super::World;
use super::network::Network;

impl World {
    /// Ends the requests on a connection of the first leg when their last byte is acknowledged at its sender.
    #[inline(never)]
    pub(super) fn end_acknowledged(&mut self, id: ConnectionId) {
        while let Some(connection) = self.connections.get_mut(id)
            && let Some(of) = connection.take_acknowledged_response()
        {
            if connection.leg == 0
                && let Some(exchange) = self.network.context.exchanges.get_mut(of)
            {
                exchange.times.acked = When::at(self.progress.now);
                // Where the reader has left bytes, the request ends when it has taken them.
                if !exchange.is_alive() {
                    self.end_request(of, Status::Done);
                }
            }
        }
    }

    /// Ends a connection when both ends are closed or in TIME_WAIT, and forgets it when no packet of it is left. One without a server
    /// end loses its requests when nothing more can come.
    pub(super) fn end_if_over(&mut self, id: ConnectionId) {
        let Some(connection) = self.connections.get_mut(id) else {
            return;
        };
        if connection.severed && !connection.may_bring_more() {
            connection.severed = false;
            self.network.lose_requests(id, connection, End::Server);
        }
        let context = &mut self.network.context;
        if connection.closed.is_never() {
            if !connection.is_over() {
                return;
            }
            connection.closed = When::at(context.now);
            context.observer.on_connection_over(context.now, id, connection);
            if connection.aboard > 0 {
                // A request that is sent again, or fails, later at this instant.
                for exchange in context.aboard(connection) {
                    context.alight(id, connection, exchange);
                }
            }
        }
        if connection.in_flight == 0 {
            self.forget_connection(id);
        }
    }

    /// Forgets a connection that is over, and writes the rows of its exchanges.
    fn forget_connection(&mut self, id: ConnectionId) {
        while let Some(connection) = self.connections.get_mut(id)
            && let Some(response) = connection.unacknowledged.take_up_to(u64::MAX)
        {
            let lost = connection.lost;
            self.end_with_connection(response.exchange, lost);
        }
        if let Some(connection) = self.connections.get(id)
            && let Some(only) = connection.exchange
        {
            self.end_with_connection(only, connection.lost);
        }
        let context = &mut self.network.context;
        let connection = self.connections.get_mut(id).expect("it is forgotten once");
        context.observer.on_connection_end(context.now, id, connection);
        let leg = &mut context.legs[connection.leg];
        connection
            .ends
            .iter_mut()
            .filter_map(|end| end.socket.take_tcp())
            .for_each(|tcp| leg.keep_ended(tcp));
        self.connections.remove(id);
        self.network.path.forget(id.to_u64());
    }

    /// The connection of an exchange is over, for the reason `lost`: no more bytes will come.
    fn end_with_connection(&mut self, id: ExchangeId, lost: Option<Failure>) {
        if let Some(exchange) = self.network.context.exchanges.alive(id) {
            exchange.failure = exchange.failure.or(lost);
            self.fail(id);
        }
        if self.network.context.exchanges.get(id).is_some_and(|exchange| exchange.leg == 0) {
            self.end_request(id, Status::Failed);
        }
    }

    /// The client of a request has run out of patience, and ends it on its legs.
    pub(super) fn give_up(&mut self, id: ExchangeId) {
        let exchanges = &mut self.network.context.exchanges;
        let Some(exchange) = exchanges.alive(id) else {
            return;
        };
        exchange.failure = Some(Failure::ClientGaveUp);
        let above = exchanges.part(id);
        self.fail_on_leg(id, None);
        self.fail_above(above, None);
    }

    /// Fails an exchange on all legs: the exchanges above that wait for its response, itself, and the fetches below that no other
    /// exchange waits for.
    pub(super) fn fail(&mut self, id: ExchangeId) {
        let Some(leg) = self.network.context.exchanges.alive(id).map(|exchange| exchange.leg) else {
            return;
        };
        self.fail_below(id, leg);
        let above = self.network.context.exchanges.part(id);
        self.fail_on_leg(id, Some(leg));
        self.fail_above(above, Some(leg));
    }

    /// Ends the exchanges that wait for the response of a failed one.
    fn fail_below(&mut self, above: ExchangeId, failed_leg: usize) {
        while let Some(below) = { self.network.context.exchanges.waiting_for(above).next() } {
            let goes_on =
                self.with_fetcher(above, |node, cx| on_node!(node, own => own.outlives(cx, above, below)));
            if goes_on {
                self.network.context.exchanges.part(below);
                self.network.context.actions.later(Action::PassOn(below));
                continue;
            }
            self.fail_below(below, failed_leg);
            self.network.context.exchanges.part(below);
            self.fail_on_leg(below, Some(failed_leg));
        }
    }

    /// Asks the node that an exchange of an inner leg fetches for.
    fn with_fetcher<T>(&mut self, fetch: ExchangeId, ask: impl FnOnce(&mut Node, &mut Context) -> T) -> T {
        let Network { nodes, context, .. } = &mut self.network;
        let leg = context.exchanges.get(fetch).expect("the caller has found it").leg;
        let node = context.legs[leg].node(End::Client);
        ask(&mut nodes[usize::from(node)], context)
    }

    /// Ends an exchange without readers left, and the fetches that it waits for. `failed_leg` is none if the client gave up.
    fn fail_above(&mut self, mut next: Option<ExchangeId>, failed_leg: Option<usize>) {
        while let Some(above) = next {
            if self.with_fetcher(above, |node, cx| on_node!(node, own => own.goes_on_without(cx, above))) {
                return;
            }
            next = self.network.context.exchanges.part(above);
            self.fail_on_leg(above, failed_leg);
        }
    }

    /// Ends an exchange on its leg.
    fn fail_on_leg(&mut self, id: ExchangeId, failed_leg: Option<usize>) {
        let context = &mut self.network.context;
        context.leave_connection(&mut self.connections, id);
        let exchange = context.exchanges.get_mut(id).expect("the caller has found it");
        exchange.times.failed = When::at(context.now);
        let leg = exchange.leg;
        if Some(leg) < failed_leg {
            exchange.failure = Some(Failure::ProxyLost);
        }
        context.leave_leg(leg);
        node::end_inside(&mut self.network.nodes, context, id, false);
        if leg > 0 {
            self.with_fetcher(id, |node, cx| on_node!(node, own => own.on_fetch_lost(cx, id)));
        }
        self.with_pool(leg, |pool, cx, connections| {
            on_pool!(pool, own => own.on_failed(cx, connections, id, Some(leg).cmp(&failed_leg)));
        });
        if leg > 0 {
            self.network.context.forget_exchange(id);
            return;
        }
        if failed_leg == Some(0) {
            self.clients.on_lost(&mut self.network.context, id);
        }
        let is_carried = self.network.context.exchanges.get(id).is_some_and(|exchange| exchange.up.is_some());
        if !is_carried || !self.network.pools[leg].is_for_each() {
            self.end_request(id, Status::Failed);
        }
    }

    /// Sends a request again, on another connection. Its progress on the legs above is forgotten.
    pub(super) fn send_again(&mut self, id: ExchangeId) {
        let context = &mut self.network.context;
        let Some(leg) = context.exchanges.alive(id).map(|exchange| exchange.leg) else {
            return;
        };
        context.leave_connection(&mut self.connections, id);
        let above = context.exchanges.part(id);
        self.fail_above(above, Some(leg));
        self.network.context.exchanges.get_mut(id).expect("found above").start_again();
        self.send_request(id);
    }

    /// Writes the row of the request of an exchange on the first leg, once. `otherwise` is its status if it has neither ended
    /// nor failed.
    pub(super) fn end_request(&mut self, id: ExchangeId, otherwise: Status) {
        let context = &mut self.network.context;
        if context.exchanges.get(id).is_some_and(Exchange::is_alive) {
            context.leave_connection(&mut self.connections, id);
            context.leave_leg(0);
        }
        let Some(exchange) = context.exchanges.get(id) else {
            return;
        };
        let status = match (exchange.times.end.get(), exchange.times.failed.get()) {
            (Some(_), _) => Status::Done,
            (None, Some(_)) => Status::Failed,
            (None, None) => otherwise,
        };
        match status {
            Status::Done => self.progress.requests_finished += 1,
            Status::Failed => self.progress.requests_failed += 1,
            Status::Unfinished => {}
        }
        let carried = exchange.down.or(exchange.up);
        let connection = carried.and_then(|ride| self.connections.get(ride.connection));
        context.observer.on_request_end(context.now, exchange, connection, status);
        context.forget_exchange(id);
    }

    /// Writes the rows of everything open when the run ends: requests without a whole response get `status`.
    pub(super) fn close_remaining(&mut self, status: Status) {
        let open: Vec<_> =
            self.connections.iter().map(|(id, connection)| (id, connection.exchange)).collect();
        for (id, exchange) in open {
            if let Some(exchange) = exchange.filter(|exchange| self.is_on_first_leg(*exchange)) {
                self.end_request(exchange, status);
            }
            let connection = self.connections.get(id).expect("listed above");
            self.network.context.observer.on_connection_end(self.progress.now, id, connection);
        }
        let left: Vec<_> = self.network.context.exchanges.iter().map(|(id, _)| id).collect();
        for id in left {
            if self.is_on_first_leg(id) {
                self.end_request(id, status);
            } else if let Some(exchange) = self.network.context.exchanges.get(id) {
                self.network.context.observer.on_exchange_end(exchange);
            }
        }
    }

    /// Checks that no request goes on when no event is left.
    ///
    /// # Panics When one does: no row may say that it failed, since no model of the path made it fail. The message has its
    /// state on all legs.
    pub(super) fn check_not_stuck(&self) {
        let exchanges = &self.network.context.exchanges;
        let open: BTreeSet<u64> =
            exchanges.iter().filter(|(_, of)| of.is_alive()).map(|(_, of)| of.number).collect();
        let Some(first) = open.first() else {
            return;
        };
        let states = exchanges.iter().filter(|(_, of)| of.number == *first).map(|(_, of)| self.state_of(of));
        panic!(
            "nothing is left to happen at {}, and {} requests go on; request {first}: {}",
            self.progress.now,
            open.len(),
            states.collect::<Vec<_>>().join("; ")
        );
    }

    /// State of an exchange, for the message about a run that is stuck.
    fn state_of(&self, exchange: &Exchange) -> String {
        let ride = exchange.down.or(exchange.up);
        let connection = ride.and_then(|ride| self.connections.get(ride.connection));
        let ends = connection.map(|connection| {
            let [client, server] = connection.ends.each_ref().map(|end| match end.tcp() {
                Some(tcp) => format!("{:?}", tcp.state()),
                None => "no TCP".to_owned(),
            });
            format!("connection {}, client end {client}, server end {server}", connection.number)
        });
        let bytes = &exchange.bytes;
        let times = &exchange.times;
        format!(
            "leg {}: {}, {} of {} B of the request arrived, of {} B of the response {} B ready and {} B received, {}",
            exchange.leg,
            if times.failed.is_never() {
                if times.end.is_never() { "open" } else { "ended" }
            } else {
                "failed"
            },
            bytes.requested(),
            exchange.request.request_bytes,
            bytes.response(),
            bytes.ready(),
            bytes.received(),
            ends.unwrap_or_else(|| "without a connection".to_owned())
        )
    }

    fn is_on_first_leg(&self, id: ExchangeId) -> bool {
        self.network.context.exchanges.get(id).is_some_and(|exchange| exchange.leg == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;
    use crate::units::Instant;
    use crate::workload::{Directory, Request, RequestSource, WorkloadError};

    /// No requests.
    struct Nothing;

    impl RequestSource for Nothing {
        fn next_request(&mut self, _directory: &mut Directory) -> Result<Option<Request>, WorkloadError> {
            Ok(None)
        }
    }

    /// Runs a world with a request on the leg and no event for it.
    fn run_stuck(until: &str) {
        let text = format!(
            "format = 1\n[path]\nnodes = [\"client\", \"server\"]\n[[path.link]]\nup = {{ rate = \"1 Mbit/s\", delay = \"1 ms\" }}\n\
             down = {{ rate = \"1 Mbit/s\", delay = \"1 ms\" }}\n[[leg]]\nfrom = \"client\"\nto = \"server\"\n\
             carrier = {{ kind = \"http/1.1\" }}\n[workload]\nrequests = \"given by the test\"\n[run]\nuntil = \"{until}\"\n"
        );
        let scenario = Scenario::parse(&text, "test.toml", &[]).unwrap();
        let mut world = World::new(&scenario, 1, Directory::default());
        let context = &mut world.network.context;
        let host = context.directory.host("server.example");
        let request =
            Request { request_bytes: 300, response_bytes: 900, ..Request::bare(Instant::ZERO, host) };
        context.start_exchange(0, 17, request);
        world.advance(&mut Nothing, 10).expect("nothing is read");
    }

    #[test]
    #[should_panic(
        expected = "nothing is left to happen at 0.000000000 s, and 1 requests go on; request 17: leg 0: open, 0 of \
                               300 B of the request arrived, of 900 B of the response 0 B ready and 0 B received, without a \
                               connection"
    )]
    fn a_request_without_an_event_is_a_bug() {
        run_stuck("done");
    }

    #[test]
    #[should_panic(expected = "nothing is left to happen")]
    fn so_it_is_before_the_end_of_a_run_of_fixed_length() {
        run_stuck("1 h");
    }
}
