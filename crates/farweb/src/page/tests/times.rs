//! What each exporter means by times, and queues of browsers, round trips and server times.

use serde_json::{Value, json};

use super::super::Protocol;
use super::{CSS, assert_near, document, entry, first, har, recorded, sent};

/// An entry of WebPageTest, with other fields.
fn of_webpagetest(url: &str, fields: Value) -> Value {
    let own = json!({"_load_start": 200, "_ttfb_ms": 50, "_load_ms": 70, "_socket": "9", "_objectSize": "900", "_bytesIn": "1200"});
    let mut whole = entry(url, 0.0, own);
    super::merge(&mut whole, fields);
    whole
}

#[test]
fn times_are_as_the_exporter_means_them() {
    // A request on a new connection, TLS inside connect as the format has it.
    let opened =
        json!({"blocked": 5, "dns": 7, "connect": 80, "ssl": 50, "send": 1, "wait": 30, "receive": 10});
    let with = |fields: Value| {
        let mut whole = json!({"timings": opened});
        super::merge(&mut whole, fields);
        whole
    };
    let rows = [
        ("WebInspector", with(json!({})), [100, 193, 223, 233, 30]),
        ("unheard of", with(json!({})), [100, 193, 223, 233, 30]),
        // chrome-har begins behind the renderer's queue.
        ("chrome-har", with(json!({"timings": {"_queued": 40}})), [60, 193, 223, 233, 30]),
        // Firefox had ssl beside connect, and time is the sum of all.
        ("Firefox", with(json!({"time": 183})), [100, 243, 273, 283, 80]),
        ("Firefox", with(json!({"time": 133})), [100, 193, 223, 233, 30]),
        ("mitmproxy", with(json!({"time": 183})), [100, 243, 273, 283, 80]),
        // Firebug, Browsertime 1 and Fiddler write 0 for what did not happen.
        (
            "Firebug",
            json!({"timings": {"blocked": 0, "dns": 0, "connect": 0, "ssl": 0}}),
            [100, 100, 150, 160, 0],
        ),
        (
            "Browsertime",
            json!({"timings": {"blocked": 0, "connect": 0, "ssl": 0}, "time": 99}),
            [100, 100, 150, 160, 0],
        ),
        // Where there is no wait, or none that can be, time says how long it was.
        ("Postman", json!({"timings": {"wait": -1, "receive": -1}, "time": "70ms"}), [100, 100, 170, 170, 0]),
        ("other", json!({"timings": {"wait": "NaN"}}), [100, 100, 150, 160, 0]),
        ("other", json!({"timings": {"wait": 1e9}}), [100, 100, 150, 160, 0]),
        // A renderer's queue begins with the page at the earliest.
        ("Browsertime", json!({"timings": {"_queued": 140}}), [0, 100, 150, 160, 0]),
        // pcap2har begins with the connection, behind the look-up of the name.
        ("pcap2har", json!({"timings": {"connect": 20}, "time": 3}), [100, 120, 170, 180, 20]),
        ("pcap2har", json!({"timings": {"dns": 40, "connect": 30}}), [60, 130, 180, 190, 30]),
        // Safari counts the time before a request on a used connection twice.
        (
            "WebKit Web Inspector",
            json!({"timings": {"blocked": 20, "send": 20}, "time": 80}),
            [100, 120, 170, 180, 0],
        ),
    ];
    for (creator, fields, expected) in rows {
        let found = sent(creator, entry("https://a.example/x.png", 100.0, fields));
        let found = [found.issue_ms, found.send_ms, found.first_ms, found.end_ms, found.tcp_ms];
        assert_near(&found, &expected.map(f64::from), &creator);
    }
}

#[test]
fn webpagetest_has_times_of_its_own() {
    let rows = [
        (
            json!({"_connect_start": 150, "_connect_end": 170, "_ssl_start": 170, "_ssl_end": 195}),
            (150.0, 20.0, 25.0, true),
        ),
        // 2.17 to 2.19 write "0" for what did not happen.
        (
            json!({"_dns_start": "0", "_dns_end": "0", "_connect_start": "0", "_connect_end": "0"}),
            (200.0, 0.0, 0.0, false),
        ),
        // A connection that was long ready had been made for another.
        (json!({"_connect_start": 100, "_connect_end": 120}), (200.0, 20.0, 0.0, true)),
        // QUIC: no TCP, the whole handshake is TLS.
        (
            json!({"_connect_start": -1, "_connect_end": -1, "_ssl_start": 170, "_ssl_end": 195}),
            (170.0, 0.0, 25.0, true),
        ),
    ];
    for (fields, expected) in rows {
        let found = sent("WebPagetest", of_webpagetest(super::PAGE, fields));
        assert_eq!((found.issue_ms, found.tcp_ms, found.tls_ms, found.is_new), expected);
        assert_eq!((found.send_ms, found.first_ms, found.end_ms), (200.0, 250.0, 270.0));
        assert_eq!((found.connection.as_str(), found.response_bytes), ("9", 1200));
    }
}

#[test]
fn webpagetest_stamps_what_waited_for_a_connection_when_it_was_ready() {
    let shake = json!({
        "_connect_start": 150, "_connect_end": 170, "_ssl_start": 170, "_ssl_end": 195, "_protocol": "h2",
    });
    let waited = json!({"_load_start": 204, "_protocol": "h2"});
    let opener = || of_webpagetest(super::PAGE, shake.clone());
    let issues = |entries| -> Vec<f64> {
        first(&har("WebPagetest", 900.0, entries)).sent.iter().map(|each| each.issue_ms).collect()
    };
    assert_eq!(
        issues(vec![opener(), of_webpagetest("https://a.example/b.css", waited.clone())]),
        [150.0, 150.0]
    );
    // The connection of a redirect's target, or another one's, is under way when the hop ends at 170.
    for target in [shake.clone(), waited] {
        let to = json!({"_load_start": 100, "response": {"status": 302, "redirectURL": format!("{CSS}?q")}});
        let hop = of_webpagetest("https://b.example/", to);
        let entries = vec![opener(), hop, of_webpagetest(&format!("{CSS}?masked"), target)];
        assert_eq!(issues(entries), [100.0, 150.0, 170.0]);
    }
}

#[test]
fn a_wait_for_six_busy_connections_is_made_anew_and_any_other_is_the_browsers() {
    let issue = |number: usize, wait: u32| {
        let one = |n| entry(&format!("https://a.example/{n}.png"), 0.0, json!({"timings": {"wait": wait}}));
        let late = json!({"timings": {"blocked": 100, "_blocked_queueing": 100}});
        let late = entry("https://a.example/late.png", 0.0, late);
        recorded("WebInspector", (0..number).map(one).chain([late]).collect()).sent[number].issue_ms
    };
    assert_eq!(issue(6, 90), 0.0);
    assert_eq!(issue(3, 90), 100.0);
    assert_eq!(issue(6, 50), 100.0, "they had ended long before");
}

#[test]
fn what_opened_a_connection_waited_for_no_other() {
    let six = (0..6).map(|n| {
        entry(&format!("https://a.example/{n}"), 0.0, json!({"timings": {"wait": 100, "receive": 0}}))
    });
    let seventh = entry(CSS, 0.0, json!({"timings": {"connect": 5, "wait": 195, "receive": 0}}));
    let page = recorded("Playwright", six.chain([seventh]).collect());
    assert_eq!((page.sent[6].send_ms, page.sent[6].first_ms), (5.0, 200.0));
}

#[test]
fn a_queue_in_a_wait_is_taken_out() {
    let [one, two, three] = [100.0, 200.0, 300.0].map(|wait| vec![wait; 6]);
    let of = |parts: &[&[f64]]| parts.concat();
    let (own, none) = (json!({}), [1.0; 0]);
    let rows: Vec<(&str, Vec<f64>, Value, Vec<f64>)> = vec![
        ("Playwright", of(&[&one, &two, &three]), own.clone(), vec![100.0; 18]),
        ("Playwright", of(&[&one, &[190.0]]), own.clone(), of(&[&one, &[90.0]])),
        ("Playwright", of(&[&one, &none]), own.clone(), one.clone()),
        // Six or fewer are servers.
        ("Playwright", vec![100.0, 150.0, 200.0], own.clone(), vec![100.0, 150.0, 200.0]),
        ("Playwright", of(&[&one[..3], &two[..3]]), own.clone(), of(&[&one[..3], &two[..3]])),
        // No turn fits: more connections, or HTTP/2.
        ("Playwright", vec![100.0; 18], own.clone(), vec![100.0; 18]),
        // Shorter than any after its turn.
        ("Playwright", of(&[&one, &[150.0]]), own.clone(), of(&[&one, &[150.0]])),
        ("Playwright", of(&[&one, &two]), json!({"response": {"httpVersion": "h2"}}), of(&[&one, &two])),
        // Its queue is apart.
        ("Playwright", of(&[&one, &[200.0]]), json!({"timings": {"blocked": 4}}), of(&[&one, &[200.0]])),
        ("Playwright", of(&[&one, &[200.0]]), json!({"connection": "7"}), of(&[&one, &[200.0]])),
        // Sent when it begins.
        ("Charles Proxy", of(&[&one, &[200.0]]), own.clone(), of(&[&one, &[200.0]])),
        ("unheard of", of(&[&one, &[200.0, 260.0, 300.0]]), own, of(&[&one, &[100.0, 160.0, 200.0]])),
    ];
    for (creator, waits, fields, expected) in rows {
        let one = |(place, wait): (usize, &f64)| {
            let mut whole = entry(&format!("https://a.example/{place}.png"), 0.0, fields.clone());
            super::merge(&mut whole, json!({"timings": {"wait": wait, "receive": 0}}));
            whole
        };
        let page = recorded(creator, waits.iter().enumerate().map(one).collect());
        let mut found: Vec<_> =
            page.sent.iter().map(|each| (each.name.len(), each.name.clone(), each.wait_ms())).collect();
        found.sort_by(|one, other| one.partial_cmp(other).unwrap());
        let found: Vec<f64> = found.into_iter().map(|(.., wait)| wait).collect();
        assert_near(&found, &expected, &waits);
        let moved = waits.iter().zip(&expected).filter(|(one, other)| one != other).count();
        let says = format!("{moved} wait{} held the browser's queue", if moved == 1 { "" } else { "s" });
        assert_eq!(page.warnings.iter().any(|each| each.contains(&says)), moved > 0);
    }
}

#[test]
fn round_trips_are_the_least_spans_and_server_times_the_rest_of_waits() {
    let h3 = json!({"response": {"httpVersion": "h3"}, "timings": {"connect": 40, "ssl": 30, "wait": 80}});
    let page = recorded(
        "WebInspector",
        vec![
            entry(super::PAGE, 0.0, json!({"timings": {"connect": 30, "wait": 80}})),
            entry("https://b.example/x.png", 200.0, json!({"timings": {"connect": 0.3, "wait": 44}})),
            entry("https://b.example/y.png", 300.0, json!({"timings": {"wait": 54}})),
            entry("https://b.example/z.png", 400.0, json!({"timings": {"wait": 5}, "_was_pushed": 1})),
            entry("https://c.example/", 500.0, h3), // its whole handshake is TLS
            entry("https://d.example/", 600.0, json!({"timings": {"wait": 0}})), // as other hosts
        ],
    );
    let rtt_ms = [("a.example", 30.0), ("b.example", 44.0), ("c.example", 30.0), ("d.example", 30.0)];
    assert_eq!(page.rtt_ms, rtt_ms.map(|(host, rtt)| (host.to_owned(), rtt)));
    assert_near(&page.server_ms, &[50.0, 0.0, 10.0, 0.0, 50.0, 0.0], &"server");
    let alone = recorded("WebInspector", vec![entry(CSS, 0.0, json!({"timings": {"wait": 0}}))]);
    assert_eq!(alone.rtt_ms[0].1, 20.0);
}

#[test]
fn of_more_than_six_streams_the_server_took_the_lower_quartile() {
    let server = |number: u32, version: &str| {
        let one = |place: u32| {
            let fields = json!({"response": {"httpVersion": version}, "timings": {"blocked": 0.1, "wait": 50 + 10 * place}});
            entry(&format!("https://a.example/{place}"), 0.0, fields)
        };
        recorded("WebInspector", (0..number).map(one).collect()).server_ms
    };
    assert_near(&server(7, "h2"), &[10.0; 7], &"seven");
    assert_near(&server(6, "h2"), &[0.0, 10.0, 20.0, 30.0, 40.0, 50.0], &"six");
    assert_near(&server(7, "http/1.1"), &[0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0], &"without streams");
}

#[test]
fn hosts_on_one_multiplexed_connection_have_one_origin() {
    let shared = json!({"connection": "7", "response": {"httpVersion": "h2"}});
    let page = recorded(
        "WebInspector",
        vec![
            entry(super::PAGE, 0.0, shared.clone()),
            entry("https://b.example/x.png", 100.0, shared),
            entry("https://c.example/x.png", 100.0, json!({})),
        ],
    );
    assert_eq!(page.origins, ["a.example", "a.example", "c.example"]);
}

#[test]
fn requests_that_overlap_on_a_connection_ride_http_2() {
    let shared = json!({"connection": "7"});
    let at = |start| entry("https://a.example/x.png", start, shared.clone());
    let protocols = |creator, second| {
        recorded(creator, vec![at(0.0), at(second)]).sent.iter().map(|each| each.protocol).collect::<Vec<_>>()
    };
    assert_eq!(protocols("WebInspector", 30.0), [Protocol::H2; 2]);
    assert_eq!(protocols("WebInspector", 60.0), [Protocol::H1; 2]);
    assert_eq!(protocols("Playwright", 30.0), [Protocol::H1; 2]);
}

#[test]
fn the_rate_is_of_the_busiest_fifth_of_a_second() {
    let large = json!({"response": {"_transferSize": 100_000}, "timings": {"receive": 400}});
    let page = recorded("WebInspector", vec![document(), entry(CSS, 100.0, large)]);
    // Half of 800 kbit in 0.2 s.
    assert_near(&[page.rate_bps], &[2e6], &"rate");
}
