//! Handovers of a satellite link: at equal times both directions fall silent, and go on with another rate and delay.
//!
//! A handover draws a factor on the rate and a step of the delay, which hold until the next one. Both are about the values
//! that the link has by its steps, and do not drift. A run begins within a period.
//!
//! Left out: orbits, and losses of packets in the air.
//!
//! Source: a trace of LeoReplayer (SIGCOMM 2025) with gaps of 59 to 135 ms every 15 s, and other rates between.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::variation::Factor;
use crate::rng::RandomStream;
use crate::units::{Duration, Instant, Quantity, QuantityError, Share, as_text, quantity_or_word};

/// Changes of both directions of a link at once, at equal times.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Handover {
    /// Time from one to the next, at least 1 ms.
    #[cfg_attr(test, schemars(example = &"15 s"))]
    pub every: Duration,
    /// Time of one of them, such as "12 s", or "random": others in each replication.
    #[serde(default)]
    pub phase: Phase,
    /// Least and largest length of the gap at its begin: nothing is sent, packets wait.
    #[serde(default)]
    pub gap: [Duration; 2],
    /// Least and largest factor on the rate until the next one.
    #[serde(default = "unchanged")]
    pub rate: [f64; 2],
    /// Least and largest step of the delay until the next one; no delay falls below zero.
    #[serde(default)]
    pub delay: [Shift; 2],
    /// Probability that a packet is lost shortly after its begin, in place of the link's own loss process.
    #[serde(default, deserialize_with = "Share::deserialize")]
    #[cfg_attr(test, schemars(with = "Share"))]
    pub loss: f64,
    /// How long that holds, from its begin.
    #[serde(default)]
    pub loss_for: Duration,
}

const fn unchanged() -> [f64; 2] {
    [1.0, 1.0]
}

impl Handover {
    /// Mean share of the time that is no gap, times the mean factor on the rate.
    pub(super) fn mean_factor(&self) -> f64 {
        let [least, most] = self.gap.map(Duration::as_secs_f64);
        let sent = 1.0 - f64::midpoint(least, most) / self.every.as_secs_f64();
        sent * f64::midpoint(self.rate[0], self.rate[1])
    }
}

/// When handovers happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Phase {
    /// At times that each run draws.
    #[default]
    Random,
    /// At this time, and whole periods before and after it.
    At(Duration),
}

quantity_or_word!(Phase, "random", Duration, Self::Random, Self::At, |phase| match phase {
    Phase::Random => None,
    Phase::At(time) => Some(*time),
});

/// A difference of two durations, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Shift(i64);

impl Shift {
    /// A shift by so many nanoseconds.
    #[must_use]
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    /// `delay` moved by it, at least zero.
    #[must_use]
    pub fn of(self, delay: Duration) -> Duration {
        Duration::from_nanos(delay.as_nanos().saturating_add_signed(self.0))
    }
}

impl Quantity for Shift {
    const KIND: &'static str = "shift";
    const EXAMPLE: &'static str = "-2 ms";
    const UNITS: &'static [(&'static str, u64)] = Duration::UNITS;
}

impl FromStr for Shift {
    type Err = QuantityError;
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let (sign, size) = text.trim().strip_prefix('-').map_or((1, text), |size| (-1, size));
        let problem = || QuantityError::new::<Self>(format!("\"{text}\" is not a shift"));
        let size: Duration = size.parse().map_err(|_| problem())?;
        i64::try_from(size.as_nanos()).map(|nanos| Self(sign * nanos)).map_err(|_| problem())
    }
}

impl fmt::Display for Shift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        write!(f, "{sign}{}", Duration::from_nanos(self.0.unsigned_abs()))
    }
}

as_text!(Shift, "Shift", { "type": "string", "format": Self::KIND, "examples": [Self::EXAMPLE] });

/// Draws of a handover.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Drawn {
    gap: Duration,
    rate: Factor,
    delay: Shift,
}

/// Handovers of a link, read forwards in time.
#[derive(Debug, Clone)]
pub(super) struct Handovers {
    handover: Handover,
    random: RandomStream,
    /// From the begin of the first period, which the run begins within, to the start of the run.
    lead: Duration,
    /// Periods begun.
    begun: u64,
    drawn: Drawn,
}

/// Changes in force at an instant, and when they may next change.
#[derive(Debug, Clone, Copy)]
pub(super) struct Now {
    pub(super) is_gap: bool,
    pub(super) rate: Factor,
    pub(super) delay: Shift,
    pub(super) loss: Option<f64>,
    pub(super) until: Instant,
}

impl Handovers {
    /// A phase is drawn even where the key gives one: it moves no other draw.
    pub(super) fn new(handover: Handover, mut random: RandomStream) -> Self {
        let every = handover.every.as_nanos();
        let drawn = (random.uniform() * every as f64) as u64;
        let first = match handover.phase {
            Phase::Random => drawn,
            Phase::At(time) => time.as_nanos(),
        } % every;
        let nothing = Drawn { gap: Duration::ZERO, rate: Factor::ONE, delay: Shift(0) };
        Self { handover, random, lead: Duration::from_nanos(every - first), begun: 0, drawn: nothing }
    }

    pub(super) fn at(&mut self, now: Instant) -> Now {
        let (every, since) = (self.handover.every.as_nanos(), (now - Instant::ZERO + self.lead).as_nanos());
        while self.begun <= since / every {
            self.draw();
        }
        let within = Duration::from_nanos(since % every);
        let Handover { loss, loss_for, .. } = self.handover;
        let changes = [self.drawn.gap, loss_for, self.handover.every];
        let next = changes.into_iter().filter(|change| *change > within).min().expect("a period ends");
        Now {
            is_gap: within < self.drawn.gap,
            rate: self.drawn.rate,
            delay: self.drawn.delay,
            loss: (within < loss_for).then_some(loss),
            until: now + (next - within),
        }
    }

    fn draw(&mut self) {
        let Handover { gap: [least, most], rate: [low, high], delay: [sooner, later], .. } = self.handover;
        let [gap, rate, delay] = [(); 3].map(|()| self.random.uniform());
        let part = |share: f64, span: u64| (share * span as f64).round() as u64;
        self.drawn = Drawn {
            gap: least + Duration::from_nanos(part(gap, (most - least).as_nanos())),
            rate: Factor::of(low + rate * (high - low)),
            delay: Shift(sooner.0 + part(delay, later.0.abs_diff(sooner.0)) as i64),
        };
        self.begun += 1;
    }
}
