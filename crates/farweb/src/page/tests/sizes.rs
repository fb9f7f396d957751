//! Bytes of requests and responses.

use serde_json::{Value, json};

use super::{CSS, PAGE, document, entry, first, har, recorded, sent};

fn length(bytes: &str) -> Value {
    json!([{"name": "Content-Length", "value": bytes}])
}

#[test]
fn a_response_has_the_bytes_that_its_exporter_counts() {
    let rows = [
        ("WebInspector", json!({"_transferSize": 777, "bodySize": -1}), 777),
        ("chrome-har", json!({"_transferSize": 500, "bodySize": 500}), 500),
        // Firefox counts the header, of 300 B here, in bodySize; not where that is the length that the header has.
        ("Firefox", json!({"bodySize": 783}), 783),
        ("Firefox", json!({"bodySize": 783, "headers": length("783")}), 1083),
        // The size of the content, and a usual header.
        ("other", json!({"bodySize": -1, "headersSize": -1}), 1400),
        ("other", json!({"bodySize": "2000", "headersSize": null}), 2400),
        ("other", json!({"status": 304, "bodySize": -1}), 300),
        // Of a packed body that is not counted: what compression saved, or the length that was announced.
        ("other", json!({"bodySize": -1, "content": {"size": 9000, "compression": 8000}}), 1300),
        ("other", json!({"bodySize": -1, "content": {"size": 9000}, "headers": length("2000")}), 2300),
        ("other", json!({"bodySize": -1, "content": {"size": 500}, "headers": length("2000")}), 800), // cut off
        ("other", json!({"bodySize": -1, "headers": length("0")}), 300),
        ("other", json!({"bodySize": -1, "content": {}, "headers": length("5000")}), 5300),
        ("other", json!({"bodySize": -1, "content": {"size": -1}, "headers": length("5000")}), 5300),
        // Redirects, and copies from caches.
        ("other", json!({"status": 302, "bodySize": 9000, "headers": length("0")}), 300),
        ("other", json!({"status": 302, "bodySize": 9000, "headers": length("154")}), 454),
        ("other", json!({"status": 302, "_transferSize": 99_000, "headers": length("0")}), 300),
        ("other", json!({"status": 302, "_transferSize": 280, "bodySize": -1}), 280),
        ("other", json!({"status": 302, "bodySize": 154, "content": {"size": 154}}), 454),
        ("other", json!({"status": 304, "bodySize": 9000}), 300),
        ("other", json!({"status": 204, "bodySize": 9000}), 300),
    ];
    for (creator, response, bytes) in rows {
        let found = sent(creator, entry(PAGE, 0.0, json!({"response": response})));
        assert_eq!(found.response_bytes, bytes, "{creator} {response}");
    }
}

#[test]
fn a_redirect_has_no_body_of_its_target() {
    let rows = [
        (json!({"bodySize": 1000, "content": {"size": 1000}}), 300),
        (json!({"bodySize": -1, "content": {"size": 1000}}), 300),
        (json!({"bodySize": 154, "content": {"size": 154}}), 454),
        (json!({"bodySize": 400, "content": {"size": 1000}}), 700), // packed
    ];
    for (response, bytes) in rows {
        let mut hop =
            entry("http://a.example/", 0.0, json!({"response": {"status": 302, "redirectURL": PAGE}}));
        super::merge(&mut hop, json!({"response": response}));
        let page = recorded("other", vec![hop, entry(PAGE, 90.0, json!({}))]);
        let found: Vec<_> = page.sent.iter().map(|each| each.response_bytes).collect();
        assert_eq!(found, [bytes, 1300], "{response}");
    }
}

#[test]
fn sizes_of_unpacked_content_are_told_beside_the_answer() {
    let rows = [
        (json!({"headers": [{"name": "Content-Encoding", "value": "br"}]}), true),
        (json!({"headers": [{"name": "Content-Encoding", "value": "identity"}]}), false),
        (json!({"headers": []}), true), // stripped
        (json!({"headers": length("2000")}), false),
        (json!({"headers": [{"name": "Server", "value": "x"}]}), false), // sent as it is
        (json!({"content": {"size": 9000, "compression": 8000}}), false),
        (json!({"_transferSize": 700}), false),
        (json!({"bodySize": 700}), false),
        (json!({"status": 304}), false),
    ];
    for (response, is_told) in rows {
        let mut given = entry(PAGE, 0.0, json!({"response": {"bodySize": -1}}));
        super::merge(&mut given, json!({"response": response}));
        let page = first(&har("other", 200.0, vec![given, entry(CSS, 70.0, json!({}))]));
        let said = "1 response with no size but the unpacked one: fewer bytes may have crossed";
        assert_eq!(page.reservations().join(" ").contains(said), is_told, "{response}");
    }
}

#[test]
fn an_upload_has_the_bytes_that_are_counted_announced_or_there() {
    let rows = [
        (json!({"bodySize": 700, "headers": length("2000")}), 1100),
        (json!({"bodySize": -1, "headers": length("2000")}), 2400),
        (json!({"bodySize": 0, "headers": length("2000"), "postData": {"text": "x"}}), 2400),
        (json!({"bodySize": -1, "postData": {"text": "größe"}}), 407),
        (json!({"bodySize": -1}), 400),
        (json!({"bodySize": -1, "postData": {"text": "x".repeat(7000)}}), 7400),
        (
            json!({"bodySize": -1, "postData": {"params": [{"name": "a b", "value": "1"}, {"name": "c"}]}}),
            408,
        ),
        (json!({"bodySize": -1, "postData": {"params": [{"name": "ä", "value": "&"}]}}), 410),
    ];
    for (request, bytes) in rows {
        let found = sent("WebPagetest", entry(PAGE, 0.0, json!({"request": request})));
        assert_eq!(found.request_bytes, bytes, "{request}");
    }
}

#[test]
fn webpagetest_counts_what_came_but_in_a_page_that_counts_twice() {
    // What it counts of a body of 900 B with a header of 300 B: more than both, compressed, without it, both.
    let once = [1205, 960, 900, 1200];
    let twice = [2400, 2400, 2300, 1200];
    let rows = [
        ("the count", once, 900, 960, 960),
        ("a header alone", once, 0, 280, 280),
        ("a body that the file has lost", once, 0, 1300, 1300),
        ("a body that the file has cut", once, 900, 1900, 1900),
        ("no count", once, 900, 0, 1200),
        ("a page that counts twice", twice, 900, 2400, 1200),
        ("the one that it counts once", twice, 900, 960, 1200),
    ];
    for (why, counts, body, came, taken) in rows {
        let counted = |body: u64, came: u64| {
            let sizes =
                json!({"_objectSize": body.to_string(), "_bytesIn": came.to_string(), "_load_start": 200});
            let mut whole = entry(&format!("{CSS}?{came}"), 0.0, sizes);
            super::merge(&mut whole, json!({"response": {"bodySize": 0, "content": {}}}));
            whole
        };
        let mut entries: Vec<Value> = counts.iter().map(|came| counted(900, *came)).collect();
        entries.push(counted(body, came));
        let page = recorded("WebPagetest", entries);
        assert_eq!(page.sent[4].response_bytes, taken, "{why}");
        let said = "it counts received bytes twice: of 5 responses object and header are taken instead";
        assert_eq!(page.warnings.iter().any(|each| each == said), counts == twice);
    }
}

#[test]
fn a_page_of_more_than_a_gigabyte_is_refused() {
    let content =
        har("other", -1.0, vec![document(), entry(CSS, 70.0, json!({"response": {"bodySize": 2e9}}))]);
    let says = "page.har: page 'p': has 2.00 GB; 1 GB at most can be loaded";
    assert_eq!(super::error(content.to_string()), says);
}
