//! Links that change with time: steps of rate, delay and loss, and outages, as a function of the clock.
//!
//! A step sets values that hold until the next one; what it leaves out stays. Before the first step the link has its own
//! values. Steps may come again with a period, at the begin of each the link has its own values again. In an outage
//! nothing is sent: what is in transmission goes on behind it, and packets that reach the link wait, or are lost.
//!
//! A packet in transmission goes on at the new rate: bits are integrated over the pieces, and rounded as those of a
//! constant rate, so that a schedule of one rate is that rate to the nanosecond. The delay is that at a packet's departure,
//! but no packet arrives before the one sent before it.
//!
//! Left out: values that change continuously, jitter of single packets, packets that an outage takes out of the air.
//!
//! Source: chosen.

use std::collections::VecDeque;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::units::{BitRate, Duration, Instant, Share};

/// A change of a link at a time; what is left out stays as it was.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Time since the start of the run, or of the period.
    pub at: Duration,
    /// Rate from then on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<BitRate>,
    /// Propagation delay of packets that are sent from then on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<Duration>,
    /// Probability that a packet is lost, each alone, 0 to 1, in place of the link's own loss process.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "Share::deserialize_some")]
    #[cfg_attr(test, schemars(with = "Share"))]
    pub loss: Option<f64>,
}

/// A time in which a link sends nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Outage {
    /// Its begin, from the start of the run.
    pub at: Duration,
    /// How long it lasts.
    pub lasts: Duration,
    /// Time from one begin to the next; it comes once when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<Duration>,
    /// Packets that reach the link meanwhile wait in its queue ("hold"), or are lost ("drop").
    #[serde(default)]
    pub mode: OutageMode,
}

/// Fate of packets that reach a link in an outage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum OutageMode {
    /// They wait in the queue.
    #[default]
    Hold,
    /// They are lost.
    Drop,
}

/// Steps and outages of one direction of a link; without any the link is constant.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Timeline {
    /// Steps, by time.
    pub steps: Vec<Step>,
    /// Period after which the steps come again; within it are all of them.
    pub every: Option<Duration>,
    /// Outages, which together leave time to send.
    pub outages: Vec<Outage>,
}

impl Timeline {
    /// True when nothing changes.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        self.steps.is_empty() && self.outages.is_empty()
    }

    /// A time that shows it in the long run: its longest period, behind the last change that comes once.
    fn long_run(&self) -> (Instant, Instant) {
        let step = self.steps.last().filter(|_| self.every.is_none()).map(|step| step.at);
        let begins =
            self.outages.iter().map(|each| if each.every.is_some() { each.at } else { each.at + each.lasts });
        let from = Instant::ZERO + step.into_iter().chain(begins).max().unwrap_or(Duration::ZERO);
        let periods = self.outages.iter().filter_map(|outage| outage.every).chain(self.every);
        (from, from + periods.max().unwrap_or(Duration::from_nanos(1)))
    }
}

/// Rates of a link over time, in bit/s, 0 in an outage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rates {
    /// Smallest one but for outages.
    pub min: BitRate,
    /// Mean over time, outages included.
    pub mean: BitRate,
    /// Largest one.
    pub max: BitRate,
}

/// Most changes over which a mean is taken. Chosen: a millisecond of work.
const CHANGES_MAX: usize = 10_000;

impl Rates {
    /// Rates of a link with the rate `own` before its first step, their mean from the start of the run to `until`, or in
    /// the long run.
    #[must_use]
    pub fn of(timeline: &Timeline, own: BitRate, until: Option<Duration>) -> Self {
        let stepped = || timeline.steps.iter().filter_map(|step| step.rate).chain([own]);
        let (min, max) = (stepped().min().unwrap_or(own), stepped().max().unwrap_or(own));
        let (from, to) =
            until.map_or_else(|| timeline.long_run(), |until| (Instant::ZERO, Instant::ZERO + until));
        let schedule = Schedule::new(timeline, Some(own), Duration::ZERO);
        let (mut now, mut bits) = (from, 0_u128);
        for _ in 0..CHANGES_MAX {
            let (values, change) = schedule.at(now);
            let end = change.unwrap_or(to).min(to);
            bits += u128::from(values.rate.unwrap_or(0)) * u128::from((end - now).as_nanos());
            now = end;
            if now == to {
                break;
            }
        }
        let mean = bits.checked_div(u128::from((now - from).as_nanos()));
        let mean = mean.and_then(|mean| BitRate::from_bps(u64::try_from(mean).ok()?.max(1)));
        Self { min, mean: mean.unwrap_or(own), max }
    }
}

/// Values of a link at an instant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Values {
    /// Rate in bit/s, 0 in an outage; none: unlimited.
    pub(super) rate: Option<u64>,
    delay: Duration,
    /// Probability of loss, where it is not the link's own process.
    pub(super) loss: Option<f64>,
}

#[derive(Debug)]
struct Schedule {
    /// Values from each time on, the link's own from 0 on.
    steps: Vec<(Duration, Values)>,
    every: Option<Duration>,
    outages: Vec<Outage>,
}

impl Schedule {
    fn new(timeline: &Timeline, rate: Option<BitRate>, delay: Duration) -> Self {
        let mut values = Values { rate: rate.map(BitRate::as_bps), delay, loss: None };
        let own = [(Duration::ZERO, values)];
        let steps = timeline.steps.iter().map(|step| {
            values = Values {
                rate: step.rate.map(BitRate::as_bps).or(values.rate),
                delay: step.delay.unwrap_or(values.delay),
                loss: step.loss.or(values.loss),
            };
            (step.at, values)
        });
        Self {
            steps: own.into_iter().chain(steps).collect(),
            every: timeline.every,
            outages: timeline.outages.clone(),
        }
    }

    /// Values at `now`, and when they may next change.
    fn at(&self, now: Instant) -> (Values, Option<Instant>) {
        let since = now - Instant::ZERO;
        let begin = self.every.map_or(Duration::ZERO, |every| last_multiple(since, every));
        let passed = self.steps.partition_point(|(at, _)| *at <= since - begin);
        let mut values = self.steps[passed - 1].1;
        let next = self.steps.get(passed).map(|(at, _)| *at).or(self.every);
        let mut until = next.map(|next| Instant::ZERO + begin + next);
        for outage in &self.outages {
            let (is_down, change) = outage.at(since);
            if is_down {
                values.rate = Some(0);
                if outage.mode == OutageMode::Drop {
                    values.loss = Some(1.0);
                }
            }
            let change = change.map(|change| Instant::ZERO + change);
            until = [until, change].into_iter().flatten().min();
        }
        (values, until)
    }
}

impl Outage {
    /// True when it goes on at `now`, and when that changes next.
    fn at(&self, now: Duration) -> (bool, Option<Duration>) {
        if now < self.at {
            return (false, Some(self.at));
        }
        let begin = self.at + self.every.map_or(Duration::ZERO, |every| last_multiple(now - self.at, every));
        let end = begin + self.lasts;
        if now < end { (true, Some(end)) } else { (false, self.every.map(|every| begin + every)) }
    }
}

/// Largest multiple of `period` that is not above `span`.
fn last_multiple(span: Duration, period: Duration) -> Duration {
    Duration::from_nanos(span.as_nanos() - span.as_nanos() % period.as_nanos())
}

/// Reads a schedule forwards in time.
#[derive(Debug, Clone)]
pub(super) struct Cursor {
    schedule: Arc<Schedule>,
    values: Values,
    until: Option<Instant>,
}

impl Cursor {
    /// At the start of the run; none for a link that stays as it is.
    pub(super) fn new(timeline: &Timeline, rate: Option<BitRate>, delay: Duration) -> Option<Self> {
        if timeline.is_constant() {
            return None;
        }
        let schedule = Arc::new(Schedule::new(timeline, rate, delay));
        let (values, until) = schedule.at(Instant::ZERO);
        Some(Self { schedule, values, until })
    }

    /// Values at `now`, which is at or after the last time asked for, and when they may next change.
    pub(super) fn at(&mut self, now: Instant) -> (Values, Option<Instant>) {
        if self.until.is_some_and(|until| until <= now) {
            (self.values, self.until) = self.schedule.at(now);
        }
        (self.values, self.until)
    }
}

/// Rate and delay that change, and the arrivals of the packets on the link.
#[derive(Debug, Clone)]
pub(super) struct Changes {
    pub(super) rate: Cursor,
    delay: Cursor,
    /// In order.
    arrivals: VecDeque<Instant>,
    pub(super) newest: Instant,
}

impl Changes {
    pub(super) fn new(start: Cursor) -> Self {
        Self { rate: start.clone(), delay: start, arrivals: VecDeque::new(), newest: Instant::ZERO }
    }

    /// A packet leaves at `departure`, behind all others.
    pub(super) fn travel(&mut self, departure: Instant) {
        self.newest = self.newest.max(departure + self.delay.at(departure).0.delay);
        self.arrivals.push_back(self.newest);
    }

    /// The first packet arrives; when the next one does.
    ///
    /// # Panics
    /// When `now` is not its time.
    pub(super) fn arrive(&mut self, now: Instant) -> Option<Instant> {
        assert!(self.arrivals.pop_front() == Some(now), "an arrival at the wrong time, {now}");
        self.arrivals.front().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::tests::{any_config, at, data, drive, link, plain};
    use crate::net::{Due, Enqueued, LinkConfig};
    use proptest::prelude::*;

    const MS: Duration = Duration::from_millis(1);

    fn step(at: Duration, bps: u64, delay: Option<Duration>) -> Step {
        Step { at, rate: BitRate::from_bps(bps), delay, loss: None }
    }

    fn stepped(steps: Vec<Step>, every: Option<Duration>) -> LinkConfig {
        LinkConfig { timeline: Timeline { steps, every, outages: Vec::new() }, ..plain() }
    }

    fn with_outage(at: Duration, lasts: Duration, every: Option<Duration>, mode: OutageMode) -> LinkConfig {
        let outages = vec![Outage { at, lasts, every, mode }];
        LinkConfig { timeline: Timeline { outages, ..Timeline::default() }, ..plain() }
    }

    /// When a packet of 1000 B (1 ms at 8 Mbit/s) that reaches the link at `now` arrives, with 1 ms of delay.
    fn arrival(config: &LinkConfig, now: Instant) -> Option<Instant> {
        match link(config).enqueue(now, data(0, 1000)) {
            Enqueued::Queued { event } => event,
            Enqueued::Dropped { .. } => None,
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
        assert_eq!(link.enqueue(at(0), data(0, 1500)), Enqueued::Queued { event: Some(at(7_500_000)) });
        // The next one follows without a gap: 12 ms.
        link.enqueue(at(0), data(1, 1500));
        assert_eq!(link.newest().map(|newest| newest.arrival), Some(at(19_500_000)));
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
        assert_eq!(
            [arrival(&hold, at(15_000_000)), arrival(&drop, at(15_000_000))],
            [Some(at(17_000_000)); 2]
        );
    }

    #[test]
    fn a_saturated_link_sends_what_the_gaps_leave() {
        // 3 of each 10 ms: 700 packets of 1 ms take a second.
        let config = with_outage(MS * 2, MS * 3, Some(MS * 10), OutageMode::Hold);
        let mut link = link(&config);
        for number in 0..700 {
            link.enqueue(at(0), data(number, 1000));
        }
        assert_eq!(link.newest().map(|newest| newest.departure), Some(at(1_000_000_000)));
    }

    #[test]
    fn a_shorter_delay_does_not_let_a_packet_overtake() {
        let mut link =
            link(&stepped(vec![Step { at: MS, rate: None, delay: Some(Duration::ZERO), loss: None }], None));
        // The first leaves at 0.999 ms with 1 ms of delay, the second at 1.1 ms with none.
        let first = link.enqueue(at(0), data(0, 999));
        assert_eq!(first, Enqueued::Queued { event: Some(at(1_999_000)) });
        link.enqueue(at(0), data(1, 101));
        assert_eq!(link.newest().map(|newest| newest.arrival), Some(at(1_999_000)));
        assert_eq!(
            link.on_event(at(1_999_000)),
            Due { arrived: Some(data(0, 999)), next: Some(at(1_999_000)) }
        );
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
        let again = Timeline { steps, every: Some(MS * 20), outages: vec![] };
        assert_eq!([mean(again.clone(), Some(MS * 5)), mean(again, None)], [30_000, 15_500]);
        for (every, of_run, long_run) in [(None, 15_000, 30_000), (Some(MS * 10), 15_000, 24_000)] {
            let gaps = Timeline { outages: vec![outage(every)], ..Timeline::default() };
            assert_eq!([mean(gaps.clone(), Some(MS * 4)), mean(gaps, None)], [of_run, long_run]);
        }
    }

    proptest! {
        #[test]
        fn steps_to_the_same_values_are_a_constant_link(
            config in any_config(),
            times in prop::collection::btree_set(0..20_000_000_u64, 1..20),
            every in prop::option::of(20_000_000..30_000_000_u64),
            offers in prop::collection::vec((0..200_000_u64, 0..1501_u32), 0..200),
        ) {
            let steps = times.into_iter().map(|at| Step {
                at: Duration::from_nanos(at), rate: config.rate, delay: Some(config.delay), loss: None,
            });
            let timeline =
                Timeline { steps: steps.collect(), every: every.map(Duration::from_nanos), outages: Vec::new() };
            prop_assert_eq!(drive(&LinkConfig { timeline, ..config.clone() }, &offers), drive(&config, &offers));
        }

        #[test]
        fn a_link_that_changes_keeps_order_and_every_packet(
            config in any_config(),
            steps in prop::collection::btree_map(0..20_000_000_u64, (1_000_000..1_000_000_000_u64, 0..5_000_000_u64), 1..20),
            (lasts, every) in (1..5_000_000_u64, 5_000_001..20_000_000_u64),
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
            let timeline = Timeline { steps: steps.collect(), every: None, outages: vec![outage] };
            let (arrived, dropped, totals) = drive(&LinkConfig { timeline, ..config }, &offers);
            prop_assert!(arrived.windows(2).all(|pair| pair[0].0 <= pair[1].0 && pair[0].1 < pair[1].1));
            prop_assert_eq!(arrived.len() + dropped.len(), offers.len());
            prop_assert_eq!((totals.packets, totals.drops()), (arrived.len() as u64, dropped.len() as u64));
        }
    }
}
