//! A connection: the endpoints at both ends, what is on it, and what it has carried.

use crate::http::stream::Stream;
use crate::id::SlabId;
use crate::tcp::{self, Segment, State};
use crate::units::{Duration, Instant};
use crate::workload::HostId;

use super::exchange::{ExchangeId, Ride};
use super::held::{Held, HeldTimes};
use super::path::Direction;
use super::transport::Transport;
use super::unacknowledged::Unacknowledged;

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
    pub(super) in_flight: u32,
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
    pub(super) ends: [Option<Endpoint>; 2],
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

/// What runs at an end.
pub(super) struct Endpoint {
    pub(super) transport: Transport,
    /// The earliest pending timer event.
    pub(super) timer: Option<Instant>,
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
    #[inline]
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
    pub(super) fn packet_bytes(&self, end: End, segment: &Segment) -> u32 {
        self.transport(end)
            .map_or_else(|| segment.packet_bytes(), |transport| transport.packet_bytes(segment))
    }

    /// The time of a timer event that `end` needs and that is not pending yet.
    pub(super) fn timer_to_set(&mut self, end: End) -> Option<Instant> {
        let endpoint = self.ends[end as usize].as_mut()?;
        let at = endpoint.transport.next_timeout()?;
        if endpoint.timer.is_some_and(|pending| pending <= at) {
            return None;
        }
        endpoint.timer = Some(at);
        Some(at)
    }

    /// Whether both ends are closed or in TIME_WAIT.
    pub(super) fn is_over(&self) -> bool {
        self.ends.iter().flatten().all(|end| end.transport.is_over())
    }
}

impl Endpoint {
    pub(super) const fn new(transport: Transport) -> Self {
        Self { transport, timer: None }
    }
}
