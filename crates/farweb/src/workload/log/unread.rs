//! Fields at the ends of lines that a format leaves unread: servers write times and TLS behind the agent.

use serde::Serialize;

/// Longest text of them that is kept, in bytes. Chosen: some fields, to recognise them by.
pub(super) const TEXT_BYTES: usize = 120;

/// Fields behind the referrer and the agent of the combined log format, of which none is read.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct UnreadFields {
    /// Requests of the table with such fields that are not all absent.
    pub requests: u64,
    /// Number of them on the first such line; 0 without any.
    pub fields: u64,
    /// Their text there.
    pub text: String,
}

impl UnreadFields {
    /// Counts a request with `rest` behind the size of its response.
    pub(super) fn add(&mut self, rest: &[u8]) {
        let Some((fields, text)) = behind_agent(rest) else { return };
        self.requests += 1;
        if self.requests == 1 {
            let text = String::from_utf8_lossy(&text[..text.len().min(TEXT_BYTES)]).into_owned();
            *self = Self { requests: 1, fields, text };
        }
    }
}

/// The agent of `rest`, in its quotes behind those of the referrer; `None` where there is none.
pub(super) fn agent_of(rest: &[u8]) -> Option<&[u8]> {
    let rest = rest.trim_ascii_start();
    let referrer = field(rest).filter(|_| rest.starts_with(b"\""))?;
    let behind = rest[referrer.len()..].trim_ascii_start();
    field(behind)?.strip_prefix(b"\"")?.strip_suffix(b"\"")
}

/// Fields behind referrer and agent, which stand in quotes: their number and text. `None` if all are absent, or an agent with quotes of
/// its own hides where it ends.
fn behind_agent(rest: &[u8]) -> Option<(u64, &[u8])> {
    let rest = rest.trim_ascii();
    let behind = |text: &[u8]| field(text).filter(|_| text.starts_with(b"\"")).map(<[u8]>::len);
    let text = match behind(rest) {
        Some(referrer) => {
            let agent = rest[referrer..].trim_ascii_start();
            behind(agent).map_or(rest, |length| agent[length..].trim_ascii_start())
        }
        None => rest,
    };
    let (mut fields, mut any, mut left) = (0, false, text);
    while !left.is_empty() {
        let next = field(left)?;
        // A list of several servers goes on behind its commas.
        fields += u64::from(!next.ends_with(b","));
        any |= !is_absent(next);
        left = left[next.len()..].trim_ascii_start();
    }
    any.then_some((fields, text))
}

/// The field at the beginning of `text`: a word, or in quotes or brackets, maybe behind `NAME=`. `None` if its quotes are open.
fn field(text: &[u8]) -> Option<&[u8]> {
    let begin =
        text.iter().position(|byte| byte.is_ascii_whitespace() || *byte == b'"').unwrap_or(text.len());
    let closed_by = match (text.first(), text.get(begin)) {
        (Some(b'['), _) => b']',
        (_, Some(b'"')) if begin == 0 || text[begin - 1] == b'=' => b'"',
        (_, Some(b'"')) => return None,
        _ => return Some(&text[..begin]),
    };
    let mut at = if closed_by == b'"' { begin + 1 } else { 1 };
    loop {
        match text.get(at)? {
            b'\\' if closed_by == b'"' => at += 1,
            byte if *byte == closed_by && text.get(at + 1).is_none_or(u8::is_ascii_whitespace) => {
                return Some(&text[..=at]);
            }
            _ => {}
        }
        at += 1;
    }
}

/// True for `-`, `""`, `[]` and their like, maybe behind `NAME=`.
fn is_absent(field: &[u8]) -> bool {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let equals = field.iter().position(|byte| *byte == b'=').filter(|at| field[..*at].iter().all(is_name));
    let value = &field[equals.map_or(0, |at| at + 1)..];
    value.iter().all(|byte| b"-\"[]".contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_behind_the_agent_are_counted_unless_they_are_absent() {
        let agent = r#" "http://a/?q=\"x\"" "Mozilla/5.0 (X11; \"y\")""#;
        let rows = [
            (r#" "TLSv1.3" 0.123 -"#, Some((3, r#""TLSv1.3" 0.123 -"#))),
            (r#" rt=0.123 urt="0.100, 0.002""#, Some((2, r#"rt=0.123 urt="0.100, 0.002""#))),
            (" 460 0.215 [web x] [] 10.1.2.3:80", Some((5, "460 0.215 [web x] [] 10.1.2.3:80"))),
            (" 460 10.1.2.3:80, 10.1.2.4:80 0.1, 0.2", Some((3, "460 10.1.2.3:80, 10.1.2.4:80 0.1, 0.2"))),
            ("", None),
            (r#" "-""#, None),
            (r#" rt=- urt="-" [] """#, None),
            (r#" of his own" 5"#, None),
        ];
        for (behind, expected) in rows {
            let found = |rest: &str| behind_agent(rest.as_bytes()).map(|(n, text)| (n, text.to_owned()));
            let expected = expected.map(|(n, text): (u64, &str)| (n, text.as_bytes().to_owned()));
            assert_eq!(found(&format!("{agent}{behind}")), expected, "{behind}");
            assert_eq!(
                found(&format!(r#" "-" "an "agent"{behind}"#)).is_some(),
                expected.is_some(),
                "{behind}"
            );
        }
        assert_eq!(behind_agent(b" 1234\r"), Some((1, &b"1234"[..])), "no agent");
        assert_eq!(behind_agent(b" \"-\" \"cut o"), None);
    }
}
