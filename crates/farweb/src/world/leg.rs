//! Legs: where their ends are, how their transport is set, and the clocks of the hosts there.

use crate::http::http11::Limits;
use crate::id::Id;
use crate::rng::Streams;
use crate::scenario::{self, HostOr, Scenario, TcpEnd};
use crate::tcp::{self, HostClock, Profile};
use crate::workload::{Host, HostId};

use super::mux::Mux;
use super::occupancy::Occupancy;
use super::pair::{Closing, End};
use super::persistent::Persistent;

/// A leg: where its ends are and how their transport is set.
pub(super) struct Leg {
    pub(super) from: u8,
    pub(super) to: u8,
    pub(super) profile: Profile,
    settings: [EndSettings; 2],
    /// MSS and window of hosts that the host table does not give.
    default_mss: u16,
    default_window: u64,
    pub(super) release: scenario::Release,
    pub(super) carrier: Carrier,
    pub(super) occupancy: Occupancy,
}

/// How requests get connections.
pub(super) enum Carrier {
    /// Each has one of its own: HTTP/1.0, and transfers.
    Single,
    /// They are used again: HTTP/1.1.
    Persistent(Persistent),
    /// Some of them are always open, and carry many at a time.
    Mux(Mux),
}

#[derive(Clone, Copy)]
struct EndSettings {
    mss: HostOr,
    buffer: Option<HostOr>,
}

/// The clocks of hosts: nodes of the path, and the origin servers behind the last node.
pub(super) struct Hosts {
    streams: Streams,
    nodes: Vec<Option<HostClock>>,
    origins: Vec<Option<HostClock>>,
}

impl Leg {
    pub(super) fn all(scenario: &Scenario) -> Vec<Self> {
        scenario.leg.iter().map(|leg| Self::new(leg, scenario)).collect()
    }

    fn new(leg: &scenario::Leg, scenario: &Scenario) -> Self {
        let node = |name: &str| {
            let place = scenario.path.nodes.iter().position(|node| node == name);
            u8::try_from(place.expect("checked scenarios name nodes of the path"))
                .expect("fewer than 256 nodes")
        };
        let settings = |end: Option<TcpEnd>| EndSettings {
            mss: end.and_then(|end| end.mss).unwrap_or(leg.tcp.mss),
            buffer: end.and_then(|end| end.buffer).or(leg.tcp.buffer),
        };
        Self {
            from: node(&leg.from),
            to: node(&leg.to),
            profile: leg.tcp.profile(),
            settings: [settings(leg.tcp.from), settings(leg.tcp.to)],
            default_mss: scenario.workload.default_mss.get() as u16,
            default_window: scenario.workload.default_window.get(),
            release: scenario.origin.release,
            carrier: Carrier::new(
                &leg.carrier,
                leg.to == *scenario.path.nodes.last().expect("two nodes at least"),
            ),
            occupancy: Occupancy::new(),
        }
    }

    /// What a server does behind the last byte of a response.
    pub(super) fn closing_after_response(&self) -> Option<Closing> {
        match &self.carrier {
            Carrier::Single => Some(Closing::WhenWritten),
            Carrier::Persistent(persistent) => persistent.is_closed_by_server().then_some(Closing::WhenIdle),
            Carrier::Mux(_) => None,
        }
    }

    pub(super) fn node(&self, end: End) -> u8 {
        match end {
            End::Client => self.from,
            End::Server => self.to,
        }
    }

    /// The MSS that `end` advertises on connections to `host`, in bytes.
    pub(super) fn mss(&self, end: End, host: Option<&Host>) -> u16 {
        match self.settings[end as usize].mss {
            HostOr::Host => host.and_then(|host| host.mss).unwrap_or(self.default_mss),
            HostOr::Size(size) => size.get() as u16,
        }
    }

    /// Payload of the segments in which `end` sends to `host` or as that host, in bytes: a packet of an ns-2 agent, else the MSS.
    pub(super) fn segment_bytes(&self, end: End, host: &Host) -> u64 {
        match &self.profile {
            Profile::Ns2(profile) => profile.packet_size.get(),
            _ => u64::from(self.mss(end, Some(host))),
        }
    }

    /// What an endpoint at `end` for a connection to `host` is made with.
    pub(super) fn config(&self, end: End, host: Option<&Host>) -> tcp::Config {
        let buffer = self.settings[end as usize].buffer.map(|buffer| match buffer {
            HostOr::Host => host.and_then(|host| host.window).unwrap_or(self.default_window),
            HostOr::Size(size) => size.get(),
        });
        tcp::Config {
            profile: self.profile.clone(),
            mss: self.mss(end, host),
            send_buffer: buffer,
            receive_buffer: buffer,
        }
    }
}

impl Carrier {
    /// `is_last`: on the leg that ends at the origin servers.
    fn new(carrier: &scenario::Carrier, is_last: bool) -> Self {
        match *carrier {
            scenario::Carrier::Http11 { idle_timeout, closed_by, per_host, total } => {
                let closed_by = match closed_by {
                    scenario::ClosedBy::Client => End::Client,
                    scenario::ClosedBy::Server => End::Server,
                };
                let limits = Limits { per_host, total };
                Self::Persistent(Persistent::new(limits, idle_timeout, closed_by, is_last))
            }
            scenario::Carrier::Http10 {} | scenario::Carrier::Transfer {} => Self::Single,
            scenario::Carrier::Mux { connections, overhead, assign, ties } => {
                Self::Mux(Mux::new(connections, overhead, assign, ties))
            }
        }
    }
}

impl Hosts {
    pub(super) const fn new(streams: Streams) -> Self {
        Self { streams, nodes: Vec::new(), origins: Vec::new() }
    }

    /// The clock of the host at `node`; each origin server at the last node has one of its own.
    pub(super) fn clock(&mut self, node: u8, last: u8, host: Option<HostId>, profile: &Profile) -> HostClock {
        let (clocks, name, index) = match host {
            Some(host) if node == last => (&mut self.origins, "origin clock", host.index()),
            _ => (&mut self.nodes, "node clock", usize::from(node)),
        };
        if index >= clocks.len() {
            clocks.resize(index + 1, None);
        }
        *clocks[index].get_or_insert_with(|| {
            let mut random = self.streams.stream(name, index as u64);
            profile.host_clock(&mut random)
        })
    }
}
