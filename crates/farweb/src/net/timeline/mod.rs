//! Links that change with time: steps of rate, delay and loss, fading, outages, handovers, and a rate that varies, as a
//! function of the clock. Or opportunities to send, by a trace or by the grants of a hub. And a radio that sleeps.
//!
//! A step sets values that hold until the next one. Others stay. Before the first step the link has its own values.
//! Steps may come again with a period. At the begin of each the link has its own values again. In an outage nothing
//! is sent: a packet in transmission goes on behind it, and packets that reach the link wait, or are lost.
//!
//! A packet in transmission goes on at the new rate: bits are integrated over the pieces and rounded as at a constant
//! rate, and a schedule of one rate equals that rate to the nanosecond. The delay at a packet's departure counts, but no
//! packet arrives before the one sent before it.
//!
//! Values are drawn as the clock gets there and kept until they change: a schedule takes no memory for its length.
//! Each reader of it draws the same from a stream of its own.
//!
//! Left out: values that change continuously, packets that an outage takes out of the air.
//!
//! Source: chosen.

mod dama;
mod fade;
mod handover;
mod opportunities;
mod rates;
#[cfg(test)]
mod tests;
mod trace;
mod travel;
mod variation;
mod wake;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::rng::RandomStream;
use crate::units::{BitRate, Duration, Instant, Share};
pub(super) use dama::Terminal;
pub use dama::{Dama, DamaKind, Grants};
pub use fade::{Attenuation, Fade, Piece};
use handover::Handovers;
pub use handover::{Handover, Phase, Shift};
pub use opportunities::{Opportunities, WINDOW_MS};
pub use rates::{Rates, mean_rates};
pub(super) use trace::Chances;
pub use trace::Trace;
pub use travel::Jitter;
pub(super) use travel::{Changes, Turns};
pub use variation::Variation;
use variation::Varying;
pub use wake::Wake;

/// Least period of anything that comes again. Chosen: shorter than a packet of 1500 B at 12 Mbit/s, and a year has as many as
/// can be passed in minutes.
pub const PERIOD_MIN: Duration = Duration::from_millis(1);

/// A change of a link at a time; values left out stay.
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

/// A time when a link sends nothing.
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

/// All that changes in one direction of a link. Without any of it the link is constant.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Timeline {
    /// Steps, by time.
    pub steps: Vec<Step>,
    /// Period after which the steps come again. All of them lie within it.
    pub every: Option<Duration>,
    /// Rates by fading, by time and the first at 0, in place of steps.
    pub fade: Vec<Piece>,
    /// A trace, in place of rates.
    pub trace: Option<Trace>,
    /// Capacity on demand, of a link of one rate.
    pub dama: Option<Dama>,
    /// Sleep of a radio.
    pub wake: Option<Wake>,
    /// Outages, which together leave time to send.
    pub outages: Vec<Outage>,
    /// Handovers, which the other direction has as well.
    pub handover: Option<Handover>,
    /// Variation of the rate.
    pub variation: Option<Variation>,
    /// Time that packets take beyond the delay.
    pub jitter: Option<Jitter>,
}

impl Timeline {
    /// True when nothing changes.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        *self == Self { every: self.every, ..Self::default() }
    }

    /// Least delay with the link's own delay of `own`, once all steps have been.
    #[must_use]
    pub fn least_delay(&self, own: Duration) -> Duration {
        let least = self.steps.iter().filter_map(|step| step.delay).fold(own, Duration::min);
        self.handover.map_or(least, |handover| handover.delay[0].of(least))
    }

    /// Largest delay likewise, without jitter.
    #[must_use]
    pub fn largest_delay(&self, own: Duration) -> Duration {
        let most = self.steps.iter().filter_map(|step| step.delay).fold(own, Duration::max);
        self.handover.map_or(most, |handover| handover.delay[1].of(most))
    }

    /// Most that a link with the rate `own` carries, before its first step.
    pub(super) fn most(&self, own: BitRate) -> BitRate {
        self.dama.and_then(|dama| dama.max).map_or(own, |max| max.min(own))
    }

    /// A time that shows it in the long run: its longest period, behind the last change that comes once.
    fn long_run(&self) -> (Instant, Instant) {
        let step = self.steps.last().filter(|_| self.every.is_none()).map(|step| step.at);
        let piece = self.fade.last().map(|piece| piece.at);
        let begins =
            self.outages.iter().map(|each| if each.every.is_some() { each.at } else { each.at + each.lasts });
        let from =
            Instant::ZERO + step.into_iter().chain(piece).chain(begins).max().unwrap_or(Duration::ZERO);
        let periods = self.outages.iter().filter_map(|outage| outage.every).chain(self.every);
        (from, from + periods.max().unwrap_or(Duration::from_nanos(1)))
    }
}

/// Probability of loss in an outage that drops.
const CERTAIN: f64 = 1.0;

/// Purpose of the random stream of handovers: one for both directions of a link.
pub(super) const HANDOVER: &str = "handover";

/// Purpose of the stream that draws where a trace begins, which both directions of a link share.
pub(super) const TRACE: &str = "trace";

/// Values of a link at an instant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Values {
    /// Rate in bit/s, 0 in an outage, `None` for unlimited.
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
        let own = timeline.fade.is_empty().then_some((Duration::ZERO, values));
        let faded = timeline.fade.iter().map(|piece| {
            let loss = piece.is_lost.then_some(CERTAIN);
            (piece.at, Values { rate: Some(piece.rate), delay, loss })
        });
        let steps = timeline.steps.iter().map(|step| {
            values = Values {
                rate: step.rate.map(BitRate::as_bps).or(values.rate),
                delay: step.delay.unwrap_or(values.delay),
                loss: step.loss.or(values.loss),
            };
            (step.at, values)
        });
        Self {
            steps: own.into_iter().chain(faded).chain(steps).collect(),
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
                    values.loss = Some(CERTAIN);
                }
            }
            let change = change.map(|change| Instant::ZERO + change);
            until = [until, change].into_iter().flatten().min();
        }
        (values, until)
    }
}

impl Schedule {
    /// Integral of the rate in 10⁻⁹ bit, and the end of it: `to`, or where no more changes are allowed.
    fn work(&self, from: Instant, to: Instant, changes: &mut usize) -> (u128, Instant) {
        let (mut now, mut work) = (from, 0);
        while now < to && *changes > 0 {
            let (values, change) = self.at(now);
            let end = change.unwrap_or(to).min(to);
            work += u128::from(values.rate.unwrap_or(0)) * u128::from((end - now).as_nanos());
            now = end;
            *changes -= 1;
        }
        (work, now)
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
    handovers: Option<Handovers>,
    variation: Option<Varying>,
    values: Values,
    until: Option<Instant>,
}

impl Cursor {
    /// Starts with the run. None for a link that stays as it is. `random` gives a stream for each purpose.
    pub(super) fn new(
        timeline: &Timeline,
        rate: Option<BitRate>,
        delay: Duration,
        random: impl Fn(&str) -> RandomStream,
    ) -> Option<Self> {
        (!timeline.is_constant()).then(|| Self::of_any(timeline, rate, delay, random))
    }

    /// The same, of a link that stays as it is, too.
    pub(super) fn of_any(
        timeline: &Timeline,
        rate: Option<BitRate>,
        delay: Duration,
        random: impl Fn(&str) -> RandomStream,
    ) -> Self {
        let schedule = Arc::new(Schedule::new(timeline, rate, delay));
        let handovers = timeline.handover.map(|handover| Handovers::new(handover, random(HANDOVER)));
        let variation = timeline.variation.map(|variation| Varying::new(variation, random("variation")));
        let (values, _) = schedule.at(Instant::ZERO);
        Self { schedule, handovers, variation, values, until: Some(Instant::ZERO) }
    }

    /// The same for a reader who does not ask for the rate: without its variation.
    pub(super) fn of_one_rate(self) -> Self {
        Self { variation: None, ..self }
    }

    /// Values at `now`, which is at or after the last time asked for, and when they may next change.
    #[inline]
    pub(super) fn at(&mut self, now: Instant) -> (Values, Option<Instant>) {
        if self.until.is_some_and(|until| until <= now) {
            self.pass(now);
        }
        (self.values, self.until)
    }

    #[inline(never)]
    fn pass(&mut self, now: Instant) {
        let (mut values, mut until) = self.schedule.at(now);
        let mut holds_to = |change: Instant| until = Some(until.map_or(change, |until| until.min(change)));
        if let Some(variation) = &mut self.variation {
            let (factor, change) = variation.at(now);
            values.rate = values.rate.map(|rate| factor.times(rate));
            holds_to(change);
        }
        if let Some(handovers) = &mut self.handovers {
            let drawn = handovers.at(now);
            values.rate = values.rate.map(|rate| drawn.rate.times(rate));
            values.delay = drawn.delay.of(values.delay);
            if drawn.is_gap {
                values.rate = Some(0);
            }
            if values.loss != Some(CERTAIN) {
                values.loss = drawn.loss.or(values.loss);
            }
            holds_to(drawn.until);
        }
        (self.values, self.until) = (values, until);
    }
}
