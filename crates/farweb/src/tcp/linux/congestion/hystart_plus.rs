//! HyStart++: a grown round-trip time first slows slow start down, and only then ends it.
//!
//! Models RFC 9406. When the smallest of at least 8 round trips of a round is an eighth (4 to
//! 16 ms) above the smallest of the round before, growth falls to a quarter: conservative slow start. If a round there
//! comes below the round trip that began it, it was a false alarm. After five such rounds ssthresh becomes cwnd. For the
//! first slow start only. Slow start after a timeout is as ever. Without pacing an ACK counts as 8 segments at most. Linux has no
//! such module. Leaves out nothing.
//!
//! Source: RFC 9406, sections 4.2 and 4.3.

use super::AckSample;
use super::window::Window;
use crate::units::Duration;

/// `MIN_RTT_THRESH` and `MAX_RTT_THRESH`.
const THRESHOLD_MIN: Duration = Duration::from_millis(4);
const THRESHOLD_MAX: Duration = Duration::from_millis(16);
/// `MIN_RTT_DIVISOR`.
const THRESHOLD_DIVISOR: u64 = 8;
/// `N_RTT_SAMPLE`.
const SAMPLES_MIN: u32 = 8;
/// `CSS_GROWTH_DIVISOR`.
const CONSERVATIVE_DIVISOR: u32 = 4;
/// `CSS_ROUNDS`.
const CONSERVATIVE_ROUNDS: u32 = 5;
/// Most segments that an ACK grows the window by (`L`, for a sender without pacing).
const GROWTH_MAX: u32 = 8;

/// State of HyStart++.
#[derive(Debug, Clone)]
pub(super) struct HystartPlus {
    phase: Phase,
    round_end: u64,
    last_round_min: Option<Duration>,
    round_min: Option<Duration>,
    samples: u32,
    /// Segments acknowledged towards the next growth in conservative slow start.
    credit: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    SlowStart,
    /// Conservative slow start: the round trip that began it, and rounds that it has lasted.
    Conservative {
        baseline: Duration,
        rounds: u32,
    },
    Over,
}

impl HystartPlus {
    pub(super) const fn new() -> Self {
        Self {
            phase: Phase::SlowStart,
            round_end: 0,
            last_round_min: None,
            round_min: None,
            samples: 0,
            credit: 0,
        }
    }

    /// A loss or a timeout: the first slow start is over.
    pub(super) const fn end(&mut self) {
        self.phase = Phase::Over;
    }

    /// Growth of slow start in segments when `acked` are acknowledged.
    pub(super) fn growth(&mut self, acked: u32, paces: bool) -> u32 {
        let limited = if paces { acked } else { acked.min(GROWTH_MAX) };
        match self.phase {
            Phase::Over => acked,
            Phase::SlowStart => limited,
            Phase::Conservative { .. } => {
                self.credit += limited;
                let growth = self.credit / CONSERVATIVE_DIVISOR;
                self.credit %= CONSERVATIVE_DIVISOR;
                growth
            }
        }
    }

    /// An ACK in slow start took `rtt`.
    pub(super) fn on_sample(&mut self, window: &mut Window, sample: &AckSample, rtt: Duration) {
        if self.phase == Phase::Over {
            return;
        }
        self.round_min = Some(self.round_min.map_or(rtt, |min| min.min(rtt)));
        self.samples += 1;
        self.judge();
        if sample.snd_una > self.round_end {
            self.end_round(window, sample.snd_nxt);
        }
    }

    /// Goes into conservative slow start, or back.
    fn judge(&mut self) {
        let (Some(round_min), true) = (self.round_min, self.samples >= SAMPLES_MIN) else { return };
        self.phase = match (self.phase, self.last_round_min) {
            (Phase::SlowStart, Some(last))
                if round_min
                    >= last + last.mul_div(1, THRESHOLD_DIVISOR).clamp(THRESHOLD_MIN, THRESHOLD_MAX) =>
            {
                Phase::Conservative { baseline: round_min, rounds: 0 }
            }
            (Phase::Conservative { baseline, .. }, _) if round_min < baseline => Phase::SlowStart,
            (phase, _) => phase,
        };
    }

    fn end_round(&mut self, window: &mut Window, snd_nxt: u64) {
        if let Phase::Conservative { baseline, rounds } = self.phase {
            self.phase = Phase::Conservative { baseline, rounds: rounds + 1 };
            if rounds + 1 == CONSERVATIVE_ROUNDS {
                window.ssthresh = window.cwnd;
                self.phase = Phase::Over;
            }
        }
        self.last_round_min = self.round_min.take();
        self.samples = 0;
        self.round_end = snd_nxt;
    }
}

#[cfg(test)]
mod tests {
    use super::super::window::SSTHRESH_INFINITE;
    use super::*;

    /// A round of ten samples of `millis`. `number` is the number of its last byte.
    fn round(plus: &mut HystartPlus, window: &mut Window, number: u64, millis: u64) {
        let rtt = Duration::from_millis(millis);
        for ack in 1..=10 {
            let sample =
                AckSample { rtt: Some(rtt), snd_una: 10 * number + ack, snd_nxt: 10 * number + 10 + ack };
            plus.on_sample(window, &sample, rtt);
        }
    }

    fn after_rounds(millis: &[u64]) -> (HystartPlus, Window) {
        let mut plus = HystartPlus { round_end: 9, ..HystartPlus::new() };
        let mut window = Window { cwnd: 100, ssthresh: SSTHRESH_INFINITE, cwnd_cnt: 0 };
        for (number, millis) in millis.iter().enumerate() {
            round(&mut plus, &mut window, number as u64, *millis);
        }
        (plus, window)
    }

    #[test]
    fn a_steady_round_trip_leaves_slow_start_alone() {
        let (mut plus, window) = after_rounds(&[100, 112, 112, 112]);
        let growth = [(4, false), (20, false), (20, true)].map(|(acked, paces)| plus.growth(acked, paces));
        assert_eq!((growth, window.ssthresh), ([4, 8, 20], SSTHRESH_INFINITE));
    }

    #[test]
    fn a_grown_round_trip_quarters_growth() {
        let (mut plus, window) = after_rounds(&[100, 113]);
        assert_eq!([1, 1, 1, 1, 5].map(|acked| plus.growth(acked, false)), [0, 0, 0, 1, 1]);
        assert_eq!(window.ssthresh, SSTHRESH_INFINITE);
    }

    #[test]
    fn a_round_trip_below_the_one_that_raised_the_alarm_ends_it() {
        let (mut plus, _) = after_rounds(&[100, 130, 120]);
        assert_eq!(plus.growth(4, false), 4);
    }

    #[test]
    fn five_conservative_rounds_end_slow_start() {
        assert_eq!(after_rounds(&[100, 130, 130, 130, 130]).1.ssthresh, SSTHRESH_INFINITE);
        assert_eq!(after_rounds(&[100, 130, 130, 130, 130, 130, 130]).1.ssthresh, 100);
    }
}
