//! Results of caches, as content delivery networks log them, and responses without a body.

use super::*;

/// Fates of a line without `--keep`, and with `misses`, `crossed` and `all`.
fn fates(format: &str, line: &str) -> [String; 4] {
    let format: LogFormat = format.parse().unwrap();
    let asked = [None, Some(Keep::Misses), Some(Keep::Crossed), Some(Keep::All)];
    asked.map(|keep| fate(format.clone(), line, &LogOptions { keep, ..LogOptions::default() }))
}

fn cloudflare(result: &str) -> String {
    format!(
        r#"{{"ClientRequestHost":"a.example","ClientRequestMethod":"GET","ClientRequestURI":"/a","EdgeEndTimestamp":"2023-03-03T05:29:06Z","EdgeStartTimestamp":"2023-03-03T05:29:06Z","EdgeResponseBytes":9000,"EdgeResponseStatus":200,"CacheCacheStatus":"{result}"}}"#
    )
}

fn front_door(result: &str) -> String {
    format!(
        r#"{{"time":"2024-05-01T10:00:01.1Z","properties":{{"trackingReference":"r","httpMethod":"GET","requestUri":"https://a.example:443/a","responseBytes":"9000","httpStatusCode":"200","cacheStatus":"{result}"}}}}"#
    )
}

fn fastly(result: &str) -> String {
    format!(
        r#"{{"host":"a.example","request_method":"GET","response_body_size":8750,"response_status":200,"timestamp":"2025-05-09T09:13:14Z","url":"/a","response_state":"{result}"}}"#
    )
}

fn akamai(result: &str) -> String {
    format!(
        r#"{{"reqTimeSec":"1678859500.171","bytes":"8750","cliIP":"192.0.2.1","statusCode":"200","reqHost":"a.example","reqMethod":"GET","reqPath":"a","cacheStatus":"{result}"}}"#
    )
}

fn google(flags: &str) -> String {
    format!(
        r#"{{"timestamp":"2024-05-01T17:27:09.4Z","httpRequest":{{"requestMethod":"GET","requestUrl":"https://a.example/a","status":200,"responseSize":"9000","latency":"0.1s",{flags}}}}}"#
    )
}

/// A line without flags, or with ones that say less.
fn google_details(details: &str) -> String {
    let flags = if details.starts_with("backend") { r#""cacheHit":true"# } else { r#""cacheLookup":true"# };
    let payload = format!(r#"{{"jsonPayload":{{"statusDetails":"{details}"}},"#);
    google(flags).replacen('{', &payload, 1)
}

/// A line of CloudFront with its result, and with the detailed one.
fn cloudfront(result: &str) -> String {
    let (result, detailed) = result.split_once(' ').unwrap_or((result, result));
    format!(
        r#"{{"date":"2024-11-20","time":"10:00:01","sc-bytes":"9000","cs-method":"GET","cs(Host)":"a.example","cs-uri-stem":"/a","sc-status":"200","time-taken":"0.012","x-edge-result-type":"{result}","x-edge-detailed-result-type":"{detailed}"}}"#
    )
}

#[test]
fn keep_asks_the_results_of_content_delivery_networks() {
    type Line = fn(&str) -> String;
    let rows: [(&str, Line, &str, [&str; 4]); 7] = [
        (
            "cloudflare",
            cloudflare,
            "",
            [
                "hit HIT stale updating stream_hit",
                "revalidated",
                "miss expired bypass dynamic ignored deferred",
                "none unknown",
            ],
        ),
        (
            "azure",
            front_door,
            "",
            ["HIT REMOTE_HIT", "", "MISS PARTIAL_HIT CACHE_NOCONFIG PRIVATE_NOSTORE CONFIG_NOCACHE", "N/A"],
        ),
        (
            "fastly",
            fastly,
            "",
            [
                "HIT HIT-CLUSTER HIT-STALE HIT-WAIT HIT-STALE-CLUSTER",
                "HIT-REFRESH MISS-REFRESH",
                "MISS MISS-CLUSTER MISS-WAIT PASS HITPASS ERROR",
                "HIT-SYNTH NONE",
            ],
        ),
        ("akamai", akamai, "", ["1 2", "", "0", ""]),
        (
            "gcp",
            google,
            ";",
            [
                r#""cacheLookup":true,"cacheHit":true"#,
                r#""cacheLookup":true,"cacheHit":true,"cacheValidatedWithOriginServer":true"#,
                r#""cacheLookup":true;"cacheLookup":true,"cacheHit":false,"cacheValidatedWithOriginServer":false"#,
                "",
            ],
        ),
        (
            "gcp",
            google_details,
            "",
            [
                "response_from_cache",
                "response_from_cache_validated",
                "response_sent_by_backend backend_timeout failed_to_pick_backend",
                "denied_by_security_policy redirected_by_security_policy handled_by_identity_aware_proxy",
            ],
        ),
        (
            "cloudfront-json",
            cloudfront,
            ";",
            [
                "Hit;Hit OriginShieldHit;Miss OriginShieldHit",
                "RefreshHit",
                "Miss;Error;Error OriginDnsError;Error AbortedOrigin;Error ClientCommError",
                "Redirect;LimitExceeded;CapacityExceeded;FunctionGeneratedResponse;Error ClientGeoBlocked;Error \
                 InvalidRequestBlocked;Miss MissGeneratedResponse",
            ],
        ),
    ];
    let kept = ["kept 9000", "kept 9000", "kept 9000", "kept 9000"];
    let all = [
        ["kept 9000", "hit", "hit", "kept 9000"],
        ["kept 9000", "revalidation", "kept 250", "kept 9000"],
        kept,
        ["kept 9000", "answered-by-proxy", "answered-by-proxy", "kept 9000"],
    ];
    for (format, line, between, results) in rows {
        for (results, expected) in results.iter().zip(all) {
            let between = if between.is_empty() { " " } else { between };
            for result in results.split(between).filter(|result| !result.is_empty()) {
                assert_eq!(fates(format, &line(result)), expected, "{format} {result}");
            }
        }
    }
    let odd = fates("cloudflare", &cloudflare("odd"));
    assert!(odd[0] == "kept 9000" && odd[1].starts_with("cache result: found \"odd\""), "{odd:?}");
}

#[test]
fn results_of_cloudfronts_columns_are_asked_too() {
    let log = "#Fields: date time sc-bytes cs-method cs(Host) cs-uri-stem sc-status x-edge-result-type time-taken\n\
               2019-12-04\t21:02:31\t900\tGET\ta.example\t/a\t200\tMiss\t0.101\n\
               2019-12-04\t21:02:32\t900\tGET\ta.example\t/a\t200\tHit\t0.001\n\
               2019-12-04\t21:02:33\t900\tGET\ta.example\t/a\t304\tHit\t0.001\n\
               2019-12-04\t21:02:34\t900\tGET\ta.example\t/a\t200\tRefreshHit\t0.031\n";
    let bytes =
        |keep| read(LogFormat::Auto, log, LogOptions { keep, ..LogOptions::default() }).0.response_bytes;
    assert_eq!(bytes(None), [900; 4]);
    assert_eq!(bytes(Some(Keep::Misses)), [900]);
    assert_eq!(bytes(Some(Keep::Crossed)), [900, 250]);
}

#[test]
fn keep_is_refused_where_no_line_says_whether_a_cache_answered() {
    let clf = clf("\"GET /x HTTP/1.1\" 200 1000");
    let w3c = "#Fields: date time cs-uri-stem sc-status sc-bytes\n2026-03-01 08:00:01 /x 200 9\n";
    let lines = [
        (LogFormat::CLF, clf.clone()),
        (LogFormat::W3C, w3c.to_owned()),
        ("cloudflare".parse().unwrap(), cloudflare("hit").replace("CacheCacheStatus", "x")),
        (
            LogFormat::Fields(vec!["start=t".into(), "url=u".into(), "bytes=b".into()]),
            r#"{"t":1700000000,"u":"/a","b":9}"#.into(),
        ),
    ];
    for (format, text) in lines {
        for asked in [Keep::Misses, Keep::Crossed] {
            let said = error(format.clone(), text.as_bytes(), keep(asked));
            let expected =
                format!("access.log: --keep {asked}: its lines do not say whether a cache answered");
            assert!(said.starts_with(&expected), "{said}");
        }
        for asked in [Keep::All, Keep::Lines] {
            assert_eq!(error(format.clone(), text.as_bytes(), keep(asked)), "no error");
        }
    }
    let named = error(
        "cloudflare".parse().unwrap(),
        cloudflare("hit").replace("CacheCacheStatus", "x").as_bytes(),
        keep(Keep::Misses),
    );
    assert!(named.contains("answered (in CacheCacheStatus); leave the option out"), "{named}");
    // The field is there, and no line asked a cache.
    let nginx =
        LogFormat::Custom("[$time_local] \"$request\" $status $bytes_sent $upstream_cache_status".into());
    let line = "[10/May/2024:10:00:00 +0000] \"GET /a HTTP/1.1\" 200 812 -";
    assert_eq!(fate(nginx, line, &keep(Keep::Misses)), "kept 812");
}

#[test]
fn a_response_without_a_body_is_a_request_that_someone_waited_for() {
    let haproxy = |status: &str| {
        format!(
            "192.0.2.1:5 [14/Feb/2017:00:00:00.049] front back/srv 0/0/0/20/25 {status} - - ---- 0/0/0/0/0 0/0 \"GET / HTTP/1.1\""
        )
    };
    let s3 = "7 b [03/Feb/2026:10:00:01 +0000] - AmazonS3 3E S3.EXPIRE.OBJECT old.bin \"-\" - - - 1000 - - \"-\" \"-\" -".to_owned();
    let s3_batch = |status: &str| {
        format!(
            "7 b [03/Feb/2026:10:00:01 +0000] 192.0.2.3 arn:aws:iam::1:user/a 3E BATCH.DELETE.OBJECT a.txt - {status} - - 9 - - - - - kX= SigV4 - \
             AuthHeader b.s3.eu-west-1.amazonaws.com - - - -"
        )
    };
    let envoy = |status: &str| {
        format!(
            "[2016-04-15T20:17:00.310Z] \"GET /x HTTP/2\" {status} 0 91 226 - \"-\" \"-\" \"-\" \"a.example\" \"-\""
        )
    };
    let minios_own = r#"{"version":"1","time":"2024-05-09T07:38:34Z","trigger":"internal-scanner","api":{"name":"ILMExpiry"}}"#;
    // The request has a line of its own.
    let caddys_error =
        CADDY.replace("http.log.access", "http.log.error.log0").replace(r#""size":10900,"#, "");
    let rows = [
        ("clf", clf("\"GET /x HTTP/1.1\" 304 -"), "kept 250"),
        ("clf", clf("\"GET /x HTTP/1.1\" 304 0"), "kept 250"),
        ("clf", clf("\"POST /x HTTP/1.1\" 204 0"), "kept 250"),
        ("clf", clf("\"GET /x HTTP/1.1\" 302 0"), "kept 250"),
        ("clf", clf("\"PUT /x HTTP/1.1\" 200 0"), "kept 250"),
        ("clf", clf("\"GET /x HTTP/1.1\" 499 0"), "aborted"),
        ("haproxy", haproxy("304 190"), "kept 190"),
        ("haproxy", haproxy("200 0"), "zero-bytes"),
        ("haproxy", haproxy("-1 0"), "aborted"),
        ("envoy", envoy("0 DC"), "kept 341"),
        ("envoy", envoy("0 DC").replace(" 91 ", " 0 "), "aborted"),
        ("s3", s3, "no-request"),
        ("s3", s3_batch("204 -"), "no-request"),
        ("s3", s3_batch("403 AccessDenied"), "no-request"),
        ("json", r#"{"ts":1770112801.1,"logger":"tls","msg":"cleaned"}"#.to_owned(), "no-request"),
        ("json", caddys_error, "no-request"),
        ("minio", minios_own.to_owned(), "no-request"),
        ("envoy", envoy("503 UF"), "kept 341"),
        ("cloudfront-json", cloudfront("Miss").replace("\"200\"", "\"304\""), "kept 9000"),
        ("fastly", fastly("HIT").replace("200", "304").replace("8750", "0"), "kept 250"),
        ("fastly", fastly("PASS").replace("200", "204").replace("8750", "0"), "kept 250"),
        ("gcp", google(r#""cacheHit":true"#).replace(":200", ":304"), "kept 9000"),
    ];
    for (format, line, expected) in rows {
        assert_eq!(fate(format.parse().unwrap(), &line, &LogOptions::default()), expected, "{line}");
    }
    let nginx = LogFormat::Custom(
        "[$time_local] \"$request\" $status $body_bytes_sent $upstream_cache_status".into(),
    );
    for (result, expected) in [("MISS", "kept 250"), ("HIT", "hit"), ("REVALIDATED", "revalidation")] {
        let line = format!("[10/May/2024:10:00:00 +0000] \"GET /a HTTP/1.1\" 304 0 {result}");
        assert_eq!(fate(nginx.clone(), &line, &LogOptions::default()), expected, "{result}");
    }
    // A 304 to the client is as long as the log says, also where the cache asked for it.
    let crossed = LogOptions { keep: Some(Keep::Crossed), ..LogOptions::default() };
    let line = cloudfront("RefreshHit").replace("\"200\"", "\"304\"");
    assert_eq!(fate("cloudfront-json".parse().unwrap(), &line, &crossed), "kept 9000");
}

#[test]
fn the_host_of_cloudfront_is_the_one_that_clients_asked_for() {
    let columns = "#Fields: date time sc-bytes cs-method cs(Host) cs-uri-stem sc-status x-host-header time-taken\n\
                   2019-12-04\t21:02:31\t900\tGET\td1.cloudfront.net\t/a\t200\twww.a.example\t0.101\n\
                   2019-12-04\t21:02:31\t900\tGET\td1.cloudfront.net\t/a\t200\t-\t0.101\n";
    let object = cloudfront("Hit").replacen('{', "{\"x-host-header\":\"www.a.example\",", 1);
    for (text, hosts) in
        [(columns, vec!["www.a.example", "d1.cloudfront.net"]), (&object, vec!["www.a.example"])]
    {
        assert_eq!(read(LogFormat::Auto, text, LogOptions::default()).0.host.words, hosts);
    }
}

#[test]
fn a_request_that_was_given_up_has_the_bytes_that_came() {
    let haproxy = |end: &str| {
        format!(
            "192.0.2.1:5 [14/Feb/2017:00:00:00.049] front back/srv 0/0/0/20/25 {end} 0/0/0/0/0 0/0 \"GET / HTTP/1.1\""
        )
    };
    let of =
        |status: &str, bytes: &str| cloudfront("Error").replace("\"200\"", status).replace("\"9000\"", bytes);
    let silent = cloudfront("Error ClientCommError").replace("\"9000\"", "\"0\"");
    let alb = |status: &str| {
        format!(
            "http 2018-07-02T22:23:00.186641Z app/a/5 192.0.2.1:2817 10.0.0.1:80 0.000 0.001 0.000 {status} \"GET http://a.example:80/ HTTP/1.1\" \
             \"curl/7.46.0\" - - arn \"Root=1\" \"-\" \"-\" 0 2018-07-02T22:22:48.364000Z"
        )
    };
    let gone = google_details("client_disconnected_after_partial_response");
    let before_any = google_details("client_disconnected_before_any_response")
        .replace(r#""status":200,"responseSize":"9000","#, "");
    let rows = [
        ("gcp", before_any, "aborted", 0),
        ("clf", clf("\"GET /x HTTP/1.1\" 499 0"), "aborted", 0),
        ("clf", clf("\"GET /x HTTP/1.1\" 499 1000"), "kept 1250", 1),
        ("haproxy", haproxy("200 5000 - - CD--"), "kept 5000", 1),
        ("haproxy", haproxy("200 5000 - - cD--"), "kept 5000", 1),
        ("haproxy", haproxy("200 5000 - - SD--"), "kept 5000", 0),
        ("haproxy", haproxy("200 0 - - CD--"), "aborted", 0),
        ("haproxy", haproxy("-1 0 - - CH--"), "aborted", 0),
        ("cloudfront-json", of("\"000\"", "\"0\""), "aborted", 0),
        ("cloudfront-json", of("0", "700"), "kept 700", 1),
        ("cloudfront-json", cloudfront("Error ClientCommError"), "kept 9000", 1),
        ("cloudfront-json", silent, "aborted", 0),
        ("alb", alb("460 - 34 0"), "aborted", 0),
        ("gcp", gone, "kept 9000", 1),
        (
            "squid",
            squid("TCP_MISS_ABORTED/200", "GET http://a.example/", "HIER_DIRECT/192.0.2.1"),
            "kept 1000",
            1,
        ),
    ];
    for (format, line, expected, given_up) in rows {
        let format: LogFormat = format.parse().unwrap();
        assert_eq!(fate(format.clone(), &line, &LogOptions::default()), expected, "{line}");
        let report = read(format, &line, LogOptions::default()).1;
        assert_eq!(report.given_up.requests, given_up, "{line}");
        assert_eq!(report.given_up.bytes, given_up * report.response_bytes, "{line}");
    }
}
