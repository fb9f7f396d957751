//! Transfers: responses that one of ns-2's senders sends to a sink at the first node, from the node that serves them.
//!
//! The server sends all of a response as soon as the request is made: there is no request, so also not its way, no opening
//! and closing of a connection, and no server's time.

use crate::tcp::ns2::{Profile, Sender, Sink};
use crate::units::{Duration, Instant};
use crate::workload::{Request, WorkloadError};

use super::World;
use super::pair::{ConnectionId, End};
use super::transport::Transport;

impl World {
    /// Starts the transfer of the response to `request` on the first leg.
    ///
    /// # Errors
    /// When the column `source` names no node that could send to the first one.
    pub(super) fn start_transfer(
        &mut self,
        now: Instant,
        request: Request,
        profile: &Profile,
    ) -> Result<(), WorkloadError> {
        let number = self.progress.requests_started;
        let nodes = [self.legs[0].from, self.source_node(&request)?];
        // An agent is made for each transfer, so its clock has a phase of its own.
        let mut random = self.streams.stream("ns-2 agent", number);
        let phase = random.duration_between(Duration::ZERO, profile.tick);
        let mut sender = Sender::new(profile, phase, random);
        let mut output = std::mem::take(&mut self.output);
        sender.write(now, request.response_bytes, &mut output);
        let ends = [Some(Transport::Sink(Sink::new(profile))), Some(Transport::Sender(sender))];
        self.progress.requests_started += 1;
        let exchange = self.start_exchange(now, 0, number, request, None);
        let id = self.add_connection(now, 0, Some(request.host), nodes, ends);
        self.assign_request(now, exchange, id);
        self.note_server(exchange, nodes[1]);
        self.on_response_ready(now, exchange, request.response_bytes, 0);
        self.settle(now, id, End::Server, output);
        Ok(())
    }

    /// The node that serves a transfer: that in its column `source`, or the last one of the leg.
    fn source_node(&self, request: &Request) -> Result<u8, WorkloadError> {
        let leg = &self.legs[0];
        let Some(symbol) = request.source else {
            return Ok(leg.to);
        };
        let word = &*self.directory.sources.words()[symbol];
        let (first, last) = (usize::from(leg.from), usize::from(leg.to));
        let servers = &self.path.nodes()[first + 1..=last];
        match servers.iter().position(|node| node == word) {
            Some(place) => Ok((first + 1 + place) as u8),
            None => Err(WorkloadError(format!(
                "request table: column source: found {word:?} for the request at {}; write the node that serves it ({}), \
                 or nothing for {}",
                request.start,
                servers.join(", "),
                self.path.nodes()[last]
            ))),
        }
    }

    /// The client takes the packets of a transfer that have arrived in order.
    pub(super) fn take_packets(&mut self, now: Instant, id: ConnectionId) {
        let Some(pair) = self.connections.get_mut(id) else {
            return;
        };
        let Some(Transport::Sink(sink)) = pair.transport(End::Client) else {
            return;
        };
        let received = sink.received();
        let Some(id) = pair.exchange else {
            return;
        };
        let Some(exchange) = self.exchanges.get_mut(id) else {
            return;
        };
        exchange.times.first_byte.get_or_insert(now);
        if exchange.bytes.on_received(received - exchange.bytes.received()) {
            exchange.times.end = Some(now);
            self.on_response_complete(now, id);
        }
    }
}
