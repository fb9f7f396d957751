//! Facts that a log knows of all its requests.

use super::*;

/// The facts of a log as JSON.
fn facts(format: LogFormat, text: &str, options: LogOptions) -> serde_json::Value {
    serde_json::to_value(&read(format, text, options).1.facts).unwrap()
}

fn part(requests: u64, bytes: u64) -> serde_json::Value {
    serde_json::json!({"requests": requests, "bytes": bytes})
}

#[test]
fn requests_count_by_scheme_version_and_method_also_those_left_out() {
    let text = [
        "1000000000.500 250 10.0.0.1 TCP_MISS/200 1000 GET http://a.example/x - DIRECT/192.0.2.1 text/html",
        "1000000000.500 250 10.0.0.1 TCP_MISS/200 200 POST https://a.example/x - DIRECT/192.0.2.1 text/html",
        "1000000000.500 250 10.0.0.1 TCP_HIT/200 30 GET http://a.example/x - NONE/- text/html",
        "1000000000.500 9000 10.0.0.1 TCP_TUNNEL/200 4000 CONNECT a.example:443 - DIRECT/192.0.2.1 -",
        "1000000000.500 0 10.0.0.1 UDP_MISS/000 50 ICP_QUERY http://a.example/x - NONE/- -",
    ]
    .join("\n");
    let without = LogOptions { tunnels: false, ..LogOptions::default() };
    let found = facts(LogFormat::SQUID, &text, without);
    assert_eq!(found["schemes"], serde_json::json!({"http": part(2, 1030), "https": part(2, 4200)}));
    assert_eq!(
        found["http_versions"],
        serde_json::json!({"unknown": part(4, 5230)}),
        "the native format has none"
    );
    let methods = serde_json::json!({"GET": part(2, 1030), "POST": part(1, 200), "CONNECT": part(1, 4000)});
    assert_eq!(found["methods"], methods);
    assert_eq!(found["tunnels"], part(1, 4000));
    assert_eq!(found["bytes_logged"], 5230, "a question between caches is no request of HTTP");
    assert_eq!(found["dropped_bytes"], serde_json::json!({"hit": 30, "connect-tunnel": 4000}));
    assert_eq!(found["software"], "Squid");
    let kept = facts(LogFormat::SQUID, &text, LogOptions::default());
    assert_eq!((&kept["tunnels"], &kept["dropped_bytes"]), (&part(1, 4000), &serde_json::json!({"hit": 30})));
}

#[test]
fn fields_of_all_formats_say_scheme_and_version() {
    let nginx = "[25/Oct/2015:04:11:25 +0100] \"GET / HTTP/2.0\" 200 100 7";
    let base = "[$time_local] \"$request\" $status $bytes_sent $request_length";
    let w3c = "#Software: Microsoft Internet Information Services 10.0\n#Fields: date time cs-method cs-uri-stem s-port \
               cs-version sc-status sc-bytes cs-bytes\n2015-10-25 04:11:25 GET /x 443 HTTP/1.1 200 100 7";
    let caddy = r#"{"ts":1445742685.5,"request":{"remote_ip":"10.0.0.3","proto":"HTTP/3.0","method":"GET","uri":"/","host":"a","tls":{"version":772}},"status":200,"size":107}"#;
    let custom = |more: &str| LogFormat::Custom(format!("{base} {more}"));
    let cases = [
        (custom("$scheme"), format!("{nginx} https"), "https", "2", Some("nginx")),
        (custom("$https $scheme"), format!("{nginx} on http"), "https", "2", Some("nginx")),
        (
            custom("$scheme \"$http_x_forwarded_proto\""),
            format!("{nginx} http \"https, http\""),
            "https",
            "2",
            Some("nginx"),
        ),
        (
            custom("$scheme \"$http_x_forwarded_proto\""),
            format!("{nginx} http \"-\""),
            "http",
            "2",
            Some("nginx"),
        ),
        (custom("$ssl_protocol"), format!("{nginx} TLSv1.3"), "https", "2", Some("nginx")),
        (custom("$ssl_protocol"), format!("{nginx} -"), "http", "2", Some("nginx")),
        (custom("$server_port"), format!("{nginx} 8081"), "unknown", "2", Some("nginx")),
        (LogFormat::W3C, w3c.into(), "https", "1.1", Some("Microsoft Internet Information Services 10.0")),
        (LogFormat::JSON, caddy.into(), "https", "3", Some("Caddy")),
        (LogFormat::JSON, caddy.replace(",\"tls\":{\"version\":772}", ""), "http", "3", Some("Caddy")),
        (LogFormat::CLF, clf("\"GET http://a.example/x HTTP/1.0\" 200 107"), "http", "1.0", None),
        (LogFormat::CLF, clf("\"GET /x\" 200 107"), "unknown", "unknown", None),
    ];
    for (format, text, scheme, version, software) in cases {
        let found = facts(format, &text, any_unreadable());
        assert_eq!(found["schemes"], serde_json::json!({scheme: part(1, 107)}), "{text}");
        assert_eq!(found["http_versions"], serde_json::json!({version: part(1, 107)}), "{text}");
        assert_eq!(found["software"].as_str(), software, "{text}");
    }
}

#[test]
fn a_connect_in_a_request_line_is_a_tunnel_where_it_was_accepted() {
    let text = clf("\"CONNECT a.example:443 HTTP/1.1\" 200 5000")
        + "\n"
        + &clf("\"CONNECT b:443 HTTP/1.1\" 405 300");
    let options = LogOptions { tunnels: false, ..LogOptions::default() };
    let (batch, report) = read(LogFormat::CLF, &text, options);
    assert_eq!(batch.response_bytes, [300 + LOG_HEADER_BYTES as i64]);
    assert_eq!(report.dropped, [(Reason::ConnectTunnel, 1)].into());
    let found = serde_json::to_value(&report.facts).unwrap();
    assert_eq!(found["tunnels"], part(1, 5000));
    assert_eq!(found["schemes"], serde_json::json!({"https": part(1, 5000), "unknown": part(1, 300)}));
    assert_eq!(found["methods"], serde_json::json!({"CONNECT": part(2, 5300)}));
    assert_eq!(batch.tls, [-1]);
}

#[test]
fn a_body_that_was_not_sent_has_no_bytes() {
    let text = ["HEAD /x HTTP/1.1\" 200 9000", "GET /x HTTP/1.1\" 304 9000", "GET /x HTTP/1.1\" 200 700"]
        .map(|rest| clf(&format!("\"{rest}")));
    let found = facts(LogFormat::CLF, &text.join("\n"), LogOptions::default());
    assert_eq!(found["bytes_logged"], 700);
}

#[test]
fn what_is_no_request_of_http_counts_nowhere() {
    let text = [
        clf("\"\\x16\\x03\\x01\" 400 226"),
        clf("\"<BADREQ>\" 400 0"),
        clf("\"<BADREQ>\" 0 0"),
        String::new(),
        clf("\"GET /x HTTP/1.1\" nonsense 5"),
    ]
    .join("\n");
    let found = facts(LogFormat::CLF, &text, any_unreadable());
    assert_eq!((&found["bytes_logged"], &found["methods"]), (&0.into(), &serde_json::json!({})));
}
