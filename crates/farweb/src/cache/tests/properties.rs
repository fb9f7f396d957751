//! Properties of every policy on any trace.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{cache, config};
use crate::cache::{Cache, CacheConfig, Lookup, Policy};
use crate::units::{Duration, Instant};
use crate::workload::ObjectId;

/// Something done to a cache.
#[derive(Debug, Clone, Copy)]
enum Step {
    LookUp(u64),
    Store(u64, u64),
    Renew(u64),
}

const OBJECTS: u64 = 40;

/// Policies that may find what fits not worth its room.
const DECLINING: [Policy; 2] = [Policy::Gdsf, Policy::WTinyLfu];

fn id(number: u64) -> ObjectId {
    ObjectId::new(number).unwrap()
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0..OBJECTS).prop_map(Step::LookUp),
        4 => (0..OBJECTS).prop_map(|object| Step::Store(object, 1 + object * object % 23)),
        1 => (0..OBJECTS, 0..300_u64).prop_map(|(object, bytes)| Step::Store(object, bytes)),
        1 => (0..OBJECTS).prop_map(Step::Renew),
    ];
    proptest::collection::vec(step, 1..400)
}

/// Requests for objects, popular ones with low numbers.
fn requests() -> impl Strategy<Value = Vec<u64>> {
    let object = prop_oneof![2 => 0..8_u64, 1 => 0..OBJECTS];
    proptest::collection::vec(object, 1..600)
}

fn policies() -> impl Strategy<Value = Policy> {
    proptest::sample::select(Policy::ALL.to_vec())
}

/// Outcome of each request for an object of `size(object)` bytes, stored at once after a miss.
fn replay(config: &CacheConfig, requests: &[u64], size: impl Fn(u64) -> u64) -> Vec<Lookup> {
    let mut cache = cache(config);
    let mut met = Vec::new();
    for (number, object) in requests.iter().enumerate() {
        let next = requests[number + 1..].iter().position(|other| other == object);
        cache.foresee(next.map(|after| (number + after + 1) as u64));
        met.push(cache.look_up(id(*object), Instant::ZERO));
        if met[number] == Lookup::Miss {
            cache.store(id(*object), size(*object), Instant::ZERO);
        }
    }
    met
}

fn hits(met: &[Lookup]) -> usize {
    met.iter().filter(|met| **met == Lookup::Hit).count()
}

/// Does a step and checks its result against the `sizes` last stored.
fn take(cache: &mut Cache, step: Step, now: Instant, sizes: &mut BTreeMap<u64, u64>, policy: Policy) {
    match step {
        Step::LookUp(object) => {
            let held = cache.holds(id(object));
            assert_eq!(cache.look_up(id(object), now) != Lookup::Miss, held);
            assert_eq!(cache.holds(id(object)), held, "an access inserts nothing");
        }
        Step::Store(object, bytes) => {
            let kept = cache.store(id(object), bytes, now);
            assert_eq!(cache.holds(id(object)), kept);
            assert!(kept || !cache.fits(bytes) || DECLINING.contains(&policy), "{bytes} B fit");
            sizes.insert(object, bytes.max(1));
        }
        Step::Renew(object) => {
            cache.renew(id(object), now);
            let fresh = Instant::from_nanos(now.as_nanos() + 99);
            assert!(!cache.holds(id(object)) || cache.look_up(id(object), fresh) == Lookup::Hit);
        }
    }
}

proptest! {
    #[test]
    fn a_cache_holds_what_it_says(policy in policies(), capacity in 0..300_u64, steps in steps()) {
        let mut cache =
            cache(&CacheConfig { ttl: Some(Duration::from_nanos(100)), ..config(policy, capacity) });
        let mut sizes = BTreeMap::new();
        for (number, step) in steps.into_iter().enumerate() {
            take(&mut cache, step, Instant::from_nanos(number as u64), &mut sizes, policy);
            let held: Vec<u64> = (0..OBJECTS).filter(|object| cache.holds(id(*object))).collect();
            prop_assert!(cache.bytes() <= capacity);
            prop_assert_eq!(cache.objects(), held.len() as u64);
            prop_assert_eq!(cache.bytes(), held.iter().map(|object| sizes[object]).sum::<u64>());
        }
    }

    #[test]
    fn equal_requests_meet_the_same(policy in policies(), capacity in 0..100_u64, requests in requests()) {
        let config = config(policy, capacity);
        prop_assert_eq!(
            replay(&config, &requests, |object| object % 9), replay(&config, &requests, |object| object % 9)
        );
    }

    #[test]
    fn a_larger_lru_cache_has_every_hit_of_a_smaller_one(
        capacity in 24..200_u64, more in 0..100_u64, requests in requests()
    ) {
        // Sizes up to 23: none bypasses the smaller cache.
        let met = |capacity| replay(&config(Policy::Lru, capacity), &requests, |object| 1 + object * 7 % 23);
        let (small, large) = (met(capacity), met(capacity + more));
        prop_assert!(small.iter().zip(&large).all(|(small, large)| *small == Lookup::Miss || *large == Lookup::Hit));
    }

    #[test]
    fn no_policy_has_more_hits_than_belady_when_sizes_are_equal(
        policy in policies(), objects in 1..30_u64, requests in requests()
    ) {
        let met = |policy, objects: u64| hits(&replay(&config(policy, objects * 512), &requests, |_| 512));
        // What passes by a cache may pass through the room of one more object.
        let room = objects + u64::from(DECLINING.contains(&policy));
        prop_assert!(met(policy, objects) <= met(Policy::Belady, room));
    }

    #[test]
    fn what_counts_of_equal_sizes_is_how_many_fit(policy in policies(), requests in requests()) {
        // A multiple of 100, as shares of the cache are whole tenths and hundredths of it. Ids of 800 objects.
        let scattered: Vec<u64> =
            requests.iter().enumerate().map(|(at, object)| object * 20 + at as u64 % 20).collect();
        prop_assert_eq!(
            replay(&config(policy, 100), &scattered, |_| 1),
            replay(&config(policy, 100 * 4096), &scattered, |_| 4096)
        );
    }

    #[test]
    fn a_cache_with_room_for_all_misses_each_object_once(policy in policies(), requests in requests()) {
        let met = replay(&config(policy, 1_000_000), &requests, |object| 1 + object);
        let mut seen = std::collections::BTreeSet::new();
        for (object, met) in requests.iter().zip(met) {
            prop_assert_eq!(met == Lookup::Miss, seen.insert(*object));
        }
    }
}
