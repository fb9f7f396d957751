//! Legs: where their ends are, how their transport is set, and the clocks of the hosts there.

use crate::id::Id;
use crate::rng::Streams;
use crate::scenario::{self, HostOr, Scenario, TcpEnd};
use crate::tcp::{self, HostClock, Profile};
use crate::workload::{Host, HostId};

use super::connections::End;

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
        }
    }

    pub(super) fn node(&self, end: End) -> u8 {
        match end {
            End::Client => self.from,
            End::Server => self.to,
        }
    }

    /// The MSS that `end` advertises on connections to `host`, in bytes.
    pub(super) fn mss(&self, end: End, host: &Host) -> u16 {
        match self.settings[end as usize].mss {
            HostOr::Host => host.mss.unwrap_or(self.default_mss),
            HostOr::Size(size) => size.get() as u16,
        }
    }

    /// What an endpoint at `end` for a connection to `host` is made with.
    pub(super) fn config(&self, end: End, host: &Host) -> tcp::Config {
        let buffer = self.settings[end as usize].buffer.map(|buffer| match buffer {
            HostOr::Host => host.window.unwrap_or(self.default_window),
            HostOr::Size(size) => size.get(),
        });
        tcp::Config {
            profile: self.profile,
            mss: self.mss(end, host),
            send_buffer: buffer,
            receive_buffer: buffer,
        }
    }
}

impl Hosts {
    pub(super) const fn new(streams: Streams) -> Self {
        Self { streams, nodes: Vec::new(), origins: Vec::new() }
    }

    /// The clock of the host at `node`; each origin server at the last node has one of its own.
    pub(super) fn clock(&mut self, node: u8, last: u8, host: HostId, profile: &Profile) -> HostClock {
        let (clocks, name, index) = if node == last {
            (&mut self.origins, "origin clock", host.index())
        } else {
            (&mut self.nodes, "node clock", usize::from(node))
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
