//! Figures of a leg for one connection: round trip, bandwidth–delay product, window limit.
//!
//! The window limit holds for a loss-free bulk transfer towards the clients: as many whole segments as the window holds, sent
//! once a round trip, an even number where an ACK covers two. Left out: slow start, the time of the ACK on the wire, other traffic.
//!
//! Where a link changes with time, its rate here is the mean over time and its delay the least.

use serde::Serialize;

use crate::net::Direction;
use crate::scenario::{Leg, Link, Scenario, Tcp, Until};
use crate::tcp::segment::{HEADER_BYTES, WINDOW_FIELD_MAX, WINDOW_MAX};
use crate::units::{BitRate, Bytes, Duration};
use crate::workload::{Directory, Host};

/// Limits of one connection: MSS, window, and the rate that they allow.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct WindowLimit {
    /// Largest segment, in bytes with its options.
    pub mss_bytes: u64,
    /// Payload of it: 12 B less with timestamps.
    pub payload_bytes: u64,
    /// The smaller of the send buffer and the receiver's largest window.
    pub window_bytes: u64,
    /// Whole segments in that window, at least one.
    pub window_segments: u64,
    /// Segments of the window that fly in a round trip: an odd one waits for another where an ACK covers two.
    pub in_flight: u64,
    /// Time that a full segment spends in the transmitters of the leg.
    pub segment_ns: u64,
    /// Rate on the wire, headers included, in bit/s. None when a round trip takes no time.
    pub window_limit_bps: Option<f64>,
}

/// Links under one TCP, both directions: of a whole leg, or from an end or split to the next.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stretch<'s> {
    pub(super) links: &'s [Link],
    /// Place of the first one on the path.
    pub(super) first: usize,
    pub(super) until: Until,
    pub(super) tcp: &'s Tcp,
    scenario: &'s Scenario,
}

impl<'s> Stretch<'s> {
    /// The links that `leg` passes.
    pub(super) fn of(leg: &'s Leg, scenario: &'s Scenario) -> Self {
        Self::between([&leg.from, &leg.to], &leg.tcp, scenario)
    }

    /// The stretches of a leg, from the clients to the servers. One where it is not split.
    pub(super) fn all(leg: &'s Leg, scenario: &'s Scenario) -> Vec<Self> {
        let ats = || leg.split.iter().map(|split| &split.at);
        let (from, to) = (std::iter::once(&leg.from).chain(ats()), ats().chain(std::iter::once(&leg.to)));
        let stretches = from.zip(to).zip(leg.stretches());
        stretches.map(|((from, to), tcp)| Self::between([from, to], tcp, scenario)).collect()
    }

    fn between(ends: [&str; 2], tcp: &'s Tcp, scenario: &'s Scenario) -> Self {
        let place = |name: &str| scenario.path.nodes.iter().position(|node| node == name);
        let [first, last] = ends.map(|end| place(end).expect("a checked leg names nodes"));
        Self { links: &scenario.path.link[first..last], first, until: scenario.run.until, tcp, scenario }
    }

    /// Nodes at its ends.
    pub(super) fn ends(&self) -> [&'s str; 2] {
        [self.first, self.first + self.links.len()].map(|node| self.scenario.path.nodes[node].as_str())
    }

    /// True where data in a direction come from another leg.
    pub(super) fn is_passed_on(&self, way: Direction) -> bool {
        let [from, to] = self.ends();
        match way {
            Direction::Up => self.scenario.leg.iter().any(|leg| leg.to == from),
            Direction::Down => self.scenario.leg.iter().any(|leg| leg.from == to),
        }
    }

    /// Propagation there and back, the least over time.
    pub(super) fn round_trip(&self) -> Duration {
        let [up, down] = self.delays();
        up + down
    }

    /// Propagation up and down, the least over time.
    pub(super) fn delays(&self) -> [Duration; 2] {
        [Direction::Up, Direction::Down].map(|way| self.links.iter().map(|link| link.least_delay(way)).sum())
    }

    /// True when a link of it changes with time.
    pub(super) fn changes(&self) -> bool {
        self.links
            .iter()
            .any(|link| [Direction::Up, Direction::Down].iter().any(|way| !link.timeline(*way).is_constant()))
    }

    /// Place on the path and mean rate of the slowest link in a direction. The first one of several.
    pub(super) fn bottleneck(&self, way: Direction) -> Option<(usize, BitRate)> {
        let mean = |link: &Link| Some(link.rates(way, self.until)?.mean);
        let rates = self.links.iter().enumerate().filter_map(|(index, link)| Some((index, mean(link)?)));
        rates.min_by_key(|(_, rate)| *rate).map(|(index, rate)| (self.first + index, rate))
    }

    /// Time that a packet spends in the transmitters of a direction.
    fn serialisation(&self, packet: Bytes, way: Direction) -> Duration {
        let rates = self.links.iter().filter_map(|link| link.rates(way, self.until));
        rates.map(|rates| rates.mean.time_to_send(packet)).sum()
    }
}

impl WindowLimit {
    /// Limit of a connection for a request to `host` on the stretch of a leg that limits it most. `None` stands for a host that no
    /// table names.
    pub(super) fn of(leg: &Leg, scenario: &Scenario, host: Option<&Host>) -> Self {
        let limits = Stretch::all(leg, scenario).into_iter().map(|stretch| Self::on(&stretch, host));
        limits.min_by(|a, b| a.bps().total_cmp(&b.bps())).expect("a leg has a stretch")
    }

    /// Limit of a connection on one stretch.
    pub(super) fn on(stretch: &Stretch<'_>, host: Option<&Host>) -> Self {
        let profile = stretch.tcp.profile();
        let [client, server] = stretch.tcp.sizes(&stretch.scenario.workload);
        let [client_mss, server_mss] = [client, server].map(|end| profile.segment_bytes(end.mss(host)));
        let [client_buffer, server_buffer] = [client, server].map(|end| end.buffer(host));
        // 4.4BSD-Lite `tcp_mss`: the peer's offer lowers the MSS, and so does a smaller send buffer. A smaller receive
        // window has the same effect: a segment that fills it is sent (`tcp_output.c`, `len >= max_sndwnd / 2`).
        let smallest_buffer = server_buffer.into_iter().chain(client_buffer).min().unwrap_or(u64::MAX);
        let mss_bytes = client_mss.min(server_mss).min(smallest_buffer);
        let window_max = if profile.window_scaling() { WINDOW_MAX } else { WINDOW_FIELD_MAX };
        let window = |buffer| profile.window(buffer, mss_bytes);
        let window_bytes = window(server_buffer).min(window(client_buffer)).min(window_max);
        let payload_bytes = profile.payload_bytes(mss_bytes);
        let window_segments = window_bytes / payload_bytes;
        let is_odd = profile.ack_wait().is_some() && window_segments > 1 && window_segments % 2 == 1;
        let window = Self {
            mss_bytes,
            payload_bytes,
            window_bytes,
            window_segments,
            in_flight: window_segments - u64::from(is_odd),
            segment_ns: 0,
            window_limit_bps: None,
        };
        window.towards(stretch, Direction::Down)
    }

    /// Its rate, or infinity where a round trip takes no time.
    fn bps(&self) -> f64 {
        self.window_limit_bps.unwrap_or(f64::INFINITY)
    }

    /// The same window with its limit in a direction.
    pub(super) fn towards(self, stretch: &Stretch<'_>, way: Direction) -> Self {
        let packet = packet_of(self.mss_bytes);
        let segment = stretch.serialisation(packet, way);
        let cycle = (stretch.round_trip() + segment).as_secs_f64();
        let window_limit_bps = (cycle > 0.0).then(|| (self.in_flight * packet.get() * 8) as f64 / cycle);
        Self { segment_ns: segment.as_nanos(), window_limit_bps, ..self }
    }

    /// Size of a packet with a full segment, in bytes.
    pub(super) const fn packet_bytes(&self) -> u64 {
        packet_of(self.mss_bytes).get()
    }
}

/// A packet with a full segment.
const fn packet_of(mss: u64) -> Bytes {
    Bytes::new(mss + HEADER_BYTES as u64)
}

/// True for MSS and for buffer if the host table's value matters to `leg`.
pub(super) fn asks_host(leg: &Leg, scenario: &Scenario) -> (bool, bool) {
    let ends = leg.stretches().flat_map(|tcp| tcp.sizes(&scenario.workload));
    ends.map(|end| end.asks_host()).fold((false, false), |all, own| (all.0 || own.0, all.1 || own.1))
}

/// Window limits of a leg over the hosts of a table, in bit/s.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HostLimits {
    /// Hosts in the table.
    pub hosts: usize,
    /// Smallest limit.
    pub window_limit_bps_min: f64,
    /// Limit of the host in the middle. The lower one of two.
    pub window_limit_bps_median: f64,
    /// Largest limit.
    pub window_limit_bps_max: f64,
}

/// The connection that the report describes, and the spread over hosts when the host table matters.
///
/// With a host table the connection goes to the host with the median limit, otherwise to a host without values.
pub(super) fn limits(
    leg: &Leg,
    scenario: &Scenario,
    hosts: Option<&Directory>,
) -> (WindowLimit, Option<HostLimits>) {
    let of_default = || WindowLimit::of(leg, scenario, None);
    let (Some(hosts), true) = (hosts, asks_host(leg, scenario) != (false, false)) else {
        return (of_default(), None);
    };
    let mut limits: Vec<WindowLimit> =
        hosts.hosts().iter().map(|(_, host)| WindowLimit::of(leg, scenario, Some(host))).collect();
    limits.sort_by(|a, b| a.bps().total_cmp(&b.bps()));
    let (Some(least), Some(most)) = (limits.first(), limits.last()) else { return (of_default(), None) };
    let median = limits[(limits.len() - 1) / 2];
    if median.window_limit_bps.is_none() {
        return (median, None); // A round trip takes no time, whatever the host.
    }
    let spread = HostLimits {
        hosts: limits.len(),
        window_limit_bps_min: least.bps(),
        window_limit_bps_median: median.bps(),
        window_limit_bps_max: most.bps(),
    };
    (median, Some(spread))
}
