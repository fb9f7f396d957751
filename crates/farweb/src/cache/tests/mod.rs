//! Scripts a person can check: contents and evictions of each policy.
//!
//! A script is the requests of a cache and their outcomes: `a` is an object of one byte that was missed and stored, `a5` one of
//! five bytes. `a!` is a hit. `d>b` was missed, and `b` was given up to store it. `x9~` was missed and not kept.

mod properties;
mod rules;

use super::{Cache, CacheConfig, Lookup, Policy};
use crate::rng::RandomStreams;
use crate::units::{Bytes, Instant};
use crate::workload::ObjectId;

fn object(name: char) -> ObjectId {
    ObjectId::new(u64::from(name)).unwrap()
}

fn config(policy: Policy, capacity: u64) -> CacheConfig {
    let (admit, ttl, changed) = Default::default();
    CacheConfig { policy, capacity: Bytes::new(capacity), admit, ttl, changed }
}

fn cache(config: &CacheConfig) -> Cache {
    Cache::new(config, |purpose| RandomStreams::new(1).stream(purpose, 0))
}

/// The object and size of a word of a script.
fn request(word: &str) -> (char, u64) {
    let digits: String = word[1..].chars().take_while(char::is_ascii_digit).collect();
    (word.chars().next().unwrap(), digits.parse().unwrap_or(1))
}

/// Makes the requests of a script and writes down what becomes of them.
fn play(policy: Policy, capacity: u64, script: &str) -> String {
    let mut cache = cache(&config(policy, capacity));
    let words: Vec<&str> = script.split_whitespace().collect();
    let requests: Vec<(char, u64)> = words.iter().map(|word| request(word)).collect();
    let mut names: Vec<char> = requests.iter().map(|(name, _)| *name).collect();
    names.sort_unstable();
    names.dedup();
    let mut played = Vec::new();
    for (number, (name, bytes)) in requests.iter().enumerate() {
        let next = requests[number + 1..].iter().position(|(other, _)| other == name);
        cache.foresee(next.map(|after| (number + 1 + after) as u64));
        let size = if words[number].len() > 1 && words[number].as_bytes()[1].is_ascii_digit() {
            format!("{name}{bytes}")
        } else {
            name.to_string()
        };
        if cache.look_up(object(*name), Instant::ZERO) == Lookup::Hit {
            played.push(format!("{size}!"));
            continue;
        }
        let held: Vec<char> = names.iter().copied().filter(|name| cache.holds(object(*name))).collect();
        let kept = cache.store(object(*name), *bytes, Instant::ZERO);
        let gone: String = held.into_iter().filter(|name| !cache.holds(object(*name))).collect();
        let arrow = if gone.is_empty() { "" } else { ">" };
        played.push(format!("{size}{}{arrow}{gone}", if kept { "" } else { "~" }));
    }
    played.join(" ")
}

#[track_caller]
fn plays(policy: Policy, capacity: u64, script: &str) {
    let expected: Vec<&str> = script.split_whitespace().collect();
    assert_eq!(play(policy, capacity, script), expected.join(" "), "{policy:?}");
}

#[test]
fn fifo_gives_up_what_was_stored_first() {
    plays(Policy::Fifo, 3, "a b c a! d>a b! a>b c! d!");
}

#[test]
fn lru_gives_up_what_was_used_least_recently() {
    plays(Policy::Lru, 3, "a b c a! d>b b>c c>a");
}

#[test]
fn as_many_go_as_it_takes_and_what_is_larger_than_the_cache_bypasses_it() {
    plays(Policy::Lru, 10, "a2 b3 c5 d1>a b! e4>c x11~ b! f10>bde f!");
}

#[test]
fn lfu_gives_up_what_was_used_least_often() {
    plays(Policy::Lfu, 3, "a b c a! a! b! d>c e>d b! c>e");
    // All used twice, a longest ago.
    plays(Policy::Lfu, 3, "a b c b! a! c! b! a! c! d>b");
}

#[test]
fn lfu_forgets_old_popularity_when_the_mean_count_exceeds_ten() {
    // The 11th use of a halves its count to 6. With 5 uses b has fewer, with 6 it is the one used later.
    let popular = "a a! a! a! a! a! a! a! a! a! a!";
    plays(Policy::Lfu, 2, &format!("{popular} b b! b! b! b! c>b"));
    plays(Policy::Lfu, 2, &format!("{popular} b b! b! b! b! b! c>a"));
}

#[test]
fn gds_gives_up_large_objects_unless_they_were_used_lately() {
    // Worth a byte, with L the worth of the last one to go: a 1, b 1/4, c 1/5 (goes, L = 1/5), d 6/5, b again 9/20, e
    // 9/20.
    plays(Policy::Gds, 10, "a1 b4 c5 d1>c b! e4 f1>b g4>e");
    plays(Policy::Gds, 10, "a1 b4 c5 c! c! d1>c");
}

#[test]
fn gdsf_counts_uses_and_may_decline_what_is_worth_least() {
    // c is worth 3/5 after three uses, b 1/4 (goes, L = 1/4). e would be worth 1/4 + 1/4 and is declined (L = 1/2), then 3/4.
    plays(Policy::Gdsf, 10, "a1 b4 c5 c! c! d1>b e4~ e4>c");
}

#[test]
fn arc_learns_from_what_it_gave_up() {
    // d sends b to B1. b comes back: T1 is to have 1, and c goes to B1. e sends a of T2 to B2. a comes back: T1 is to have 0.
    // f makes B1 forget c, which comes as a new object then.
    plays(Policy::Arc, 3, "a b c a! d>b b>c e>a a>d f>e c>f");
}

#[test]
fn arc_remembers_nothing_of_a_scan_that_fills_it() {
    plays(Policy::Arc, 3, "a b c d>a a>b b>c a! e>d");
}

#[test]
fn s3_fifo_gives_the_main_queue_what_was_used_twice_or_is_remembered() {
    // The small queue has one object, the rest of the first ten are in the main one. A ghost remembers a: it joins them, and b to
    // j give way first, but for b, which was used. n was used twice on trial. It joins them too, and d goes. o was used once: it goes.
    plays(Policy::S3Fifo, 10, "a b c d e f g h i j k>a l>k b! a>l m>c n>m n! n! o>d o! p>o n! a! b!");
}

#[test]
fn s3_fifo_spares_what_was_used_in_the_main_queue_once_for_each_use() {
    // a was used twice on trial and joins b: ten bytes of nine, and a goes unremembered. c is remembered. Again b has a use to
    // lose and a none, and again for d.
    plays(Policy::S3Fifo, 10, "a5 a! a! b5 b! b! c5>a b! a5>c a! a! c5>a d5>c b!");
}

#[test]
fn the_hand_of_sieve_spares_what_was_used_and_goes_on_where_it_stopped() {
    plays(Policy::Sieve, 3, "a b c a! d>b a! e>c f>d a! g>e f! g! h>f");
}

#[test]
fn w_tinylfu_lets_in_what_was_asked_for_more_often_than_what_would_go() {
    // The window holds one object. c loses to a, which was there, until it was asked for twice.
    plays(Policy::WTinyLfu, 3, "a b c d>c c>d e>a b! c! f>e");
}

#[test]
fn w_tinylfu_may_decline_what_is_larger_than_its_window() {
    plays(Policy::WTinyLfu, 100, "a60 b30 c20~ c20>a b!");
}

#[test]
fn belady_gives_up_what_is_asked_for_last() {
    plays(Policy::Belady, 2, "a b c>b a! b>a c! a>b");
}

#[test]
fn rand_gives_up_each_object_as_often_as_any_other() {
    // Ten objects are held, an eleventh comes: each of the ten goes with probability 1/10.
    let mut gone = [0_u32; 10];
    for seed in 0..10_000 {
        let mut cache =
            Cache::new(&config(Policy::Rand, 10), |name| RandomStreams::new(seed).stream(name, 0));
        let ids: Vec<_> = (0..11).map(|id| ObjectId::new(id).unwrap()).collect();
        ids.iter().for_each(|id| assert!(cache.store(*id, 1, Instant::ZERO)));
        gone[ids.iter().position(|id| !cache.holds(*id)).expect("one went")] += 1;
    }
    // 1000 each, with a standard deviation of 30.
    assert!(gone.iter().all(|count| (880..1120).contains(count)), "{gone:?}");
}
