//! BBR on a path of one segment a millisecond and 40 ms, with 1000 B of payload.

use super::*;
use crate::rng::RandomStreams;
use crate::tcp::linux::congestion::window::SSTHRESH_INFINITE;

const MSS: u64 = 1000;
const RTT: u64 = 40_000;
/// One segment a millisecond.
const RATE: u64 = RATE_UNIT / 1000;

/// A connection under BBR. Every ACK is of a whole round trip.
struct Flow {
    bbr: Bbr,
    window: Window,
    found: Found,
}

impl Flow {
    fn new() -> Self {
        let random = RandomStreams::new(1).stream("test", 0);
        let found = Found {
            now: 0,
            wait: 0,
            jiffies: 1000,
            jiffy: Duration::from_millis(4),
            mss: MSS,
            delivered: 1,
            lost: 0,
            delivered_at: 0,
            in_flight: 0,
            state: CaState::Open,
            srtt: Some(RTT),
            min_rtt: Some(RTT),
        };
        let mut window = Window { cwnd: 10, ssthresh: SSTHRESH_INFINITE, cwnd_cnt: 0 };
        let mut bbr = Bbr::new(random);
        bbr.on_event(&found, Event::Established, &mut window);
        Self { bbr, window, found }
    }

    /// An ACK of `acked` segments that were sent a round trip of `rtt` before. `change` says what else it shows.
    fn ack(&mut self, acked: u32, rtt: u64, change: impl FnOnce(&mut RateSample)) -> bool {
        let prior_delivered = self.found.delivered;
        self.found.now += rtt;
        self.found.jiffies += rtt / 4000;
        self.found.delivered += u64::from(acked);
        self.found.delivered_at = self.found.now;
        let mut sample = RateSample {
            rate: Rate { delivered: u64::from(acked), interval: Some(rtt), app_limited: false },
            prior_delivered,
            acked,
            lost: 0,
            rtt: Some(rtt),
            maybe_delayed: false,
            prior_in_flight: acked,
        };
        change(&mut sample);
        self.found.lost += u64::from(sample.lost);
        self.bbr.on_ack(&self.found, &sample, &mut self.window)
    }

    /// Rounds with 40 segments delivered each, as many as the path holds.
    fn full(rounds: u32) -> Self {
        let mut flow = Self::new();
        (0..rounds).for_each(|_| {
            flow.ack(40, RTT, |_| ());
        });
        flow
    }
}

/// 2.8867 times ten segments in 40 ms, less 1 %.
#[test]
fn the_first_pace_doubles_the_window_in_a_round_trip() {
    let pace = Flow::new().bbr.pace() as f64;
    assert!((pace / (739.0 / 256.0 * 10.0 * 1000.0 / 0.04 * 0.99) - 1.0).abs() < 1e-4, "{pace}");
}

#[test]
fn without_a_round_trip_the_first_pace_takes_it_for_a_millisecond_until_there_is_one() {
    let mut flow = Flow::new();
    let mut bbr = flow.bbr.clone();
    bbr.on_event(&Found { srtt: None, min_rtt: None, ..flow.found }, Event::Established, &mut flow.window);
    let times = bbr.pace() as f64 / flow.bbr.pace() as f64;
    assert!((times / 40.0 - 1.0).abs() < 1e-3, "{times}");
    flow.bbr = bbr;
    flow.ack(1, RTT, |_| ());
    assert!(flow.bbr.pace() < 1_000_000, "{}", flow.bbr.pace());
}

/// Linux 6.18 `bbr_quantization_budget()`: 40 · 2 segments, three bursts of two, an even number, and two more for the
/// probe.
#[test]
fn the_window_is_twice_the_path_and_three_bursts() {
    let mut flow = Flow::full(12);
    flow.bbr.phase = 3;
    assert_eq!(flow.bbr.with_bursts(flow.bbr.pipe(RATE, GAIN_WINDOW), MSS), 86);
    assert_eq!(flow.bbr.with_bursts(79, MSS), 86, "rounded up");
    flow.bbr.phase = 0;
    assert_eq!(flow.bbr.with_bursts(80, MSS), 88);
    // Below 150 kB/s a burst has one segment. Above 2 MB/s a millisecond's worth, at most 65 kB.
    flow.bbr.phase = 3;
    for (pace, burst) in [(149_999, 1), (150_000, 2), (5_120_000, 5), (1_000_000_000, 65)] {
        flow.bbr.pace = pace;
        assert_eq!(flow.bbr.burst(MSS), burst, "{pace} B/s");
    }
}

/// The rate is known after the first of four rounds, and three more do not raise it.
#[test]
fn three_rounds_without_growth_fill_the_pipe() {
    for (rounds, is_full) in [(3, false), (4, true)] {
        let flow = Flow::full(rounds);
        assert_eq!(flow.bbr.is_full, is_full, "{rounds} rounds");
    }
    let mut flow = Flow::full(3);
    flow.ack(50, RTT, |_| ());
    assert!(!flow.bbr.is_full, "a quarter more");
    let mut flow = Flow::full(3);
    flow.ack(40, RTT, |sample| sample.rate.app_limited = true);
    assert!(!flow.bbr.is_full, "the application has not filled the flight");
}

#[test]
fn a_full_pipe_is_drained_before_the_cycle_begins() {
    let mut flow = Flow::full(3);
    flow.found.in_flight = 100;
    flow.ack(40, RTT, |_| ());
    assert_eq!((flow.bbr.mode, flow.bbr.pace_gain), (Mode::Drain, 88));
    flow.found.in_flight = 46;
    flow.ack(40, RTT, |_| ());
    assert_eq!(flow.bbr.mode, Mode::ProbeRate);
    assert_ne!(flow.bbr.phase, 1, "never the slow phase first");
}

/// Segments in flight before the ACK decide, less arrivals until the next departure.
#[test]
fn a_probe_goes_on_until_the_queue_has_its_quarter() {
    let mut flow = Flow::full(6);
    let begin = |flow: &mut Flow, phase: usize| {
        (flow.bbr.phase, flow.bbr.pace_gain) = (phase, CYCLE[phase]);
    };
    let mut phase_after = |phase, prior_in_flight, wait| {
        begin(&mut flow, phase);
        flow.found.wait = wait;
        flow.bbr.phase_at = flow.found.now;
        flow.ack(40, RTT + 1, |sample| sample.prior_in_flight = prior_in_flight);
        flow.bbr.phase
    };
    // 1.25 · 40 + 3 · 2, an even number, and two: 58. The burst that leaves next counts.
    assert_eq!(phase_after(0, 55, 0), 0);
    assert_eq!(phase_after(0, 56, 0), 1);
    assert_eq!(phase_after(0, 56, 3000), 0, "three arrive before the next departure");
    assert_eq!(phase_after(1, 90, 0), 2, "a round trip is over");
    assert_eq!(phase_after(7, 90, 0), 0);
}

#[test]
fn an_old_round_trip_is_looked_for_with_four_segments_for_200_ms_and_a_round() {
    let mut flow = Flow::full(6);
    flow.found.in_flight = 40;
    flow.found.jiffies += 2500;
    let is_probing = flow.ack(40, RTT + 1, |_| ());
    assert!(is_probing);
    assert_eq!((flow.bbr.mode, flow.window.cwnd), (Mode::ProbeRtt, 4));
    flow.found.in_flight = 4;
    for _ in 0..6 {
        assert!(flow.ack(4, RTT, |_| ()));
        assert_eq!(flow.window.cwnd, 4);
    }
    flow.ack(4, RTT, |_| ());
    assert_eq!(flow.bbr.mode, Mode::ProbeRate);
    assert!(flow.window.cwnd > 80, "{}", flow.window.cwnd);
}

/// The equal of a minimum is no new one (Linux 6.18: `<`, older kernels `<=`): a full pipe is looked through after 10 s.
#[test]
fn the_same_round_trip_again_does_not_renew_the_shortest() {
    let mut flow = Flow::full(6);
    let at = flow.bbr.min_rtt_at;
    flow.ack(40, RTT, |_| ());
    assert_eq!(flow.bbr.min_rtt_at, at);
    flow.ack(40, RTT - 1, |_| ());
    assert!(flow.bbr.min_rtt_at > at);
}

#[test]
fn an_ack_that_may_be_late_does_not_replace_an_old_round_trip() {
    let mut flow = Flow::full(6);
    flow.found.jiffies += 2500;
    flow.bbr.on_event(&flow.found, Event::RestartsFromIdle, &mut flow.window);
    flow.ack(1, 2 * RTT, |sample| sample.maybe_delayed = true);
    assert_eq!(flow.bbr.min_rtt, Some(RTT));
}

#[test]
fn the_first_round_of_recovery_conserves_packets_and_the_window_comes_back() {
    let mut flow = Flow::full(8);
    flow.bbr.save_window(flow.window.cwnd);
    (flow.found.state, flow.found.in_flight) = (CaState::Recovery, 30);
    flow.ack(2, RTT, |sample| sample.lost = 5);
    assert_eq!(flow.window.cwnd, 32);
    flow.found.state = CaState::Open;
    flow.ack(2, RTT, |_| ());
    assert!(flow.window.cwnd > 80, "{}", flow.window.cwnd);
}

#[test]
fn a_timeout_forgets_the_growth_of_the_rate_and_not_the_full_pipe() {
    let mut flow = Flow::full(6);
    flow.bbr.on_event(&flow.found, Event::Timeout, &mut flow.window);
    assert_eq!((flow.bbr.full_rate, flow.bbr.is_full, flow.bbr.prior_state), (0, true, CaState::Loss));
    flow.bbr.on_event(&flow.found, Event::Undo, &mut flow.window);
    assert_eq!((flow.bbr.full_rounds, flow.bbr.is_full), (0, true));
}

#[test]
fn behind_a_pause_it_paces_at_the_rate_that_it_knew() {
    let mut flow = Flow::full(6);
    flow.bbr.mode = Mode::ProbeRate;
    flow.bbr.on_event(&flow.found, Event::RestartsFromIdle, &mut flow.window);
    assert_eq!(flow.bbr.pace(), pace(RATE, ONE, MSS));
    // An old round trip does not begin PROBE_RTT then.
    flow.found.jiffies += 5000;
    flow.ack(1, RTT + 1, |_| ());
    assert_eq!(flow.bbr.mode, Mode::ProbeRate);
}

/// A policer lets 20 segments a round trip pass, and drops ten: two intervals of four rounds show its rate, for 48 rounds.
#[test]
fn losses_at_a_steady_rate_show_a_policer() {
    let mut flow = Flow::full(6);
    let policed = |flow: &mut Flow| flow.ack(20, RTT, |sample| sample.lost = 10);
    (0..7).for_each(|_| {
        policed(&mut flow);
    });
    assert_eq!(flow.bbr.policer.rate(), None);
    policed(&mut flow);
    let rate = flow.bbr.policer.rate().expect("two intervals agree");
    assert!(rate.abs_diff(RATE / 2) < RATE / 100, "{rate}");
    assert_eq!((flow.bbr.pace_gain, flow.bbr.pace()), (ONE, pace(rate, ONE, MSS)));
    flow.bbr.mode = Mode::ProbeRate;
    (0..47).for_each(|_| {
        flow.ack(20, RTT, |_| ());
    });
    assert!(flow.bbr.policer.rate().is_some());
    flow.ack(20, RTT, |_| ());
    assert_eq!(flow.bbr.policer.rate(), None);
}
