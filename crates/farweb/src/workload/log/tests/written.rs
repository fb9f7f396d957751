//! Lines as servers and carriers of them write them: read right, or refused with the offending text.

use super::*;

pub(super) const CLF: &str = "192.0.2.9 - - [10/May/2024:10:00:00 +0000] \"GET /a HTTP/1.1\" 200 5120";

pub(super) const TRAEFIK: &str = r#"{"ClientHost":"192.0.2.1","DownstreamContentSize":75,"DownstreamStatus":200,"Duration":1964899,"RequestHost":"n.example","RequestMethod":"GET","RequestPath":"/a","StartUTC":"2025-02-28T12:11:34.1Z"}"#;

pub(super) fn custom(text: &str) -> LogFormat {
    LogFormat::custom(text).unwrap()
}

/// Host, client and treatment of the first request of a log.
pub(super) fn who(format: LogFormat, text: &str) -> String {
    let options = LogOptions { client_names: ClientNames::AsLogged, ..LogOptions::default() };
    let (batch, _) = read(format, text, options);
    let ClientColumn::AsLogged(clients) = &batch.client else { panic!("clients as logged") };
    let host = batch.host.word(0).unwrap_or_default();
    format!("{host} {} {:?}", clients.word(0).unwrap_or("-"), batch.caching[0])
}

/// Server time and wait, in ms, of the first request of a log.
pub(super) fn times(format: LogFormat, text: &str) -> (f64, f64) {
    let (batch, _) = read(format, text, LogOptions::default());
    let [server, wait] = [&batch.server_s, &batch.wait_s].map(|column| (column[0] * 1e6).round() / 1e3);
    (server, wait)
}

pub(super) fn refused(format: LogFormat, text: &str) -> String {
    error(format, text.as_bytes(), LogOptions::default())
}

#[test]
fn what_stands_before_a_line_is_passed_over_or_refused() {
    let docker = serde_json::json!({ "log": format!("{CLF}\n"), "stream": "stdout", "time": "2024-05-10T10:00:00.1Z" });
    let passed = [
        format!(
            "2024-05-10T10:00:00.123456789Z stdout F {CLF} \"-\" \"curl/8\" 460 0.215 [x] [] 10.1.2.3:8080"
        ),
        format!("2024-05-10T10:00:00.123456789Z {CLF}"),
        format!("web-1  | {CLF}"),
        format!("web-1  | 2024-05-10T10:00:00.123456789Z {CLF}"),
        format!("[pod/web-1/nginx] {CLF}"),
        format!("May 10 10:00:01 web nginx: {CLF}"),
        format!("Fri 2024-05-10 10:00:00 UTC web nginx[12]: {CLF}"),
        docker.to_string(),
        CLF.replacen("192.0.2.9", "192.0.2.9, 10.0.0.1", 1),
        CLF.replacen("192.0.2.9", "192.0.2.9,10.0.0.1, 10.0.0.2", 1),
        CLF.replacen("192.0.2.9", "192.0.2.9:52344", 1),
        CLF.replacen("192.0.2.9 -", "192.0.2.9 [HTTP-187] -", 1),
        CLF.replacen("192.0.2.9 - -", "192.0.2.9 - [192.0.2.9] - -", 1),
    ];
    for line in passed {
        assert_eq!(who(LogFormat::Auto, &line), "server 192.0.2.9 Store", "{line}");
    }
    let blank = r#"{"log":"\n","stream":"stdout","time":"2024-05-10T10:00:00.2Z"}"#;
    let (_, report) = read(LogFormat::Auto, &format!("{docker}\n{blank}\n"), LogOptions::default());
    assert_eq!((report.requests, report.dropped), (1, [(Reason::Blank, 1)].into()));
    let bracketed = CLF.replacen("192.0.2.9", "[2001:db8::1]:52344", 1);
    assert_eq!(who(LogFormat::Auto, &bracketed), "server 2001:db8::1 Store");
    let gerrit = CLF.replacen("192.0.2.9 - -", "192.0.2.9 [HTTP-187] - admin", 1);
    assert_eq!(who(LogFormat::Auto, &gerrit), "server 192.0.2.9 Bypass", "it has a user");
    for before in [
        "web-1 nginx",
        "Fri 2024-05-10 10:00:00 UTC web nginx[12]",
        "May 10 10:00:00 web",
        "2024-05-10 10:00:00",
        "10:00:00",
        "1715335200.123",
        "web,",
        "unknown,",
        "client=192.0.2.7",
        "[info]",
    ] {
        let line = format!("{before} {CLF}");
        for format in [LogFormat::Auto, LogFormat::CLF, LogFormat::VHOST_COMBINED] {
            let why = refused(format.clone(), &line);
            let named =
                ["host: found", "client: found", "user: found", "port: found", "has no", "no known format"];
            assert!(named.iter().any(|name| why.contains(name)), "{format}: {line}: {why}");
        }
    }
    let vhost = format!("www.example.com:80 {CLF}");
    assert_eq!(who(LogFormat::Auto, &vhost), "www.example.com 192.0.2.9 Store");
    for (user, caching) in [("John Smith", "Bypass"), ("\"\"", "Store"), ("\"-\"", "Store")] {
        let line = CLF.replacen("- -", &format!("- {user}"), 1);
        assert_eq!(who(LogFormat::Auto, &line), format!("server 192.0.2.9 {caching}"));
    }
}

#[test]
fn a_log_without_a_format_is_refused_by_one_of_its_lines() {
    let rows = [
        (format!("{CLF}\nx y\nz\nw\n"), "the first is line 2: has no"),
        (format!("203.0.113.5 10.0.0.1{}", &CLF[9..]), "user: found \"- -\""),
        (format!("{CADDY},\n"), "its first line is no JSON object: byte "),
        (format!("2024-05-10T10:00:00.1Z stdout P {CLF}"), "has parts of lines without their last ones"),
        (
            "#Fields: time cs-uri sc-bytes\n10:00:00 /a 5\n".into(),
            "line 2: has the time of a day and no date",
        ),
        (
            "#Version: 1.0\n#Fields: date time cs-uri sc-bytes\n2024-05-10 10:00:00\n".into(),
            "line 3: has fewer fields",
        ),
    ];
    for (text, says) in rows {
        let why = refused(LogFormat::Auto, &text);
        assert!(why.contains(says), "{text}: {why}");
    }
}

#[test]
fn lines_that_a_container_runtime_cut_are_joined() {
    let (begin, end) = CLF.split_at(CLF.len() - 7);
    let cut = |tag: &str, text: &str| format!("2024-05-10T10:00:00.1Z {tag} {text}\n");
    let text =
        [cut("stdout P", begin), cut("stderr F", "2024/05/10 10:00:00 [error] 1#1: x"), cut("stdout F", end)]
            .concat();
    for format in [LogFormat::Auto, LogFormat::CLF] {
        let (batch, report) = read(format, &(text.clone() + &cut("stdout P", begin)), LogOptions::default());
        assert_eq!((batch.response_bytes, report.unreadable.count), (vec![5370], 0));
        assert_eq!(report.dropped, [(Reason::Part, 2), (Reason::NoRequest, 1)].into());
    }
}

#[test]
fn a_first_line_of_names_is_none_of_a_request() {
    for (format, names, line) in [
        ("{start},{url},{bytes}", "time1,url,bytes", "1715335200,/a,9"),
        ("\"{start}\",\"{url}\",\"{bytes}\"", "\"time\",\"url\",\"bytes\"", "\"1715335200\",\"/a\",\"9\""),
    ] {
        let (batch, report) = read(custom(format), &format!("{names}\n{line}\n"), LogOptions::default());
        assert_eq!((batch.response_bytes, report.dropped[&Reason::Header]), (vec![9], 1), "{names}");
    }
}

proptest! {
    #[test]
    fn no_prefix_becomes_a_host_a_client_or_a_user(words in proptest::collection::vec("[a-z0-9:|,T.\\[\\]/-]{1,8}", 1..4)) {
        let line = format!("{} {CLF}", words.join(" "));
        let (batch, report) = read(LogFormat::CLF, &line, LogOptions { client_names: ClientNames::AsLogged, ..any_unreadable() });
        if batch.start_s.is_empty() {
            prop_assert!(report.unreadable.count + report.dropped.values().sum::<u64>() == 1);
        } else {
            let ClientColumn::AsLogged(clients) = &batch.client else { panic!("clients as logged") };
            prop_assert_eq!(clients.word(0), Some("192.0.2.9"), "{}", line);
            prop_assert_eq!(batch.caching[0], crate::workload::Caching::Store);
        }
    }
}

#[test]
fn an_upgrade_has_the_host_of_its_url_and_connect_an_authority() {
    let traefik = TRAEFIK.replace("\"DownstreamStatus\":200", "\"DownstreamStatus\":101");
    let caddy = CADDY.replace("\"status\":200", "\"status\":101");
    let upgrades = [
        (LogFormat::CLF, clf("\"GET http://c.example/chat HTTP/1.1\" 101 5120"), "c.example"),
        (LogFormat::CLF, clf("\"GET wss://c.example:443/chat HTTP/1.1\" 101 5120"), "c.example"),
        (LogFormat::CLF, clf("\"GET /chat HTTP/1.1\" 101 5120"), "server"),
        (LogFormat::CLF, clf("\"CONNECT a.example:443 HTTP/1.1\" 200 5120"), "a.example"),
        (LogFormat::CLF, clf("\"CONNECT /chat HTTP/2.0\" 200 5120"), "server"),
        (
            LogFormat::VHOST_COMBINED,
            format!("www.example.com:80 {}", clf("\"GET /chat HTTP/1.1\" 101 5120")),
            "www.example.com",
        ),
        (LogFormat::Auto, traefik, "n.example"),
        (LogFormat::Auto, caddy, "localhost"),
        (LogFormat::CLF, clf("\"GET /r?to=http://b.example/x HTTP/1.1\" 302 5120"), "server"),
    ];
    for (format, line, host) in upgrades {
        let (batch, _) = read(format, &line, LogOptions::default());
        assert_eq!(batch.host.word(0), Some(host), "{line}");
        let is_redirect = line.contains("302");
        assert_eq!(batch.method[0], if is_redirect { Method::Get } else { Method::Connect }, "{line}");
    }
}

#[test]
fn a_format_that_fits_but_for_one_value_names_that() {
    let month = refused(LogFormat::Auto, &CLF.replace("May", "05"));
    assert!(
        month.contains("reads as format clf but for one value: time: found \"10/05/2024:10:00:00 +0000\""),
        "{month}"
    );
    assert!(month.contains("%{%d/%m/%Y:%T %z}t"), "{month}");
    let caddy = refused(LogFormat::Auto, &CADDY.replace("1646861401.5241024", "\"yesterday\""));
    assert!(caddy.contains("reads as format json but for one value: time: found \"yesterday\""), "{caddy}");
    let wall = CADDY.replace("1646861401.5241024", "\"2025/01/04 19:46:44.435\"");
    assert_eq!(read(LogFormat::Auto, &wall, LogOptions::default()).1.origin_unix_s, Some(1_736_020_004));
}

#[test]
fn json_around_requests_is_unwrapped_or_named() {
    let array = refused(LogFormat::Auto, &format!("[\n{CADDY},\n{CADDY}\n]"));
    assert!(array.ends_with("make a line of each: jq -c '.[]' access.log"), "{array}");
    let given = refused(LogFormat::JSON, &format!("[{CADDY}]"));
    assert!(given.ends_with("jq -c '.[]' access.log"), "{given}");
    let message = serde_json::json!({ "@timestamp": "2024-05-10T10:00:00Z", "message": CLF }).to_string();
    let told = refused(LogFormat::Auto, &message);
    assert!(told.ends_with("jq -r '.message' access.log"), "{told}");
    let console = format!(
        "2022/03/09 21:30:01.524\tINFO\thttp.log.access\thandled request\t{}",
        CADDY.replacen("\"ts\":1646861401.5241024,", "", 1)
    );
    assert_eq!(
        requests(LogFormat::Auto, &console),
        requests(LogFormat::JSON, &CADDY.replace("1646861401.5241024", "1646861401.524"))
    );
}

#[test]
fn json_that_is_cut_off_or_broken_is_named_by_its_place() {
    let cut = &CADDY[..CADDY.len() - 5];
    let broken = CADDY.replacen(':', ";", 1);
    for (line, why) in [
        (cut, "is cut off: the end of its JSON object is missing"),
        (&broken, "is no JSON object: byte 9 does not belong there"),
    ] {
        let (_, report) = read(LogFormat::JSON, &format!("{CADDY}\n{line}"), any_unreadable());
        assert_eq!(report.unreadable.first[0].why, why);
        assert_eq!(report.unreadable_by["form"], 1);
    }
}

#[test]
fn date_and_time_may_be_two_keys() {
    let line = r#"{"date":"2024-11-20","time":"10:00:01","sc-bytes":"5120","c-ip":"192.0.2.7","cs-method":"GET","cs(Host)":"d1.example","cs-uri-stem":"/a","sc-status":"200","time-taken":"0.012","time-to-first-byte":"0.011"}"#;
    let (batch, report) = read(LogFormat::Auto, line, LogOptions::default());
    assert_eq!(
        (report.formats[0].as_str(), report.origin_unix_s, batch.response_bytes[0]),
        ("cloudfront-json", Some(1_732_096_800), 5120)
    );
    assert_eq!((batch.start_s[0], batch.server_s[0], batch.wait_s[0]), (0.988, 0.012, 0.011));
    let pairs = |pairs: &[&str]| LogFormat::Fields(pairs.iter().map(|pair| (*pair).to_owned()).collect());
    let format = pairs(&["date=date", "time=time", "url=cs-uri-stem", "bytes=sc-bytes"]);
    assert_eq!(read(format, line, LogOptions::default()).1.origin_unix_s, Some(1_732_096_801));
    let why = refused(pairs(&["time=time", "url=cs-uri-stem", "bytes=sc-bytes"]), line);
    assert_eq!(
        why,
        "--field: time is the time of a day and needs date=KEY; a whole time is start=KEY or end=KEY"
    );
}

#[test]
fn the_extended_format_is_read_as_its_draft_has_it() {
    let bytes = "#Version: 1.0\n#Fields: date time cs-method cs-uri sc-status bytes time-taken cs(User-Agent)\n\
                 2022-04-04\t14:00:53\tPOST\t/shop\t200\t1200\t0.024\ta\n";
    assert_eq!(read(LogFormat::Auto, bytes, LogOptions::default()).0.response_bytes, [1200]);
    let named = "#Fields: timestamp(ms) c-ip cs-method cs-uri-path sc-status sc-bytes\n1715335200123\t192.0.2.7\tGET\t/a\t200\t1200\n";
    let first = read(LogFormat::Auto, named, LogOptions::default()).1.first_request.unwrap();
    assert_eq!(((first.start_unix_s * 1e3).round(), first.url.as_str()), (1_715_335_200_123.0, "/a"));
    let quotes = "#Fields: c-ip date time cs(User-Agent) cs-uri sc-status sc-bytes\n\
                  192.0.2.3 2024-10-10 13:55:36 \"a \"\"b\"\" c\" \"/x y\" 200 9\n";
    let (batch, report) = read(LogFormat::Auto, quotes, LogOptions::default());
    assert_eq!((batch.response_bytes[0], report.first_request.unwrap().url.as_str()), (9, "/x y"));
    let cr = quotes.replace('\n', "\r");
    let old = read(LogFormat::Auto, &cr, LogOptions::default()).0;
    assert_eq!(format!("{old:?}"), format!("{batch:?}"), "CR alone ends lines");
    let sizeless = "#Fields: date time cs-method cs-uri-stem sc-status\n2026-03-01 08:00:01 GET /x 200\n2026-03-01 08:00:02 GET /x 304\n";
    let options = LogOptions { assume_bytes: Some(10_000), ..LogOptions::default() };
    let (batch, report) = read(LogFormat::Auto, sizeless, options);
    assert_eq!(batch.response_bytes, [10_000, 250]);
    assert!(report.assumptions.iter().any(|said| said.contains("not logged has 10000 B")));
}

#[test]
fn lines_of_the_same_program_that_are_no_requests_are_left_out() {
    let haproxy = "192.0.2.1:5 [14/Feb/2017:00:00:00.049] front back/srv 0/0/0/20/25 200 1250 - - ---- 0/0/0/0/0 0/0 \"GET / HTTP/1.1\"";
    let logs = [
        (haproxy, "Server back/srv is DOWN, reason: Layer4 timeout", "haproxy"),
        (
            haproxy,
            "192.0.2.1:5 [14/Feb/2017:00:00:00.049] front back/srv 0/0/5007 212 -- 0/0/0/0/0 0/0",
            "haproxy",
        ),
        (CLF, "2024/05/10 10:00:00 [error] 12#12: *3 open() \"/x\" failed", "clf"),
        (TRAEFIK, r#"{"level":"error","msg":"x","time":"2025-02-28T12:11:34Z"}"#, "traefik-json"),
        (CADDY, "Traceback (most recent call last):", "json"),
    ];
    for (line, other, format) in logs {
        let (batch, report) =
            read(LogFormat::Auto, &format!("{line}\n{other}\n{other}\n"), LogOptions::default());
        assert_eq!((batch.start_s.len(), report.formats[0].as_str()), (1, format));
        assert_eq!((report.dropped[&Reason::NoRequest], report.unreadable.count), (2, 0), "{other}");
    }
}
