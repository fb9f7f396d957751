//! Demand: the requests of a workload by the second, in one pass, for everything that looks at them before a run.
//!
//! Bytes count in the second of their request's start, a tunnel's over its recorded life, with headers and timestamps a segment:
//! messages, their ACKs, and the packets that open and close connections ([`super::packets`]).

use std::ops::{AddAssign, Neg};

use super::laid::expected;
use super::packets::{Packets, Segments};
use super::pass::Pass;
use super::ports::Opens;
use super::rated::segments_of_legs;
use crate::explain::Report;
use crate::scenario::{Scenario, Until};
use crate::units::{Duration, Instant};
use crate::workload::{Directory, Prepared, Request, RequestSource, WorkloadError};

/// Facts about a request table that its import kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Imported {
    /// Time of second 0 on the clock of the log. None without a log.
    pub origin_unix_s: Option<f64>,
    /// False where what the table calls tunnels began as other requests.
    pub has_tunnels: bool,
}

impl Default for Imported {
    fn default() -> Self {
        Self { origin_unix_s: None, has_tunnels: true }
    }
}

/// Bytes of some requests on links with one kind of segments, and their number. Whole but for tunnels, which last.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Volume {
    /// Connections that are opened.
    pub(super) opens: f64,
    /// Responses, with headers.
    pub(super) responses: f64,
    /// Requests, with headers.
    pub(super) request_messages: f64,
    pub(super) acks_of_responses: f64,
    pub(super) acks_of_requests: f64,
    /// The part of `responses` in requests tagged `sample`.
    pub(super) sampled: f64,
}

impl Volume {
    /// A request and its response, of so many packets.
    pub(super) fn of(request: &Request, segments: Segments, packets: Packets, is_sample: bool) -> Self {
        let header = segments.header as f64;
        let responses = request.response_bytes as f64 + header * packets.down;
        Self {
            opens: packets.opens,
            responses,
            request_messages: request.request_bytes as f64 + header * packets.up,
            acks_of_responses: header * packets.acks_up,
            acks_of_requests: header * packets.acks_down,
            sampled: if is_sample { responses } else { 0.0 },
        }
    }

    /// How often its requests occur on average at a rate. The share of samples is that of their responses.
    pub(super) fn expected(&self, rate: f64) -> f64 {
        let sampled = if self.responses > 0.0 { self.sampled / self.responses } else { 0.0 };
        expected(rate, sampled)
    }

    pub(super) fn map(self, each: impl Fn(f64) -> f64) -> Self {
        Self {
            opens: each(self.opens),
            responses: each(self.responses),
            request_messages: each(self.request_messages),
            acks_of_responses: each(self.acks_of_responses),
            acks_of_requests: each(self.acks_of_requests),
            sampled: each(self.sampled),
        }
    }
}

impl AddAssign for Volume {
    fn add_assign(&mut self, other: Self) {
        self.opens += other.opens;
        self.responses += other.responses;
        self.request_messages += other.request_messages;
        self.acks_of_responses += other.acks_of_responses;
        self.acks_of_requests += other.acks_of_requests;
        self.sampled += other.sampled;
    }
}

impl AddAssign for Starts {
    fn add_assign(&mut self, other: Self) {
        self.at_once += other.at_once;
        self.later += other.later;
        self.sampled += other.sampled;
    }
}

impl Neg for Volume {
    type Output = Self;

    fn neg(self) -> Self {
        self.map(Neg::neg)
    }
}

/// Some requests of a day and a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Slot {
    /// Place of the day, from 0.
    pub(super) day: u32,
    /// Since the start of the table.
    pub(super) second: u64,
}

/// Requests that start in a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Starts {
    /// With the second, as all do in a log that keeps whole ones.
    pub(super) at_once: u64,
    /// Later in it.
    pub(super) later: u64,
    /// Requests tagged `sample` among them.
    pub(super) sampled: u64,
}

/// Things that a pass looks at, besides the bytes of all requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Scope {
    /// Of the legs, in order.
    pub(super) segments: Vec<Segments>,
    has_caches: bool,
    /// Caches hold objects of a table.
    pub(super) has_live: bool,
    /// Source ports are a limit.
    pub(super) has_ports: bool,
}

impl Scope {
    fn of(scenario: &Scenario, report: &Report) -> Self {
        let mut segments = segments_of_legs(scenario, report);
        segments.sort_unstable();
        segments.dedup();
        let is_live = scenario.cache.iter().any(|cache| cache.policy.is_some());
        Self {
            segments,
            has_caches: !scenario.cache.is_empty(),
            has_live: is_live && scenario.workload.requests.is_some(),
            has_ports: report.legs.iter().any(|leg| leg.opens_per_s_max.is_some()),
        }
    }

    fn covers(&self, other: &Self) -> bool {
        other.segments.iter().all(|each| self.segments.contains(each))
            && self.has_caches >= other.has_caches
            && self.has_live >= other.has_live
            && self.has_ports >= other.has_ports
    }

    /// Kinds of requests apart: all, those that no copy may serve, and those that a cache without limit misses.
    pub(super) const fn kinds(&self) -> usize {
        1 + self.has_caches as usize + self.has_live as usize
    }
}

/// A workload by the second: where there is something, what.
#[derive(Debug)]
pub(super) struct Demand {
    pub(super) scope: Scope,
    /// Days and seconds with requests. A pair may come twice.
    pub(super) slots: Vec<Slot>,
    /// Requests by slot. None in a second that only tunnels last through.
    pub(super) starts: Vec<Starts>,
    /// Of each slot, by kind of requests and of segments.
    pub(super) volumes: Vec<Volume>,
    /// Packets of all requests, by kind of segments.
    pub(super) packets: Vec<Packets>,
    /// Requests, at least 1.
    pub(super) requests: u64,
    pub(super) response_bytes: u64,
    pub(super) request_bytes: u64,
    /// The first request without a byte to send.
    pub(super) empty: Option<Request>,
    /// Bytes of responses to requests tagged `sample`.
    pub(super) sampled_bytes: u64,
    /// Start of the first request, in s.
    pub(super) first_s: f64,
    /// Start of the last one, in s.
    pub(super) last_s: f64,
    /// End of the last tunnel, in s, at least `last_s`.
    pub(super) ends_s: f64,
    /// Days, at least 1.
    pub(super) days: u64,
    /// Requests for objects that change size. 0 without a live cache.
    pub(super) of_several_sizes: u64,
    /// Requests for objects that no copy may serve. 0 without a live cache.
    pub(super) bypassing: u64,
    /// Clients that ask.
    pub(super) clients: u64,
    /// Requests that name no client.
    pub(super) without_client: u64,
    /// Connections of the busiest minute, where source ports are a limit.
    pub(super) opens: Option<Opens>,
    /// Requests with CONNECT.
    pub(super) tunnels: u64,
    /// Bytes of their responses.
    pub(super) tunnel_bytes: u64,
    /// Others that are under TLS by the table.
    pub(super) secure: u64,
    /// Others in the clear by the table.
    pub(super) clear: u64,
    pub(super) imported: Imported,
}

impl Demand {
    /// Reads a workload for `scenario`. `prepared` has its requests. None when there are none.
    ///
    /// # Errors
    /// When the request table cannot be read.
    pub(super) fn read(
        scenario: &Scenario,
        report: &Report,
        prepared: &Prepared,
        imported: Imported,
    ) -> Result<Option<Self>, WorkloadError> {
        let mut requests = prepared.all()?;
        let mut directory = Directory::default();
        let mut pass = Pass::new(Scope::of(scenario, report));
        while let Some(request) = requests.next_request(&mut directory)? {
            pass.add(&request, &directory);
        }
        Ok(pass.end(imported, &directory))
    }

    /// Checks that a run of `scenario` takes its requests.
    ///
    /// # Errors
    /// When one starts behind the period, or has no byte to send on a leg with requests.
    pub(super) fn require_fit(&self, scenario: &Scenario, report: &Report) -> Result<(), WorkloadError> {
        let laid = |at_s: f64| Duration::from_nanos((at_s * 1e9 / report.workload.speed).round() as u64);
        scenario.workload.load().require_in_period(laid(self.last_s))?;
        let is_asked = report.legs[0].connection_use.requests;
        let Some(empty) = self.empty.filter(|_| is_asked) else { return Ok(()) };
        let start = Instant::ZERO + laid((empty.start - Instant::ZERO).to_secs_f64());
        match scenario.run.until {
            Until::Time(until) if start > Instant::ZERO + until => Ok(()),
            _ => Request { start, ..empty }.require_bytes(),
        }
    }

    /// True when it has all that a scenario asks of its requests.
    pub(super) fn covers(&self, scenario: &Scenario, report: &Report) -> bool {
        self.scope.covers(&Scope::of(scenario, report))
    }

    /// Number of slots.
    pub(super) const fn len(&self) -> usize {
        self.slots.len()
    }

    /// Volumes of all requests in such segments, by slot.
    pub(super) fn all(&self, segments: Segments) -> impl Iterator<Item = &Volume> {
        self.kind(0, segments)
    }

    /// The same of requests that no copy may serve. None without a cache.
    pub(super) fn uncacheable(&self, segments: Segments) -> Option<impl Iterator<Item = &Volume>> {
        self.scope.has_caches.then(|| self.kind(1, segments))
    }

    /// The same of these and of first requests for objects. None without a live cache.
    pub(super) fn missed(&self, segments: Segments) -> Option<impl Iterator<Item = &Volume>> {
        self.scope.has_live.then(|| self.kind(2, segments))
    }

    /// Packets of all requests in such segments.
    pub(super) fn packets(&self, segments: Segments) -> Packets {
        self.packets[self.place(segments)]
    }

    /// Bytes of responses by slot, in the smallest segments.
    pub(super) fn responses(&self) -> Vec<f64> {
        self.all(self.scope.segments[0]).map(|volume| volume.responses).collect()
    }

    fn place(&self, segments: Segments) -> usize {
        let known = self.scope.segments.iter().position(|each| *each == segments);
        known.expect("a demand covers its legs")
    }

    fn kind(&self, kind: usize, segments: Segments) -> impl Iterator<Item = &Volume> {
        let place = self.place(segments);
        let (each, slots) = (self.scope.segments.len(), self.slots.len());
        self.volumes.iter().skip(kind * each + place).step_by(each * self.scope.kinds()).take(slots)
    }

    /// Share of response bytes in requests tagged `sample`.
    pub(super) fn sampled(&self) -> f64 {
        if self.response_bytes == 0 { 0.0 } else { self.sampled_bytes as f64 / self.response_bytes as f64 }
    }

    /// Requests that opened a tunnel.
    pub(super) const fn opened_tunnels(&self) -> u64 {
        if self.imported.has_tunnels { self.tunnels } else { 0 }
    }

    /// Requests that are no tunnels and of which the table does not say whether they are under TLS.
    pub(super) const fn of_unknown_scheme(&self) -> u64 {
        self.requests - self.tunnels - self.secure - self.clear
    }
}
