//! A rate that varies at random: a factor on it with mean 1, log-normal, each correlated with the one before.
//!
//! The logarithm of the factor is a first-order autoregression in equilibrium from the start of the run on. As all draws
//! are of the clock, and none of the packets, a change elsewhere leaves the rates of a seed as they are.
//!
//! Left out: distributions with other tails, and correlation that falls off slower.
//!
//! Source: the form is chosen. A trace of LeoReplayer (SIGCOMM 2025) has by 100 ms a deviation of 13 % and correlations of
//! 0.79 and 0.6 after one and five of them.

use serde::{Deserialize, Serialize};

use crate::rng::RandomStream;
use crate::units::{Duration, Instant};

/// A factor on the rate of a link that changes at equal times.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Variation {
    /// Standard deviation of its logarithm, 0 to 2: about that of the rate, as a share of the mean, where small.
    #[cfg_attr(test, schemars(range(min = 0.0, max = SIGMA_MAX)))]
    pub sigma: f64,
    /// How long each holds, at least 1 ms.
    #[cfg_attr(test, schemars(example = &"100 ms"))]
    pub every: Duration,
    /// Correlation of its logarithm with the one before, 0 to 1.
    #[cfg_attr(test, schemars(range(min = 0.0, max = 1.0)))]
    #[serde(default)]
    pub correlation: f64,
}

/// Largest deviation. Chosen: a link then has a fiftieth of its median rate, or fifty times as much, at times.
#[cfg(test)] // only the schema asks
const SIGMA_MAX: f64 = 2.0;

impl Variation {
    /// The factor so many standard deviations of its logarithm from the middle.
    pub(super) fn factor(&self, deviations: f64) -> f64 {
        libm::exp(self.sigma * deviations - self.sigma * self.sigma / 2.0)
    }
}

/// A factor on rates, in units of 2^-32.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Factor(u64);

impl Factor {
    pub(super) const ONE: Self = Self(1 << 32);

    pub(super) fn of(factor: f64) -> Self {
        Self((factor * Self::ONE.0 as f64).round() as u64)
    }

    /// `rate` times it, to the nearest bit/s, at least 1 where there is a rate.
    pub(super) fn times(self, rate: u64) -> u64 {
        let product = u128::from(rate) * u128::from(self.0) + (1 << 31);
        u64::try_from(product >> 32).unwrap_or(u64::MAX).max(rate.min(1))
    }
}

/// A standard normal number that is correlated with the one before.
#[derive(Debug, Clone)]
pub(super) struct Correlated {
    correlation: f64,
    value: f64,
    random: RandomStream,
}

impl Correlated {
    pub(super) fn new(correlation: f64, mut random: RandomStream) -> Self {
        Self { correlation, value: random.normal(), random }
    }

    pub(super) const fn value(&self) -> f64 {
        self.value
    }

    pub(super) fn step(&mut self) {
        let share = (1.0 - self.correlation * self.correlation).sqrt();
        self.value = self.correlation * self.value + share * self.random.normal();
    }
}

/// A variation, read forwards in time.
#[derive(Debug, Clone)]
pub(super) struct Varying {
    variation: Variation,
    normal: Correlated,
    /// Whole periods passed.
    passed: u64,
}

impl Varying {
    pub(super) fn new(variation: Variation, random: RandomStream) -> Self {
        Self { variation, normal: Correlated::new(variation.correlation, random), passed: 0 }
    }

    /// The factor at `now`, and until when it holds.
    pub(super) fn at(&mut self, now: Instant) -> (Factor, Instant) {
        let every = self.variation.every;
        let passed = (now - Instant::ZERO).as_nanos() / every.as_nanos();
        while self.passed < passed {
            self.normal.step();
            self.passed += 1;
        }
        (Factor::of(self.variation.factor(self.normal.value())), Instant::ZERO + every * (passed + 1))
    }
}
