//! Transfers: responses that one of ns-2's senders sends to a sink at the first node, from the node that serves them.

use crate::http::transfer::Transfer;
use crate::tcp::ns2::{Profile, Sender, Sink};
use crate::units::{Duration, Instant};
use crate::workload::{Request, WorkloadError};

use super::World;
use super::connections::{ConnectionId, End, Pair};
use super::exchange::{Application, Exchange};
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
        let transfer = Transfer::new(request.response_bytes);
        let mut output = std::mem::take(&mut self.output);
        sender.write(now, transfer.to_write(), &mut output);
        let exchange = Exchange::new(number, request, Application::Transfer(transfer));
        let ends = [Some(Transport::Sink(Sink::new(profile))), Some(Transport::Sender(sender))];
        let recorded = self.recorder.packets.wants(&request, &self.directory);
        let id = self.connections.insert(Pair::new(now, exchange, nodes, ends, recorded));
        self.progress.requests_started += 1;
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
        let Exchange { application, times, .. } = &mut pair.exchange;
        let Application::Transfer(transfer) = application else {
            return;
        };
        transfer.on_read(received - transfer.received());
        times.first_byte.get_or_insert(now);
        if transfer.is_complete() {
            times.end.get_or_insert(now);
        }
    }
}
