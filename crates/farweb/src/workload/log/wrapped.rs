//! Messages of lines that came through something: text around them is passed over, or named with the command that
//! unwraps it.
//!
//! Joined: lines that a container runtime or Docker's json-file driver cut. Passed over: prefixes of [`syslog`], of container runtimes
//! (CRI), of `docker compose logs`, `docker service logs`, `kubectl logs --prefix` and Loki's `logcli`; JSON around a line, as that driver
//! writes it; and Caddy's console: its object lacks the time in front of it.
//!
//! Source: Kubernetes, CRI, `kuberuntime/logs`; Docker, `jsonfilelog`; Loki, `logcli/output/default.go`; zap, `console_encoder.go`.

use std::borrow::Cow;

use serde_json::Value;

use super::{LINE_BYTES_MAX, LogFormat, json, syslog, when};

/// Levels of JSON that are looked into. Chosen: as many as exports of clouds and answers of Loki have.
const DEPTH_MAX: usize = 6;

/// Elements of an array that are looked into where the first is no line. Chosen: as many as a pair has, and more.
const ELEMENTS_MAX: usize = 8;

/// Least length of a text that Docker's json-file driver has cut, in bytes. Source: moby, `daemon/logger/copier.go`.
const DOCKER_PART: usize = 16 * 1024;

/// Bytes at the end of a line.
const LINE_ENDS: [char; 2] = ['\n', '\r'];

/// Longest time, in bytes. Chosen: more than any spelling of one has.
const TIME_MAX: usize = 64;

/// The message of a line; any other line as it is.
pub(super) fn message(line: &[u8]) -> Cow<'_, [u8]> {
    if let Some((_, inner)) = of_docker(line) {
        return Cow::Owned(prefixed(inner.trim_end_matches(LINE_ENDS).as_bytes()).to_vec());
    }
    let inner = prefixed(line);
    of_console(inner).map_or(Cow::Borrowed(inner), Cow::Owned)
}

/// The rest behind a time of RFC 3339, as `docker logs -t` writes one before each line.
pub(super) fn behind_time(line: &[u8]) -> Option<&[u8]> {
    let (time, rest) = word(line)?;
    (time.get(10) == Some(&b'T') && when::parse(time).is_some()).then_some(rest)
}

/// A line without its prefix.
fn prefixed(line: &[u8]) -> &[u8] {
    of_runtime(line)
        .or_else(|| of_compose(line))
        .or_else(|| of_kubectl(line))
        .or_else(|| of_logcli(line))
        .unwrap_or_else(|| syslog::message(line))
}

/// The message behind `TIME stdout F `.
fn of_runtime(line: &[u8]) -> Option<&[u8]> {
    tagged(line).filter(|(stream, _)| stream.ends_with(b" F ")).map(|(_, text)| text)
}

/// Stream and text of `TIME stdout F …`, or of `TIME stdout P …`: a container runtime cuts long lines into parts.
fn tagged(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = behind_time(line)?;
    let is_tag = |tag: &[u8]| [&b"stdout F "[..], b"stderr F ", b"stdout P ", b"stderr P "].contains(&tag);
    rest.split_at_checked(b"stdout F ".len()).filter(|(tag, _)| is_tag(tag))
}

/// Begun lines of a log that were cut, of stdout and of stderr, each empty where none is begun.
#[derive(Debug, Default)]
pub(super) struct Parts([Vec<u8>; 2]);

/// A line of a stream, or a part of one.
struct Piece<'a> {
    is_error: bool,
    /// More of the line is to come.
    is_part: bool,
    prefix: &'a [u8],
    text: Cow<'a, [u8]>,
}

impl Parts {
    /// A line, with its parts so far where it is the last one. `None`: more are to come.
    pub(super) fn join<'a>(&mut self, line: &'a [u8]) -> Option<Cow<'a, [u8]>> {
        // Objects of Docker are read for this only where one may be a part, or the end of one.
        let may_be_cut = line.len() > DOCKER_PART || self.0.iter().any(|begun| !begun.is_empty());
        let of_docker = || may_be_cut.then(|| piece_of_docker(line)).flatten();
        let Some(piece) = piece_of_runtime(line).or_else(of_docker) else { return Some(Cow::Borrowed(line)) };
        let begun = &mut self.0[usize::from(piece.is_error)];
        if piece.is_part {
            // One byte more than a line may have shows that it is too long.
            let room = (LINE_BYTES_MAX + 1).saturating_sub(begun.len());
            begun.extend(&piece.text[..piece.text.len().min(room)]);
            return None;
        }
        if begun.is_empty() {
            return Some(Cow::Borrowed(line));
        }
        Some(Cow::Owned([piece.prefix, &std::mem::take(begun), &piece.text].concat()))
    }
}

/// A piece behind `TIME stdout P ` or `TIME stdout F `.
fn piece_of_runtime(line: &[u8]) -> Option<Piece<'_>> {
    let (tag, text) = tagged(line)?;
    Some(Piece {
        is_error: tag.starts_with(b"stderr"),
        is_part: tag.ends_with(b" P "),
        prefix: &line[..line.len() - text.len()],
        text: Cow::Borrowed(text),
    })
}

/// A piece in `{"log": "…", "stream": …}`: a part is as long as Docker's buffer, and has no end of a line.
fn piece_of_docker(line: &[u8]) -> Option<Piece<'_>> {
    let (stream, text) = of_docker(line)?;
    Some(Piece {
        is_error: stream == "stderr",
        is_part: text.len() >= DOCKER_PART && !text.ends_with('\n'),
        prefix: b"",
        text: Cow::Owned(text.trim_end_matches(LINE_ENDS).into()),
    })
}

/// The beginning of a log with the lines joined that a container runtime cut.
pub(super) fn joined(head: &[u8]) -> Cow<'_, [u8]> {
    let is_part =
        |line: &[u8]| line.len() > DOCKER_PART || tagged(line).is_some_and(|(tag, _)| tag.ends_with(b" P "));
    let lines = head.split_inclusive(|byte| *byte == b'\n');
    if !lines.clone().any(is_part) {
        return Cow::Borrowed(head);
    }
    let mut parts = Parts::default();
    let mut whole = Vec::new();
    for line in lines {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        if let Some(line) = parts.join(line.strip_suffix(b"\r").unwrap_or(line)) {
            whole.extend(&*line);
            whole.push(b'\n');
        }
    }
    Cow::Owned(whole)
}

/// The message behind `TIME {LABEL="VALUE", …} `.
fn of_logcli(line: &[u8]) -> Option<&[u8]> {
    let labels = behind_time(line)?.strip_prefix(b"{").filter(|rest| !rest.starts_with(b"\""))?;
    Some(labels[labels.windows(2).position(|pair| pair == b"} ")? + 2..].trim_ascii_start())
}

/// The message behind `NAME  | `.
fn of_compose(line: &[u8]) -> Option<&[u8]> {
    let (name, rest) = word(line)?;
    let is_name = name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.@".contains(byte));
    let message = rest.trim_ascii_start().strip_prefix(b"| ")?;
    (!name.is_empty() && is_name).then_some(message)
}

/// The message behind `[pod/NAME/CONTAINER] `.
fn of_kubectl(line: &[u8]) -> Option<&[u8]> {
    let rest = line.strip_prefix(b"[pod/")?;
    let end = rest.iter().position(|byte| matches!(byte, b']' | b' '))?;
    rest[end..].strip_prefix(b"] ")
}

/// Stream and text of `{"log": "…", "stream": …}`.
fn of_docker(line: &[u8]) -> Option<(String, String)> {
    let has = |part: &[u8]| line.windows(part.len()).any(|window| window == part);
    if !line.starts_with(b"{") || !has(b"\"log\"") || !has(b"\"stream\"") {
        return None;
    }
    let object = json::value(line).ok()?;
    let text = |key: &str| object.get(key)?.as_str().map(str::to_owned);
    Some((text("stream")?, text("log")?))
}

/// The object of `TIME⇥LEVEL⇥LOGGER⇥MESSAGE⇥{…}` with its time as `ts`.
fn of_console(line: &[u8]) -> Option<Vec<u8>> {
    let time = &line[..line.iter().take(TIME_MAX).position(|byte| *byte == b'\t')?];
    when::parse(time)?;
    let at = line.windows(2).position(|pair| pair == b"\t{")? + 1;
    let time = serde_json::to_string(std::str::from_utf8(time).ok()?).ok()?;
    let rest = line[at + 1..].trim_ascii();
    let comma = if rest == b"}" { "" } else { "," };
    Some([b"{\"ts\":", time.as_bytes(), comma.as_bytes(), rest].concat())
}

/// The text before the first blank, and behind it.
fn word(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = text.iter().position(|byte| *byte == b' ')?;
    Some((&text[..end], &text[end + 1..]))
}

/// Program of jq, with its options, that makes a line of each request of a file that begins with `head`.
pub(super) fn unwrapped_by(head: &[u8]) -> Option<String> {
    let Some(Ok(value)) = serde_json::Deserializer::from_slice(head).into_iter::<Value>().next() else {
        return of_long(head);
    };
    let whole = || first_line_is_open(head).then(|| (".".to_owned(), false));
    let (path, is_text) = inside(&value, DEPTH_MAX).or_else(whole)?;
    Some(format!("jq {} '{path}'", if is_text { "-r" } else { "-c" }))
}

/// The same for a document longer than is looked at.
fn of_long(head: &[u8]) -> Option<String> {
    let mut plain = Vec::new();
    let mut quoted = false;
    for byte in head.iter().take(4096) {
        quoted ^= *byte == b'"';
        if quoted || !byte.is_ascii_whitespace() {
            plain.push(*byte);
        }
    }
    if plain.starts_with(b"[{") || plain.starts_with(b"[]") {
        return Some("jq -c '.[]'".into());
    }
    let rest = plain.strip_prefix(b"{\"")?;
    let (key, behind) = rest.split_at(rest.iter().position(|byte| *byte == b'"')?);
    let key = std::str::from_utf8(key).ok().filter(|key| is_plain(key))?;
    match behind {
        [b'"', b':', b'[', ..] => Some(format!("jq -c '.{key}[]'")),
        _ if first_line_is_open(head) => Some("jq -c '.'".into()),
        _ => None,
    }
}

/// True if the first line opens an object and does not close it.
fn first_line_is_open(head: &[u8]) -> bool {
    head.split(|byte| *byte == b'\n').next().is_some_and(|line| line.trim_ascii() == b"{")
}

/// Path of jq to what reads as a line of a known format within `value`, and true if that is a text.
fn inside(value: &Value, depth: usize) -> Option<(String, bool)> {
    if depth < DEPTH_MAX && is_line(value) {
        return Some((String::new(), value.is_string()));
    }
    let deeper = depth.checked_sub(1)?;
    let at = |step: String, value: &Value| {
        let (path, text) = inside(value, deeper)?;
        let rest = path.strip_prefix('.').filter(|rest| rest.starts_with('[')).unwrap_or(&path);
        Some((step + rest, text))
    };
    match value {
        Value::Array(all) => at(".[]".into(), all.first()?).or_else(|| {
            let mut some = all.iter().enumerate().take(ELEMENTS_MAX);
            some.find_map(|(index, value)| at(format!(".[{index}]"), value))
        }),
        Value::Object(keys) => keys.iter().find_map(|(key, value)| {
            at(if is_plain(key) { format!(".{key}") } else { format!(".[\"{key}\"]") }, value)
        }),
        _ => None,
    }
}

/// True for a key that jq takes without quotes.
fn is_plain(key: &str) -> bool {
    key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// True for an object or a text that reads as a request.
fn is_line(value: &Value) -> bool {
    match value {
        Value::String(text) => LogFormat::of_head(text.as_bytes()).is_some(),
        Value::Object(_) => LogFormat::of_head(value.to_string().as_bytes()).is_some(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "192.0.2.9 - - [10/May/2024:10:00:00 +0000] \"GET /a HTTP/1.1\" 200 5120";

    #[test]
    fn what_stands_around_a_line_is_passed_over() {
        let json = serde_json::json!({ "log": format!("{LINE}\n"), "stream": "stdout", "time": "2024-05-10T10:00:00Z" });
        let lines = [
            LINE.to_owned(),
            format!("2024-05-10T10:00:00.123456789Z stdout F {LINE}"),
            format!("2024-05-10T12:00:00.123456789+02:00 stderr F {LINE}"),
            format!("web-1  | {LINE}"),
            format!("web.1.x1@node1    | {LINE}"),
            format!("2024-05-10T12:00:00+02:00 {{app=\"web\", pod=\"a\"}}  {LINE}"),
            format!("2024-05-10T12:00:00+02:00 {{}} {LINE}"),
            format!("[pod/web-1/nginx] {LINE}"),
            format!("May 10 10:00:01 host nginx: {LINE}"),
            json.to_string(),
        ];
        for line in lines {
            assert_eq!(&*message(line.as_bytes()), LINE.as_bytes(), "{line}");
        }
        let part = format!("2024-05-10T10:00:00.1Z stdout P {LINE}");
        assert_eq!(&*message(part.as_bytes()), part.as_bytes(), "the rest of it is in another line");
        let console = "2024/05/10 10:00:00.123\tINFO\thttp.log.access\thandled request\t{\"size\": 5}";
        assert_eq!(&*message(console.as_bytes()), b"{\"ts\":\"2024/05/10 10:00:00.123\",\"size\": 5}");
        for line in
            ["a | b", "| b", "x\t{}", "{\"log\":1,\"stream\":2}", "2024-05-10T10:00:00Z elb 1", "[pod/a b] c"]
        {
            let is_compose = line == "a | b";
            assert_eq!(&*message(line.as_bytes()) == line.as_bytes(), !is_compose, "{line}");
        }
    }

    #[test]
    fn parts_of_a_line_are_joined_by_their_stream() {
        let at = "2024-05-10T10:00:00.1Z";
        let lines = [
            "plain".to_owned(),
            format!("{at} stdout P one "),
            format!("{at} stderr P an "),
            format!("{at} stdout P two "),
            format!("{at} stderr F error"),
            format!("{at} stdout F three"),
            format!("{at} stdout F four"),
        ];
        let expected =
            format!("plain\n{at} stderr F an error\n{at} stdout F one two three\n{at} stdout F four\n");
        assert_eq!(joined((lines.join("\r\n") + "\n").as_bytes()), expected.as_bytes());
        let mut parts = Parts::default();
        let long = format!("{at} stdout P {}", "x".repeat(LINE_BYTES_MAX));
        assert_eq!((parts.join(long.as_bytes()), parts.join(long.as_bytes())), (None, None));
        let whole = parts.join(b"2024-05-10T10:00:00.1Z stdout F ").unwrap();
        assert_eq!(whole.len(), LINE_BYTES_MAX + 1 + at.len() + " stdout F ".len(), "and no longer");
    }

    #[test]
    fn parts_that_docker_cut_are_as_long_as_its_buffer() {
        let object = |stream: &str, text: &str| {
            serde_json::json!({ "log": text, "stream": stream, "time": "2024-05-10T10:00:00Z" }).to_string()
        };
        let part = |letter: &str| letter.repeat(DOCKER_PART);
        let lines = [
            object("stdout", &part("a")),
            object("stderr", "an error\n"),
            object("stdout", &part("b")),
            object("stdout", "end\r\n"),
            object("stdout", "a text of its own"),
            object("stdout", &(part("c") + "\n")),
        ];
        let whole = [lines[1].clone(), part("a") + &part("b") + "end", lines[4].clone(), lines[5].clone()];
        assert_eq!(joined(lines.join("\n").as_bytes()), (whole.join("\n") + "\n").as_bytes());
        let mut parts = Parts::default();
        for _ in 0..=LINE_BYTES_MAX / DOCKER_PART {
            assert_eq!(parts.join(lines[0].as_bytes()), None);
        }
        assert_eq!(parts.join(lines[3].as_bytes()).unwrap().len(), LINE_BYTES_MAX + 1 + "end".len());
    }

    #[test]
    fn json_around_requests_is_named_with_what_unwraps_it() {
        let by = |text: &str| unwrapped_by(text.as_bytes());
        let request =
            r#"{"ts":1646861401.5,"request":{"method":"GET","host":"a","uri":"/"},"size":5,"status":200}"#;
        assert_eq!(by(&format!("[{request},{request}]")).as_deref(), Some("jq -c '.[]'"));
        assert_eq!(by(&format!("[\n  {request},\n {request}]")).as_deref(), Some("jq -c '.[]'"));
        assert_eq!(by(&format!("{{\"records\":[{request}]}}")).as_deref(), Some("jq -c '.records[]'"));
        assert_eq!(by(&format!("{{\n \"records\": [\n{request}]}}")).as_deref(), Some("jq -c '.records[]'"));
        assert_eq!(
            by(&format!("{{\"_index\":\"x\",\"_source\":{request}}}")).as_deref(),
            Some("jq -c '._source'")
        );
        let text = serde_json::json!({ "@timestamp": "2024-05-10T10:00:00Z", "message": LINE });
        assert_eq!(by(&text.to_string()).as_deref(), Some("jq -r '.message'"));
        let nested = serde_json::json!({ "event": { "original.line": LINE } });
        assert_eq!(by(&nested.to_string()).as_deref(), Some("jq -r '.event[\"original.line\"]'"));
        assert_eq!(by("{\n \"ts\": 5,\n \"size\": 5\n}").as_deref(), Some("jq -c '.'"));
        let loki = serde_json::json!({ "data": { "result": [{ "stream": {}, "values": [["1715335200123456789", LINE]] }] } });
        assert_eq!(by(&loki.to_string()).as_deref(), Some("jq -r '.data.result[].values[][1]'"));
        let hits = serde_json::json!({ "hits": { "hits": [{ "_source": { "message": LINE } }] } });
        let pretty = serde_json::to_string_pretty(&hits).unwrap();
        assert_eq!(by(&pretty).as_deref(), Some("jq -r '.hits.hits[]._source.message'"));
        let object = format!("{{\n \"time_local\": 5,\n \"x\": [\"{}", "long".repeat(1 << 14));
        assert_eq!(by(&object).as_deref(), Some("jq -c '.'"), "cut off by its length");
        for none in [request, LINE, "", "[", "{\"a\":\"b\"}"] {
            assert_eq!(by(none), None, "{none}");
        }
    }
}
