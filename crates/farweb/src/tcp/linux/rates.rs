//! Samples of the delivery rate.
//!
//! Models the samples that Linux makes with each ACK. A segment is marked when it leaves with the last delivery so far, and the
//! transmission of the segment delivered then. The most recently sent segment of an ACK makes its sample: segments delivered
//! since its mark, over the longer of the times that sending and delivering them took. A flight that the application has not
//! filled is marked as application-limited.
//!
//! Source: Linux 6.18 `tcp_rate.c`; draft-cheng-iccrg-delivery-rate-estimation-02.

use std::collections::VecDeque;

use crate::units::Instant;

/// Whole microseconds, the kernel's unit here.
const fn micros(at: Instant) -> u64 {
    at.as_nanos() / 1000
}

/// State of the connection at the last transmission of a segment, times in microseconds.
#[derive(Debug, Clone, Copy, Default)]
struct Mark {
    first_sent: u64,
    delivered_at: u64,
    app_limited: bool,
}

/// Marks of the queued segments, in step with the queue, and the state that they are made from. Times in microseconds.
#[derive(Debug, Clone, Default)]
pub(super) struct Rates {
    marks: VecDeque<Mark>,
    /// The mark of the segment that left the queue last.
    popped: Mark,
    /// The mark and the transmission of the most recently sent segment of this ACK so far.
    newest: Option<(Mark, u64)>,
    /// Transmission of the most recently sent segment delivered, or start of the flight (`first_tx_mstamp`).
    first_sent: u64,
    /// Segments in flight before the ACK, and true if that makes no sample.
    pub(super) prior_in_flight: u32,
    is_skipped: bool,
    /// Last delivery, or start of the flight (`delivered_mstamp`).
    pub(super) delivered_at: u64,
    /// Segments delivered at the end of a flight that the application has not filled. 0 in others (`app_limited`).
    pub(super) app_limited: u64,
}

/// Sample of one ACK.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Rate {
    /// Segments delivered since the mark, 0 without a sample.
    pub(super) delivered: u64,
    /// Time that they took, in microseconds. `None` where that is below any round trip, or without a sample.
    pub(super) interval: Option<u64>,
    pub(super) app_limited: bool,
}

impl Rates {
    fn mark(&self) -> Mark {
        let Self { first_sent, delivered_at, app_limited, .. } = *self;
        Mark { first_sent, delivered_at, app_limited: app_limited > 0 }
    }

    /// A new segment leaves at `at`. `is_first` where the queue was empty.
    pub(super) fn on_sent(&mut self, at: Instant, is_first: bool) {
        if is_first {
            (self.first_sent, self.delivered_at) = (micros(at), micros(at));
        }
        self.marks.push_back(self.mark());
    }

    /// The segment at `place` leaves again.
    pub(super) fn on_retransmit(&mut self, place: usize) {
        self.marks[place] = self.mark();
    }

    /// The segment at `place` becomes two.
    pub(super) fn split(&mut self, place: usize) {
        self.marks.insert(place + 1, self.marks[place]);
    }

    /// The first segment leaves the queue.
    pub(super) fn pop(&mut self) {
        self.popped = self.marks.pop_front().unwrap_or_default();
    }

    /// The segment that left the queue last was delivered, and is the most recently sent one of this ACK so far.
    pub(super) fn choose_popped(&mut self, sent_at: Instant) {
        self.choose(self.popped, sent_at);
    }

    /// The same for the segment at `place`.
    pub(super) fn choose_at(&mut self, place: usize, sent_at: Instant) {
        self.choose(self.marks[place], sent_at);
    }

    fn choose(&mut self, mark: Mark, sent_at: Instant) {
        self.first_sent = micros(sent_at);
        self.newest = Some((mark, self.first_sent));
    }

    /// An ACK comes, with so many segments in flight. `is_skipped` if it makes no sample.
    pub(super) const fn begin_sample(&mut self, in_flight: u32, is_skipped: bool) {
        (self.newest, self.prior_in_flight, self.is_skipped) = (None, in_flight, is_skipped);
    }

    /// The application writes while `delivered` segments are delivered or in flight, and nothing else holds the sender.
    pub(super) fn limit(&mut self, delivered: u64) {
        self.app_limited = delivered.max(1);
    }

    /// An ACK has shown `new` of all `delivered` segments. `before` were delivered when its most recently sent one left.
    pub(super) fn sample(
        &mut self,
        now: Instant,
        delivered: u64,
        new: u32,
        before: u64,
        min_rtt: Option<u64>,
    ) -> Rate {
        if delivered > self.app_limited {
            self.app_limited = 0;
        }
        if new > 0 {
            self.delivered_at = micros(now);
        }
        let Some((mark, sent_at)) = self.newest.filter(|_| !self.is_skipped) else { return Rate::default() };
        let sending = sent_at.saturating_sub(mark.first_sent);
        let delivering = micros(now).saturating_sub(mark.delivered_at);
        let interval = sending.max(delivering);
        let is_long = interval > 0 && min_rtt.is_some_and(|min| interval >= min);
        Rate {
            delivered: delivered - before,
            interval: is_long.then_some(interval),
            app_limited: mark.app_limited,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    const MIN_RTT: Option<u64> = Some(100_000);

    /// Ten segments leave at 0 ms, 1 ms apart, and arrive 100 ms later.
    fn flight() -> Rates {
        let mut rates = Rates::default();
        (0..10).for_each(|n| rates.on_sent(at(n), n == 0));
        rates
    }

    fn deliver(rates: &mut Rates, sent: u64, now: u64, delivered: u64) -> Rate {
        rates.pop();
        rates.choose_popped(at(sent));
        rates.sample(at(now), delivered, 1, 0, MIN_RTT)
    }

    #[test]
    fn a_sample_counts_from_the_start_of_its_flight() {
        let mut rates = flight();
        assert_eq!(deliver(&mut rates, 0, 100, 1).interval, Some(100_000));
        let fifth = deliver(&mut rates, 1, 101, 2);
        assert_eq!((fifth.delivered, fifth.interval), (2, Some(101_000)));
    }

    /// ACKs that come closer together than segments left show no more than the rate of sending.
    #[test]
    fn the_longer_of_sending_and_delivering_counts() {
        let mut rates = flight();
        deliver(&mut rates, 0, 100, 1);
        // Sent at 100 ms, with the first of the flight delivered. The one before it left at 0 ms.
        rates.on_sent(at(100), false);
        (0..9).for_each(|_| rates.pop());
        rates.on_sent(at(350), false);
        rates.pop();
        rates.choose_popped(at(350));
        assert_eq!(rates.sample(at(450), 12, 1, 1, MIN_RTT).interval, Some(350_000));
    }

    #[test]
    fn an_interval_below_the_shortest_round_trip_is_no_sample() {
        let rate = deliver(&mut flight(), 0, 99, 1);
        assert_eq!((rate.delivered, rate.interval), (1, None));
    }

    #[test]
    fn an_application_limits_its_flight_until_more_is_delivered() {
        let mut rates = Rates::default();
        rates.limit(0);
        rates.on_sent(at(0), true);
        rates.on_sent(at(0), false);
        assert!(deliver(&mut rates, 0, 100, 1).app_limited);
        assert!(deliver(&mut rates, 0, 101, 2).app_limited, "it left under the mark");
        rates.on_sent(at(101), true);
        assert!(!deliver(&mut rates, 101, 201, 3).app_limited);
    }
}
