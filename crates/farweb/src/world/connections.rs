//! Connections: how they are opened and forgotten, their timers, and the way of segments between endpoints and links.

use std::sync::Arc;

use crate::record::{self, Status};
use crate::tcp::{self, Flags, HostClock, Output, Profile, Segment};
use crate::units::Instant;
use crate::workload::{HostId, Request, WorkloadError};

use super::capture::Mark;
use super::exchange::{Exchange, ExchangeId};
use super::held::Held;
use super::leg::Carrier;
use super::occupancy::Counted;
use super::pair::{ConnectionId, End, Endpoint, Pair};
use super::path::Packet;
use super::transport::Transport;
use super::{Event, World};

impl World {
    /// Sets out to answer `request`, with what the first leg has: connections or transfers.
    ///
    /// # Errors
    /// When the request is none for the carrier of its leg.
    pub(super) fn start_request(&mut self, now: Instant, request: Request) -> Result<(), WorkloadError> {
        self.measure_request(&request);
        if let Profile::Ns2(profile) = &self.legs[0].profile {
            let profile = Arc::clone(profile);
            return self.start_transfer(now, request, &profile);
        }
        if request.request_bytes == 0 {
            return Err(WorkloadError(format!(
                "request table: column request_bytes: found 0 for the request at {}; write at least 1, as only the \
                 carrier \"transfer\" has no requests",
                request.start
            )));
        }
        let number = self.progress.requests_started;
        self.progress.requests_started += 1;
        let exchange = self.start_exchange(now, 0, number, request, None);
        self.find_connection(now, exchange);
        Ok(())
    }

    /// Opens a connection for an exchange.
    pub(super) fn open_for(&mut self, now: Instant, exchange: ExchangeId) {
        let Exchange { leg, request, .. } = self.exchanges.get(exchange).expect("the caller has found it");
        let (leg, host) = (*leg, request.host);
        let is_for_host = leg + 1 == self.legs.len() || matches!(self.legs[leg].carrier, Carrier::Single);
        let (id, output) = self.open_connection(now, leg, is_for_host.then_some(host));
        self.add_to_pool(exchange, id);
        self.assign_request(now, exchange, id);
        self.settle(now, id, End::Client, output);
    }

    /// Opens a connection on a leg; its SYN is in the output, which the caller settles.
    #[inline]
    pub(super) fn open_connection(
        &mut self,
        now: Instant,
        leg: usize,
        host: Option<HostId>,
    ) -> (ConnectionId, Output) {
        let config = self.config(leg, End::Client, host);
        let clock = self.clock(leg, End::Client, host);
        let mut output = std::mem::take(&mut self.output);
        let tcp = tcp::Connection::connect(now, &config, clock, &mut output);
        let nodes = [End::Client, End::Server].map(|end| self.legs[leg].node(end));
        let ends = [Some(Transport::Tcp(tcp)), None];
        (self.add_connection(now, leg, host, nodes, ends), output)
    }

    #[inline]
    pub(super) fn add_connection(
        &mut self,
        now: Instant,
        leg: usize,
        host: Option<HostId>,
        nodes: [u8; 2],
        ends: [Option<Transport>; 2],
    ) -> ConnectionId {
        let mut pair = Pair::new(now, self.connections_opened, leg, host, nodes, ends);
        pair.recorded = self.recorder.packets.wants_all();
        pair.held = self.recorder.wants_exchanges().then(|| Box::new(Held::new(now)));
        self.connections_opened += 1;
        self.legs[leg].occupancy.add(now, Counted::Open);
        self.connections.insert(pair)
    }

    /// Gives the packet to the endpoint that it is for.
    pub(super) fn deliver(&mut self, now: Instant, packet: &Packet) {
        let Packet { connection: id, toward: end, segment, mark, .. } = packet;
        let pair = self.connections.get_mut(*id).expect("a connection outlives its packets");
        pair.in_flight -= 1;
        let mut output = std::mem::take(&mut self.output);
        match &mut pair.ends[*end as usize] {
            Some(endpoint) => endpoint.transport.on_segment(now, segment, &mut output),
            None if segment.flags.contains(Flags::SYN) && !segment.flags.contains(Flags::ACK) => {
                self.accept(now, *id, *end, segment, &mut output);
            }
            None => output.segments.extend(tcp::reset_for(segment)),
        }
        if mark.recorded {
            self.record_at_end(now, *id, *end, record::Event::Receive, segment, *mark);
        }
        self.settle(now, *id, *end, output);
    }

    fn accept(&mut self, now: Instant, id: ConnectionId, end: End, syn: &Segment, output: &mut Output) {
        let pair = &self.connections.get(id).expect("its SYN has arrived");
        let (leg, host) = (pair.leg, pair.host);
        let config = self.config(leg, end, host);
        let clock = self.clock(leg, end, host);
        let tcp = tcp::Connection::accept(now, &config, clock, syn, output);
        let pair = self.connections.get_mut(id).expect("found above");
        pair.ends[end as usize] = Some(Endpoint::new(Transport::Tcp(tcp)));
    }

    /// A packet of the connection was dropped on its way.
    pub(super) fn lose(&mut self, now: Instant, id: ConnectionId) {
        let pair = self.connections.get_mut(id).expect("a connection outlives its packets");
        pair.in_flight -= 1;
        self.forget_if_over(now, id);
    }

    pub(super) fn on_timer(&mut self, now: Instant, id: ConnectionId, end: End) {
        let Some(endpoint) = self.connections.get_mut(id).and_then(|pair| pair.ends[end as usize].as_mut())
        else {
            return;
        };
        if endpoint.timer != Some(now) {
            return; // An earlier event has been pushed since, or this one was superseded.
        }
        endpoint.timer = None;
        let mut output = std::mem::take(&mut self.output);
        endpoint.transport.on_timeout(now, &mut output);
        self.settle(now, id, end, output);
    }

    /// Carries out what an endpoint put into `output`: sends segments, tells the application, sets the timer.
    ///
    /// The application may act on the endpoint when it is told something; what follows is carried out in the same loop.
    pub(super) fn settle(&mut self, now: Instant, id: ConnectionId, end: End, mut output: Output) {
        let mut told = 0;
        loop {
            for segment in &output.segments {
                self.transmit(now, id, end, segment);
            }
            output.segments.clear();
            let Some(notice) = output.notices.get(told).copied() else {
                break;
            };
            told += 1;
            self.on_notice(now, id, end, notice, &mut output);
        }
        output.notices.clear();
        self.output = output;
        let Some(pair) = self.connections.get_mut(id) else {
            return;
        };
        if let Some(at) = pair.timer_to_set(end) {
            self.queue.push(at, Event::TimerFires(id, end));
        }
        let is_muxed = pair.slot.is_some();
        if end == End::Server {
            self.note_progress(now, id);
        }
        if is_muxed {
            self.note_load(id, end);
        }
        self.forget_if_over(now, id);
    }

    #[inline]
    fn transmit(&mut self, now: Instant, id: ConnectionId, end: End, segment: &Segment) {
        let pair = self.connections.get_mut(id).expect("only open connections send");
        let (node, destination) = (pair.nodes[end as usize], pair.nodes[end.other() as usize]);
        let bytes = pair.packet_bytes(end, segment);
        let sent = &mut pair.sent[end as usize];
        let number = sent.segments as u32;
        sent.bytes += u64::from(bytes);
        sent.segments += 1;
        pair.in_flight += 1;
        let mark = match pair.recorded {
            true => self.record_departure(now, id, end, segment, number),
            false => Mark::unrecorded(number),
        };
        let toward = end.other();
        let packet = Packet { connection: id, segment: *segment, bytes, toward, destination, mark };
        if !self.send(now, node, packet) {
            let pair = self.connections.get_mut(id).expect("found above");
            pair.in_flight -= 1;
            pair.ends[end as usize].as_mut().expect("it has sent").transport.on_local_drop();
        }
    }

    /// Ends a connection whose ends are both closed or in TIME_WAIT, and forgets it when no packet of it is left.
    ///
    /// In TIME_WAIT an endpoint only answers late packets; without one on any link, the rest of its 2 MSL has no effect.
    fn forget_if_over(&mut self, now: Instant, id: ConnectionId) {
        let Some(pair) = self.connections.get_mut(id) else {
            return;
        };
        if pair.closed.is_none() {
            if !pair.is_over() {
                return;
            }
            pair.closed = Some(now);
            self.legs[pair.leg].occupancy.remove(now, Counted::Open);
            if pair.aboard > 0 {
                // A request that is sent again, or fails, later at this instant.
                self.alight_all(now, id);
            }
        }
        if self.connections.get(id).is_some_and(|pair| pair.in_flight == 0) {
            self.forget(now, id);
        }
    }

    /// Forgets a connection that is over, with the rows of what it carried.
    fn forget(&mut self, now: Instant, id: ConnectionId) {
        while let Some(response) =
            self.connections.get_mut(id).and_then(|pair| pair.unacknowledged.take_up_to(u64::MAX))
        {
            self.end_with_connection(now, response.exchange);
        }
        if let Some(only) = self.connections.get(id).and_then(|pair| pair.exchange) {
            self.end_with_connection(now, only);
        }
        self.recorder.push_connection(self.connections.get(id).expect("found above"), now);
        self.connections.remove(id);
        self.path.forget(id);
    }

    /// The connection of an exchange is over, so that nothing more will come of it.
    fn end_with_connection(&mut self, now: Instant, id: ExchangeId) {
        self.fail(now, id);
        if self.exchanges.get(id).is_some_and(|exchange| exchange.leg == 0) {
            self.end_request(now, id, Status::Failed);
        }
    }

    fn config(&self, leg: usize, end: End, host: Option<HostId>) -> tcp::Config {
        self.legs[leg].config(end, host.map(|host| &self.directory.hosts()[host]))
    }

    fn clock(&mut self, leg: usize, end: End, host: Option<HostId>) -> HostClock {
        let last = u8::try_from(self.path.nodes().len() - 1).expect("fewer than 256 nodes");
        let leg = &self.legs[leg];
        self.hosts.clock(leg.node(end), last, host, &leg.profile)
    }
}
