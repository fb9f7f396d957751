//! Lines without a client's request, and second lines of one.

use super::*;

/// Requests and lines left out of a log, and the requests that `--keep lines` has.
fn counts(format: LogFormat, text: &str) -> (u64, Vec<(Reason, u64)>, u64) {
    let options = || LogOptions { max_unreadable: 0.0, ..LogOptions::default() };
    let (_, report) = read(format.clone(), text, options());
    let (_, all) = read(format, text, LogOptions { keep: Some(Keep::Lines), ..options() });
    (report.requests, report.dropped.into_iter().collect(), all.requests)
}

fn fastly(mark: &str) -> String {
    format!(
        r#"{{{mark}"host":"a.example","request_method":"GET","response_body_size":9,"response_status":200,"timestamp":"2025-05-09T09:13:14Z","url":"/a"}}"#
    )
}

fn front_door(mark: &str) -> String {
    format!(
        r#"{{"time":"2024-05-01T10:00:01.1Z","properties":{{{mark}"httpMethod":"GET","requestUri":"https://a.example:443/a","responseBytes":"9","httpStatusCode":"200"}}}}"#
    )
}

fn cloudflare(mark: &str) -> String {
    format!(
        r#"{{"ClientIP":"192.0.2.1",{mark}"ClientRequestHost":"a.example","ClientRequestMethod":"GET","ClientRequestURI":"/a","EdgeEndTimestamp":"2023-03-03T05:29:06Z","EdgeStartTimestamp":"2023-03-03T05:29:06Z","EdgeResponseBytes":9,"EdgeResponseStatus":200}}"#
    )
}

fn akamai(mark: &str) -> String {
    format!(
        r#"{{"reqTimeSec":"1678859500.171","bytes":"9",{mark}"cliIP":"192.0.2.1","statusCode":"200","reqHost":"a.example","reqMethod":"GET","reqPath":"a"}}"#
    )
}

fn combined(client: &str, request: &str, agent: &str) -> String {
    format!(r#"{client} - - [10/Oct/2000:13:55:36 +0000] "{request}" 200 9 "-" "{agent}""#)
}

#[test]
fn what_was_not_asked_for_is_left_out_as_such_first() {
    let text = combined("127.0.0.1", "GET /a HTTP/1.1", "kube-probe/1.27");
    let unasked = LogOptions { client: Some("10.*".into()), ..LogOptions::default() };
    for (options, reason) in [(unasked, Reason::OtherClient), (LogOptions::default(), Reason::HealthCheck)] {
        assert_eq!(read(LogFormat::Auto, &text, options).1.dropped, [(reason, 1)].into());
    }
}

#[test]
fn inner_tiers_are_told_by_the_fields_of_each_cdn() {
    type Line = fn(&str) -> String;
    let marks: [(Line, &str, &str, bool); 23] = [
        (fastly, "fastly", r#""fastly_is_edge":false,"#, true),
        (fastly, "fastly", r#""fastly_is_edge":true,"#, false),
        (fastly, "fastly", r#""fastly_is_edge":"0","#, true),
        (fastly, "fastly", r#""is_edge":"false","#, true),
        (fastly, "fastly", r#""is_shield":true,"#, true),
        // A client of the shield's own POP.
        (fastly, "fastly", r#""fastly_is_edge":true,"fastly_is_shield":true,"#, false),
        (fastly, "fastly", r#""is_shield":"true","is_edge":"true","#, false),
        (fastly, "fastly", r#""is_edge":false,"is_shield":false,"#, true),
        (fastly, "fastly", "", false),
        (front_door, "azure", r#""isReceivedFromClient":false,"#, true),
        (front_door, "azure", r#""isReceivedFromClient":"true","#, false),
        (cloudflare, "cloudflare", r#""ClientRequestSource":"edgeWorkerFetch","#, true),
        (cloudflare, "cloudflare", r#""ClientRequestSource":"imageResizing","#, true),
        (cloudflare, "cloudflare", r#""ClientRequestSource":5,"#, true),
        (cloudflare, "cloudflare", r#""ClientRequestSource":"eyeball","#, false),
        (cloudflare, "cloudflare", r#""ClientRequestSource":1,"#, false),
        (cloudflare, "cloudflare", r#""ClientRequestSource":"orangeToOrange","#, false),
        (cloudflare, "cloudflare", r#""ParentRayID":"7a1b0000c0de","#, true),
        (cloudflare, "cloudflare", r#""ParentRayID":"00","#, false),
        (cloudflare, "cloudflare", r#""WorkerSubrequest":true,"ParentRayID":"00","#, true),
        (akamai, "akamai", r#""isMidgress":"2","#, true),
        (akamai, "akamai", r#""isMidgress":1,"#, true),
        (akamai, "akamai", r#""isMidgress":"0","#, false),
    ];
    for (line, format, mark, is_inner) in marks {
        let log = format!("{}\n{}\n", line(""), line(mark));
        let dropped = if is_inner { vec![(Reason::InnerTier, 1)] } else { vec![] };
        let expected = (2 - u64::from(is_inner), dropped, 2);
        assert_eq!(counts(format.parse().unwrap(), &log), expected, "{format} {mark}");
    }
}

#[test]
fn varnishs_own_side_and_named_fields_tell_a_tier_too() {
    let custom = |text: &str| LogFormat::custom(text).unwrap();
    let varnish = custom(r#"%h %l %u %t "%r" %s %b %{Varnish:side}x"#);
    let line =
        |side: &str| format!(r#"192.0.2.1 - - [10/Oct/2000:13:55:36 +0000] "GET /a HTTP/1.1" 200 9 {side}"#);
    let log = [line("c"), line("b"), line("c")].join("\n");
    assert_eq!(counts(varnish, &log), (2, vec![(Reason::InnerTier, 1)], 3));
    let own = custom(r#"{client} [{start}] "{request}" {status} {bytes} {inner}"#);
    let line = |inner: &str| format!(r#"192.0.2.1 [2024-05-01T10:00:01Z] "GET /a HTTP/1.1" 200 9 {inner}"#);
    assert_eq!(counts(own, &[line("0"), line("1")].join("\n")), (1, vec![(Reason::InnerTier, 1)], 2));
}

#[test]
fn checks_are_told_by_the_agents_of_those_that_check_their_own_servers() {
    let agents = [
        ("kube-probe/1.27", true),
        ("ELB-HealthChecker/2.0", true),
        ("GoogleHC/1.0", true),
        ("Envoy/HC", true),
        ("Consul Health Check", true),
        ("Edge Health Probe", true),
        ("Mozilla/5.0 (compatible;Cloudflare-Healthchecks/1.0;+https://www.cloudflare.com/; id)", true),
        ("Mozilla/5.0 (compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)", false),
        ("Amazon-Route53-Health-Check-Service (ref 1; report)", false),
        ("curl/8.5.0 kube-probe/1.27", false),
        ("-", false),
    ];
    for (agent, is_check) in agents {
        let get = "GET /a HTTP/1.1";
        let log = [combined("192.0.2.1", get, "Mozilla/5.0"), combined("10.0.0.1", get, agent)].join("\n");
        let dropped = if is_check { vec![(Reason::HealthCheck, 1)] } else { vec![] };
        assert_eq!(counts(LogFormat::CLF, &log), (2 - u64::from(is_check), dropped, 2), "{agent}");
    }
    // The W3C writes blanks as +, CloudFront as %20.
    for agent in ["Consul+Health+Check", "Consul%20Health%20Check"] {
        let log = format!(
            "#Fields: date time c-ip cs-method cs-uri-stem sc-status sc-bytes cs(User-Agent)\n\
             2024-05-01 10:00:01 192.0.2.1 GET /a 200 900 Mozilla/5.0\n2024-05-01 10:00:01 10.0.0.1 GET /a 200 900 {agent}\n"
        );
        let dropped = vec![(Reason::Header, 1), (Reason::HealthCheck, 1)];
        assert_eq!(counts(LogFormat::W3C, &log), (1, dropped, 2), "{agent}");
    }
}

#[test]
fn a_servers_own_lines_crossed_no_network_unless_a_proxy_on_its_machine_passes_all_on() {
    let get = "GET /a HTTP/1.1";
    let far = || combined("192.0.2.1", get, "Mozilla/5.0");
    let rows = [
        (combined("::1", "OPTIONS * HTTP/1.0", "Apache/2.4.41 (internal dummy connection)"), true),
        (r#"::1 - - [10/Oct/2000:13:55:36 +0000] "OPTIONS * HTTP/1.0" 200 9"#.into(), true),
        (combined("127.0.0.1", "GET /server-status?auto HTTP/1.1", "munin"), true),
        (combined("127.8.0.1", get, "curl/8"), true),
        (combined("::ffff:127.0.0.1", get, "curl/8"), true),
        (combined("localhost", get, "curl/8"), true),
        (combined("10.0.0.7", get, "curl/8"), false),
        (combined("192.0.2.1", "OPTIONS * HTTP/1.1", "curl/8"), false),
    ];
    for (line, is_own) in rows {
        let log = [far(), far(), line.clone()].join("\n");
        let dropped = if is_own { vec![(Reason::Loopback, 1)] } else { vec![] };
        assert_eq!(counts(LogFormat::CLF, &log), (3 - u64::from(is_own), dropped, 3), "{line}");
    }
    let near = combined("127.0.0.1", get, "Mozilla/5.0");
    let dummy = combined("127.0.0.1", "OPTIONS * HTTP/1.0", "Apache (internal dummy connection)");
    let log = [near.clone(), near, far(), dummy].join("\n");
    assert_eq!(
        counts(LogFormat::CLF, &log),
        (3, vec![(Reason::Loopback, 1)], 4),
        "behind a proxy of its own"
    );
    let log = format!("{MISS}\n{MISS}\n{}", MISS.replace("10.0.0.1", "127.0.0.1"));
    assert_eq!(
        counts(LogFormat::SQUID, &log).0,
        3,
        "what a proxy's machine asks for crosses the proxy's link"
    );
}

/// Requests and lines left out of logs that are imported together.
fn together(format: &LogFormat, logs: &[&str]) -> (Vec<(u64, u64)>, Vec<Repeat>) {
    let lines = |log: &&str| Lines::new("access.log".into(), Cursor::new(log.as_bytes().to_vec())).unwrap();
    let overview = Overview::of_lines(logs.iter().map(lines).collect(), format).unwrap();
    let counts = logs.iter().enumerate().map(|(place, log)| {
        let options = LogOptions::default();
        let mut reader = LogReader::new(lines(log), format, options, overview.about(place)).unwrap();
        while reader.batch(100).unwrap().is_some() {}
        let report = reader.report();
        let of = |reason| report.dropped.get(&reason).copied().unwrap_or_default();
        (report.requests, of(Reason::Repeated) + of(Reason::OtherSide))
    });
    (counts.collect(), overview.repeats().to_vec())
}

#[test]
fn a_run_of_equal_lines_at_the_border_of_two_logs_is_read_once() {
    let lines = |urls: &str| -> String {
        urls.chars().map(|url| combined("192.0.2.1", &format!("GET /{url} HTTP/1.1"), "x") + "\n").collect()
    };
    type Row = (&'static [&'static str], &'static [(u64, u64)]);
    let rows: [Row; 14] = [
        (&["abcd", "cdef"], &[(4, 0), (2, 2)]),
        (&["cdef", "abcd"], &[(2, 2), (4, 0)]),
        (&["abcd", "abcd"], &[(4, 0), (0, 4)]),
        (&["abcd", "abcd", "abcd"], &[(4, 0), (0, 4), (0, 4)]),
        (&["abcd", "bc"], &[(4, 0), (0, 2)]),
        (&["abcd", "abcdef"], &[(0, 4), (6, 0)]),
        (&["abcd", "efgh"], &[(4, 0), (4, 0)]),
        (&["abcd", "defg"], &[(4, 0), (4, 0)]),
        (&["abb", "bbc"], &[(3, 0), (3, 0)]),
        (&["aabbaa", "bcbb"], &[(6, 0), (4, 0)]),
        (&["a", "a"], &[(1, 0), (0, 1)]),
        (&["aaa", "aaa"], &[(3, 0), (0, 3)]),
        (&["aaa", "aa"], &[(3, 0), (2, 0)]),
        (&["abc", "bcde", "defg"], &[(3, 0), (2, 2), (2, 2)]),
    ];
    for (logs, expected) in rows {
        let texts: Vec<String> = logs.iter().map(|log| lines(log)).collect();
        let (counts, _) = together(&LogFormat::CLF, &texts.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(counts, expected, "{logs:?}");
    }
    let with_a_blank = lines("a") + "\n" + &lines("b");
    assert_eq!(together(&LogFormat::CLF, &[with_a_blank.as_str(); 2]).0, [(2, 0), (0, 2)]);
    let (_, repeats) = together(&LogFormat::CLF, &[&lines("abcd"), &lines("cde")]);
    assert_eq!(repeats, [Repeat { log: 1, lines: 2, is_whole: false, other: 0 }]);
    let head = "#Fields: date time c-ip cs-method cs-uri-stem sc-status sc-bytes\n";
    let row = |url: &str| format!("2024-05-01 10:00:01 192.0.2.1 GET /{url} 200 900\n");
    let logs = [["", "a", "b", "c"], ["", "b", "c", "d"]]
        .map(|urls| urls.map(|url| if url.is_empty() { head.to_owned() } else { row(url) }).concat());
    assert_eq!(together(&LogFormat::W3C, &[&logs[0], &logs[1]]).0, [(3, 0), (1, 2)], "names of columns stay");
}

#[test]
fn of_a_call_that_two_sidecars_log_the_callers_side_counts() {
    let line = |cluster: &str, id: &str, url: &str, host: &str| {
        format!(
            "[2022-04-01T03:23:00.736Z] \"GET {url} HTTP/1.1\" 200 - via_upstream - \"-\" 0 20605 4 3 \"-\" \"curl/8\" \"{id}\" \
             \"{host}\" \"10.0.0.31:80\" {cluster} 10.0.0.26:35086 10.0.0.43:8000 10.0.0.26:41616 - default\n"
        )
    };
    let old = |cluster: &str, id: &str, url: &str, host: &str| {
        line(cluster, id, url, host).replace("via_upstream - \"-\"", "\"-\" \"-\"")
    };
    let (out, inn) = ("outbound|8000||b.default.svc.cluster.local", "inbound|80||");
    let (a, b) = ("a.example", "b:8000");
    let envoy = "envoy".parse().unwrap();
    let rows = [
        (line(out, "i", "/", b) + &line(inn, "i", "/", b), (1, 1), "both sides"),
        (line(inn, "i", "/", b) + &line(out, "i", "/", b), (1, 1), "the server's first"),
        (old(out, "i", "/", b) + &old(inn, "i", "/", b), (1, 1), "before version 1.9"),
        (line(out, "i", "/", b) + &line(inn, "j", "/", b), (2, 0), "two requests"),
        (line(inn, "i", "/", b) + &line(inn, "i", "/", b), (2, 0), "one side alone"),
        (line(out, "-", "/", b) + &line(inn, "-", "/", b), (2, 0), "no id"),
        (line(inn, "i", "/", a) + &line(out, "i", "/", b), (2, 0), "a call that a request made"),
        (line(inn, "i", "/", a) + &line(out, "i", "/", b) + &line(inn, "i", "/", b), (2, 1), "a chain"),
        (line(out, "i", "/", b) + &line(inn, "i", "/", b) + &line(inn, "i", "/", b), (1, 2), "a retry"),
        (line("local_app", "i", "/", b) + &line("b.default.dc1", "i", "/", b), (1, 1), "Consul"),
    ];
    for (log, expected, what) in rows {
        assert_eq!(together(&envoy, &[&log]).0, [expected], "{what}");
    }
    let (caller, server) = (line(out, "i", "/", b), line(inn, "i", "/", b));
    assert_eq!(together(&envoy, &[&server, &caller]).0, [(0, 1), (1, 0)], "a log of each side");
}
