//! Format strings of programs with directives of their own: HAProxy's `log-format`, the access log of Envoy, tokens of morgan.
//!
//! Source: HAProxy 3.0, configuration manual, 8.2.6, and `log.c` (which values are quoted); Envoy, "Access logging"; morgan 1.10, README.

use super::field::Field;
use super::names::{ENVOY, HAPROXY, MORGAN, field};
use super::strftime;

/// A program with such format strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Program {
    Haproxy,
    Envoy,
    Morgan,
}

/// A directive of a format string.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Directive {
    /// `None`: it writes nothing.
    pub field: Option<Field>,
    /// Its time is written in this format of strftime.
    pub time: Option<Vec<u8>>,
    /// Its value stands in double quotes.
    pub quoted: bool,
    /// It may write nothing, and no blank then.
    pub optional: bool,
    pub length: usize,
}

/// Variables of HAProxy that others do not have.
const SIGNS: [&str; 8] = ["%ci", "%ST", "%HM", "%HU", "%HP", "%TR", "%Ta", "%[src"];

/// Variables of HAProxy with text, which `+Q` quotes, besides samples.
const TEXTS: &[&[u8]] = &[
    b"ci", b"si", b"bi", b"fi", b"f", b"ft", b"b", b"s", b"r", b"HM", b"HU", b"HP", b"HQ", b"HV", b"H",
    b"ID", b"CC", b"CS", b"hr", b"hs", b"hrl", b"hsl", b"sslv", b"sslc",
];

/// Times of HAProxy in the common log format.
const TIMES: &[&[u8]] = &[b"T", b"Tl", b"trg", b"trl"];

impl Program {
    /// The program that has `text` as its format string.
    pub(super) fn of(text: &str) -> Option<Self> {
        if text.contains("%START_TIME") || text.contains("%REQ(") {
            return Some(Self::Envoy);
        }
        if SIGNS.iter().any(|sign| text.contains(sign)) {
            return Some(Self::Haproxy);
        }
        let is_morgan =
            !text.contains(['%', '$']) && (text.contains(":url") || text.contains(":remote-addr"));
        is_morgan.then_some(Self::Morgan)
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Haproxy => "HAProxy",
            Self::Envoy => "Envoy",
            Self::Morgan => "morgan",
        }
    }

    /// Byte that directives begin with.
    pub(super) const fn sign(self) -> u8 {
        if matches!(self, Self::Morgan) { b':' } else { b'%' }
    }

    /// The directive that `text` begins with; `None` if it begins with none. `quoted` are all values, by HAProxy's
    /// `%{+Q}o`.
    ///
    /// # Errors
    /// When it has a format of strftime that cannot be read.
    pub(super) fn directive(self, text: &[u8], quoted: &mut bool) -> Result<Option<Directive>, String> {
        match self {
            Self::Haproxy => Ok(haproxy(text, quoted)),
            Self::Envoy => envoy(text),
            Self::Morgan => Ok(morgan(text)),
        }
    }
}

/// `%name`, `%{flags}name` or `%[sample]`.
fn haproxy(text: &[u8], quoted: &mut bool) -> Option<Directive> {
    let mut at = 1;
    let mut flags: &[u8] = b"";
    if text.get(1) == Some(&b'{') {
        at = text.iter().position(|byte| *byte == b'}')? + 1;
        flags = &text[2..at - 1];
    }
    let rest = &text[at..];
    let is_sample = rest.first() == Some(&b'[');
    let length = match is_sample {
        true => rest.iter().position(|byte| *byte == b']')? + 1,
        false => rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).count(),
    };
    let (name, behind) = rest.split_at(length);
    let has = |flag: &[u8]| flags.windows(2).any(|pair| pair == flag);
    let is_quoted = has(b"+Q") || *quoted && !has(b"-Q");
    match name {
        b"" => None,
        b"o" => {
            *quoted = is_quoted;
            let blanks = behind.iter().take_while(|byte| **byte == b' ').count();
            Some(Directive {
                field: None,
                time: None,
                quoted: false,
                optional: false,
                length: at + length + blanks,
            })
        }
        _ => Some(Directive {
            field: Some(field(HAPROXY, &if is_sample { name.to_ascii_lowercase() } else { name.to_vec() })),
            time: TIMES.contains(&name).then(|| b"%d/%b/%Y:%H:%M:%S %z".to_vec()),
            quoted: is_quoted && (is_sample || TEXTS.contains(&name)),
            optional: matches!(name, b"hr" | b"hs" | b"hrl" | b"hsl"),
            length: at + length,
        }),
    }
}

/// `%NAME%` or `%NAME(ARGUMENT):LENGTH%`.
fn envoy(text: &[u8]) -> Result<Option<Directive>, String> {
    let is_in_name = |byte: &&u8| byte.is_ascii_uppercase() || **byte == b'_';
    let name = &text[1..=text[1..].iter().take_while(is_in_name).count()];
    let mut argument: &[u8] = b"";
    let mut length = 1 + name.len();
    if text.get(length) == Some(&b'(') {
        let Some(end) = text.iter().position(|byte| *byte == b')') else { return Ok(None) };
        argument = &text[length + 1..end];
        length = end + 1;
    }
    let Some(end) = text[length..].iter().position(|byte| *byte == b'%').filter(|_| !name.is_empty()) else {
        return Ok(None);
    };
    let time = match name {
        b"START_TIME" if !argument.is_empty() => Some(strftime::expanded(argument)?),
        _ => None,
    };
    let called = match (&time, argument) {
        (Some(_), _) | (_, b"") => name.to_vec(),
        _ => [name, b"(", &argument.to_ascii_uppercase(), b")"].concat(),
    };
    let field = Some(field(ENVOY, &called));
    Ok(Some(Directive { field, time, quoted: false, optional: false, length: length + end + 1 }))
}

/// `:name` or `:name[argument]`, of which headers alone need the argument.
fn morgan(text: &[u8]) -> Option<Directive> {
    let is_in_name = |byte: &&u8| byte.is_ascii_alphanumeric() || b"-_".contains(byte);
    let name = &text[1..=text[1..].iter().take_while(is_in_name).count()];
    let behind = &text[1 + name.len()..];
    let argument = behind.strip_prefix(b"[").and_then(|rest| rest.split(|byte| *byte == b']').next());
    let length = 1 + name.len() + argument.map_or(0, |argument| argument.len() + 2);
    let called = match (name, argument) {
        (b"req" | b"res", Some(header)) => [name, b"[", &header.to_ascii_lowercase(), b"]"].concat(),
        _ => name.to_vec(),
    };
    let format: Option<&[u8]> = match (name, argument) {
        (b"date", Some(b"clf")) => Some(b"%d/%b/%Y:%H:%M:%S %z"),
        (b"date", None | Some(b"web")) => Some(b"%a, %d %b %Y %H:%M:%S %Z"),
        _ => None,
    };
    let time = format.map(<[u8]>::to_vec);
    (name.len() > 1 && length <= text.len()).then(|| Directive {
        field: Some(field(MORGAN, &called)),
        time,
        quoted: false,
        optional: false,
        length,
    })
}
