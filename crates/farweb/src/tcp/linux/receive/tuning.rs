//! Auto-tuning of the receive buffer: its size for the application's rate of reading.
//!
//! Models dynamic right-sizing: once a round trip the bytes that the application has read are compared with the best
//! round trip before. If there are more, the window is to be twice as many, as present ACKs let the sender send the bytes
//! read a round trip later. It gains more still in proportion to the growth, as slow start doubles. The receiver's round
//! trip comes from the timestamps that its ACKs bring back, in milliseconds, or from the time that a window takes to
//! arrive. Leaves out buffers locked by the application (`SO_RCVBUF`).
//!
//! Source: Linux 6.18 `tcp_input.c`, `tcp_rcv_space_adjust()`, `tcp_rcvbuf_grow()`, `tcp_rcv_rtt_update()`,
//! `tcp_rcv_rtt_measure_ts()`, `tcp_rcv_rtt_measure()`; M. Fisk, W. Feng, "Dynamic Right-Sizing in TCP", 2001.

use std::num::NonZeroU64;

use crate::units::{Duration, Instant};

/// Measures of one connection.
#[derive(Debug, Clone)]
pub(super) struct Tuning {
    /// Bytes read in the best round trip.
    best: u64,
    /// First number not read when the round trip began, and when that was.
    seq: u64,
    since: Instant,
    /// Smoothed round trip in microseconds, times 8. Zero before the first sample.
    rtt_x8: u64,
    /// The window that is being timed ends here. `None` before the first.
    window: Option<(NonZeroU64, Instant)>,
    last_echo: Option<u32>,
}

impl Tuning {
    pub(super) const fn new() -> Self {
        Self { best: 0, seq: 0, since: Instant::ZERO, rtt_x8: 0, window: None, last_echo: None }
    }

    /// The connection opens. A round trip's worth is `best` bytes at first.
    pub(super) const fn start(&mut self, now: Instant, seq: u64, best: u64) {
        self.best = best;
        self.seq = seq;
        self.since = now;
    }

    /// The receiver's estimate of the round trip.
    pub(super) fn rtt(&self) -> Option<Duration> {
        (self.rtt_x8 > 0).then(|| Duration::from_nanos(self.rtt_x8 * 125))
    }

    /// Bytes read in the best round trip.
    pub(super) const fn best(&self) -> u64 {
        self.best
    }

    /// The best round trip cannot have brought more than the window is now.
    pub(super) fn limit_best(&mut self, window: u64) {
        self.best = self.best.min(window);
    }

    /// A segment brought back the timestamp `echo`, sent `age_millis` before. `is_full` when it is of full size.
    pub(super) fn on_echo(&mut self, echo: u32, age_millis: u32, is_full: bool) {
        if self.last_echo == Some(echo) {
            return;
        }
        self.last_echo = Some(echo);
        if is_full && age_millis > 0 {
            let sample = u64::from(age_millis) * 1000;
            if self.rtt_x8 == 0 || sample * 8 < self.rtt_x8 {
                self.rtt_x8 = sample * 8;
            } else {
                self.rtt_x8 = self.rtt_x8 - (self.rtt_x8 >> 3) + sample;
            }
        }
    }

    /// Data came in order up to `rcv_nxt`. The window is `window` bytes.
    pub(super) fn on_data(&mut self, now: Instant, rcv_nxt: u64, window: u64) {
        if let Some((end, since)) = self.window {
            if rcv_nxt < end.get() {
                return;
            }
            let sample = ((now - since).as_nanos() / 1000).max(1) * 8;
            // A window may have come slowly for want of data: only a shorter time is believed.
            if self.rtt_x8 == 0 || sample < self.rtt_x8 {
                self.rtt_x8 = sample;
            }
        }
        self.window = NonZeroU64::new(rcv_nxt + window).map(|end| (end, now));
    }

    /// The application has read up to `copied_seq`, and `unread` bytes wait. The bytes of a round trip and of the best one
    /// before, if there are more now than ever.
    pub(super) fn on_read(&mut self, now: Instant, copied_seq: u64, unread: u64) -> Option<(u64, u64)> {
        let elapsed = (now - self.since).as_nanos() / 1000;
        if self.rtt_x8 == 0 || elapsed < self.rtt_x8 >> 3 {
            return None;
        }
        let copied = (copied_seq - self.seq).saturating_sub(unread);
        self.seq = copied_seq;
        self.since = now;
        if copied <= self.best {
            return None;
        }
        Some((copied, std::mem::replace(&mut self.best, copied)))
    }
}

/// Window for a sender that has sent `copied` bytes in a round trip and `before` in the best one before.
pub(super) fn window_for(copied: u64, before: u64) -> u64 {
    let window = 2 * copied;
    let growth = u128::from(window) * u128::from(copied - before) / u128::from(before.max(1));
    window + 2 * u64::try_from(growth).unwrap_or(u64::MAX / 4).min(u64::MAX / 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    #[test]
    fn a_steady_rate_gets_twice_its_round_trip_and_a_doubled_one_six_times() {
        assert_eq!(window_for(10_000, 10_000), 20_000);
        assert_eq!(window_for(20_000, 10_000), 120_000);
    }

    #[test]
    fn reading_is_judged_once_a_round_trip() {
        let mut tuning = Tuning::new();
        tuning.start(at(0), 1, 14_600);
        assert_eq!(tuning.on_read(at(200), 20_001, 0), None);
        tuning.on_echo(7, 100, true);
        assert_eq!(tuning.on_read(at(99), 20_001, 0), None);
        assert_eq!(tuning.on_read(at(200), 20_001, 0), Some((20_000, 14_600)));
        assert_eq!(tuning.on_read(at(250), 90_001, 0), None);
        // What waits to be read was not read in time.
        assert_eq!(tuning.on_read(at(300), 50_001, 15_000), None);
        assert_eq!(tuning.best(), 20_000);
    }

    #[test]
    fn the_same_echo_counts_once_and_short_segments_not_at_all() {
        let mut tuning = Tuning::new();
        tuning.on_echo(7, 100, false);
        assert_eq!(tuning.rtt(), None);
        tuning.on_echo(8, 100, true);
        tuning.on_echo(8, 300, true);
        assert_eq!(tuning.rtt(), Some(Duration::from_millis(100)));
        tuning.on_echo(9, 180, true);
        assert_eq!(tuning.rtt(), Some(Duration::from_millis(110)));
        tuning.on_echo(10, 50, true);
        assert_eq!(tuning.rtt(), Some(Duration::from_millis(50)));
    }

    #[test]
    fn without_timestamps_the_fastest_window_counts() {
        let mut tuning = Tuning::new();
        tuning.on_data(at(0), 1000, 10_000);
        tuning.on_data(at(50), 10_999, 10_000);
        assert_eq!(tuning.rtt(), None);
        tuning.on_data(at(120), 11_000, 10_000);
        assert_eq!(tuning.rtt(), Some(Duration::from_millis(120)));
        tuning.on_data(at(400), 21_000, 10_000);
        tuning.on_data(at(480), 31_000, 10_000);
        assert_eq!(tuning.rtt(), Some(Duration::from_millis(80)));
    }
}
