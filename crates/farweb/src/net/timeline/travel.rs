//! Propagation on a link that changes: the delay at a packet's departure, and jitter, in the order of departure.
//!
//! Jitter is drawn for each packet and added to the delay. A packet that would overtake arrives with the one before it.
//!
//! Left out: jitter below the delay, as `netem` has it about its mean, and reordering.
//!
//! Source: chosen.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::trace::Chances;
use super::variation::Correlated;
use super::wake::Radio;
use super::{Cursor, Terminal, Timeline};
use crate::rng::RandomStream;
use crate::units::{Duration, Instant};

/// Time that each packet takes beyond the delay; one of `uniform` and `normal` says how it is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Jitter {
    /// Largest, of times from zero on that are equally likely.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uniform: Option<Duration>,
    /// Standard deviation of a normal time, of which the size counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub normal: Option<Duration>,
    /// Correlation of the normal time with that of the packet before, 0 to 1; 0 when left out.
    #[cfg_attr(test, schemars(range(min = 0.0, max = 1.0)))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation: Option<f64>,
}

/// Jitter of the packets of a link, one after the other.
#[derive(Debug, Clone)]
pub(super) enum Jittering {
    Uniform(Duration, RandomStream),
    Normal(Duration, Correlated),
}

impl Jittering {
    pub(super) fn new(jitter: Jitter, random: RandomStream) -> Self {
        match jitter.normal {
            Some(deviation) => {
                Self::Normal(deviation, Correlated::new(jitter.correlation.unwrap_or(0.0), random))
            }
            None => Self::Uniform(jitter.uniform.unwrap_or(Duration::ZERO), random),
        }
    }

    fn next(&mut self) -> Duration {
        let nanos = match self {
            Self::Uniform(most, random) => random.uniform() * most.as_nanos() as f64,
            Self::Normal(deviation, normal) => {
                let size = normal.value().abs();
                normal.step();
                size * deviation.as_nanos() as f64
            }
        };
        Duration::from_nanos(nanos.round() as u64)
    }
}

/// Rate and delay that change, or opportunities to send, and the arrivals of the packets on the link.
#[derive(Debug, Clone)]
pub(in crate::net) struct Changes {
    pub(in crate::net) rate: Cursor,
    /// In place of the rate.
    pub(in crate::net) turns: Option<Box<Turns>>,
    radio: Option<Radio>,
    delay: Cursor,
    jitter: Option<Jittering>,
    /// In order.
    arrivals: VecDeque<Instant>,
    pub(in crate::net) newest: Instant,
}

/// When a link may send, in place of a rate.
#[derive(Debug, Clone)]
pub(in crate::net) enum Turns {
    /// At the opportunities of a trace.
    Trace(Chances),
    /// In the frames that are granted.
    Dama(Terminal),
}

impl Changes {
    pub(in crate::net) fn new(
        start: Cursor,
        turns: Option<Turns>,
        timeline: &Timeline,
        random: RandomStream,
    ) -> Self {
        Self {
            delay: start.clone().of_one_rate(),
            rate: start,
            turns: turns.map(Box::new),
            radio: timeline.wake.map(Radio::new),
            jitter: timeline.jitter.map(|jitter| Jittering::new(jitter, random)),
            arrivals: VecDeque::new(),
            newest: Instant::ZERO,
        }
    }

    /// When a packet that is there at `now` can be sent, as far as the radio goes.
    pub(in crate::net) fn awake_for(&self, now: Instant) -> Instant {
        self.radio.map_or(now, |radio| radio.awake_for(now))
    }

    /// A packet leaves at `departure`, behind all others.
    pub(in crate::net) fn travel(&mut self, departure: Instant) {
        if let Some(radio) = &mut self.radio {
            radio.sent(departure);
        }
        let jitter = self.jitter.as_mut().map_or(Duration::ZERO, Jittering::next);
        self.newest = self.newest.max(departure + self.delay.at(departure).0.delay + jitter);
        self.arrivals.push_back(self.newest);
    }

    /// When the packet arrives that is at this place on the link.
    pub(in crate::net) fn arrival(&self, place: usize) -> Option<Instant> {
        self.arrivals.get(place).copied()
    }

    /// The first packet arrives. Returns when the next one does.
    ///
    /// # Panics
    /// When `now` is not its time.
    pub(in crate::net) fn arrive(&mut self, now: Instant) -> Option<Instant> {
        assert!(self.arrivals.pop_front() == Some(now), "an arrival at the wrong time, {now}");
        self.arrivals.front().copied()
    }
}
