//! The measured interval: the time over which rates, utilisation and queues of links are told.
//!
//! It begins at the end of `run.warmup`, at that very instant although no event may happen then, and ends at the start of
//! the last request or at the end of the run. What happens at its last instant counts up to and with that start. When no
//! request starts in it before its end, or the run ends first, it lasts to the end of the run; when that is not
//! after the warm-up either, it is the whole run.

use crate::scenario::{Measure, Run};
use crate::units::Instant;
use crate::workload::Request;

use super::World;
use super::occupancy::LegStats;
use super::pair::End;
use super::path::LinkTotals;

/// What the links and legs did in the measured interval.
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
    /// IP bytes of the responses to requests that started in the interval, in segments of the size that their servers send:
    /// the load that is presented to the path.
    pub presented_bytes: u64,
}

/// IPv4 and TCP headers without options (RFC 791, RFC 9293).
const HEADERS: u64 = 40;

/// How far the measured interval is.
pub(super) struct Measurement {
    measure: Measure,
    warmup: Instant,
    /// When it begins; never, once it has.
    pub(super) begins_at: Option<Instant>,
    /// The first start of a request in it.
    first_start: Option<Instant>,
    /// When it ended before the run.
    ended_at: Option<Instant>,
    /// Bytes presented since it began, and since the run did.
    presented: u64,
    presented_in_all: u64,
}

impl Measurement {
    pub(super) fn new(run: &Run) -> Self {
        let warmup = Instant::ZERO + run.warmup;
        Self {
            measure: run.measure,
            warmup,
            begins_at: Some(warmup),
            first_start: None,
            ended_at: None,
            presented: 0,
            presented_in_all: 0,
        }
    }
}

impl World {
    /// What the links did in the measured interval, or have done so far.
    #[must_use]
    pub fn measured(&mut self) -> Measured {
        let now = self.progress.now;
        let Measurement { warmup, begins_at, ended_at, presented, presented_in_all, .. } = self.measurement;
        if begins_at.is_some() || now == warmup {
            return Measured {
                from: Instant::ZERO,
                to: now,
                links: self.path.totals(now),
                legs: self.legs.iter_mut().map(|leg| leg.occupancy.totals(now)).collect(),
                presented_bytes: presented_in_all,
            };
        }
        Measured {
            from: warmup,
            to: ended_at.unwrap_or(now),
            links: self.path.measured(now),
            legs: self.legs.iter_mut().map(|leg| leg.occupancy.measured(now)).collect(),
            presented_bytes: presented,
        }
    }

    /// A request starts: what its response presents.
    pub(super) fn measure_request(&mut self, request: &Request) {
        let host = &self.directory.hosts()[request.host];
        let mss = self.legs.last().map_or(1, |leg| leg.segment_bytes(End::Server, host));
        let presented = request.response_bytes + HEADERS * request.response_bytes.div_ceil(mss);
        self.measurement.presented_in_all += presented;
        if self.measurement.begins_at.is_none() {
            self.measurement.presented += presented;
        }
    }

    /// Begins the interval if the time has come: before what happens at `now`, and after all that happened earlier.
    #[inline]
    pub(super) fn measure_from_warmup(&mut self, now: Instant) {
        if let Some(begin) = self.measurement.begins_at
            && now >= begin
        {
            self.measurement.begins_at = None;
            self.path.begin_measuring(begin);
            self.legs.iter_mut().for_each(|leg| leg.occupancy.begin_measuring(begin));
        }
    }

    /// A request starts, `is_last` when no other will.
    pub(super) fn measure_to_start(&mut self, now: Instant, is_last: bool) {
        let Measurement { measure, begins_at, first_start, ended_at, .. } = &mut self.measurement;
        if begins_at.is_some() {
            return;
        }
        let first = *first_start.get_or_insert(now);
        if is_last && *measure == Measure::Arrivals && first < now {
            *ended_at = Some(now);
            self.path.end_measuring(now);
            self.legs.iter_mut().for_each(|leg| leg.occupancy.end_measuring(now));
        }
    }

    /// The run ends at `end`: an interval between its last event and that has begun as well.
    pub(super) fn measure_to_end(&mut self, end: Instant) {
        if end > self.measurement.warmup {
            self.measure_from_warmup(end);
        }
    }
}
