//! The clocks of the hosts at the ends of connections, and the random numbers of endpoints there.
//!
//! Models that all connections of a host share its timer ticks: nodes of the path have a clock each, and so has every origin
//! server behind the last node. Leaves out clocks that drift.
//!
//! Source: 4.4BSD-Lite `sys/kern/uipc_domain.c` (one slow and one fast timer a host); Linux 6.18 `kernel/time/timer.c`.

use crate::id::Id;
use crate::rng::{RandomStream, RandomStreams};
use crate::tcp::{HostClock, Profile, Random};
use crate::units::Duration;
use crate::workload::HostId;

use super::Place;

/// The clocks that have been asked for. Each is drawn from a random stream of its own.
pub(crate) struct Hosts {
    streams: RandomStreams,
    last_node: u8,
    nodes: Vec<Option<HostClock>>,
    origins: Vec<Option<HostClock>>,
}

impl Hosts {
    pub(crate) const fn new(streams: RandomStreams, last_node: u8) -> Self {
        Self { streams, last_node, nodes: Vec::new(), origins: Vec::new() }
    }

    /// The clock of the host at `node`. Each origin server at the last node has one of its own.
    #[inline]
    pub(crate) fn clock(&mut self, node: u8, host: Option<HostId>, profile: &Profile) -> HostClock {
        let (clocks, name, index) = match host {
            Some(host) if node == self.last_node => (&mut self.origins, "origin clock", host.index()),
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

    /// Random numbers of the endpoint at a place of connection `number`.
    #[inline]
    pub(crate) const fn random(&self, number: u64, place: Place) -> Random {
        Random { streams: self.streams, index: number << 8 | place.index() }
    }

    /// Phase within `tick`, and further random numbers, of the agent of ns-2 that is made for request `number`.
    pub(crate) fn agent(&self, number: u64, tick: Duration) -> (Duration, RandomStream) {
        let mut random = self.streams.stream("ns-2 agent", number);
        (random.duration_between(Duration::ZERO, tick), random)
    }
}
