//! Connections: pairs of endpoints, their timers, and the way of segments between endpoints and links.

use crate::id::SlabId;
use crate::record::{self, Status};
use crate::tcp::{self, Flags, HostClock, Output, Profile, Segment};
use crate::units::Instant;
use crate::workload::{HostId, Request, WorkloadError};

use super::capture::Mark;
use super::exchange::{Application, Exchange, Http10, Times};
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

/// A connection: both endpoints and the exchange that it carries.
pub(super) struct Pair {
    /// Number of the connection in results, by opening time.
    pub(super) number: u64,
    pub(super) leg: usize,
    pub(super) host: HostId,
    pub(super) opened: Instant,
    /// Whether its packets are recorded.
    pub(super) recorded: bool,
    /// When both ends were closed or in TIME_WAIT.
    pub(super) closed: Option<Instant>,
    /// Packets of it that are on links.
    in_flight: u32,
    pub(super) exchange: Exchange,
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
    /// A connection of the first leg that carries `exchange`, with what runs at each of its ends.
    pub(super) fn new(
        now: Instant,
        exchange: Exchange,
        nodes: [u8; 2],
        ends: [Option<Transport>; 2],
        recorded: bool,
    ) -> Self {
        Self {
            number: exchange.number,
            leg: 0,
            host: exchange.request.host,
            opened: now,
            recorded,
            closed: None,
            in_flight: 0,
            exchange,
            nodes,
            sent: [Sent::default(); 2],
            ends: ends.map(|end| end.map(Endpoint::new)),
        }
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
    /// Sets out to answer `request`, with what its leg has: a connection or a transfer.
    ///
    /// # Errors
    /// When the request is none for the carrier of its leg.
    pub(super) fn start_request(&mut self, now: Instant, request: Request) -> Result<(), WorkloadError> {
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
        self.open_connection(now, request);
        Ok(())
    }

    /// Opens a connection for `request` on the first leg.
    fn open_connection(&mut self, now: Instant, request: Request) {
        let leg = 0;
        let config = self.legs[leg].config(End::Client, &self.directory.hosts()[request.host]);
        let clock = self.clock(leg, End::Client, request.host);
        let mut output = std::mem::take(&mut self.output);
        let tcp = tcp::Connection::connect(now, &config, clock, &mut output);
        let number = self.progress.requests_started;
        let exchange = Exchange::new(number, request, Application::http10(&request));
        let nodes = [End::Client, End::Server].map(|end| self.legs[leg].node(end));
        let ends = [Some(Transport::Tcp(tcp)), None];
        let recorded = self.recorder.packets.wants(&request, &self.directory);
        let id = self.connections.insert(Pair::new(now, exchange, nodes, ends, recorded));
        self.progress.requests_started += 1;
        self.settle(now, id, End::Client, output);
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
        let config = self.legs[leg].config(end, &self.directory.hosts()[host]);
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

    /// Lets the HTTP application at `end` act on its endpoint; `None` when that is gone, or the connection carries no HTTP.
    pub(super) fn with_http<R>(
        &mut self,
        id: ConnectionId,
        end: End,
        act: impl FnOnce(&mut Times, &mut Http10, &mut tcp::Connection) -> R,
    ) -> Option<R> {
        let Pair { exchange, ends, .. } = self.connections.get_mut(id)?;
        let endpoint = ends[end as usize].as_mut()?;
        match (&mut exchange.application, &mut endpoint.transport) {
            (Application::Http10(http), Transport::Tcp(tcp)) => Some(act(&mut exchange.times, http, tcp)),
            _ => None,
        }
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
        if end == End::Server {
            self.note_acknowledgement(now, id);
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
        }
        if pair.in_flight == 0 {
            self.end_request(id, Status::Failed);
            self.recorder.push_connection(self.connections.get(id).expect("found above"));
            self.connections.remove(id);
            self.path.forget(id);
        }
    }

    fn clock(&mut self, leg: usize, end: End, host: HostId) -> HostClock {
        let last = u8::try_from(self.path.nodes().len() - 1).expect("fewer than 256 nodes");
        let leg = &self.legs[leg];
        self.hosts.clock(leg.node(end), last, host, &leg.profile)
    }
}
