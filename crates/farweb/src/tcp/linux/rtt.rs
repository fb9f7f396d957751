//! Round-trip time and retransmission timeout.
//!
//! Models Linux's estimator in whole microseconds. It differs from RFC 6298 in three points: the variance term has a
//! floor of 200 ms instead of the timeout one of 1 s. The deviation is the largest of a round trip, and only decays once
//! a round trip. A sample below the estimate raises the deviation an eighth as much. The smallest round-trip time is
//! kept by three candidates of the window. Leaves out estimates cached by route.
//!
//! Source: Linux 6.18 `tcp_input.c`, `tcp_rtt_estimator()`, `tcp_update_rtt_min()`; `include/net/tcp.h`, `__tcp_set_rto()`;
//! `tcp_timer.c`, `tcp_retransmit_timer()`; RFC 6298; `lib/win_minmax.c`, K. Nichols' windowed minimum.

use super::shared::SharedProfile;
use crate::units::{Duration, Instant};

/// The estimator of a connection.
#[derive(Debug, Clone)]
pub(super) struct Rtt {
    /// Smoothed round-trip time in microseconds, times 8. Zero before the first sample.
    srtt_x8: i64,
    /// Smoothed mean deviation in microseconds, times 4.
    mdev_x4: i64,
    /// Largest `mdev_x4` of this round trip.
    mdev_max_x4: i64,
    /// The variance term of the timeout, in microseconds.
    rttvar_x4: i64,
    /// The round trip ends when this number is acknowledged.
    round_end: u64,
    /// The timeout in force, in microseconds and in ticks, backed off. Whole ticks.
    rto: u64,
    rto_ticks: u64,
    min: WindowedMin,
}

/// The smallest value of a window of time, by three candidates that lie apart.
#[derive(Debug, Clone)]
struct WindowedMin {
    /// Best first, each later than the one before. `None` before the first value.
    candidates: Option<[Candidate; 3]>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Candidate {
    at: Instant,
    value: Duration,
}

const fn micros(span: Duration) -> u64 {
    span.as_nanos() / 1000
}

impl Rtt {
    pub(super) fn new(profile: &SharedProfile) -> Self {
        let mut rtt = Self {
            srtt_x8: 0,
            mdev_x4: 0,
            mdev_max_x4: 0,
            rttvar_x4: 0,
            round_end: 0,
            rto: 0,
            rto_ticks: 0,
            min: WindowedMin { candidates: None },
        };
        rtt.set_rto(micros(profile.rto_initial), profile);
        rtt
    }

    /// A round trip took `rtt`. `snd_una` and `snd_nxt` are those after the ACK that shows it. Ends backing off.
    pub(super) fn on_sample(&mut self, rtt: Duration, snd_una: u64, snd_nxt: u64, profile: &SharedProfile) {
        let sample = micros(rtt) as i64;
        let floor = micros(profile.rto_min) as i64;
        if self.srtt_x8 == 0 {
            self.srtt_x8 = sample << 3;
            self.mdev_x4 = sample << 1;
            self.rttvar_x4 = self.mdev_x4.max(floor);
            self.mdev_max_x4 = self.rttvar_x4;
            self.round_end = snd_nxt;
        } else {
            let error = sample - (self.srtt_x8 >> 3);
            self.srtt_x8 += error;
            self.note_deviation(error);
            if snd_una > self.round_end {
                self.rttvar_x4 -= (self.rttvar_x4 - self.mdev_max_x4).max(0) >> 2;
                self.round_end = snd_nxt;
                self.mdev_max_x4 = floor;
            }
        }
        self.srtt_x8 = self.srtt_x8.max(1);
        self.reset_backoff(profile);
    }

    fn note_deviation(&mut self, error: i64) {
        let mut change = error.abs() - (self.mdev_x4 >> 2);
        // A sample below the estimate must not raise the timeout much, as it shows that the path is faster.
        if error < 0 && change > 0 {
            change >>= 3;
        }
        self.mdev_x4 += change;
        if self.mdev_x4 > self.mdev_max_x4 {
            self.mdev_max_x4 = self.mdev_x4;
            self.rttvar_x4 = self.rttvar_x4.max(self.mdev_max_x4);
        }
    }

    /// A round trip took `rtt`: keeps it if it is among the smallest (not for one that a delayed ACK may have made long).
    pub(super) fn on_minimum_sample(&mut self, now: Instant, rtt: Duration, profile: &SharedProfile) {
        // The kernel keeps whole microseconds, and none of zero.
        self.min.insert(now, Duration::from_micros(micros(rtt).max(1)), profile.min_rtt_window);
    }

    /// The retransmission timeout in force, backed off. Whole ticks.
    pub(super) const fn rto(&self) -> Duration {
        Duration::from_micros(self.rto)
    }

    /// The same in ticks.
    pub(super) const fn rto_ticks(&self) -> u64 {
        self.rto_ticks
    }

    /// Sets the timeout, in microseconds.
    fn set_rto(&mut self, rto: u64, profile: &SharedProfile) {
        if rto != self.rto {
            self.rto = rto;
            self.rto_ticks = (rto * 1000).div_ceil(profile.jiffy.as_nanos());
        }
    }

    /// Opening gave no sample, most likely because the SYN or its answer was lost: patience is called for (RFC 6298,
    /// section 5.7; `TCP_TIMEOUT_FALLBACK`).
    pub(super) fn fall_back(&mut self, profile: &SharedProfile) {
        let fallback = 3_000_000;
        self.rttvar_x4 = fallback as i64;
        self.mdev_x4 = fallback as i64;
        self.mdev_max_x4 = fallback as i64;
        self.set_rto(fallback, profile);
    }

    /// The timeout is doubled.
    pub(super) fn back_off(&mut self, profile: &SharedProfile) {
        self.set_rto((self.rto * 2).min(micros(profile.rto_max)), profile);
    }

    /// The timeout follows the estimate again.
    fn reset_backoff(&mut self, profile: &SharedProfile) {
        let timeout = ((self.srtt_x8 >> 3) + self.rttvar_x4) as u64;
        let jiffy = micros(profile.jiffy);
        self.set_rto((timeout.div_ceil(jiffy) * jiffy).min(micros(profile.rto_max)), profile);
    }

    /// Smoothed round-trip time. `None` before the first sample.
    pub(super) fn srtt(&self) -> Option<Duration> {
        (self.srtt_x8 > 0).then(|| Duration::from_nanos(self.srtt_x8 as u64 * 125))
    }

    /// Smallest round-trip time of the window. `None` before the first sample.
    pub(super) fn min_rtt(&self) -> Option<Duration> {
        self.min.candidates.map(|[best, ..]| best.value)
    }
}

impl WindowedMin {
    fn insert(&mut self, at: Instant, value: Duration, window: Duration) {
        let new = Candidate { at, value };
        let Some(candidates) = &mut self.candidates else {
            self.candidates = Some([new; 3]);
            return;
        };
        if value <= candidates[0].value || at - candidates[2].at > window {
            *candidates = [new; 3];
            return;
        }
        if value <= candidates[1].value {
            candidates[1..].fill(new);
        } else if value <= candidates[2].value {
            candidates[2] = new;
        }
        Self::age(candidates, new, window);
    }

    /// Drops candidates that have left the window, and takes new ones when its quarter or half has passed without any.
    fn age(candidates: &mut [Candidate; 3], new: Candidate, window: Duration) {
        let [first, second, third] = *candidates;
        let age = new.at - first.at;
        if age > window {
            *candidates = [second, third, new];
            if new.at - candidates[0].at > window {
                *candidates = [third, new, new];
            }
        } else if second.at == first.at && age > window.mul_div(1, 4) {
            candidates[1..].fill(new);
        } else if third.at == second.at && age > window.mul_div(1, 2) {
            candidates[2] = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::profile::Profile;
    use super::*;

    fn linux() -> SharedProfile {
        SharedProfile::new(Profile::linux())
    }

    fn rtt_after(samples_millis: &[u64]) -> Rtt {
        let (linux, mut rtt) = (linux(), Rtt::new(&linux()));
        // Every sample is a round of its own.
        for (round, millis) in samples_millis.iter().enumerate() {
            let round = round as u64;
            rtt.on_sample(Duration::from_millis(*millis), 2 * round, 2 * round + 1, &linux);
        }
        rtt
    }

    #[test]
    fn before_any_sample_the_timeout_is_a_second() {
        let rtt = Rtt::new(&linux());
        assert_eq!((rtt.rto(), rtt.srtt()), (Duration::from_secs(1), None));
    }

    #[test]
    fn the_first_sample_makes_a_timeout_of_three_times_it() {
        // 120 + max(2 · 120, 200) = 360 ms.
        let rtt = rtt_after(&[120]);
        assert_eq!((rtt.srtt(), rtt.rto()), (Some(Duration::from_millis(120)), Duration::from_millis(360)));
    }

    #[test]
    fn a_steady_path_comes_to_its_round_trip_and_the_floor() {
        // The decay stops 3 us above the floor, where its quarter rounds to nothing, and the tick rounds up.
        assert_eq!(rtt_after(&[120; 60]).rto(), Duration::from_millis(324));
        // 20 ms: the first sample is below the floor already.
        assert_eq!(rtt_after(&[20]).rto(), Duration::from_millis(220));
    }

    #[test]
    fn the_deviation_decays_by_a_quarter_of_its_distance_a_round() {
        // The variance term is 1280 ms. The deviation falls to 960 and 720 ms. What counts is the largest of each round.
        // The first round's is 1280 ms, the second's 720: 1280 - (1280 - 720) / 4 = 1140 ms.
        let rto = |rounds: usize| rtt_after(&vec![640; rounds]).rto().as_nanos() / 1_000_000;
        assert_eq!((rto(1), rto(2), rto(3)), (1920, 1920, 1780));
    }

    #[test]
    fn a_longer_round_trip_raises_the_timeout_more_than_a_shorter_one() {
        // 220: error +100 ms, mdev 240 -> 280 ms, srtt 132.5: 412.5, in ticks 416.
        assert_eq!(rtt_after(&[120, 220]).rto(), Duration::from_millis(416));
        // 20: error -100, mdev 240 + (100 - 60) / 8 = 245, srtt 107.5: 352.5, in ticks 356.
        assert_eq!(rtt_after(&[120, 20]).rto(), Duration::from_millis(356));
    }

    #[test]
    fn backing_off_doubles_up_to_the_maximum_and_a_sample_ends_it() {
        let (linux, mut rtt) = (linux(), rtt_after(&[120]));
        rtt.back_off(&linux);
        assert_eq!(rtt.rto(), Duration::from_millis(720));
        (0..20).for_each(|_| rtt.back_off(&linux));
        assert_eq!(rtt.rto(), Duration::from_secs(120));
        rtt.reset_backoff(&linux);
        assert_eq!(rtt.rto(), Duration::from_millis(360));
    }

    #[test]
    fn the_smallest_round_trip_is_forgotten_after_its_window() {
        let (linux, mut rtt) = (linux(), Rtt::new(&linux()));
        let mut min_after = |secs: u64, millis: u64| {
            let now = Instant::from_nanos(secs * 1_000_000_000);
            rtt.on_minimum_sample(now, Duration::from_millis(millis), &linux);
            rtt.min_rtt().unwrap().as_nanos() / 1_000_000
        };
        assert_eq!(min_after(0, 100), 100);
        assert_eq!(min_after(10, 120), 100);
        assert_eq!(min_after(100, 110), 100);
        assert_eq!(min_after(200, 130), 100);
        assert_eq!(min_after(290, 140), 100);
        assert_eq!(min_after(301, 150), 110);
        assert_eq!(min_after(401, 160), 130);
        assert_eq!(min_after(402, 90), 90);
    }
}
