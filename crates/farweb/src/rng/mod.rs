//! Random numbers: one seed, a named stream for each purpose.
//!
//! A run has one seed. Whatever draws random numbers (the loss process of a link, the phase of a host's clock) takes
//! a [`RandomStream`] of its own from [`RandomStreams`], by name and index. A stream depends on seed, name and index alone, so
//! one more stream, or more draws from one, never moves the numbers of another.
//!
//! The generator is PCG64-DXSM with 128 bits of state (M. O'Neill, "PCG: A Family of Simple Fast Space-Efficient
//! Statistically Good Algorithms for Random Number Generation", 2014; the DXSM output function as NumPy documents it).
//! Seed, name and index are hashed by 64-bit FNV-1a (RFC 9923). SplitMix64 (G. Steele,
//! D. Lea, C. Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014) spreads the hash over state and
//! increment. Two streams of a run are equal only if their hashes collide: chance 2^-64 a pair.

mod distributions;
#[cfg(test)]
mod tests;

use std::convert::Infallible;

use rand_core::{Rng, TryRng};
use rand_pcg::Pcg64Dxsm;

use crate::units::Duration;

pub use distributions::{DistributionError, Exponential, LogNormal, Pareto, Zipf};

/// The random streams of one seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RandomStreams {
    seed: u64,
}

/// A sequence of random numbers. See [`RandomStreams::stream`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RandomStream {
    generator: Pcg64Dxsm,
}

impl RandomStreams {
    /// The streams of `seed`.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// The stream for the purpose `name`. `index` tells streams of one purpose apart (a link, a host).
    ///
    /// The same seed, name and index give the same numbers on every machine.
    #[must_use]
    pub fn stream(&self, name: &str, index: u64) -> RandomStream {
        let mut hash = fnv1a(FNV_OFFSET_BASIS, &self.seed.to_le_bytes());
        hash = fnv1a(hash, name.as_bytes());
        hash = fnv1a(hash, &index.to_le_bytes());
        let mut state = hash;
        let mut word = || u128::from(split_mix(&mut state));
        let (start, increment) = (word() << 64 | word(), word() << 64 | word());
        RandomStream { generator: Pcg64Dxsm::new(start, increment) }
    }
}

impl RandomStream {
    /// A number uniform in [0, 1), one of the 2^53 multiples of 2^-53.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        const STEP: f64 = 1.0 / (1_u64 << 53) as f64;
        (self.generator.next_u64() >> 11) as f64 * STEP
    }

    /// A standard normal number, of two draws.
    ///
    /// Source: G. E. P. Box, M. E. Muller, "A Note on the Generation of Random Normal Deviates", Annals of Mathematical
    /// Statistics 29(2), 1958. The second one of each pair is not used: a number depends on its draws alone.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * libm::log(1.0 - self.uniform())).sqrt();
        radius * libm::cos(std::f64::consts::TAU * self.uniform())
    }

    /// True when an event of the given probability happens: never for 0, always for 1.
    #[inline]
    pub fn happens(&mut self, probability: f64) -> bool {
        self.uniform() < probability
    }

    /// A whole number uniform in `0..limit`, without bias.
    ///
    /// Source: D. Lemire, "Fast Random Integer Generation in an Interval", ACM TOMACS 29(1), 2019.
    ///
    /// # Panics
    /// When `limit` is zero.
    pub fn below(&mut self, limit: u64) -> u64 {
        assert!(limit > 0, "there is no whole number below 0");
        // The low half of the product shows which draws would favour some results: fewer than `limit` of 2^64.
        let favoured = limit.wrapping_neg() % limit;
        loop {
            let product = u128::from(self.generator.next_u64()) * u128::from(limit);
            if product as u64 >= favoured {
                return (product >> 64) as u64;
            }
        }
    }

    /// A span uniform over the whole nanoseconds of `low..high`.
    ///
    /// # Panics
    /// When `high` is not above `low`.
    pub fn duration_between(&mut self, low: Duration, high: Duration) -> Duration {
        assert!(high > low, "no span lies between {low} and {high}");
        low + Duration::from_nanos(self.below((high - low).as_nanos()))
    }
}

impl TryRng for RandomStream {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.generator.try_next_u32()
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.generator.try_next_u64()
    }

    fn try_fill_bytes(&mut self, target: &mut [u8]) -> Result<(), Infallible> {
        self.generator.try_fill_bytes(target)
    }
}

/// Offset basis of 64-bit FNV-1a.
const FNV_OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
/// Prime of 64-bit FNV.
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

/// Continues the FNV-1a hash `hash` over `bytes`.
fn fnv1a(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(FNV_PRIME))
}

/// The next number of the SplitMix64 sequence of `state`. Constants of the OOPSLA 2014 paper (its `mix64variant13`).
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}
