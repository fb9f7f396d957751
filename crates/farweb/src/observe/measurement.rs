//! The measured interval, for the averages of rates, utilisation and queues of links.
//!
//! It begins at the end of `run.warmup`, at that very instant although no event may happen then, and ends at the start of
//! the last request or at the end of the run. What happens at its last instant counts up to and with that start. When no
//! request starts in it before its end, or the run ends first, it lasts to the end of the run. When that is not after the
//! warm-up either, it is the whole run.

use serde::{Deserialize, Serialize};

use crate::conn::{End, Leg, PacketPath};
use crate::net::LinkTotals;
use crate::tcp::segment::HEADER_BYTES;
use crate::units::Instant;
use crate::workload::{Host, Method, Request};

use super::Config;
use super::caches::{CacheStats, CacheWatch};
use super::occupancy::{LegStats, Occupancy};

/// End of the measured interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// At the start of the last request; at the end of the run when no other starts in it.
    #[default]
    Arrivals,
    /// At the end of the run.
    Whole,
}

/// Statistics of links, legs and caches over the measured interval.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Beginning of the interval.
    pub from: Instant,
    /// End of the interval.
    pub to: Instant,
    /// By link and direction.
    pub links: Vec<LinkTotals>,
    /// By leg.
    pub legs: Vec<LegStats>,
    /// By cache, in the order of the scenario, up to the end of the run.
    pub caches: Vec<CacheStats>,
    /// IP bytes of the responses to requests that started in the interval, in segments of the size that their servers send:
    /// the load that is presented to the path.
    pub presented_bytes: u64,
    /// Part of these in tunnels (CONNECT).
    pub tunnel_bytes: u64,
}

/// IP bytes presented by all requests, and by tunnels alone.
#[derive(Clone, Copy, Default)]
struct Presented {
    all: u64,
    tunnels: u64,
}

impl Presented {
    fn add(&mut self, bytes: u64, is_tunnel: bool) {
        self.all += bytes;
        self.tunnels += if is_tunnel { bytes } else { 0 };
    }
}

/// State of the measured interval.
pub(crate) struct Measurement {
    measure: Measure,
    warmup: Instant,
    /// Its begin. Never, once it has begun.
    begins_at: Option<Instant>,
    /// The first start of a request in it.
    first_start: Option<Instant>,
    /// Its end, if before the run's.
    ended_at: Option<Instant>,
    /// Bytes presented since it began, and since the run did.
    presented: Presented,
    presented_in_all: Presented,
}

impl Measurement {
    pub(crate) fn new(config: &Config) -> Self {
        let warmup = Instant::ZERO + config.warmup;
        Self {
            measure: config.measure,
            warmup,
            begins_at: Some(warmup),
            first_start: None,
            ended_at: None,
            presented: Presented::default(),
            presented_in_all: Presented::default(),
        }
    }

    /// Statistics of the links in the measured interval, or in its part so far.
    pub(crate) fn measured(
        &self,
        now: Instant,
        path: &mut PacketPath,
        legs: &mut [Occupancy],
        caches: &[CacheWatch],
    ) -> Measured {
        if self.begins_at.is_some() || now == self.warmup {
            return Measured {
                from: Instant::ZERO,
                to: now,
                links: path.totals(now),
                legs: legs.iter_mut().map(|leg| leg.totals(now)).collect(),
                caches: caches.iter().map(|cache| cache.total).collect(),
                presented_bytes: self.presented_in_all.all,
                tunnel_bytes: self.presented_in_all.tunnels,
            };
        }
        Measured {
            from: self.warmup,
            to: self.ended_at.unwrap_or(now),
            links: path.measured(now),
            legs: legs.iter_mut().map(|leg| leg.measured(now)).collect(),
            caches: caches.iter().map(CacheWatch::measured).collect(),
            presented_bytes: self.presented.all,
            tunnel_bytes: self.presented.tunnels,
        }
    }

    /// A request to `host` starts: what its response presents, sent over `leg`, the last one.
    pub(crate) fn measure_request(&mut self, request: &Request, leg: &Leg, host: &Host) {
        let mss = leg.segment_bytes(End::Server, host);
        let headers = u64::from(HEADER_BYTES) * request.response_bytes.div_ceil(mss);
        let presented = request.response_bytes + headers;
        let is_tunnel = request.method == Method::Connect;
        self.presented_in_all.add(presented, is_tunnel);
        if self.begins_at.is_none() {
            self.presented.add(presented, is_tunnel);
        }
    }

    /// True when the interval begins with what happens at `now`: before that, and after all that happened earlier.
    #[inline]
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        self.begins_at.is_some_and(|begin| now >= begin)
    }

    /// Begins the interval, at the very end of the warm-up.
    #[cold]
    pub(crate) fn begin(&mut self, path: &mut PacketPath, legs: &mut [Occupancy], caches: &mut [CacheWatch]) {
        if let Some(begin) = self.begins_at.take() {
            path.begin_measuring(begin);
            legs.iter_mut().for_each(|leg| leg.begin_measuring(begin));
            caches.iter_mut().for_each(CacheWatch::begin_measuring);
        }
    }

    /// A request starts, `is_last` when no other will.
    pub(crate) fn on_request_start(
        &mut self,
        now: Instant,
        is_last: bool,
        path: &mut PacketPath,
        legs: &mut [Occupancy],
    ) {
        if self.begins_at.is_some() {
            return;
        }
        let first = *self.first_start.get_or_insert(now);
        if is_last && self.measure == Measure::Arrivals && first < now {
            self.ended_at = Some(now);
            path.end_measuring(now);
            legs.iter_mut().for_each(|leg| leg.end_measuring(now));
        }
    }

    /// The run ends at `end`: an interval between its last event and that has begun as well.
    pub(crate) fn on_run_end(
        &mut self,
        end: Instant,
        path: &mut PacketPath,
        legs: &mut [Occupancy],
        caches: &mut [CacheWatch],
    ) {
        if end > self.warmup && self.is_due(end) {
            self.begin(path, legs, caches);
        }
    }
}
