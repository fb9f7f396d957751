//! Pages of HARs made by hand.

mod files;
mod fuzz;
mod graph;
mod json;
mod marks;
mod pages;
mod settle;
mod sizes;
mod times;

use serde_json::{Value, json};

use super::exporters::Read;
use super::har;
use super::source::Source;
use super::{Pages, Recording, Sent, har_of_bytes};

pub(super) const PAGE: &str = "https://a.example/";
pub(super) const CSS: &str = "https://a.example/x.css";

/// A time so many ms after the page began.
pub(super) fn at(ms: f64) -> String {
    let us = 43_200_000_000 + (ms * 1000.0).round() as i64;
    let (s, us) = (us.div_euclid(1_000_000), us.rem_euclid(1_000_000));
    format!("2026-01-01T{:02}:{:02}:{:02}.{us:06}Z", s / 3600, s / 60 % 60, s % 60)
}

/// `to` with the members of `from`, and of tables in it.
fn merge(to: &mut Value, from: Value) {
    match (to, from) {
        (Value::Object(to), Value::Object(from)) => {
            for (name, value) in from {
                match to.get_mut(&name) {
                    Some(old) if ["request", "response", "timings"].contains(&name.as_str()) => {
                        merge(old, value);
                    }
                    _ => drop(to.insert(name, value)),
                }
            }
        }
        (to, from) => *to = from,
    }
}

/// An entry with other `fields`: those of `request`, `response` and `timings` beside what they have.
pub(super) fn entry(url: &str, start_ms: f64, fields: Value) -> Value {
    let mime = if url.ends_with('/') {
        "text/html"
    } else if url.ends_with("css") {
        "text/css"
    } else {
        "image/png"
    };
    let mut whole = json!({
        "pageref": "p",
        "startedDateTime": at(start_ms),
        "time": 60,
        "request": {"method": "GET", "url": url, "headersSize": 400, "bodySize": 0},
        "response": {
            "status": 200, "httpVersion": "HTTP/1.1", "headersSize": 300, "bodySize": 1000,
            "content": {"size": 1000, "mimeType": mime},
        },
        "timings": {"blocked": -1, "dns": -1, "connect": -1, "ssl": -1, "send": 0, "wait": 50, "receive": 10},
    });
    merge(&mut whole, fields);
    whole
}

/// The document.
pub(super) fn document() -> Value {
    entry(PAGE, 0.0, json!({}))
}

/// A file with one page.
pub(super) fn har(creator: &str, onload: f64, entries: Vec<Value>) -> Value {
    let page =
        json!({"id": "p", "title": "t", "startedDateTime": at(0.0), "pageTimings": {"onLoad": onload}});
    json!({"log": {"creator": {"name": creator, "version": "1"}, "pages": [page], "entries": entries}})
}

pub(super) fn read(content: &Value) -> Pages {
    har_of_bytes("page.har", content.to_string().into_bytes()).expect("a HAR")
}

pub(super) fn first(content: &Value) -> Recording {
    read(content).swap_remove(0).expect("a page")
}

/// The error of a file, or of its first page.
pub(super) fn error(content: impl Into<Vec<u8>>) -> String {
    match har_of_bytes("page.har", content.into()) {
        Ok(mut pages) => pages.swap_remove(0).expect_err("a fault").to_string(),
        Err(error) => error.to_string(),
    }
}

pub(super) fn recorded(creator: &str, entries: Vec<Value>) -> Recording {
    first(&har(creator, 5_000.0, entries))
}

/// An entry as `creator` writes it, in the normal form.
pub(super) fn sent(creator: &str, entry: Value) -> Sent {
    let text = har(creator, -1.0, vec![entry]).to_string();
    let source = Source { path: "page.har", text: &text };
    let json = source.parse().expect("JSON");
    let pages = har::pages_of(source, &json).expect("pages");
    Read::of(&pages[0], pages[0].rows[0]).sent
}

pub(super) fn assert_near(found: &[f64], expected: &[f64], what: &dyn std::fmt::Debug) {
    assert_eq!(found.len(), expected.len(), "{what:?}");
    let is_near = found.iter().zip(expected).all(|(one, other)| (one - other).abs() < 0.002);
    assert!(is_near, "{what:?}: {found:?}, not {expected:?}");
}
