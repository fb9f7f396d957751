//! Reports: the first request as its line was read, and fields that no format names.

use super::written::{CLF, custom};
use super::*;

#[test]
fn fields_that_a_format_leaves_unread_are_reported() {
    let vhost = "%v:%p %h %l %u %t \"%r\" %>s %O";
    let agent = "\"-\" \"curl/8\"";
    let rows = [
        (LogFormat::Auto, format!("{CLF} {agent} \"TLSv1.3\" 0.123"), 2, "\"TLSv1.3\" 0.123"),
        (LogFormat::Auto, format!("{CLF} 1234"), 1, "1234"),
        (LogFormat::Auto, format!("www.example.com {CLF} {agent} rt=0.1"), 1, "rt=0.1"),
        (custom(vhost), format!("www.example.com:80 {CLF} {agent} 77"), 1, "77"),
        (LogFormat::Auto, format!("{CLF} {agent}"), 0, ""),
        (custom(&format!("{} {agent} %D", &vhost[6..])), format!("{CLF} {agent} 77"), 0, ""),
        (
            custom("{client} {} {} [{start}] \"{request}\" {status} {body}"),
            format!("{CLF} {agent} 77"),
            0,
            "",
        ),
    ];
    for (format, line, fields, text) in rows {
        let found = read(format, &line, LogOptions::default()).1.unread_fields;
        assert_eq!(
            (found.requests, found.fields, &*found.text),
            (u64::from(fields > 0), fields, text),
            "{line}"
        );
    }
}

#[test]
fn reports_of_parts_add_up_to_that_of_the_whole() {
    let lines = [
        MISS.replace("1000000000.500", "1000000002.500"),
        squid("TCP_HIT/200", "GET http://a.example/y", "NONE/-"),
        "damaged".to_owned(),
        MISS.to_owned(),
        squid("TCP_MISS/503", "GET http://b.example/z", "DIRECT/192.0.2.1"),
        squid("TCP_TUNNEL/200", "CONNECT b.example:443", "DIRECT/192.0.2.1"),
    ];
    let of = |lines: &[String]| read(LogFormat::SQUID, &lines.join("\n"), any_unreadable()).1;
    let whole = of(&lines);
    for cut in 0..=lines.len() {
        let mut sum = Report::default();
        sum.add(&of(&lines[..cut]), "a.log");
        sum.add(&of(&lines[cut..]), "b.log");
        assert_eq!((sum.lines, sum.requests, sum.unreadable.count), (6, 4, 1));
        assert_eq!((&sum.dropped, &sum.meanings), (&whole.dropped, &whole.meanings));
        assert_eq!((&sum.facts, &sum.treated), (&whole.facts, &whole.treated));
        assert_eq!((&sum.unreadable_by, sum.response_bytes), (&whole.unreadable_by, whole.response_bytes));
        assert_eq!(sum.sorted, whole.sorted, "cut at {cut}");
        let first = sum.first_request.unwrap();
        assert_eq!(
            (&*first.log, first.start_unix_s),
            (if cut > 3 { "a.log" } else { "b.log" }, 1_000_000_000.25)
        );
        assert_eq!(sum.unreadable.first[0].log, if cut > 2 { "a.log " } else { "b.log " });
    }
}

#[test]
fn the_first_request_is_the_earliest_and_a_span_has_its_begin_and_not_its_end() {
    let line = |second: u32| {
        CLF.replace("10:00:00", &format!("10:00:0{second}")).replace("/a", &format!("/{second}"))
    };
    let text = [3, 1, 2, 0].map(line).join("\n");
    let begin = 1_715_335_200_000_000_000;
    for (span, line, kept) in [(None, 4, 4), (Some(begin + 1_000_000_000..begin + 3_000_000_000), 2, 2)] {
        let (batch, report) = read(LogFormat::CLF, &text, LogOptions { span, ..LogOptions::default() });
        assert_eq!((report.first_request.unwrap().line, batch.start_s.len()), (line, kept));
    }
}

#[test]
fn the_first_request_is_the_earliest_once_a_second_is_spread() {
    let line = |path: &str, elapsed_s: &str| {
        format!("25/Oct/2015:10:00:00 +0000 \"GET /{path} HTTP/1.1\" 200 9 {elapsed_s}")
    };
    let format = LogFormat::Custom("$time_local \"$request\" $status $bytes_sent $request_time".into());
    let ten = 1_445_767_200.0;
    // The second line of two starts half a second later, less its elapsed time.
    for (elapsed_s, first, start_unix_s) in [("0.350", 1, ten), ("0.750", 2, ten - 0.25)] {
        let text = [line("a", "0.000"), line("b", elapsed_s)].join("\n");
        let (_, report) = read(format.clone(), &text, LogOptions::default());
        let found = report.first_request.unwrap();
        assert_eq!(
            (found.line, (found.start_unix_s * 1e3).round() / 1e3),
            (first, start_unix_s),
            "{elapsed_s}"
        );
    }
}

#[test]
fn the_first_request_is_reported_as_it_was_read() {
    let text = format!("junk\n{}\n{CLF}\n", CLF.replace("/a HTTP", "/b HTTP").replace("200 5120", "499 0"));
    let (_, report) = read(LogFormat::CLF, &text, any_unreadable());
    let first = serde_json::to_value(report.first_request).unwrap();
    let expected = serde_json::json!({
        "log": "", "line": 3, "start_unix_s": 1_715_335_200.0, "client": "192.0.2.9", "method": "GET", "url": "/a", "host": "server",
        "has_host": false, "status": 200, "request_bytes": 238, "request_bytes_logged": null, "response_bytes": 5370,
        "response_bytes_logged": 5120, "server_s": null, "wait_s": null,
    });
    assert_eq!(first, expected);
}
