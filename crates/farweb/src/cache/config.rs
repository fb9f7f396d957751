//! Configuration of a cache, as plain values.

use serde::{Deserialize, Serialize};

use crate::units::{Bytes, Duration, Share};

/// Configuration of a cache.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CacheConfig {
    /// Replacement policy: which objects it gives up.
    pub policy: Policy,
    /// Largest sum of the sizes it holds: bodies and headers, as request tables have them.
    pub capacity: Bytes,
    /// Objects that it takes in.
    #[serde(default)]
    pub admit: Admit,
    /// Life of a fresh object, for ever when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<Duration>,
    /// Treatment of requests for another version than the one held.
    #[serde(default)]
    pub changed: Changed,
}

/// Treatment of requests with another size than the fresh copy: the object has changed at its origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Changed {
    /// Serve the copy held: a cache learns of a change only when it revalidates.
    #[default]
    Serve,
    /// Fetch the new version and replace the old one: the origin purges changed objects.
    Fetch,
}

/// Replacement policy: selects the objects that a cache gives up when a new one needs their room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// The one stored first.
    Fifo,
    /// The one used least recently.
    Lru,
    /// Any, each with the same probability.
    Rand,
    /// The one used least often, with counts that age.
    Lfu,
    /// GreedyDual-Size: large ones first, unless they were used lately.
    Gds,
    /// GreedyDual-Size with frequency: large and seldom used ones first, unless they were used lately.
    Gdsf,
    /// Adaptive Replacement Cache: balances objects seen once and seen again by hits on its ghosts.
    Arc,
    /// Three FIFO queues: a small one on trial, a main one, and one of evicted objects.
    S3Fifo,
    /// A FIFO queue and a hand that spares objects used since its last pass.
    Sieve,
    /// Window TinyLFU: recency in a small window, frequency at the door of the rest.
    #[serde(rename = "w-tinylfu")]
    WTinyLfu,
    /// The latest next request goes: a bound that needs the future.
    Belady,
}

impl Policy {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Fifo,
        Self::Lru,
        Self::Rand,
        Self::Lfu,
        Self::Gds,
        Self::Gdsf,
        Self::Arc,
        Self::S3Fifo,
        Self::Sieve,
        Self::WTinyLfu,
        Self::Belady,
    ];

    /// True when it must know the future, from [`Cache::foresee`](super::Cache::foresee).
    #[must_use]
    pub const fn needs_the_future(self) -> bool {
        matches!(self, Self::Belady)
    }
}

/// Admission: selects the objects that a cache takes in among those that fit (default: all).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Admit {
    /// Size of the smallest object that is taken in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<Bytes>,
    /// Size of the largest object that is taken in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<Bytes>,
    /// True when only objects that have been asked for before are taken in.
    pub second_hit: bool,
    /// Probability that an object is taken in each time that it is stored, 0 to 1.
    #[serde(deserialize_with = "Share::deserialize")]
    #[cfg_attr(test, schemars(with = "Share"))]
    pub probability: f64,
}

impl Default for Admit {
    fn default() -> Self {
        Self { min: None, max: None, second_hit: false, probability: 1.0 }
    }
}

impl Admit {
    /// True when it takes in everything.
    #[must_use]
    pub fn is_all(&self) -> bool {
        *self == Self::default()
    }

    /// Checks that its values make sense with each other.
    ///
    /// # Errors
    /// The problem.
    pub fn check(&self) -> Result<(), String> {
        if !(0.0..=1.0).contains(&self.probability) {
            return Err(format!("found probability = {}; a probability is 0 to 1", self.probability));
        }
        match (self.min, self.max) {
            (Some(min), Some(max)) if min > max => {
                Err(format!("found min = {min} and max = {max}; min must not be above max"))
            }
            _ => Ok(()),
        }
    }
}
