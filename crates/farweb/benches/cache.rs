//! Caches: one item is a request, stored at once when it misses.
//!
//! A million objects of one byte each, asked for by Zipf's law with exponent 0.9, four million requests. The cache holds a tenth of
//! the objects. Hit ratios (the first requests fill the cache): FIFO 0.595, LRU 0.632, SIEVE 0.674, S3-FIFO 0.680.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use farweb::cache::{Admit, Cache, CacheConfig, Changed, Policy, StackDistances};
use farweb::rng::{RandomStreams, Zipf};
use farweb::units::{Bytes, Instant};
use farweb::workload::{Caching, ObjectId};

const OBJECTS: u64 = 1_000_000;
const REQUESTS: usize = 4_000_000;

fn requests() -> Vec<ObjectId> {
    let zipf = Zipf::new(OBJECTS, 0.9).expect("a distribution");
    let mut random = RandomStreams::new(1).stream("bench", 0);
    let object = |_| ObjectId::new(zipf.sample(&mut random)).expect("an id");
    (0..REQUESTS).map(object).collect()
}

#[divan::bench(
    args = [
        Policy::Fifo, Policy::Lru, Policy::Rand, Policy::Lfu, Policy::Gds, Policy::Gdsf, Policy::Arc, Policy::S3Fifo,
        Policy::Sieve, Policy::WTinyLfu,
    ],
    sample_count = 7,
    sample_size = 1,
)]
fn policy(bencher: Bencher, policy: Policy) {
    let requests = requests();
    let capacity = Bytes::new(OBJECTS / 10);
    let config =
        CacheConfig { policy, capacity, admit: Admit::default(), ttl: None, changed: Changed::Serve };
    let cache = Cache::new(&config, |purpose| RandomStreams::new(1).stream(purpose, 0));
    bencher.counter(ItemsCount::new(REQUESTS)).with_inputs(|| cache.clone()).bench_values(|mut cache| {
        for object in &requests {
            black_box(cache.request(*object, 1, Caching::Store, Instant::ZERO));
        }
    });
}

/// LRU caches of all capacities in one pass.
#[divan::bench(sample_count = 7, sample_size = 1)]
fn stack_distances(bencher: Bencher) {
    let requests = requests();
    bencher.counter(ItemsCount::new(REQUESTS)).with_inputs(StackDistances::new).bench_values(|mut stack| {
        for object in &requests {
            black_box(stack.request(*object, 1));
        }
    });
}

fn main() {
    divan::main();
}
