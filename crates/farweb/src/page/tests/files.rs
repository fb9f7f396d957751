//! Files that are odd, damaged or no HAR.

use std::io::Write as _;

use serde_json::{Value, json};

use super::super::har_of_bytes;
use super::{CSS, document, entry, error, first, har};

fn plain() -> Value {
    har("WebInspector", 200.0, vec![document(), entry(CSS, 80.0, json!({}))])
}

#[test]
fn an_odd_file_is_read_as_the_plain_one() {
    let expected = first(&plain());
    let odd = |change: &dyn Fn(&mut Value)| {
        let mut content = plain();
        change(&mut content["log"]);
        let found = first(&content);
        assert_eq!(
            (&found.sent, found.load_ms, &found.gates),
            (&expected.sent, expected.load_ms, &expected.gates)
        );
    };
    odd(&|log| drop(log["entries"][0].as_object_mut().unwrap().remove("pageref")));
    odd(&|log| {
        log["pages"][0]["id"] = 7.into();
        log["entries"].as_array_mut().unwrap().iter_mut().for_each(|each| each["pageref"] = 7.into());
    });
    odd(&|log| log["pages"][0]["startedDateTime"] = "2025-01-01T00:00:00Z".into());
    odd(&|log| log["pages"][0]["startedDateTime"] = "2026-01-01T12:00:09Z".into());
    odd(&|log| log["entries"].as_array_mut().unwrap().reverse());
    odd(&|log| log["entries"][0]["startedDateTime"] = "2026-01-01T14:00:00.0000001+02:00".into());
}

#[test]
fn texts_may_be_in_utf_8_16_and_32() {
    let expected = first(&plain());
    let text = plain().to_string();
    let marked = format!("\u{feff}{text}");
    let utf_16 =
        |text: &str, unit: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(unit).collect::<Vec<u8>>();
    let utf_32 = |text: &str, unit: fn(u32) -> [u8; 4]| {
        text.chars().flat_map(|letter| unit(letter.into())).collect::<Vec<u8>>()
    };
    let files = [
        marked.clone().into_bytes(),
        utf_16(&text, u16::to_le_bytes),
        utf_16(&marked, u16::to_le_bytes),
        utf_16(&text, u16::to_be_bytes),
        utf_16(&marked, u16::to_be_bytes),
        utf_32(&text, u32::to_le_bytes),
        utf_32(&marked, u32::to_le_bytes),
        utf_32(&text, u32::to_be_bytes),
        utf_32(&marked, u32::to_be_bytes),
    ];
    for file in files {
        let mut pages = har_of_bytes("page.har", file).unwrap();
        assert_eq!(pages.swap_remove(0).unwrap(), expected);
    }
    assert_eq!(error(b"{\"log\xff\": 5}"), "page.har: is no text in UTF-8 (byte 5); a HAR is JSON");
    assert_eq!(error(b"{\0\"\0\0\xd8x\0"), "page.har: is no text in UTF-16 (byte 4); a HAR is JSON");
    assert_eq!(error(b"{\0\0\0\"\0\0"), "page.har: is no text in UTF-32 (byte 4); a HAR is JSON");
}

#[test]
fn packed_files_are_unpacked_and_cut_ones_refused() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(plain().to_string().as_bytes()).unwrap();
    let packed = encoder.finish().unwrap();
    let found = har_of_bytes("page.har.gz", packed.clone()).unwrap().swap_remove(0).unwrap();
    assert_eq!((found.file.as_str(), found.sent.len()), ("page.har.gz", 2));
    let says = "page.har: cannot be read: the gzip data ends too early: the file was cut off";
    assert_eq!(error(&packed[..packed.len() - 20]), says);
    let most = vec![b' '; super::super::source::BYTES_MAX + 1];
    let says = "page.har: has more than the 134,217,728 B that are read of a HAR; save it without bodies";
    assert_eq!(error(most), says);
}

#[test]
fn a_bad_file_is_refused_with_the_place() {
    let broken = |change: &dyn Fn(&mut Value)| {
        let mut content = har("WebInspector", -1.0, vec![document()]);
        change(&mut content["log"]);
        serde_json::to_string_pretty(&content).unwrap()
    };
    let without_url =
        |log: &mut Value| drop(log["entries"][0]["request"].as_object_mut().unwrap().remove("url"));
    let rows = [
        ("".into(), "is empty; save it again, in the network panel of the browser by \"Save all as HAR\" or"),
        (" \n".into(), "is empty; save it again"),
        ("PK\x03\x04".into(), "is a zip archive; unpack it, and name the HAR in it"),
        (
            r#"{"log": {"entries": ["#.into(),
            "line 1: the file ends in the middle: it was cut off; save it again",
        ),
        (
            r#"{"log": {"entries": [{"url": "https://a"#.into(),
            "line 1: the file ends in the middle: it was cut off",
        ),
        (
            "{\"log\":\n{\"a\" 5}}".into(),
            "line 2: found '5}}' in column 6, where JSON has something else; save it",
        ),
        ("{\"log\":\n}".into(), "line 2: found '}' in column 1, where JSON"),
        ("<html>\n".into(), "line 1: is no HAR: found '<html>', and a HAR begins with {; save it again"),
        ("[".repeat(100_000), "its JSON is nested too deeply for a HAR"),
        (
            r#"{"log": {"entries": [1e999, -Infinity]}}"#.into(),
            "-Infinity is no number of JSON; a HAR is JSON",
        ),
        (
            r#"{"foo": 1}"#.into(),
            "is no HAR: found an object with 'foo'; a HAR is an object {\"log\": {\"entries\": [...]}}",
        ),
        (r#"{"log": 5}"#.into(), "is no HAR: found an object with 'log'"),
        ("[]".into(), "is no HAR: found a list"),
        ("{}".into(), "is no HAR: found an object with nothing in it"),
        ("5".into(), "is no HAR: found other JSON"),
        (broken(&|log| log["entries"] = 5.into()), "line 17: log.entries: found 5; write a list"),
        (broken(&|log| log["entries"] = json!([])), "line 17: log.entries: is empty; record the page again"),
        (broken(&|log| log["entries"] = json!(["x"])), "line 18: log.entries[0]: found 'x'; write an object"),
        (broken(&without_url), "line 22: log.entries[0].request.url: found nothing; write a URL"),
        (
            broken(&|log| log["entries"][0]["startedDateTime"] = "soon".into()),
            "line 20: log.entries[0].startedDateTime: found 'soon'; write a time such as 2026-11-26T10:00:00.000Z",
        ),
        (
            broken(&|log| log["pages"] = json!([{"id": "p"}, [1, 2]])),
            "line 11: log.pages[1]: found [ 1, 2 ]; write an object",
        ),
        (
            broken(&|log| log["pages"] = json!([{"id": 7}, {"id": "7"}])),
            "line 12: log.pages[1].id: found '7' again; write another id",
        ),
        (broken(&|log| log["pages"] = json!({})), "line 7: log.pages: found {}; write a list"),
        (
            broken(&|log| log["pages"][0]["startedDateTime"] = true.into()),
            "log.pages[0].startedDateTime: found true; write a time",
        ),
        (
            broken(&|log| log["pages"] = vec![json!({}); 1_001].into()),
            "log.pages: found 1,001 pages; write 1,000 at most",
        ),
        (
            broken(&|log| log["entries"] = vec![document(); 5_001].into()),
            "log.entries[0]: found 5,001 of one page; write 5,000 at most",
        ),
        (
            har(
                "WebInspector",
                -1.0,
                vec![
                    entry("data:x", 0.0, json!({})),
                    entry("javascript:x", 0.0, json!({})),
                    entry("data:y", 0.0, json!({})),
                ],
            )
            .to_string(),
            "page 'p': no request is left: 2 no http (data), 1 no http (javascript)",
        ),
    ];
    for (content, says) in rows {
        let found = error(content);
        assert!(
            found.starts_with(&format!("page.har: {says}")) || found.contains(says),
            "{found}\nnot {says}"
        );
        assert!(found.starts_with("page.har: ") && !found.contains('\n'), "{found}");
    }
    let ids = (0..1_001).map(|number| entry(CSS, 0.0, json!({"pageref": number.to_string()})));
    let content = har("WebInspector", -1.0, ids.collect());
    let says = "log.entries[999].pageref: found one page more; write one of 1,000 at most";
    assert!(error(content.to_string()).contains(says), "{}", error(content.to_string()));
}
