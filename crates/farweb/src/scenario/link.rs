//! A link of a path, in both directions, as a scenario writes it, and the link of a run that it describes.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::key;
use super::model::Until;
use super::preset::PresetName;
use super::queue::{Queue, QueueTable};
use crate::net::{
    self, Dama, Direction, Fade, Handover, Jitter, LinkConfig, Loss, Opportunities, Outage, Phase,
    QueueConfig, QueueCounts, Rates, Step, Timeline, Trace, Variation, Wake, mean_rates,
};
use crate::units::{BitRate, Bytes, Duration, quantity_or_word};

/// Both directions of the link between two neighbours.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Kind of path, which gives the keys that are left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<PresetName>,
    /// The direction of requests, towards the servers.
    pub up: LinkDirection,
    /// The direction of responses, towards the clients.
    pub down: LinkDirection,
    /// Handovers, which change both directions at the same times. "none" switches the preset's off.
    #[cfg_attr(test, schemars(schema_with = "super::tests::schema::or_none::<Handover>"))]
    #[serde(default, deserialize_with = "key::or_none", skip_serializing_if = "Option::is_none")]
    pub handover: Option<Handover>,
}

/// One direction of a link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LinkDirection {
    /// Rate of the link, such as "34.368 Mbit/s", or "unlimited". Left out where a trace stands in its place.
    #[cfg_attr(test, schemars(extend("x-unless" = "trace")))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<LinkRate>,
    /// Propagation delay in this direction, such as "60 ms".
    pub delay: Duration,
    /// Limit of the drop-tail queue, such as "256000 B", "100 packets" or "250 ms", what the link sends in it at its rate at the
    /// start; or a discipline, by its name or as a table. Unlimited when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<Queue>,
    /// Packets that a plain limit counts: the one in transmission as well ("all", as ns-2 and Linux count) or only those that
    /// wait ("waiting").
    #[serde(default)]
    pub queue_counts: QueueCounts,
    /// Loss process: packets lost besides those that find the queue full.
    #[serde(default)]
    pub loss: Loss,
    /// Changes of rate, delay and loss, each with its time; what a step leaves out stays as it was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
    /// Period after which the steps come again, at the begin of each with the link's own values; they come once when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps_every: Option<Duration>,
    /// File with steps and outages by time, in place of steps: columns time_s, rate_mbps, delay_ms, loss, state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,
    /// Behind the last row of the schedule: its values hold ("hold"), or the rows before it come again ("repeat").
    #[serde(default, skip_serializing_if = "ScheduleAfter::is_hold")]
    pub schedule_after: ScheduleAfter,
    /// File with delivery opportunities in place of the rate, a line each, in whole ms, as mahimahi has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    /// Bytes that an opportunity of the trace carries.
    #[serde(default = "trace_bytes", skip_serializing_if = "is_trace_bytes")]
    pub trace_bytes: Bytes,
    /// Bytes of an opportunity that each packet takes besides its own.
    #[serde(default = "trace_overhead", skip_serializing_if = "is_trace_overhead")]
    pub trace_overhead: Bytes,
    /// Behind its last opportunity the trace begins again; else the run ends with it.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub trace_repeat: bool,
    /// Time of the trace at the start of the run, or "random": others in each replication, alike in both directions of a link.
    #[serde(default = "at_start", skip_serializing_if = "is_at_start")]
    pub trace_offset: Phase,
    /// The opportunities of the trace, once they are read.
    #[serde(skip)]
    pub(super) opportunities: Option<Arc<Opportunities>>,
    /// Rain over a satellite link with adaptive coding, in place of steps; "none" switches it off.
    #[cfg_attr(test, schemars(schema_with = "super::tests::schema::or_none::<Fade>"))]
    #[serde(default, deserialize_with = "key::or_none", skip_serializing_if = "Option::is_none")]
    pub fade: Option<Fade>,
    /// Times without sending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outage: Vec<Outage>,
    /// Factor on the rate that changes at random; "none" switches the one of the preset off.
    #[cfg_attr(test, schemars(schema_with = "super::tests::schema::or_none::<Variation>"))]
    #[serde(default, deserialize_with = "key::or_none", skip_serializing_if = "Option::is_none")]
    pub variation: Option<Variation>,
    /// Time that each packet takes beyond the delay, or "none"; no packet overtakes another.
    #[cfg_attr(test, schemars(schema_with = "super::tests::schema::or_none::<Jitter>"))]
    #[serde(default, deserialize_with = "key::or_none", skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Jitter>,
    /// Capacity on demand, of the return link of a satellite: a terminal asks, and sends in the frames that are granted.
    #[cfg_attr(test, schemars(schema_with = "super::tests::schema::or_none::<Dama>"))]
    #[serde(default, deserialize_with = "key::or_none", skip_serializing_if = "Option::is_none")]
    pub dama: Option<Dama>,
    /// Radio that sleeps after a silence, and takes a while to wake; "none" switches it off.
    #[cfg_attr(test, schemars(schema_with = "super::tests::schema::or_none::<Wake>"))]
    #[serde(default, deserialize_with = "key::or_none", skip_serializing_if = "Option::is_none")]
    pub wake: Option<Wake>,
}

/// What a link does behind the last row of its schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ScheduleAfter {
    /// It keeps the last values.
    #[default]
    Hold,
    /// The rows come again, at the time of the last one, which is the end of the period and sets nothing.
    Repeat,
}

impl ScheduleAfter {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    const fn is_hold(&self) -> bool {
        matches!(self, Self::Hold)
    }
}

const fn trace_bytes() -> Bytes {
    Bytes::new(1504)
}

const fn trace_overhead() -> Bytes {
    Bytes::new(4)
}

const fn at_start() -> Phase {
    Phase::At(Duration::ZERO)
}

const fn yes() -> bool {
    true
}

fn is_trace_bytes(bytes: &Bytes) -> bool {
    *bytes == trace_bytes()
}

fn is_trace_overhead(bytes: &Bytes) -> bool {
    *bytes == trace_overhead()
}

fn is_at_start(phase: &Phase) -> bool {
    *phase == at_start()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_yes(flag: &bool) -> bool {
    *flag
}

impl LinkDirection {
    /// Its rate, the mean one of a trace that is read. None when unlimited.
    #[must_use]
    pub fn rate(&self) -> Option<BitRate> {
        self.rate.and_then(|rate| rate.0)
    }

    /// True when packets take time to send.
    pub(crate) fn is_rated(&self) -> bool {
        self.trace.is_some() || self.rate().is_some()
    }

    /// Keys of a trace that are not as when they are left out.
    pub(super) fn keys_of_trace(&self) -> impl Iterator<Item = &'static str> {
        let keys = [
            ("trace_bytes", is_trace_bytes(&self.trace_bytes)),
            ("trace_overhead", is_trace_overhead(&self.trace_overhead)),
            ("trace_repeat", is_yes(&self.trace_repeat)),
            ("trace_offset", is_at_start(&self.trace_offset)),
        ];
        keys.into_iter().filter(|(_, is_left_out)| !is_left_out).map(|(key, _)| key)
    }

    /// Its trace, once that is read.
    pub(crate) fn trace(&self) -> Option<Trace> {
        let opportunities = self.opportunities.clone()?;
        let [bytes, overhead] = [self.trace_bytes, self.trace_overhead].map(|bytes| bytes.get() as u32);
        Some(Trace { opportunities, bytes, overhead, repeats: self.trace_repeat, offset: self.trace_offset })
    }

    /// The limit of its queue, a time as bytes. None when unlimited.
    pub(crate) fn limit(&self) -> Option<net::QueueLimit> {
        self.queue.and_then(|queue| queue.limit()?.at(self.rate()))
    }

    /// Packets that this limit counts.
    pub(crate) const fn counts(&self) -> QueueCounts {
        match self.queue {
            Some(Queue::Table(QueueTable::DropTail { counts, .. } | QueueTable::DropHead { counts, .. })) => {
                counts
            }
            Some(queue) if queue.is_aqm() => QueueCounts::Waiting,
            Some(_) | None => self.queue_counts,
        }
    }

    /// True where a packet above the limit never passes: drop-tail that counts the one in transmission as well.
    pub(crate) fn is_barred_above_limit(&self) -> bool {
        let is_drop_head = matches!(self.queue, Some(Queue::Table(QueueTable::DropHead { .. })));
        self.counts() == QueueCounts::All && !is_drop_head
    }
}

impl Link {
    /// One of its directions.
    #[must_use]
    pub const fn towards(&self, way: Direction) -> &LinkDirection {
        match way {
            Direction::Up => &self.up,
            Direction::Down => &self.down,
        }
    }

    /// True when a direction sends by a trace.
    pub(super) const fn has_trace(&self) -> bool {
        self.up.trace.is_some() || self.down.trace.is_some()
    }

    pub(super) const fn towards_mut(&mut self, way: Direction) -> &mut LinkDirection {
        match way {
            Direction::Up => &mut self.up,
            Direction::Down => &mut self.down,
        }
    }

    /// The link that one of its directions describes.
    #[must_use]
    pub fn config(&self, way: Direction) -> LinkConfig {
        let own = self.towards(way);
        LinkConfig {
            rate: own.rate(),
            delay: own.delay,
            queue: own
                .queue
                .map_or(QueueConfig::Unlimited, |queue| queue.config(own.rate(), own.queue_counts)),
            loss: own.loss.clone(),
            timeline: self.timeline(way),
        }
    }

    /// Changes of a direction over time.
    pub(crate) fn timeline(&self, way: Direction) -> Timeline {
        let own = self.towards(way);
        let LinkDirection { steps, steps_every, fade, outage, variation, jitter, dama, wake, .. } = own;
        let back = self.towards(way.opposite()).delay;
        let faded = |fade: &Fade| own.rate().map(|rate| fade.pieces(rate, back));
        Timeline {
            steps: steps.clone(),
            every: *steps_every,
            fade: fade.as_ref().and_then(faded).unwrap_or_default(),
            trace: own.trace(),
            dama: *dama,
            wake: *wake,
            outages: outage.clone(),
            handover: self.handover,
            variation: *variation,
            jitter: *jitter,
        }
    }

    /// Rates that a direction has over time, in a run of this length. None where its own is unlimited.
    pub(crate) fn rates(&self, way: Direction, until: Until) -> Option<Rates> {
        let until = if let Until::Time(until) = until { Some(until) } else { None };
        self.towards(way).rate().map(|own| Rates::of(&self.timeline(way), own, until))
    }

    /// Mean rates of a direction in `count` spans of `every` from the start of the run on, in bit/s. None
    /// where its own is unlimited.
    #[must_use]
    pub fn mean_rates(&self, way: Direction, every: Duration, count: usize) -> Option<Vec<f64>> {
        self.towards(way).rate().map(|own| mean_rates(&self.timeline(way), own, every, count))
    }

    /// Least delay that a direction has over time.
    pub(crate) fn least_delay(&self, way: Direction) -> Duration {
        self.timeline(way).least_delay(self.towards(way).delay)
    }
}

/// Rate of a link. `None` is unlimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkRate(pub Option<BitRate>);

quantity_or_word!(LinkRate, "unlimited", BitRate, Self(None), |rate| Self(Some(rate)), |rate| rate.0);
