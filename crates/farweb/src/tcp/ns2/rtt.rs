//! The round-trip time in whole ticks, and the retransmission timeout from it.
//!
//! Models an agent that measures with a clock that ticks every [`Profile::tick`], at a phase of its own: a round trip
//! counts the ticks between sending and ACK, at least 1. `srtt_x8` and `rttvar_x4` are kept in ticks, times 8 and times 4,
//! which makes shifts of the gains of 1/8 and 1/4. `srtt_x8 == 0` means that the next sample starts afresh.
//!
//! Leaves out samples from timestamps. Differs from ns-2 in that a difference of more than 32,767 ticks does not wrap
//! around.
//!
//! Source: ns-2.35 `tcp/tcp.cc` (`rtt_init`, `rtt_update`, `rtt_timeout`, `rtt_backoff`).

use super::profile::Profile;
use crate::units::{Duration, Instant};

/// Backing off stops at this factor without `rfc2988`.
const BACKOFF_MAX: u64 = 64;

/// Beyond this factor the smoothed round-trip time is no longer believed.
const BACKOFF_DOUBT: u64 = 8;

#[derive(Debug, Clone)]
pub(super) struct Rtt {
    /// How far the clock was into a tick at the start of the run.
    phase: Duration,
    srtt_x8: i64,
    rttvar_x4: i64,
    /// The timeout before bounds and backing off.
    base: Duration,
    backoff: u64,
}

impl Rtt {
    pub(super) const fn new(profile: &Profile, phase: Duration) -> Self {
        Self { phase, srtt_x8: 0, rttvar_x4: 0, base: profile.rto_initial, backoff: 1 }
    }

    /// A packet sent at `sent` is acknowledged at `now`, so backing off ends as well.
    pub(super) fn sample(&mut self, sent: Instant, now: Instant, profile: &Profile) {
        self.backoff = 1;
        let tick = profile.tick.as_nanos();
        let into_tick = (sent + self.phase).as_nanos() % tick;
        let ticks = (((now - sent).as_nanos() + into_tick) / tick).max(1) as i64;
        if self.srtt_x8 == 0 {
            self.srtt_x8 = ticks << 3;
            self.rttvar_x4 = ticks << 1;
        } else {
            let error = ticks - (self.srtt_x8 >> 3);
            self.srtt_x8 = (self.srtt_x8 + error).max(1);
            self.rttvar_x4 = (self.rttvar_x4 + error.abs() - (self.rttvar_x4 >> 2)).max(1);
        }
        let timeout_ticks = ((self.rttvar_x4 << 3) + self.srtt_x8) >> 3;
        self.base = profile.tick * timeout_ticks as u64;
    }

    /// The retransmission timeout in force.
    pub(super) fn timeout(&self, profile: &Profile) -> Duration {
        let backed_off = |base: Duration| Duration::from_nanos(base.as_nanos().saturating_mul(self.backoff));
        let timeout = if profile.rfc2988 {
            backed_off(self.base.max(profile.rto_min))
        } else {
            backed_off(self.base).max(profile.rto_min)
        };
        timeout.min(profile.rto_max).max(profile.tick * 2)
    }

    /// The timer expired: doubles the timeout, and beyond a factor of 8 lets the next sample start afresh.
    pub(super) fn back_off(&mut self, profile: &Profile) {
        if self.backoff < BACKOFF_MAX || (profile.rfc2988 && self.timeout(profile) < profile.rto_max) {
            self.backoff *= 2;
        }
        if self.backoff > BACKOFF_DOUBT {
            self.rttvar_x4 += self.srtt_x8 >> 3;
            self.srtt_x8 = 0;
        }
    }

    /// Smoothed round-trip time. `None` before a sample.
    pub(super) fn srtt(&self, profile: &Profile) -> Option<Duration> {
        (self.srtt_x8 > 0).then(|| profile.tick.mul_div(self.srtt_x8 as u64, 8))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RENO: Profile = Profile::ns2_reno();

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    fn seconds(values: &[u64]) -> Vec<Duration> {
        values.iter().map(|secs| Duration::from_secs(*secs)).collect()
    }

    /// The first timeouts of an agent that never gets an ACK.
    fn backing_off(profile: &Profile, count: usize) -> Vec<Duration> {
        let mut rtt = Rtt::new(profile, Duration::ZERO);
        (0..count)
            .map(|_| {
                let timeout = rtt.timeout(profile);
                rtt.back_off(profile);
                timeout
            })
            .collect()
    }

    /// Ticks, srtt times 8, rttvar times 4, and the timeout in ticks after each sample, by hand: 1 → 8, 2, (16 + 8) / 8.
    /// Then 8 + 0, 2 + 0 - 0, 3. 4 → 8 + 3, 2 + 3 - 0, (40 + 11) / 8. 1 → 11 + 0, 5 + 0 - 1, (32 + 11) / 8.
    #[test]
    fn samples_move_the_estimate_in_whole_ticks() {
        let mut rtt = Rtt::new(&RENO, Duration::ZERO);
        let expected = [(1, 8, 2, 3), (1, 8, 2, 3), (4, 11, 5, 6), (1, 11, 4, 5), (9, 19, 11, 13)];
        for (ticks, srtt_x8, rttvar_x4, timeout) in expected {
            rtt.sample(at(1000), at(1000 + ticks * 100), &RENO);
            assert_eq!((rtt.srtt_x8, rtt.rttvar_x4), (srtt_x8, rttvar_x4), "after {ticks} ticks");
            assert_eq!(rtt.timeout(&RENO), RENO.tick * timeout, "after {ticks} ticks");
        }
    }

    #[test]
    fn the_phase_of_the_clock_decides_what_a_round_trip_counts() {
        let timeout_at = |phase_ms: u64| {
            let mut rtt = Rtt::new(&RENO, Duration::from_millis(phase_ms));
            rtt.sample(at(1000), at(1172), &RENO);
            rtt.srtt(&RENO).unwrap()
        };
        // 172 ms from phase 0 to 27 ends within the second tick, from 28 on in the third.
        assert_eq!([0, 27, 28, 99].map(timeout_at), [100, 100, 200, 200].map(Duration::from_millis));
    }

    #[test]
    fn a_round_trip_counts_at_least_one_tick_and_a_timeout_two() {
        let mut rtt = Rtt::new(&RENO, Duration::ZERO);
        rtt.sample(at(1000), at(1002), &RENO);
        assert_eq!(rtt.timeout(&RENO), Duration::from_millis(300));
        for _ in 0..20 {
            rtt.sample(at(1000), at(1002), &RENO);
        }
        assert_eq!((rtt.srtt_x8, rtt.rttvar_x4), (8, 2));
        let coarse = Profile { tick: Duration::from_secs(5), ..RENO };
        assert_eq!(Rtt::new(&coarse, Duration::ZERO).timeout(&coarse), Duration::from_secs(10));
    }

    #[test]
    fn timeouts_double_up_to_the_largest() {
        assert_eq!(backing_off(&RENO, 6), seconds(&[6, 12, 24, 48, 60, 60]));
        let before_2007 = Profile { rto_max: Duration::from_secs(100_000), rfc2988: false, ..RENO };
        assert_eq!(backing_off(&before_2007, 8), seconds(&[6, 12, 24, 48, 96, 192, 384, 384]));
        let patient = Profile { rfc2988: true, ..before_2007 };
        assert_eq!(backing_off(&patient, 9)[8], Duration::from_secs(6 * 256));
        let later = Profile { rto_initial: Duration::from_secs(3), ..RENO };
        assert_eq!(backing_off(&later, 3), seconds(&[3, 6, 12]));
    }

    #[test]
    fn the_smallest_timeout_is_applied_before_or_after_backing_off() {
        let timeouts = |rfc2988| {
            let profile = Profile { rto_min: Duration::from_secs(1), rfc2988, ..RENO };
            let mut rtt = Rtt::new(&profile, Duration::ZERO);
            rtt.sample(at(1000), at(1002), &profile);
            (0..4)
                .map(|_| {
                    let timeout = rtt.timeout(&profile);
                    rtt.back_off(&profile);
                    timeout
                })
                .collect::<Vec<_>>()
        };
        assert_eq!(timeouts(true), [1000, 2000, 4000, 8000].map(Duration::from_millis));
        assert_eq!(timeouts(false), [1000, 1000, 1200, 2400].map(Duration::from_millis));
    }

    #[test]
    fn a_sample_after_long_backing_off_starts_afresh() {
        let mut rtt = Rtt::new(&RENO, Duration::ZERO);
        rtt.sample(at(0), at(5000), &RENO);
        for _ in 0..4 {
            rtt.back_off(&RENO);
        }
        assert_eq!(rtt.srtt(&RENO), None);
        rtt.sample(at(0), at(200), &RENO);
        assert_eq!((rtt.srtt_x8, rtt.rttvar_x4), (16, 4));
        assert_eq!(rtt.timeout(&RENO), Duration::from_millis(600));
    }
}
