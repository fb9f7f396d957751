//! How requests end: with the last byte acknowledged, by a failure that reaches all legs, or with the run; and their rows.

use std::cmp::Ordering;

use crate::record::Status;
use crate::units::Instant;

use super::World;
use super::exchange::{Exchange, ExchangeId, Ride};
use super::leg::Carrier;
use super::pair::{Closing, ConnectionId, End};
use super::tasks::Task;
use super::transport::Transport;

impl World {
    /// The connection of an exchange is gone, or cannot give it a whole response any more.
    pub(super) fn give_up(&mut self, id: ExchangeId) {
        if self.exchanges.get(id).is_some_and(Exchange::is_alive) {
            self.tasks.push_back(Task::Fail(id));
        }
    }

    /// Ends an exchange that cannot come to its end, on all legs.
    pub(super) fn fail(&mut self, now: Instant, id: ExchangeId) {
        let Some(exchange) = self.exchanges.get(id).filter(|exchange| exchange.is_alive()) else {
            return;
        };
        let failed_leg = exchange.leg;
        let mut lowest = id;
        while let Some(below) = self.exchanges.get(lowest).and_then(|exchange| exchange.below) {
            lowest = below;
        }
        let mut next = Some(lowest);
        while let Some(id) = next {
            next = self.exchanges.get(id).and_then(|exchange| exchange.above);
            self.fail_on_leg(now, id, failed_leg);
        }
    }

    /// Ends an exchange on its leg. An HTTP/1 connection between here and the leg that failed is closed by the proxy at its
    /// end there; on a mux, what is left of the messages is not heard.
    fn fail_on_leg(&mut self, now: Instant, id: ExchangeId, failed_leg: usize) {
        self.leave_leg(now, id);
        let exchange = self.exchanges.get_mut(id).expect("the caller has found it");
        exchange.failed = true;
        let leg = exchange.leg;
        let own = exchange.up.filter(|_| !matches!(self.legs[leg].carrier, Carrier::Mux(_)));
        if own.is_none() {
            self.stop_waiting(id);
        }
        match leg.cmp(&failed_leg) {
            Ordering::Less => self.close(now, own, End::Server, Closing::WhenWritten),
            Ordering::Equal => {}
            Ordering::Greater => self.close(now, own, End::Client, Closing::Now),
        }
        if leg > 0 {
            self.forget_exchange(id);
        } else if !matches!(self.legs[leg].carrier, Carrier::Single) {
            self.end_request(now, id, Status::Failed);
        }
    }

    /// Ends what an exchange has become on the legs above.
    pub(super) fn fail_above(&mut self, now: Instant, id: ExchangeId) {
        let Some(exchange) = self.exchanges.get_mut(id) else {
            return;
        };
        let (leg, mut next) = (exchange.leg, exchange.above.take());
        while let Some(above) = next {
            next = self.exchanges.get(above).and_then(|exchange| exchange.above);
            self.fail_on_leg(now, above, leg);
        }
    }

    fn close(&mut self, now: Instant, ride: Option<Ride>, end: End, closing: Closing) {
        if let Some(ride) = ride {
            self.close_connection(now, ride.connection, end, closing);
        }
    }

    /// Notes which responses the sender on a connection has sent to the end, and which it had acknowledged; a request ends
    /// with the acknowledgement on the first leg.
    #[inline]
    pub(super) fn note_progress(&mut self, now: Instant, id: ConnectionId) {
        if self.recorder.wants_exchanges() {
            self.note_sent(now, id);
        }
        while let Some(pair) = self.connections.get_mut(id)
            && !pair.unacknowledged.is_empty()
        {
            let acknowledged = pair.transport(End::Server).map_or(0, Transport::bytes_acknowledged);
            let Some(response) = pair.unacknowledged.take_up_to(acknowledged) else {
                return;
            };
            if pair.leg == 0
                && let Some(exchange) = self.exchanges.get_mut(response.exchange)
            {
                exchange.times.acked = Some(now);
                self.end_request(now, response.exchange, Status::Done);
            }
        }
    }

    /// What was sent to the end, and what has held the sender since it was last asked.
    fn note_sent(&mut self, now: Instant, id: ConnectionId) {
        let Self { connections, exchanges, .. } = self;
        let Some(pair) = connections.get_mut(id) else {
            return;
        };
        pair.note_limit(now);
        let sent = pair.transport(End::Server).map_or(0, Transport::bytes_sent);
        while let Some(response) = pair.unacknowledged.note_sent(sent) {
            if let Some(exchange) = exchanges.get_mut(response.exchange) {
                exchange.times.sent_last = Some(now);
                exchange.held = pair.held_at(now).since(exchange.held);
            }
        }
    }

    /// Writes the row of the request that an exchange of the first leg is, once; without a whole response its status is
    /// `otherwise`.
    pub(super) fn end_request(&mut self, now: Instant, id: ExchangeId, otherwise: Status) {
        if self.exchanges.get(id).is_some_and(Exchange::is_alive) {
            self.leave_leg(now, id);
        }
        let Some(exchange) = self.exchanges.get(id) else {
            return;
        };
        let status = if exchange.times.end.is_some() { Status::Done } else { otherwise };
        match status {
            Status::Done => self.progress.requests_finished += 1,
            Status::Failed => self.progress.requests_failed += 1,
            Status::Unfinished => {}
        }
        let carried = exchange.down.or(exchange.up);
        let pair = carried.and_then(|ride| self.connections.get(ride.connection));
        self.recorder.push_request(exchange, pair, status);
        self.forget_exchange(id);
    }

    /// Forgets an exchange that has ended, with its row.
    pub(super) fn forget_exchange(&mut self, id: ExchangeId) {
        self.record_exchange(id);
        self.exchanges.remove(id);
        self.close_muxes_if_over();
    }

    fn record_exchange(&mut self, id: ExchangeId) {
        if self.recorder.wants_exchanges()
            && let Some(exchange) = self.exchanges.get(id)
        {
            self.recorder.push_exchange(exchange);
        }
    }

    /// Writes the rows of what is still open when the run ends: requests without a whole response get `status`.
    pub(super) fn close_remaining(&mut self, now: Instant, status: Status) {
        let open: Vec<_> = self.connections.iter().map(|(id, pair)| (id, pair.exchange)).collect();
        for (id, exchange) in open {
            if let Some(exchange) = exchange.filter(|exchange| self.is_on_first_leg(*exchange)) {
                self.end_request(now, exchange, status);
            }
            self.recorder.push_connection(self.connections.get(id).expect("listed above"), now);
        }
        let left: Vec<_> = self.exchanges.iter().map(|(id, _)| id).collect();
        for id in left {
            if self.is_on_first_leg(id) {
                self.end_request(now, id, status);
            } else {
                self.record_exchange(id);
            }
        }
    }

    fn is_on_first_leg(&self, id: ExchangeId) -> bool {
        self.exchanges.get(id).is_some_and(|exchange| exchange.leg == 0)
    }
}
