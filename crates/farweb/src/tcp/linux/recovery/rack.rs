//! RACK: a segment is lost when one that was sent enough later has arrived.
//!
//! Models RFC 8985 as Linux has it, with its own reordering window: none during recovery, or once three segments were
//! SACKed, as long as no reordering was seen. Otherwise a quarter of the smallest round trip, more after reported
//! duplicates. Linux looks for losses in this way wherever SACK is in use, whatever `tcp_recovery` says. Leaves out the
//! settings of `tcp_recovery` that fix the reordering window.
//!
//! Source: RFC 8985, section 6.2; Linux 6.18 `tcp_recovery.c`.

use super::{CaState, Connection};
use crate::tcp::linux::acknowledge::Ack;
use crate::tcp::linux::sent::{SegmentId, sent_after};
use crate::tcp::linux::timers::Pending;
use crate::units::{Duration, Instant};

/// Recoveries that keep a reordering window widened by reported duplicates (`TCP_RACK_RECOVERY_THRESH`).
const RECOVERIES_KEPT: u32 = 16;
/// Most quarters of the smallest round trip in the reordering window.
const STEPS_MAX: u32 = 255;
/// Time added to the wait for segments that may only be late (`TCP_TIMEOUT_MIN_US`).
const TIMEOUT_MIN: Duration = Duration::from_millis(2);

/// State of RACK.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tcp::linux) struct Rack {
    /// Transmission and end of the most recently sent segment that has arrived.
    newest: (Instant, u64),
    /// Its round trip.
    rtt: Duration,
    /// True when it has changed since losses were last looked for.
    has_advanced: bool,
    /// Quarters of the smallest round trip in the reordering window.
    steps: u32,
    /// Recoveries that still keep `steps`.
    kept: u32,
    /// A duplicate was reported that RACK may have caused.
    duplicate_seen: bool,
    /// Segments delivered when `steps` was last raised.
    raised_at: u64,
}

impl Default for Rack {
    fn default() -> Self {
        Self {
            newest: (Instant::ZERO, 0),
            rtt: Duration::ZERO,
            has_advanced: false,
            steps: 1,
            kept: 0,
            duplicate_seen: false,
            raised_at: 0,
        }
    }
}

impl Rack {
    pub(in crate::tcp::linux) const fn on_duplicate(&mut self) {
        self.duplicate_seen = true;
    }

    /// Losses are to be looked for at the next ACK, whatever it shows.
    pub(super) const fn force(&mut self) {
        self.has_advanced = true;
    }

    /// A recovery ended that was called for.
    pub(super) const fn on_recovered(&mut self) {
        self.kept = self.kept.saturating_sub(1);
    }

    /// A recovery was undone because of reported duplicates.
    pub(super) fn on_undone(&mut self) {
        self.kept = (self.kept + 1).min(RECOVERIES_KEPT);
    }

    /// Widens the reordering window, at most once a round trip. `prior_delivered` is what had been delivered when the
    /// newest segment of this ACK was sent.
    fn update_steps(&mut self, prior_delivered: u64, delivered: u64) {
        if prior_delivered < self.raised_at {
            self.duplicate_seen = false;
        }
        if self.duplicate_seen {
            self.steps = (self.steps + 1).min(STEPS_MAX);
            self.duplicate_seen = false;
            self.raised_at = delivered;
            self.kept = RECOVERIES_KEPT;
        } else if self.kept == 0 {
            self.steps = 1;
        }
    }

    /// Time that a segment sent at `sent_at` may still take. `None` when it is overdue.
    fn remaining(&self, now: Instant, sent_at: Instant, window: Duration) -> Option<Duration> {
        let deadline = sent_at + self.rtt + window;
        (deadline > now).then(|| deadline - now)
    }
}

impl Connection {
    /// A segment that was last sent at `sent_at` has arrived.
    pub(in crate::tcp::linux) fn rack_advance(
        &mut self,
        was_retransmitted: bool,
        sent_at: Instant,
        end: u64,
    ) {
        let rtt = self.clock.now().saturating_since(sent_at);
        // Faster than ever: it was an earlier transmission that arrived.
        if was_retransmitted && self.rtt.min_rtt().is_none_or(|min| rtt < min) {
            return;
        }
        let rack = &mut self.recovery.rack;
        rack.has_advanced = true;
        rack.rtt = rtt;
        if sent_after(sent_at, end, rack.newest.0, rack.newest.1) {
            rack.newest = (sent_at, end);
        }
    }

    pub(in crate::tcp::linux) fn rack_update_window(&mut self, ack: &Ack) {
        if let Some((prior, ..)) = ack.prior_delivered {
            self.recovery.rack.update_steps(prior, self.queue.delivered_total);
        }
    }

    /// Longest time that a segment may be late without being lost.
    fn reordering_window(&self) -> Duration {
        let recovery = &self.recovery;
        if !recovery.reordering_seen
            && (recovery.state >= CaState::Recovery || self.queue.sacked_out >= recovery.reordering)
        {
            return Duration::ZERO;
        }
        let quarter = self.rtt.min_rtt().unwrap_or(Duration::ZERO).mul_div(1, 4);
        let srtt = self.rtt.srtt().unwrap_or(Duration::ZERO);
        (quarter * u64::from(recovery.rack.steps)).min(srtt)
    }

    /// True when a segment was sent less than a round trip ago.
    pub(super) fn is_too_young_to_be_lost(&self, id: SegmentId) -> bool {
        self.recovery.rack.remaining(self.clock.now(), self.queue.get(id).sent_at, Duration::ZERO).is_some()
    }

    /// Marks overdue segments. Returns the time until more may be, if a segment is only late so far.
    fn rack_detect(&mut self) -> Option<Duration> {
        let window = self.reordering_window();
        let (newest_at, newest_end) = self.recovery.rack.newest;
        let mut wait = None;
        let mut next = self.queue.oldest();
        while let Some(id) = next {
            next = self.queue.sent_next(id);
            let sent = self.queue.get(id);
            if sent.lost && !sent.retransmitted {
                continue;
            }
            if !sent_after(newest_at, newest_end, sent.sent_at, sent.end) {
                break;
            }
            match self.recovery.rack.remaining(self.clock.now(), sent.sent_at, window) {
                None => {
                    self.queue.mark_lost(id);
                    self.queue.take_from_time(id);
                }
                left => wait = wait.max(left),
            }
        }
        wait
    }

    /// Looks for losses if something new has arrived. True when the timer was set to look again.
    pub(super) fn rack_mark_lost(&mut self) -> bool {
        if !std::mem::take(&mut self.recovery.rack.has_advanced) {
            return false;
        }
        match self.rack_detect() {
            Some(wait) => {
                self.set_transmission(Pending::Reordering, wait + TIMEOUT_MIN);
                true
            }
            None => false,
        }
    }

    /// Time for late segments is over.
    pub(in crate::tcp::linux) fn on_reordering_expiry(&mut self, out: &mut impl crate::tcp::state::Emit) {
        let in_flight = self.queue.in_flight();
        self.rack_detect();
        if self.queue.in_flight() != in_flight {
            if self.recovery.state != CaState::Recovery {
                self.enter_recovery(false);
                self.congestion.on_recovery_ack(1, false, self.queue.in_flight());
            }
            self.retransmit_lost(out);
        }
        if self.timers.pending() != Some(Pending::Retransmit) {
            self.rearm_rto();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reported_duplicates_widen_the_window_once_a_round_trip_and_for_sixteen_recoveries() {
        let mut rack = Rack::default();
        rack.on_duplicate();
        rack.update_steps(10, 20);
        assert_eq!(rack.steps, 2);
        rack.on_duplicate();
        rack.update_steps(15, 25);
        assert_eq!(rack.steps, 2, "the round trip is not over");
        rack.on_duplicate();
        rack.update_steps(20, 30);
        assert_eq!(rack.steps, 3);
        for _ in 0..RECOVERIES_KEPT {
            rack.update_steps(40, 50);
            assert_eq!(rack.steps, 3);
            rack.on_recovered();
        }
        rack.update_steps(60, 70);
        assert_eq!(rack.steps, 1);
    }

    #[test]
    fn a_segment_is_overdue_a_round_trip_and_the_window_after_it_was_sent() {
        let rack = Rack { rtt: Duration::from_millis(100), ..Rack::default() };
        let (sent, window) = (Instant::from_nanos(1_000), Duration::from_millis(25));
        let just_before = Instant::from_nanos(125_000_999);
        assert_eq!(rack.remaining(just_before, sent, window), Some(Duration::from_nanos(1)));
        assert_eq!(rack.remaining(Instant::from_nanos(125_001_000), sent, window), None);
    }
}
