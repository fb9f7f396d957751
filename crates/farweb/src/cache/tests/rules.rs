//! Rules that every policy keeps: sizes that change, freshness, admission.

use super::{cache, config, object};
use crate::cache::{Admit, Cache, CacheConfig, Lookup, Policy};
use crate::units::{Bytes, Duration, Instant};
use crate::workload::ObjectId;

const NOW: Instant = Instant::ZERO;

fn at(secs: u64) -> Instant {
    NOW + Duration::from_secs(secs)
}

fn with_ttl(policy: Policy, secs: u64) -> Cache {
    cache(&CacheConfig { ttl: Some(Duration::from_secs(secs)), ..config(policy, 100) })
}

fn with_admit(admit: Admit) -> Cache {
    cache(&CacheConfig { admit, ..config(Policy::Lru, 1_000_000) })
}

#[test]
fn an_object_is_fresh_for_its_ttl_and_stale_then() {
    for policy in Policy::ALL {
        let mut cache = with_ttl(policy, 60);
        assert!(cache.store(object('a'), 1, at(10)));
        assert_eq!(cache.look_up(object('a'), at(10)), Lookup::Hit);
        let last = at(70).as_nanos() - 1;
        assert_eq!(cache.look_up(object('a'), Instant::from_nanos(last)), Lookup::Hit);
        assert_eq!(cache.look_up(object('a'), at(70)), Lookup::Stale);
        assert!(cache.holds(object('a')));
    }
}

#[test]
fn a_use_does_not_renew_but_a_revalidation_or_another_store_does() {
    let mut cache = with_ttl(Policy::Lru, 60);
    cache.store(object('a'), 1, at(0));
    assert_eq!(cache.look_up(object('a'), at(59)), Lookup::Hit);
    assert_eq!(cache.look_up(object('a'), at(60)), Lookup::Stale);
    cache.renew(object('a'), at(61));
    assert_eq!(cache.look_up(object('a'), at(120)), Lookup::Hit);
    assert_eq!(cache.look_up(object('a'), at(121)), Lookup::Stale);
    cache.store(object('a'), 1, at(130));
    assert_eq!(cache.look_up(object('a'), at(189)), Lookup::Hit);
    assert_eq!(cache.look_up(object('a'), at(190)), Lookup::Stale);
    assert_eq!((cache.objects(), cache.bytes()), (1, 1));
}

#[test]
fn without_a_ttl_all_is_fresh_and_with_none_at_all_nothing_is() {
    let mut fresh = cache(&config(Policy::Lru, 100));
    fresh.store(object('a'), 1, at(5));
    assert_eq!(fresh.look_up(object('a'), Instant::from_nanos(u64::MAX - 1)), Lookup::Hit);
    let mut stale = with_ttl(Policy::Lru, 0);
    stale.store(object('a'), 1, at(5));
    assert_eq!(stale.look_up(object('a'), at(5)), Lookup::Stale);
}

#[test]
fn to_renew_what_is_not_held_changes_nothing() {
    let mut cache = with_ttl(Policy::Sieve, 60);
    cache.renew(object('a'), at(1));
    assert_eq!((cache.look_up(object('a'), at(1)), cache.objects()), (Lookup::Miss, 0));
}

#[test]
fn an_object_stored_with_another_size_is_another_version() {
    for policy in Policy::ALL {
        let mut cache = cache(&config(policy, 1000));
        assert!(cache.store(object('a'), 300, NOW));
        assert!(cache.store(object('a'), 300, NOW), "twice is as good as once");
        assert_eq!((cache.objects(), cache.bytes()), (1, 300), "{policy:?}");
        assert!(cache.store(object('a'), 500, NOW));
        assert_eq!((cache.objects(), cache.bytes()), (1, 500), "{policy:?}");
        assert!(!cache.store(object('a'), 1001, NOW), "{policy:?}");
        assert_eq!((cache.objects(), cache.bytes()), (0, 0), "the version that was held is out of date");
    }
}

#[test]
fn an_object_without_bytes_takes_one() {
    let mut cache = cache(&config(Policy::Gdsf, 2));
    for name in ['a', 'b', 'c'] {
        assert!(cache.store(object(name), 0, NOW));
    }
    assert_eq!((cache.objects(), cache.bytes()), (2, 2));
}

#[test]
fn a_cache_of_no_bytes_holds_nothing() {
    for policy in Policy::ALL {
        let mut cache = cache(&config(policy, 0));
        assert_eq!(cache.look_up(object('a'), NOW), Lookup::Miss);
        assert!(!cache.store(object('a'), 1, NOW) && !cache.holds(object('a')), "{policy:?}");
    }
}

#[test]
fn limits_of_size_include_themselves() {
    let (min, max) = (Some(Bytes::new(100)), Some(Bytes::new(8192)));
    let mut cache = with_admit(Admit { min, max, ..Admit::default() });
    for (bytes, kept) in [(99, false), (100, true), (8192, true), (8193, false)] {
        assert_eq!(cache.fits(bytes), kept, "{bytes} B");
        assert_eq!(cache.store(ObjectId::new(bytes).unwrap(), bytes, NOW), kept, "{bytes} B");
    }
}

#[test]
fn on_the_second_hit_an_object_is_kept() {
    let mut cache = with_admit(Admit { second_hit: true, ..Admit::default() });
    let a = object('a');
    assert_eq!(cache.look_up(a, NOW), Lookup::Miss);
    assert!(!cache.store(a, 1, NOW));
    assert_eq!(cache.look_up(a, NOW), Lookup::Miss);
    assert!(cache.store(a, 1, NOW));
    assert_eq!(cache.look_up(a, NOW), Lookup::Hit);
    // Two requests that wait for one fetch are two.
    let b = object('b');
    cache.look_up(b, NOW);
    cache.look_up(b, NOW);
    assert!(cache.store(b, 1, NOW));
}

#[test]
fn an_object_is_taken_in_with_its_probability() {
    let count = |probability: f64| {
        let mut cache = with_admit(Admit { probability, ..Admit::default() });
        (0..10_000).filter(|id| cache.store(ObjectId::new(*id).unwrap(), 1, NOW)).count()
    };
    assert_eq!((count(0.0), count(1.0)), (0, 10_000));
    // Binomial: 3000 with a standard deviation of 46.
    assert!((2800..3200).contains(&count(0.3)), "{}", count(0.3));
}

#[test]
fn what_is_held_is_not_asked_to_be_admitted_again() {
    let mut cache = with_admit(Admit { probability: 0.5, ..Admit::default() });
    let stored = (0..1000).map(|id| ObjectId::new(id).unwrap()).filter(|id| cache.store(*id, 1, NOW));
    for id in stored.collect::<Vec<_>>() {
        assert!(cache.store(id, 1, NOW) && cache.store(id, 2, NOW));
    }
}

#[test]
fn a_cache_is_written_as_its_policy_and_quantities() {
    let json = serde_json::json!({ "policy": "s3-fifo", "capacity": "10 MB", "admit": { "max": "8 KiB" }, "ttl": "1 h" });
    let read: CacheConfig = serde_json::from_value(json).unwrap();
    assert_eq!(read.policy, Policy::S3Fifo);
    assert_eq!(read.capacity, Bytes::new(10_000_000));
    assert_eq!(read.admit, Admit { max: Some(Bytes::new(8192)), ..Admit::default() });
    assert_eq!(read.ttl, Some(Duration::from_secs(3600)));
    let spellings: Vec<_> = Policy::ALL.iter().map(|policy| serde_json::to_value(policy).unwrap()).collect();
    let expected = "fifo lru rand lfu gds gdsf arc s3-fifo sieve w-tinylfu belady";
    assert_eq!(spellings, expected.split(' ').collect::<Vec<_>>());
    assert_eq!(Policy::ALL.into_iter().filter(|policy| policy.needs_the_future()).count(), 1);
}
