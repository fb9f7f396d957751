//! Layouts, which divide lines into fields: by format strings, into columns that a line of the log names, or as JSON objects.

use std::borrow::Cow;

use serde_json::Value;

use super::names::{JSON, TABLE, W3C, field};
use super::pattern::Pattern;
use super::record::{Field, Record};

/// Layout: divides lines into fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Layout {
    /// By the first of some format strings that fits.
    Patterns(Vec<Pattern>),
    /// Into the columns that the last line with names has named; `None`: there was none so far.
    Columns(Option<Columns>),
    /// As a JSON object.
    Json,
}

/// Columns, apart by tabs or by blanks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Columns {
    fields: Vec<Field>,
    tabs: bool,
}

impl Layout {
    /// Whether `line` is none of a request but names columns, or says something else of the log; takes the names.
    pub(super) fn heads(&mut self, line: &[u8], first: bool) -> bool {
        if let Self::Columns(columns) = self
            && line.starts_with(b"#")
        {
            if let Some(names) = line.strip_prefix(b"#Fields:") {
                let tabs = names.trim_ascii().contains(&b'\t');
                let split = names.split(|byte| matches!(byte, b' ' | b'\t')).filter(|name| !name.is_empty());
                let fields = split.map(|name| field(W3C, &name.to_ascii_lowercase())).collect();
                *columns = Some(Columns { fields, tabs });
            }
            return true;
        }
        first && matches!(self, Self::Columns(Some(_))) && Self::table(line).is_some()
    }

    /// The layout of the tab-separated table that begins with `head`, if that is the header line of one.
    pub(super) fn table(head: &[u8]) -> Option<Self> {
        let line = head.split(|byte| *byte == b'\n').next()?;
        let names = line.strip_suffix(b"\r").unwrap_or(line).split(|byte| *byte == b'\t');
        let fields: Vec<_> = names.map(|name| field(TABLE, name)).collect();
        let is_whole = TABLE.iter().all(|(_, field)| fields.contains(field));
        is_whole.then_some(Self::Columns(Some(Columns { fields, tabs: true })))
    }

    /// Record of `line`.
    ///
    /// # Errors
    /// The problem with the line.
    pub(super) fn read<'a>(&self, line: &'a [u8]) -> Result<Record<'a>, String> {
        match self {
            Self::Patterns(patterns) => {
                let first = patterns[0].read(line);
                let fits = |pattern: &Pattern| pattern.read(line).ok();
                first.or_else(|why| patterns[1..].iter().find_map(fits).ok_or(why))
            }
            Self::Columns(Some(columns)) => columns.read(line),
            Self::Columns(None) => Err("comes before a line that names the columns (#Fields: …)".into()),
            Self::Json => json(line),
        }
    }
}

impl Columns {
    fn read<'a>(&self, line: &'a [u8]) -> Result<Record<'a>, String> {
        let mut record = Record::default();
        let mut cells = Cells { rest: Some(line), tabs: self.tabs };
        let last = self.fields.iter().rposition(|field| *field != Field::Ignored).map_or(0, |last| last + 1);
        for field in &self.fields[..last] {
            let cell = cells.next().ok_or("has fewer fields than the header line")?;
            record.set(*field, Cow::Borrowed(cell))?;
        }
        record.complete()
    }
}

/// Cells of a line, apart by a tab or by blanks; one in double quotes may hold blanks.
struct Cells<'a> {
    rest: Option<&'a [u8]>,
    tabs: bool,
}

impl<'a> Iterator for Cells<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let rest = self.rest.take()?;
        let is_end = |byte: &u8| *byte == if self.tabs { b'\t' } else { b' ' };
        let rest = if self.tabs { rest } else { rest.trim_ascii_start() };
        if rest.is_empty() && !self.tabs {
            return None;
        }
        if let (false, Some(quoted)) = (self.tabs, rest.strip_prefix(b"\"")) {
            let end = quoted.iter().position(|byte| *byte == b'"')?;
            self.rest = Some(&quoted[end + 1..]);
            return Some(&quoted[..end]);
        }
        let end = rest.iter().position(is_end).unwrap_or(rest.len());
        self.rest = rest.get(end + 1..);
        Some(&rest[..end])
    }
}

/// Record of a JSON object.
fn json(line: &[u8]) -> Result<Record<'_>, String> {
    let object: Value =
        serde_json::from_slice(line).map_err(|error| format!("is no JSON object: {error}"))?;
    if !object.is_object() {
        return Err("is no JSON object".into());
    }
    let mut record = Record::default();
    for (key, field) in JSON {
        let value = key.split('.').try_fold(&object, |value, key| value.get(key));
        match value {
            Some(Value::String(text)) => record.set(*field, Cow::Owned(text.as_bytes().to_vec()))?,
            // Without an exponent, as fields are read.
            Some(Value::Number(number)) => {
                let text = match number.as_u64() {
                    Some(whole) => whole.to_string(),
                    None => number.as_f64().unwrap_or(f64::NAN).to_string(),
                };
                record.set(*field, Cow::Owned(text.into_bytes()))?;
            }
            _ => {}
        }
    }
    record.complete()
}
