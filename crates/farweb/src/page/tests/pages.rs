//! A page load as recorded: its document, time zero, onLoad, what was left out, and what a file cannot say.

use serde_json::{Value, json};

use super::{CSS, PAGE, assert_near, at, document, entry, first, har, read, recorded};

fn hop(path: &str, start_ms: f64, to: &str) -> Value {
    let response = json!({"status": 302, "redirectURL": to, "bodySize": 0});
    entry(&format!("{PAGE}{path}"), start_ms, json!({"response": response}))
}

#[test]
fn the_document_is_its_last_reload_before_onload() {
    let entries = vec![entry(PAGE, 0.0, json!({"response": {"status": 202}})), entry(PAGE, 500.0, json!({}))];
    let page = first(&har("WebInspector", 900.0, entries.clone()));
    assert_eq!((page.root, page.url.as_str()), (1, PAGE));
    assert_eq!(first(&har("WebInspector", 520.0, entries)).root, 0, "it was asked for again later");
}

#[test]
fn a_page_is_called_by_its_document_or_else_by_its_title() {
    let called = |title: &str, entries| {
        let mut content = har("WebInspector", 900.0, entries);
        content["log"]["pages"][0]["title"] = title.into();
        first(&content).url
    };
    assert_eq!(called("https://b.example/", vec![document()]), "https://b.example/");
    assert_eq!(called("A page", vec![document()]), PAGE);
    assert_eq!(called("A page", vec![entry(CSS, 0.0, json!({}))]), "A page");
    assert_eq!(called(" ", vec![entry(CSS, 0.0, json!({}))]), CSS);
    let cached = entry(PAGE, 0.0, json!({"_fromCache": "disk"}));
    assert_eq!(called("A page", vec![cached, entry(CSS, 9.0, json!({}))]), PAGE);
}

#[test]
fn time_begins_with_the_first_request_or_with_the_page_before_it() {
    let page = |start| entry(PAGE, start, json!({}));
    let css = |start| entry(CSS, start, json!({}));
    let ping = |start| entry("https://a.example/bye", start, json!({"_resourceType": "ping"}));
    let queued = entry(PAGE, 5.0, json!({"timings": {"_queued": 40}}));
    let rows: Vec<(Vec<Value>, &[f64], f64)> = vec![
        (vec![page(0.0), css(70.0)], &[0.0, 70.0], 500.0),
        (vec![page(30.0), css(100.0)], &[30.0, 100.0], 500.0), // the browser began before
        (vec![hop("in", -420.0, PAGE), page(-280.0), css(22.0)], &[0.0, 140.0, 442.0], 920.0),
        (vec![hop("in", -90.0, "login"), hop("login", 0.0, PAGE), page(70.0)], &[0.0, 90.0, 160.0], 590.0),
        (vec![css(60.0), page(-10.0)], &[0.0, 70.0], 510.0), // out of order
        (vec![ping(-50.0), page(0.0), css(70.0)], &[0.0, 0.0, 70.0], 500.0), // of the page before
        (vec![entry("data:x", -70.0, json!({})), page(0.0), css(70.0)], &[0.0, 70.0], 500.0), // no request
        (vec![page(-0.5), css(60.0)], &[0.0, 60.5], 500.5),
        (vec![hop("in", -60_000.0, PAGE), page(0.0)], &[0.0, 60_000.0], 60_500.0),
        (vec![queued, css(70.0)], &[5.0, 70.0], 500.0), // a queue begins none
    ];
    for (entries, issues, load) in rows {
        let page = first(&har("chrome-har", 500.0, entries));
        assert_near(&page.sent.iter().map(|each| each.issue_ms).collect::<Vec<_>>(), issues, &issues);
        assert_near(&[page.load_ms], &[load], &issues);
    }
}

#[test]
fn a_page_with_another_clock_begins_with_its_first_entry() {
    let rows = [
        (600.0, 600.0, 0.0, 200.0),
        (500.0, 600.0, 100.0, 200.0),
        (600.0, 180.0, 0.0, 620.0),
        (-9_000_000.0, 600.0, 0.0, 200.0), // hours behind
        (9_000_000.0, 600.0, 0.0, 200.0),
    ];
    for (page_ms, first_ms, issue, load) in rows {
        let entries = [first_ms, 700.0].map(|start| entry("https://a.example/x", start, json!({})));
        let mut content = har("WebInspector", 200.0, entries.to_vec());
        content["log"]["pages"][0]["startedDateTime"] = at(page_ms).into();
        let page = first(&content);
        assert_near(&[page.sent[0].issue_ms, page.load_ms], &[issue, load], &page_ms);
    }
}

#[test]
fn a_file_without_pages_begins_with_its_first_request() {
    // And not with the tunnel in front of it, as proxies write one.
    let tunnel = entry("http://a.example:443/", -800.0, json!({"request": {"method": "CONNECT"}}));
    let mut content = har("Charles Proxy", -1.0, vec![tunnel, document(), entry(CSS, 70.0, json!({}))]);
    content["log"].as_object_mut().unwrap().remove("pages");
    for each in content["log"]["entries"].as_array_mut().unwrap() {
        each.as_object_mut().unwrap().remove("pageref");
    }
    let page = first(&content);
    assert_near(&page.sent.iter().map(|each| each.issue_ms).collect::<Vec<_>>(), &[0.0, 70.0], &"issues");
    assert_near(&[page.load_ms], &[130.0], &"the last end");
    let says = "it has no pages, and is taken for one load; it has no onLoad, and the end of the last request stands for it";
    assert_eq!(page.warnings[0], says);
}

#[test]
fn onload_waits_for_what_began_and_ended_before_it() {
    let ping = entry("https://a.example/beacon", 70.0, json!({"_resourceType": "ping"}));
    let late = entry("https://a.example/late.png", 150.0, json!({}));
    let page = first(&har("WebInspector", 180.0, vec![document(), ping, late]));
    assert_eq!(page.gates, [true, false, false]);
    assert_near(&[page.tail_ms()], &[120.0], &"tail");
    assert_eq!((page.response_bytes(), page.gating_bytes()), (3900, 1300));
}

#[test]
fn dom_content_loaded_is_a_time_before_onload_or_unknown() {
    for (given, dom_ms) in [(300, Some(400.0)), (499, Some(599.0)), (501, None), (0, None), (-1, None)] {
        let entries = vec![entry(PAGE, -100.0, json!({})), entry(CSS, 50.0, json!({}))];
        let mut content = har("WebInspector", 500.0, entries);
        content["log"]["pages"][0]["pageTimings"]["onContentLoad"] = given.into();
        assert_eq!(first(&content).dom_ms.map(f64::round), dom_ms, "{given}");
    }
}

#[test]
fn what_a_file_cannot_say_is_a_sentence() {
    let one = |fields| vec![entry(PAGE, 0.0, fields)];
    let again = |fields| vec![document(), entry(CSS, 0.0, fields)];
    let none = json!({"timings": {"wait": null, "receive": null}, "time": null});
    let near = json!({"timings": {"connect": 1, "wait": 80}});
    let far = entry("https://b.example/x.png", 70.0, json!({"timings": {"wait": 500}}));
    let chrome = "WebInspector";
    let rows = [
        (chrome, -1.0, one(json!({})), "it has no onLoad, and the end of the last request stands for it"),
        (chrome, 4e6, one(json!({})), "its onLoad, 67 min, is beyond an hour, and the end"),
        (chrome, 10.0, one(json!({})), "its onLoad is before the end of any request"),
        (chrome, 100.0, one(json!({})), "it names no initiators"),
        (chrome, -1.0, one(none), "1 request without a time, taken for 0"),
        (
            chrome,
            -1.0,
            one(json!({"response": {"bodySize": -1, "content": {}}})),
            "1 request without a size, taken for 0",
        ),
        ("chrome-har", -1.0, one(json!({"_was_pushed": 1})), "1 response came by server push"),
        (chrome, -1.0, again(json!({"_fromCache": "memory"})), "warm cache"),
        ("WebPagetest", -1.0, one(json!({"_cached": 1})), "warm cache"),
        (chrome, -1.0, vec![document(), entry(CSS, 5_000.0, json!({}))], "it never filled its line"),
        (
            chrome,
            -1.0,
            [one(near.clone()), one(near.clone()), one(near)].concat(),
            "a proxy near the browser",
        ),
        (
            chrome,
            -1.0,
            one(json!({"timings": {"wait": "NaN"}})),
            "1 request with a time that is no number or beyond",
        ),
        (chrome, -1.0, vec![document(), far], "its hosts are at different distances"),
    ];
    for (creator, onload, entries, says) in rows {
        let page = first(&har(creator, onload, entries));
        assert!(page.warnings.iter().any(|each| each.contains(says)), "{says}: {:?}", page.warnings);
    }
}

#[test]
fn a_later_view_is_known_by_the_id_of_its_page() {
    let is_repeat = |id: &str, creator| {
        let mut content = har(creator, 100.0, vec![entry(PAGE, 0.0, json!({"pageref": id}))]);
        content["log"]["pages"][0]["id"] = id.into();
        first(&content).is_repeat
    };
    assert!(is_repeat("page_1_1", "WebPagetest") && is_repeat("page_12_1_2", "WebPagetest"));
    assert!(!is_repeat("page_1_0", "WebPagetest") && !is_repeat("page_1_11", "WebPagetest"));
    assert!(!is_repeat("page_1_1", "WebInspector"));
}

#[test]
fn entries_left_out_are_counted_beside_the_answer() {
    let gone =
        ["data:x", "blob:x", "https://[::1/", "wss://a.example/live"].map(|url| entry(url, 0.0, json!({})));
    let cached = entry(CSS, 0.0, json!({"_fromCache": "disk"}));
    let page = recorded("WebInspector", [vec![document()], gone.to_vec(), vec![cached]].concat());
    let says = "Left out: 1 no http (data), 1 no http (blob), 1 no http (unreadable), 1 web socket, 1 cache.";
    assert_eq!(page.reservations()[0], says);
}

#[test]
fn an_entry_that_cannot_be_read_costs_no_other() {
    let start = |time: &str| entry(PAGE, 0.0, json!({"startedDateTime": time}));
    for odd in [json!(5), entry("", 0.0, json!({})), start(""), start("soon"), start("0001-01-01T00:00:00Z")]
    {
        let page = recorded("WebInspector", vec![document(), odd, entry(CSS, 70.0, json!({}))]);
        assert_eq!((page.sent.len(), page.dropped), (2, vec![("unreadable".to_owned(), 1)]));
    }
}

#[test]
fn entries_of_no_page_are_counted_in_the_page_of_their_time() {
    let entries =
        vec![document(), entry(CSS, 100.0, json!({})), entry(PAGE, 5_000.0, json!({"pageref": "q"}))];
    let mut content = har("WebInspector", 500.0, entries);
    let second = json!({"id": "q", "startedDateTime": at(5_000.0), "pageTimings": {"onLoad": 500}});
    content["log"]["pages"].as_array_mut().unwrap().push(second);
    let counted = |content: &Value| -> Vec<(usize, u64)> {
        let of = |page: &super::Recording| (page.sent.len(), page.dropped.iter().map(|(_, n)| n).sum());
        read(content).iter().map(|page| of(page.as_ref().unwrap())).collect()
    };
    content["log"]["entries"][1].as_object_mut().unwrap().remove("pageref");
    assert_eq!(counted(&content), [(1, 1), (1, 0)]);
    // A file that names no page anywhere: what is before all pages is of the first.
    content["log"]["entries"].as_array_mut().unwrap().push(entry(CSS, -50.0, json!({})));
    for each in content["log"]["entries"].as_array_mut().unwrap() {
        each.as_object_mut().unwrap().remove("pageref");
    }
    assert_eq!(counted(&content), [(3, 0), (1, 0)]);
}

#[test]
fn a_page_says_what_has_no_tls() {
    let says = |urls: [&str; 2]| {
        let page = recorded("WebInspector", urls.map(|url| entry(url, 0.0, json!({}))).to_vec());
        (page.has_tls(), page.in_the_clear())
    };
    let (https, http) = ("https://a.example/", "HTTP://a.example/");
    assert_eq!(says([https, https]), (true, None));
    assert_eq!(says([http, https]), (true, Some("1 of 2 requests is http, without TLS.".into())));
    assert_eq!(says([http, http]), (false, Some("Its URLs are http: no TLS, with either protocol.".into())));
}

#[test]
fn farwebs_own_files_say_what_waited_for_what() {
    let own = json!({"_parents": "0@end", "_dependency": "initiator", "_server_ms": 7});
    let page = recorded("farweb", vec![document(), entry(CSS, 70.0, own.clone())]);
    let stated = page.sent[1].stated.clone().unwrap();
    assert_eq!((stated.parents.as_str(), stated.dependency.as_str()), ("0@end", "initiator"));
    assert_eq!(page.server_ms, [0.0, 7.0]);
    assert_eq!(recorded("WebInspector", vec![entry(CSS, 70.0, own)]).sent[0].stated, None);
}
