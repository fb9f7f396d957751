//! Credits that grow with the measured path.
//!
//! Models what three programs do to credits of their own accord. gRPC and hyper time a PING that goes out with data, count the data
//! that comes until it is acknowledged, and take twice that for the credit of every stream and of the connection where it shows a
//! larger product of bandwidth and delay than the one before. .NET knows the shortest round trip of SETTINGS and of PINGs, and doubles
//! the credit of a stream that is used up faster than once a round trip. Leaves out PINGs that keep an idle connection alive.
//!
//! Source: each estimator's line, read in November 2026.

use crate::units::{Duration, Instant, When};

/// Rule of growing credits, and their limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tuning {
    /// Rule for their growth.
    pub rule: TuningRule,
    /// The greatest credit, in bytes, to 2^31 - 1.
    pub max: u64,
}

/// Program with this rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TuningRule {
    /// gRPC for Go.
    BdpGrpc,
    /// hyper with an adaptive window.
    BdpHyper,
    /// .NET: twice the credit where a grant's share of it was used up in less than that share of a round trip.
    DrainEighth,
}

/// Largest credit where no key says otherwise, 16 MiB: gRPC's `bdpLimit`, hyper's `BDP_LIMIT`, .NET's `_maxHttp2StreamWindowSize`.
pub const CREDIT_MAX: u64 = 16 << 20;

/// Estimate that an end has of its path.
#[derive(Debug, Clone, Copy)]
pub(super) enum Estimator {
    Grpc(GrpcBdp),
    Hyper(HyperBdp),
    RoundTrip(RoundTrip),
}

impl Estimator {
    /// An estimator without samples, for streams with an initial credit of `window` bytes.
    pub(super) const fn new(tuning: Tuning, window: u64) -> Self {
        let Tuning { rule, max } = tuning;
        match rule {
            TuningRule::BdpGrpc => Self::Grpc(GrpcBdp::new(window, max)),
            TuningRule::BdpHyper => Self::Hyper(HyperBdp::new(window, max)),
            TuningRule::DrainEighth => Self::RoundTrip(RoundTrip::new()),
        }
    }

    /// Counts `bytes` of data taken. True if a PING is due.
    pub(super) fn on_data(&mut self, now: Instant, bytes: u64) -> bool {
        match self {
            Self::Grpc(bdp) => bdp.on_data(bytes),
            Self::Hyper(bdp) => bdp.on_data(now, bytes),
            Self::RoundTrip(trip) => trip.on_frame(now),
        }
    }

    /// The header of a message has come. True if a PING is due.
    pub(super) fn on_head(&mut self, now: Instant) -> bool {
        match self {
            Self::RoundTrip(trip) => trip.on_frame(now),
            Self::Grpc(_) | Self::Hyper(_) => false,
        }
    }

    /// The end's first SETTINGS have left.
    pub(super) const fn on_settings_sent(&mut self, now: Instant) {
        if let Self::RoundTrip(trip) = self {
            trip.sent = When::at(now);
        }
    }

    /// The first SETTINGS are in force at the other end.
    pub(super) fn on_settings_acked(&mut self, now: Instant) {
        if let Self::RoundTrip(trip) = self {
            trip.on_answer(now);
        }
    }

    /// A PING has left.
    pub(super) const fn on_ping_sent(&mut self, now: Instant) {
        let sent = match self {
            Self::Grpc(bdp) => &mut bdp.probe.sent,
            Self::Hyper(bdp) => &mut bdp.probe.sent,
            Self::RoundTrip(trip) => &mut trip.sent,
        };
        *sent = When::at(now);
    }

    /// A PING is acknowledged. Returns the new credit of streams and the connection, if it changes.
    pub(super) fn on_ping_acked(&mut self, now: Instant) -> Option<u64> {
        match self {
            Self::Grpc(bdp) => bdp.on_answer(now),
            Self::Hyper(bdp) => bdp.on_answer(now),
            Self::RoundTrip(trip) => {
                trip.on_answer(now);
                None
            }
        }
    }

    /// True when `bytes` of a credit of `window` bytes that were granted after `elapsed` show that it is used up faster than once a
    /// round trip.
    pub(super) fn is_drained(&self, bytes: u64, window: u64, elapsed: Duration) -> bool {
        let Self::RoundTrip(RoundTrip { shortest: Some(trip), .. }) = self else {
            return false;
        };
        u128::from(bytes) * u128::from(trip.as_nanos()) > u128::from(window) * u128::from(elapsed.as_nanos())
    }

    /// True when the end counts with a credit that it has announced in SETTINGS before they are in force: gRPC does,
    /// `updateFlowControl()`, h2 does not, `apply_local_settings()`.
    pub(super) const fn counts_at_once(&self) -> bool {
        matches!(self, Self::Grpc(_))
    }
}

/// Data that comes while a PING is on its way.
#[derive(Debug, Clone, Copy, Default)]
struct Probe {
    is_out: bool,
    /// Departure of the PING.
    sent: When,
    bytes: u64,
}

impl Probe {
    /// Duration in s of the PING, which is over.
    fn end(&mut self, now: Instant) -> Option<f64> {
        self.is_out = false;
        self.sent.get().map(|sent| (now - sent).as_secs_f64())
    }
}

/// Source: grpc/grpc-go, `internal/transport/bdp_estimator.go`.
#[derive(Debug, Clone, Copy)]
pub(super) struct GrpcBdp {
    bdp: u64,
    max: u64,
    probe: Probe,
    probes: u32,
    rtt_s: f64,
    /// Largest bandwidth seen, in B/s.
    bandwidth: f64,
}

impl GrpcBdp {
    /// Round trips that are averaged before the last one counts for nine tenths.
    const AVERAGED: u32 = 10;
    const LAST: f64 = 0.9;
    /// Part of the credit that a probe has to bring.
    const ENOUGH: f64 = 0.66;

    const fn new(bdp: u64, max: u64) -> Self {
        let probe = Probe { is_out: false, sent: When::NEVER, bytes: 0 };
        Self { bdp, max, probe, probes: 0, rtt_s: 0.0, bandwidth: 0.0 }
    }

    fn on_data(&mut self, bytes: u64) -> bool {
        if self.bdp >= self.max {
            return false;
        }
        if self.probe.is_out {
            self.probe.bytes += bytes;
            return false;
        }
        self.probe = Probe { is_out: true, sent: When::NEVER, bytes };
        self.probes += 1;
        true
    }

    fn on_answer(&mut self, now: Instant) -> Option<u64> {
        let rtt_s = self.probe.end(now)?;
        let share = if self.probes < Self::AVERAGED { 1.0 / f64::from(self.probes) } else { Self::LAST };
        self.rtt_s += (rtt_s - self.rtt_s) * share;
        let bytes = self.probe.bytes;
        let bandwidth = bytes as f64 / (self.rtt_s * 1.5);
        let is_most = bandwidth >= self.bandwidth;
        self.bandwidth = self.bandwidth.max(bandwidth);
        if !is_most || (bytes as f64) < Self::ENOUGH * self.bdp as f64 {
            return None;
        }
        self.bdp = (2 * bytes).min(self.max);
        Some(self.bdp)
    }
}

/// Source: hyperium/hyper, `src/proto/h2/ping.rs`.
#[derive(Debug, Clone, Copy)]
pub(super) struct HyperBdp {
    bdp: u64,
    max: u64,
    probe: Probe,
    rtt_s: Option<f64>,
    /// Largest bandwidth seen, in B/s.
    bandwidth: f64,
    /// Time from when data counts and starts a probe.
    next: Instant,
    /// Time from the end of a probe to the next one, in ns.
    spacing_ns: u64,
    /// Probes since that was changed that showed nothing new.
    quiet: u32,
}

impl HyperBdp {
    const SPACING_FIRST_NS: u64 = 100_000_000;
    /// Largest spacing of PINGs, in ns.
    const SPACING_MOST_NS: u64 = 10_000_000_000;

    const fn new(bdp: u64, max: u64) -> Self {
        Self {
            bdp,
            max,
            probe: Probe { is_out: false, sent: When::NEVER, bytes: 0 },
            rtt_s: None,
            bandwidth: 0.0,
            next: Instant::ZERO,
            spacing_ns: Self::SPACING_FIRST_NS,
            quiet: 0,
        }
    }

    fn on_data(&mut self, now: Instant, bytes: u64) -> bool {
        if now < self.next {
            return false;
        }
        self.probe.bytes += bytes;
        !std::mem::replace(&mut self.probe.is_out, true)
    }

    fn on_answer(&mut self, now: Instant) -> Option<u64> {
        let rtt_s = self.probe.end(now)?;
        let bytes = std::mem::take(&mut self.probe.bytes);
        let grown = self.grow(bytes, rtt_s);
        if grown.is_some() {
            self.quiet = 0;
            self.spacing_ns /= 2;
        } else if self.spacing_ns < Self::SPACING_MOST_NS {
            self.quiet += 1;
            if self.quiet == 2 {
                self.spacing_ns *= 4;
                self.quiet = 0;
            }
        }
        self.next = now + Duration::from_nanos(self.spacing_ns);
        grown
    }

    fn grow(&mut self, bytes: u64, rtt_s: f64) -> Option<u64> {
        if self.bdp >= self.max {
            return None;
        }
        let before = self.rtt_s.unwrap_or(rtt_s);
        let mean = before + (rtt_s - before) / 8.0;
        self.rtt_s = Some(mean);
        let bandwidth = bytes as f64 / (mean * 1.5);
        if bandwidth < self.bandwidth {
            return None;
        }
        self.bandwidth = bandwidth;
        if bytes < self.bdp * 2 / 3 {
            return None;
        }
        self.bdp = (2 * bytes).min(self.max);
        Some(self.bdp)
    }
}

/// The shortest round trip, by SETTINGS and by PINGs: two with the first frames of messages, then no more than one a second.
///
/// Source: dotnet/runtime, `Http2StreamWindowManager.cs`, `RttEstimator` (its burst of four counts each PING twice).
#[derive(Debug, Clone, Copy)]
pub(super) struct RoundTrip {
    shortest: Option<Duration>,
    /// Departure of the last question.
    sent: When,
    awaits_answer: bool,
    /// PINGs that wait for no second to be over.
    burst: u32,
}

impl RoundTrip {
    const BETWEEN: Duration = Duration::from_secs(1);

    const fn new() -> Self {
        Self { shortest: None, sent: When::NEVER, awaits_answer: true, burst: 2 }
    }

    fn on_frame(&mut self, now: Instant) -> bool {
        let is_late = self.sent.get().is_some_and(|sent| now - sent > Self::BETWEEN);
        if self.awaits_answer || (self.burst == 0 && !is_late) {
            return false;
        }
        self.burst = self.burst.saturating_sub(1);
        self.awaits_answer = true;
        true
    }

    fn on_answer(&mut self, now: Instant) {
        self.awaits_answer = false;
        if let Some(sent) = self.sent.get() {
            let trip = now - sent;
            self.shortest = Some(self.shortest.map_or(trip, |shortest| shortest.min(trip)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    /// Delivers `bytes` while a PING takes 100 ms, from `millis` on, and returns the new credit.
    fn probe(estimator: &mut Estimator, millis: u64, bytes: u64) -> Option<u64> {
        assert!(estimator.on_data(at(millis), bytes / 2), "a PING goes with the first data");
        estimator.on_ping_sent(at(millis));
        assert!(!estimator.on_data(at(millis + 50), bytes - bytes / 2), "and is alone");
        estimator.on_ping_acked(at(millis + 100))
    }

    fn estimator(rule: TuningRule, max: u64) -> Estimator {
        Estimator::new(Tuning { rule, max }, 60_000)
    }

    #[test]
    fn a_probe_that_brings_two_thirds_doubles_itself() {
        for (rule, enough) in [(TuningRule::BdpGrpc, 39_600), (TuningRule::BdpHyper, 40_000)] {
            let mut short = estimator(rule, CREDIT_MAX);
            assert_eq!(probe(&mut short, 0, enough - 1), None, "{rule:?}");
            let mut grows = estimator(rule, CREDIT_MAX);
            assert_eq!(probe(&mut grows, 0, enough), Some(2 * enough), "{rule:?}");
            assert_eq!(probe(&mut grows, 1000, 2 * enough), Some(4 * enough), "{rule:?}");
            assert_eq!(probe(&mut grows, 2000, 2 * enough), None, "{rule:?}: half of what there is");
            let mut last = estimator(rule, 100_000);
            assert_eq!(probe(&mut last, 0, 60_000), Some(100_000), "{rule:?}: no further");
        }
    }

    #[test]
    fn a_probe_has_to_be_faster_than_those_before() {
        for rule in [TuningRule::BdpGrpc, TuningRule::BdpHyper] {
            let mut estimator = estimator(rule, CREDIT_MAX);
            assert_eq!(probe(&mut estimator, 0, 60_000), Some(120_000));
            assert!(estimator.on_data(at(1000), 90_000));
            estimator.on_ping_sent(at(1000));
            assert_eq!(estimator.on_ping_acked(at(3000)), None, "{rule:?}: 90 kB in two seconds");
        }
    }

    #[test]
    fn grpc_stops_at_its_limit_and_hyper_goes_on_asking() {
        let mut grpc = estimator(TuningRule::BdpGrpc, 60_000);
        assert!(!grpc.on_data(at(0), 1000));
        let mut hyper = estimator(TuningRule::BdpHyper, 60_000);
        assert_eq!(probe(&mut hyper, 0, 60_000), None);
        assert!(!hyper.on_data(at(199), 1000), "100 ms later");
        assert_eq!(probe(&mut hyper, 200, 60_000), None);
        assert!(!hyper.on_data(at(699), 1000), "400 ms after two that showed nothing new");
        assert_eq!(probe(&mut hyper, 700, 60_000), None);
    }

    #[test]
    fn hyper_counts_nothing_between_probes_and_asks_sooner_when_it_grows() {
        let mut hyper = estimator(TuningRule::BdpHyper, CREDIT_MAX);
        assert_eq!(probe(&mut hyper, 0, 60_000), Some(120_000));
        assert!(!hyper.on_data(at(149), 50_000), "50 ms");
        assert_eq!(probe(&mut hyper, 150, 79_999), None, "what came before is not in it");
    }

    #[test]
    fn the_shortest_round_trip_is_that_of_settings_and_pings() {
        let Estimator::RoundTrip(mut trip) = estimator(TuningRule::DrainEighth, CREDIT_MAX) else {
            panic!("a round trip");
        };
        assert!(!trip.on_frame(at(0)), "SETTINGS are on their way");
        trip.sent = When::at(at(0));
        trip.on_answer(at(120));
        for (asked, answered, shortest) in [(130, 230, 100), (240, 360, 100)] {
            assert!(trip.on_frame(at(asked)));
            trip.sent = When::at(at(asked));
            assert!(!trip.on_frame(at(asked + 1)), "one at a time");
            trip.on_answer(at(answered));
            assert_eq!(trip.shortest, Some(Duration::from_millis(shortest)));
        }
        assert!(!trip.on_frame(at(1240)), "then one a second");
        assert!(trip.on_frame(at(1241)));
    }

    #[test]
    fn a_credit_is_drained_when_it_is_used_up_faster_than_once_a_round_trip() {
        let mut estimator = estimator(TuningRule::DrainEighth, CREDIT_MAX);
        let eighth = |estimator: &Estimator, millis: u64| {
            estimator.is_drained(8192, 65_536, Duration::from_nanos(millis * 1_000_000))
        };
        assert!(!eighth(&estimator, 1), "no round trip is known");
        estimator.on_settings_sent(at(0));
        estimator.on_settings_acked(at(80));
        assert!(eighth(&estimator, 9));
        assert!(!eighth(&estimator, 10));
    }
}
