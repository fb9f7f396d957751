//! Pacing: the earliest departure of the next segment.
//!
//! Models Linux without `fq` on the device: the connection keeps that time itself, with a timer of its own to the nanosecond.
//! Each data segment moves it on by its payload at the pace, less its own lateness, but by at least half of that. The first
//! nine of a connection do not. New data and retransmissions wait for it. Those of a timeout or a tail loss probe leave at
//! once and are stamped with it. Reno and CUBIC pace at 200 % of cwnd a round trip below half of ssthresh, at 120 % above.
//! BBR sets its own pace. Leaves out bursts of segmentation offload, and queues of the device.
//!
//! Source: Linux 6.18 `tcp_output.c`, `tcp_update_skb_after_send()`, `tcp_pacing_check()`, `tcp_tsq_write()`; `tcp_input.c`,
//! `tcp_update_pacing_rate()`; `include/net/tcp.h`, `tcp_pacing_delay()`.

use super::congestion::{Event, Window};
use super::connection::Connection;
use super::output::Push;
use crate::tcp::state::{Emit, State};
use crate::units::{Duration, Instant, When};

/// Data segments that leave before pacing begins, and one (`tcp_update_skb_after_send()`, as in `sch_fq`).
const UNPACED: u32 = 10;
/// Pace in percent of cwnd a round trip (`tcp_pacing_ss_ratio`, `tcp_pacing_ca_ratio`).
const PERCENT_SLOW_START: u64 = 200;
const PERCENT_AVOIDANCE: u64 = 120;

/// Pace and next departure of a connection.
#[derive(Debug, Clone)]
pub(super) struct Pacing {
    /// Payload in bytes a second (`sk_pacing_rate`), 0 for unlimited.
    pub(super) rate: u64,
    /// Earliest departure of the next segment (`tcp_wstamp_ns`).
    next: Instant,
    /// Data segments that have left, retransmissions included (`data_segs_out`).
    sent: u32,
}

impl Pacing {
    pub(super) const fn new() -> Self {
        Self { rate: 0, next: Instant::ZERO, sent: 0 }
    }

    /// Earliest departure of the next segment.
    pub(super) const fn next(&self) -> Instant {
        self.next
    }

    /// A segment with `len` bytes of payload leaves at `now`. Returns its time stamp, which is later if it is ahead of its turn.
    pub(super) fn on_sent(&mut self, now: Instant, len: u64) -> Instant {
        let stamp = self.next.max(now);
        let late = stamp - self.next;
        self.next = stamp;
        if len > 0 {
            self.sent = self.sent.saturating_add(1);
            if self.sent >= UNPACED && self.rate > 0 {
                let gap = Duration::from_nanos(len * 1_000_000_000 / self.rate);
                self.next += gap - late.min(gap.mul_div(1, 2));
            }
        }
        stamp
    }

    /// The pace of Reno and CUBIC, for full segments of `mss` bytes and `packets_out` of them queued.
    pub(super) fn follow(&mut self, window: &Window, mss: u64, packets_out: u32, srtt: Duration) {
        let percent = if window.cwnd < window.ssthresh / 2 { PERCENT_SLOW_START } else { PERCENT_AVOIDANCE };
        let in_flight = u128::from(window.cwnd.max(packets_out)) * u128::from(mss);
        let rate = in_flight * u128::from(percent * 10_000_000) / u128::from(srtt.as_nanos().max(1));
        self.rate = u64::try_from(rate).unwrap_or(u64::MAX);
    }
}

impl Connection {
    /// Pace in bit/s of payload. `None` without pacing, and before the first round trip is known.
    #[must_use]
    pub fn pace_bps(&self) -> Option<u64> {
        self.congestion.pace_bps()
    }

    /// True when pacing holds the next segment back. A timer then runs until its departure.
    #[inline]
    pub(super) fn is_paced(&mut self) -> bool {
        match self.congestion.next_departure() {
            Some(next) if next > self.clock.now() => {
                if self.timers.pacing.is_never() {
                    self.timers.pacing = When::at(next);
                }
                true
            }
            _ => false,
        }
    }

    /// Time until the next departure, in whole ticks, rounded down.
    #[cold]
    pub(super) fn ticks_until_departure(&self) -> Duration {
        let jiffy = self.profile.jiffy;
        let next = self.congestion.next_departure().unwrap_or(Instant::ZERO);
        jiffy * (next.saturating_since(self.clock.now()).as_nanos() / jiffy.as_nanos())
    }

    /// The connection is established: pacing begins, if there is any.
    pub(super) fn begin_pacing(&mut self) {
        self.tell_model(Event::Established);
        self.follow_pace();
    }

    /// Takes the pace of Reno or CUBIC.
    #[inline]
    pub(super) fn follow_pace(&mut self) {
        if self.congestion.paces() {
            // Without any sample the kernel divides by no time at all: its unit stands for it here.
            let srtt = self.rtt.srtt().unwrap_or(Duration::from_nanos(125));
            self.congestion.follow_pace(self.mss, self.queue.packets_out(), srtt);
        }
    }

    /// The next segment may leave.
    pub(super) fn on_departure(&mut self, out: &mut impl Emit) {
        self.timers.pacing = When::NEVER;
        let sends = matches!(
            self.state,
            State::Established | State::FinWait1 | State::Closing | State::CloseWait | State::LastAck
        );
        if sends {
            self.retransmit_lost(out);
            self.push(Push::Nagle, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(micros: u64) -> Instant {
        Instant::from_nanos(micros * 1000)
    }

    fn pacing(sent: u32) -> Pacing {
        Pacing { rate: 1_000_000, next: Instant::ZERO, sent }
    }

    #[test]
    fn ten_leave_together_and_then_one_after_each_gap() {
        let mut pacing = pacing(0);
        for _ in 0..9 {
            pacing.on_sent(at(5), 1000);
            assert_eq!(pacing.next(), at(5));
        }
        assert_eq!(pacing.on_sent(at(5), 1000), at(5));
        assert_eq!(pacing.next(), at(1005));
        pacing.on_sent(at(1005), 500);
        assert_eq!(pacing.next(), at(1505));
    }

    #[test]
    fn a_late_segment_makes_up_for_half_a_gap_at_most() {
        let mut pacing = pacing(UNPACED);
        pacing.on_sent(at(100), 1000);
        assert_eq!(pacing.next(), at(1000), "100 us late");
        pacing.on_sent(at(1200), 1000);
        assert_eq!(pacing.next(), at(2000), "200 us late");
        pacing.on_sent(at(9000), 1000);
        assert_eq!(pacing.next(), at(9500), "7 ms late");
    }

    #[test]
    fn a_segment_ahead_of_its_turn_is_stamped_with_it_and_an_ack_uses_up_lateness() {
        let mut pacing = pacing(UNPACED);
        pacing.on_sent(at(500), 1000);
        assert_eq!(pacing.on_sent(at(600), 1000), at(1000));
        assert_eq!(pacing.next(), at(2000));
        assert_eq!(pacing.on_sent(at(2400), 0), at(2400));
        pacing.on_sent(at(2500), 1000);
        assert_eq!(pacing.next(), at(3400), "100 us later than the ACK");
    }

    /// Linux 6.18 `tcp_update_pacing_rate()`: 200 % below half of ssthresh, 120 % from there on, of packets
    /// out if they are more.
    #[test]
    fn reno_and_cubic_pace_at_a_multiple_of_cwnd_a_round_trip() {
        let pace = |cwnd, ssthresh, packets_out| {
            let (mut pacing, window) = (Pacing::new(), Window { cwnd, ssthresh, cwnd_cnt: 0 });
            pacing.follow(&window, 1000, packets_out, Duration::from_millis(100));
            pacing.rate
        };
        assert_eq!(pace(10, 30, 10), 200_000);
        assert_eq!(pace(15, 30, 10), 180_000);
        assert_eq!(pace(10, 10, 20), 240_000);
    }
}
