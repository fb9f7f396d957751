//! Server times of logs, and the wait for the first byte in them.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

#[test]
fn server_times_are_taken_from_where_the_log_has_them() {
    let server = |format: &str, line: &str| {
        let options = LogOptions { rtt: Duration::from_millis(20), ..LogOptions::default() };
        let (batch, _) = read(LogFormat::Custom(format.into()), line, options);
        ((batch.start_s[0] * 1e6).round() / 1e6, (batch.server_s[0] * 1e6).round() / 1e6)
    };
    let line = "25/Oct/2015:04:11:25 +0100 \"GET /x HTTP/1.1\" 200 1000 0.350 0.100";
    let behind = "$time_local \"$request\" $status $bytes_sent $request_time $upstream_header_time";
    assert_eq!(server(behind, line), (0.65, 0.1), "of servers behind as it is; the logged time is the end");
    let alone = "$time_local \"$request\" $status $bytes_sent $request_time";
    assert_eq!(server(alone, line), (0.65, 0.33), "else less a round trip");
    let squid = "%ts.%03tu %tr %Ss/%>Hs %<st %rm %ru %Sh/%<a %<pt %<tt";
    let line = "1445742685.350 250 TCP_MISS/200 1000 GET http://a.example/ HIER_DIRECT/192.0.2.1 120 170";
    assert_eq!(
        server(squid, line),
        (0.1, 0.1),
        "the time at the server is nearer than the one with its set-up"
    );
    let apache = "%t \"%r\" %>s %b %D";
    let line = "[25/Oct/2015:04:11:25 +0100] \"GET /x HTTP/1.1\" 200 1000 350000";
    assert_eq!(server(apache, line), (0.0, 0.33), "the logged time is the start");
}

/// Server time and wait for the first byte, in ms, of a log of one line, with a round trip of 20 ms.
fn times(format: LogFormat, text: &str) -> (f64, f64) {
    let options = LogOptions { rtt: Duration::from_millis(20), ..LogOptions::default() };
    let (batch, _) = read(format, text, options);
    let [server, wait] = [&batch.server_s, &batch.wait_s].map(|column| (column[0] * 1e6).round() / 1e3);
    (server, wait)
}

/// [`times`], in words that can be compared.
fn said(format: LogFormat, text: &str) -> String {
    let (server, wait) = times(format, text);
    format!("{wait} of {server}")
}

const NGINX: &str = "$time_local \"$request\" $status $bytes_sent rt=$request_time \
                     uht=\"$upstream_header_time\" urt=\"$upstream_response_time\"";

fn nginx(header: &str, response: &str) -> String {
    let line = "25/Oct/2015:04:11:25 +0100 \"GET /x HTTP/1.1\" 200 1000 rt=0.350";
    said(LogFormat::Custom(NGINX.into()), &format!("{line} uht=\"{header}\" urt=\"{response}\""))
}

#[test]
fn nginx_logs_the_wait_for_the_header_of_each_server_that_it_asked() {
    assert_eq!(nginx("0.040", "0.100"), "40 of 100");
    assert_eq!(nginx("-, 0.060", "1.000, 0.150"), "1060 of 1150", "the first one did not answer in time");
    assert_eq!(nginx("0.010, 0.060", "0.012, 0.150"), "72 of 162", "the first one answered with an error");
    assert_eq!(nginx("0.010 : 0.060", "0.020 : 0.150"), "80 of 170", "the first one named another place");
    assert_eq!(nginx("0.010, -", "0.012, 1.000"), "NaN of 1012", "the last one never answered");
    assert_eq!(nginx("-", "-"), "NaN of 330", "nginx answered itself");
    assert_eq!(nginx("0.120", "0.100"), "100 of 100", "a wait ends with the whole");
    let json = r#"{"msec":"1445742685.350","request":"GET /x HTTP/1.1","status":"200","bytes_sent":"1000","request_time":"0.350","upstream_header_time":"0.040","upstream_response_time":"0.100"}"#;
    assert_eq!(said(LogFormat::JSON, json), "40 of 100");
    let header_only = json.replace(",\"upstream_response_time\":\"0.100\"", "");
    assert_eq!(said(LogFormat::JSON, &header_only), "40 of 40", "of a transfer nothing is known");
}

#[test]
fn a_trace_may_count_from_its_start() {
    let csv = LogFormat::Custom("{start},{url},{bytes}".into());
    let lines = "timestamp,object,size\n0,q:1,100\n1.5,q:2,200\n1.5,q:1,100\n90,q:1,100\n";
    let starts = |options| {
        let (batch, report) = read(csv.clone(), lines, options);
        (batch.start_s, report.origin_unix_s, report.dropped)
    };
    let header = BTreeMap::from([(Reason::Header, 1)]);
    assert_eq!(starts(LogOptions::default()), (vec![0.0, 1.5, 1.5, 90.0], Some(0), header));
    let bound = |text: &str| Bound::parse(text);
    let inside = starts(LogOptions { from: bound("1s"), to: bound("1.500001s"), ..LogOptions::default() });
    assert_eq!((inside.0, inside.1), (vec![0.5, 0.5], Some(1)));
    let keys = LogFormat::Fields(["start=t", "url=u", "bytes=n"].map(Into::into).to_vec());
    assert_eq!(read(keys, r#"{"t":7,"u":"/a","n":9}"#, LogOptions::default()).1.origin_unix_s, Some(7));
    let millis = LogFormat::Custom("{start:ms},{},{url},{bytes}".into());
    let lines = "# timestamp (ms), op type, object id, object size\n0,1,A,8\n103,1,B,3\n90000,1,A,8\n";
    let (batch, report) = read(millis, lines, LogOptions::default());
    assert_eq!(
        (batch.start_s, report.dropped),
        (vec![0.0, 0.103, 90.0], BTreeMap::from([(Reason::Header, 1)]))
    );
    let mixed = ["0,q,100\n1445742685,q,100\n", "1445742685,q,100\n0,q,100\n"];
    for text in mixed {
        let (batch, report) = read(csv.clone(), text, any_unreadable());
        assert_eq!((batch.start_s.len(), report.unreadable_by["time"]), (1, 1), "{text}");
    }
    let why = error(csv, b"-1,q,100\n", LogOptions::default());
    assert!(why.contains("time: found \"-1\""), "{why}");
}

#[test]
fn time_outs_are_counted_and_answered_at_their_end() {
    let lines = |waits: &[(u64, u64)]| {
        let line = |(status, ms): &(u64, u64)| {
            format!("c - - [25/Oct/2015:04:11:25 +0100] \"GET /x HTTP/1.1\" {status} 3000 {}", ms * 1000)
        };
        let text = waits.iter().map(line).collect::<Vec<_>>().join("\n");
        read(LogFormat::Custom("%h %l %u %t \"%r\" %>s %b %D".into()), &text, LogOptions::default())
    };
    let (batch, report) =
        lines(&[(503, 155_000), (504, 60_000), (503, 9_999), (200, 155_000), (500, 20_000)]);
    let waits: Vec<_> = batch.wait_s.iter().map(|wait| wait.is_nan()).collect();
    assert_eq!(waits, [false, false, false, true, true], "a page comes at once, when the wait is over");
    assert_eq!(batch.wait_s[..3], batch.server_s[..3]);
    assert_eq!(
        report.time_outs,
        TimeOuts { requests: 2, longest_s: 155.0, status: 503, line: 1, log: String::new() }
    );
    assert_eq!(lines(&[(200, 155_000)]).1.time_outs, TimeOuts::default());
}

#[test]
fn first_bytes_that_a_server_sent_are_part_of_its_elapsed_time() {
    let line = "c - - [25/Oct/2015:04:11:25 +0100] \"GET /x HTTP/1.1\" 200 1000";
    let apache = |directives: &str, values: &str| {
        let format = LogFormat::Custom(format!("%h %l %u %t \"%r\" %>s %b {directives}"));
        said(format, &format!("{line} {values}"))
    };
    assert_eq!(apache("%D %^FB", "350000 120000"), "100 of 330");
    assert_eq!(apache("%^FB %D", "120000 350000"), "100 of 330");
    assert_eq!(apache("%{X}^ti %D %^FB", "text 350000 120000"), "100 of 330", "a trailer in between");
    assert_eq!(apache("%D %^FB", "350000 -"), "NaN of 330", "LogIOTrackTTFB is off");
    assert_eq!(apache("%D %^FB", "350000 15000"), "0 of 330", "less than the round trip");
    assert_eq!(apache("%T %^FB", "1 1400000"), "980 of 980", "a wait of µs ends with a whole of s");
    assert_eq!(apache("%^FB", "120000"), "NaN of NaN", "a wait is part of a whole");
    assert_eq!(apache("%D %{Varnish:time_firstbyte}x", "350000 0.120417"), "100.417 of 330");
    let cloudfront = |first: &str, taken: &str| {
        let fields = "#Fields: date time sc-bytes cs-method cs(Host) cs-uri-stem sc-status time-taken time-to-first-byte";
        let line = "2026-03-01\t08:00:01\t2390\tGET\td1.example\t/a\t200";
        said(
            LogFormat::W3C,
            &format!("{}\n{line}\t{taken}\t{first}\n", fields.replacen("date time", "date\ttime", 1)),
        )
    };
    assert_eq!(cloudfront("0.120", "0.250"), "100 of 230");
    assert_eq!(cloudfront("0.250", "0.250"), "230 of 230");
}

#[test]
fn squid_does_not_say_when_the_first_byte_came() {
    let squid = "%ts.%03tu %tr %Ss/%>Hs %<st %rm %ru %Sh/%<a %<pt %<tt";
    let line = "1445742685.350 250 TCP_MISS/200 1000 GET http://a.example/ HIER_DIRECT/192.0.2.1 120 170";
    assert_eq!(said(LogFormat::Custom(squid.into()), line), "NaN of 100");
}

proptest! {
    #[test]
    fn a_wait_is_part_of_the_server_time(
        asked in proptest::collection::vec((proptest::option::of(0..5000_u32), 0..5000_u32), 1..4),
    ) {
        let list = |spans: Vec<Option<u32>>| {
            let each = |span: &Option<u32>| span.map_or("-".into(), |ms| format!("{}.{:03}", ms / 1000, ms % 1000));
            spans.iter().map(each).collect::<Vec<_>>().join(", ")
        };
        let header = list(asked.iter().map(|(header, _)| *header).collect());
        let response = list(asked.iter().map(|(_, response)| Some(*response)).collect());
        let line = format!("25/Oct/2015:04:11:25 +0100 \"GET / HTTP/1.1\" 200 9 rt=0 uht=\"{header}\" urt=\"{response}\"");
        let (server, wait) = times(LogFormat::Custom(NGINX.into()), &line);
        prop_assert_eq!(server, f64::from(asked.iter().map(|(_, response)| *response).sum::<u32>()));
        match *asked.last().unwrap() {
            (Some(header), response) => prop_assert_eq!(server - wait, f64::from(response.saturating_sub(header))),
            (None, _) => prop_assert!(wait.is_nan()),
        }
    }
}

/// Server times in ms of a log, and what was decided about its unit.
fn decided(format: LogFormat, text: &str, unit: Option<&str>) -> (Vec<f64>, String) {
    let lines = || Lines::new("access.log".into(), Cursor::new(text.as_bytes().to_vec())).unwrap();
    let known = Overview::of_lines(vec![lines()], &format).unwrap().about(0);
    let elapsed_unit = unit.map(|unit| unit.parse().unwrap());
    let options = LogOptions { elapsed_unit, ..any_unreadable() };
    let mut reader = LogReader::new(lines(), &format, options, known).unwrap();
    let times = reader.batch(usize::MAX).unwrap().unwrap_or_default().server_s;
    let millis = times.iter().map(|seconds| (seconds * 1e6).round() / 1e3).collect();
    (millis, reader.report().units.concat().replace("times are ", ""))
}

/// A log of the extended format with these values of `time-taken`.
fn w3c(head: &str, spans: &[&str]) -> String {
    let line = |span: &&str| format!("2026-03-01 08:00:01 GET /x 200 900 {span}\n");
    let fields = "#Fields: date time cs-method cs-uri-stem sc-status sc-bytes time-taken\n";
    format!("{head}{fields}{}", spans.iter().map(line).collect::<String>())
}

/// Lines of Application Gateway or Front Door with these values of `timeTaken`, and other keys.
fn azure(more: &str, spans: &[&str]) -> String {
    let line = |span: &&str| {
        format!(
            r#"{{"time":"2024-05-01T10:00:01.1Z","properties":{{{more}"httpMethod":"GET","requestUri":"/a","sentBytes":900,"httpStatus":200,"timeTaken":{span}}}}}"#
        )
    };
    spans.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn object(key: &str, spans: &[&str]) -> String {
    let line = |span: &&str| {
        format!(
            r#"{{"time":"2024-05-10T10:00:00Z","method":"GET","path":"/a","status":200,"bytes":512,"{key}":{span}}}"#
        )
    };
    spans.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_log_has_one_unit() {
    const ALL: [&str; 3] = ["0.250", "2", "0"];
    let iis = "#Software: Microsoft Internet Information Services 10.0\n";
    let (seconds, millis) = ("in s, as some have decimals", "in ms, as none has decimals");
    let edge = "#Fields: date time x-edge-location sc-bytes cs-method cs-uri-stem sc-status time-taken\n\
                2019-12-04\t21:02:31\tLAX1\t900\tGET\t/a\t200\t1\n2019-12-04\t21:02:31\tLAX1\t900\tGET\t/a\t200\t0\n";
    let program = "in s, as the program that wrote the log has them";
    let rows = [
        (w3c("", &ALL), None, vec![250.0, 2000.0, 0.0], seconds),
        (w3c("", &["2", "0.250"]), None, vec![2000.0, 250.0], seconds),
        (w3c("", &["2", "40"]), None, vec![2.0, 40.0], millis),
        (w3c("", &["2", "40"]), Some("s"), vec![2000.0, 40_000.0], ""),
        (w3c("", &["2.5", "40"]), Some("ms"), vec![2.5, 40.0], ""),
        (w3c("", &["2000", "-"]), Some("us"), vec![2.0, f64::NAN], ""),
        (w3c(iis, &["2", "40"]), None, vec![2.0, 40.0], "in ms, as IIS writes them"),
        (edge.to_owned(), None, vec![1000.0, 0.0], program),
        (azure("", &["2", "40"]), None, vec![2.0, 40.0], millis),
        (azure("", &["\"2\"", "\"40\""]), None, vec![2.0, 40.0], millis),
        (azure("", &["2", "0.040"]), None, vec![2000.0, 40.0], seconds),
        (azure("", &["2", "3.0"]), None, vec![2000.0, 3000.0], seconds),
        (azure(r#""trackingReference":"r1","#, &["\"2\"", "\"0\""]), None, vec![2000.0, 0.0], program),
        (azure(r#""transactionId":"a1","#, &["2", "1"]), None, vec![2000.0, 1000.0], program),
        (azure(r#""serverRouted":"10.0.0.4:80","#, &["2"]), None, vec![2000.0], program),
        (azure(r#""serverStatus":"200","#, &["2"]), None, vec![2000.0], program),
        (azure("", &["2", "40"]), Some("s"), vec![2000.0, 40_000.0], ""),
        (object("request_time", &["0.012", "3"]), None, vec![12.0, 3000.0], seconds),
        (object("request_time", &["3", "0.012"]), None, vec![3000.0, 12.0], seconds),
        (object("request_time", &["\"3.000\"", "\"4\""]), None, vec![3000.0, 4000.0], seconds),
        (object("request_time", &["12000", "7"]), Some("us"), vec![12.0, 0.007], ""),
        (object("duration", &["12", "12.5"]), Some("ms"), vec![12.0, 12.5], ""),
        (object("latency", &["12000000"]), Some("ns"), vec![12.0], ""),
        (object("duration", &["\"12ms\"", "\"1.5s\""]), None, vec![12.0, 1500.0], ""),
    ];
    for (text, unit, expected, said) in rows {
        let (found, why) = decided(LogFormat::Auto, &text, unit);
        assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{text}");
        assert_eq!(why.split(';').next().unwrap(), said, "{text}");
    }
}

#[test]
fn the_whole_log_decides_also_behind_its_first_lines() {
    let mut spans = vec!["2"; 3000];
    spans.push("0.5");
    for text in [w3c("", &spans), azure("", &spans), object("request_time", &spans)] {
        let (found, _) = decided(LogFormat::Auto, &text, None);
        assert_eq!((found[0], found[3000]), (2000.0, 500.0));
    }
    // Standard input is read once: its first lines decide, and what does not fit is named.
    let (batch, report) = read(LogFormat::Auto, &w3c("", &spans), any_unreadable());
    assert_eq!((batch.server_s[0], batch.server_s.len(), report.unreadable.count), (0.002, 3000, 1));
    let why = &report.unreadable.first[0].why;
    assert!(
        why.contains(
            "not a whole number of ms as in the lines before; state the unit: --elapsed-unit s or ms"
        ),
        "{why}"
    );
}

#[test]
fn a_unit_is_not_stated_for_a_format_that_has_one() {
    let front_door = azure(r#""trackingReference":"r1","#, &["2"]);
    let iis = w3c("#Software: Microsoft Internet Information Services 10.0\n", &["2"]);
    let rows = [
        (clf("\"GET /x HTTP/1.1\" 200 1000"), "its format states the units of its times, or has no times"),
        (MISS.to_owned(), "its format states the units of its times, or has no times"),
        (front_door, "its times are in s, as the program that wrote the log has them"),
        (iis, "its times are in ms, as IIS writes them"),
    ];
    for (text, why) in rows {
        let options = LogOptions { elapsed_unit: Some("s".parse().unwrap()), ..LogOptions::default() };
        assert_eq!(
            error(LogFormat::Auto, text.as_bytes(), options),
            format!("access.log: --elapsed-unit: {why}")
        );
    }
    let wrong = "min".parse::<Unit>().unwrap_err().to_string();
    assert_eq!(wrong, "--elapsed-unit: found \"min\"; write one of: s, ms, us, ns");
}

#[test]
fn an_upgraded_connection_lasts_as_long_as_its_line_says() {
    let haproxy = |request: &str, status: &str| {
        format!(
            "192.0.2.1:5 [14/Feb/2017:00:00:00.049] front back/srv 0/0/0/20/60000 {status} 125000 - - ---- 0/0/0/0/0 0/0 \"{request}\""
        )
    };
    let connect = squid("TCP_TUNNEL/200", "CONNECT a.example:443", "HIER_DIRECT/192.0.2.1");
    let clf = "c - - [25/Oct/2015:04:11:25 +0100] \"GET /ws HTTP/1.1\" 101 70000";
    let rows = [
        (haproxy("GET /ws HTTP/1.1", "101"), "0 of 59980"),
        (haproxy("CONNECT /ws HTTP/2.0", "200"), "0 of 59980"),
        (haproxy("GET /ws HTTP/1.1", "200"), "20 of 20"),
        (connect, "NaN of NaN"),
        (clf.to_owned(), "NaN of NaN"),
    ];
    for (line, expected) in rows {
        assert_eq!(said(LogFormat::Auto, &line), expected, "{line}");
    }
}
