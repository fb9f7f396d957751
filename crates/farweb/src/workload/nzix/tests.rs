//! What traces of the family are like: counts, ties between days, the digest of what is frozen.

use std::collections::BTreeSet;

use super::*;

fn trace_of(seed: u64, days: u32) -> Held {
    trace(&Parameters::default(), days, seed)
}

#[test]
fn a_day_does_not_depend_on_how_many_there_are() {
    let (few, many) = (trace_of(3, 2), trace_of(3, 5));
    let of_two: Vec<_> = many.requests().iter().filter(|request| request.day <= Some(2)).copied().collect();
    assert_eq!(few.requests(), of_two);
    assert_eq!((few.days(), many.days()), (2, 5));
}

#[test]
fn seeds_give_different_traces_and_a_seed_the_same() {
    assert_eq!(trace_of(1, 2).requests(), trace_of(1, 2).requests());
    assert_ne!(trace_of(1, 2).requests(), trace_of(2, 2).requests());
}

#[test]
fn starts_are_within_ten_minutes_and_the_first_day_is_the_sample() {
    let trace = trace_of(1, 4);
    let sample = trace.names().tags.find("sample");
    for request in trace.requests() {
        assert!(request.start.as_nanos() < PERIOD.as_nanos());
        assert_eq!(request.tag, (request.day == Some(1)).then_some(sample.unwrap()));
        assert!(request.request_bytes >= 1 && request.response_bytes >= 1);
        assert!(request.server.unwrap() <= Parameters::default().server_longest);
    }
    assert!(trace.requests().is_sorted_by_key(|request| (request.day, request.start)));
}
