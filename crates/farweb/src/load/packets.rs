//! Packets of a request on a leg, by the rules of its TCP, carrier and origin: segments, ACKs, and those of a connection.
//!
//! A receiver acknowledges every second segment. Linux acknowledges each of the first 16 of a connection, and seven of eight as
//! long as the receive window grows, for some thousand segments (measured in runs of one response of 1 to 64,000 segments).
//! Where TLS has just gone to and fro it takes the response for part of a dialogue, and acknowledges every second one. Segments
//! that come one by one, paced by their origin, have an ACK each. The last ACK of a request rides on a response that comes
//! at once. Left out: losses, ACKs by a timer within a response, frames of HTTP/2, bytes of TLS records.

use rustc_hash::FxHashMap;

use super::rated::Way;
use crate::explain::{HandshakeReport, LegReport};
use crate::http::Release;
use crate::id::Id;
use crate::scenario::{Carrier, ClientShare, Leg, Scenario};
use crate::tcp::Profile;
use crate::tcp::segment::HEADER_BYTES;
use crate::units::Duration;
use crate::workload::{Method, Request};

/// Segments over which a receive window grows, as measured.
const GROWTH: f64 = 1000.0;

/// ACKs a segment while it grows, as measured.
const ACKS_OF_GROWTH: f64 = 0.875;

/// Pairs of host and client from which on those without an open connection are forgotten. Chosen: some MB.
const SWEPT: usize = 1 << 16;

/// Packets of a connection in each direction: SYN, FIN and a bare ACK.
const OPENING: u64 = 3;

/// Segments acknowledged by a receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Acks {
    Each,
    Second,
    /// The first ones of a connection one by one, then every second one; nearly all of them where the window `grows`.
    Quick {
        first: u64,
        grows: bool,
    },
}

/// When a request opens a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Opening {
    Never,
    Always,
    /// When none lies idle. Hosts and clients may have their own.
    Kept {
        idle_ns: u64,
        is_shared: bool,
        by_host: bool,
        by_client: bool,
    },
}

/// Packets of a leg, and when its requests open connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Segments {
    /// Payload of a full one, in bytes, at least 1.
    pub(super) payload: u64,
    /// Header of each with its options, in bytes.
    pub(super) header: u64,
    /// ACKs at the client end and at the server end.
    acks: [Acks; 2],
    /// Longest wait of an ACK for a second segment, or for data to ride on.
    ack_wait_ns: u64,
    opening: Opening,
    /// Bytes of the first flights of TLS, up and down.
    flights: Option<[u64; 2]>,
    /// Bytes that a session takes before it grants more, each time.
    grant: Option<u64>,
    release: u8,
    rtt_ns: u64,
}

/// Packets of some requests.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Packets {
    pub(super) opens: f64,
    pub(super) down: f64,
    pub(super) up: f64,
    /// ACKs of responses, which go up.
    pub(super) acks_up: f64,
    /// ACKs of requests, which go down.
    pub(super) acks_down: f64,
}

/// Connections that lie open, by host and client.
pub(super) type Open = FxHashMap<(u64, u64), Vec<Connection>>;

/// A connection that lies open.
#[derive(Debug, Clone, Copy)]
pub(super) struct Connection {
    /// Time from which it is idle.
    free_ns: u64,
    /// Segments of responses so far.
    segments: u64,
}

impl Segments {
    pub(super) fn of(scenario: &Scenario, leg: &LegReport, described: &Leg, is_last: bool) -> Self {
        let payload = leg.limit.payload_bytes;
        let profile = described.tcp.profile();
        let acks = described.tcp.sizes(&scenario.workload).map(|end| match profile {
            Profile::Linux(_) if leg.quick_acks < u32::MAX => {
                Acks::Quick { first: u64::from(leg.quick_acks), grows: end.buffer(None).is_none() }
            }
            _ if leg.quick_acks == u32::MAX => Acks::Each,
            _ => Acks::Second,
        });
        let uses = leg.connection_use;
        let idle = match &described.carrier {
            Carrier::Http11 { idle_timeout, .. } => *idle_timeout,
            Carrier::Http2(http2) => http2.idle_timeout,
            _ => Duration::ZERO,
        };
        let opening = match uses {
            uses if !uses.requests || uses.standing => Opening::Never,
            uses if uses.is_alone() => Opening::Always,
            _ => Opening::Kept {
                idle_ns: if idle == Duration::ZERO { u64::MAX } else { idle.as_nanos() },
                is_shared: uses.shared,
                by_host: is_last,
                by_client: leg.index == 0 && scenario.clients.share == ClientShare::Each,
            },
        };
        let flights = |handshake: &HandshakeReport| [handshake.up.bytes, handshake.down.bytes];
        Self {
            payload,
            header: u64::from(HEADER_BYTES) + leg.limit.mss_bytes - payload,
            acks,
            ack_wait_ns: profile.ack_wait().map_or(0, |wait| 2 * wait.as_nanos()),
            opening,
            flights: leg.handshakes.last().map(flights),
            grant: match &described.carrier {
                Carrier::WebMux { credit, .. } => Some((credit.get() / 2).max(1)),
                _ => None,
            },
            release: match scenario.origin.release {
                Release::AtOnce => 0,
                Release::Delayed => 1,
                Release::AfterWait => 2,
                Release::Paced | Release::ClosedLoop => 3,
                Release::Regulated => 4,
            },
            rtt_ns: leg.rtt_ns,
        }
    }

    /// Packets of a request. `open` are the connections of the leg.
    pub(super) fn packets(self, request: &Request, open: &mut Open) -> Packets {
        let (down, up) = (self.segments(request.response_bytes), self.segments(request.request_bytes));
        let before = self.before(request, down, open);
        let is_new = before.is_none();
        let [whole, wait] = [request.server.whole(), request.server.wait()];
        let is_paced = self.release == 3 || request.method == Method::Connect;
        let begins = match self.release {
            0 => None,
            1 => whole,
            _ => wait.or(if is_paced { None } else { whole }),
        };
        let is_late = begins.is_some_and(|begins| begins.as_nanos() > self.ack_wait_ns);
        let spread_ns =
            whole.filter(|_| is_paced).map(|whole| whole.as_nanos() - wait.map_or(0, Duration::as_nanos));
        let is_dialogue =
            self.grant.is_some() || (is_new && self.flights.is_some() && !is_late && spread_ns.is_none());
        let [of_client, of_server] = self.acks;
        let acks_up = of_client.of(
            down,
            before,
            spread_ns.map(|spread| spread / down.max(1)),
            self.ack_wait_ns,
            is_dialogue,
        );
        let acks_down = match of_server {
            Acks::Quick { first, .. } if is_new => {
                let quick = up.min(first);
                quick as f64 + ((up - quick) / 2) as f64
            }
            Acks::Each => up as f64,
            _ if is_late => up.div_ceil(2) as f64,
            _ => (up / 2) as f64,
        };
        let grants = |bytes: u64| self.grant.map_or(0, |grant| bytes / grant) as f64;
        Packets {
            opens: f64::from(u8::from(is_new)),
            down: down as f64 + grants(request.request_bytes),
            up: up as f64 + grants(request.response_bytes),
            acks_up,
            acks_down,
        }
    }

    /// Segments of a message. One with a credit leaves by as much as is granted at a time.
    fn segments(self, bytes: u64) -> u64 {
        match self.grant {
            Some(grant) => {
                bytes / grant * grant.div_ceil(self.payload) + (bytes % grant).div_ceil(self.payload)
            }
            None => bytes.div_ceil(self.payload),
        }
    }

    /// Segments of responses that came before on the connection of a request. `None` where it opens one.
    fn before(self, request: &Request, segments: u64, open: &mut Open) -> Option<u64> {
        let Opening::Kept { idle_ns, is_shared, by_host, by_client } = self.opening else {
            return (self.opening == Opening::Never).then_some(0);
        };
        let host = if by_host { request.host.index() as u64 } else { 0 };
        let client = request.client.filter(|_| by_client).map_or(0, |client| client.get());
        let start = request.start.as_nanos();
        let is_open = |known: &Connection| start <= known.free_ns.saturating_add(idle_ns);
        if open.len() >= SWEPT && open.len().is_power_of_two() {
            open.retain(|_, known| known.iter().any(is_open));
        }
        let known = open.entry((host, client)).or_default();
        known.retain(is_open);
        let place = known.iter().rposition(|known| is_shared || known.free_ns <= start);
        let served = request.server.whole().filter(|_| self.release > 0).unwrap_or_default();
        // Slow start from ten segments.
        let rounds = 1 + (request.response_bytes / (10 * self.payload) + 1).ilog2();
        let opening = if place.is_none() { 1 + u64::from(self.flights.is_some()) } else { 0 };
        let free_ns = start + served.as_nanos() + (u64::from(rounds) + opening) * self.rtt_ns;
        let Some(place) = place else {
            known.push(Connection { free_ns, segments });
            return None;
        };
        let used = &mut known[place];
        let before = used.segments;
        *used = Connection { free_ns: used.free_ns.max(free_ns), segments: before + segments };
        Some(before)
    }

    /// Packets that open and close a connection in a direction, with the first flights of TLS.
    pub(super) fn opening_packets(self, way: Way) -> u64 {
        let Some(flights) = self.flights else { return OPENING };
        let [up, down] = flights.map(|bytes| bytes.div_ceil(self.payload));
        let acks = if self.acks[0] == Acks::Second { down.div_ceil(2) } else { down };
        OPENING
            + match way {
                Way::Up => up + acks + 1, // Finished
                Way::Down => down + 2,    // an ACK, and a ticket
            }
    }

    /// The same in bytes.
    pub(super) fn opening_bytes(self, way: Way) -> u64 {
        let place = usize::from(way == Way::Down);
        self.header * self.opening_packets(way) + self.flights.map_or(0, |flights| flights[place])
    }
}

impl Acks {
    /// ACKs of a message of so many segments behind others on the connection, which come at distances of `apart_ns` where their origin paces them.
    fn of(
        self,
        segments: u64,
        before: Option<u64>,
        apart_ns: Option<u64>,
        wait_ns: u64,
        is_dialogue: bool,
    ) -> f64 {
        let (all, half) = (segments as f64, segments.div_ceil(2) as f64);
        let is_apart = apart_ns.is_some_and(|apart| apart > wait_ns);
        match self {
            Self::Each => all,
            Self::Second if is_apart => all,
            Self::Second => half,
            Self::Quick { .. } if is_dialogue => half,
            Self::Quick { .. } if apart_ns.is_some_and(|apart| apart > 0) => all,
            Self::Quick { first, grows: true } => {
                let growing = all.min((GROWTH - before.unwrap_or(0) as f64).max(0.0));
                let quick = growing.min(first as f64);
                quick + (growing - quick) * ACKS_OF_GROWTH + ((all - growing) / 2.0).ceil()
            }
            Self::Quick { first, .. } if before.is_none() => {
                let quick = segments.min(first);
                quick as f64 + (segments - quick).div_ceil(2) as f64
            }
            Self::Quick { .. } => half,
        }
    }
}

impl std::ops::AddAssign for Packets {
    fn add_assign(&mut self, more: Self) {
        self.opens += more.opens;
        self.down += more.down;
        self.up += more.up;
        self.acks_up += more.acks_up;
        self.acks_down += more.acks_down;
    }
}
