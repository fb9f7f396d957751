//! A connection: the endpoints at both ends, the exchanges on it, and counts of its traffic.
//!
//! Models the two applications at its ends as far as TCP sees them: each has a stream that it writes, reads the other one's as
//! soon as bytes are in order, and closes behind its last write, at once, or when it has been idle: the pool of its leg
//! decides. Leaves out the addresses and ports of hosts: a connection is known by its id.
//!
//! Fields that every packet needs stand first, end by end, then fields of openings, requests and rows.

use crate::id::{Slab, SlabId};
use crate::net::Direction;
use crate::record::Failure;
use crate::session::Session;
use crate::tcp::{self, CloseReason, FIRST_BYTE, Limit, State};
use crate::units::{Duration, Instant, When};

use super::relay::Relays;
use super::socket::{Place, Socket};
use super::unacknowledged::Unacknowledged;
use super::{ExchangeId, Key, Regulator, Transport};

pub(crate) type ConnectionId = SlabId;

/// The connections that are open or have packets under way.
pub(crate) type Connections = Slab<Connection>;

/// One end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The end at `leg.from`, which opens the connection.
    Client,
    /// The end at `leg.to`.
    Server,
}

/// Both endpoints, and what the connection carries.
pub(crate) struct Connection {
    /// By [`End`].
    pub(crate) ends: [Endpoint; 2],
    pub(crate) leg: usize,
    /// Packets of it that are on links.
    pub(crate) in_flight: u32,
    /// True when its packets are recorded.
    pub(crate) recorded: bool,
    /// Why an end can go on no more. The end noted last counts, but no reset that only says that the server end is gone.
    pub(crate) lost: Option<Failure>,
    /// True when its server end is gone, and bytes that are on the way or that relays hold may still end its requests.
    pub(crate) severed: bool,
    /// When both ends were closed or in TIME_WAIT.
    pub(crate) closed: When,
    pub(crate) unacknowledged: Unacknowledged,
    /// Below the TCP of its server end, where that regulates responses.
    pub(crate) regulator: Option<Box<Regulator>>,
    /// Between its ends, where its leg is split.
    pub(crate) relays: Option<Box<Relays>>,

    /// The exchange that has it for itself.
    pub(crate) exchange: Option<ExchangeId>,
    /// Its place in its pool, where that numbers them.
    pub(crate) slot: Option<u32>,
    /// Its client and its origin server.
    pub(crate) key: Key,
    /// Number of the connection in results, by opening time.
    pub(crate) number: u64,
    pub(crate) opened: Instant,
    /// When it was established at the client end.
    pub(crate) established: When,
    /// Until when it may be idle, at the end that closes it for that.
    pub(crate) idle_until: When,
    /// Closing of the server end behind each response.
    pub(crate) behind_response: Closing,
    /// Requests that it has carried, and those on it now.
    pub(crate) requests: u32,
    pub(crate) aboard: u32,
    pub(crate) aboard_max: u32,
    /// The newest of those on it now, in a chain by `Exchange::beside_aboard`.
    pub(crate) newest_aboard: Option<ExchangeId>,
    /// Time with a request on it, and since when there is one.
    busy: Duration,
    busy_since: Instant,
}

/// One end of a connection: its socket, and the application above it.
pub(crate) struct Endpoint {
    pub(crate) socket: Socket,
    pub(crate) session: Session,
    pub(crate) closing: Closing,
    /// True when its application has a notice that it has not acted on yet.
    pub(crate) is_waking: bool,
    /// True when the release of a response goes on when the transport has taken all that waits here.
    pub(crate) holds_release: bool,
}

/// Plan of an application to close its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Closing {
    No,
    /// When it has been idle for this long, which counts from the end of what waits to be written.
    AfterIdle(Duration),
    /// Behind what waits to be written.
    WhenWritten,
    /// Whatever waits.
    Now,
    /// It has.
    Done,
}

impl End {
    pub(crate) const fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }

    /// The direction of packets towards this end.
    pub(crate) const fn direction(self) -> Direction {
        match self {
            Self::Client => Direction::Down,
            Self::Server => Direction::Up,
        }
    }
}

impl Connection {
    /// A connection between two nodes, with nothing on it and no transport at its ends yet.
    #[inline(always)]
    pub(crate) fn new(
        now: Instant,
        number: u64,
        leg: usize,
        key: Key,
        nodes: [u8; 2],
        relays: Option<Box<Relays>>,
        sessions: [Session; 2],
    ) -> Self {
        let ([near, far], [client, server]) = (sessions, nodes);
        let [behind_client, before_server] =
            relays.as_ref().map_or([server, client], |relays| [relays.first_node(), relays.last_node()]);
        Self {
            ends: [Endpoint::new(client, behind_client, near), Endpoint::new(server, before_server, far)],
            leg,
            in_flight: 0,
            recorded: false,
            lost: None,
            severed: false,
            closed: When::NEVER,
            unacknowledged: Unacknowledged::default(),
            regulator: None,
            relays,
            exchange: None,
            slot: None,
            key,
            number,
            opened: now,
            established: When::NEVER,
            idle_until: When::NEVER,
            behind_response: Closing::No,
            requests: 0,
            aboard: 0,
            aboard_max: 0,
            newest_aboard: None,
            busy: Duration::ZERO,
            busy_since: now,
        }
    }

    #[inline]
    pub(crate) const fn end(&self, end: End) -> &Endpoint {
        &self.ends[end as usize]
    }

    #[inline]
    pub(crate) const fn end_mut(&mut self, end: End) -> &mut Endpoint {
        &mut self.ends[end as usize]
    }

    /// True when its client end may send another request.
    pub(crate) fn is_usable(&self) -> bool {
        let near = self.end(End::Client);
        near.closing == Closing::No && near.tcp().is_some_and(|tcp| tcp.state() == State::Established)
    }

    /// Limit that keeps the sender of responses from sending more. None where nothing runs any more.
    pub(crate) fn limit(&self) -> Option<Limit> {
        let far = self.end(End::Server);
        let more = far.session.bytes_waiting() > 0;
        match &far.socket.transport {
            Some(Transport::Tcp(_)) if far.is_over() => None,
            Some(transport) => Some(transport.limit(more)),
            None if more => Some(Limit::Handshake),
            None => None,
        }
    }

    /// True when the sender of responses has had the last byte of one acknowledged.
    #[inline]
    pub(crate) fn has_acknowledged_response(&mut self) -> bool {
        self.unacknowledged.first_end().is_some_and(|end| end <= self.bytes_acknowledged())
    }

    /// Takes the oldest response with its last byte acknowledged to the sender.
    pub(crate) fn take_acknowledged_response(&mut self) -> Option<ExchangeId> {
        let acknowledged = self.bytes_acknowledged();
        self.unacknowledged.take_up_to(acknowledged).map(|response| response.exchange)
    }

    /// Bytes of the server end's stream that have been acknowledged.
    #[inline]
    fn bytes_acknowledged(&mut self) -> u64 {
        let far = self.end_mut(End::Server);
        let bytes = far.socket.transport.as_ref().map_or(0, Transport::bytes_acknowledged);
        far.session.on_acknowledged(bytes)
    }

    /// Bytes of the server end's stream that have been sent.
    pub(crate) fn bytes_sent(&self) -> u64 {
        let far = self.end(End::Server);
        far.session.bytes_within(far.socket.transport.as_ref().map_or(0, Transport::bytes_sent))
    }

    /// An end, and the session at the other one that writes the stream it reads.
    #[inline]
    pub(crate) const fn facing(&mut self, end: End) -> (&mut Endpoint, &mut Session) {
        let [near, far] = &mut self.ends;
        match end {
            End::Client => (near, &mut far.session),
            End::Server => (far, &mut near.session),
        }
    }

    /// True when its segments go into the link unseen: neither recorded nor regulated.
    #[inline]
    pub(crate) const fn is_plain(&self) -> bool {
        !self.recorded && self.regulator.is_none()
    }

    /// Its packets are recorded from now on.
    pub(crate) fn record_from_now(&mut self) {
        self.recorded = true;
        let ends = self.ends.iter_mut().map(|end| &mut end.socket);
        for socket in ends.chain(self.relays.iter_mut().flat_map(|relays| relays.sockets_mut())) {
            if let Some(highest) = socket.stack().map(tcp::Connection::snd_max)
                && socket.way.segments > 0
            {
                socket.way.highest = highest;
            }
        }
    }

    /// A request comes aboard, `is_new` when the connection has not carried any of it before.
    pub(crate) fn board(&mut self, now: Instant, is_new: bool) {
        if self.aboard == 0 {
            self.busy_since = now;
        }
        self.aboard += 1;
        self.aboard_max = self.aboard_max.max(self.aboard);
        self.requests += u32::from(is_new);
    }

    /// A request leaves.
    pub(crate) fn alight(&mut self, now: Instant) {
        self.aboard -= 1;
        if self.aboard == 0 {
            self.busy += now - self.busy_since;
        }
    }

    /// Time with at least one request on it, up to `now`.
    pub(crate) fn busy(&self, now: Instant) -> Duration {
        if self.aboard > 0 { self.busy + (now - self.busy_since) } else { self.busy }
    }

    /// Retransmissions, by either end or a relay.
    pub(crate) fn retransmits(&self) -> u64 {
        self.total(Transport::retransmits)
    }

    /// Retransmission timeouts, at either end or a relay.
    pub(crate) fn timeouts(&self) -> u64 {
        self.total(Transport::timeouts)
    }

    /// Reductions for marks, at either end or a relay.
    pub(crate) fn ece_cuts(&self) -> u64 {
        self.total(Transport::ece_cuts)
    }

    /// Notes why `end` can go on no more.
    pub(crate) fn note_lost(&mut self, end: End, reason: CloseReason) {
        if self.severed && reason == CloseReason::Reset {
            return;
        }
        let has_no_syn = matches!(self.end(end).socket.transport, Some(Transport::Sender(_)));
        let is_syn_acknowledged =
            has_no_syn || self.end(end).tcp().is_some_and(|tcp| tcp.snd_una() >= FIRST_BYTE);
        let by = match reason {
            CloseReason::Finished => end.other(),
            _ => end,
        };
        self.lost = Some(match (reason, by) {
            (CloseReason::Refused, _) => Failure::Refused,
            (CloseReason::Reset, _) => Failure::Reset,
            (CloseReason::TimedOut, _) if !is_syn_acknowledged => Failure::HandshakeTimedOut,
            (_, End::Client) => Failure::ClientGaveUp,
            (_, End::Server) => Failure::ServerGaveUp,
        });
    }

    /// True when bytes may come to its client end although its server end is gone: packets are under way, a relay holds some, or the
    /// client has not read all.
    pub(crate) fn may_bring_more(&self) -> bool {
        let holds = |socket: &Socket| {
            socket.stack().is_some_and(|tcp| tcp.readable() > 0 || tcp.bytes_unsent_or_unacknowledged() > 0)
        };
        self.in_flight > 0
            || self.end(End::Client).tcp().is_some_and(|tcp| tcp.readable() > 0)
            || self.relays.as_ref().is_some_and(|relays| relays.sockets().any(holds))
    }

    /// True when both ends, and all relays, are closed or in TIME_WAIT.
    pub(crate) fn is_over(&self) -> bool {
        let [near, far] = &self.ends;
        let are_relays_over =
            || self.relays.as_ref().is_none_or(|relays| relays.sockets().all(Socket::is_over));
        near.is_over() && far.is_over() && are_relays_over()
    }

    /// Sum over both ends and all relays.
    fn total(&self, count: fn(&Transport) -> u64) -> u64 {
        let of = |socket: &Socket| socket.transport.as_ref().map_or(0, count);
        let [near, far] = &self.ends;
        let relays = self.relays.as_ref().map_or(0, |relays| relays.sockets().map(of).sum());
        of(&near.socket) + of(&far.socket) + relays
    }

    #[inline]
    pub(crate) fn socket(&self, place: Place) -> &Socket {
        match place {
            Place::End(end) => &self.end(end).socket,
            Place::Side(side) => self.relays().side(side),
        }
    }

    #[inline]
    pub(crate) fn socket_mut(&mut self, place: Place) -> &mut Socket {
        match place {
            Place::End(end) => &mut self.end_mut(end).socket,
            Place::Side(side) => self.relays_mut().side_mut(side),
        }
    }

    /// Its relays.
    ///
    /// # Panics
    /// Where its leg is not split.
    pub(crate) fn relays(&self) -> &Relays {
        self.relays.as_ref().expect("the leg is split")
    }

    /// Its relays.
    ///
    /// # Panics
    /// Where its leg is not split.
    pub(crate) fn relays_mut(&mut self) -> &mut Relays {
        self.relays.as_mut().expect("the leg is split")
    }

    /// The socket that packets towards an end reach at a node.
    pub(crate) fn place_at(&self, toward: End, node: u8) -> Place {
        match &self.relays {
            Some(relays) if self.end(toward).socket.node != node => Place::Side(relays.side_at(toward, node)),
            _ => Place::End(toward),
        }
    }

    /// The socket at the other end of a socket's stretch.
    pub(crate) fn peer(&self, place: Place) -> Place {
        let toward = place.toward();
        self.place_at(toward, self.socket(place).way.peer)
    }

    /// The stretch of a socket, counted from the clients.
    pub(crate) fn stretch(&self, place: Place) -> usize {
        place.stretch(self.relays.as_ref().map_or(0, |relays| relays.count()))
    }
}

impl Endpoint {
    #[inline(always)]
    fn new(node: u8, peer: u8, session: Session) -> Self {
        Self {
            socket: Socket::new(node, peer),
            session,
            closing: Closing::No,
            is_waking: false,
            holds_release: false,
        }
    }

    /// The TCP that the application here may use, if there is one.
    #[inline]
    pub(crate) const fn tcp(&self) -> Option<&tcp::Connection> {
        self.socket.tcp()
    }

    #[inline]
    pub(crate) const fn tcp_mut(&mut self) -> Option<&mut tcp::Connection> {
        self.socket.tcp_mut()
    }

    /// True when nothing runs here, or only something that answers late packets.
    pub(crate) fn is_over(&self) -> bool {
        self.socket.is_over()
    }

    /// True when the application here has something to write or to close.
    pub(crate) const fn has_work(&self) -> bool {
        matches!(self.closing, Closing::WhenWritten | Closing::Now) || self.session.stream.to_write() > 0
    }

    /// Bytes that wait here, or are on their way and not acknowledged.
    #[inline]
    pub(crate) fn outstanding(&self) -> u64 {
        self.session.stream.to_write() + self.tcp().map_or(0, tcp::Connection::bytes_unsent_or_unacknowledged)
    }
}
