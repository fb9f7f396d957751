mod apart;
mod caching;
mod facts;
mod known;
mod reported;
mod results;
mod squid;
mod strings;
mod times;
mod written;

use std::io::{Cursor, Read, Write as _};

use insta::assert_snapshot;
use proptest::prelude::*;

use squid::squid;

use super::*;
use crate::schema::NULL_INT;
use crate::units::Duration;
use crate::workload::ObjectId;

const MISS: &str = "1000000000.500    250 10.0.0.1 TCP_MISS/200 1000 GET http://A.example:8080/x - DIRECT/192.0.2.1 text/html";

fn reader(format: LogFormat, bytes: &[u8], options: LogOptions) -> Result<LogReader, WorkloadError> {
    let lines = Lines::new("access.log".into(), Cursor::new(bytes.to_vec()))?;
    LogReader::new(lines, &format, options, KnownOfLog::default())
}

/// All requests of a log in one batch, and the report.
fn read(format: LogFormat, text: &str, options: LogOptions) -> (LogBatch, Report) {
    let mut reader = reader(format, text.as_bytes(), options).unwrap();
    let batch = reader.batch(usize::MAX).unwrap().unwrap_or_default();
    assert_eq!(reader.batch(usize::MAX).unwrap(), None);
    (batch, reader.report().clone())
}

fn error(format: LogFormat, bytes: &[u8], options: LogOptions) -> String {
    let mut reader = match reader(format, bytes, options) {
        Ok(reader) => reader,
        Err(error) => return error.to_string(),
    };
    loop {
        match reader.batch(10) {
            Ok(Some(_)) => {}
            Ok(None) => return "no error".into(),
            Err(error) => return error.to_string(),
        }
    }
}

/// The pseudonym that a key of zeros gives a client.
fn pseudonym(client: &str) -> u64 {
    ClientKey::new([0; 16]).pseudonym(client.as_bytes()).get()
}

fn forwarded() -> LogOptions {
    LogOptions { client_from_forwarded: true, client_names: ClientNames::AsLogged, ..any_unreadable() }
}

/// The clients of the requests of a log as it names them.
fn clients(format: LogFormat, text: &str, options: LogOptions) -> Vec<Option<String>> {
    match read(format, text, LogOptions { client_names: ClientNames::AsLogged, ..options }).0.client {
        ClientColumn::AsLogged(words) => {
            (0..words.codes.len()).map(|row| words.word(row).map(Into::into)).collect()
        }
        ClientColumn::Pseudonyms(_) => panic!("clients as logged"),
    }
}

#[test]
fn every_format_gives_clients() {
    let nginx = LogFormat::Custom("$remote_addr [$time_local] \"$request\" $status $body_bytes_sent".into());
    let lines = [
        (LogFormat::SQUID, MISS.to_owned(), "10.0.0.1"),
        (LogFormat::CLF, clf("\"GET /x HTTP/1.0\" 200 1000"), "c.example"),
        (nginx, "10.0.0.2 [25/Oct/2015:04:11:25 +0100] \"GET / HTTP/1.1\" 200 5".into(), "10.0.0.2"),
        (
            LogFormat::W3C,
            "#Fields: date time c-ip cs-method cs-uri-stem sc-status sc-bytes\n\
             2015-10-25 04:11:25 2001:db8::1 GET /x 200 1000"
                .into(),
            "2001:db8::1",
        ),
        (
            LogFormat::JSON,
            r#"{"ts":1445742685.5,"request":{"remote_ip":"10.0.0.3","method":"GET","uri":"/","host":"a"},"status":200,"size":5}"#
                .into(),
            "10.0.0.3",
        ),
        (
            LogFormat::CLF,
            "host\tlogname\ttime\tmethod\turl\tresponse\tbytes\nnz.example\t-\t804571201\tGET\t/x\t200\t50".into(),
            "nz.example",
        ),
    ];
    for (format, text, client) in lines {
        assert_eq!(
            clients(format.clone(), &text, LogOptions::default()),
            [Some(client.to_owned())],
            "{text}"
        );
        let (batch, _) = read(format, &text, LogOptions::default());
        assert_eq!(batch.client, ClientColumn::Pseudonyms(vec![pseudonym(client)]), "{text}");
    }
}

#[test]
fn a_client_has_one_pseudonym_in_all_batches_and_none_where_the_log_has_none() {
    let line = |second: u32, client: &str| {
        format!("{client} - - [25/Oct/2015:04:11:{second} +0100] \"GET /x HTTP/1.0\" 200 9\n")
    };
    let text = line(25, "a") + &line(26, "-") + &line(27, "a") + &line(28, "b");
    let mut reader = reader(LogFormat::CLF, text.as_bytes(), LogOptions::default()).unwrap();
    let mut ids = Vec::new();
    while let Some(batch) = reader.batch(1).unwrap() {
        match batch.client {
            ClientColumn::Pseudonyms(clients) => ids.push(clients),
            ClientColumn::AsLogged(_) => panic!("pseudonyms"),
        }
    }
    let [a, b] = ["a", "b"].map(pseudonym);
    assert_eq!(ids, [[a], [u64::MAX], [a], [b]]);
    assert_eq!(clients(LogFormat::CLF, &text, LogOptions::default())[1], None);
}

#[test]
fn the_client_comes_from_x_forwarded_for_when_asked() {
    let rest = "10.0.0.1 [25/Oct/2015:04:11:25 +0100] \"GET / HTTP/1.1\" 200 5";
    let formats = [
        "$remote_addr [$time_local] \"$request\" $status $body_bytes_sent \"$http_x_forwarded_for\"",
        "%h %t \"%r\" %>s %b \"%{x-forwarded-for}i\"",
        "%>a [%tl] \"%rm %ru HTTP/%rv\" %>Hs %<st \"%{X-Forwarded-For}>h\"",
    ];
    for format in formats {
        let format = LogFormat::Custom(format.into());
        let text = format!("{rest} \"203.0.113.9, 10.0.0.7\"\n{rest} \"-\"\n{rest} \"unknown\"\n");
        let expected = ["203.0.113.9", "10.0.0.1", "10.0.0.1"].map(|client| Some(client.to_owned()));
        assert_eq!(clients(format.clone(), &text, forwarded()), expected, "{format}");
        let direct = clients(format, &text, any_unreadable());
        assert_eq!(direct, vec![Some("10.0.0.1".to_owned()); 3]);
    }
    let w3c = "#Fields: date time c-ip cs-method cs-uri-stem sc-status sc-bytes cs(X-Forwarded-For)\n\
               2015-10-25 04:11:25 10.0.0.1 GET /x 200 1000 203.0.113.9";
    assert_eq!(clients(LogFormat::W3C, w3c, forwarded()), [Some("203.0.113.9".to_owned())]);
    let caddy = r#"{"ts":1445742685.5,"request":{"remote_ip":"10.0.0.1","method":"GET","uri":"/","host":"a","headers":{"X-Forwarded-For":["203.0.113.9"]}},"status":200,"size":5}"#;
    assert_eq!(clients(LogFormat::JSON, caddy, forwarded()), [Some("203.0.113.9".to_owned())]);
    let selected = LogOptions { client: Some("203.*".into()), ..forwarded() };
    assert_eq!(clients(LogFormat::JSON, caddy, selected).len(), 1, "selection sees the same client");
}

#[test]
fn a_log_without_x_forwarded_for_is_refused_with_the_fields_that_it_has() {
    let w3c = "#Version: 1.0\n#Fields: date time c-ip cs-method cs-uri-stem sc-status sc-bytes\n";
    let json = r#"{"ts":1445742685.5,"request":{"remote_ip":"10.0.0.1","method":"GET","uri":"/"},"status":200,"size":5}"#;
    let errors = [
        error(LogFormat::CLF, clf("\"GET /x HTTP/1.0\" 200 9").as_bytes(), forwarded()),
        error(LogFormat::W3C, w3c.as_bytes(), forwarded()),
        error(LogFormat::JSON, json.as_bytes(), forwarded()),
        error(LogFormat::CLF, b"host\tlogname\ttime\tmethod\turl\tresponse\tbytes\n", forwarded()),
    ];
    assert_snapshot!(errors.join("\n"), @r#"
    access.log: has no field X-Forwarded-For; its fields are %h %l %u %t "%r" %>s %b
    access.log: has no field X-Forwarded-For; its fields are date, time, c-ip, cs-method, cs-uri-stem, sc-status, sc-bytes
    access.log: has no field X-Forwarded-For; its fields are ts, request.remote_ip, request.method, request.uri, status, size
    access.log: has no field X-Forwarded-For; its fields are host, logname, time, method, url, response, bytes
    "#);
}

fn keep(keep: Keep) -> LogOptions {
    LogOptions { keep: Some(keep), ..LogOptions::default() }
}

fn any_unreadable() -> LogOptions {
    LogOptions { max_unreadable: 1.0, ..LogOptions::default() }
}

/// Fate of one line: `kept` with the response size, a reason, or an error.
fn fate(format: LogFormat, line: &str, options: &LogOptions) -> String {
    let options = LogOptions { max_unreadable: 1.0, ..options.clone() };
    let (batch, report) = read(format, line, options);
    match (batch.response_bytes.first(), report.dropped.first_key_value(), report.unreadable.first.first()) {
        (Some(bytes), None, None) => format!("kept {bytes}"),
        (None, Some((reason, 1)), None) => serde_json::to_value(reason).unwrap().as_str().unwrap().into(),
        (None, None, Some(unreadable)) => unreadable.why.clone(),
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn requests_stay_in_the_order_of_the_log_and_the_report_says_whether_it_is_sorted() {
    let later = "1000000001.000 1900 c TCP_MISS/200 9 GET http://b.example/ - DIRECT/- -";
    let (batch, report) =
        read(LogFormat::SQUID, &format!("{MISS}\n{later}\n{MISS}\n"), LogOptions::default());
    assert_eq!(batch.start_s, [0.25, -0.9, 0.25]);
    assert_eq!(
        batch.host,
        crate::workload::Words { codes: vec![0, 1, 0], words: vec!["a.example".into(), "b.example".into()] }
    );
    assert!(!report.sorted);
    assert_eq!((report.first_start_s, report.last_start_s), (Some(-0.9), Some(0.25)));
}

fn clf(rest: &str) -> String {
    format!("c.example - - [25/Oct/2015:04:11:25 +0100] {rest}")
}

#[test]
fn a_line_of_the_common_or_combined_format_becomes_a_request() {
    let line = clf("\"GET /x HTTP/1.1\" 200 1000 \"http://b.example/\" \"Mozilla \\\"5.0\"");
    let options = LogOptions { server_name: "Www.example".into(), ..LogOptions::default() };
    let (batch, report) = read(LogFormat::CLF, &line, options);
    assert_eq!(batch.start_s, [0.0]);
    assert_eq!(report.origin_unix_s, Some(1_445_742_685));
    assert_eq!(batch.host.word(0), Some("Www.example"));
    assert_eq!(batch.request_bytes, [3 + 1 + 2 + 1 + 10 + 8 + 11 + 205 + 2]);
    assert_eq!(batch.response_bytes, [1250]);
    assert!(batch.server_s[0].is_nan());
}

#[test]
fn each_fate_of_a_line_of_a_web_server() {
    let lines = [
        "\"GET /x HTTP/1.0\" 200 1000",
        "\"GET /x\" 200 1000",
        "\"GET /x align=left HTTP/1.0\" 200 1000",
        "\"GET /\\\"x\\\" HTTP/1.0\" 200 1000",
        "\"GET /\"x\" HTTP/1.0\" 200 1000",
        "\"GET /\\\" 200 5 HTTP/1.0\" 404 1000",
        "\"HEAD /x HTTP/1.0\" 200 0",
        "\"HEAD /x HTTP/1.0\" 200 1000",
        "\"GET /x HTTP/1.0\" 206 1000",
        "\"GET /x HTTP/1.0\" 302 -",
        "\"GET /x HTTP/1.0\" 304 -",
        "\"GET /x HTTP/1.0\" 304 1000",
        "\"GET /x HTTP/1.0\" 204 1000",
        "\"GET /x HTTP/1.0\" 404 1000",
        "\"\\x16\\x03\\x01\" 400 226",
        "\"-\" 408 -",
        "\"- http://a.example:80- -\" 400 226",
        "\"\\x16\\x03\\x01\" 200 226",
        "\"GET \" 200 226",
        "\"GET /x HTTP/1.0\" 200 -5",
        "\"GET /x HTTP/1.0\" 2000 5",
        "\"GET /x HTTP/1.0",
        "GET /x 200 5",
    ];
    let fates =
        lines.map(|rest| format!("{rest} => {}", fate(LogFormat::CLF, &clf(rest), &LogOptions::default())));
    assert_snapshot!(fates.join("\n"), @r#"
    "GET /x HTTP/1.0" 200 1000 => kept 1250
    "GET /x" 200 1000 => kept 1250
    "GET /x align=left HTTP/1.0" 200 1000 => kept 1250
    "GET /\"x\" HTTP/1.0" 200 1000 => kept 1250
    "GET /"x" HTTP/1.0" 200 1000 => kept 1250
    "GET /\" 200 5 HTTP/1.0" 404 1000 => kept 1250
    "HEAD /x HTTP/1.0" 200 0 => kept 250
    "HEAD /x HTTP/1.0" 200 1000 => kept 250
    "GET /x HTTP/1.0" 206 1000 => kept 1250
    "GET /x HTTP/1.0" 302 - => kept 250
    "GET /x HTTP/1.0" 304 - => kept 250
    "GET /x HTTP/1.0" 304 1000 => kept 250
    "GET /x HTTP/1.0" 204 1000 => kept 250
    "GET /x HTTP/1.0" 404 1000 => kept 1250
    "\x16\x03\x01" 400 226 => no-request
    "-" 408 - => no-request
    "- http://a.example:80- -" 400 226 => no-request
    "\x16\x03\x01" 200 226 => request: found "\\x16\\x03\\x01", not a method and a URL
    "GET " 200 226 => request: found "GET ", not a method and a URL
    "GET /x HTTP/1.0" 200 -5 => bytes: found "-5", not a number of bytes from 0 to 2^53, or -
    "GET /x HTTP/1.0" 2000 5 => has no "\" " after the request
    "GET /x HTTP/1.0 => has no "\" " after the request
    GET /x 200 5 => has no "] \"" after the time
    "#);
    let bad = |line: &str| fate(LogFormat::CLF, line, &LogOptions::default());
    assert_eq!(bad("c - - 25/Oct/2015:04:11:25 \"GET /x HTTP/1.0\" 200 5"), "has no \" [\" after the user");
    assert_eq!(bad("c - - [25/Oct/2015 \"GET /x HTTP/1.0\" 200 5"), "has no \"] \\\"\" after the time");
    assert_eq!(
        bad("c - - [32/Oct/2015:04:11:25 +0100] \"GET /x HTTP/1.0\" 200 5"),
        "time: found \"32/Oct/2015:04:11:25 +0100\", not a Unix time since 1990, dd/Mon/yyyy:HH:MM:SS +zzzz or \
         yyyy-mm-ddTHH:MM:SS"
    );
}

#[test]
fn requests_of_one_second_are_spread_evenly_over_it() {
    let line = |second: u32| format!("c - - [25/Oct/2015:04:11:{second} +0100] \"GET / HTTP/1.0\" 200 1\n");
    let text: String = [25, 25, 25, 25, 26, 25].map(line).concat();
    let starts = |rows| {
        let mut reader = reader(LogFormat::CLF, text.as_bytes(), LogOptions::default()).unwrap();
        let mut sizes = Vec::new();
        let mut starts = Vec::new();
        while let Some(batch) = reader.batch(rows).unwrap() {
            sizes.push(batch.start_s.len());
            starts.extend(batch.start_s);
        }
        (sizes, starts)
    };
    let spread = vec![0.0, 0.25, 0.5, 0.75, 1.0, 0.0];
    assert_eq!(starts(usize::MAX), (vec![6], spread.clone()));
    assert_eq!(starts(1), (vec![4, 1, 1], spread.clone()), "a second is not divided");
    assert_eq!(starts(5), (vec![5, 1], spread));
    let (batch, _) = read(LogFormat::CLF, &text, LogOptions::default());
    assert_eq!(batch.second, [25, 25, 25, 25, 26, 25].map(|second| 1_445_742_660 + second));
    let (finer, _) = read(LogFormat::SQUID, MISS, LogOptions::default());
    assert_eq!((&finer.second[..], &finer.before_s[..]), (&[NULL_INT][..], &[0.25][..]));
}

#[test]
fn a_tab_separated_log_is_known_by_its_header_line() {
    let text = "host\tlogname\ttime\tmethod\turl\tresponse\tbytes\treferer\tuseragent\n\
                c.example\t-\t807256800\tGET\t/x \"y\"\t200\t1713\t\t\n\
                c.example\t-\t807256801.5\tGET\t/x\t304\t0\t\t\n\
                c.example\t-\n";
    let (batch, report) = read(LogFormat::CLF, text, any_unreadable());
    assert_eq!((batch.start_s[0], &batch.response_bytes[..]), (0.0, &[1963, 250][..]));
    assert_eq!(report.origin_unix_s, Some(807_256_800));
    assert_eq!((report.lines, report.unreadable.count), (4, 1));
    assert_eq!((report.dropped[&Reason::Header], report.formats[0].as_str()), (1, "clf"));
    assert_eq!(report.unreadable.first[0].line, 4);
    let twice = text.lines().take(2).chain(text.lines().take(1)).collect::<Vec<_>>().join("\n");
    assert_eq!(
        read(LogFormat::CLF, &twice, any_unreadable()).1.unreadable.count,
        1,
        "only the first is a header"
    );
}

#[test]
fn too_many_unreadable_lines_are_an_error_that_shows_the_first() {
    let line = clf("\"GET /x HTTP/1.0\" 200 1000");
    let default = LogOptions::default;
    assert_snapshot!(error(LogFormat::SQUID, format!("{MISS}\n{line}\n").as_bytes(), default()), @r#"access.log: 1 of 2 lines cannot be read, more than --max-unreadable 0.01 allows; the first is line 2: time: found "c.example", not a Unix time since 1990, dd/Mon/yyyy:HH:MM:SS +zzzz or yyyy-mm-ddTHH:MM:SS, in "c.example - - [25/Oct/2015:04:11:25 +0100] \"GET /x HTTP/1.0\" 200 1000"; that line reads as format clf"#);
    assert_snapshot!(error(LogFormat::CLF, MISS.as_bytes(), default()), @r#"access.log: 1 of 1 lines cannot be read, more than --max-unreadable 0.01 allows; the first is line 1: client: found "1000000000.500", not an address or a name, in "1000000000.500    250 10.0.0.1 TCP_MISS/200 1000 GET http://A.example:8080/x - DIRECT/192.0.2.1 text/html"; that line reads as format squid"#);
    assert_snapshot!(error(LogFormat::SQUID, b"hello\n", default()), @r#"access.log: 1 of 1 lines cannot be read, more than --max-unreadable 0.01 allows; the first is line 1: has no " " after the time, in "hello""#);
    let mostly = format!("{}junk\n", format!("{MISS}\n").repeat(99));
    assert_eq!(error(LogFormat::SQUID, mostly.as_bytes(), default()), "no error");
    assert_eq!(error(LogFormat::SQUID, b"", default()), "no error");
}

#[test]
fn a_file_of_junk_is_given_up_early() {
    let junk = b"junk\n".repeat(5000);
    let mut reader = reader(LogFormat::SQUID, &junk, LogOptions::default()).unwrap();
    let error = reader.batch(10).unwrap_err().to_string();
    assert!(error.starts_with("access.log: 1000 of 1000 lines cannot be read"), "{error}");
    assert_eq!(reader.report().unreadable.first.len(), 20);
}

#[test]
fn hostile_files_are_refused_or_passed_over() {
    let binary = [7_u8, 0, 255].repeat(100);
    let expected = "access.log: is not text but binary data (byte 0x00 at offset 1)";
    assert_eq!(error(LogFormat::SQUID, &binary, LogOptions::default()), expected);
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    for nonce in 0..20_000_u64 {
        writeln!(encoder, "{MISS}{}", nonce * nonce).unwrap();
    }
    let packed = encoder.finish().unwrap();
    assert_eq!(error(LogFormat::SQUID, &packed, LogOptions::default()), "no error");
    let cut = error(LogFormat::SQUID, &packed[..packed.len() - 100], LogOptions::default());
    assert!(cut.ends_with("the gzip data ends too early: the file was cut off"), "{cut}");
    let long = std::io::repeat(b'1').take(100_000_000).chain(Cursor::new(format!("\n{MISS}\n")));
    let lines = Lines::new("access.log".into(), long).unwrap();
    let mut reader =
        LogReader::new(lines, &LogFormat::SQUID, any_unreadable(), KnownOfLog::default()).unwrap();
    assert_eq!(reader.batch(10).unwrap().unwrap().start_s.len(), 1);
    assert_eq!(reader.report().unreadable.first[0].why, "is longer than 1048576 bytes");
    assert!(reader.report().unreadable.first[0].text.len() < 200);
}

#[test]
fn the_report_is_plain_json() {
    let (_, report) = read(LogFormat::SQUID, &format!("{MISS}\njunk\n\n"), any_unreadable());
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["dropped"], serde_json::json!({ "blank": 1 }));
    let expected = serde_json::json!([{ "log": "", "line": 2, "why": "has no \" \" after the time", "text": "\"junk\"" }]);
    assert_eq!(json["unreadable"], expected);
}

const CADDY: &str = r#"{"level":"info","ts":1646861401.5241024,"logger":"http.log.access","msg":"handled request","request":{"remote_ip":"127.0.0.1","remote_port":"41342","client_ip":"127.0.0.1","proto":"HTTP/2.0","method":"GET","host":"Localhost:8443","uri":"/a?b","headers":{"User-Agent":["curl/7.82.0"]}},"bytes_read":0,"user_id":"","duration":0.000929675,"size":10900,"status":200,"resp_headers":{"Server":["Caddy"]}}"#;

/// Start since the origin, host, request bytes, response bytes and server time (in ms) of each request, and the format.
fn requests(format: LogFormat, text: &str) -> String {
    let (batch, report) = read(format, text, LogOptions::default());
    let row = |row: usize| {
        let server_ms = (batch.server_s[row] * 1e3 * 1e3).round() / 1e3;
        format!(
            "{:.3} {} {} {} {server_ms}",
            batch.start_s[row],
            batch.host.word(row).unwrap(),
            batch.request_bytes[row],
            batch.response_bytes[row]
        )
    };
    let dropped: Vec<_> =
        report.dropped.iter().map(|(reason, lines)| format!("{reason:?} {lines}")).collect();
    let rows: Vec<_> = (0..batch.start_s.len()).map(row).collect();
    format!(
        "{} from {:?}\n{}\n{}",
        report.formats[0],
        report.origin_unix_s,
        rows.join("\n"),
        dropped.join(", ")
    )
}

#[test]
fn vhosts_stand_in_front_of_lines() {
    let text = "www.Example.org:443 192.0.2.1 - - [25/Oct/2015:04:11:25 +0100] \"GET /x HTTP/1.1\" 200 5312 \"-\" \"Mozilla/5.0\"\n\
                b.example 192.0.2.1 - - [25/Oct/2015:04:11:26 +0100] \"GET /x HTTP/1.1\" 404 1000\n";
    assert_snapshot!(requests(LogFormat::Auto, text), @r#"
    vhost-combined from Some(1445742685)
    0.000 www.example.org 247 5312 NaN
    1.000 b.example 241 1250 NaN
    "#);
    let (batch, _) = read(LogFormat::Auto, text, LogOptions::default());
    assert_ne!(batch.object[0], batch.object[1], "one path is two objects on two hosts");
}

#[test]
fn w3c_logs_name_their_fields() {
    let text = "#Software: Microsoft Internet Information Services 10.0\r\n#Version: 1.0\r\n#Date: 2026-03-01 08:00:00\r\n\
        #Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent) sc-status sc-bytes cs-bytes time-taken\r\n\
        2026-03-01 08:00:01 10.0.0.5 GET /index.html - 443 - 192.0.2.7 Mozilla/5.0+(X11) 200 5120 410 125\r\n\
        2026-03-01 08:00:02 10.0.0.5 GET /q x=1 443 - 192.0.2.7 Mozilla/5.0+(X11) 500 1203 415 3000\r\n\
        2026-03-01 08:00:02 10.0.0.5 GET /q x=1 443 - 192.0.2.7 Mozilla/5.0+(X11) 304 210 415 1\r\n";
    assert_snapshot!(requests(LogFormat::Auto, text), @r#"
    w3c from Some(1772352000)
    0.875 server 410 5120 125
    -1.000 server 415 1203 3000
    2.499 server 415 210 1
    Header 4
    "#);
    let cdn = "#Version: 1.0\n#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status time-taken\n\
        2026-03-01\t08:00:01\tFRA2\t2390\t192.0.2.7\tGET\td1.example\t/a b\t200\t0.250\n";
    assert_snapshot!(requests(LogFormat::Auto, &cdn.replacen("Fields: date time ", "Fields: date\ttime\t", 1)), @r#"
    w3c from Some(1772352000)
    0.750 d1.example 244 2390 250
    Header 2
    "#);
    let sizeless = "#Fields: date time cs-method cs-uri-stem sc-status\n2026-03-01 08:00:01 GET /x 200\n";
    assert_eq!(read(LogFormat::Auto, sizeless, LogOptions::default()).1.dropped[&Reason::NoSize], 1);
    let message = error(LogFormat::W3C, b"2026-03-01 08:00:01 GET /x 200\n", LogOptions::default());
    assert!(message.contains("comes before a line that names the columns"), "{message}");
}

#[test]
fn json_lines_of_caddy_and_nginx() {
    let other = r#"{"level":"info","ts":1646861401.6,"msg":"serving initial configuration"}"#;
    assert_snapshot!(requests(LogFormat::Auto, &format!("{CADDY}\n{other}\n")), @r#"
    json from Some(1646861401)
    0.523 localhost 243 11150 0.93
    NoRequest 1
    "#);
    let nginx = r#"{"time_local":"25/Oct/2015:04:11:25 +0100","remote_addr":"192.0.2.1","request":"GET /x HTTP/1.1","status":"200","body_bytes_sent":"1000","request_time":"0.350","upstream_response_time":"0.100, 0.050","http_host":"a.example"}"#;
    assert_snapshot!(requests(LogFormat::Auto, nginx), @r#"
    json from Some(1445742684)
    0.650 a.example 241 1250 150
    "#);
    let wrong = |line: &str| fate(LogFormat::JSON, line, &LogOptions::default());
    assert_eq!(wrong("[1]"), "is no JSON object");
    assert!(wrong(&"[".repeat(1000)).starts_with("is no JSON object: "));
    assert_eq!(wrong("{}"), "has no time");
}

#[test]
fn formats_are_known_by_their_lines() {
    let clf = clf("\"GET /x HTTP/1.0\" 200 1000");
    let known = |text: &str| LogFormat::of_head(text.as_bytes()).map(|format| format.to_string());
    assert_eq!(known(MISS).as_deref(), Some("squid"));
    assert_eq!(known(&clf).as_deref(), Some("clf"));
    assert_eq!(known(&format!("{clf} \"-\" \"Mozilla\"")).as_deref(), Some("clf"));
    assert_eq!(known(&format!("a.example:80 {clf}")).as_deref(), Some("vhost-combined"));
    assert_eq!(known(&format!("{clf} TCP_MISS:DIRECT")).as_deref(), Some("clf"), "no URL with a host");
    let proxied = clf.replace("/x", "http://a.example/x");
    assert_eq!(known(&format!("{proxied} TCP_MISS:DIRECT")).as_deref(), Some("squid-common"));
    assert_eq!(known(CADDY).as_deref(), Some("json"));
    let more = format!("{clf} \"-\" \"Mozilla\" \"10.0.0.1\" \"a\" \"b\" 0.123");
    assert_eq!(known(&more).as_deref(), Some("clf"), "Traefik's lines end in ms");
    assert_eq!(known(&format!("junk\n{clf}\n{clf}\n")).as_deref(), Some("clf"));
    for other in ["", "hello\n", "1 0 68\n2 1 7454\n", "0.0 a.example 300 1000\n", "a,b\n1,2\n"] {
        assert_eq!(known(other), None, "{other}");
    }
    assert_eq!(error(LogFormat::Auto, b"", LogOptions::default()), "access.log: is empty");
    assert_eq!(error(LogFormat::Auto, b"\n \n", LogOptions::default()), "access.log: is empty");
    let unknown = error(LogFormat::Auto, b"\nhello\n", LogOptions::default());
    assert!(unknown.contains("name the format (squid, squid-common, haproxy, alb,"), "{unknown}");
    assert!(unknown.contains("start=KEY url=KEY bytes=KEY"), "{unknown}");
    let har = error(LogFormat::Auto, b"{\n  \"log\": {\n \"version\": \"1.2\"}}", LogOptions::default());
    assert!(har.starts_with("access.log: is a HAR file"), "{har}");
    let near = "alba".parse::<LogFormat>().unwrap_err().to_string();
    assert!(
        near.starts_with("--format: found \"alba\" (did you mean alb?); write one of: squid, "),
        "{near}"
    );
    assert!(
        unknown.starts_with("access.log: no known format has lines like its first, \"hello\""),
        "{unknown}"
    );
}

#[test]
fn only_requests_that_are_asked_for_are_kept() {
    let line = |client: &str, hour: u32, host: &str| {
        format!(
            "{host}:80 {client} - - [25/Oct/2015:{hour:02}:00:00 +0100] \"GET / HTTP/1.0\" 200 9 \"-\" \"-\"\n"
        )
    };
    let text = [line("10.0.0.1", 9, "a"), line("10.0.0.2", 10, "b"), line("10.1.0.1", 11, "c")].concat();
    let kept = |options: LogOptions| {
        let (batch, report) = read(LogFormat::VHOST_COMBINED, &text, options);
        let hosts: String = (0..batch.start_s.len()).map(|row| batch.host.word(row).unwrap()).collect();
        let dropped: Vec<_> =
            report.dropped.iter().map(|(reason, lines)| format!("{reason:?} {lines}")).collect();
        (hosts, dropped.join(", "))
    };
    let default = LogOptions::default;
    let of = |hosts: &str, dropped: &str| (hosts.to_owned(), dropped.to_owned());
    assert_eq!(kept(LogOptions { client: Some("10.0.*".into()), ..default() }), of("ab", "OtherClient 1"));
    let span =
        |from: &str, to: &str| LogOptions { from: Bound::parse(from), to: Bound::parse(to), ..default() };
    assert_eq!(kept(span("2015-10-25T10:00", "2015-10-25T11:00")), of("b", "OutsideTime 2"));
    assert_eq!(kept(span("2015-10-25T09:00:00Z", "2015-10-26")), of("bc", "OutsideTime 1"));
    let backwards = error(LogFormat::VHOST_COMBINED, text.as_bytes(), span("2015-10-26", "2015-10-25"));
    assert_eq!(backwards, "--from: found a time that is not before --to; write an earlier one");
    let wrong = |format, text: &str, from, to| {
        error(format, text.as_bytes(), LogOptions { max_unreadable: 1.0, ..span(from, to) })
    };
    assert_eq!(
        wrong(LogFormat::VHOST_COMBINED, &text, "2015-10-25", "600s"),
        "access.log: --to: counts from the start of a log, and the times of this one are dates; write a date"
    );
    assert_eq!(
        wrong(LogFormat::Custom("{start} {url} {bytes}".into()), "0.5 /a 9\n", "2015-10-25", "2015-10-26"),
        "access.log: --from: is a date, and the times of this log count from its start; write seconds, such as 60s"
    );
    let none = Sample { share: 1e-9, by: SampleBy::Host, seed: 1 };
    assert_eq!(kept(LogOptions { sample: Some(none), ..default() }), of("", "NotSampled 3"));
}

#[test]
fn errors_are_left_out_on_demand() {
    let options = LogOptions { errors: false, ..LogOptions::default() };
    assert_eq!(fate(LogFormat::CLF, &clf("\"GET /x HTTP/1.0\" 404 1000"), &options), "not-successful");
    assert_eq!(
        fate(LogFormat::SQUID, &squid("TCP_MISS/404", "GET http://a/", "DIRECT/b"), &options),
        "not-successful"
    );
}

fn formats() -> impl Strategy<Value = LogFormat> {
    let custom = "$remote_addr [$time_local] \"$request\" $status $bytes_sent $upstream_header_time $upstream_response_time";
    let keys = ["start=ts", "url=request.uri", "bytes=size", "elapsed=duration:ms"].map(Into::into).to_vec();
    let known: Vec<LogFormat> = LogFormat::names().map(|(name, _)| name.parse().unwrap()).collect();
    prop_oneof![
        proptest::sample::select(known),
        Just(LogFormat::Custom(custom.into())),
        Just(LogFormat::Fields(keys)),
    ]
}

/// Lines of both formats with pieces put out of place.
fn near_lines() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just(MISS.to_string()),
        Just(clf("\"GET /x HTTP/1.0\" 200 1000")),
        Just("host\ttime\tmethod\turl\tresponse\tbytes".to_string()),
        "[0-9]{1,12}",
        "[ \t\"\\[\\]/:.\\\\-]{1,3}",
        Just("\n".to_string()),
        Just("TCP_HIT/200".to_string()),
        Just(CADDY.to_string()),
        Just("#Fields: date time c-ip cs-uri-stem sc-bytes".to_string()),
        Just("2026-01-02 03:04:05 ".to_string()),
        Just("é".to_string()),
    ];
    proptest::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn every_line_is_accounted_for(text in near_lines(), format in formats(), rows in 1..5_usize) {
        let mut reader = reader(format, text.as_bytes(), any_unreadable()).unwrap();
        let mut given = 0;
        while let Some(batch) = reader.batch(rows).unwrap() {
            given += batch.start_s.len() as u64;
            prop_assert!(batch.request_bytes.iter().chain(&batch.response_bytes).all(|bytes| *bytes >= 1));
            prop_assert!(batch.server_s.iter().all(|server| server.is_nan() || *server >= 0.0));
            let mut times = batch.wait_s.iter().zip(&batch.server_s);
            prop_assert!(times.all(|(wait, server)| wait.is_nan() || (0.0..=*server).contains(wait)));
        }
        let report = reader.report();
        prop_assert_eq!(report.lines, text.lines().count() as u64);
        let dropped: u64 = report.dropped.values().sum();
        prop_assert_eq!(given, report.requests);
        prop_assert_eq!(report.lines, given + dropped + report.unreadable.count);
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes: Vec<u8>, format in formats()) {
        let _ = error(format, &bytes, any_unreadable());
    }
}
