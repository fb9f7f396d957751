//! Connections: pairs of endpoints, their timers, and the way of segments between endpoints and links.

use crate::http::stream::Stream;
use crate::id::SlabId;
use crate::record::{self, Status};
use crate::tcp::{self, Flags, HostClock, Output, Profile, Segment, State};
use crate::units::{Duration, Instant};
use crate::workload::{HostId, Request, WorkloadError};

use super::capture::Mark;
use super::exchange::{Exchange, ExchangeId, Ride, Unacknowledged};
use super::held::{Held, HeldTimes};
use super::leg::Carrier;
use super::occupancy::Counted;
use super::path::{Direction, Packet};
use super::transport::Transport;
use super::{Event, World};

pub(super) type ConnectionId = SlabId;

/// One end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The end at `leg.from`, which opens the connection.
    Client,
    /// The end at `leg.to`.
    Server,
}

/// A connection: both endpoints and what it carries.
pub(super) struct Pair {
    /// Number of the connection in results, by opening time.
    pub(super) number: u64,
    pub(super) leg: usize,
    /// The origin server that it is for; none between two proxies.
    pub(super) host: Option<HostId>,
    pub(super) opened: Instant,
    /// When it was established at the near end.
    pub(super) established: Option<Instant>,
    /// Whether its packets are recorded.
    pub(super) recorded: bool,
    /// When both ends were closed or in TIME_WAIT.
    pub(super) closed: Option<Instant>,
    /// Packets of it that are on links.
    in_flight: u32,
    /// The exchange that has it for itself.
    pub(super) exchange: Option<ExchangeId>,
    /// Its place among the connections of a mux.
    pub(super) slot: Option<usize>,
    /// Bytes by the end that writes them.
    pub(super) streams: [Stream<ExchangeId>; 2],
    pub(super) closing: [Closing; 2],
    pub(super) unacknowledged: Unacknowledged,
    /// What holds the sender of responses, where that is recorded.
    pub(super) held: Option<Box<Held>>,
    /// Since when it is idle, at the end that closes it for that.
    pub(super) idle_since: Option<Instant>,
    /// Requests that it has carried, and those on it now.
    pub(super) requests: u64,
    pub(super) aboard: u64,
    pub(super) aboard_max: u64,
    /// Time with a request on it, and since when there is one.
    pub(super) busy: Duration,
    pub(super) busy_since: Instant,
    /// Nodes of both ends.
    pub(super) nodes: [u8; 2],
    pub(super) sent: [Sent; 2],
    ends: [Option<Endpoint>; 2],
}

/// What one end of a connection has sent.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sent {
    /// IP bytes.
    pub(super) bytes: u64,
    pub(super) segments: u64,
    /// The sequence number after the highest sent.
    pub(super) highest: u64,
}

/// Whether an application is going to close its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Closing {
    No,
    /// When it has been idle for long enough, which counts from the end of what waits to be written.
    WhenIdle,
    /// Behind what waits to be written.
    WhenWritten,
    /// Whatever waits.
    Now,
    /// It has.
    Done,
}

/// What an application writes with.
pub(super) struct Writer<'p> {
    pub(super) stream: &'p mut Stream<ExchangeId>,
    pub(super) closing: &'p mut Closing,
    pub(super) tcp: &'p mut tcp::Connection,
}

struct Endpoint {
    transport: Transport,
    /// The earliest pending timer event.
    timer: Option<Instant>,
}

impl End {
    pub(super) const fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }

    /// The direction of packets towards this end.
    pub(super) const fn direction(self) -> Direction {
        match self {
            Self::Client => Direction::Down,
            Self::Server => Direction::Up,
        }
    }
}

impl Pair {
    /// A connection with what runs at each of its ends, which carries nothing yet.
    pub(super) fn new(
        now: Instant,
        number: u64,
        leg: usize,
        host: Option<HostId>,
        nodes: [u8; 2],
        ends: [Option<Transport>; 2],
    ) -> Self {
        Self {
            number,
            leg,
            host,
            opened: now,
            established: None,
            recorded: false,
            closed: None,
            in_flight: 0,
            exchange: None,
            slot: None,
            streams: [Stream::new(), Stream::new()],
            closing: [Closing::No; 2],
            unacknowledged: Unacknowledged::default(),
            held: None,
            idle_since: None,
            requests: 0,
            aboard: 0,
            aboard_max: 0,
            busy: Duration::ZERO,
            busy_since: now,
            nodes,
            sent: [Sent::default(); 2],
            ends: ends.map(|end| end.map(Endpoint::new)),
        }
    }

    /// What the application at `end` writes with; nothing where no TCP runs there.
    pub(super) fn writer(&mut self, end: End) -> Option<Writer<'_>> {
        let Self { streams, closing, ends, .. } = self;
        match ends[end as usize].as_mut().map(|endpoint| &mut endpoint.transport) {
            Some(Transport::Tcp(tcp)) => {
                let (stream, closing) = (&mut streams[end as usize], &mut closing[end as usize]);
                Some(Writer { stream, closing, tcp })
            }
            _ => None,
        }
    }

    /// What the application at `end` reads from; nothing where no TCP runs there.
    pub(super) fn reader(&mut self, end: End) -> Option<(&mut Stream<ExchangeId>, &mut tcp::Connection)> {
        match self.ends[end as usize].as_mut().map(|endpoint| &mut endpoint.transport) {
            Some(Transport::Tcp(tcp)) => Some((&mut self.streams[end.other() as usize], tcp)),
            _ => None,
        }
    }

    /// Whether the application at `end` has something to write or to close.
    pub(super) fn has_work(&self, end: End) -> bool {
        let closes = matches!(self.closing[end as usize], Closing::WhenWritten | Closing::Now);
        closes || self.streams[end as usize].to_write() > 0
    }

    /// Whether its near end may send another request.
    pub(super) fn is_usable(&self) -> bool {
        self.closing[End::Client as usize] == Closing::No
            && matches!(self.transport(End::Client), Some(Transport::Tcp(tcp)) if tcp.state() == State::Established)
    }

    /// Bytes that wait at `end`, or are on their way and not acknowledged.
    pub(super) fn outstanding(&self, end: End) -> u64 {
        let waiting = self.streams[end as usize].to_write();
        match self.transport(end) {
            Some(Transport::Tcp(tcp)) => waiting + tcp.bytes_unsent_or_unacknowledged(),
            _ => waiting,
        }
    }

    /// What an exchange knows of the connection that it gets, whose id is `id`.
    pub(super) fn ride(&self, id: ConnectionId) -> Ride {
        Ride {
            connection: id,
            number: self.number,
            retransmits: self.retransmits(),
            timeouts: self.timeouts(),
        }
    }

    /// The clocks of what holds the sender of responses; at zero where they are not kept.
    pub(super) fn held_at(&self, now: Instant) -> HeldTimes {
        self.held.as_ref().map_or(HeldTimes::default(), |held| held.at(now))
    }

    /// Asks the sender of responses what holds it from now on.
    pub(super) fn note_limit(&mut self, now: Instant) {
        let Some(limit) = self
            .transport(End::Server)
            .map(|transport| transport.limit(self.streams[End::Server as usize].to_write() > 0))
        else {
            return;
        };
        if let Some(held) = &mut self.held {
            held.change(now, limit);
        }
    }

    /// Its packets are recorded from now on.
    pub(super) fn record_from_now(&mut self) {
        self.recorded = true;
        for end in [End::Client, End::Server] {
            if let Some(Transport::Tcp(tcp)) = self.transport(end)
                && self.sent[end as usize].segments > 0
            {
                self.sent[end as usize].highest = tcp.snd_max();
            }
        }
    }

    /// Time with at least one request on it, up to `now`.
    pub(super) fn busy(&self, now: Instant) -> Duration {
        if self.aboard > 0 { self.busy + (now - self.busy_since) } else { self.busy }
    }

    /// What runs at `end`, once it exists.
    pub(super) fn transport(&self, end: End) -> Option<&Transport> {
        self.ends[end as usize].as_ref().map(|endpoint| &endpoint.transport)
    }

    pub(super) fn retransmits(&self) -> u64 {
        self.sum(Transport::retransmits)
    }

    pub(super) fn timeouts(&self) -> u64 {
        self.sum(Transport::timeouts)
    }

    fn sum(&self, counter: fn(&Transport) -> u64) -> u64 {
        self.ends.iter().flatten().map(|endpoint| counter(&endpoint.transport)).sum()
    }

    /// Size on the wire of a segment from `end`; a reset may come from an end that does not exist.
    #[inline]
    fn packet_bytes(&self, end: End, segment: &Segment) -> u32 {
        self.transport(end)
            .map_or_else(|| segment.packet_bytes(), |transport| transport.packet_bytes(segment))
    }

    /// The time of a timer event that `end` needs and that is not pending yet.
    fn timer_to_set(&mut self, end: End) -> Option<Instant> {
        let endpoint = self.ends[end as usize].as_mut()?;
        let at = endpoint.transport.next_timeout()?;
        if endpoint.timer.is_some_and(|pending| pending <= at) {
            return None;
        }
        endpoint.timer = Some(at);
        Some(at)
    }

    /// Whether both ends are closed or in TIME_WAIT.
    fn is_over(&self) -> bool {
        self.ends.iter().flatten().all(|end| end.transport.is_over())
    }
}

impl Endpoint {
    const fn new(transport: Transport) -> Self {
        Self { transport, timer: None }
    }
}

impl World {
    /// Sets out to answer `request`, with what the first leg has: connections or transfers.
    ///
    /// # Errors
    /// When the request is none for the carrier of its leg.
    pub(super) fn start_request(&mut self, now: Instant, request: Request) -> Result<(), WorkloadError> {
        self.measure_request(&request);
        if let Profile::Ns2(profile) = self.legs[0].profile {
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
