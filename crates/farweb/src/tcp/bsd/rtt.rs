//! Round-trip time, retransmission timeout and its backing off.
//!
//! Models the estimator of 4.4BSD-Lite: integers that count ticks of the slow grid, one timed segment at a time, no
//! sample from anything retransmitted. Leaves out the cache of estimates by route.
//!
//! Source: 4.4BSD-Lite `tcp_input.c` 8.5 (`tcp_xmit_timer`), `tcp_timer.c` 8.1, `tcp_var.h` 8.3; V. Jacobson, "Congestion
//! Avoidance and Control", SIGCOMM 1988, appendix A.

use super::shared::SharedProfile;

/// The estimator of a connection.
#[derive(Debug, Clone)]
pub(super) struct Rtt {
    /// Smoothed round-trip time in ticks, times 8. Zero before the first sample.
    srtt_x8: i32,
    /// Smoothed mean deviation in ticks, times 4.
    rttvar_x4: i32,
    /// The timeout in force, in ticks. Stays backed off until the next sample.
    rto: u32,
    /// Timeouts, or zero-window probes, in a row.
    backoff: u32,
    /// Tick when the timed segment left.
    timed_tick: u32,
    /// First number of that segment, [`NOTHING`] when none is timed.
    timed: u64,
}

/// A number that no ACK is above.
const NOTHING: u64 = u64::MAX;

impl Rtt {
    pub(super) fn new(profile: &SharedProfile) -> Self {
        let ticks = &profile.ticks;
        Self {
            srtt_x8: 0,
            rttvar_x4: (4 * ticks.rttvar_initial) as i32,
            rto: ticks.rto_initial.clamp(ticks.rto_min, ticks.rto_max),
            backoff: 0,
            timed_tick: 0,
            timed: NOTHING,
        }
    }

    /// New sequence space from `seq` on was sent at `tick`. It is timed if nothing else is.
    pub(super) const fn on_sent(&mut self, seq: u64, tick: u32) {
        if self.timed == NOTHING {
            (self.timed, self.timed_tick) = (seq, tick);
        }
    }

    /// A segment was sent again: the timed one gives no sample (P. Karn's rule).
    pub(super) const fn on_retransmit(&mut self) {
        self.timed = NOTHING;
    }

    /// `ack` acknowledged new data at `tick`. `echo` is the tick when it was sent, if a timestamp says so.
    pub(super) fn on_ack(&mut self, ack: u64, tick: u32, echo: Option<u32>, profile: &SharedProfile) {
        match echo {
            Some(echo) => self.sample(tick.wrapping_sub(echo).saturating_add(1), profile),
            None if ack > self.timed => self.sample(tick.wrapping_sub(self.timed_tick) + 1, profile),
            None => {}
        }
    }

    /// Ticks that the retransmission timer is set to.
    pub(super) const fn rto(&self) -> u32 {
        self.rto
    }

    /// Smoothed round-trip time in ticks, times 8. `None` before the first sample.
    pub(super) const fn srtt_x8(&self) -> Option<u32> {
        if self.srtt_x8 == 0 { None } else { Some(self.srtt_x8 as u32) }
    }

    /// The retransmission timer expired. Gives the number of timeouts in a row.
    pub(super) fn on_timeout(&mut self, profile: &SharedProfile) -> u32 {
        self.backoff += 1;
        self.timed = NOTHING;
        self.rto = self.bounded(self.multiplier(profile), profile);
        // After a few timeouts the path may be another one: a fresh first sample is wanted, from the same timeout.
        if self.backoff > 3 {
            self.rttvar_x4 += self.srtt_x8 >> 3;
            self.srtt_x8 = 0;
        }
        self.backoff
    }

    /// Ticks to the next zero-window probe, before bounds. Each is longer than the one before.
    pub(super) fn next_persist(&mut self, profile: &SharedProfile) -> u32 {
        let base = (((self.srtt_x8 >> 2) + self.rttvar_x4) >> 1) as u32;
        let interval = base.saturating_mul(self.multiplier(profile));
        self.backoff = (self.backoff + 1).min(profile.retries_max);
        interval
    }

    /// Probing is over, or begins.
    pub(super) const fn reset_backoff(&mut self) {
        self.backoff = 0;
    }

    /// A round trip took `elapsed` ticks, counted as 1 + the tick boundaries that it crossed.
    fn sample(&mut self, elapsed: u32, profile: &SharedProfile) {
        // BSD keeps the elapsed ticks in a short. A garbled timestamp echo must not reach the estimate as a huge number.
        let elapsed = elapsed.min(i16::MAX as u32) as i32;
        if self.srtt_x8 == 0 {
            self.srtt_x8 = elapsed << 3;
            self.rttvar_x4 = elapsed << 1;
        } else {
            let delta = elapsed - 1 - (self.srtt_x8 >> 3);
            self.srtt_x8 = (self.srtt_x8 + delta).max(1);
            self.rttvar_x4 = (self.rttvar_x4 + delta.abs() - (self.rttvar_x4 >> 2)).max(1);
        }
        self.timed = NOTHING;
        self.backoff = 0;
        self.rto = self.bounded(1, profile);
    }

    /// SRTT + 4 deviations, times `multiplier`, within the bounds.
    fn bounded(&self, multiplier: u32, profile: &SharedProfile) -> u32 {
        let timeout = ((self.srtt_x8 >> 3) + self.rttvar_x4) as u32;
        timeout.saturating_mul(multiplier).clamp(profile.ticks.rto_min, profile.ticks.rto_max)
    }

    fn multiplier(&self, profile: &SharedProfile) -> u32 {
        1 << self.backoff.min(profile.backoff_doublings_max)
    }
}

#[cfg(test)]
mod tests {
    use super::super::profile::Profile;
    use super::*;

    fn lite() -> SharedProfile {
        SharedProfile::new(Profile::bsd44_lite())
    }

    fn after_samples(samples: &[u32]) -> Vec<(i32, i32, u32)> {
        let (mut rtt, lite) = (Rtt::new(&lite()), lite());
        let step = |elapsed: &u32| {
            rtt.sample(*elapsed, &lite);
            (rtt.srtt_x8, rtt.rttvar_x4, rtt.rto)
        };
        samples.iter().map(step).collect()
    }

    fn timeouts_after_samples(samples: &[u32]) -> Vec<u32> {
        after_samples(samples).into_iter().map(|(_, _, rto)| rto).collect()
    }

    #[test]
    fn a_short_path_settles_at_three_ticks() {
        assert_eq!(after_samples(&[1; 4]), [(8, 2, 3), (7, 3, 3), (7, 3, 3), (7, 3, 3)]);
    }

    #[test]
    fn samples_of_two_settle_at_four_ticks() {
        assert_eq!(after_samples(&[2; 4]), [(16, 4, 6), (15, 4, 5), (15, 3, 4), (15, 3, 4)]);
    }

    #[test]
    fn samples_of_three_settle_at_five_ticks() {
        let settled =
            [(24, 6, 9), (23, 6, 8), (23, 5, 7), (23, 4, 6), (23, 3, 5), (23, 3, 5), (23, 3, 5), (23, 3, 5)];
        assert_eq!(after_samples(&[3; 8]), settled);
    }

    #[test]
    fn one_longer_sample_among_short_ones() {
        assert_eq!(timeouts_after_samples(&[1, 2, 1, 1, 1, 2, 1, 1]), [3, 3, 3, 3, 3, 5, 4, 3]);
        assert_eq!(timeouts_after_samples(&[1, 1, 1, 4, 1, 1, 1, 1, 1]), [3, 3, 3, 7, 7, 7, 6, 5, 4]);
    }

    #[test]
    fn without_a_sample_backing_off_starts_from_the_deviation() {
        let (mut rtt, lite) = (Rtt::new(&lite()), lite());
        assert_eq!(rtt.rto, 12);
        let backed_off: Vec<u32> = (0..4)
            .map(|_| {
                rtt.on_timeout(&lite);
                rtt.rto
            })
            .collect();
        assert_eq!(backed_off, [48, 96, 128, 128]);
    }

    #[test]
    fn backing_off_doubles_to_64_times_and_forgets_the_average_but_not_the_timeout() {
        let (mut rtt, lite) = (Rtt::new(&lite()), lite());
        (0..5).for_each(|_| rtt.sample(1, &lite));
        let mut seen = Vec::new();
        for _ in 0..8 {
            rtt.on_timeout(&lite);
            seen.push((rtt.srtt_x8, rtt.rttvar_x4, rtt.rto));
        }
        // srtt 7/8 of a tick is 0 in whole ticks, so the deviation alone makes the timeout.
        let expected = [
            (7, 3, 6),
            (7, 3, 12),
            (7, 3, 24),
            (0, 3, 48),
            (0, 3, 96),
            (0, 3, 128),
            (0, 3, 128),
            (0, 3, 128),
        ];
        assert_eq!(seen, expected);
        rtt.sample(1, &lite);
        assert_eq!((rtt.srtt_x8, rtt.rttvar_x4, rtt.rto), (8, 2, 3));
        assert_eq!(rtt.on_timeout(&lite), 1, "a sample starts the count again");
        assert_eq!(rtt.rto, 6);
    }

    #[test]
    fn probes_of_a_closed_window_back_off_from_srtt_and_two_deviations() {
        let lite = lite();
        let mut settled = Rtt::new(&lite);
        (0..5).for_each(|_| settled.sample(1, &lite));
        let intervals: Vec<u32> = (0..7).map(|_| settled.next_persist(&lite)).collect();
        assert_eq!(intervals, [2, 4, 8, 16, 32, 64, 128]);
    }
}
