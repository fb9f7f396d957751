//! What crossed no network, connections, protocols and initiators, by exporter.

use serde_json::{Value, json};

use super::super::{Kind, Protocol};
use super::{CSS, PAGE, document, entry, first, har, recorded, sent};

#[test]
fn what_crossed_no_network_is_named() {
    let internal = |cause: &str| json!({"status": 307, "redirectURL": PAGE, "headers": [{"name": "Non-Authoritative-Reason", "value": cause}]});
    let by_worker = json!({"_fetchedViaServiceWorker": true, "_transferSize": 0});
    let no_bytes = json!({"_transferSize": 0, "bodySize": -1});
    let blocked =
        |how: &str| json!({"response": {"status": 0, "_error": format!("net::{how}"), "bodySize": 0}});
    let chrome = "WebInspector";
    let rows = [
        (chrome, "data:image/png;base64,AA", json!({}), "no http (data)"),
        (chrome, "blob:https://a.example/0d4b", json!({}), "no http (blob)"),
        (chrome, "chrome-extension://id/x.js", json!({}), "no http (chrome-extension)"),
        (chrome, "about:blank", json!({}), "no http (about)"),
        (chrome, "x", json!({}), "no http (no scheme)"),
        (chrome, "https://[::1/", json!({}), "no http (unreadable)"),
        (chrome, "wss://a.example/live", json!({}), "web socket"),
        (chrome, CSS, json!({"_resourceType": "websocket"}), "web socket"),
        ("Firefox", PAGE, json!({"response": {"status": 101}}), "web socket"),
        (chrome, PAGE, json!({"response": {"status": 103}}), "interim response"),
        ("Fiddler", "http://a.example/", json!({"request": {"method": "CONNECT"}}), "tunnel"),
        (
            "WebPagetest",
            "http://a.example/",
            json!({"response": {"content": {"mimeType": "application/ocsp-response"}}}),
            "certificate status",
        ),
        (chrome, "http://ocsp.a.example/", json!({}), ""), // a name is no mark
        (chrome, PAGE, json!({"response": {"status": -2, "bodySize": 0}}), "no answer"),
        (chrome, CSS, blocked("ERR_FAILED"), "no answer"),
        (chrome, CSS, blocked("ERR_BLOCKED_BY_CLIENT"), "blocked in the browser"),
        (chrome, CSS, json!({}), ""),
        // Redirects inside the browser.
        (chrome, PAGE, json!({"response": internal("HSTS")}), "internal redirect"),
        (chrome, PAGE, json!({"response": internal("CSP"), "_fromCache": "disk"}), "internal redirect"),
        (
            "chrome-har",
            PAGE,
            json!({"response": {"status": 307, "statusText": "Internal Redirect"}}),
            "internal redirect",
        ),
        (chrome, PAGE, json!({"response": {"status": 307, "redirectURL": PAGE}}), ""),
        ("chrome-har", PAGE, json!({"response": {"status": 302, "statusText": "Internal Redirect"}}), ""),
        // Caches of browsers.
        (chrome, CSS, json!({"_fromCache": "disk"}), "cache"),
        ("chrome-har", CSS, json!({"response": {"fromDiskCache": true}}), "cache"),
        (chrome, CSS, json!({"timings": {"wait": 1, "receive": 0.5}}), ""), // near, and no mark
        (chrome, CSS, json!({"response": no_bytes}), "cache"),
        (chrome, CSS, json!({"response": no_bytes, "timings": {"connect": 30}}), ""), // a connection was opened for it
        (chrome, CSS, json!({"response": {"status": 304, "_transferSize": 120}}), ""),
        (chrome, CSS, json!({"response": {"_transferSize": 0, "content": {"size": 0}}}), ""),
        (
            chrome,
            CSS,
            json!({"response": {"_transferSize": 0, "bodySize": 0}, "request": {"method": "HEAD"}}),
            "",
        ),
        ("chrome-har", CSS, json!({"cache": {"beforeRequest": {"hitCount": 0}}}), "cache"),
        ("chrome-har", CSS, json!({"connection": "0", "response": {"_transferSize": 0}}), "cache"),
        (
            "chrome-har",
            CSS,
            json!({"connection": "0", "serverIPAddress": "192.0.2.1", "response": {"_transferSize": 80}}),
            "",
        ),
        ("Firefox", CSS, json!({"cache": {"afterRequest": null}}), "cache"),
        ("Firefox", CSS, json!({"cache": {"afterRequest": null}, "timings": {"connect": 20}}), ""),
        ("Firefox", CSS, json!({"cache": {"afterRequest": null}, "response": {"status": 304}}), ""), // asked, and answered
        ("Firefox", CSS, json!({"response": {"bodySize": -1}}), "cache"),
        ("other", CSS, json!({"response": {"bodySize": -1}}), ""), // unknown
        ("other", CSS, json!({"response": {"bodySize": 0}}), "cache"),
        ("Charles Proxy", CSS, json!({"response": {"bodySize": 0, "content": {"size": 0}}}), ""),
        ("WebKit Web Inspector", CSS, json!({"_fetchType": "Memory Cache"}), "cache"),
        ("WebKit Web Inspector", CSS, json!({"_fetchType": "Network Load"}), ""),
        (
            "WebKit Web Inspector",
            CSS,
            json!({"_fetchType": "Inspector Override"}),
            "answered by the inspector",
        ),
        // Tests.
        ("playwright", CSS, json!({"_wasFulfilled": true}), "answered by a test"),
        (
            "playwright",
            CSS,
            json!({"_wasAborted": true, "response": {"status": -1}}),
            "blocked in the browser",
        ),
        ("playwright", CSS, json!({"_apiRequest": true}), "asked by a test"),
        ("playwright", CSS, json!({"_wasContinued": true}), ""),
        // Service workers.
        ("WebKit Web Inspector", CSS, json!({"_fetchType": "Service Worker"}), "service worker"),
        ("chrome-har", CSS, json!({"response": {"fromServiceWorker": true}}), "service worker"),
        (chrome, CSS, json!({"response": by_worker}), "service worker"),
        (chrome, CSS, json!({"_initiator": "https://a.example/sw.js"}), ""),
        (chrome, CSS, json!({"response": by_worker, "_serviceWorkerResponseSource": "network"}), ""),
    ];
    for (creator, url, fields, why) in rows {
        let row = format!("{creator} {url} {fields}");
        let counts = entry(
            "https://a.example/counted",
            0.0,
            json!({"response": {"_transferSize": 900, "bodySize": 700}}),
        );
        let page = recorded(creator, vec![entry(url, 0.0, fields), counts]);
        let dropped: Vec<_> = page.dropped.iter().map(|(why, number)| (why.as_str(), *number)).collect();
        assert_eq!(dropped, if why.is_empty() { vec![] } else { vec![(why, 1)] }, "{row}");
    }
}

#[test]
fn a_size_of_0_is_a_mark_only_in_a_file_that_counts_sizes() {
    let sizes = [json!({"_transferSize": 0, "bodySize": -1}), json!({"bodySize": 0})];
    for response in sizes {
        let page = recorded("other", vec![entry(CSS, 0.0, json!({"response": response}))]);
        assert_eq!(page.dropped, [], "{response}");
    }
}

/// The page's request that a service worker passes on, and the worker's own 3 ms later.
fn by_worker(url: &str, start_ms: f64, fields: Value) -> Vec<Value> {
    let mut asked =
        entry(url, start_ms, json!({"response": {"_fetchedViaServiceWorker": true, "_transferSize": 0}}));
    super::merge(&mut asked, fields);
    let own = json!({
        "response": {"_transferSize": 9_000},
        "_initiator": {"type": "script", "url": "https://a.example/worker"},
    });
    vec![asked, entry(url, start_ms + 3.0, own)]
}

#[test]
fn what_a_service_worker_passes_on_is_one_request_of_the_page() {
    let passed = by_worker(CSS, 80.0, json!({"_initiator": {"type": "parser", "url": PAGE}}));
    let page = recorded("WebInspector", [vec![document()], passed].concat());
    let found: Vec<_> = page
        .sent
        .iter()
        .map(|each| (each.name.as_str(), each.response_bytes, each.initiator.as_str()))
        .collect();
    assert_eq!(found, [(PAGE, 1300, ""), (CSS, 9_000, PAGE)]);
    assert_eq!(page.dropped, [("service worker".to_owned(), 1)]);
    let twice = [80.0, 85.0].map(|start| by_worker(CSS, start, json!({})));
    let page = recorded("WebInspector", [vec![document()], twice.concat()].concat());
    assert_eq!((page.gates, page.dropped), (vec![true; 3], vec![("service worker".to_owned(), 2)]));
}

#[test]
fn what_a_service_worker_fetches_ahead_holds_no_onload() {
    let ahead = || {
        let of_worker = json!({"_initiator": {"type": "script", "url": "https://a.example/worker"}});
        entry("https://a.example/later", 90.0, of_worker)
    };
    let gates = |entries: Vec<Vec<Value>>| first(&har("WebInspector", 500.0, entries.concat())).gates;
    // Its script is known by the fetches that it passed on, or by the header of the fetch of it.
    let passed = by_worker(CSS, 80.0, json!({}));
    assert_eq!(gates(vec![vec![document()], passed, vec![ahead()]]), [true, true, false]);
    let headers = json!({"request": {"headers": [{"name": "Service-Worker", "value": "script"}]}});
    let script = entry("https://a.example/worker", 70.0, headers);
    assert_eq!(gates(vec![vec![document(), script, ahead()]]), [true, true, false]);
    assert_eq!(gates(vec![vec![document(), ahead()]]), [true, true]);
}

#[test]
fn pushed_responses_are_known_by_a_mark_or_a_wait_of_nothing() {
    let h2 = json!({"timings": {"wait": 0, "blocked": 40}, "response": {"httpVersion": "h2"}});
    let in_no_time = json!({"timings": {"wait": 0, "receive": 0}, "response": {"status": 0, "bodySize": 99}});
    let rows = [
        ("chrome-har", json!({"_was_pushed": 1}), true),
        ("chrome-har", json!({"_was_pushed": "True"}), true),
        ("chrome-har", json!({"_was_pushed": 0}), false),
        ("Browsertime", h2, true),
        (
            "Browsertime",
            json!({"timings": {"wait": 0, "blocked": 10}, "response": {"httpVersion": "h2"}}),
            false,
        ),
        ("Firefox", in_no_time.clone(), true),
        ("chrome-har", in_no_time, false),
    ];
    for (creator, fields, is_pushed) in rows {
        assert_eq!(
            sent(creator, entry(PAGE, 0.0, fields.clone())).is_pushed,
            is_pushed,
            "{creator} {fields}"
        );
    }
}

#[test]
fn connections_and_protocols_are_as_exporters_name_them() {
    use Protocol::{H1, H2, H3};
    let version = |word: &str| json!({"httpVersion": word});
    let rows = [
        ("WebInspector", json!({"connection": "443", "_connectionId": "7"}), "7", H1),
        ("WebInspector", json!({"connection": "443"}), "", H1), // a port
        ("Firefox", json!({"connection": "8443", "response": version("HTTP/2")}), "", H2),
        ("chrome-har", json!({"connection": "1106", "response": version("spdy")}), "1106", H2),
        ("WebPagetest", json!({"_socket": 12, "response": version("us:"), "_protocol": "h3-29"}), "12", H3),
        ("WebPagetest", json!({"_socket": 12, "response": version("us:")}), "12", H2),
        ("WebPagetest", json!({"_socket": 12, "response": version("2 3")}), "12", H2),
        ("WebPagetest", json!({"_socket": 12, "response": version("1.1")}), "12", H1),
        ("WebInspector", json!({"response": version("http/2.0")}), "", H2),
        ("WebInspector", json!({"response": version("http/2+quic/46")}), "", H3),
    ];
    for (creator, fields, connection, protocol) in rows {
        let found = sent(creator, entry(PAGE, 0.0, fields.clone()));
        assert_eq!((found.connection.as_str(), found.protocol), (connection, protocol), "{creator} {fields}");
    }
}

#[test]
fn initiators_are_texts_or_stacks() {
    let stack = json!({"callFrames": [], "parent": {"callFrames": [{"url": ""}, {"url": "https://a.example/app.js"}]}});
    let rows = [
        (json!({"_initiator": {"type": "script", "stack": stack}}), ("https://a.example/app.js", "script")),
        (json!({"_initiator": {"type": "parser", "url": PAGE}}), (PAGE, "parser")),
        (json!({"_initiator": PAGE, "_initiator_type": "parser"}), (PAGE, "parser")),
        (json!({"_initiator": 5}), ("", "")),
    ];
    for (fields, expected) in rows {
        let found = sent("WebInspector", entry(CSS, 0.0, fields));
        assert_eq!((found.initiator.as_str(), found.initiator_type.as_str()), expected);
    }
}

#[test]
fn a_redirect_leads_to_where_its_response_says() {
    let location = |to: &str| json!([{"name": "Location", "value": to}]);
    let rows = [
        (json!({"status": 302, "redirectURL": "/there?q"}), "https://a.example/there?q"),
        (json!({"status": 301, "headers": location("http://b.example/")}), "http://b.example/"),
        (json!({"status": 302, "redirectURL": "//[x/"}), ""),
        (json!({"status": 302}), ""),
        (json!({"status": 304, "headers": location("/there")}), ""),
        (json!({"status": 201, "headers": location("/there")}), ""),
    ];
    for (response, to) in rows {
        let found = sent("other", entry(CSS, 0.0, json!({"response": response.clone()})));
        assert_eq!(found.redirect, to, "{response}");
    }
}

#[test]
fn a_response_has_a_kind_by_its_type_or_the_end_of_its_url() {
    let mime = |mime: &str| json!({"response": {"content": {"mimeType": mime}}});
    let rows = [
        (PAGE, mime("text/html; charset=utf-8"), Kind::Html),
        (PAGE, mime("application/javascript"), Kind::Script),
        (PAGE, mime("application/font-woff2"), Kind::Font),
        (PAGE, mime("image/svg+xml"), Kind::Image),
        (PAGE, mime("application/ld+json"), Kind::Json),
        (PAGE, mime(""), Kind::Other),
        ("https://a.example/app.JS?x=1.css", mime(""), Kind::Script),
        (PAGE, json!({"request": {"method": "options"}}), Kind::Preflight),
        (PAGE, json!({"_request_type": "Preflight"}), Kind::Preflight),
        (PAGE, json!({"_resourceType": "ping"}), Kind::Beacon),
    ];
    for (url, fields, kind) in rows {
        assert_eq!(sent("other", entry(url, 0.0, fields.clone())).kind, kind, "{url} {fields}");
    }
}
