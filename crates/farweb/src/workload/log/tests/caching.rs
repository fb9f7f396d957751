//! Treatment by caches, as lines of logs say it.

use super::*;
use crate::workload::{Caching, Method};

/// Rule and treatment of each line of nginx: request, status, `Cache-Control`, `Set-Cookie`, `Cookie`, user.
fn treated(lines: &[&str], bypass: &str) -> Vec<(Method, Caching)> {
    let format = "$remote_user [$time_local] \"$request\" $status $bytes_sent \"$sent_http_cache_control\" \
                  \"$sent_http_set_cookie\" \"$http_cookie\"";
    let line = |rest: &&str| match rest.split_once(": ") {
        Some((user, rest)) => format!("{user} [25/Oct/2015:04:11:25 +0100] {rest}"),
        None => format!("- [25/Oct/2015:04:11:25 +0100] {rest}"),
    };
    let text = lines.iter().map(line).collect::<Vec<_>>().join("\n");
    let options =
        LogOptions { keep: Some(Keep::All), bypass: bypass.parse().unwrap(), ..LogOptions::default() };
    let (batch, report) = read(LogFormat::Custom(format.into()), &text, options);
    assert!(report.treated.has_cache_control);
    batch.method.into_iter().zip(batch.caching).collect()
}

#[test]
fn method_status_and_cache_control_decide_as_rfc_9111_has_them() {
    use Caching::{Bypass, Invalidate, Serve, Store};
    use Method::{Connect, Delete, Get, Head, Options, Other, Post};
    let cases = [
        ("\"GET /a HTTP/1.1\" 200 900 \"-\" \"-\" \"-\"", Get, Store),
        ("\"GET /a?b HTTP/1.1\" 200 900 \"-\" \"sid=1\" \"sid=1\"", Get, Store),
        ("\"HEAD /a HTTP/1.1\" 200 900 \"-\" \"-\" \"-\"", Head, Serve),
        ("\"HEAD /a HTTP/1.1\" 200 900 \"no-store\" \"-\" \"-\"", Head, Bypass),
        ("\"POST /a HTTP/1.1\" 200 900 \"max-age=60\" \"-\" \"-\"", Post, Invalidate),
        ("\"POST /a HTTP/1.1\" 500 900 \"-\" \"-\" \"-\"", Post, Bypass),
        ("\"DELETE /a HTTP/1.1\" 303 900 \"-\" \"-\" \"-\"", Delete, Invalidate),
        ("\"REPORT /a HTTP/1.1\" 207 900 \"-\" \"-\" \"-\"", Other, Invalidate),
        ("\"OPTIONS /a HTTP/1.1\" 200 900 \"-\" \"-\" \"-\"", Options, Bypass),
        ("\"GET /a HTTP/1.1\" 206 900 \"max-age=60\" \"-\" \"-\"", Get, Serve),
        ("\"GET /a HTTP/1.1\" 304 900 \"-\" \"-\" \"-\"", Get, Serve),
        ("\"GET /a HTTP/1.1\" 404 900 \"-\" \"-\" \"-\"", Get, Store),
        ("\"GET /a HTTP/1.1\" 302 900 \"-\" \"-\" \"-\"", Get, Serve),
        ("\"GET /a HTTP/1.1\" 302 900 \"max-age=60\" \"-\" \"-\"", Get, Store),
        ("\"GET /a HTTP/1.1\" 500 900 \"-\" \"-\" \"-\"", Get, Serve),
        ("\"GET /a HTTP/1.1\" 200 900 \"private, max-age=60\" \"-\" \"-\"", Get, Bypass),
        ("\"GET /a HTTP/1.1\" 200 900 \"no-cache\" \"-\" \"-\"", Get, Bypass),
        ("\"GET /a HTTP/1.1\" 200 900 \"max-age=0\" \"-\" \"-\"", Get, Bypass),
        ("\"GET /a HTTP/1.1\" 200 900 \"max-age=0, s-maxage=9\" \"-\" \"-\"", Get, Store),
        ("ann: \"GET /a HTTP/1.1\" 200 900 \"-\" \"-\" \"-\"", Get, Bypass),
        ("ann: \"GET /a HTTP/1.1\" 200 900 \"public\" \"-\" \"-\"", Get, Store),
        ("\"CONNECT a.example:443 HTTP/1.1\" 200 900 \"-\" \"-\" \"-\"", Connect, Bypass),
        ("\"GET /socket HTTP/1.1\" 101 900 \"-\" \"-\" \"-\"", Connect, Bypass),
        ("\"CONNECT a.example:443 HTTP/1.1\" 405 900 \"-\" \"-\" \"-\"", Other, Bypass),
    ];
    let found = treated(&cases.map(|(line, ..)| line), "");
    for ((line, method, caching), found) in cases.into_iter().zip(found) {
        assert_eq!(found, (method, caching), "{line}");
    }
}

#[test]
fn cookies_and_queries_bypass_where_that_is_asked_for() {
    let lines = [
        "\"GET /a HTTP/1.1\" 200 900 \"-\" \"-\" \"-\"",
        "\"GET /a?b HTTP/1.1\" 200 900 \"-\" \"-\" \"-\"",
        "\"GET /a HTTP/1.1\" 200 900 \"-\" \"sid=1\" \"-\"",
        "\"GET /a HTTP/1.1\" 200 900 \"-\" \"-\" \"sid=1\"",
    ];
    let bypassed = |bypass: &str| {
        let found = treated(&lines, bypass);
        (0..4).filter(|line| found[*line].1 == Caching::Bypass).collect::<Vec<_>>()
    };
    assert_eq!(bypassed(""), [0; 0]);
    assert_eq!(bypassed("query"), [1]);
    assert_eq!(bypassed("set-cookie"), [2]);
    assert_eq!(bypassed("cookie, query"), [1, 3]);
}

#[test]
fn cookies_are_refused_where_no_line_has_them() {
    let asked = |bypass: &str| LogOptions { bypass: bypass.parse().unwrap(), ..LogOptions::default() };
    let line = clf("\"GET /x?y HTTP/1.1\" 200 1000");
    for (bypass, name) in [("cookie", "Cookie"), ("query,set-cookie", "Set-Cookie")] {
        let said = error(LogFormat::CLF, line.as_bytes(), asked(bypass));
        let word = bypass.trim_start_matches("query,");
        assert_eq!(said, format!("access.log: --bypass {word}: its lines have no {name}"));
    }
    assert_eq!(error(LogFormat::CLF, line.as_bytes(), asked("query")), "no error");
}

#[test]
fn one_user_for_the_whole_log_is_nobody() {
    let line = |user: &str, status: u64| {
        format!("192.0.2.1 - {user} [25/Oct/2015:04:11:25 +0100] \"GET /a HTTP/1.1\" {status} 900\n")
    };
    let (app, nobody) = (line("app", 200), line("-", 200));
    let cases = [
        (app.repeat(3), 3),
        (line("-", 401).repeat(2) + &app.repeat(3), 3),
        (app.repeat(99) + &nobody, 100),
        (app.repeat(98) + &nobody.repeat(2), 2),
        (app.repeat(99) + &line("ann", 200), 99),
        (app.clone() + &line("ann", 200), 0),
        (app, 0),
    ];
    for (text, storable) in cases {
        let (batch, report) = read(LogFormat::CLF, &text, LogOptions::default());
        let stored = batch.caching.iter().filter(|caching| **caching == Caching::Store).count();
        assert_eq!(stored, storable, "{text}");
        let is_said = report.assumptions.iter().any(|said| said.contains("name the same user"));
        assert_eq!(is_said, storable > 2, "{text}");
    }
}

#[test]
fn a_request_that_was_given_up_is_served_and_not_stored() {
    use Caching::{Bypass, Invalidate, Serve, Store};
    let line = |code: &str, method: &str| {
        format!("1000000000.500 250 10.0.0.1 {code} 1000 {method} http://a.example/x - DIRECT/192.0.2.1 -")
    };
    let cases = [
        ("TCP_MISS/200", "GET", Store),
        ("TCP_MISS_ABORTED/200", "GET", Serve),
        ("TCP_MISS_TIMEDOUT/200", "GET", Serve),
        ("TCP_MISS_ABORTED/404", "GET", Serve),
        ("TCP_MISS_ABORTED/206", "GET", Serve),
        ("TCP_MISS_ABORTED/200", "POST", Invalidate),
        ("TCP_TUNNEL_ABORTED/200", "CONNECT", Bypass),
    ];
    for (code, method, caching) in cases {
        let (batch, _) = read(LogFormat::SQUID, &line(code, method), LogOptions::default());
        assert_eq!(batch.caching, [caching], "{code} {method}");
    }
    let (_, report) = read(LogFormat::SQUID, &line("TCP_MISS_ABORTED/200", "GET"), LogOptions::default());
    assert_eq!(report.treated.caching.into_keys().collect::<Vec<_>>(), [Rule::GivenUp]);
}

/// The user of a proxy is none of the server.
#[test]
fn requests_are_counted_by_rule_with_what_could_have_forbidden_to_store() {
    let text = [
        "1000000000.500 250 10.0.0.1 TCP_MISS/200 1000 GET http://a.example/x?y ann DIRECT/192.0.2.1 text/html",
        "1000000000.500 250 10.0.0.1 TCP_MISS/200 200 POST http://a.example/x - DIRECT/192.0.2.1 text/html",
        "1000000000.500 250 10.0.0.1 TCP_MISS/403 30 POST http://a.example/x - DIRECT/192.0.2.1 text/html",
        "1000000000.500 250 10.0.0.1 TCP_HIT/200 30 GET http://a.example/x - NONE/- text/html",
    ]
    .join("\n");
    let (_, report) = read(LogFormat::SQUID, &text, LogOptions::default());
    let found = serde_json::to_value(&report).unwrap();
    let part = |bytes: u64| serde_json::json!({"requests": 1, "bytes": bytes});
    let expected = serde_json::json!({
        "storable": part(1000), "unsafe-method": part(200), "unsafe-method-failed": part(30),
    });
    assert_eq!(found["caching"], expected, "of the requests of the table");
    assert_eq!(found["storable_with"], serde_json::json!({"query": 1, "cookie": 0, "set-cookie": 0}));
    assert_eq!(found["has_cache_control"], false);
    assert_eq!(found["errors"], part(30));
}

/// A redirect from http to https is no copy of its target.
#[test]
fn one_path_by_two_schemes_is_two_objects() {
    let line = |port: &str| format!("[10/May/2024:10:00:00 +0000] \"GET /a HTTP/1.1\" 200 812 {port}\n");
    let ports = ["80", "443", "443", "8080"];
    for format in ["$host ", ""]
        .map(|host| format!("{host}[$time_local] \"$request\" $status $bytes_sent $server_port"))
    {
        let host = if format.starts_with("$host") { "a.example " } else { "" };
        let text: String = ports.map(|port| format!("{host}{}", line(port))).concat();
        let objects = read(LogFormat::Custom(format), &text, LogOptions::default()).0.object;
        assert_eq!(
            objects.iter().map(|object| *object == objects[0]).collect::<Vec<_>>(),
            [true, false, false, true]
        );
        assert_eq!(objects[1], objects[2]);
    }
}
