//! Whatever a file holds in a place, it is read, or refused with its name.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::har_of_bytes;
use super::{CSS, PAGE, entry, har};
use crate::workload::WorkloadError;

const CREATORS: [&str; 9] = [
    "WebInspector",
    "chrome-har",
    "WebPagetest",
    "Firefox",
    "WebKit Web Inspector",
    "mitmproxy",
    "Playwright",
    "farweb",
    "",
];

/// A file with all that exporters write.
fn full(creator: &str) -> Value {
    let whole = json!({
        "_initiator": {"type": "script", "stack": {"callFrames": [{"url": PAGE}], "parent": {}}},
        "_queued": 3, "_load_start": 20, "_ttfb_ms": 30, "_load_ms": 60, "_connect_start": 5, "_connect_end": 15,
        "_bytesIn": 1200, "_objectSize": 900, "_socket": 3, "connection": "7", "_protocol": "h2", "_was_pushed": 0,
        "_transferSize": 5, "_fetchType": "", "_parents": "0@end", "_server_ms": 3, "cache": {"beforeRequest": null},
        "timings": {"_queued": 3, "_blocked_queueing": 2},
        "request": {"headers": [{"name": "Content-Length", "value": "3"}], "postData": {"text": "x", "params": []}},
        "response": {
            "status": 302, "redirectURL": "../x.css", "headers": [{"name": "Location", "value": "/"}],
            "_fetchedViaServiceWorker": false, "_error": "", "statusText": "",
        },
    });
    har(
        creator,
        300.0,
        vec![entry(PAGE, 0.0, whole.clone()), entry(CSS, 70.0, json!({})), entry(PAGE, -90.0, whole)],
    )
}

/// Paths to all values below `value`.
fn places(value: &Value, path: String, found: &mut Vec<String>) {
    let mut below = |name: String, value: &Value| {
        let path = format!("{path}/{name}");
        found.push(path.clone());
        places(value, path, found);
    };
    match value {
        Value::Object(members) => members.iter().for_each(|(name, value)| below(name.clone(), value)),
        Value::Array(members) => {
            members.iter().enumerate().for_each(|(place, value)| below(place.to_string(), value));
        }
        _ => {}
    }
}

fn odd() -> impl Strategy<Value = Value> {
    let values = [
        json!(null),
        json!(true),
        json!(-1),
        json!(0),
        json!(0.5),
        json!(1e300),
        json!(-1e300),
        json!(u64::MAX),
        json!(""),
        json!("x"),
        json!("70ms"),
        json!("NaN"),
        json!(["\u{7f}"]),
        json!("é".repeat(5_000)),
        json!([]),
        json!({}),
        json!([{}]),
        json!("1970-01-01T00:00:00Z"),
        json!("9999-12-31T23:59:59Z"),
        json!("https://[::1/"),
        json!("//b.example/..?#"),
        json!(304),
        json!("service worker"),
        json!("text/html"),
        json!([{"name": "Content-Length", "value": "-7"}]),
    ];
    prop_oneof![4 => prop::sample::select(values.to_vec()), 1 => any::<i64>().prop_map(Value::from), 1 => ".{0,6}".prop_map(Value::from)]
}

/// True for a message of one line that begins with the name of the file.
fn is_told(error: &WorkloadError) -> bool {
    let text = error.to_string();
    text.starts_with("page.har: ") && !text.chars().any(char::is_control)
}

proptest! {
    #[test]
    fn any_value_in_any_place_is_read_or_refused(
        creator in prop::sample::select(&CREATORS[..]),
        changes in prop::collection::vec((any::<prop::sample::Index>(), prop::option::of(odd())), 1..8),
        cut in prop::option::weighted(0.1, any::<prop::sample::Index>()),
    ) {
        let mut content = full(creator);
        for (place, value) in changes {
            let mut all = Vec::new();
            places(&content, String::new(), &mut all);
            let Some(path) = (!all.is_empty()).then(|| place.get(&all)) else { continue };
            let (parent, name) = path.rsplit_once('/').expect("a path");
            match (value, content.pointer_mut(parent)) {
                (Some(value), _) => *content.pointer_mut(path).expect("a value") = value,
                (None, Some(Value::Object(members))) => drop(members.remove(name)),
                _ => {}
            }
        }
        let mut text = content.to_string();
        if let Some(cut) = cut {
            let mut at = cut.index(text.len());
            while !text.is_char_boundary(at) { at -= 1 }
            text.truncate(at);
        }
        match har_of_bytes("page.har", text.into_bytes()) {
            Err(error) => prop_assert!(is_told(&error), "{}", error),
            Ok(pages) => for page in pages {
                match page {
                    Err(error) => prop_assert!(is_told(&error), "{}", error),
                    Ok(page) => {
                        let number = page.sent.len();
                        prop_assert!(page.root < number);
                        prop_assert_eq!([page.server_ms.len(), page.origins.len(), page.gates.len()], [number; 3]);
                        prop_assert!(page.sent.is_sorted_by(|one, other| one.issue_ms <= other.issue_ms));
                        for each in &page.sent {
                            let times = [0.0, each.issue_ms, each.send_ms, each.first_ms, each.end_ms, f64::MAX];
                            prop_assert!(times.iter().skip(2).is_sorted() && each.issue_ms >= 0.0, "{:?}", times);
                            prop_assert!(each.response_bytes > 0);
                        }
                        prop_assert!(page.load_ms >= 0.0 && page.rate_bps.is_finite());
                        prop_assert!(!page.counted().is_empty() && page.reservations().len() <= 2);
                    }
                }
            },
        }
    }
}
