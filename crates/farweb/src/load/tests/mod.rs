//! Loads known by hand, on a cable of 34.368 Mbit/s and 60 ms each way.

mod answers;
mod extents;
mod loads;
mod measured;

use super::{Check, Imported, OfferedLoad};
use crate::scenario::tests::cable_with;
use crate::workload::Prepared;

/// SYN, FIN and a bare acknowledgement, each way.
const OPENING: f64 = 3.0 * 40.0;

const HEAD: &str = "start_s,host,request_bytes,response_bytes";

/// A check of requests with these columns, and rows in lines, over the cable with other keys.
fn checked(head: &str, rows: &str, overrides: &[&str]) -> Check {
    let scenario = cable_with(overrides).unwrap();
    let text = format!("{head}\n{rows}\n");
    let prepared = Prepared::of_bytes("requests.csv".into(), text.into_bytes(), None).unwrap();
    Check::of(&scenario, None, &prepared, Imported::default(), None).unwrap()
}

/// Lines of requests with these starts and sizes of responses.
fn lines(rows: impl IntoIterator<Item = (f64, u64)>) -> String {
    rows.into_iter().map(|(start, bytes)| format!("{start},a.example,300,{bytes}\n")).collect()
}

/// A check of requests with these starts and sizes of responses.
fn check(rows: impl IntoIterator<Item = (f64, u64)>, overrides: &[&str]) -> Check {
    checked(HEAD, &lines(rows), overrides)
}

/// A cache at the router, and a second cable behind it.
const BEHIND: [&str; 2] = ["path.link.1.up.rate=34.368 Mbit/s", "path.link.1.down.rate=34.368 Mbit/s"];

fn with_cache<'a>(cache: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&BEHIND[..], &[cache], more].concat()
}

const LIVE: &str = "cache=[{ node = \"us-router\", policy = \"lru\", capacity = \"1 MB\" }]";
const DRAWN: &str = "cache=[{ node = \"us-router\", hit_ratio = 0.25 }]";

/// The load down on the last link.
fn last(check: &Check) -> &OfferedLoad {
    check.offered().unwrap().links.last().unwrap()
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{found} is not {expected}");
}

fn texts(check: &Check) -> Vec<String> {
    check.warnings().iter().map(|warning| format!("{}: {}", warning.key, warning.words)).collect()
}
