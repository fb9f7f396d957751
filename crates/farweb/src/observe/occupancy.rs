//! Occupancy of a leg over time: connections open, connections busy, requests.
//!
//! All sums are integers. An arrival and a departure at one instant count towards the peak and not towards the mean.

use crate::units::{Duration, Instant};

/// Occupancy of a leg from `from` to `to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LegStats {
    /// Start of the interval.
    pub from: Instant,
    /// End of the interval.
    pub to: Instant,
    /// Connections from their first SYN until both ends are closed or in TIME_WAIT.
    pub open: Count,
    /// Connections with at least one request on them.
    pub busy: Count,
    /// Requests on the leg, from when they are queued there until the last byte of the response is read at its client end.
    pub requests: Count,
    /// Most requests on one connection at once.
    pub connection_requests_max: u64,
}

/// Number of things present in an interval: mean and peak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Count {
    /// Integral of their number over time, in ns.
    pub nanos: u128,
    /// Largest number.
    pub max: u64,
}

/// Something counted on a leg.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counted {
    Open,
    Busy,
    Requests,
}

/// Follows how much there is on a leg, over recording intervals, the measured interval and the whole run.
///
/// Calls come in order of time.
#[derive(Debug, Clone)]
pub(crate) struct Occupancy {
    now: [Followed; 3],
    /// Connections by the number of requests on them, those without left out: `[0]` have one.
    by_requests: Vec<u64>,
    /// Everything since the last cut, filled in up to `to`.
    piece: LegStats,
    interval: LegStats,
    whole: LegStats,
    measured: Option<LegStats>,
    is_measuring: bool,
}

/// A number, and since when it is accounted for.
#[derive(Debug, Clone, Copy, Default)]
struct Followed {
    number: u64,
    since: Instant,
}

impl LegStats {
    const fn empty(at: Instant) -> Self {
        let none = Count { nanos: 0, max: 0 };
        Self { from: at, to: at, open: none, busy: none, requests: none, connection_requests_max: 0 }
    }

    /// Time-weighted mean of a count of this interval. An empty interval has 0.
    #[must_use]
    pub fn mean(&self, count: Count) -> f64 {
        match self.to - self.from {
            Duration::ZERO => 0.0,
            span => count.nanos as f64 / span.as_nanos() as f64,
        }
    }

    fn counts(&mut self) -> [&mut Count; 3] {
        [&mut self.open, &mut self.busy, &mut self.requests]
    }

    /// This interval and `next`, which follows it, as one.
    fn joined(&self, next: &Self) -> Self {
        let both = |one: Count, two: Count| Count { nanos: one.nanos + two.nanos, max: one.max.max(two.max) };
        Self {
            from: self.from,
            to: next.to,
            open: both(self.open, next.open),
            busy: both(self.busy, next.busy),
            requests: both(self.requests, next.requests),
            connection_requests_max: self.connection_requests_max.max(next.connection_requests_max),
        }
    }
}

impl Occupancy {
    pub(crate) fn new() -> Self {
        let empty = LegStats::empty(Instant::ZERO);
        Self {
            now: [Followed::default(); 3],
            by_requests: Vec::new(),
            piece: empty,
            interval: empty,
            whole: empty,
            measured: None,
            is_measuring: false,
        }
    }

    /// Counts one more.
    #[inline]
    pub(crate) fn add(&mut self, now: Instant, what: Counted) {
        self.account(now, what);
        let followed = &mut self.now[what as usize];
        followed.number += 1;
        let peak = &mut self.piece.counts()[what as usize].max;
        *peak = followed.number.max(*peak);
    }

    /// Counts one less.
    #[inline]
    pub(crate) fn remove(&mut self, now: Instant, what: Counted) {
        self.account(now, what);
        self.now[what as usize].number -= 1;
    }

    /// A connection that carried `requests` carries one more.
    pub(crate) fn board(&mut self, now: Instant, requests: u32) {
        let place = requests as usize;
        if place == self.by_requests.len() {
            self.by_requests.push(0);
        }
        self.by_requests[place] += 1;
        match requests {
            0 => self.add(now, Counted::Busy),
            _ => self.by_requests[place - 1] -= 1,
        }
        self.piece.connection_requests_max = self.piece.connection_requests_max.max(u64::from(requests) + 1);
    }

    /// A connection that carried `requests` carries one less.
    pub(crate) fn alight(&mut self, now: Instant, requests: u32) {
        let place = requests as usize - 1;
        self.by_requests[place] -= 1;
        match requests {
            1 => self.remove(now, Counted::Busy),
            _ => self.by_requests[place - 1] += 1,
        }
    }

    /// Ends the open recording interval at `now` and opens the next one.
    pub(crate) fn close_interval(&mut self, now: Instant) -> LegStats {
        self.cut(now);
        std::mem::replace(&mut self.interval, LegStats::empty(now))
    }

    /// Measures from `now` on.
    pub(crate) fn begin_measuring(&mut self, now: Instant) {
        self.cut(now);
        self.measured = Some(LegStats::empty(now));
        self.is_measuring = true;
    }

    /// Measures up to `now`.
    pub(crate) fn end_measuring(&mut self, now: Instant) {
        self.cut(now);
        self.is_measuring = false;
    }

    /// All since measuring began, to its end or to `now`. All of the run when it did not begin.
    pub(crate) fn measured(&mut self, now: Instant) -> LegStats {
        self.cut(now);
        self.measured.unwrap_or(self.whole)
    }

    /// All from the start of the run to `now`.
    pub(crate) fn totals(&mut self, now: Instant) -> LegStats {
        self.cut(now);
        self.whole
    }

    /// Ends the open piece at `now` and adds it to the intervals that it belongs to.
    fn cut(&mut self, now: Instant) {
        for what in [Counted::Open, Counted::Busy, Counted::Requests] {
            self.account(now, what);
        }
        self.piece.to = now;
        let mut next = LegStats::empty(now);
        for (count, followed) in next.counts().into_iter().zip(self.now) {
            count.max = followed.number;
        }
        let most = self.by_requests.iter().rposition(|connections| *connections > 0);
        next.connection_requests_max = most.map_or(0, |place| place as u64 + 1);
        let piece = std::mem::replace(&mut self.piece, next);
        self.interval = self.interval.joined(&piece);
        self.whole = self.whole.joined(&piece);
        if self.is_measuring {
            self.measured = self.measured.map(|measured| measured.joined(&piece));
        }
    }

    /// Accounts for the time up to `now`, during a constant number.
    #[inline]
    fn account(&mut self, now: Instant, what: Counted) {
        let Followed { number, since } = &mut self.now[what as usize];
        let span = u128::from((now - *since).as_nanos());
        self.piece.counts()[what as usize].nanos += u128::from(*number) * span;
        *since = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(nanos: u64) -> Instant {
        Instant::from_nanos(nanos)
    }

    const fn count(nanos: u128, max: u64) -> Count {
        Count { nanos, max }
    }

    /// Two connections open at 0 and 10. The second carries two requests from 10 and 20 on, one of them until 40.
    fn followed() -> Occupancy {
        let mut leg = Occupancy::new();
        leg.add(at(0), Counted::Open);
        leg.add(at(10), Counted::Open);
        leg.add(at(10), Counted::Requests);
        leg.board(at(10), 0);
        leg.add(at(20), Counted::Requests);
        leg.board(at(20), 1);
        leg
    }

    #[test]
    fn numbers_are_weighted_by_time() {
        let mut leg = followed();
        leg.alight(at(40), 2);
        leg.remove(at(40), Counted::Requests);
        leg.remove(at(50), Counted::Open);
        let stats = leg.totals(at(100));
        assert_eq!(stats.open, count(10 + 2 * 40 + 50, 2));
        assert_eq!(stats.busy, count(90, 1));
        assert_eq!(stats.requests, count(10 + 2 * 20 + 60, 2));
        assert_eq!(stats.connection_requests_max, 2);
        assert!((stats.mean(stats.open) - 1.4).abs() < 1e-12);
    }

    #[test]
    fn an_interval_begins_with_what_is_there() {
        let mut leg = followed();
        let first = leg.close_interval(at(25));
        assert_eq!((first.open, first.requests), (count(40, 2), count(20, 2)));
        let next = leg.close_interval(at(35));
        assert_eq!((next.from, next.to), (at(25), at(35)));
        assert_eq!((next.open, next.busy, next.requests), (count(20, 2), count(10, 1), count(20, 2)));
        assert_eq!(next.connection_requests_max, 2);
    }

    #[test]
    fn what_is_measured_begins_and_ends_at_the_very_instant() {
        let mut leg = followed();
        leg.begin_measuring(at(30));
        leg.alight(at(40), 2);
        leg.alight(at(45), 1);
        leg.close_interval(at(47));
        leg.end_measuring(at(60));
        leg.board(at(70), 0);
        let stats = leg.measured(at(100));
        assert_eq!((stats.from, stats.to), (at(30), at(60)));
        assert_eq!((stats.busy, stats.connection_requests_max), (count(15, 1), 2));
        assert_eq!(leg.totals(at(100)).busy, count(35 + 30, 1));
    }
}
