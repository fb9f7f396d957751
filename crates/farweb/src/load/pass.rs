//! One pass over the requests of a workload, which makes a demand of them.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::demand::{Demand, Imported, Scope, Slot, Starts, Volume};
use super::packets::{Open, Packets};
use super::ports::Opens;
use crate::cache::Survey;
use crate::units::{Duration, Instant};
use crate::workload::{Directory, Method, Request};

/// The tag of requests with recorded connections under `packets = "sample"`.
const SAMPLE: &str = "sample";

/// Longest life of a tunnel that counts in one second, in s.
const SHORT_S: f64 = 1.0;

/// Longest time behind the last start in which tunnels count, in s. Chosen: a day.
const TAIL_S: u64 = 86_400;

const SECOND_NS: u64 = 1_000_000_000;

/// A demand while requests are read. Their starts never decrease.
pub(super) struct Pass {
    found: Demand,
    /// The second that requests of several days are in, and the slot of each day in it.
    second: u64,
    open: FxHashMap<u32, usize>,
    lives: Vec<Life>,
    /// Connections that lie open, by kind of segments.
    connections: Vec<Open>,
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
    pub(super) fn new(scope: Scope) -> Self {
        let found = Demand {
            slots: Vec::new(),
            starts: Vec::new(),
            volumes: Vec::new(),
            packets: vec![Packets::default(); scope.segments.len()],
            requests: 0,
            response_bytes: 0,
            request_bytes: 0,
            sampled_bytes: 0,
            empty: None,
            first_s: f64::INFINITY,
            last_s: 0.0,
            ends_s: 0.0,
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
            connections: vec![Open::default(); found.scope.segments.len()],
            found,
            second: 0,
            open: FxHashMap::default(),
            lives: Vec::new(),
            survey: Survey::default(),
            clients: FxHashSet::default(),
            days: BTreeMap::new(),
        }
    }

    /// Counts a request.
    pub(super) fn add(&mut self, request: &Request, directory: &Directory) {
        let start_s = (request.start - Instant::ZERO).to_secs_f64();
        let slot = Slot { day: request.day.unwrap_or(0), second: start_s as u64 };
        let found = &mut self.found;
        found.requests += 1;
        found.response_bytes += request.response_bytes;
        found.request_bytes += request.request_bytes;
        if request.request_bytes == 0 {
            found.empty.get_or_insert(*request);
        }
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
        let is_at_once = (request.start - Instant::ZERO).as_nanos().is_multiple_of(SECOND_NS);
        let starts =
            Starts { at_once: is_at_once.into(), later: (!is_at_once).into(), sampled: is_sample.into() };
        let volumes = self.volumes(request, is_sample);
        let life_s = request.server.whole().filter(|_| is_tunnel).map_or(0.0, Duration::to_secs_f64);
        if life_s > SHORT_S {
            self.found.ends_s = self.found.ends_s.max(start_s + life_s);
            self.last(slot, (start_s + life_s) as u64 + 1, &volumes);
            self.count(slot, starts, vec![Volume::default(); volumes.len()]);
        } else {
            self.count(slot, starts, volumes);
        }
    }

    /// Volumes of a request, by kind of requests and of segments.
    fn volumes(&mut self, request: &Request, is_sample: bool) -> Vec<Volume> {
        let scope = &self.found.scope;
        let is_served = match request.object.filter(|_| scope.has_live) {
            Some(object) => self.survey.request(object, request.response_bytes, request.caching),
            None => false,
        };
        let counts = [true, !request.caching.may_be_served(), !is_served];
        let kinds = scope.kinds();
        let all: Vec<_> =
            (0..scope.segments.len()).map(|place| self.volume(place, request, is_sample)).collect();
        let of_kind = |counts: bool| all.iter().map(move |all| if counts { *all } else { Volume::default() });
        counts.into_iter().take(kinds).flat_map(of_kind).collect()
    }

    /// The volume in one kind of segments.
    fn volume(&mut self, place: usize, request: &Request, is_sample: bool) -> Volume {
        let segments = self.found.scope.segments[place];
        let packets = segments.packets(request, &mut self.connections[place]);
        self.found.packets[place] += packets;
        Volume::of(request, segments, packets, is_sample)
    }

    fn count(&mut self, slot: Slot, starts: Starts, volumes: Vec<Volume>) {
        if slot.second != self.second {
            self.second = slot.second;
            self.open.clear();
        }
        let found = &mut self.found;
        let place = *self.open.entry(slot.day).or_insert(found.slots.len());
        if place == found.slots.len() {
            found.slots.push(slot);
            found.starts.push(starts);
            found.volumes.extend(volumes);
            return;
        }
        found.starts[place] += starts;
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

    /// The demand. None without requests.
    pub(super) fn end(mut self, imported: Imported, directory: &Directory) -> Option<Demand> {
        if self.found.requests == 0 {
            return None;
        }
        self.spread();
        let mut found = self.found;
        found.ends_s = found.ends_s.clamp(found.last_s, found.last_s + TAIL_S as f64);
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

    /// Adds the bytes of lives to each of their seconds.
    fn spread(&mut self) {
        self.lives.sort_by_key(|life| life.slot);
        let beyond = self.found.last_s as u64 + TAIL_S;
        let mut sums = vec![Volume::default(); self.found.scope.segments.len() * self.found.scope.kinds()];
        for (life, next) in self.lives.iter().zip(self.lives.iter().skip(1).map(Some).chain([None])) {
            sums.iter_mut().zip(&life.changes).for_each(|(sum, change)| *sum += *change);
            let until = next.filter(|next| next.slot.day == life.slot.day).map(|next| next.slot.second);
            for second in life.slot.second..until.unwrap_or(life.slot.second).min(beyond) {
                self.found.slots.push(Slot { second, ..life.slot });
                self.found.starts.push(Starts::default());
                self.found.volumes.extend(sums.iter().map(|sum| sum.map(|sum| sum.max(0.0))));
            }
        }
    }
}
