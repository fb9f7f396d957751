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
    assert_eq!(report.format, "start=ts url=req.path host=req.h bytes=n elapsed=took:ms client=who status=s");
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
