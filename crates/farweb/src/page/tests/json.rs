//! JSON with its faults, held against `serde_json`.

use proptest::prelude::*;

use super::super::json::{DEPTH_MAX, Fault, Json, Value, as_written, parse};

fn text(json: &str) -> String {
    parse(json).unwrap().whole().to_owned()
}

#[test]
fn texts_have_their_escapes_and_halves_of_characters_are_question_marks() {
    let rows = [
        (r#""""#, ""),
        (r#""a\"b\\c\/\b\f\n\r\t""#, "a\"b\\c/\u{8}\u{c}\n\r\t"),
        (r#""\u00e9\ud83d\ude00é""#, "é😀é"),
        (r#""\ud83d""#, "?"),
        (r#""\ud83d\ud83d\ude00 \ude00\u0041""#, "?😀 ?A"),
        (r#""\\ud83d""#, "\\ud83d"),
    ];
    for (json, expected) in rows {
        assert_eq!(text(json), expected, "{json}");
    }
}

#[test]
fn faults_are_named_with_their_place() {
    let rows = [
        ("", 0),
        (" <html>", 1),
        (r#"{"a" 5}"#, 5),
        (r#"{"a":}"#, 5),
        (r#"{"a":5 6}"#, 7),
        (r#"{"a":5,}"#, 7),
        ("[1,]", 3),
        ("[1 2]", 3),
        ("01", 1),
        ("1.", 1),
        ("-", 0),
        ("nul", 0),
        ("5 5", 2),
        (r#""a"#, 2),
        (r#""a\"#, 3),
        (r#""\x""#, 1),
        (r#""\u12""#, 1),
        (r#""\u+123""#, 1),
        ("\"a\nb\"", 2),
    ];
    for (json, at) in rows {
        assert_eq!(parse(json), Err(Fault::Broken(at)), "{json}");
    }
    for word in ["NaN", "Infinity", "-Infinity"] {
        assert_eq!(parse(&format!("[1e999, {word}]")), Err(Fault::Constant(word)));
    }
    assert!(parse(&["[".repeat(DEPTH_MAX), "]".repeat(DEPTH_MAX)].concat()).is_ok());
    assert_eq!(parse(&"[".repeat(100_000)), Err(Fault::Deep));
}

#[test]
fn values_are_read_as_exporters_mean_them() {
    let json = parse(
        r#"{"a": "70 ms", "b": 1e999, "c": 7, "d": true, "e": "NaN", "a": " 5", "f": [], "g": -0.0,
            "headers": [5, {"name": "Content-LENGTH", "value": "9"}]}"#,
    )
    .unwrap();
    assert_eq!(
        ["a", "b", "c", "d", "e"].map(|name| json.get(name).number()),
        [Some(5.0), None, Some(7.0), None, None]
    );
    assert_eq!(["c", "d", "b"].map(|name| json.get(name).identifier()), ["7", "", ""]);
    assert_eq!(
        ["c", "d", "f", "g", "x"].map(|name| json.get(name).holds()),
        [true, true, false, false, false]
    );
    assert_eq!((json.header("content-length"), json.header("x")), ("9", ""));
    assert_eq!(as_written("{\"a\": [1,\n   2], \"b\": 5}", 6), "[1, 2]");
}

fn same(ours: &Json<'_>, theirs: &serde_json::Value) -> bool {
    use serde_json::Value as Theirs;
    match (&ours.value, theirs) {
        (Value::Null, Theirs::Null) => true,
        (Value::Bool(one), Theirs::Bool(other)) => one == other,
        (Value::Number(_), Theirs::Number(other)) => ours.number() == other.as_f64(),
        (Value::Text(one), Theirs::String(other)) => one == other,
        (Value::List(one), Theirs::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Table(_), Theirs::Object(other)) => {
            other.iter().all(|(name, other)| ours.member(name).is_some_and(|one| same(one, other)))
        }
        _ => false,
    }
}

proptest! {
    #[test]
    fn what_serde_json_reads_is_read_alike(
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "{", "}", "[", "]", ",", ":", "\"a\"", "\"\\u0041\\n\"", "\"é\"", "null", "true", "-1.5e3", "0", " ", "1",
                "\"b\":", "[1,2]", "{\"a\":5}",
            ]),
            0..12,
        )
    ) {
        let text = parts.concat();
        match (parse(&text), serde_json::from_str::<serde_json::Value>(&text)) {
            (Ok(ours), Ok(theirs)) => prop_assert!(same(&ours, &theirs), "{}", text),
            (ours, theirs) => prop_assert_eq!(ours.is_ok(), theirs.is_ok(), "{}", text),
        }
    }
}
