//! Anything done to a cache of any policy: answers match contents, capacity holds, and the same steps repeat.

#![no_main]

use std::collections::BTreeMap;

use arbitrary::{Arbitrary, Unstructured};
use farweb::cache::{Admit, Cache, CacheConfig, Changed, Lookup, Policy};
use farweb::rng::RandomStreams;
use farweb::units::{Bytes, Duration, Instant};
use farweb::workload::{Caching, ObjectId};
use libfuzzer_sys::fuzz_target;

#[derive(Debug, Clone, Copy, Arbitrary)]
enum Step {
    LookUp { object: u8, next: Option<u16> },
    Store { object: u8, bytes: u16 },
    Fetch { object: u8 },
    Renew { object: u8 },
    Wait { nanos: u8 },
}

#[derive(Debug, Arbitrary)]
struct Input {
    policy: u8,
    capacity: u16,
    min: Option<u8>,
    max: Option<u16>,
    second_hit: bool,
    probability: Option<u8>,
    ttl: Option<u8>,
    steps: Vec<Step>,
}

fn id(object: u8) -> ObjectId {
    ObjectId::new(u64::from(object) << 40).expect("below the last id")
}

fn cache(input: &Input) -> Cache {
    let admit = Admit {
        min: input.min.map(|bytes| Bytes::new(bytes.into())),
        max: input.max.map(|bytes| Bytes::new(bytes.into())),
        second_hit: input.second_hit,
        probability: input.probability.map_or(1.0, |share| f64::from(share) / 255.0),
    };
    let config = CacheConfig {
        policy: Policy::ALL[usize::from(input.policy) % Policy::ALL.len()],
        capacity: Bytes::new(input.capacity.into()),
        admit,
        ttl: input.ttl.map(|nanos| Duration::from_nanos(nanos.into())),
        changed: Changed::Serve,
    };
    Cache::new(&config, |purpose| RandomStreams::new(1).stream(purpose, 0))
}

/// Does a step. `sizes` holds each object's size at its last store.
fn take(cache: &mut Cache, step: Step, now: &mut Instant, sizes: &mut BTreeMap<u8, u64>) -> Option<Lookup> {
    match step {
        Step::LookUp { object, next } => {
            cache.foresee(next.map(u64::from));
            let held = cache.holds(id(object));
            let met = cache.look_up(id(object), *now);
            assert_eq!(met != Lookup::Miss, held);
            assert_eq!(cache.holds(id(object)), held, "an access inserts nothing");
            return Some(met);
        }
        Step::Store { object, bytes } => {
            let kept = cache.store(id(object), bytes.into(), *now);
            assert_eq!(kept, cache.holds(id(object)));
            sizes.insert(object, u64::from(bytes.max(1)));
        }
        Step::Fetch { object } => {
            let bytes = 1 + u64::from(object);
            let met = cache.request(id(object), bytes, Caching::Store, *now);
            if met == Lookup::Miss {
                sizes.insert(object, bytes);
            }
            return Some(met);
        }
        Step::Renew { object } => cache.renew(id(object), *now),
        Step::Wait { nanos } => *now += Duration::from_nanos(nanos.into()),
    }
    None
}

fuzz_target!(|data: &[u8]| {
    let Ok(input) = Input::arbitrary(&mut Unstructured::new(data)) else { return };
    let (mut cache_, mut twin) = (cache(&input), cache(&input));
    let (mut now, mut later, mut sizes) = (Instant::ZERO, Instant::ZERO, BTreeMap::new());
    for step in &input.steps {
        let met = take(&mut cache_, *step, &mut now, &mut sizes);
        assert_eq!(met, take(&mut twin, *step, &mut later, &mut sizes.clone()));
        assert!(cache_.bytes() <= input.capacity.into());
    }
    let held: Vec<u8> = (0..=u8::MAX).filter(|object| cache_.holds(id(*object))).collect();
    assert_eq!(cache_.objects(), held.len() as u64);
    assert_eq!(cache_.bytes(), held.iter().map(|object| sizes[object]).sum::<u64>());
});
