//! Links that have a rate, one direction each, and the bytes that a demand sends over them.

use std::ops::{Add, Sub};

use serde::Serialize;

use super::demand::{Demand, Volume};
use super::packets::Segments;
use crate::explain::{LegReport, Report};
use crate::net::Direction;
use crate::scenario::{Cache, Leg, Scenario};

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
    /// Rate of the leg's slowest link in the other direction, which its ACKs are for, in bit/s. None where that is unlimited.
    pub(super) other_bps: Option<f64>,
    /// Bytes of packets that open and close a connection, in this direction.
    opening: f64,
    /// Share of the requests that no drawn hit answers, among those that a copy may serve.
    factor: f64,
    /// Other caches nearer to the clients take an unknown part off.
    pub(super) at_most: bool,
    /// All of these are live, and empty at the beginning.
    is_live: bool,
    has_requests: bool,
}

/// Bytes in one direction.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Sent {
    /// Messages, and packets that open and close connections.
    pub(super) own: f64,
    /// ACKs of what comes in the other direction.
    pub(super) acks: f64,
    /// What comes there and has these ACKs.
    pub(super) other: f64,
}

impl Sent {
    /// So many times as much.
    pub(super) fn times(self, factor: f64) -> Self {
        let Self { own, acks, other } = self;
        Self { own: own * factor, acks: acks * factor, other: other * factor }
    }
}

impl Add for Sent {
    type Output = Self;

    fn add(self, more: Self) -> Self {
        Self { own: self.own + more.own, acks: self.acks + more.acks, other: self.other + more.other }
    }
}

impl Sub for Sent {
    type Output = Self;

    fn sub(self, less: Self) -> Self {
        self + less.times(-1.0)
    }
}

/// Rules for the packets of each leg.
pub(super) fn segments_of_legs(scenario: &Scenario, report: &Report) -> Vec<Segments> {
    let of = |(leg, described): (&LegReport, &Leg)| {
        Segments::of(scenario, leg, described, leg.index + 1 == report.legs.len())
    };
    report.legs.iter().zip(&scenario.leg).map(of).collect()
}

/// The directions of links with a rate, leg by leg.
pub(super) fn rated_links(scenario: &Scenario, report: &Report) -> Vec<RatedLink> {
    let mut found = Vec::new();
    for (leg, segments) in report.legs.iter().zip(segments_of_legs(scenario, report)) {
        for index in report.links_of(leg) {
            let before: Vec<&Cache> =
                scenario.cache.iter().filter(|cache| report.place(&cache.node) <= index).collect();
            let drawn = || before.iter().filter_map(|cache| cache.hit_ratio);
            for (way, direction) in
                [(Way::Up, &report.links[index].up), (Way::Down, &report.links[index].down)]
            {
                let Some(rate) = direction.rate_bps_mean else { continue };
                found.push(RatedLink {
                    index,
                    way,
                    rate_bps: rate as f64,
                    is_mean: direction.varies,
                    changes: !direction.changes.is_empty(),
                    segments,
                    other_bps: match way {
                        Way::Up => leg.bottleneck_down_bps,
                        Way::Down => leg.bottleneck_up_bps,
                    }
                    .map(|bps| bps as f64),
                    opening: segments.opening_bytes(way) as f64,
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

/// Requests whose bytes are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    /// All, with what drawn hits take off.
    All,
    /// Requests that no copy may serve.
    Always,
    /// Requests that no cache answers, however large: the same, and the first ones for objects.
    Missed,
}

impl RatedLink {
    /// What each slot of `demand` sends at a rate of requests.
    pub(super) fn sent(&self, which: Which, demand: &Demand, rate: f64) -> Vec<Sent> {
        let segments = self.segments;
        let none = || vec![Sent::default(); demand.len()];
        let at_rate = |volume: &Volume| self.of(volume).times(volume.expected(rate));
        match which {
            Which::All => self.behind_draws(demand, demand.all(segments), rate),
            Which::Always => demand.uncacheable(segments).map_or_else(none, |all| all.map(at_rate).collect()),
            Which::Missed => match demand.missed(segments).filter(|_| self.is_live) {
                Some(volumes) => self.behind_draws(demand, volumes, rate),
                None => none(),
            },
        }
    }

    /// Bytes of the whole `demand`, once. Behind a live cache the part that it cannot answer.
    pub(super) fn total(&self, demand: &Demand) -> f64 {
        let which = if self.at_most { Which::Missed } else { Which::All };
        self.sent(which, demand, 1.0).iter().map(|sent| sent.own + sent.acks).sum()
    }

    fn behind_draws<'a>(
        &self,
        demand: &Demand,
        volumes: impl Iterator<Item = &'a Volume>,
        rate: f64,
    ) -> Vec<Sent> {
        let whole = volumes.map(|volume| self.of(volume).times(volume.expected(rate)));
        if self.factor == 1.0 {
            return whole.collect();
        }
        let always = self.sent(Which::Always, demand, rate);
        let drawn = |(whole, always): (Sent, Sent)| always + (whole - always).times(self.factor);
        whole.zip(always).map(drawn).collect()
    }

    fn of(&self, volume: &Volume) -> Sent {
        let opening = volume.opens * self.opening;
        let Volume { responses, request_messages, acks_of_responses, acks_of_requests, .. } = *volume;
        match (self.has_requests, self.way) {
            (false, Way::Down) => Sent { own: responses, acks: 0.0, other: 0.0 },
            (false, Way::Up) => Sent { own: 0.0, acks: acks_of_responses, other: responses },
            (true, Way::Down) => {
                Sent { own: responses + opening, acks: acks_of_requests, other: request_messages }
            }
            (true, Way::Up) => {
                Sent { own: request_messages + opening, acks: acks_of_responses, other: responses }
            }
        }
    }
}
