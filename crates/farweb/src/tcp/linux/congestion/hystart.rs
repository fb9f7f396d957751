//! HyStart: leaving slow start before a queue overflows, as CUBIC in Linux has it.
//!
//! Models the module with both of its signs on. Each of them ends slow start, in windows of 16 segments and more. The
//! train: ACKs less than 2 ms apart go on for longer than half of the smallest round trip after the round began. The
//! delay: the ninth round-trip sample of a round, or a later one, finds the round's smallest to be an eighth (4 to 16 ms)
//! above the smallest ever. A round ends when what had been sent at its begin is acknowledged. On either sign ssthresh
//! becomes cwnd.
//!
//! A sender that paces waits for a train of a whole round trip, since its own ACKs are as far apart as its segments.
//!
//! Linux adds to the train's threshold the time of four largest offloaded segments at twice cwnd a round trip, at
//! most 1 ms. Below 260 MB/s that is 1 ms. Here it always is.
//!
//! Source: Linux 6.18 `tcp_cubic.c`, `hystart_update()`, `hystart_ack_delay()`; S. Ha, I. Rhee, "Taming the Elephants: New
//! TCP Slow Start", 2008.

use super::super::profile::Profile;
use super::AckSample;
use super::window::Window;
use crate::units::{Duration, Instant};

/// Round-trip samples of a round before its smallest counts (`HYSTART_MIN_SAMPLES`).
const SAMPLES_MIN: u32 = 8;
/// Growth of the round-trip time that is always tolerated (`HYSTART_DELAY_MIN`).
const DELAY_MIN: Duration = Duration::from_millis(4);
/// Growth of the round-trip time that is never tolerated (`HYSTART_DELAY_MAX`).
const DELAY_MAX: Duration = Duration::from_millis(16);
/// Tolerance for the length of a train, for bursts at the sender (`hystart_ack_delay()`).
const BURST_ALLOWANCE: Duration = Duration::from_millis(1);

/// State of HyStart.
#[derive(Debug, Clone)]
pub(super) struct Hystart {
    /// A sign was seen. Nothing is looked at until a timeout.
    found: bool,
    round_start: Instant,
    /// Last ACK that came close to the one before it.
    last_close_ack: Instant,
    /// The round ends when more than this is acknowledged.
    round_end: u64,
    round_min: Option<Duration>,
    samples: u32,
}

impl Hystart {
    pub(super) const fn new() -> Self {
        Self {
            found: false,
            round_start: Instant::ZERO,
            last_close_ack: Instant::ZERO,
            round_end: 0,
            round_min: None,
            samples: 0,
        }
    }

    /// A timeout: slow start begins anew, and a sign may be seen again.
    pub(super) const fn restart(&mut self, now: Instant, snd_nxt: u64) {
        self.found = false;
        self.begin_round(now, snd_nxt);
    }

    const fn begin_round(&mut self, now: Instant, snd_nxt: u64) {
        self.round_start = now;
        self.last_close_ack = now;
        self.round_end = snd_nxt;
        self.round_min = None;
        self.samples = 0;
    }

    /// An ACK in slow start took `rtt`. `delay_min` is the smallest ever.
    pub(super) fn on_sample(
        &mut self,
        now: Instant,
        profile: &Profile,
        window: &mut Window,
        sample: &AckSample,
        rtt: Duration,
        delay_min: Duration,
    ) {
        if self.found {
            return;
        }
        if sample.snd_una > self.round_end {
            self.begin_round(now, sample.snd_nxt);
        }
        if window.cwnd < profile.hystart_low_window {
            return;
        }
        // Both are checked: a long train must not keep the samples from being counted.
        let is_long_train = self.is_long_train(now, profile, delay_min);
        let has_grown = self.has_grown(rtt, delay_min);
        if is_long_train || has_grown {
            self.found = true;
            window.ssthresh = window.cwnd;
        }
    }

    fn is_long_train(&mut self, now: Instant, profile: &Profile, delay_min: Duration) -> bool {
        if now - self.last_close_ack > profile.hystart_ack_delta {
            return false;
        }
        self.last_close_ack = now;
        let whole = delay_min + BURST_ALLOWANCE;
        now - self.round_start > if profile.paces() { whole } else { whole.mul_div(1, 2) }
    }

    fn has_grown(&mut self, rtt: Duration, delay_min: Duration) -> bool {
        let round_min = self.round_min.map_or(rtt, |min| min.min(rtt));
        self.round_min = Some(round_min);
        if self.samples < SAMPLES_MIN {
            self.samples += 1;
            return false;
        }
        round_min > delay_min + delay_min.mul_div(1, 8).clamp(DELAY_MIN, DELAY_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::profile::PacingKind;
    use super::super::window::SSTHRESH_INFINITE;
    use super::*;

    const RTT: Duration = Duration::from_millis(100);

    /// ACKs one by one, `gap_micros` apart, each after `rtt`. Number of the ACK that ends slow start.
    fn acks_until_found(cwnd: u32, gap_micros: u64, rtt: Duration) -> Option<u64> {
        acks_until_found_by(&Profile::linux(), cwnd, gap_micros, rtt)
    }

    fn acks_until_found_by(profile: &Profile, cwnd: u32, gap_micros: u64, rtt: Duration) -> Option<u64> {
        let mut hystart = Hystart::new();
        let mut window = Window { cwnd, ssthresh: SSTHRESH_INFINITE, cwnd_cnt: 0 };
        let start = Instant::ZERO + RTT;
        (0..200).find(|ack| {
            let now = start + Duration::from_micros(gap_micros * ack);
            let sample = AckSample { rtt: Some(rtt), snd_una: 1 + ack, snd_nxt: 1000 };
            hystart.on_sample(now, profile, &mut window, &sample, rtt, RTT);
            window.ssthresh == cwnd
        })
    }

    #[test]
    fn a_train_longer_than_half_a_round_trip_ends_slow_start() {
        // The threshold is (100 + 1) / 2 = 50.5 ms: at 1.2 ms a segment the 43rd ACK after the first, at 51.6 ms.
        assert_eq!(acks_until_found(64, 1200, RTT), Some(43));
    }

    #[test]
    fn a_sender_that_paces_waits_for_a_train_of_a_round_trip() {
        // 101 ms: the 85th ACK after the first, at 102 ms.
        let paced = Profile { pacing: PacingKind::Internal, ..Profile::linux() };
        assert_eq!(acks_until_found_by(&paced, 64, 1200, RTT), Some(85));
    }

    #[test]
    fn acks_more_than_2_ms_apart_are_no_train() {
        assert_eq!(acks_until_found(64, 2000, RTT), Some(26));
        assert_eq!(acks_until_found(64, 2001, RTT), None);
    }

    #[test]
    fn the_ninth_sample_shows_a_grown_round_trip() {
        // An eighth of 100 ms is 12.5 ms.
        assert_eq!(acks_until_found(64, 5000, RTT + Duration::from_micros(12_500)), None);
        assert_eq!(acks_until_found(64, 5000, RTT + Duration::from_micros(12_501)), Some(8));
    }

    #[test]
    fn a_small_window_is_left_alone() {
        assert_eq!(acks_until_found(15, 1200, RTT), None);
        assert_eq!(acks_until_found(16, 1200, RTT), Some(43));
    }
}
