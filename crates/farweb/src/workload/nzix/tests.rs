//! Traces of the family: counts, ties between days, a frozen digest.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::units::Bytes;

fn trace_of(seed: u64, days: u32) -> MemoryTable {
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
        assert!(request.server.whole().unwrap() <= Parameters::default().server_longest);
    }
    assert!(trace.requests().is_sorted_by_key(|request| (request.day, request.start)));
}

/// The family is frozen: whoever changes this changes every study that rests on it, and calibrates again.
#[test]
fn the_trace_of_seed_1_is_this_one() {
    let trace = trace_of(1, DAYS);
    // FNV-1a over every number of every request and host.
    let mut digest = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |number: u64| {
        for byte in number.to_le_bytes() {
            digest = (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for request in trace.requests() {
        let host = &trace.names().hosts()[request.host];
        add(u64::from(request.day.unwrap()));
        add(request.start.as_nanos());
        host.key.bytes().for_each(|byte| add(byte.into()));
        add(host.buffer.unwrap());
        add(host.mss.unwrap().into());
        add(request.request_bytes);
        add(request.response_bytes);
        add(request.server.whole().unwrap().as_nanos());
        add(request.server.wait().unwrap().as_nanos());
    }
    assert_eq!(
        (trace.requests().len(), trace.names().hosts().len(), digest),
        (12_602, 1366, 15_189_730_857_137_682_673)
    );
}

/// A visit has `visit_pages` pages on average, and a page as many requests as its Pareto distribution has on average, rounded down.
#[test]
fn visits_of_clients_have_their_closed_form() {
    // So long a day that the visit that is cut off at its end does not count, and hardly a client that comes twice.
    let parameters =
        Parameters { clients: u32::MAX, client_slope: 0.0, day_requests: 300_000, ..Parameters::default() };
    let trace = trace(&parameters, 1, 1);
    let visits: BTreeSet<_> = trace.requests().iter().map(|request| request.client.unwrap()).collect();
    let most = f64::from(parameters.page_requests_max);
    let beyond = 1.0 / (most + 1.0);
    let page: f64 = (1..=parameters.page_requests_max)
        .map(|least| (1.0 / f64::from(least) - beyond) / (1.0 - beyond))
        .sum();
    let mean = trace.requests().len() as f64 / visits.len() as f64;
    let expected = parameters.visit_pages * page;
    assert!((mean / expected - 1.0).abs() < 0.02, "{mean}, {expected}");
    let bare = super::trace(&Parameters { clients: 0, ..parameters }, 1, 1);
    let without = trace.requests().iter().map(|request| Request { client: None, ..*request });
    assert!(without.eq(bare.requests().iter().copied()), "clients change nothing else");
}

/// Means over twenty months. Bounds are four standard errors and more, enough for any seeds.
#[test]
fn months_agree_with_the_studies() {
    let months: Vec<MemoryTable> = (1..=20).map(|seed| trace_of(seed, DAYS)).collect();
    let all = || months.iter().flat_map(MemoryTable::requests);
    let (count, days) = (all().count() as f64, 20.0 * f64::from(DAYS));
    assert!((count / days - 421.0).abs() < 12.0, "{}", count / days);
    let mean = |value: fn(&Request) -> f64| all().map(value).sum::<f64>() / count;
    let response = mean(|request| request.response_bytes as f64);
    assert!((7500.0..8500.0).contains(&response), "{response}");
    let request = mean(|request| request.request_bytes as f64);
    assert!((request - 270.0 * libm::exp(0.045)).abs() < 2.0, "{request}");
    let server = mean(|request| request.server.whole().unwrap().as_secs_f64());
    assert!((2.2..2.8).contains(&server), "{server}");
    let of_mss = |month: &MemoryTable, mss: u16| {
        month.requests().iter().filter(|request| month.names().hosts()[request.host].mss == Some(mss)).count()
    };
    for month in &months {
        let [most, next] = [1480, 1460].map(|mss| of_mss(month, mss));
        let others = month.requests().len() - most - next;
        assert!(most > others && next > others, "{most} {next} {others}");
    }
    let most = months.iter().map(|month| of_mss(month, 1480)).sum::<usize>() as f64 / count;
    assert!((most - 0.46).abs() < 0.05, "{most}");
}

/// A core of hosts is asked on most days, and most hosts of a day on no other.
#[test]
fn some_hosts_are_asked_every_day_and_others_once() {
    let trace = trace_of(1, DAYS);
    let mut days = std::collections::BTreeMap::<HostId, BTreeSet<u32>>::new();
    for request in trace.requests() {
        days.entry(request.host).or_default().insert(request.day.unwrap());
    }
    let count = |wanted: fn(usize) -> bool| days.values().filter(|days| wanted(days.len())).count();
    assert!((3..20).contains(&count(|days| days > 20)), "{}", count(|days| days > 20));
    assert!(count(|days| days == 1) * 10 > days.len() * 7, "{}", count(|days| days == 1));
}

/// Requests to the same host come close together: half of them within some seconds of the one before.
#[test]
fn arrivals_are_clustered_by_host() {
    let trace = trace_of(1, 5);
    let mut last = std::collections::BTreeMap::new();
    let mut gaps: Vec<f64> = Vec::new();
    for request in trace.requests() {
        if let Some(before) = last.insert((request.day, request.host), request.start) {
            gaps.push((request.start - before).as_secs_f64());
        }
    }
    gaps.sort_by(f64::total_cmp);
    assert!(gaps.len() * 10 > trace.requests().len() * 7);
    assert!((0.1..3.0).contains(&gaps[gaps.len() / 2]), "{}", gaps[gaps.len() / 2]);
}

#[test]
fn a_single_request_a_day_is_a_trace() {
    let few = Parameters { day_requests: 1, day_sigma: 0.0, ..Parameters::default() };
    let trace = trace(&few, 3, 1);
    assert_eq!(
        trace.requests().iter().map(|request| request.day).collect::<Vec<_>>(),
        [Some(1), Some(2), Some(3)]
    );
}

#[test]
fn the_slowest_day_there_can_be_fits_into_time() {
    let hour = Duration::from_secs(3600);
    let slowest = Parameters {
        day_requests: 1_000_000,
        day_sigma: 0.0,
        page_requests_max: 1_000_000,
        page_shape: 0.1,
        browser_connections: 1,
        gap_scale: hour,
        gap_shape: 0.1,
        recorded_path: hour,
        reading_median: hour,
        server_median: hour,
        server_longest: hour,
        ..Parameters::default()
    };
    assert_eq!(trace(&slowest, 1, 1).requests().len(), 1_000_000);
}

#[test]
fn parameters_out_of_range_are_named() {
    let error = |parameters: Parameters| parameters.check().unwrap_err().to_string();
    let default = Parameters::default;
    assert_eq!(default().check(), Ok(()));
    let errors = [
        error(Parameters { day_requests: 0, ..default() }),
        error(Parameters { us_loss: f64::NAN, ..default() }),
        error(Parameters { page_shape: 0.0, ..default() }),
        error(Parameters { reading_sigma: 3.5, ..default() }),
        error(Parameters { response_max: default().tail_from, ..default() }),
        error(Parameters { tail_from: Bytes::new(6999), ..default() }),
        error(Parameters { us_round_trip_max: Duration::from_millis(39), ..default() }),
        error(Parameters { server_median: Duration::ZERO, ..default() }),
        error(Parameters { server_longest: Duration::from_secs(3601), ..default() }),
    ];
    insta::assert_snapshot!(errors.join("\n"), @r"
    `day_requests` must be 1 to 1000000
    `us_loss` must be 0 to 1
    `page_shape` must be 0.1 to 10
    `reading_sigma` must be 0 to 3
    `response_max` must be above `tail_from`, and at most 2^53 B
    `tail_from` must be at least `body_mean`, and at most 2^53 B
    `us_round_trip_max` must be at least `us_round_trip_min`, and at most 1 h
    `server_median` must be above 0 s, and at most 1 h
    `server_longest` must be 0 s to 1 h
    ");
}

#[test]
fn the_documentation_lists_every_parameter_with_its_value() {
    const PAGE: &str = include_str!("../../../../../docs/models/workload.md");
    let values = serde_json::to_value(Parameters::default().spelled_out()).unwrap();
    let values = values.as_object().unwrap();
    let missing = values.iter().filter(|(name, value)| !PAGE.contains(&format!("| `{name}` | `{value}` |")));
    assert_eq!(missing.collect::<Vec<_>>(), []);
    let list = PAGE.split("### Parameters").nth(1).and_then(|rest| rest.split("\n## ").next()).unwrap();
    assert_eq!(list.lines().filter(|line| line.starts_with("| `")).count(), values.len());
}

proptest! {
    #[test]
    fn any_parameters_in_range_make_a_trace(
        (seed, day_requests, page_requests_max, browser_connections) in (any::<u64>(), 1..40_u32, 1..100_u32, 1..9_u32),
        (core_hosts, day_hosts, other_hosts) in (1..1000_u32, 1..1000_u32, 1..1000_u32),
        sigma in 0.0..=3.0_f64,
        share in 0.0..=1.0_f64,
        shape in 0.1..=10.0_f64,
        visit_pages in 1.0..=1000.0_f64,
    ) {
        let parameters = Parameters {
            day_requests, page_requests_max, browser_connections, core_hosts, day_hosts, other_hosts, visit_pages,
            day_sigma: sigma, reading_sigma: sigma, us_rate_host_sigma: sigma, server_request_sigma: sigma,
            core_share: share, silent_share: share, tail_share: share, us_loss: share,
            page_shape: shape, gap_shape: shape, tail_shape: shape, popularity: shape,
            ..Parameters::default()
        };
        prop_assert_eq!(parameters.check(), Ok(()));
        let trace = trace(&parameters, 2, seed);
        prop_assert_eq!(trace.days(), 2);
        for request in trace.requests() {
            prop_assert!(request.start.as_nanos() < PERIOD.as_nanos());
            prop_assert!((1..=parameters.response_max.get()).contains(&request.response_bytes));
            prop_assert!(request.server.whole().unwrap() <= parameters.server_longest);
        }
    }
}
