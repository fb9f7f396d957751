//! Legs: where their ends are, and what the endpoints there are made with.
//!
//! Models a leg as two nodes and the settings of TCP at each: a size from the scenario, or that of the origin server's row in
//! the host table, which then holds for both ends of a connection to it ([`EndSizes`]). They reach TCP here: [`Leg::config`].

use crate::http::tls;
use crate::id::Id;
use crate::scenario::{self, EndSizes, Scenario};
use crate::tcp::{self, Profile};
use crate::workload::{Host, HostId};

use super::{Application, End};

/// A leg: where its ends are and how their transport is set.
pub(crate) struct Leg {
    nodes: [u8; 2],
    /// Whether its server end is where the origin servers are, each of which has connections of its own.
    ends_at_servers: bool,
    /// Whether there are caches between its ends.
    pub(crate) has_caches: bool,
    pub(crate) profile: Profile,
    pub(crate) application: Application,
    sizes: [EndSizes; 2],
    /// TLS session with which its connections begin, if any.
    tls: Option<tls::Session>,
    /// Endpoints that have ended, whose memory serves those to come.
    ended: Vec<tcp::Connection>,
}

/// Endpoints whose memory is kept. Chosen: more than end at once between two openings, and next to nothing beside those open.
const ENDED_MAX: usize = 64;

impl Leg {
    pub(crate) fn new(leg: &scenario::Leg, scenario: &Scenario) -> Self {
        let node = |name: &str| {
            let place = scenario.path.nodes.iter().position(|node| node == name);
            u8::try_from(place.expect("checked scenarios name nodes of the path"))
                .expect("fewer than 256 nodes")
        };
        let [near, far] = [node(&leg.from), node(&leg.to)];
        Self {
            nodes: [near, far],
            has_caches: scenario.cache.iter().any(|cache| (near + 1..far).contains(&node(&cache.node))),
            ends_at_servers: scenario.path.nodes.last() == Some(&leg.to),
            profile: leg.tcp.profile(),
            application: Application::new(&leg.application),
            sizes: EndSizes::of(leg, &scenario.workload),
            tls: leg.tls.as_ref().map(scenario::Tls::session),
            ended: Vec::new(),
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

    /// TLS of a connection that opens here.
    pub(crate) fn tls(&self) -> Option<Box<tls::Session>> {
        self.tls.clone().map(Box::new)
    }

    pub(crate) const fn node(&self, end: End) -> u8 {
        self.nodes[end as usize]
    }

    /// Nodes of both ends.
    pub(crate) const fn nodes(&self) -> [u8; 2] {
        self.nodes
    }

    /// The host that a connection for a request to `host` belongs to; none where its server end is a proxy, which takes all requests.
    pub(crate) fn host_of(&self, host: HostId) -> Option<HostId> {
        self.ends_at_servers.then_some(host)
    }

    /// The number by which connections for requests to `host` are kept apart from those of other hosts.
    pub(crate) fn key(&self, host: HostId) -> u32 {
        self.host_of(host).map_or(0, |host| host.index() as u32)
    }

    /// The MSS that `end` advertises on connections to `host`, in bytes.
    pub(crate) fn mss(&self, end: End, host: Option<&Host>) -> u16 {
        self.sizes[end as usize].mss(host)
    }

    /// Payload of the segments in which `end` sends to `host` or as that host, in bytes.
    pub(crate) fn segment_bytes(&self, end: End, host: &Host) -> u64 {
        self.profile.segment_bytes(self.mss(end, Some(host)))
    }

    /// Configuration of an endpoint at `end` of a connection to `host`.
    pub(crate) fn config(&self, end: End, host: Option<&Host>) -> tcp::Config {
        let buffer = self.sizes[end as usize].buffer(host);
        tcp::Config {
            profile: self.profile.clone(),
            mss: self.mss(end, host),
            send_buffer: buffer,
            receive_buffer: buffer,
        }
    }
}
