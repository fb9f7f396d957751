//! Hit ratios of LRU caches of all sizes in one pass: stack distances in bytes.
//!
//! An LRU cache holds the top of the stack of objects by last use. A request's distance is the bytes of the objects
//! used since the last use of its own, itself included: the request is a hit in every LRU cache of at least that
//! capacity, and a miss in every smaller one. Each distance takes the logarithm of the number of objects.
//!
//! This is exact for capacities that no object exceeds, as long as an object has one size. In a smaller cache the objects that
//! bypass it would stand in the stack all the same. Where a size changes, caches that hold the object with its old size and
//! caches that fetch it anew hold different bytes, and there is no one stack.
//!
//! Source: R. L. Mattson et al., "Evaluation techniques for storage hierarchies", IBM Systems Journal 9(2), 1970.

use rustc_hash::FxHashMap;

use crate::workload::{LruStack, ObjectId};

/// Stack distances of the requests of a trace. Memory grows with the objects, by some 60 bytes each.
#[derive(Debug, Clone, Default)]
pub struct StackDistances {
    numbers: FxHashMap<ObjectId, u32>,
    stack: LruStack,
}

impl StackDistances {
    /// An empty stack.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The distance of a request, in bytes. `None` for the first one of its object. `bytes`, at least 1, is the object's size
    /// from then on.
    pub fn request(&mut self, object: ObjectId, bytes: u64) -> Option<u64> {
        let next = self.numbers.len() as u32;
        let number = *self.numbers.entry(object).or_insert(next);
        self.stack.use_again(number, bytes.max(1))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::cache::{Admit, Cache, CacheConfig, Changed, Lookup, Policy};
    use crate::rng::RandomStreams;
    use crate::units::{Bytes, Instant};
    use crate::workload::Caching;

    fn id(number: u64) -> ObjectId {
        ObjectId::new(number).unwrap()
    }

    fn distances(requests: &[(u64, u64)]) -> Vec<Option<u64>> {
        let mut stack = StackDistances::new();
        requests.iter().map(|(object, bytes)| stack.request(id(*object), *bytes)).collect()
    }

    /// Hits of an LRU cache, by request.
    fn hits(capacity: u64, requests: &[(u64, u64)]) -> Vec<bool> {
        let capacity = Bytes::new(capacity);
        let config = CacheConfig {
            policy: Policy::Lru,
            capacity,
            admit: Admit::default(),
            ttl: None,
            changed: Changed::Serve,
        };
        let mut cache = Cache::new(&config, |purpose| RandomStreams::new(1).stream(purpose, 0));
        let met =
            |(object, bytes): &(u64, u64)| cache.request(id(*object), *bytes, Caching::Store, Instant::ZERO);
        requests.iter().map(met).map(|met| met == Lookup::Hit).collect()
    }

    #[test]
    fn a_distance_is_the_bytes_used_since_the_object_itself_included() {
        let requests = [(1, 10), (1, 10), (2, 5), (3, 1), (2, 5), (1, 10), (3, 1)];
        let expected = [None, Some(10), None, None, Some(6), Some(16), Some(16)];
        assert_eq!(distances(&requests), expected);
    }

    #[test]
    fn where_an_object_exceeds_the_cache_the_stack_has_it_and_the_cache_does_not() {
        // Object 2 bypasses a cache of 10 B, so 1 stays, but its distance is 105 all the same.
        let requests = [(1, 5), (2, 100), (1, 5)];
        assert_eq!(distances(&requests)[2], Some(105));
        assert_eq!(hits(10, &requests), [false, false, true]);
    }

    #[test]
    fn where_a_size_changes_caches_may_hold_either() {
        // The cache holds object 1 with its first size to the end. The stack has it with its last.
        let requests = [(1, 1), (1, 8), (2, 4), (1, 8)];
        assert_eq!(distances(&requests)[3], Some(12));
        assert_eq!(hits(6, &requests), [false, true, false, true]);
    }

    proptest! {
        #[test]
        fn a_request_is_a_hit_exactly_in_caches_of_at_least_its_distance(
            objects in proptest::collection::vec(0..60_u64, 1..3000), capacity in 40..1000_u64
        ) {
            // Sizes of 1 to 40 B, one for each object: nothing bypasses the cache. Times are renumbered on the way.
            let requests: Vec<_> = objects.iter().map(|object| (*object, 1 + object * 17 % 40)).collect();
            let within: Vec<_> =
                distances(&requests).iter().map(|distance| distance.is_some_and(|bytes| bytes <= capacity)).collect();
            prop_assert_eq!(within, hits(capacity, &requests));
        }
    }
}
