//! The rate of a policer: a steady share of losses at a steady rate.
//!
//! Models BBR's long-term estimate in Linux. From a loss on, intervals of 4 to 16 rounds end with a loss where at least a fifth
//! of what arrived was lost besides. Two in a row with rates within an eighth, or 4 kbit/s, give the rate of a policer, which
//! then replaces BBR's own for 48 rounds. An application that sends too little begins the search anew. Leaves out nothing.
//!
//! Source: Linux 6.18 `tcp_bbr.c`, `bbr_lt_bw_sampling()`, `bbr_lt_bw_interval_done()`.

use super::{Found, ONE, RATE_UNIT, pace};

/// Fewest rounds of an interval (`bbr_lt_intvl_min_rtts`). The most are four times as many.
const ROUNDS_MIN: u32 = 4;
/// Ratio of losses to deliveries, in 256ths (`bbr_lt_loss_thresh`).
const LOSS_MIN: u64 = 50;
/// Largest difference of two rates: in 256ths (`bbr_lt_bw_ratio`), or in bytes a second (`bbr_lt_bw_diff`).
const RATIO_MAX: u64 = ONE / 8;
const DIFFERENCE_MAX: u64 = 4000 / 8;
/// Rounds that the rate holds for (`bbr_lt_bw_max_rtts`).
const ROUNDS_HELD: u32 = 48;

/// The estimate.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Policer {
    is_sampling: bool,
    is_found: bool,
    /// Rounds of the interval, or since the rate was found.
    rounds: u32,
    /// Rate of the last interval, or the policer's. 0 before the first.
    rate: u64,
    /// Counts at the start of the interval, and its time in milliseconds.
    delivered: u64,
    lost: u64,
    at: u64,
}

impl Policer {
    /// Rate of the policer, if there seems to be one.
    pub(super) fn rate(&self) -> Option<u64> {
        self.is_found.then_some(self.rate)
    }

    /// A round begins. True when the rate has held for long enough.
    pub(super) const fn is_round_last(&mut self) -> bool {
        self.rounds += 1;
        self.rounds >= ROUNDS_HELD
    }

    pub(super) fn forget(&mut self, found: &Found) {
        *self = Self::default();
        self.begin_interval(found);
    }

    const fn begin_interval(&mut self, found: &Found) {
        self.at = found.delivered_at / 1000;
        (self.delivered, self.lost, self.rounds) = (found.delivered, found.lost, 0);
    }

    /// Looks at an ACK while no policer is known. True when it shows one.
    pub(super) fn note(&mut self, found: &Found, lost: u32, app_limited: bool, round_started: bool) -> bool {
        if !self.is_sampling {
            if lost == 0 {
                return false;
            }
            self.begin_interval(found);
            self.is_sampling = true;
        }
        self.rounds += u32::from(round_started);
        if app_limited || self.rounds > 4 * ROUNDS_MIN {
            self.forget(found);
            return false;
        }
        if self.rounds < ROUNDS_MIN || lost == 0 {
            return false;
        }
        let (delivered, lost) = (found.delivered - self.delivered, found.lost - self.lost);
        let millis = found.delivered_at / 1000 - self.at;
        if delivered == 0 || lost << 8 < LOSS_MIN * delivered || millis == 0 {
            return false;
        }
        self.end_interval(found, delivered * RATE_UNIT / (millis * 1000))
    }

    fn end_interval(&mut self, found: &Found, rate: u64) -> bool {
        let difference = rate.abs_diff(self.rate);
        let is_close =
            difference * ONE <= RATIO_MAX * self.rate || pace(difference, ONE, found.mss) <= DIFFERENCE_MAX;
        self.is_found = self.rate > 0 && is_close;
        if self.is_found {
            self.rate = u64::midpoint(rate, self.rate);
            self.rounds = 0;
        } else {
            self.rate = rate;
            self.begin_interval(found);
        }
        self.is_found
    }
}
