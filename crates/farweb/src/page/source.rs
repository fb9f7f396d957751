//! The text of a HAR: its encoding, its JSON, and where in it something is wrong.

use super::json::{self, Fault, Json, Value};
use super::words::{quoted, visible};
use crate::units::words::count;
use crate::workload::WorkloadError;

/// Bytes of the largest HAR, unpacked. Chosen: a crowded page has 5 MB without its bodies.
pub(super) const BYTES_MAX: usize = 128 << 20;

/// Characters of a value in a message.
const SHOWN: usize = 80;

const AGAIN: &str =
    "save it again, in the network panel of the browser by \"Save all as HAR\" or \"Export HAR\"";

/// The JSON of a HAR with its name, for messages.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub path: &'a str,
    pub text: &'a str,
}

impl Source<'_> {
    pub(super) fn refused(&self, what: impl AsRef<str>) -> WorkloadError {
        WorkloadError(format!("{}: {}", self.path, what.as_ref()))
    }

    pub(super) fn line(&self, at: usize) -> usize {
        self.text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1
    }

    /// The error at a place such as ``log.entries[3].request.url``.
    pub(super) fn wrong(&self, at: usize, place: &str, found: &str, allowed: &str) -> WorkloadError {
        self.refused(format!("line {}: {place}: found {found}; write {allowed}", self.line(at)))
    }

    /// The error of a member of `parent`, in whose line a missing one is.
    pub(super) fn odd(&self, parent: &Json<'_>, key: &str, place: &str, allowed: &str) -> WorkloadError {
        let found = parent.member(key);
        self.wrong(found.unwrap_or(parent).at, place, &self.shown(found), allowed)
    }

    pub(super) fn shown(&self, value: Option<&Json<'_>>) -> String {
        let Some(value) = value else { return "nothing".into() };
        match &value.value {
            Value::Null => "nothing".into(),
            Value::Text(text) => quoted(text, SHOWN),
            _ => {
                let whole = visible(&json::as_written(self.text, value.at));
                let shown: String = whole.chars().take(SHOWN).collect();
                if shown.len() < whole.len() { format!("{shown}…") } else { shown }
            }
        }
    }

    /// The table of a HAR with its `log`.
    pub(super) fn parse(&self) -> Result<Json<'_>, WorkloadError> {
        let whole = json::parse(self.text).map_err(|fault| self.refused(self.broken(fault)))?;
        if whole.get("log").is_table() {
            return Ok(whole);
        }
        let has = match &whole.value {
            Value::Table(members) if members.is_empty() => "an object with nothing in it".into(),
            Value::Table(members) => {
                let names: Vec<_> = members.iter().take(3).map(|(name, _)| quoted(name, SHOWN)).collect();
                format!("an object with {}", names.join(", "))
            }
            Value::List(_) => "a list".into(),
            _ => String::from("other JSON"),
        };
        Err(self.refused(format!(
            "is no HAR: found {has}; a HAR is an object {{\"log\": {{\"entries\": [...]}}}}"
        )))
    }

    /// The fault in JSON, as one sees it in the file.
    fn broken(&self, fault: Fault) -> String {
        let at = match fault {
            Fault::Broken(at) => at,
            Fault::Constant(word) => return format!("{word} is no number of JSON; a HAR is JSON"),
            Fault::Deep => return "its JSON is nested too deeply for a HAR".into(),
        };
        let (before, rest) = self.text.split_at(at);
        let rest = rest.lines().next().unwrap_or_default().trim();
        let found = quoted(rest, 40);
        let fault = if rest.is_empty() {
            "the file ends in the middle: it was cut off".into()
        } else if before.trim().is_empty() {
            format!("is no HAR: found {found}, and a HAR begins with {{")
        } else {
            let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
            format!("found {found} in column {column}, where JSON has something else")
        };
        format!("line {}: {fault}; {AGAIN}", self.line(at))
    }
}

/// The text of a file in UTF-8, UTF-16 or UTF-32, as JSON may be. `path` names it in messages.
pub(super) fn decoded(path: &str, content: Vec<u8>) -> Result<String, WorkloadError> {
    let error = |why: String| WorkloadError(format!("{path}: {why}"));
    if content.starts_with(b"PK\x03\x04") {
        return Err(error("is a zip archive; unpack it, and name the HAR in it".into()));
    }
    if content.len() > BYTES_MAX {
        let most = count(BYTES_MAX as f64);
        return Err(error(format!(
            "has more than the {most} B that are read of a HAR; save it without bodies"
        )));
    }
    if content.trim_ascii().is_empty() {
        return Err(error(format!("is empty; {AGAIN}")));
    }
    let (encoding, text) = match content[..] {
        [0, 0, ..] => ("UTF-32", wide(&content, u32::from_be_bytes)),
        [0xFF, 0xFE, 0, 0, ..] | [_, 0, 0, 0, ..] => ("UTF-32", wide(&content, u32::from_le_bytes)),
        [0xFE, 0xFF, ..] | [0, ..] => ("UTF-16", pairs(&content, u16::from_be_bytes)),
        [0xFF, 0xFE, ..] | [_, 0, ..] => ("UTF-16", pairs(&content, u16::from_le_bytes)),
        _ => ("UTF-8", String::from_utf8(content).map_err(|error| error.utf8_error().valid_up_to())),
    };
    let text = text.map_err(|at| {
        error(format!("is no text in {encoding} (byte {}); a HAR is JSON", count(at as f64)))
    })?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// UTF-32, or the byte where it is none.
fn wide(content: &[u8], unit: fn([u8; 4]) -> u32) -> Result<String, usize> {
    let character = |(place, bytes): (usize, &[u8])| {
        let bytes = bytes.try_into().map_err(|_| 4 * place)?;
        char::from_u32(unit(bytes)).ok_or(4 * place)
    };
    content.chunks(4).enumerate().map(character).collect()
}

/// UTF-16, or the byte where it is none.
fn pairs(content: &[u8], unit: fn([u8; 2]) -> u16) -> Result<String, usize> {
    let (units, rest) = content.as_chunks();
    let mut at = 0;
    let mut text = String::with_capacity(units.len());
    for found in char::decode_utf16(units.iter().copied().map(unit)) {
        let found = found.map_err(|_| at)?;
        at += 2 * found.len_utf16();
        text.push(found);
    }
    if rest.is_empty() { Ok(text) } else { Err(at) }
}
