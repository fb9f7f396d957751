//! Loads in round trips, to the nanosecond where propagation alone takes time.

use crate::page::{Asked, Dependency, Edge, Evidence, SettleError, later_visit, settle};
use crate::scenario::Scenario;
use crate::scenario::tests::cable_with;

/// A path of 120 ms there and back without a limit of its rate, and connections that stay.
fn path(more: &[&str]) -> Scenario {
    let keys = [
        "path.link.0.up.rate=unlimited",
        "path.link.0.down.rate=unlimited",
        "leg.0.carrier={ kind = \"http/1.1\" }",
        "leg.0.tcp={ profile = \"linux\" }",
    ];
    cable_with(&[&keys[..], more].concat()).unwrap()
}

fn asked(bytes: u64, edges: &[(usize, Option<f64>)], think_ms: f64) -> Asked {
    let edges = edges.iter().map(|(parent, share)| Edge { parent: *parent, share: *share }).collect();
    Asked {
        host: "a.example".to_owned(),
        request_bytes: 400,
        response_bytes: bytes,
        server_s: 0.0,
        dependency: Dependency { edges, think_ms, evidence: Evidence::Time },
        is_secure: true,
        source: String::new(),
    }
}

const END: Option<f64> = Some(1.0);

#[test]
fn a_chain_takes_a_round_trip_a_request_and_one_for_the_connection() {
    let page = [asked(1000, &[], 5.0), asked(1000, &[(0, END)], 0.0), asked(1000, &[(1, END)], 30.0)];
    let loaded = settle(&path(&[]), &page, 1).unwrap();
    let (trip, think) = (120_000_000, [5_000_000, 30_000_000]);
    let ends = [2 * trip + think[0], 3 * trip + think[0] + 1, 4 * trip + think[0] + think[1] + 2];
    assert_eq!(loaded.end_ns, ends);
    assert_eq!(loaded.issue_ns, [think[0], ends[0] + 1, ends[1] + 1 + think[1]]);
    assert!(loaded.runs <= page.len() + 2, "{}", loaded.runs);
    assert_eq!(loaded.think_ms(&page.map(|each| each.dependency), 2), 35.0);
}

#[test]
fn a_request_may_wait_for_the_issue_or_a_part_of_another() {
    let page =
        [asked(100_000, &[], 0.0), asked(1000, &[(0, None)], 0.0), asked(1000, &[(0, Some(0.5))], 0.0)];
    let loaded = settle(&path(&[]), &page, 1).unwrap();
    assert_eq!(loaded.issue_ns[1], 1);
    let half = (loaded.first_ns[0] + loaded.end_ns[0] + 1) / 2;
    assert_eq!(loaded.issue_ns[2], half + 1);
}

#[test]
fn a_later_visit_comes_a_pause_behind_requests_that_leave_tickets() {
    let page = [asked(1000, &[], 0.0), asked(1000, &[(0, END)], 0.0)];
    let (all, number) = later_visit(&page, 60_000.0);
    assert_eq!((all.len(), number, all[0].response_bytes), (3, 1, 1));
    let tls = "leg.0.tls={ version = \"1.3\", start = \"resumed\" }";
    let loaded = settle(&path(&[tls]), &all, 1).unwrap().behind(number, 60_000_000_000);
    assert_eq!((loaded.issue_ns[0], loaded.end_ns.len()), (0, 2));
}

#[test]
fn a_page_whose_requests_fail_is_not_loaded() {
    let lost = "path.link.0.down.loss={ kind = \"bernoulli\", probability = 1 }";
    let error = settle(&path(&[lost]), &[asked(1000, &[], 0.0)], 1).unwrap_err();
    assert!(matches!(error, SettleError::Failed(1, 1)));
    let says = "1 of 1 requests of the page fail over this path; farweb run shows why";
    assert_eq!(error.to_string(), says);
}
