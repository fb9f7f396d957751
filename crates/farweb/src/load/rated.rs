//! Links that have a rate, one direction each, and the bytes that a demand sends over them.

use serde::Serialize;

use super::demand::{Demand, Volume};
use super::laid::expected;
use crate::explain::{LegReport, Report};
use crate::net::Direction;
use crate::scenario::{Cache, Scenario};
use crate::tcp::segment::HEADER_BYTES;

/// Segments of a leg.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Segments {
    /// Payload of a full one, in bytes, at least 1.
    pub(super) payload: u64,
    /// Header of each with its options, in bytes.
    pub(super) header: u64,
    /// Segments of a message that are acknowledged one by one, before every second one is. Few on a connection that stays.
    pub(super) quick_acks: u64,
}

impl Segments {
    fn of(leg: &LegReport) -> Self {
        let payload = leg.limit.payload_bytes;
        Self {
            payload,
            header: u64::from(HEADER_BYTES) + leg.limit.mss_bytes - payload,
            quick_acks: if leg.connection_use.is_alone() { u64::from(leg.quick_acks) } else { 0 },
        }
    }

    /// Bytes of a connection's own packets: SYN, FIN and a bare ACK, and the `flight` of a TLS handshake.
    fn opening(self, flight: u64) -> u64 {
        flight + self.header * (3 + flight.div_ceil(self.payload))
    }
}

/// Direction of a link, as its key has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// Towards the servers.
    Up,
    /// Towards the clients.
    Down,
}

impl From<Way> for Direction {
    fn from(way: Way) -> Self {
        match way {
            Way::Up => Self::Up,
            Way::Down => Self::Down,
        }
    }
}

/// One direction of a link that has a rate, with all that decides about its load.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RatedLink {
    /// Place on the path, from 0.
    pub(super) index: usize,
    pub(super) way: Way,
    /// Mean over time, in bit/s.
    pub(super) rate_bps: f64,
    /// The rate changes with time.
    pub(super) is_mean: bool,
    /// Something changes with time.
    pub(super) changes: bool,
    /// Of the leg.
    pub(super) segments: Segments,
    /// Bytes of packets that open and close the connection of a request, in this direction. 0 on connections that stay.
    opening: f64,
    /// Share of the requests that no drawn hit answers, among those that a copy may serve.
    factor: f64,
    /// Other caches nearer to the clients take an unknown part off.
    pub(super) at_most: bool,
    /// All of these are live, and empty at the beginning.
    is_live: bool,
    has_requests: bool,
}

/// The directions of links with a rate, leg by leg.
pub(super) fn rated_links(scenario: &Scenario, report: &Report) -> Vec<RatedLink> {
    let mut found = Vec::new();
    for leg in &report.legs {
        let segments = Segments::of(leg);
        let opens = leg.connection_use.requests && leg.connection_use.is_alone();
        let flights = leg.handshakes.last();
        for index in report.links_of(leg) {
            let before: Vec<&Cache> =
                scenario.cache.iter().filter(|cache| report.place(&cache.node) <= index).collect();
            let drawn = || before.iter().filter_map(|cache| cache.hit_ratio);
            for (way, direction, flight) in [
                (Way::Up, &report.links[index].up, flights.map(|flights| &flights.up)),
                (Way::Down, &report.links[index].down, flights.map(|flights| &flights.down)),
            ] {
                let Some(rate) = direction.rate_bps_mean else { continue };
                let opening = segments.opening(flight.map_or(0, |flight| flight.bytes));
                found.push(RatedLink {
                    index,
                    way,
                    rate_bps: rate as f64,
                    is_mean: direction.varies,
                    changes: !direction.changes.is_empty(),
                    segments,
                    opening: if opens { opening as f64 } else { 0.0 },
                    factor: 1.0 - drawn().sum::<f64>(),
                    at_most: drawn().count() < before.len(),
                    is_live: before.iter().all(|cache| cache.policy.is_some() || cache.hit_ratio.is_some()),
                    has_requests: leg.connection_use.requests,
                });
            }
        }
    }
    found
}

impl RatedLink {
    /// Bytes that each slot of `demand` sends over it at a rate of requests, with what drawn hits take off.
    pub(super) fn sent(&self, demand: &Demand, rate: f64) -> Vec<f64> {
        self.behind_draws(demand, demand.all(self.segments), rate)
    }

    /// The part that no copy may serve.
    pub(super) fn always(&self, demand: &Demand, rate: f64) -> Vec<f64> {
        match demand.uncacheable(self.segments) {
            Some(volumes) => volumes.map(|volume| self.bytes_at(volume, rate)).collect(),
            None => vec![0.0; demand.len()],
        }
    }

    /// The part that no cache answers, however large: the same, and first requests for objects.
    pub(super) fn missed(&self, demand: &Demand, rate: f64) -> Vec<f64> {
        match demand.missed(self.segments).filter(|_| self.is_live) {
            Some(volumes) => self.behind_draws(demand, volumes, rate),
            None => vec![0.0; demand.len()],
        }
    }

    /// Bytes of the whole `demand`, once. Behind a live cache the part that it cannot answer.
    pub(super) fn total(&self, demand: &Demand) -> f64 {
        let each = if self.at_most { self.missed(demand, 1.0) } else { self.sent(demand, 1.0) };
        each.iter().sum()
    }

    fn behind_draws<'a>(
        &self,
        demand: &Demand,
        volumes: impl Iterator<Item = &'a Volume>,
        rate: f64,
    ) -> Vec<f64> {
        let whole = volumes.map(|volume| self.bytes_at(volume, rate));
        if self.factor == 1.0 {
            return whole.collect();
        }
        let always = self.always(demand, rate);
        whole.zip(always).map(|(whole, always)| always + (whole - always) * self.factor).collect()
    }

    /// Bytes on average, with requests tagged `sample` once at least. Their share is that of the responses.
    fn bytes_at(&self, volume: &Volume, rate: f64) -> f64 {
        let sampled = if volume.responses > 0.0 { volume.sampled / volume.responses } else { 0.0 };
        self.bytes(volume) * expected(rate, sampled)
    }

    fn bytes(&self, volume: &Volume) -> f64 {
        match (self.has_requests, self.way) {
            (false, Way::Down) => volume.responses,
            (false, Way::Up) => volume.acks_of_responses,
            (true, Way::Down) => volume.responses + volume.acks_of_requests + volume.requests * self.opening,
            (true, Way::Up) => {
                volume.request_messages + volume.acks_of_responses + volume.requests * self.opening
            }
        }
    }
}
