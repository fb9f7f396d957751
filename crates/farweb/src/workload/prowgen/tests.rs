//! Workloads of the family: exact counts, sizes by their closed forms, locality, independence of draws.

use proptest::prelude::*;

use super::documents::Documents;
use super::*;
use crate::units::{Bytes, Instant};
use crate::workload::References;

fn small() -> Parameters {
    Parameters { requests: 100_000, ..Parameters::default() }
}

fn requests_of(parameters: &Parameters, seed: u64) -> Vec<Request> {
    let trace = Trace::new(parameters, seed);
    let (mut requests, mut directory) = (trace.requests(), trace.hosts().clone());
    std::iter::from_fn(|| requests.next_request(&mut directory).unwrap()).collect()
}

fn objects_of(parameters: &Parameters, seed: u64) -> Vec<u64> {
    requests_of(parameters, seed).iter().map(|request| request.object.unwrap().get()).collect()
}

/// Requests of each document, and true if they are as many as were drawn.
fn counted(parameters: &Parameters, seed: u64) -> (Vec<u32>, bool) {
    let drawn = Documents::new(parameters, &RandomStreams::new(seed)).requests;
    let mut counts = vec![0; drawn.len()];
    for object in objects_of(parameters, seed) {
        counts[object as usize] += 1;
    }
    let equal = counts == drawn;
    (counts, equal)
}

#[test]
fn every_document_is_asked_for_as_often_as_was_drawn() {
    for stack_mode in [StackMode::Static, StackMode::Dynamic] {
        for stack_size in [1, 100, 1_000_000] {
            let parameters = Parameters { stack_mode, stack_size, ..small() };
            let (counts, equal) = counted(&parameters, 1);
            assert!(equal, "{stack_mode:?} {stack_size}");
            assert_eq!(counts.iter().map(|count| u64::from(*count)).sum::<u64>(), 100_000);
            assert_eq!(counts.len(), 34_000, "34 % of the requests");
            assert_eq!(counts.iter().filter(|count| **count == 1).count(), 24_480, "72 % of the documents");
        }
    }
}

/// With 7000 B, 11000 B, 22 % and an index of 1.322 the median document has 3960 B, as Table 2 of the Calgary study has.
#[test]
fn sizes_have_their_closed_forms() {
    let parameters = Parameters { requests: 1_000_000, ..Parameters::default() };
    let mut sizes = Documents::new(&parameters, &RandomStreams::new(1)).bytes;
    sizes.sort_unstable();
    let count = sizes.len();
    // The median is the quantile 0.5 / 0.78 of the body. Its standard error is some 20 B.
    assert!((3880..4040).contains(&sizes[count / 2]), "{}", sizes[count / 2]);
    let body = sizes.partition_point(|size| *size < 10_000);
    assert_eq!(count - body, (count as f64 * 0.22) as usize, "the share of the tail is exact");
    assert!(sizes[0] >= 1 && sizes[count - 1] < 50 << 20);
    // Hill's estimate over the tail. Its standard error is the index over the root of the number.
    let logs: f64 = sizes[body..].iter().map(|size| libm::log(f64::from(*size) / 10_000.0)).sum();
    let (in_tail, index) = ((count - body) as f64, (count - body) as f64 / logs);
    assert!((index - 1.322).abs() < 4.0 * 1.322 / in_tail.sqrt(), "{index}");
    // The body is the lognormal distribution below 10,000 B: its share below 2000 B.
    let below = |bound: f64| libm::erfc((8.2317 - libm::log(bound)) / (1.1153 * 2_f64.sqrt())) / 2.0;
    let share = sizes.partition_point(|size| *size < 2000) as f64 / body as f64;
    let expected = below(2000.0) / below(10_000.0);
    assert!((share - expected).abs() < 4.0 * (expected / body as f64).sqrt(), "{share} {expected}");
}

#[test]
fn size_goes_with_popularity_or_against_it() {
    let sizes = |correlation| Documents::new(&Parameters { correlation, ..small() }, &RandomStreams::new(1));
    assert!(sizes(Correlation::Positive).bytes.is_sorted_by(|one, next| one >= next));
    assert!(sizes(Correlation::Negative).bytes.is_sorted());
    let none = sizes(Correlation::None);
    let popular = none.requests.iter().filter(|requests| **requests >= 100).count();
    assert!(popular > 30);
    assert!(none.bytes[..popular].iter().all(|size| *size < 10_240));
    let large = none.bytes[popular..].iter().filter(|size| **size >= 10_240).count();
    assert!(large > 7000, "the others have the large ones");
    // Ranks of size and popularity are uncorrelated: the sizes of the two halves have equal means within errors.
    let mean = |bytes: &[u32]| {
        bytes.iter().map(|size| libm::log(f64::from(*size))).sum::<f64>() / bytes.len() as f64
    };
    let half = none.bytes.len() / 2;
    assert!((mean(&none.bytes[..half]) - mean(&none.bytes[half..])).abs() < 0.06);
}

#[test]
fn with_few_small_documents_the_others_are_large() {
    let parameters = Parameters {
        requests: 100_000,
        distinct_share: 0.001,
        onetimer_share: 0.0,
        tail_share: 0.5,
        zipf_slope: 0.0,
        ..Parameters::default()
    };
    let documents = Documents::new(&parameters, &RandomStreams::new(1));
    assert!(documents.requests.iter().all(|requests| *requests == 1000), "all are popular");
    assert!(documents.bytes.iter().filter(|size| **size >= 10_240).count() > 40);
}

/// Share of the repeated requests with a stack distance below 100.
fn near(parameters: &Parameters) -> f64 {
    let mut references = References::default();
    for object in objects_of(parameters, 1) {
        references.add(object, 0);
    }
    let distances = references.distances();
    distances[..100].iter().sum::<u64>() as f64 / distances.iter().sum::<u64>() as f64
}

#[test]
fn the_static_stack_gives_more_locality_than_the_dynamic_one() {
    let [of_static, of_dynamic] =
        [StackMode::Static, StackMode::Dynamic].map(|stack_mode| near(&Parameters { stack_mode, ..small() }));
    assert!(of_static > 1.5 * of_dynamic, "{of_static} {of_dynamic}");
}

#[test]
fn a_seed_gives_one_workload() {
    let parameters = Parameters { requests: 5000, ..Parameters::default() };
    assert_eq!(requests_of(&parameters, 1), requests_of(&parameters, 1));
    assert_ne!(objects_of(&parameters, 1), objects_of(&parameters, 2));
    let trace = Trace::new(&parameters, 1);
    let mut directory = trace.hosts().clone();
    let first = trace.requests().next_request(&mut directory).unwrap();
    assert_eq!(
        first,
        trace.requests().next_request(&mut directory).unwrap(),
        "each stream begins at its beginning"
    );
}

/// Whoever changes this changes every study that rests on it.
#[test]
fn the_workload_of_seed_1_is_this_one() {
    let parameters = Parameters { requests: 20_000, ..Parameters::default() };
    let mut digest = 0xcbf2_9ce4_8422_2325_u64;
    for request in requests_of(&parameters, 1) {
        let Request { start, host, request_bytes, response_bytes, server, object, .. } = request;
        let numbers = [start.as_nanos(), host.index() as u64, request_bytes, response_bytes];
        for number in numbers.into_iter().chain([server.whole().unwrap().as_nanos(), object.unwrap().get()]) {
            for byte in number.to_le_bytes() {
                digest = (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        }
    }
    assert_eq!(digest, 7_436_829_764_842_378_367);
}

#[test]
fn what_is_drawn_for_one_thing_does_not_change_another() {
    let parameters = Parameters { requests: 5000, ..Parameters::default() };
    let base = requests_of(&parameters, 1);
    let objects =
        |requests: &[Request]| -> Vec<_> { requests.iter().map(|request| request.object).collect() };
    let bytes =
        |requests: &[Request]| -> Vec<_> { requests.iter().map(|request| request.request_bytes).collect() };
    let starts = |requests: &[Request]| -> Vec<_> { requests.iter().map(|request| request.start).collect() };
    let other_arrivals = requests_of(&Parameters { arrivals: Arrivals::OnOff, ..parameters }, 1);
    assert_ne!(starts(&base), starts(&other_arrivals));
    assert_eq!((objects(&base), bytes(&base)), (objects(&other_arrivals), bytes(&other_arrivals)));
    let other_order = requests_of(&Parameters { stack_mode: StackMode::Static, ..parameters }, 1);
    assert_ne!(objects(&base), objects(&other_order));
    assert_eq!((starts(&base), bytes(&base)), (starts(&other_order), bytes(&other_order)));
    let without = |requests: Vec<Request>| -> Vec<_> {
        requests.into_iter().map(|request| Request { client: None, ..request }).collect()
    };
    let with_clients = requests_of(&Parameters { clients: 50, ..parameters }, 1);
    assert!(with_clients.iter().all(|request| request.client.is_some()));
    assert_eq!(base, without(with_clients), "and by default there are no clients");
    let other_hosts = requests_of(&Parameters { hosts: 3, ..parameters }, 1);
    assert_eq!(objects(&base), objects(&other_hosts));
}

/// With as many clients as there are, hardly one comes twice: the requests of a client are one visit, geometric around
/// `visit_requests`, with `visit_gap` between two of them on average.
#[test]
fn visits_have_their_closed_forms() {
    let parameters =
        Parameters { requests: 400_000, clients: u32::MAX, client_slope: 0.0, ..Parameters::default() };
    let mut visits = std::collections::BTreeMap::<_, Vec<Instant>>::new();
    let mut end = Instant::ZERO;
    for request in requests_of(&parameters, 1) {
        visits.entry(request.client.unwrap()).or_default().push(request.start);
        end = request.start;
    }
    // Visits of the last hour are cut off: ten minutes each on average.
    let limit = Instant::from_nanos(end.as_nanos() - Duration::from_secs(7200).as_nanos());
    let whole: Vec<_> = visits.values().filter(|starts| starts[0] < limit).collect();
    let count = whole.len() as f64;
    assert!(count > 15_000.0, "{count}");
    let requests = whole.iter().map(|starts| starts.len() as f64).sum::<f64>() / count;
    // The standard deviation of a geometric number with a large mean is near its mean. Four standard errors.
    assert!((requests - 20.0).abs() < 4.0 * 20.0 / count.sqrt(), "{requests}");
    let single = whole.iter().filter(|starts| starts.len() == 1).count() as f64 / count;
    assert!((single - 0.05).abs() < 4.0 * (0.05 * 0.95 / count).sqrt(), "{single}");
    let gaps = whole.iter().map(|starts| (starts[starts.len() - 1] - starts[0]).as_secs_f64()).sum::<f64>();
    let gap = gaps / whole.iter().map(|starts| starts.len() as f64 - 1.0).sum::<f64>();
    assert!((gap - 30.0).abs() < 0.5, "{gap}");
}

#[test]
fn visits_by_client_follow_zipfs_law() {
    let parameters = Parameters { clients: 100, client_slope: 1.0, visit_requests: 1.0, ..small() };
    let mut requests = vec![0_u32; 100];
    for request in requests_of(&parameters, 1) {
        requests[request.client.unwrap().get() as usize] += 1;
    }
    let harmonic: f64 = (1..=100).map(|rank| 1.0 / f64::from(rank)).sum();
    for rank in [1, 2, 5, 10, 50] {
        let expected = 100_000.0 / f64::from(rank) / harmonic;
        let found = f64::from(requests[rank as usize - 1]);
        assert!((found - expected).abs() < 4.0 * expected.sqrt(), "rank {rank}: {found}, {expected}");
    }
}

#[test]
fn a_document_has_one_host_and_hosts_advertise() {
    let parameters = Parameters { requests: 20_000, hosts: 50, ..Parameters::default() };
    let mut host_of = std::collections::BTreeMap::new();
    for request in requests_of(&parameters, 1) {
        assert_eq!(*host_of.entry(request.object).or_insert(request.host), request.host);
    }
    let trace = Trace::new(&parameters, 1);
    assert_eq!((trace.hosts().hosts().len(), trace.len()), (50, 20_000));
    assert!(trace.hosts().hosts().iter().all(|(_, host)| host.mss.is_some() && host.buffer.is_some()));
}

#[test]
fn parameters_out_of_range_are_named() {
    let default = Parameters::default;
    let error = |parameters: Parameters| parameters.check().unwrap_err().to_string();
    assert_eq!(default().check(), Ok(()));
    let errors = [
        error(Parameters { requests: 0, ..default() }),
        error(Parameters { distinct_share: 0.0, ..default() }),
        error(Parameters { distinct_share: 0.9, ..default() }),
        error(Parameters { onetimer_share: 1.0, ..default() }),
        error(Parameters { zipf_slope: f64::NAN, ..default() }),
        error(Parameters { tail_from: Bytes::new(200), ..default() }),
        error(Parameters { response_max: default().tail_from, ..default() }),
        error(Parameters { stack_size: 0, ..default() }),
        error(Parameters { arrival_rate: 0.002, ..default() }),
        error(Parameters { on_mean: Duration::ZERO, ..default() }),
        error(Parameters { visit_requests: 0.5, ..default() }),
        error(Parameters { client_slope: -1.0, ..default() }),
        error(Parameters { visit_gap: Duration::ZERO, ..default() }),
        error(Parameters { arrival_rate: 1e6, ..default() }),
    ];
    insta::assert_snapshot!(errors.join("\n"), @r"
    `requests` must be 1 to 1000000000
    `distinct_share` must be above 0, and at most 1
    `distinct_share` must be smaller, or `onetimer_share` larger: 4500000 documents, 3240000 of them asked for once and the others twice, take 5760000 requests, and there are 5000000
    `onetimer_share` must be below 1 where there are more requests than documents
    `zipf_slope` must be 0 to 10
    `tail_from` must be larger: less than 1 % of the lognormal distribution of `body_mean` and `body_deviation` is below it
    `response_max` must be above `tail_from`, and at most 2^31 B
    `stack_size` must be 1 to 10000000
    `arrival_rate` must be larger: the requests would last more than 1e9 s
    `on_mean` must be above 0 s, and at most 1 h
    `visit_requests` must be 1 to 1000000
    `client_slope` must be 0 to 10
    `visit_gap` must be above 0 s, and at most 1 h
    `visit_gap` must be shorter: more than 10000000 visits would be under way at a time
    ");
}

#[test]
fn the_documentation_lists_every_parameter_with_its_value() {
    const PAGE: &str = include_str!("../../../../../docs/models/prowgen.md");
    let values = serde_json::to_value(Parameters::default().spelled_out()).unwrap();
    let values = values.as_object().unwrap();
    let missing = values.iter().filter(|(name, value)| !PAGE.contains(&format!("| `{name}` | `{value}` |")));
    assert_eq!(missing.collect::<Vec<_>>(), []);
    let list = PAGE.split("### Parameters").nth(1).and_then(|rest| rest.split("\n## ").next()).unwrap();
    assert_eq!(list.lines().filter(|line| line.starts_with("| `")).count(), values.len());
}

proptest! {
    #[test]
    fn any_parameters_in_range_make_a_workload(
        (seed, requests, hosts) in (any::<u64>(), 1..3000_u32, 1..100_u32),
        (distinct_share, onetimer_share, tail_share) in (0.001..=1.0_f64, 0.0..=1.0_f64, 0.0..=1.0_f64),
        (zipf_slope, tail_shape, stack_size) in (0.0..=3.0_f64, 0.1..=10.0_f64, 1..2000_u32),
        correlation in prop_oneof![Just(Correlation::Negative), Just(Correlation::None), Just(Correlation::Positive)],
        stack_mode in prop_oneof![Just(StackMode::Static), Just(StackMode::Dynamic)],
        arrivals in prop_oneof![Just(Arrivals::Poisson), Just(Arrivals::Constant), Just(Arrivals::OnOff), Just(Arrivals::None)],
    ) {
        let parameters = Parameters {
            requests, hosts, distinct_share, onetimer_share, tail_share, zipf_slope, tail_shape, stack_size, correlation,
            stack_mode, arrivals, ..Parameters::default()
        };
        prop_assume!(parameters.check().is_ok());
        let (counts, equal) = counted(&parameters, seed);
        prop_assert!(equal);
        prop_assert_eq!(counts.len() as u32, parameters.documents());
        prop_assert_eq!(counts.iter().filter(|count| **count == 1).count() as u32, parameters.onetimers());
        let all = requests_of(&parameters, seed);
        prop_assert_eq!(all.len() as u32, requests);
        prop_assert!(all.is_sorted_by_key(|request| request.start));
        for request in all {
            prop_assert!((1..50 << 20).contains(&request.response_bytes) && request.request_bytes >= 1);
            prop_assert!(request.start >= Instant::ZERO && request.server.whole().unwrap() <= SERVER_LONGEST);
        }
    }
}
