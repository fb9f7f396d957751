//! Links that change against values worked out by hand.

use super::*;
use crate::net::tests::{TestPacket, any_config, at, data, drive, link, plain};
use crate::net::{Enqueued, Link, LinkConfig, Path};
use crate::rng::RandomStreams;
use crate::units::Bytes;
use proptest::prelude::*;

const MS: Duration = Duration::from_millis(1);

fn step(at: Duration, bps: u64, delay: Option<Duration>) -> Step {
    Step { at, rate: BitRate::from_bps(bps), delay, loss: None }
}

fn stepped(steps: Vec<Step>, every: Option<Duration>) -> LinkConfig {
    LinkConfig { timeline: Timeline { steps, every, ..Timeline::default() }, ..plain() }
}

fn with_outage(at: Duration, lasts: Duration, every: Option<Duration>, mode: OutageMode) -> LinkConfig {
    let outages = vec![Outage { at, lasts, every, mode }];
    LinkConfig { timeline: Timeline { outages, ..Timeline::default() }, ..plain() }
}

/// When a packet of 1000 B (1 ms at 8 Mbit/s) that reaches the link at `now` arrives, with 1 ms of delay.
fn arrival(config: &LinkConfig, now: Instant) -> Option<Instant> {
    match link(config).enqueue(now, &data(0, 1000)) {
        Enqueued::Queued { event } => event,
        Enqueued::Late { .. } | Enqueued::Dropped { .. } => None,
    }
}

#[test]
fn a_packet_in_transmission_goes_on_at_the_new_rate() {
    // 12,000 bit: 5000 in the first half of a millisecond, 7000 at a tenth of the rate.
    let config = LinkConfig {
        rate: BitRate::from_bps(10_000_000),
        delay: Duration::ZERO,
        ..stepped(vec![step(Duration::from_micros(500), 1_000_000, None)], None)
    };
    let mut link = link(&config);
    assert_eq!(link.enqueue(at(0), &data(0, 1500)), Enqueued::Queued { event: Some(at(7_500_000)) });
    // The next one follows without a gap: 12 ms.
    link.enqueue(at(0), &data(1, 1500));
    assert_eq!(link.newest().map(|newest| newest.arrival), Some(at(19_500_000)));
}

#[test]
fn a_fade_has_rates_silence_and_losses_of_its_own() {
    let piece = |at, rate, is_lost| Piece { at: MS * at, rate, is_lost };
    let fade = vec![
        piece(0, 8_000_000, false),
        piece(10, 4_000_000, true),
        piece(20, 4_000_000, false),
        piece(30, 0, false),
        piece(40, 8_000_000, false),
    ];
    let config = LinkConfig { timeline: Timeline { fade, ..Timeline::default() }, ..plain() };
    let arrivals = [0, 15, 20, 35].map(|now| arrival(&config, at(now * 1_000_000)));
    assert_eq!(arrivals, [Some(2), None, Some(23), Some(42)].map(|ms| ms.map(|ms| at(ms * 1_000_000))));
    let rates = Rates::of(&config.timeline, config.rate.unwrap(), Some(MS * 40));
    assert_eq!([rates.min, rates.mean, rates.max].map(BitRate::as_bps), [4_000_000, 4_000_000, 8_000_000]);
}

#[test]
fn steps_come_again_with_their_period_and_hold_without() {
    let slower = vec![step(MS * 10, 4_000_000, Some(MS * 5))];
    for (every, late) in [(None, 7), (Some(MS * 20), 2)] {
        let config = stepped(slower.clone(), every);
        let after = |now: u64| {
            arrival(&config, at(now * 1_000_000))
                .map(|arrival| (arrival - at(0)).as_nanos() / 1_000_000 - now)
        };
        assert_eq!([after(5), after(15), after(20)], [Some(2), Some(7), Some(late)]);
    }
}

#[test]
fn an_outage_holds_what_is_sent_and_what_comes_or_drops_what_comes() {
    let config = |mode| with_outage(MS * 10, MS * 5, None, mode);
    let (hold, drop) = (config(OutageMode::Hold), config(OutageMode::Drop));
    let half_sent = at(9_500_000);
    assert_eq!([arrival(&hold, half_sent), arrival(&drop, half_sent)], [Some(at(16_500_000)); 2]);
    assert_eq!(
        [arrival(&hold, at(10_000_000)), arrival(&drop, at(10_000_000))],
        [Some(at(17_000_000)), None]
    );
    assert_eq!([arrival(&hold, at(15_000_000)), arrival(&drop, at(15_000_000))], [Some(at(17_000_000)); 2]);
}

#[test]
fn a_saturated_link_sends_what_the_gaps_leave() {
    // 3 of each 10 ms: 700 packets of 1 ms take a second.
    let config = with_outage(MS * 2, MS * 3, Some(MS * 10), OutageMode::Hold);
    assert_eq!(all_sent(link(&config), 700), at(1_000_000_000));
}

#[test]
fn a_shorter_delay_does_not_let_a_packet_overtake() {
    let mut link =
        link(&stepped(vec![Step { at: MS, rate: None, delay: Some(Duration::ZERO), loss: None }], None));
    // The first leaves at 0.999 ms with 1 ms of delay, the second at 1.1 ms with none.
    let first = link.enqueue(at(0), &data(0, 999));
    assert_eq!(first, Enqueued::Queued { event: Some(at(1_999_000)) });
    link.enqueue(at(0), &data(1, 101));
    assert_eq!(link.newest().map(|newest| newest.arrival), Some(at(1_999_000)));
    assert_eq!(link.on_event(at(1_999_000)), (data(0, 999), Some(at(1_999_000))));
}

#[test]
fn the_loss_of_a_step_stands_in_place_of_the_links_own() {
    let lossy = |at, loss| Step { at, rate: None, delay: None, loss: Some(loss) };
    let config = stepped(vec![lossy(MS * 10, 1.0), lossy(MS * 20, 0.0)], None);
    let passes = [9, 10, 19, 20].map(|now| arrival(&config, at(now * 1_000_000)).is_some());
    assert_eq!(passes, [true, false, false, true]);
}

#[test]
fn the_mean_rate_is_over_the_run_or_in_the_long_run() {
    let outage = |every| Outage { at: MS, lasts: MS * 2, every, mode: OutageMode::Hold };
    let mean = |timeline: Timeline, until| {
        Rates::of(&timeline, BitRate::from_bps(30_000).unwrap(), until).mean.as_bps()
    };
    let steps = vec![step(MS * 5, 8_000, None), step(MS * 10, 12_000, None)];
    let once = Timeline { steps: steps.clone(), ..Timeline::default() };
    assert_eq!([mean(once.clone(), Some(MS * 10)), mean(once, None)], [19_000, 12_000]);
    let again = Timeline { steps, every: Some(MS * 20), ..Timeline::default() };
    assert_eq!([mean(again.clone(), Some(MS * 5)), mean(again, None)], [30_000, 15_500]);
    for (every, of_run, long_run) in [(None, 15_000, 30_000), (Some(MS * 10), 15_000, 24_000)] {
        let gaps = Timeline { outages: vec![outage(every)], ..Timeline::default() };
        assert_eq!([mean(gaps.clone(), Some(MS * 4)), mean(gaps, None)], [of_run, long_run]);
    }
}

const NO_CHANGE: Handover = Handover {
    every: Duration::from_millis(10),
    phase: Phase::Random,
    gap: [Duration::ZERO; 2],
    rate: [1.0; 2],
    delay: [Shift::from_nanos(0); 2],
    loss: 0.0,
    loss_for: Duration::ZERO,
};

fn with_handover(handover: Handover) -> LinkConfig {
    LinkConfig { timeline: Timeline { handover: Some(handover), ..Timeline::default() }, ..plain() }
}

/// When the last of so many packets of 1 ms has left that are there at the start.
fn all_sent(mut link: Link<TestPacket>, packets: u64) -> Instant {
    (0..packets).for_each(|number| {
        link.enqueue(at(0), &data(number, 1000));
    });
    link.newest().unwrap().departure
}

#[test]
fn a_saturated_link_sends_what_the_gaps_of_handovers_leave() {
    // 3 of each 10 ms from 2 ms on: 700 packets of 1 ms take a second, as of an outage.
    let of = |gap| Handover { phase: Phase::At(MS * 12), gap, ..NO_CHANGE };
    assert_eq!(all_sent(link(&with_handover(of([MS * 3; 2]))), 700), at(1_000_000_000));
    // Gaps of 0 to 6 ms: in 3000 periods a standard error of 1.73 ms / sqrt(3000), 0.032 ms, and four of them in 7 ms.
    let seconds = all_sent(link(&with_handover(of([Duration::ZERO, MS * 6]))), 21_000).as_secs_f64();
    assert!((seconds / 30.0 - 1.0).abs() < 4.0 * 0.032 / 7.0, "{seconds}");
}

#[test]
fn a_handover_brings_a_rate_and_a_delay_that_hold_until_the_next() {
    let shift = |ms: i64| Shift::from_nanos(ms * 1_000_000);
    let handover = Handover {
        phase: Phase::At(Duration::ZERO),
        gap: [MS; 2],
        rate: [0.5; 2],
        delay: [shift(-2), shift(-2)],
        loss: 1.0,
        loss_for: Duration::from_millis(3),
        ..NO_CHANGE
    };
    // 1 ms of gap, 2 ms to send. A delay of 1 ms that would fall below zero is none.
    let lossless = Handover { loss_for: Duration::ZERO, ..handover };
    assert_eq!(arrival(&with_handover(lossless), at(0)), Some(at(3_000_000)));
    let longer = Handover { delay: [shift(4); 2], ..lossless };
    assert_eq!(arrival(&with_handover(longer), at(15_000_000)), Some(at(22_000_000)));
    let lost = |now: u64| arrival(&with_handover(handover), at(now * 1_000_000)).is_none();
    assert_eq!([lost(9), lost(10), lost(12), lost(13)], [false, true, true, false]);
}

#[test]
fn both_directions_of_a_link_have_one_schedule_and_each_seed_another() {
    let handover = Handover { gap: [Duration::ZERO, MS * 6], rate: [0.5, 1.5], ..NO_CHANGE };
    let instant = LinkConfig { rate: None, delay: Duration::ZERO, ..plain() };
    let (one, other) = (with_handover(handover), with_handover(handover));
    let departures = |seed, configs: &[&LinkConfig]| {
        let links = configs.iter().map(|config| [(*config).clone(), (*config).clone()]);
        let nodes = (0..=configs.len()).map(|node| node.to_string()).collect();
        let mut path = Path::new(nodes, links, &RandomStreams::new(seed));
        path.links()
            .filter(|link| !path.takes_no_time(*link))
            .collect::<Vec<_>>()
            .into_iter()
            .map(move |link| {
                (0..200).for_each(|number| {
                    path.enqueue(at(0), link, &data(number, 1000));
                });
                path.newest(link).unwrap().departure
            })
            .collect::<Vec<_>>()
    };
    let (first, second) = (departures(1, &[&one, &other]), departures(2, &[&one, &other]));
    assert_eq!([first[0], first[2]], [first[1], first[3]]);
    assert_ne!(first[0], first[2], "each link has its own");
    assert_ne!(first[0], second[0]);
    assert_eq!(
        departures(1, &[&instant, &one, &instant, &other]),
        first,
        "a link that takes no time draws nothing"
    );
    let gaps = |seed| {
        let gap = Handover { gap: [MS * 3; 2], ..NO_CHANGE };
        all_sent(Link::new(&with_handover(gap), |purpose| RandomStreams::new(seed).stream(purpose, 0)), 7)
    };
    assert!((2..20).any(|seed| gaps(seed) != gaps(1)), "the phase is of the seed");
}

#[test]
fn a_rate_that_varies_keeps_its_mean_and_its_correlation() {
    let variation = Variation { sigma: 0.4, every: MS * 10, correlation: 0.8 };
    let mut varying = Varying::new(variation, RandomStreams::new(1).stream("variation", 0));
    let count = 200_000_u64;
    let factors: Vec<f64> = (0..count)
        .map(|number| varying.at(at(number * 10_000_000)).0.times(1 << 32) as f64 / 2_f64.powi(32))
        .collect();
    let logs: Vec<f64> = factors.iter().map(|&factor| libm::log(factor) + 0.08).collect();
    let mean = |values: &mut dyn Iterator<Item = f64>| values.sum::<f64>() / count as f64;
    // Of correlated values (1 + 0.8) / (1 - 0.8) = 9 times the variance of independent ones. Four standard errors.
    assert!((mean(&mut factors.iter().copied()) - 1.0).abs() < 4.0 * 0.42 * 3.0 / (count as f64).sqrt());
    let variance = mean(&mut logs.iter().map(|log| log * log));
    let lagged = mean(&mut logs.windows(2).map(|pair| pair[0] * pair[1]));
    assert!(
        (variance.sqrt() - 0.4).abs() < 0.01 && (lagged / variance - 0.8).abs() < 0.01,
        "{variance} {lagged}"
    );
}

#[test]
fn draws_do_not_depend_on_the_times_asked_for() {
    let variation = Variation { sigma: 0.4, every: MS, correlation: 0.8 };
    let timeline = Timeline {
        variation: Some(variation),
        handover: Some(Handover { gap: [MS, MS * 6], rate: [0.5, 1.5], ..NO_CHANGE }),
        ..Timeline::default()
    };
    let start = Cursor::new(&timeline, BitRate::from_bps(1_000_000), MS, |purpose| {
        RandomStreams::new(1).stream(purpose, 0)
    });
    let (mut often, mut late) = (start.clone().unwrap(), start.unwrap());
    (0..1000).for_each(|number| {
        often.at(at(number * 97_003));
    });
    assert_eq!(often.at(at(97_003_000)), late.at(at(97_003_000)));
}

#[test]
fn jitter_adds_to_the_delay() {
    let delays = |jitter| {
        let timeline = Timeline { jitter: Some(jitter), ..Timeline::default() };
        let mut link = link(&LinkConfig { timeline, ..plain() });
        (0..10_000_u64)
            .map(|number| {
                let now = at(number * 1_000_000_000);
                let Enqueued::Queued { event: Some(arrival) } = link.enqueue(now, &data(number, 0)) else {
                    panic!()
                };
                link.on_event(arrival);
                (arrival - now).as_secs_f64() * 1e3 - 1.0
            })
            .collect::<Vec<_>>()
    };
    let none = Jitter { uniform: None, normal: None, correlation: None };
    let mean = |delays: &[f64]| delays.iter().sum::<f64>() / delays.len() as f64;
    let uniform = delays(Jitter { uniform: Some(MS * 3), ..none });
    assert!(uniform.iter().all(|delay| (0.0..=3.0).contains(delay)));
    assert!((mean(&uniform) - 1.5).abs() < 4.0 * 0.866 / 100.0);
    let normal = delays(Jitter { normal: Some(MS * 3), correlation: Some(0.5), ..none });
    // The mean size of a normal number is sqrt(2 / pi) deviations.
    assert!((mean(&normal) - 3.0 * std::f64::consts::FRAC_2_PI.sqrt()).abs() < 0.1, "{}", mean(&normal));
}

#[test]
fn bytes_that_the_rate_could_have_carried_are_its_integral() {
    let second = Duration::from_secs(1);
    let timeline = Timeline {
        steps: vec![Step { at: second, rate: BitRate::from_bps(800_000), delay: None, loss: None }],
        outages: vec![Outage { at: second * 2, lasts: second, every: None, mode: OutageMode::Hold }],
        ..Timeline::default()
    };
    let rate = BitRate::from_bps(8_000_000);
    let mut changing = link(&LinkConfig { rate, timeline, ..plain() });
    let ends = [500_000_000, 1_500_000_000, 2_500_000_000, 4_000_000_000];
    let carried = ends.map(|end| changing.close_interval(at(end)).available_bytes());
    assert_eq!(carried, [500_000, 550_000, 50_000, 100_000].map(|bytes| Some(Bytes::new(bytes))));
    // Other intervals, in between and of the whole run, have theirs.
    changing.begin_measuring(at(4_500_000_000));
    assert_eq!(changing.totals(at(5_000_000_000)).rate_bps_mean(), Some(2_080_000.0));
    assert_eq!(changing.measured(at(5_000_000_000)).available_bytes(), Some(Bytes::new(50_000)));
    changing.end_measuring(at(5_500_000_000));
    assert_eq!(changing.measured(at(7_000_000_000)).rate_bps_mean(), Some(800e3));
    assert_eq!(changing.close_interval(at(7_000_000_000)).rate_bps_mean(), Some(800e3));
    assert_eq!(changing.close_interval(at(7_000_000_000)).rate_bps_mean(), None, "no time at all");
    let mut constant = link(&LinkConfig { rate, ..plain() });
    assert_eq!(constant.close_interval(at(3_000_000_000)).available_bytes(), Some(Bytes::new(3_000_000)));
    assert_eq!(constant.totals(at(3_000_000_007)).rate_bps_mean(), Some(8e6));
    let mut unlimited = link(&LinkConfig { rate: None, ..plain() });
    assert_eq!(unlimited.close_interval(at(3_000_000_000)).available_bytes(), None);
}

#[test]
fn a_rate_that_changes_a_million_times_is_added_up_no_further() {
    let timeline = Timeline {
        steps: vec![Step { at: MS, rate: BitRate::from_bps(800_000), delay: None, loss: None }],
        every: Some(MS * 2),
        ..Timeline::default()
    };
    let mut link = link(&LinkConfig { rate: BitRate::from_bps(800_000), timeline, ..plain() });
    assert_eq!(link.close_interval(at(999_000_000_000)).rate_bps_mean(), Some(800e3));
    assert_eq!(link.close_interval(at(1_001_000_000_000)).rate_bps_mean(), None);
    assert_eq!(link.totals(at(2_000_000_000_000)).available_bytes(), None);
}

#[test]
fn a_radio_wakes_for_the_first_packet_after_a_silence() {
    let wake = Wake { after: MS * 10, delay: MS * 5 };
    let mut line =
        link(&LinkConfig { timeline: Timeline { wake: Some(wake), ..Timeline::default() }, ..plain() });
    line.measure_waits();
    let mut arrive = |now: u64| {
        line.enqueue(at(now), &data(0, 1000));
        line.newest().map(|newest| newest.arrival)
    };
    // Asleep at the start, with the second behind the first. Silent from 7 ms on. The third comes a nanosecond before 10 ms of
    // silence are over, the fourth as they are.
    let times = [0, 3_000_000, 16_999_999, 27_999_999];
    let arrivals = [7_000_000, 8_000_000, 18_999_999, 34_999_999];
    assert_eq!(times.map(&mut arrive), arrivals.map(|arrival| Some(at(arrival))));
    let waits = line.totals(at(40_000_000)).waits.unwrap();
    assert_eq!((waits.packets, waits.sum, waits.longest), (4, 13_000_000, MS * 5));
}

#[test]
fn a_radio_wakes_before_other_changes_count() {
    let wake = Some(Wake { after: MS * 10, delay: MS * 5 });
    let config = LinkConfig {
        rate: BitRate::from_bps(8_000_000),
        ..stepped(vec![step(MS * 3, 4_000_000, None)], None)
    };
    let timeline = Timeline { wake, ..config.timeline.clone() };
    // Sent from 5 ms on, at half the rate.
    assert_eq!(arrival(&LinkConfig { timeline, ..config }, at(0)), Some(at(8_000_000)));
    let opportunities = Opportunities::new(vec![4, 6, 9]).unwrap().into();
    let timeline = Timeline { wake, trace: Some(Trace::of_mahimahi(opportunities)), ..Timeline::default() };
    assert_eq!(arrival(&LinkConfig { timeline, ..plain() }, at(0)), Some(at(7_000_000)));
}

#[test]
fn rates_by_equal_spans_have_steps_and_outages_where_they_are() {
    let timeline = Timeline {
        steps: vec![Step { at: MS * 15, rate: BitRate::from_bps(400_000), delay: None, loss: None }],
        outages: vec![Outage { at: MS * 25, lasts: MS * 10, every: None, mode: OutageMode::Hold }],
        handover: Some(Handover { rate: [0.5, 1.0], ..NO_CHANGE }),
        ..Timeline::default()
    };
    let rates = mean_rates(&timeline, BitRate::from_bps(800_000).unwrap(), MS * 10, 5);
    assert_eq!(rates, [800e3, 600e3, 200e3, 200e3, 400e3].map(|bps| 0.75 * bps));
}

#[test]
fn the_rates_of_handovers_and_variation_are_those_expected() {
    let rates = |timeline| Rates::of(&timeline, BitRate::from_bps(1_000_000).unwrap(), None);
    let handover = Handover { gap: [MS, MS * 3], rate: [0.5, 1.0], ..NO_CHANGE };
    let of_handover = rates(Timeline { handover: Some(handover), ..Timeline::default() });
    let bps = |rates: Rates| [rates.min, rates.mean, rates.max].map(BitRate::as_bps);
    assert_eq!(bps(of_handover), [500_000, 600_000, 1_000_000]);
    let variation = Variation { sigma: 0.5, every: MS, correlation: 0.0 };
    let of_variation = rates(Timeline { variation: Some(variation), ..Timeline::default() });
    // exp(-1.125) and exp(0.875)
    assert_eq!(bps(of_variation), [324_652, 1_000_000, 2_398_875]);
}

fn any_handover() -> impl Strategy<Value = Handover> {
    (1_000_000..20_000_000_u64, 0.0..1.0, 0.1..10.0, -5_000_000..5_000_000_i64).prop_map(
        |(every, gap, factor, step)| Handover {
            every: Duration::from_nanos(every),
            gap: [Duration::ZERO, Duration::from_nanos((gap * every as f64) as u64)],
            rate: [factor / 3.0, factor],
            delay: [Shift::from_nanos(step), Shift::from_nanos(step + 1_000_000)],
            ..NO_CHANGE
        },
    )
}

proptest! {
    #[test]
    fn an_opportunity_a_millisecond_is_a_link_of_12_mbps_on_a_grid(
        config in any_config(),
        delay in 0..50_u64,
        gaps in prop::collection::vec(0..5_u64, 0..200),
    ) {
        let constant = LinkConfig { rate: BitRate::from_bps(12_000_000), delay: MS * delay, ..config };
        let opportunities = Opportunities::new(vec![1]).unwrap().into();
        let timeline = Timeline { trace: Some(Trace::of_mahimahi(opportunities)), ..Timeline::default() };
        let offers: Vec<_> = gaps.iter().map(|gap| (gap * 1_000_000, 1500)).collect();
        prop_assert_eq!(drive(&LinkConfig { timeline, ..constant.clone() }, &offers), drive(&constant, &offers));
    }

    #[test]
    fn changes_to_the_same_values_are_a_constant_link(
        config in any_config(),
        times in prop::collection::btree_set(0..20_000_000_u64, 1..20),
        every in prop::option::of(20_000_000..30_000_000_u64),
        offers in prop::collection::vec((0..200_000_u64, 0..1501_u32), 0..200),
    ) {
        let steps = times.into_iter().map(|at| Step {
            at: Duration::from_nanos(at), rate: config.rate, delay: Some(config.delay), loss: None,
        });
        let timeline = Timeline {
            steps: steps.collect(),
            every: every.map(Duration::from_nanos),
            fade: vec![],
            trace: None,
            dama: None,
            wake: None,
            handover: Some(NO_CHANGE),
            variation: Some(Variation { sigma: 0.0, every: MS, correlation: 0.5 }),
            jitter: Some(Jitter { uniform: Some(Duration::ZERO), normal: None, correlation: None }),
            outages: Vec::new(),
        };
        prop_assert_eq!(drive(&LinkConfig { timeline, ..config.clone() }, &offers), drive(&config, &offers));
    }

    #[test]
    fn a_link_that_changes_keeps_order_and_every_packet(
        config in any_config(),
        steps in prop::collection::btree_map(0..20_000_000_u64, (1_000_000..1_000_000_000_u64, 0..5_000_000_u64), 1..20),
        (lasts, every) in (1..5_000_000_u64, 5_000_001..20_000_000_u64),
        handover in prop::option::of(any_handover()),
        (jitter, deviation) in (prop::option::of(0..5_000_000_u64), 0..5_000_000_u64),
        offers in prop::collection::vec((0..200_000_u64, 0..1501_u32), 0..200),
    ) {
        let steps = steps.into_iter().map(|(at, (bps, delay))| {
            let rate = config.rate.and(BitRate::from_bps(bps));
            Step { at: Duration::from_nanos(at), rate, delay: Some(Duration::from_nanos(delay)), loss: None }
        });
        let outage = Outage {
            at: MS,
            lasts: Duration::from_nanos(lasts),
            every: Some(Duration::from_nanos(every)),
            mode: OutageMode::Hold,
        };
        let jitter = Jitter {
            uniform: jitter.map(Duration::from_nanos),
            normal: jitter.is_none().then_some(Duration::from_nanos(deviation)),
            correlation: None,
        };
        let timeline = Timeline {
            steps: steps.collect(),
            outages: vec![outage],
            handover,
            variation: config.rate.map(|_| Variation { sigma: 1.0, every: MS, correlation: 0.5 }),
            jitter: Some(jitter),
            every: None,
            fade: vec![],
            trace: None,
            dama: None,
            wake: None,
        };
        let (arrived, dropped, totals) = drive(&LinkConfig { timeline, ..config }, &offers);
        prop_assert!(arrived.windows(2).all(|pair| pair[0].0 <= pair[1].0 && pair[0].1 < pair[1].1));
        prop_assert_eq!(arrived.len() + dropped.len(), offers.len());
        prop_assert_eq!((totals.packets, totals.drops()), (arrived.len() as u64, dropped.len() as u64));
    }
}
