//! Grants of an end of an HTTP/2 connection for the data that it receives.
//!
//! Models a credit for the connection and one for each stream, each returned by the same rule. Data is counted as it is
//! read, in the middle of a frame, or by whole frames. The connection's credit is raised with the first bytes of the
//! end. A stream's may be raised with its request, its headers or its first data. Both may grow with the path by
//! [`tuning`](super::tuning). Leaves out readers that are slower than the network.
//!
//! Source: RFC 9113, sections 5.2 and 6.9. Implementations stand where they are described.

use crate::http::credit::{GrantRule, Grants};
use crate::units::{Duration, Instant, When};

use super::settings::Settings;
use super::tuning::{Estimator, Tuning};

/// Credit of an end, and its rules of granting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Credit {
    /// Credit of a stream in bytes, as SETTINGS have it.
    pub stream: u64,
    /// Later credit of a stream, and the event that raises it.
    pub raised: Option<(u64, RaiseAt)>,
    /// Credit of the connection in bytes, at least 65,535.
    pub connection: u64,
    /// Rule of granting credit back.
    pub rule: GrantRule,
    /// Time after a grant when anything taken is granted, against the rule.
    pub timer: Option<Duration>,
    /// Bytes of a DATA frame that count.
    pub counts: Counts,
    /// True when the connection's rule is asked when a frame has come, too, before that is taken.
    ///
    /// Source: hyperium/h2: the connection checks its credit after each read, `send_connection_window_update()`.
    pub on_arrival: bool,
    /// Rule for the growth of both.
    pub tuning: Option<Tuning>,
}

/// Event that raises the credit of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RaiseAt {
    /// With the request, behind its header (Firefox, `Http2StreamBase.cpp`).
    Request,
    /// When its headers have come (curl 8, `lib/http2.c`).
    Headers,
    /// With its first data (h2o, `lib/http2/connection.c`).
    FirstData,
}

/// Bytes of a DATA frame that count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counts {
    /// Every byte as it is read (nghttp2, `session_update_recv_stream_window_size()`).
    Bytes,
    /// A whole frame when its last byte is read (h2's codec decodes whole frames).
    Frames,
}

/// Grants to send for bytes that were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Granted {
    /// On the connection, before data is taken, and when it is.
    pub connection: [Option<u64>; 2],
    /// On the stream.
    pub stream: Option<u64>,
    /// True when a PING goes with it.
    pub probes: bool,
}

/// Credits that have grown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grown {
    /// Grant on the connection, in bytes.
    pub connection: Option<u64>,
    /// Credit of a stream, for new SETTINGS.
    pub stream: u64,
}

/// The messages that an end receives, by stream (`S`).
#[derive(Debug, Clone)]
pub struct Receiver<S> {
    credit: Credit,
    connection: Account,
    streams: Vec<(S, Account)>,
    /// Bytes read of a frame that is not whole.
    uncounted: u64,
    estimator: Option<Estimator>,
    /// Credit of a stream that was sent to the other end in settings that it has not acknowledged yet.
    announced: Option<u64>,
}

/// A credit, and when something of it was granted.
#[derive(Debug, Clone, Copy)]
struct Account {
    grants: Grants,
    granted_at: When,
}

impl Account {
    /// `bytes` counted as arrived are taken. Returns the grant for them.
    fn on_consumed(&mut self, now: Instant, bytes: u64, timer: Option<Duration>) -> Option<u64> {
        let due = self.grants.on_consumed(bytes);
        let is_late = timer.zip(self.granted_at.get()).is_some_and(|(timer, at)| now - at >= timer);
        let granted = if is_late { due.or_else(|| self.grants.all()) } else { due };
        if granted.is_some() {
            self.granted_at = When::at(now);
        }
        granted
    }
}

impl<S: Copy + Eq> Receiver<S> {
    /// An end that gives `credit`.
    #[must_use]
    pub fn new(credit: Credit) -> Self {
        let grants = Grants::new(credit.rule, credit.connection);
        Self {
            credit,
            connection: Account { grants, granted_at: When::NEVER },
            streams: Vec::new(),
            uncounted: 0,
            estimator: credit.tuning.map(|tuning| Estimator::new(tuning, credit.stream)),
            announced: None,
        }
    }

    /// The grant on the connection that goes out before anything else, in bytes.
    #[must_use]
    pub const fn first_grant(&self) -> Option<u64> {
        match self.credit.connection.saturating_sub(Settings::DEFAULT.initial_window) {
            0 => None,
            bytes => Some(bytes),
        }
    }

    /// A stream is open for a message to come. Returns the grant on it.
    pub fn open(&mut self, now: Instant, stream: S) -> Option<u64> {
        let grants = Grants::new(self.credit.rule, self.credit.stream);
        self.streams.push((stream, Account { grants, granted_at: When::at(now) }));
        self.raise(stream, RaiseAt::Request)
    }

    /// The header of a message on an open stream has come.
    pub fn on_head(&mut self, now: Instant, stream: S) -> Granted {
        let probes = self.estimator.as_mut().is_some_and(|estimator| estimator.on_head(now));
        Granted { stream: self.raise(stream, RaiseAt::Headers), probes, ..Granted::default() }
    }

    /// The next `bytes` of a message have been read, the rest of its frame is `left`, and `ends` when it is the last one.
    pub fn on_data(&mut self, now: Instant, stream: S, bytes: u64, left: u64, ends: bool) -> Granted {
        let raised = self.raise(stream, RaiseAt::FirstData);
        let counted = match self.credit.counts {
            Counts::Bytes => bytes,
            Counts::Frames if left > 0 => {
                self.uncounted += bytes;
                return Granted { stream: raised, ..Granted::default() };
            }
            Counts::Frames => bytes + std::mem::take(&mut self.uncounted),
        };
        self.connection.grants.on_received(counted);
        let early = if self.credit.on_arrival { self.connection.grants.due() } else { None };
        let probes = self.estimator.as_mut().is_some_and(|estimator| estimator.on_data(now, counted));
        let mut granted = self.connection.on_consumed(now, counted, self.credit.timer);
        if probes && matches!(self.estimator, Some(Estimator::Grpc(_))) {
            // So that a proxy does not take its PINGs for an attack: `handleData()`.
            granted = granted.or_else(|| self.connection.grants.all());
        }
        let on_stream = self.on_data_of(now, stream, counted, ends && left == 0);
        let stream = raised.filter(|_| !(ends && left == 0));
        let stream = on_stream.map_or(stream, |granted| Some(granted + stream.unwrap_or(0)));
        Granted { connection: [early, granted], stream, probes }
    }

    /// `bytes` of a message are taken. Returns the grant on its stream, unless they were the last ones.
    fn on_data_of(&mut self, now: Instant, stream: S, bytes: u64, ends: bool) -> Option<u64> {
        let place = self.streams.iter().position(|(of, _)| *of == stream)?;
        if ends {
            self.streams.remove(place);
            return None;
        }
        let account = &mut self.streams[place].1;
        let before = account.granted_at;
        account.grants.on_received(bytes);
        let granted = account.on_consumed(now, bytes, self.credit.timer)?;
        let (estimator, tuning) = self.estimator.zip(self.credit.tuning).unzip();
        let elapsed = now - before.get().expect("a stream was opened");
        let window = account.grants.window();
        let is_drained = estimator.is_some_and(|estimator| estimator.is_drained(granted, window, elapsed));
        let more =
            tuning.filter(|_| is_drained).and_then(|to| account.grants.raise((2 * window).min(to.max)));
        Some(granted + more.unwrap_or(0))
    }

    /// Nothing more of a message is wanted, or comes. What still comes is counted for the connection.
    pub fn reset(&mut self, stream: S) {
        self.streams.retain(|(of, _)| *of != stream);
    }

    /// The end's first SETTINGS, with the connection's credit, have left.
    pub const fn on_settings_sent(&mut self, now: Instant) {
        self.connection.granted_at = When::at(now);
        if let Some(estimator) = &mut self.estimator {
            estimator.on_settings_sent(now);
        }
    }

    /// The settings last sent by this end are in force at the other one.
    pub fn on_settings_acked(&mut self, now: Instant) {
        if let Some(window) = self.announced.take() {
            self.change_initial(window);
        } else if let Some(estimator) = &mut self.estimator {
            estimator.on_settings_acked(now);
        }
    }

    /// A PING has left.
    pub const fn on_ping_sent(&mut self, now: Instant) {
        if let Some(estimator) = &mut self.estimator {
            estimator.on_ping_sent(now);
        }
    }

    /// A PING is acknowledged. Returns the growth.
    pub fn on_ping_acked(&mut self, now: Instant) -> Option<Grown> {
        let estimator = self.estimator.as_mut()?;
        let stream = estimator.on_ping_acked(now)?;
        let connection = if estimator.counts_at_once() {
            self.change_initial(stream);
            self.connection.grants.raise(stream)
        } else {
            self.announced = Some(stream);
            self.connection.grants.raise_by_rule(stream)
        };
        Some(Grown { connection, stream })
    }

    fn change_initial(&mut self, window: u64) {
        self.credit.stream = window;
        for (_, account) in &mut self.streams {
            account.grants.change_initial(window);
        }
    }

    fn raise(&mut self, stream: S, at: RaiseAt) -> Option<u64> {
        let (to, _) = self.credit.raised.filter(|(_, when)| *when == at)?;
        let (_, account) = self.streams.iter_mut().find(|(of, _)| *of == stream)?;
        account.grants.raise(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::credit::ShareOf;
    use crate::http::h2::tuning::{CREDIT_MAX, TuningRule};

    const NGHTTP: Credit = Credit {
        stream: 65_535,
        raised: None,
        connection: 65_535,
        rule: GrantRule::HALF,
        timer: None,
        counts: Counts::Bytes,
        on_arrival: false,
        tuning: None,
    };

    const HYPER: Credit = Credit {
        rule: GrantRule::Share { of: ShareOf::Remaining, millionths: 500_000, strict: false },
        counts: Counts::Frames,
        on_arrival: true,
        ..NGHTTP
    };

    const fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    /// The grants for a message of `size` in frames of `fragment`, read in segments of `segment`: on the connection, on the stream.
    fn grants(credit: Credit, size: u64, fragment: u64, segment: u64) -> [Vec<u64>; 2] {
        let mut receiver = Receiver::new(credit);
        receiver.open(Instant::ZERO, 'a');
        let (mut connection, mut stream) = (Vec::new(), Vec::new());
        let (mut left, mut frame) = (size, 0);
        let mut readable = 0;
        while left > 0 {
            readable = if readable == 0 { segment } else { readable };
            if frame == 0 {
                frame = fragment.min(left);
            }
            let bytes = readable.min(frame);
            frame -= bytes;
            left -= bytes;
            readable -= bytes;
            let granted = receiver.on_data(Instant::ZERO, 'a', bytes, frame, left == 0);
            connection.extend(granted.connection.into_iter().flatten());
            stream.extend(granted.stream);
        }
        [connection, stream]
    }

    #[test]
    fn a_frame_that_ends_cuts_a_read() {
        // Two frames are one byte more than half of 65,535 B, and a read ends with each: half of the credit comes back twice.
        let [connection, stream] = grants(NGHTTP, 1_000_000, 16_384, 1448);
        assert_eq!((connection.len(), stream.len()), (30, 30));
        assert_eq!(stream[..2], [32_768, 32_768]);
    }

    #[test]
    fn whole_frames_are_counted_when_they_are_there() {
        let [_, stream] = grants(HYPER, 1_000_000, 16_384, 1448);
        assert_eq!(stream[0], 32_768);
        assert_eq!(stream.len(), 30);
    }

    #[test]
    fn a_connection_that_looks_at_its_credit_before_data_is_taken_keeps_a_frame_back() {
        // The second frame leaves less than twice the grant of the first, before it is taken itself.
        let [connection, _] = grants(HYPER, 1_000_000, 16_384, 1448);
        assert!(connection[..20].iter().all(|bytes| *bytes == 16_384), "{connection:?}");
        let [connection, _] = grants(Credit { on_arrival: false, ..HYPER }, 1_000_000, 16_384, 1448);
        assert_eq!(connection[..2], [32_768, 32_768]);
    }

    #[test]
    fn a_timer_grants_what_the_rule_keeps() {
        let chrome = Credit { timer: Some(Duration::from_secs(5)), ..NGHTTP };
        let mut receiver = Receiver::new(chrome);
        receiver.on_settings_sent(at(0));
        receiver.open(at(1000), 'a');
        let mut data = |millis| {
            let Granted { connection: [_, connection], stream, .. } =
                receiver.on_data(at(millis), 'a', 1000, 0, false);
            (connection, stream)
        };
        assert_eq!(data(4999), (None, None));
        assert_eq!(data(5000), (Some(2000), None), "five seconds after the settings");
        assert_eq!(data(6000), (None, Some(3000)), "and after the request");
        assert_eq!(data(9999), (None, None));
        assert_eq!(data(10_000), (Some(3000), None));
    }

    #[test]
    fn a_stream_that_is_drained_within_a_round_trip_gets_twice_the_credit() {
        let tuning = Tuning { rule: TuningRule::DrainEighth, max: 150_000 };
        let rule = GrantRule::Share { of: ShareOf::Initial, millionths: 125_000, strict: false };
        let dotnet = Credit { rule, connection: 64 << 20, tuning: Some(tuning), ..NGHTTP };
        let mut receiver = Receiver::new(dotnet);
        receiver.on_settings_sent(at(0));
        receiver.on_settings_acked(at(80));
        receiver.open(at(80), 'a');
        assert!(receiver.on_head(at(160), 'a').probes);
        let mut eighth = |millis, bytes| receiver.on_data(at(millis), 'a', bytes, 0, false).stream;
        assert_eq!(eighth(160, 8191), Some(8191), "a whole round trip");
        assert_eq!(eighth(165, 8191), Some(8191 + 65_535), "an eighth of one is 10 ms");
        assert_eq!(eighth(170, 8191), None, "an eighth is more now");
        assert_eq!(eighth(171, 8192), Some(8191 + 8192 + 150_000 - 131_070), "to the limit");
        assert_eq!(eighth(172, 18_750), Some(18_750));
    }

    #[test]
    fn a_larger_product_of_bandwidth_and_delay_becomes_the_credit() {
        let with = |rule| Credit { tuning: Some(Tuning { rule, max: CREDIT_MAX }), ..HYPER };
        for rule in [TuningRule::BdpGrpc, TuningRule::BdpHyper] {
            let mut receiver = Receiver::new(with(rule));
            receiver.open(at(0), 'a');
            assert!(receiver.on_data(at(100), 'a', 50_000, 0, false).probes);
            receiver.on_ping_sent(at(100));
            assert_eq!(receiver.on_ping_acked(at(200)).map(|grown| grown.stream), Some(100_000), "{rule:?}");
            let window = |receiver: &Receiver<char>| receiver.streams[0].1.grants.window();
            let before = if rule == TuningRule::BdpGrpc { 100_000 } else { 65_535 };
            assert_eq!(window(&receiver), before, "{rule:?}");
            receiver.on_settings_acked(at(300));
            assert_eq!((window(&receiver), receiver.connection.grants.window()), (100_000, 100_000));
            receiver.open(at(300), 'b');
            assert_eq!(receiver.streams[1].1.grants.window(), 100_000);
        }
    }

    #[test]
    fn a_connection_gets_grants_for_messages_that_nobody_wants() {
        let mut receiver = Receiver::new(NGHTTP);
        receiver.open(Instant::ZERO, 'a');
        receiver.reset('a');
        let granted = receiver.on_data(Instant::ZERO, 'a', 32_767, 1, false);
        assert_eq!(granted, Granted { connection: [None, Some(32_767)], ..Granted::default() });
    }

    #[test]
    fn a_credit_may_be_raised_late() {
        let raised = |when| Credit { stream: 65_536, raised: Some((10 << 20, when)), ..NGHTTP };
        let mut curl = Receiver::new(raised(RaiseAt::Headers));
        let more = Some((10 << 20) - 65_536);
        assert_eq!((curl.open(at(0), 'a'), curl.on_head(at(1), 'a').stream), (None, more));
        let mut h2o = Receiver::new(raised(RaiseAt::FirstData));
        assert_eq!((h2o.open(at(0), 'a'), h2o.on_head(at(1), 'a').stream), (None, None));
        assert_eq!(h2o.on_data(at(2), 'a', 1000, 0, false).stream, more);
        assert_eq!(h2o.on_data(at(3), 'a', 1000, 0, false).stream, None);
        assert_eq!(Receiver::new(raised(RaiseAt::Request)).open(at(0), 'a'), more, "Firefox");
    }

    #[test]
    fn a_larger_credit_of_the_connection_is_granted_first() {
        assert_eq!(Receiver::<u8>::new(NGHTTP).first_grant(), None);
        let chrome = Receiver::<u8>::new(Credit { connection: 15 << 20, ..NGHTTP });
        assert_eq!(chrome.first_grant(), Some(15_663_105), "as Chrome sends it");
    }
}
