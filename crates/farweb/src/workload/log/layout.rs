//! Layouts, which divide lines into fields: by format strings, into columns that a line of the log names, or as JSON objects.

use std::borrow::Cow;

use super::field::Field;
use super::keys::{self, Keys};
use super::known::{Known, Shape};
use super::names::{TABLE, W3C, field};
use super::pattern::Pattern;
use super::record::Record;
use super::spans::Unit;
use super::units::{DOUBT, Units};
use super::{others, wrapped};

/// Layout: divides lines into fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Layout {
    /// By the first of some format strings that fits.
    Patterns(Vec<Pattern>),
    /// Into the columns that the last line with names has named.
    Columns(Columns),
    /// As a JSON object.
    Json(Keys),
}

/// Columns, apart by tabs or by blanks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Columns {
    /// Empty: no line has named them so far.
    fields: Vec<Field>,
    tabs: bool,
    units: Units,
}

impl Layout {
    /// The layout of a format with a name, in a log that begins with `head`.
    ///
    /// # Errors
    /// When a format string cannot be compiled.
    pub(super) fn of(known: &Known, head: &[u8]) -> Result<Self, String> {
        match known.lines {
            Shape::Text(texts) => Self::patterns(texts),
            Shape::TextOrTable(texts) => Self::table(head).map_or_else(|| Self::patterns(texts), Ok),
            Shape::Columns("") => Ok(Self::Columns(Columns::default())),
            Shape::Columns(names) => Ok(Self::Columns(Columns::default().named(names.as_bytes()))),
            Shape::Json(keys) => Ok(Self::Json(Keys::new(keys, false, None))),
            Shape::JsonOnly(keys) => Ok(Self::Json(Keys::new(keys, true, None))),
            Shape::JsonWith(sign, keys) => Ok(Self::Json(Keys::new(keys, true, Some(sign)))),
        }
    }

    /// The layout that the first fitting of some format strings describes.
    ///
    /// # Errors
    /// When one cannot be compiled.
    pub(super) fn patterns(texts: &[&str]) -> Result<Self, String> {
        let compiled: Result<_, _> = texts.iter().map(|text| Pattern::compile(text)).collect();
        compiled.map(Self::Patterns)
    }

    /// True when `line` is none of a request but names columns, or says something else of the log; takes the names.
    pub(super) fn heads(&mut self, line: &[u8], first: bool) -> bool {
        if let Self::Columns(columns) = self
            && line.starts_with(b"#")
        {
            if let Some(names) = line.strip_prefix(b"#Fields:") {
                *columns = columns.named(names);
            }
            return true;
        }
        match self {
            Self::Columns(_) => first && Self::table(line).is_some(),
            // Every request has a digit in its time and its size; in a trace a name may have one too.
            Self::Patterns(patterns) if first => {
                let (pattern, has_digits) = (&patterns[0], line.iter().any(u8::is_ascii_digit));
                let is_quoted = !has_digits && line.starts_with(b"\"") && line.contains(&b',');
                let is_time = |why: &String| why.starts_with("time: ");
                let are_names = |(_, wrong): (usize, Vec<String>)| {
                    !has_digits || pattern.is_own() && wrong.len() > 1 && wrong.iter().any(is_time)
                };
                line.starts_with(b"#") || is_quoted || pattern.faults(line).is_ok_and(are_names)
            }
            _ => false,
        }
    }

    /// True if `line`, which cannot be read, is known not to be one of a request.
    pub(super) fn is_other(&self, line: &[u8]) -> bool {
        match self {
            Self::Patterns(_) => others::is_other(line),
            Self::Columns(_) => false,
            Self::Json(keys) => keys.is_message(line) || !keys::is_of_json(line) && others::is_other(line),
        }
    }

    /// The layout of the tab-separated table that begins with `head`, if that is the header line of one.
    pub(super) fn table(head: &[u8]) -> Option<Self> {
        let line = head.split(|byte| *byte == b'\n').next()?;
        let names = line.strip_suffix(b"\r").unwrap_or(line).split(|byte| *byte == b'\t');
        let fields: Vec<_> = names.map(|name| field(TABLE, name)).collect();
        let is_whole = TABLE.iter().all(|(_, field)| fields.contains(field));
        is_whole.then_some(Self::Columns(Columns { fields, tabs: true, units: Units::Open }))
    }

    /// True if lines may have such a field.
    pub(super) fn has(&self, is_it: impl Fn(Field) -> bool) -> bool {
        match self {
            Self::Patterns(patterns) => patterns.iter().any(|pattern| pattern.has(&is_it)),
            Self::Columns(columns) => columns.fields.iter().copied().any(is_it),
            Self::Json(keys) => keys.of(is_it).next().is_some(),
        }
    }

    /// Reads spans from here on as `units` has it.
    pub(super) fn decide(&mut self, units: Units) {
        match self {
            Self::Patterns(patterns) => patterns.iter_mut().for_each(|pattern| pattern.decide(units)),
            Self::Columns(columns) => columns.units = units,
            Self::Json(keys) => keys.units = units,
        }
    }

    /// True if lines are divided otherwise than by `other`.
    pub(super) fn is_other_than(&self, other: &Self) -> bool {
        match (self, other) {
            // Each log names its columns itself.
            (Self::Columns(_), Self::Columns(_)) => false,
            (Self::Json(keys), Self::Json(others)) => !keys.are_those_of(others),
            _ => self != other,
        }
    }

    /// Assumption about the unit of a span that others write in another one.
    pub(super) fn doubt(&self) -> Option<&'static str> {
        self.has(|field| field.unit() == Some(Unit::MicrosOrMillis)).then_some(DOUBT)
    }

    /// Gives `take` the records of the lines that can be read, at the `head` of a log.
    pub(super) fn each_of(&self, head: &[u8], mut take: impl FnMut(Record<'_>)) {
        let mut layout = self.clone();
        let end = if head.contains(&b'\n') { b'\n' } else { b'\r' };
        for (number, line) in head.split(|byte| *byte == end).enumerate() {
            let line = wrapped::message(line.strip_suffix(b"\r").unwrap_or(line));
            if !layout.heads(&line, number == 0)
                && let Ok(record) = layout.read(&line)
            {
                take(record);
            }
        }
    }

    /// Checks that lines of a log that begins with `head` may have `X-Forwarded-For`.
    ///
    /// # Errors
    /// The fields that they have instead.
    pub(super) fn check_forwarded(&self, head: &[u8]) -> Result<(), String> {
        let (has, there) = self.shown(head, |field| field == Field::Forwarded);
        if has { Ok(()) } else { Err(format!("has no field X-Forwarded-For; its fields are {there}")) }
    }

    /// Checks that lines of a log that begins with `head` may say whether a cache answered.
    ///
    /// # Errors
    /// What is missing.
    pub(super) fn check_results(&self, head: &[u8]) -> Result<(), String> {
        if self.shown(head, Field::is_result).0 {
            return Ok(());
        }
        let keys = if let Self::Json(keys) = self { keys.of(Field::is_result).collect() } else { Vec::new() };
        let keys = if keys.is_empty() { String::new() } else { format!(" (in {})", keys.join(", ")) };
        Err(format!(
            "its lines do not say whether a cache answered{keys}; leave the option out for all that crossed the link, or name the field \
             that says it: {{result}} in --log-format, --field result=KEY of JSON"
        ))
    }

    /// True if lines of a log that begins with `head` may have such a field; and the fields that they have.
    pub(super) fn shown(&self, head: &[u8], is_it: impl Fn(Field) -> bool) -> (bool, String) {
        let mut lines = head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        match self {
            Self::Patterns(patterns) => (self.has(is_it), patterns[0].text().to_owned()),
            Self::Columns(_) => {
                let named = lines.clone().find_map(|line| line.strip_prefix(b"#Fields:"));
                let mut columns = self.clone();
                if let (Self::Columns(columns), Some(names)) = (&mut columns, named) {
                    *columns = columns.named(names);
                }
                let fields = String::from_utf8_lossy(named.or_else(|| lines.next()).unwrap_or_default());
                (columns.has(is_it), fields.split_ascii_whitespace().collect::<Vec<_>>().join(", "))
            }
            Self::Json(keys) => keys.shown(head, is_it),
        }
    }

    /// Record of `line`, which may stand behind a time that is none of its own.
    ///
    /// # Errors
    /// The problem with the line.
    pub(super) fn read<'a>(&self, line: &'a [u8]) -> Result<Record<'a>, String> {
        self.read_whole(line).or_else(|why| match wrapped::behind_time(line) {
            Some(rest) => self.read_whole(rest).map_err(|_| why),
            None => Err(why),
        })
    }

    /// How well `line` fits, and the faults of its one or two wrong values. `None` if more are wrong, or it is divided
    /// otherwise.
    pub(super) fn faults(&self, line: &[u8]) -> Option<(isize, Vec<String>)> {
        // A wrong value weighs as much as a few right ones.
        let fit = |(right, wrong): (usize, Vec<String>)| {
            (1..=2).contains(&wrong.len()).then(|| (right as isize - 3 * wrong.len() as isize, wrong))
        };
        match self {
            Self::Patterns(patterns) => {
                let all = patterns.iter().filter_map(|pattern| fit(pattern.faults(line).ok()?));
                all.max_by_key(|(fit, _)| *fit)
            }
            Self::Columns(_) => None,
            Self::Json(keys) => fit(keys.faults(line)?),
        }
    }

    fn read_whole<'a>(&self, line: &'a [u8]) -> Result<Record<'a>, String> {
        match self {
            Self::Patterns(patterns) => {
                let first = patterns[0].read(line);
                let fits = |pattern: &Pattern| pattern.read(line).ok();
                first.or_else(|why| patterns[1..].iter().find_map(fits).ok_or(why))
            }
            Self::Columns(columns) => columns.read(line),
            Self::Json(keys) => keys.read(line),
        }
    }
}

impl Columns {
    /// The columns that a header line names.
    fn named(&self, names: &[u8]) -> Self {
        let tabs = names.trim_ascii().contains(&b'\t');
        let split = names.split(|byte| matches!(byte, b' ' | b'\t')).filter(|name| !name.is_empty());
        let fields = split.map(|name| field(W3C, &name.to_ascii_lowercase())).collect();
        Self { fields, tabs, units: self.units }
    }

    fn read<'a>(&self, line: &'a [u8]) -> Result<Record<'a>, String> {
        if self.fields.is_empty() {
            return Err("comes before a line that names the columns (#Fields: …)".into());
        }
        let mut record = Record::default();
        let last = self.fields.iter().rposition(|field| *field != Field::Ignored).map_or(0, |last| last + 1);
        // CloudFront has blanks in its header line and tabs in all others.
        let tabs = self.tabs || line.iter().filter(|byte| **byte == b'\t').count() + 1 >= last.max(2);
        let mut cells = Cells { rest: Some(line), tabs };
        for field in &self.fields[..last] {
            let cell = cells.next().ok_or("has fewer fields than the header line")?;
            record.set(field.by(self.units), cell)?;
        }
        record.complete()
    }
}

/// Cells of a line, apart by a tab or by blanks; one in double quotes may hold blanks, and quotes that are doubled.
struct Cells<'a> {
    rest: Option<&'a [u8]>,
    tabs: bool,
}

impl<'a> Iterator for Cells<'a> {
    type Item = Cow<'a, [u8]>;

    fn next(&mut self) -> Option<Cow<'a, [u8]>> {
        let rest = self.rest.take()?;
        let end_byte = if self.tabs { b'\t' } else { b' ' };
        let rest = if self.tabs { rest } else { rest.trim_ascii_start() };
        if rest.is_empty() && !self.tabs {
            return None;
        }
        if let Some((cell, behind)) =
            quoted_cell(rest).filter(|(_, behind)| behind.first().is_none_or(|byte| *byte == end_byte))
        {
            self.rest = behind.get(1..);
            return Some(cell);
        }
        let end = rest.iter().position(|byte| *byte == end_byte).unwrap_or(rest.len());
        self.rest = rest.get(end + 1..);
        Some(Cow::Borrowed(&rest[..end]))
    }
}

/// The quoted text at the beginning of `text`, and the rest. Two quotes stand for one.
fn quoted_cell(text: &[u8]) -> Option<(Cow<'_, [u8]>, &[u8])> {
    let inner = text.strip_prefix(b"\"")?;
    let mut cell = Vec::new();
    let mut rest = inner;
    loop {
        let end = rest.iter().position(|byte| *byte == b'"')?;
        cell.extend(&rest[..end]);
        rest = &rest[end + 1..];
        let Some(behind) = rest.strip_prefix(b"\"") else { return Some((Cow::Owned(cell), rest)) };
        cell.push(b'"');
        rest = behind;
    }
}
