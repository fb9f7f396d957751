//! Sizes of runs in closed form, and limits.

use super::*;
use crate::load::Extent;

const THREE: [(f64, u64); 3] = [(0.0, 1000), (10.0, 20_000), (20.0, 4000)];

fn extent(overrides: &[&str]) -> Extent {
    check(THREE, overrides).extent.unwrap()
}

fn rows(extent: &Extent) -> serde_json::Value {
    serde_json::to_value(&extent.rows).unwrap()
}

#[test]
fn rows_count_until_the_run_ends() {
    let every = "record.links_every=1 s";
    let found = extent(&["run.until=10 s", every]);
    // Five series: two links both ways, and a leg.
    assert_eq!((found.requests, rows(&found)["links, legs and caches"].as_u64()), (2, Some(5 * 10)));
    let found = extent(&["run.until=24 h", every]);
    assert_eq!(rows(&found)["links, legs and caches"].as_u64(), Some(5 * 20), "none behind the last event");
    let found = extent(&["record.exchanges=true", "workload.load=2"]);
    assert_eq!(rows(&found), serde_json::json!({ "requests": 6, "connections": 6, "exchanges": 6 }));
}

#[test]
fn packets_of_tagged_requests_count_by_their_share_of_the_bytes() {
    let of = |which| {
        let rows_of = "0,a.example,300,30000,sample\n1,a.example,300,90000,";
        let found = checked(&format!("{HEAD},tag"), rows_of, &[which]).extent.unwrap();
        rows(&found)["packets"].as_u64().unwrap()
    };
    assert!(of("record.packets=sample").abs_diff(of("record.packets=all") / 4) <= 1);
}

#[test]
fn requests_under_way_are_those_of_littles_law_or_those_that_a_link_cannot_carry() {
    let of = |overrides: &[&str]| {
        let rows = (0..1001).map(|number| (f64::from(number) / 10.0, 14_600));
        check(rows, overrides).extent.unwrap().under_way
    };
    // A handshake and a response, each a round trip of 120 ms, at 10 a second.
    assert_eq!(of(&[]), (1001.0_f64 / 100.0 * 0.24).round() as u64);
    let slow = format!("path.link.0.down.rate={} bit/s", 10 * 8 * 15_000 / 4);
    let backlog = of(&[&slow]) as f64;
    assert!((backlog / (1001.0 * 0.75) - 1.0).abs() < 0.01, "{backlog}");
    assert_eq!(of(&[&slow, "clients.give_up=10 s"]), of(&[]));
}

#[test]
fn a_link_carries_packets_until_the_run_ends_or_all_have_given_up() {
    let of = |more: &str| check([(0.0, 10_000_000_000)], &[more]).extent.unwrap().packet_hops as f64;
    let whole = of("run.seed=1");
    let lasts_s = 8.0 * (10e9 / 1460.0 * 1500.0) / 34.368e6;
    for end in ["run.until=20 s", "clients.give_up=20 s"] {
        assert!((of(end) / (whole * 20.0 / lasts_s) - 1.0).abs() < 1e-5, "{end}");
    }
}

#[test]
fn runs_of_a_sweep_are_as_many_times_their_mean() {
    let (one, three) = (extent(&[]), extent(&["workload.load=3", "record.exchanges=true"]));
    let all = Extent::of_runs(&[&one, &three], 10).unwrap();
    assert_eq!((all.runs, all.requests), (10, 5 * (3 + 9)));
    assert_eq!(rows(&all), serde_json::json!({ "requests": 60, "connections": 60, "exchanges": 45 }));
    assert_eq!(Extent::of_runs(&[], 10), None);
}

#[test]
fn large_sizes_are_warned_of_and_refused() {
    let large = |overrides: &[&str]| {
        let found = serde_json::to_value(extent(overrides).report()).unwrap()["large"].take();
        let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
        let all = found.as_array().unwrap().iter();
        all.map(|each| (text(&each["key"]).unwrap(), text(&each["words"]).unwrap(), text(&each["refusal"])))
            .collect::<Vec<_>>()
    };
    assert_eq!(large(&[]), []);
    let found = large(&["record.links_every=600 ns"]);
    let words = "a run writes about 166,666,676 rows, most of them (166,666,670) of links, legs and caches";
    assert_eq!(found, [("record.links_every".into(), words.into(), None)]);
    let refusal = large(&["record.links_every=60 ns"])[0].2.clone().unwrap();
    assert!(refusal.ends_with("; the limit is 1,000,000,000, and --no-limits lifts it"), "{refusal}");
    let at_once = ["workload.speed=1e6", "workload.copies_offset=0 s"];
    let found = large(&[&at_once[..], &["workload.load=400000"]].concat());
    let words = "about 1,200,000 requests are in flight, with some kB of memory each";
    assert_eq!(found, [("workload.load".into(), words.into(), None)]);
    let refusal = large(&[&at_once[..], &["workload.load=4000000"]].concat())[0].2.clone().unwrap();
    assert!(refusal.contains("the limit is 10,000,000"), "{refusal}");
}
