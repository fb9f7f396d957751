//! Formats with a name, and keys of JSON that people name.

use super::*;

fn keys(pairs: &[&str]) -> LogFormat {
    LogFormat::Fields(pairs.iter().map(|pair| (*pair).to_owned()).collect())
}

#[test]
fn all_names_are_different_and_read_as_themselves() {
    let names: Vec<_> = LogFormat::names().map(|(name, _)| name).collect();
    for (at, name) in names.iter().enumerate() {
        assert_eq!(name.parse::<LogFormat>().unwrap().to_string(), *name);
        assert!(!names[..at].contains(name), "{name}");
        assert!(name.parse::<LogFormat>().unwrap().layout(b"").is_ok(), "{name}");
    }
    assert!(names.len() >= 25);
}

#[test]
fn keys_of_json_get_names_and_units() {
    let format = keys(&[
        "start=ts",
        "url=req.path",
        "host=req.h",
        "bytes=n",
        "elapsed=took:ms",
        "client=who",
        "status=s",
    ]);
    let line = r#"{"ts":1445742685.5,"req":{"path":"/x","h":"A.example"},"n":1000,"took":250,"who":"10.0.0.1","s":200}"#;
    assert_eq!(clients(format.clone(), line, LogOptions::default()), [Some("10.0.0.1".to_owned())]);
    let (batch, report) = read(format.clone(), line, LogOptions::default());
    assert_eq!(batch.host.word(0), Some("a.example"));
    assert_eq!((batch.response_bytes[0], batch.server_s[0], batch.start_s[0]), (1000, 0.25, 0.5));
    assert_eq!(
        report.formats[0],
        "start=ts url=req.path host=req.h bytes=n elapsed=took:ms client=who status=s"
    );
    let dotted = r#"{"ts":1445742685.5,"req.path":"/x","n":"1000"}"#;
    assert_eq!(
        read(format.clone(), dotted, any_unreadable()).0.response_bytes,
        [1000],
        "a point may be in a key"
    );
    let without = read(format, r#"{"ts":1445742685.5,"n":5}"#, any_unreadable()).1;
    assert_eq!(without.unreadable.first[0].why, "does not say what was asked for: has no key req.path");
}

#[test]
fn wrong_names_of_fields_say_what_to_write() {
    let why = |pairs: &[&str]| error(keys(pairs), b"{}\n", LogOptions::default());
    assert_eq!(
        why(&["start"]),
        "--field: found \"start\", not NAME=KEY, such as start=ts or elapsed=took:ms"
    );
    assert!(
        why(&["strat=ts"]).starts_with(
            "--field: unknown field \"strat\" (did you mean start?); the fields are start, end,"
        )
    );
    assert_eq!(
        why(&["elapsed=took:sec"]),
        "--field: elapsed: found the unit \"sec\"; write one of: s, ms, us, ns"
    );
    assert_eq!(
        why(&["start=ts", "url=u"]),
        "--field: none says how large a response is; write bytes=KEY or body=KEY"
    );
    assert_eq!(
        why(&["url=u", "bytes=b"]),
        "--field: none says when a request was; write start=KEY, end=KEY or date=KEY and time=KEY"
    );
}

#[test]
fn spans_carry_their_unit_and_minus_one_is_no_span() {
    let server = |took: &str| {
        let line = format!(r#"{{"t":1445742685,"u":"/x","n":9,"took":{took}}}"#);
        read(keys(&["end=t", "url=u", "bytes=n", "elapsed=took:ns"]), &line, LogOptions::default()).0.server_s
            [0]
    };
    let texts = ["250000000", "\"0.25s\"", "\"250ms\"", "\"250000us\"", "\"250000µs\"", "\"250000000ns\""];
    assert_eq!(texts.map(server), [0.25; 6]);
    assert!(server("-1").is_nan() && server("\"-\"").is_nan());
    let list = r#"{"t":1445742685,"u":"/x","n":9,"took":[100,150.5]}"#;
    let format = keys(&["end=t", "url=u", "bytes=n", "server=took:ms"]);
    assert_eq!(
        read(format, list, LogOptions::default()).0.server_s,
        [0.2505],
        "a try on each of two servers"
    );
}

#[test]
fn start_and_end_give_the_elapsed_time_where_both_are_finer_than_seconds() {
    let server = |start: &str, end: &str| {
        let line = format!(r#"{{"a":"{start}","b":"{end}","u":"/x","n":9}}"#);
        let (batch, report) =
            read(keys(&["start=a", "end=b", "url=u", "bytes=n"]), &line, LogOptions::default());
        (batch.server_s[0], batch.start_s[0], report.origin_unix_s)
    };
    let at = Some(1_445_742_685);
    assert_eq!(server("2015-10-25T03:11:25.25Z", "2015-10-25T03:11:26.5Z"), (1.25, 0.25, at));
    let (took, start, _) = server("2015-10-25T03:11:25Z", "2015-10-25T03:11:26Z");
    assert!(took.is_nan() && start == 0.0, "whole seconds differ by one too many or too few");
    let (took, start, origin) = server("2015-10-25T03:11:25Z", "2015-10-25T03:11:26.5Z");
    assert!(took.is_nan() && start == 0.5 && origin == Some(1_445_742_686), "the finer one counts");
}

#[test]
fn a_prefix_of_syslog_is_passed_over_in_all_formats() {
    let prefixes = ["Oct 25 04:11:26 gate squid[77]: ", "<134>1 2015-10-25T04:11:26Z gate nginx 77 - - "];
    for prefix in prefixes {
        for line in [MISS.to_owned(), clf("\"GET /x HTTP/1.0\" 200 1000"), CADDY.to_owned()] {
            let plain = read(LogFormat::Auto, &line, LogOptions::default());
            let sent = read(LogFormat::Auto, &format!("{prefix}{line}"), LogOptions::default());
            // A wait that is not known is NaN, which equals nothing.
            assert_eq!(format!("{sent:?}"), format!("{plain:?}"), "{line}");
        }
    }
}

#[test]
fn columns_with_blanks_in_their_header_line_may_have_tabs() {
    let header = "#Fields: date time cs-method cs-uri-stem sc-status sc-bytes cs(User-Agent)\n";
    let tabs = format!("{header}2015-10-25\t03:11:25\tGET\t/x\t200\t9\ta b\n");
    let blanks = format!("{header}2015-10-25 03:11:25 GET /x 200 9 a\n");
    for text in [tabs, blanks] {
        assert_eq!(read(LogFormat::W3C, &text, LogOptions::default()).0.response_bytes, [9], "{text}");
    }
}

proptest! {
    #[test]
    fn any_format_string_and_any_key_is_taken_or_refused(text in "[{}a-z:%$\"<> é]{0,30}", line in "[a-z0-9 :\"]{0,40}") {
        let texts = [text.clone(), format!("{{start}} {{url}} {{bytes}} {text}"), format!("$msec $request $bytes_sent {text}")];
        for text in texts {
            let _ = error(LogFormat::Custom(text), line.as_bytes(), any_unreadable());
        }
        let _ = error(keys(&["start=t", "url=u", "bytes=b", &text]), br#"{"t":1,"u":"/","b":2}"#, any_unreadable());
    }
}

#[test]
fn fastlys_templates_with_times_count_microseconds_and_headers() {
    let whole = r#"{"service_id":"s1","time_start":"2024-05-06T07:08:09GMT","time_end":"2024-05-06T07:08:10GMT","time_elapsed":250000,"client_ip":"192.0.2.7","request":"POST","protocol":"HTTP/2","host":"www.a.example","url":"/a?b","is_tls":true,"status":"200","req_header_size":400,"req_body_size":100,"resp_header_size":300,"resp_body_size":5000}"#;
    let bodies = whole.replace(r#""resp_header_size":300,"#, "").replace(r#""req_header_size":400,"#, "");
    for (line, request, response) in [(whole, 500, 5300), (&bodies, 348, 5250)] {
        assert_eq!(LogFormat::of_head(line.as_bytes()), Some("fastly-timing".parse().unwrap()));
        let (batch, report) = read(LogFormat::Auto, line, LogOptions::default());
        assert_eq!((batch.request_bytes[0], batch.response_bytes[0]), (request, response));
        assert_eq!((batch.server_s[0], batch.tls[0], report.origin_unix_s), (0.25, 1, Some(1_714_979_289)));
        assert_eq!((batch.host.word(0), batch.method[0]), (Some("www.a.example"), Method::Post));
    }
    for (mark, requests) in [(r#""is_edge":true"#, 1), (r#""is_edge":false"#, 0), (r#""is_shield":true"#, 0)]
    {
        let marked = whole.replace(r#"{"service_id""#, &format!(r#"{{{mark},"service_id""#));
        assert_eq!(read(LogFormat::Auto, &marked, LogOptions::default()).1.requests, requests, "{mark}");
    }
    for (time, seconds) in
        [("\"2024-05-06T07:08:09+0000\"", 9), ("\"2024-05-06T07:08:09UTC\"", 9), ("1714979289250", 9)]
    {
        let line = whole.replace("\"2024-05-06T07:08:09GMT\"", time);
        let (_, report) = read(LogFormat::Auto, &line, LogOptions::default());
        assert_eq!(report.origin_unix_s, Some(1_714_979_280 + seconds), "{time}");
    }
}

#[test]
fn a_flag_says_the_scheme_and_a_value_that_says_nothing_is_named() {
    for (value, tls, unclear) in [
        ("true", 1, None),
        ("\"0\"", 0, None),
        ("\"TLSv1.2\"", 1, None),
        ("\"maybe\"", -1, Some("\"maybe\"")),
        ("\"\"", -1, None),
    ] {
        let line = format!(r#"{{"t":1445742685,"u":"/x","n":9,"is_tls":{value}}}"#);
        let format = keys(&["end=t", "url=u", "bytes=n", "scheme=is_tls"]);
        let (batch, report) = read(format, &line, LogOptions::default());
        assert_eq!(batch.tls[0], tls, "{value}");
        let found = report.unclear.get("scheme").map(|unclear| (unclear.requests, unclear.text.as_str()));
        assert_eq!(found, unclear.map(|text| (1, text)), "{value}");
    }
}

#[test]
fn headers_that_haproxy_captured_are_the_host_and_the_agent() {
    let line = |captures: &str| {
        format!(
            "192.0.2.1:5 [14/Feb/2017:00:00:00.049] front back/srv 0/0/0/20/25 200 900 - - ---- 0/0/0/0/0 0/0 {captures}\"GET / HTTP/1.1\""
        )
    };
    let of = |captures: &str| {
        let (batch, report) = read(LogFormat::Auto, &line(captures), LogOptions::default());
        (batch.host.word(0).unwrap_or_default().to_owned(), report.unclear.get("host").cloned())
    };
    assert_eq!(of("{www.A.example:8080|Mozilla/5.0 (X11; Linux)} {nginx} "), ("www.a.example".into(), None));
    assert_eq!(of(""), ("server".into(), None));
    let unclear = Unclear { requests: 1, text: "\"{a.example|b.example}\"".into() };
    assert_eq!(of("{a.example|b.example} "), ("server".into(), Some(unclear)));
    let checker = line("{a.example|kube-probe/1.27} ");
    assert_eq!(fate(LogFormat::Auto, &checker, &LogOptions::default()), "health-check");
    let own = "%ci:%cp [%tr] %ft %b/%s %TR/%Tw/%Tc/%Tr/%Ta %ST %B %CC %CS %tsc %ac/%fc/%bc/%sc/%rc %sq/%bq {%[hdr(user-agent)]|%[hdr(host)]} %{+Q}r";
    let batch =
        read(LogFormat::custom(own).unwrap(), &line("{a.example|b.example} "), LogOptions::default()).0;
    assert_eq!(batch.host.word(0), Some("b.example"), "the configuration says which is which");
}

#[test]
fn a_web_socket_has_the_scheme_of_its_connection() {
    let upgrade =
        |url: &str| format!("192.0.2.1 - - [25/Oct/2015:04:11:25 +0100] \"GET {url} HTTP/1.1\" 101 900");
    for (url, tls) in [("http://a.example/chat", 0), ("wss://a.example/chat", 1), ("/chat", -1)] {
        assert_eq!(read(LogFormat::CLF, &upgrade(url), LogOptions::default()).0.tls[0], tls, "{url}");
    }
    let scheme =
        LogFormat::custom("$remote_addr [$time_local] \"$request\" $status $bytes_sent $scheme").unwrap();
    for (word, tls) in [("http", 0), ("https", 1)] {
        let line = format!("192.0.2.1 [25/Oct/2015:04:11:25 +0100] \"GET /chat HTTP/1.1\" 101 900 {word}");
        assert_eq!(read(scheme.clone(), &line, LogOptions::default()).0.tls[0], tls, "{word}");
    }
}
