//! Lines of Squid: requests, lines left out, and errors.

use insta::assert_snapshot;

use super::*;

/// [`MISS`] with another code and status, method and URL, hierarchy.
pub(super) fn squid(result: &str, request: &str, hierarchy: &str) -> String {
    format!("1000000000.500 250 10.0.0.1 {result} 1000 {request} - {hierarchy} text/html")
}

#[test]
fn a_miss_becomes_a_request() {
    let options = LogOptions { rtt: Duration::from_millis(100), ..LogOptions::default() };
    let (batch, report) = read(LogFormat::SQUID, MISS, options);
    assert_eq!(batch.start_s, [0.25]);
    assert_eq!(batch.host.word(0), Some("a.example"));
    assert_eq!(batch.request_bytes, [3 + 1 + 2 + 1 + 10 + 8 + 9 + 205 + 2]);
    assert_eq!(batch.response_bytes, [1000]);
    assert_eq!(batch.server_s, [0.15]);
    assert_eq!(batch.object, [ObjectId::of_bytes(b"http://A.example:8080/x").get()]);
    assert_eq!((report.lines, report.requests, report.sorted), (1, 1, true));
    assert_eq!((report.origin_unix_s, report.first_start_s), (Some(1_000_000_000), Some(0.25)));
    assert_eq!((report.request_bytes, report.response_bytes), (241, 1000));
}

#[test]
fn options_override_what_is_assumed() {
    let slow =
        LogOptions { rtt: Duration::from_millis(300), request_bytes: Some(400), ..LogOptions::default() };
    let (batch, report) = read(LogFormat::SQUID, MISS, slow);
    assert_eq!((batch.server_s[0], batch.request_bytes[0]), (0.0, 400), "a server time is never negative");
    assert!(report.assumptions[0].contains("400 B"));
    let without = LogOptions { server_time: ServerTime::None, ..LogOptions::default() };
    let (batch, _) = read(LogFormat::SQUID, MISS, without);
    assert!(batch.server_s[0].is_nan());
    for (max_unreadable, request_bytes) in [(f64::NAN, None), (1.5, None), (0.0, Some(0))] {
        let options = LogOptions { max_unreadable, request_bytes, ..LogOptions::default() };
        assert!(error(LogFormat::SQUID, b"", options).contains("write a "));
    }
}

#[test]
fn each_reason_for_which_a_line_of_squid_is_dropped() {
    let get = "GET http://a.example/";
    let lines = [
        squid("TCP_MISS/200", get, "DIRECT/192.0.2.1"),
        squid("TCP_MISS/304", get, "FIRST_UP_PARENT/parent.example"),
        squid("TCP_REFRESH_MISS/200", get, "DIRECT/192.0.2.1"),
        squid("TCP_REFRESH_MODIFIED/200", get, "HIER_DIRECT/192.0.2.1"),
        squid("TCP_CLIENT_REFRESH_MISS/200", get, "TIMEOUT_DIRECT/192.0.2.1"),
        squid("TCP_SWAPFAIL_MISS/200", get, "DIRECT/192.0.2.1"),
        squid("TCP_HIT/200", get, "NONE/-"),
        squid("TCP_MEM_HIT/200", get, "HIER_NONE/-"),
        squid("TCP_IMS_HIT/304", get, "NONE/-"),
        squid("TCP_NEGATIVE_HIT/200", get, "NONE/-"),
        squid("TCP_REF_FAIL_HIT/200", get, "DIRECT/192.0.2.1"),
        squid("TCP_REFRESH_FAIL_OLD/200", get, "HIER_DIRECT/192.0.2.1"),
        squid("TCP_REFRESH_HIT/200", get, "DIRECT/192.0.2.1"),
        squid("TCP_REFRESH_HIT/304", get, "DIRECT/192.0.2.1"),
        squid("TCP_REFRESH_UNMODIFIED/200", get, "HIER_DIRECT/192.0.2.1"),
        squid("UDP_HIT/000", "ICP_QUERY http://a.example/", "NONE/-"),
        squid("TCP_DENIED/407", get, "NONE/-"),
        squid("TCP_MISS/000", get, "DIRECT/192.0.2.1"),
        squid("TCP_MISS_ABORTED/200", get, "HIER_DIRECT/192.0.2.1"),
        squid("TCP_MISS_TIMEDOUT/200", get, "HIER_DIRECT/192.0.2.1"),
        squid("TCP_HIT_ABORTED/200", get, "HIER_NONE/-"),
        squid("ERR_CLIENT_ABORT/200", get, "DIRECT/192.0.2.1"),
        squid("ERR_READ_TIMEOUT/504", get, "DIRECT/192.0.2.1"),
        squid("TCP_MISS_ABORTED/000", get, "HIER_DIRECT/192.0.2.1").replace(" 1000 GET", " 0 GET"),
        squid("ERR_CLIENT_ABORT/000", get, "DIRECT/192.0.2.1").replace(" 1000 GET", " 0 GET"),
        squid("ERR_CONNECT_FAIL/400", get, "DIRECT/192.0.2.1"),
        squid("NONE/400", "NONE error:invalid-request", "NONE/-"),
        squid("TCP_MISS/200", "CONNECT a.example:443", "DIRECT/192.0.2.1"),
        squid("TCP_TUNNEL/200", "CONNECT a.example:443", "HIER_DIRECT/192.0.2.1"),
        squid("TCP_TUNNEL/503", "CONNECT a.example:443", "HIER_NONE/-"),
        squid("TCP_MISS/503", "CONNECT a.example:443", "DIRECT/192.0.2.1"),
        squid("TCP_MISS/404", get, "DIRECT/192.0.2.1"),
        squid("TCP_MISS/503", get, "DIRECT/192.0.2.1"),
        squid("TCP_MISS/503", get, "HIER_NONE/-"),
        squid("TCP_MISS/200", "GET cache_object://localhost/info", "NONE/-"),
        squid("TCP_REDIRECT/302", get, "HIER_NONE/-"),
        squid("TCP_MISS/200", get, "SIBLING_HIT/beside.example"),
        "1000000000.500 250 10.0.0.1 TCP_MISS/200 0 GET http://a.example/ - DIRECT/192.0.2.1 -".into(),
        " ".into(),
    ];
    let fates = lines.iter().map(|line| {
        let fate = |keep_| fate(LogFormat::SQUID, line, &keep(keep_));
        let code = line.split(' ').nth(3).unwrap_or_default();
        let row = format!("{code} {} {} {}", fate(Keep::Misses), fate(Keep::Crossed), fate(Keep::All));
        row.replace("kept ", "kept:")
    });
    assert_snapshot!(fates.collect::<Vec<_>>().join("\n"), @r"
    TCP_MISS/200 kept:1000 kept:1000 kept:1000
    TCP_MISS/304 kept:1000 kept:1000 kept:1000
    TCP_REFRESH_MISS/200 kept:1000 kept:1000 kept:1000
    TCP_REFRESH_MODIFIED/200 kept:1000 kept:1000 kept:1000
    TCP_CLIENT_REFRESH_MISS/200 kept:1000 kept:1000 kept:1000
    TCP_SWAPFAIL_MISS/200 kept:1000 kept:1000 kept:1000
    TCP_HIT/200 hit hit kept:1000
    TCP_MEM_HIT/200 hit hit kept:1000
    TCP_IMS_HIT/304 hit hit kept:1000
    TCP_NEGATIVE_HIT/200 hit hit kept:1000
    TCP_REF_FAIL_HIT/200 hit hit kept:1000
    TCP_REFRESH_FAIL_OLD/200 hit hit kept:1000
    TCP_REFRESH_HIT/200 revalidation kept:250 kept:1000
    TCP_REFRESH_HIT/304 revalidation kept:1000 kept:1000
    TCP_REFRESH_UNMODIFIED/200 revalidation kept:250 kept:1000
    UDP_HIT/000 icp icp icp
    TCP_DENIED/407 denied denied denied
    TCP_MISS/000 kept:1000 kept:1000 kept:1000
    TCP_MISS_ABORTED/200 kept:1000 kept:1000 kept:1000
    TCP_MISS_TIMEDOUT/200 kept:1000 kept:1000 kept:1000
    TCP_HIT_ABORTED/200 hit hit kept:1000
    ERR_CLIENT_ABORT/200 kept:1000 kept:1000 kept:1000
    ERR_READ_TIMEOUT/504 error error error
    TCP_MISS_ABORTED/000 aborted aborted aborted
    ERR_CLIENT_ABORT/000 aborted aborted aborted
    ERR_CONNECT_FAIL/400 error error error
    NONE/400 error error error
    TCP_MISS/200 kept:1000 kept:1000 kept:1000
    TCP_TUNNEL/200 kept:1000 kept:1000 kept:1000
    TCP_TUNNEL/503 answered-by-proxy answered-by-proxy kept:1000
    TCP_MISS/503 kept:1000 kept:1000 kept:1000
    TCP_MISS/404 kept:1000 kept:1000 kept:1000
    TCP_MISS/503 kept:1000 kept:1000 kept:1000
    TCP_MISS/503 answered-by-proxy answered-by-proxy kept:1000
    TCP_MISS/200 answered-by-proxy answered-by-proxy kept:1000
    TCP_REDIRECT/302 answered-by-proxy answered-by-proxy kept:1000
    TCP_MISS/200 sibling-hit sibling-hit kept:1000
    TCP_MISS/200 zero-bytes zero-bytes zero-bytes
     blank blank blank
    ");
}

#[test]
fn a_tunnel_has_no_server_time_and_a_refused_one_is_a_page() {
    for (code, method, has_time) in [
        ("TCP_TUNNEL/200", Method::Connect, false),
        ("TCP_MISS/000", Method::Connect, false),
        ("TCP_MISS/101", Method::Connect, false),
        ("TCP_MISS/503", Method::Other, true),
        ("TCP_TUNNEL/503", Method::Other, true),
    ] {
        let line = squid(code, "CONNECT A.example:443", "HIER_DIRECT/192.0.2.1");
        let (batch, report) = read(LogFormat::SQUID, &line, LogOptions::default());
        assert_eq!((batch.host.word(0), batch.response_bytes[0]), (Some("a.example"), 1000), "{code}");
        assert_eq!((batch.method[0], batch.server_s[0].is_finite()), (method, has_time), "{code}");
        assert_eq!(report.facts.tunnels.requests, u64::from(!has_time), "{code}");
    }
}

#[test]
fn lines_of_squid_may_lack_the_type_or_be_those_of_squid_1_or_carry_headers() {
    let kept = |line: &str| fate(LogFormat::SQUID, line, &LogOptions::default());
    assert_eq!(
        kept("1000000000.500 250 c TCP_MISS/200 9 GET http://a.example/ - DIRECT/192.0.2.1"),
        "kept 9"
    );
    assert_eq!(kept("1000000000.500 250 c TCP_MISS/200/DIRECT 9 GET http://a.example/"), "kept 9");
    assert_eq!(kept("1000000000.500 250 c TCP_MISS/200/NONE 9 GET http://a.example/"), "answered-by-proxy");
    assert_eq!(kept(&format!("{MISS} [Accept:%20*/*] [Server:%20x]")), "kept 1000");
}

#[test]
fn what_is_wrong_with_a_line_of_squid_is_named() {
    let lines = [
        "-1000000000.500 250 c TCP_MISS/200 9 GET http://a.example/ - DIRECT/- -",
        "12.5 250 c TCP_MISS/200 9 GET http://a.example/ - DIRECT/- -",
        "nan 250 c TCP_MISS/200 9 GET http://a.example/ - DIRECT/- -",
        "1000000000.500 -250 c TCP_MISS/200 9 GET http://a.example/ - DIRECT/- -",
        "1000000000.500 2592000001 c TCP_MISS/200 9 GET http://a.example/ - DIRECT/- -",
        "1000000000.500 250 c TCP_MISS 9 GET http://a.example/ - DIRECT/- -",
        "1000000000.500 250 c TCP_MISS/abc 9 GET http://a.example/ - DIRECT/- -",
        "1000000000.500 250 c TCP_FANCY/200 9 GET http://a.example/ - DIRECT/- -",
        "1000000000.500 250 c TCP_MISS/200 -9 GET http://a.example/ - DIRECT/- -",
        "1000000000.500 250 c TCP_MISS/200 99999999999999999999 GET http://a.example/ - DIRECT/- -",
        "1000000000.500 250 c TCP_MISS/200 9 GET /no/host - DIRECT/- -",
        "1000000000.500 250 c TCP_MISS/200 9 GET http://a.example/a blank - DIRECT/- -",
        "1000000000.500 250 c TCP_MISS/200 9 GET http://a.example/two blanks text/html - DIRECT/- -",
        "1000000000.500 250 c TCP_MISS/200 9 GET",
        "1000000000.500 250 c TCP_MISS/200 9 GET http://a.example/ -",
    ];
    let fates = lines.map(|line| fate(LogFormat::SQUID, line, &LogOptions::default()));
    assert_snapshot!(fates.join("\n"), @r#"
    time: found "-1000000000.500", not a Unix time since 1990, dd/Mon/yyyy:HH:MM:SS +zzzz or yyyy-mm-ddTHH:MM:SS
    time: found "12.5", not a Unix time since 1990, dd/Mon/yyyy:HH:MM:SS +zzzz or yyyy-mm-ddTHH:MM:SS
    time: found "nan", not a Unix time since 1990, dd/Mon/yyyy:HH:MM:SS +zzzz or yyyy-mm-ddTHH:MM:SS
    elapsed: found "-250", not a number of ms from 0 to 30 days
    elapsed: found "2592000001", not a number of ms from 0 to 30 days
    code: found "TCP_MISS 9 GET http:", not a result code of Squid 1 to 6
    status: found "abc", not a number of three digits
    code: found "TCP_FANCY", not a result code of Squid 1 to 6
    bytes: found "-9", not a number of bytes from 0 to 2^53, or -
    bytes: found "99999999999999999999", not a number of bytes from 0 to 2^53, or -
    URL: found "/no/host", not one with a host
    hierarchy: found "- DIRECT", not such a word (a URL with blanks?)
    hierarchy: found "text", not such a word (a URL with blanks?)
    has no " " after the method
    has no " " after the field
    "#);
}

#[test]
fn the_combined_format_is_found_and_read() {
    let line = "192.0.2.7 - - [25/Oct/2015:04:00:01 +0100] \"GET http://a.example/x HTTP/1.1\" 200 1234 \
                \"http://a.example/\" \"Mozilla/5.0 (X11)\" TCP_HIT:HIER_NONE";
    assert_eq!(LogFormat::of_head(line.as_bytes()), Some(LogFormat::SQUID_COMMON));
    assert_eq!(fate(LogFormat::SQUID_COMMON, line, &LogOptions::default()), "hit");
}
