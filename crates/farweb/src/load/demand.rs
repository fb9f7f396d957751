//! Demand: the requests of a workload by the second, in one pass, for everything that looks at them before a run.
//!
//! Bytes count in the second of their request's start, those of a tunnel over its recorded life, with headers and timestamps a
//! segment: messages, their ACKs, and the opening and closing of connections where each request has its own. ACKs by a timer and
//! options of SYNs are left out.

use std::collections::BTreeMap;
use std::ops::{AddAssign, Neg};

use rustc_hash::{FxHashMap, FxHashSet};

use super::ports::Opens;
use super::rated::{Segments, rated_links};
use crate::cache::Survey;
use crate::explain::Report;
use crate::scenario::Scenario;
use crate::units::{Duration, Instant};
use crate::workload::{Directory, Method, Prepared, Request, RequestSource, WorkloadError};

/// The tag of requests with recorded connections under `packets = "sample"`.
const SAMPLE: &str = "sample";

/// Longest life of a tunnel that counts in one second, in s.
const SHORT_S: f64 = 1.0;

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
    pub(super) requests: f64,
    /// Responses, with headers.
    pub(super) responses: f64,
    /// Requests, with headers.
    pub(super) request_messages: f64,
    pub(super) acks_of_responses: f64,
    pub(super) acks_of_requests: f64,
}

impl Volume {
    /// A request and its response, which acknowledges the last segment of the request.
    fn of(request: &Request, segments: Segments) -> Self {
        let Segments { payload, header, quick_acks } = segments;
        let (down, up) = (request.response_bytes.div_ceil(payload), request.request_bytes.div_ceil(payload));
        let (quick, quick_up) = (down.min(quick_acks), up.min(quick_acks));
        Self {
            requests: 1.0,
            responses: (request.response_bytes + header * down) as f64,
            request_messages: (request.request_bytes + header * up) as f64,
            acks_of_responses: (header * (quick + (down - quick).div_ceil(2))) as f64,
            acks_of_requests: (header * (quick_up + (up - quick_up) / 2)) as f64,
        }
    }

    fn map(self, each: impl Fn(f64) -> f64) -> Self {
        Self {
            requests: each(self.requests),
            responses: each(self.responses),
            request_messages: each(self.request_messages),
            acks_of_responses: each(self.acks_of_responses),
            acks_of_requests: each(self.acks_of_requests),
        }
    }
}

impl AddAssign for Volume {
    fn add_assign(&mut self, other: Self) {
        self.requests += other.requests;
        self.responses += other.responses;
        self.request_messages += other.request_messages;
        self.acks_of_responses += other.acks_of_responses;
        self.acks_of_requests += other.acks_of_requests;
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

/// Things that a pass looks at, besides the bytes of all requests.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Scope {
    /// Of the legs with a rate, in order.
    segments: Vec<Segments>,
    has_caches: bool,
    /// Caches hold objects of a table.
    has_live: bool,
    /// Source ports are a limit.
    has_ports: bool,
}

impl Scope {
    fn of(scenario: &Scenario, report: &Report) -> Self {
        let mut segments: Vec<_> =
            rated_links(scenario, report).into_iter().map(|link| link.segments).collect();
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
    const fn kinds(&self) -> usize {
        1 + self.has_caches as usize + self.has_live as usize
    }
}

/// A workload by the second: where there is something, what.
#[derive(Debug)]
pub(super) struct Demand {
    scope: Scope,
    /// Days and seconds with requests. A pair may come twice.
    pub(super) slots: Vec<Slot>,
    /// Of each slot, by kind of requests and of segments.
    volumes: Vec<Volume>,
    /// Requests, at least 1.
    pub(super) requests: u64,
    pub(super) response_bytes: u64,
    pub(super) request_bytes: u64,
    /// Bytes of responses to requests tagged `sample`.
    sampled_bytes: u64,
    /// Start of the first request, in s.
    pub(super) first_s: f64,
    /// Start of the last one, in s.
    pub(super) last_s: f64,
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
    /// Reads a workload for `scenario`. `known` is another's, which stays where it has all that is needed, and `prepared` its
    /// requests. None when there are none.
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

    /// Bytes of responses by slot, in the smallest segments.
    pub(super) fn responses(&self) -> Vec<f64> {
        self.all(self.scope.segments[0]).map(|volume| volume.responses).collect()
    }

    fn kind(&self, kind: usize, segments: Segments) -> impl Iterator<Item = &Volume> {
        let known = self.scope.segments.iter().position(|each| *each == segments);
        let place = known.expect("a demand covers its links");
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

/// A demand while requests are read.
struct Pass {
    found: Demand,
    /// The second that requests of several days are in, and the slot of each day in it.
    second: u64,
    open: FxHashMap<u32, usize>,
    lives: Vec<Life>,
    survey: Survey,
    clients: FxHashSet<u64>,
    days: BTreeMap<u32, u32>,
}

/// Change of the bytes a second where the life of a tunnel begins, or behind its end.
struct Life {
    slot: Slot,
    changes: Vec<Volume>,
}

impl Pass {
    fn new(scope: Scope) -> Self {
        let found = Demand {
            slots: Vec::new(),
            volumes: Vec::new(),
            requests: 0,
            response_bytes: 0,
            request_bytes: 0,
            sampled_bytes: 0,
            first_s: f64::INFINITY,
            last_s: 0.0,
            days: 0,
            of_several_sizes: 0,
            bypassing: 0,
            clients: 0,
            without_client: 0,
            opens: scope.has_ports.then(Opens::default),
            tunnels: 0,
            tunnel_bytes: 0,
            secure: 0,
            clear: 0,
            imported: Imported::default(),
            scope,
        };
        Self {
            found,
            second: 0,
            open: FxHashMap::default(),
            lives: Vec::new(),
            survey: Survey::default(),
            clients: FxHashSet::default(),
            days: BTreeMap::new(),
        }
    }

    fn add(&mut self, request: &Request, directory: &Directory) {
        let start_s = (request.start - Instant::ZERO).to_secs_f64();
        let slot = Slot { day: request.day.unwrap_or(0), second: start_s as u64 };
        let found = &mut self.found;
        found.requests += 1;
        found.response_bytes += request.response_bytes;
        found.request_bytes += request.request_bytes;
        found.first_s = found.first_s.min(start_s);
        found.last_s = found.last_s.max(start_s);
        let is_sample = request.tag.is_some_and(|tag| &*directory.tags.words()[tag] == SAMPLE);
        found.sampled_bytes += if is_sample { request.response_bytes } else { 0 };
        let is_tunnel = request.method == Method::Connect;
        if is_tunnel {
            found.tunnels += 1;
            found.tunnel_bytes += request.response_bytes;
        } else {
            found.secure += u64::from(request.tls == Some(true));
            found.clear += u64::from(request.is_clear());
        }
        match request.client {
            Some(client) => drop(self.clients.insert(client.get())),
            None => found.without_client += 1,
        }
        if let Some(opens) = &mut found.opens {
            opens.add(request.host, slot, directory);
        }
        self.days.insert(slot.day, 0);
        let volumes = self.volumes(request);
        let life_s = request.server.whole().filter(|_| is_tunnel).map_or(0.0, Duration::to_secs_f64);
        if life_s > SHORT_S {
            self.last(slot, (start_s + life_s) as u64 + 1, &volumes);
        } else {
            self.count(slot, volumes);
        }
    }

    /// Volumes of a request, by kind of requests and of segments.
    fn volumes(&mut self, request: &Request) -> Vec<Volume> {
        let scope = &self.found.scope;
        let is_served = match request.object.filter(|_| scope.has_live) {
            Some(object) => self.survey.request(object, request.response_bytes, request.caching),
            None => false,
        };
        let counts = [true, !request.caching.may_be_served(), !is_served];
        let of_kind = |counts: bool| {
            let each = move |segments: &Segments| {
                if counts { Volume::of(request, *segments) } else { Volume::default() }
            };
            scope.segments.iter().map(each)
        };
        counts.into_iter().take(scope.kinds()).flat_map(of_kind).collect()
    }

    fn count(&mut self, slot: Slot, volumes: Vec<Volume>) {
        if slot.second != self.second {
            self.second = slot.second;
            self.open.clear();
        }
        let found = &mut self.found;
        let place = *self.open.entry(slot.day).or_insert(found.slots.len());
        if place == found.slots.len() {
            found.slots.push(slot);
            found.volumes.extend(volumes);
            return;
        }
        let from = place * volumes.len();
        found.volumes[from..].iter_mut().zip(volumes).for_each(|(sum, each)| *sum += each);
    }

    /// Spreads the bytes of a tunnel over the seconds before `end`.
    fn last(&mut self, slot: Slot, end: u64, volumes: &[Volume]) {
        let lasts_s = (end - slot.second) as f64;
        let each: Vec<_> = volumes.iter().map(|volume| volume.map(|sum| sum / lasts_s)).collect();
        let ends = each.iter().map(|volume| -*volume).collect();
        self.lives.push(Life { slot, changes: each });
        self.lives.push(Life { slot: Slot { second: end, ..slot }, changes: ends });
    }

    fn end(mut self, imported: Imported, directory: &Directory) -> Option<Demand> {
        if self.found.requests == 0 {
            return None;
        }
        self.spread();
        let mut found = self.found;
        for (number, place) in (0..).zip(self.days.values_mut()) {
            *place = number;
        }
        for slot in &mut found.slots {
            slot.day = self.days[&slot.day];
        }
        found.days = self.days.len() as u64;
        found.clients = self.clients.len() as u64;
        (found.of_several_sizes, found.bypassing) = (self.survey.of_several_sizes, self.survey.bypassing);
        found.imported = imported;
        if let Some(opens) = &mut found.opens {
            opens.close(directory);
        }
        Some(found)
    }

    /// Adds the bytes of lives to each of their seconds, up to the last one with a start.
    fn spread(&mut self) {
        self.lives.sort_by_key(|life| life.slot);
        let beyond = self.found.last_s as u64 + 1;
        let mut sums = vec![Volume::default(); self.found.scope.segments.len() * self.found.scope.kinds()];
        for (life, next) in self.lives.iter().zip(self.lives.iter().skip(1).map(Some).chain([None])) {
            sums.iter_mut().zip(&life.changes).for_each(|(sum, change)| *sum += *change);
            let until = next.filter(|next| next.slot.day == life.slot.day).map(|next| next.slot.second);
            for second in life.slot.second..until.unwrap_or(life.slot.second).min(beyond) {
                self.found.slots.push(Slot { second, ..life.slot });
                self.found.volumes.extend(sums.iter().map(|sum| sum.map(|sum| sum.max(0.0))));
            }
        }
    }
}
