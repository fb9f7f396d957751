//! Admission: which objects a cache takes in.
//!
//! Models three rules, which apply together. Limits of size serve a hierarchy that splits objects by size between its levels.
//! Caching on the second request keeps objects that are asked for once from pushing out others. A probability is drawn anew at
//! every store. Every object that was ever missed is remembered, exactly: memory grows with their number, by some 30 bytes
//! each. Leaves out Bloom filters and other ways to remember less.
//!
//! Sources: C. Williamson et al. (Calgary) (child and parent caches split at 8 KB); B. M. Maggs, R. K. Sitaraman,
//! "Algorithmic Nuggets in Content Delivery", ACM CCR 45(3), 2015, section 3: cache-on-second-hit.

use rustc_hash::FxHashMap;

use super::Admit;
use crate::rng::RandomStream;
use crate::units::Bytes;
use crate::workload::ObjectId;

/// The state of [`Admit`] in one cache.
#[derive(Debug, Clone)]
pub(super) struct Admission {
    min: u64,
    max: u64,
    probability: f64,
    random: RandomStream,
    /// Missed objects, true for those missed more than once. `None` where no rule needs them.
    missed: Option<FxHashMap<ObjectId, bool>>,
}

impl Admission {
    /// # Panics
    /// When the probability is not in 0 to 1.
    pub(super) fn new(admit: Admit, random: RandomStream) -> Self {
        let probability = admit.probability;
        assert!((0.0..=1.0).contains(&probability), "admission with the probability {probability}");
        Self {
            min: admit.min.map_or(0, Bytes::get),
            max: admit.max.map_or(u64::MAX, Bytes::get),
            probability,
            random,
            missed: admit.second_hit.then(FxHashMap::default),
        }
    }

    /// A request for `object` that missed.
    pub(super) fn on_miss(&mut self, object: ObjectId) {
        if let Some(missed) = &mut self.missed {
            missed.entry(object).and_modify(|again| *again = true).or_insert(false);
        }
    }

    /// True when an object of `bytes` bytes is within the limits of size.
    pub(super) const fn takes_size(&self, bytes: u64) -> bool {
        self.min <= bytes && bytes <= self.max
    }

    /// True when `object`, just fetched, may be taken in whatever its size is.
    pub(super) fn admits(&mut self, object: ObjectId) -> bool {
        let again = |missed: &FxHashMap<ObjectId, bool>| missed.get(&object).copied().unwrap_or(false);
        self.missed.as_ref().is_none_or(again)
            && (self.probability >= 1.0 || self.random.happens(self.probability))
    }
}
