//! Regulator: packets of a response leave the server at the response's recorded rate.
//!
//! Models a server with a rate limit of its own **below TCP**: TCP's segments pass through a queue of the connection. A
//! packet leaves at max(now, departure of the one before) + fresh bytes ÷ rate. Fresh are bytes of a response that pass
//! for the first time. SYN, ACK, FIN and retransmissions cost nothing and keep their place. So the release is in series
//! with slow start and with windows, where a release above TCP runs beside them, and TCP's round-trip samples contain the
//! wait here. Leaves out any limit of this queue.
//!
//! Source: the NZ–US studies (CNDS 2001, pp. 97–102), which release "the packets that make up the HTTP response at a regulated
//! rate so that the complete response arrives at the US proxy at the same mean rate as it did when the page was fetched on
//! the real network".

use std::collections::VecDeque;

use super::ExchangeId;
use crate::tcp::{FIRST_BYTE, Segment};
use crate::units::{Duration, Instant};

/// The queue below a server's TCP.
#[derive(Debug, Default)]
pub(crate) struct Regulator {
    /// Departure of the last packet so far.
    free: Instant,
    /// Bytes of the stream that have passed.
    passed: u64,
    /// Bytes of the stream that have been announced.
    announced: u64,
    /// Responses with bytes still to pass, in their order.
    responses: VecDeque<Paced>,
    waiting: VecDeque<(Instant, Segment)>,
}

/// A response in the stream.
#[derive(Debug, Clone, Copy)]
struct Paced {
    exchange: ExchangeId,
    end: u64,
    bytes: u64,
    /// Time that all its bytes take.
    span: Duration,
}

/// A response with its last byte passed, and when that leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Passed {
    pub(crate) exchange: ExchangeId,
    pub(crate) at: Instant,
}

impl Regulator {
    /// The next `bytes` of the stream are the response to an exchange, and take `span` to leave.
    pub(crate) fn announce(&mut self, exchange: ExchangeId, bytes: u64, span: Duration) {
        self.announced += bytes;
        self.responses.push_back(Paced { exchange, end: self.announced, bytes, span });
    }

    /// When `segment`, which TCP sends now, leaves. `ended` takes the responses that end in it.
    pub(crate) fn departure(
        &mut self,
        now: Instant,
        segment: &Segment,
        mut ended: impl FnMut(Passed),
    ) -> Instant {
        let end = (segment.seq + u64::from(segment.len)).saturating_sub(FIRST_BYTE);
        let mut at = self.free.max(now);
        while let Some(response) = self.responses.front()
            && self.passed < end
        {
            let before = self.passed - (response.end - response.bytes);
            let fresh = end.min(response.end) - self.passed;
            at += response.due(before + fresh) - response.due(before);
            self.passed += fresh;
            if self.passed == response.end {
                ended(Passed { exchange: response.exchange, at });
                self.responses.pop_front();
            }
        }
        self.free = at;
        at
    }

    /// Keeps a segment that leaves later. True if it is the only one.
    pub(crate) fn keep(&mut self, at: Instant, segment: Segment) -> bool {
        self.waiting.push_back((at, segment));
        self.waiting.len() == 1
    }

    /// The segment that leaves now, if one does.
    pub(crate) fn take(&mut self, now: Instant) -> Option<Segment> {
        self.next().filter(|at| *at <= now)?;
        self.waiting.pop_front().map(|(_, segment)| segment)
    }

    /// Departure of the segment that waits in front.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.waiting.front().map(|(at, _)| *at)
    }
}

impl Paced {
    /// Time that its first `bytes` take, rounded down to the nanosecond: all together take the span.
    fn due(&self, bytes: u64) -> Duration {
        self.span.mul_div(bytes, self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Slab;
    use crate::tcp::{Codepoint, Flags, Options};

    fn segment(first: u64, len: u32) -> Segment {
        Segment {
            seq: FIRST_BYTE + first,
            ack: 0,
            len,
            window: 0,
            flags: Flags::ACK,
            ecn: Codepoint::NotEct,
            options: Options::NONE,
        }
    }

    const fn ms(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    /// Departures in ms of segments (time in ms, first byte, length), and the responses that end.
    fn departures(regulator: &mut Regulator, segments: &[(u64, u64, u32)]) -> (Vec<u64>, Vec<Passed>) {
        let mut ended = Vec::new();
        let leave = |&(now, first, len): &(u64, u64, u32)| {
            let at = regulator.departure(ms(now), &segment(first, len), |passed| ended.push(passed));
            at.as_nanos() / 1_000_000
        };
        (segments.iter().map(leave).collect(), ended)
    }

    #[test]
    fn fresh_bytes_take_their_time_and_all_else_keeps_its_place() {
        let exchange = Slab::new().insert(());
        let mut regulator = Regulator::default();
        regulator.announce(exchange, 4000, Duration::from_millis(2000));
        // Data, an ACK behind it, data that TCP sends while the one before waits, the same data again, then the rest long after.
        let sent = [(100, 0, 1000), (100, 1000, 0), (150, 1000, 1000), (160, 0, 1000), (5000, 2000, 2000)];
        let (left, ended) = departures(&mut regulator, &sent);
        assert_eq!(left, [600, 600, 1100, 1100, 6000]);
        assert_eq!(ended, [Passed { exchange, at: ms(6000) }]);
    }

    #[test]
    fn a_segment_with_the_end_of_one_response_and_the_start_of_another_pays_for_both() {
        let mut ids = Slab::new();
        let [first, second] = [ids.insert(()), ids.insert(())];
        let mut regulator = Regulator::default();
        regulator.announce(first, 1000, Duration::from_millis(100));
        regulator.announce(second, 500, Duration::from_millis(500));
        let (left, ended) = departures(&mut regulator, &[(0, 0, 600), (0, 600, 500), (0, 1100, 400)]);
        assert_eq!(left, [60, 200, 600]);
        assert_eq!(
            ended,
            [Passed { exchange: first, at: ms(100) }, Passed { exchange: second, at: ms(600) }]
        );
    }

    #[test]
    fn the_time_of_a_response_is_met_to_the_nanosecond_however_it_is_cut() {
        let exchange = Slab::new().insert(());
        let span = Duration::from_nanos(1_000_000_007);
        for size in [1, 7, 536, 1460] {
            let mut regulator = Regulator::default();
            regulator.announce(exchange, 9999, span);
            let mut last = Instant::ZERO;
            for first in (0..9999).step_by(size) {
                let len = size.min(9999 - first) as u32;
                last = regulator.departure(Instant::ZERO, &segment(first as u64, len), |_| {});
            }
            assert_eq!(last, Instant::ZERO + span);
        }
    }

    #[test]
    fn what_waits_leaves_in_its_order() {
        let mut regulator = Regulator::default();
        assert!(regulator.keep(ms(10), segment(0, 1)) && !regulator.keep(ms(10), segment(1, 1)));
        assert!(!regulator.keep(ms(20), segment(2, 1)));
        let seqs = |regulator: &mut Regulator, now| {
            std::iter::from_fn(|| regulator.take(ms(now)).map(|segment| segment.seq - FIRST_BYTE))
                .collect::<Vec<_>>()
        };
        assert_eq!((seqs(&mut regulator, 9), seqs(&mut regulator, 10)), (vec![], vec![0, 1]));
        assert_eq!(
            (regulator.next(), seqs(&mut regulator, 20), regulator.next()),
            (Some(ms(20)), vec![2], None)
        );
    }
}
