//! Legs: where their ends are, and what the endpoints there are made with.
//!
//! Models a leg as two nodes and the settings of TCP at each: a size from the scenario, or from the origin server's row in
//! the host table, which then holds for both ends of a connection to it ([`EndSizes`]). They reach TCP here: [`Leg::config`].

use crate::http::mux::{Framing, Overhead};
use crate::http::tls::Start;
use crate::session::{self, Application, Session};
use crate::tcp::{self, Profile};
use crate::units::{Duration, Instant};
use crate::workload::{ClientId, Host, HostId, Method};

use super::relay::Split;
use super::tickets::Tickets;
use super::{End, EndSizes, Exchange, Place};

/// Keeps connections of a leg apart: requests with the same key may go over the same ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    /// None where all clients come through one place, or the request table does not say who asks.
    pub(crate) client: Option<ClientId>,
    /// The origin server. None where the server end is a proxy, which takes all requests.
    pub(crate) host: Option<HostId>,
    /// True of a connection for one tunnel, where the carrier has no streams for it.
    pub(crate) tunnel: bool,
    /// False of a connection without the TLS that its leg has.
    pub(crate) tls: bool,
    /// The cache inside the leg where it ends. None: at the server end.
    pub(crate) node: Option<u8>,
}

impl Key {
    /// Connections that take any request.
    pub(crate) const ANY: Self = Self { client: None, host: None, tunnel: false, tls: true, node: None };
}

/// A leg: where its ends are and how their transport is set.
pub(crate) struct LegConfig {
    pub(crate) nodes: [u8; 2],
    /// True where its client end is at the clients, each with connections of its own.
    pub(crate) tells_clients_apart: bool,
    /// True where its server end is at the origin servers, each with connections of its own.
    pub(crate) ends_at_servers: bool,
    /// True where tunnels have TLS inside, and end here: their connections have none of the leg.
    pub(crate) has_bare_tunnels: bool,
    /// True where requests in the clear go apart from those under TLS: the leg has TLS, or ends at servers, where ports differ.
    pub(crate) tells_schemes_apart: bool,
    /// True where there are caches between its ends.
    pub(crate) has_caches: bool,
    pub(crate) application: Application,
    /// From the clients to the servers. One more than splits.
    pub(crate) stretches: Vec<Stretch>,
    /// In the order of nodes.
    pub(crate) splits: Vec<Split>,
    /// Framing before the parts of responses, where messages of several requests lie side by side.
    pub(crate) framing: Option<Overhead>,
    pub(crate) sessions: session::Config,
}

/// A leg, with what its connections leave behind.
pub(crate) struct Leg {
    pub(crate) config: LegConfig,
    framing: Option<Framing>,
    tickets: Tickets,
    /// Endpoints that have ended: their memory serves later ones.
    ended: Vec<tcp::Connection>,
}

/// The transport between an end or a split and the next.
pub(crate) struct Stretch {
    pub(crate) profile: Profile,
    pub(crate) sizes: [EndSizes; 2],
}

/// Endpoints kept for their memory. Chosen: more than end at once between two openings, and next to nothing beside those open.
const ENDED_MAX: usize = 64;

impl Leg {
    pub(crate) fn new(config: LegConfig) -> Self {
        let lifetime = config.sessions.resumption().map_or(Duration::ZERO, |(_, lifetime)| lifetime);
        Self {
            framing: config.framing.map(Framing::new),
            tickets: Tickets::new(lifetime),
            ended: Vec::new(),
            config,
        }
    }

    /// Keeps the memory of an endpoint that has ended.
    pub(crate) fn keep_ended(&mut self, tcp: tcp::Connection) {
        if self.ended.len() < ENDED_MAX {
            self.ended.push(tcp);
        }
    }

    /// The memory of an endpoint that has ended here.
    pub(crate) fn take_ended(&mut self) -> Option<tcp::Connection> {
        self.ended.pop()
    }

    /// Sessions at both ends of a connection that opens here. A client named by the key needs a ticket to resume.
    pub(crate) fn sessions(&self, now: Instant, key: &Key) -> [Session; 2] {
        let start = match self.config.sessions.resumption() {
            _ if !key.tls => None,
            Some((start, _)) if key.client.is_none() || self.tickets.has(now, key) => Some(start),
            _ => Some(Start::Full),
        };
        self.config.sessions.pair(start)
    }

    /// A client has got a ticket on a connection with this key.
    pub(crate) fn add_ticket(&mut self, now: Instant, key: Key) {
        if key.client.is_some() {
            self.tickets.add(now, key);
        }
    }

    /// Bytes of framing before the next `bytes` of a response, which came in segments of up to `mss` bytes.
    #[inline]
    pub(crate) fn frame(&mut self, bytes: u64, mss: u64) -> u64 {
        self.framing.as_mut().map_or(0, |framing| framing.before(bytes, bytes.div_ceil(mss)))
    }

    pub(crate) const fn node(&self, end: End) -> u8 {
        self.config.nodes[end as usize]
    }

    /// Nodes of both ends.
    pub(crate) const fn nodes(&self) -> [u8; 2] {
        self.config.nodes
    }

    /// Nodes of both ends of a connection with this key.
    pub(crate) fn nodes_of(&self, key: &Key) -> [u8; 2] {
        let [near, far] = self.nodes();
        [near, key.node.unwrap_or(far)]
    }

    /// The connections that the request of `exchange` may go over.
    #[inline]
    pub(crate) fn key(&self, exchange: &Exchange) -> Key {
        let request = &exchange.request;
        let LegConfig { tells_clients_apart, ends_at_servers, tells_schemes_apart, has_bare_tunnels, .. } =
            self.config;
        let is_tunnel = matches!(request.method, Method::Connect);
        // Only its server sees inside a tunnel.
        let is_clear = has_bare_tunnels && is_tunnel
            || request.is_clear() && if is_tunnel { ends_at_servers } else { tells_schemes_apart };
        Key {
            client: if tells_clients_apart { request.client } else { None },
            host: if ends_at_servers { Some(request.host) } else { None },
            tunnel: has_bare_tunnels && is_tunnel,
            tls: !is_clear,
            node: exchange.source.filter(|node| *node != self.node(End::Server)),
        }
    }

    /// The transport at an end or a side of a relay, and its sizes there.
    #[inline]
    fn at(&self, place: Place) -> (&Profile, EndSizes) {
        let Stretch { profile, sizes } = &self.config.stretches[place.stretch(self.config.splits.len())];
        (profile, sizes[place.toward().other() as usize])
    }

    /// The MSS that `end` advertises on connections to `host`, in bytes.
    pub(crate) fn mss(&self, end: End, host: Option<&Host>) -> u16 {
        self.at(Place::End(end)).1.mss(host)
    }

    /// Payload of the segments that `end` sends to `host` or as that host, in bytes.
    pub(crate) fn segment_bytes(&self, end: End, host: &Host) -> u64 {
        let (profile, sizes) = self.at(Place::End(end));
        profile.segment_bytes(sizes.mss(Some(host)))
    }

    /// The profile at an end.
    pub(crate) fn profile(&self, end: End) -> &Profile {
        self.at(Place::End(end)).0
    }

    /// Configuration of an endpoint of a connection to `host`, with random numbers of its own.
    #[inline]
    pub(crate) fn config(&self, place: Place, host: Option<&Host>, random: tcp::Random) -> tcp::Config {
        let (profile, sizes) = self.at(place);
        let buffer = sizes.buffer(host);
        tcp::Config {
            profile: profile.clone(),
            mss: sizes.mss(host),
            send_buffer: buffer,
            receive_buffer: buffer,
            random,
        }
    }
}
