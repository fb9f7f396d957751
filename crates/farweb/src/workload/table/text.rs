//! Rows of a table in a text file: comma-, tab- or blank-separated, with or without a header line.
//!
//! The ending of the name selects the separator: `.csv`, `.tsv`, blanks for others (`hostfile` and `logfile` of the
//! NZ–US study), after removing `.gz`. Fields with commas or tabs may stand in double quotes (RFC 4180), but end on
//! their first line. In a blank-separated file `-` is an empty field.

use std::path::Path;

use super::place::{Place, Position, near};
use crate::schema::TableSpec;
use crate::workload::WorkloadError;
use crate::workload::lines::{LINE_BYTES_MAX, Line, Lines, quoted};

/// Most columns of a row, known or not. A row with more is no row of such a table.
const FIELDS_MAX: usize = 64;

/// Layout of a kind of table.
#[derive(Debug)]
pub(super) struct Layout {
    /// Its name in messages, such as "request table".
    pub(super) what: &'static str,
    /// Its columns, in the order that they have in a file without a header line.
    pub(super) table: TableSpec,
    /// Number of them that a file without a header line may have.
    pub(super) headless: usize,
    /// True when the first line names the columns.
    pub(super) is_header: fn(&[&str]) -> bool,
}

/// Separator between two fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Separator {
    Comma,
    Tab,
    Blanks,
}

/// A table in a text file, read row by row.
#[derive(Debug)]
pub(super) struct TextTable {
    lines: Lines,
    layout: &'static Layout,
    separator: Separator,
    csv: csv_core::Reader,
    /// Fields of the current row: their text, and where each one starts and ends in it.
    text: String,
    fields: Vec<(usize, usize)>,
    /// Field that holds it, for each column of the layout.
    field_of: Vec<Option<usize>>,
    /// Number of fields of every row, or `None` in a file without a header line, with rows of different length.
    width: Option<usize>,
    /// True when the current row is yet to be given out: the first line, when it is no header line.
    waiting: bool,
}

impl TextTable {
    /// Opens the file at `path` and reads its header line.
    pub(super) fn open(path: &Path, layout: &'static Layout) -> Result<Self, WorkloadError> {
        Self::new(Lines::open(path)?, layout)
    }

    /// Reads the header line of `lines`.
    pub(super) fn new(lines: Lines, layout: &'static Layout) -> Result<Self, WorkloadError> {
        let separator = separator_of(lines.name());
        let delimiter = if separator == Separator::Comma { b',' } else { b'\t' };
        let csv = csv_core::ReaderBuilder::new().delimiter(delimiter).build();
        let mut table = Self {
            lines,
            layout,
            separator,
            csv,
            text: String::new(),
            fields: Vec::new(),
            field_of: Vec::new(),
            width: None,
            waiting: false,
        };
        if !table.read_line()? {
            let names = layout.table.names().join(", ");
            let name = table.lines.name();
            return Err(WorkloadError(format!(
                "{name}: is empty; a {} has the columns {names}",
                layout.what
            )));
        }
        let words: Vec<&str> = (0..table.fields.len()).map(|field| table.field(field)).collect();
        let header = (layout.is_header)(&words).then(|| table.columns_named(&words)).transpose()?;
        match header {
            Some(field_of) => {
                table.width = Some(table.fields.len());
                table.field_of = field_of;
            }
            None => {
                table.field_of =
                    (0..layout.table.columns.len()).map(|c| (c < layout.headless).then_some(c)).collect();
                table.waiting = true;
            }
        }
        Ok(table)
    }

    /// Moves to the next row. `false` at the end.
    pub(super) fn next_row(&mut self) -> Result<bool, WorkloadError> {
        if !self.waiting && !self.read_line()? {
            return Ok(false);
        }
        self.waiting = false;
        let found = self.fields.len();
        let Layout { table, headless, .. } = self.layout;
        let allowed = self.width.map_or_else(|| table.required()..=*headless, |width| width..=width);
        if allowed.contains(&found) {
            return Ok(true);
        }
        let fields = if found == 1 { "field" } else { "fields" };
        let why = match self.width {
            Some(width) => format!("has {found} {fields} where the header line has {width}"),
            None => format!(
                "has {found} {fields}; without a header line a row of a {} is {} to {} fields: {}",
                self.layout.what,
                table.required(),
                headless,
                table.names()[..*headless].join(" "),
            ),
        };
        Err(self.place().problem(why))
    }

    /// Value of column `column` of the layout in the current row. `None` when it is empty or not in the file.
    pub(super) fn get(&self, column: usize) -> Option<&str> {
        let text = self.field_of[column]
            .filter(|field| *field < self.fields.len())
            .map(|field| self.field(field))?;
        let empty = text.is_empty() || (self.separator == Separator::Blanks && text == "-");
        (!empty).then_some(text)
    }

    /// True when the file has column `column` of the layout.
    pub(super) fn has(&self, column: usize) -> bool {
        self.field_of[column].is_some()
    }

    /// Name of column `column` of the layout.
    pub(super) fn column(&self, column: usize) -> &'static str {
        self.layout.table.columns[column].name
    }

    /// Its name, for messages.
    pub(super) fn name(&self) -> &str {
        self.lines.name()
    }

    /// Place of the current row, for messages.
    pub(super) fn place(&self) -> Place<'_> {
        Place { file: self.lines.name(), position: Position::Line(self.lines.number()) }
    }

    fn field(&self, field: usize) -> &str {
        let (start, end) = self.fields[field];
        self.text[start..end].trim_ascii()
    }

    /// Splits the next line that is not blank into fields. `false` at the end.
    fn read_line(&mut self) -> Result<bool, WorkloadError> {
        loop {
            let whole = match self.lines.next()? {
                None => return Ok(false),
                Some(Line::Whole(line)) => Some(line),
                Some(Line::TooLong(_)) => None,
            };
            let split = match whole {
                None => Err(format!("is longer than {LINE_BYTES_MAX} bytes")),
                Some(line) if line.iter().all(|byte| matches!(byte, b' ' | b'\t')) => continue,
                Some(line) => match std::str::from_utf8(line) {
                    Ok(line) => split(line, self.separator, &mut self.csv, &mut self.text, &mut self.fields),
                    Err(error) => Err(not_utf8(line, error.valid_up_to())),
                },
            };
            return match split {
                Ok(()) => Ok(true),
                Err(why) => Err(self.place().problem(why)),
            };
        }
    }

    /// Place of its name among `words`, for each column of the layout.
    fn columns_named(&self, words: &[&str]) -> Result<Vec<Option<usize>>, WorkloadError> {
        let (columns, required) = (self.layout.table.names(), self.layout.table.required());
        for (field, word) in words.iter().enumerate() {
            if !columns.contains(word) {
                let found = quoted(word.as_bytes());
                let hint = near(word, &columns);
                return Err(self.place().problem(format!(
                    "unknown column {found}{hint}; a {} has the columns {}",
                    self.layout.what,
                    columns.join(", ")
                )));
            }
            if words[..field].contains(word) {
                return Err(self.place().problem(format!("column {word} is there twice")));
            }
        }
        let field_of: Vec<_> =
            columns.iter().map(|column| words.iter().position(|word| word == column)).collect();
        if let Some(missing) = field_of[..required].iter().position(Option::is_none) {
            let names = columns[..required].join(", ");
            let why = format!("column {} is missing; a {} needs {names}", columns[missing], self.layout.what);
            return Err(self.place().problem(why));
        }
        Ok(field_of)
    }
}

fn separator_of(name: &str) -> Separator {
    let name = name.to_ascii_lowercase();
    match name.strip_suffix(".gz").unwrap_or(&name) {
        name if name.ends_with(".csv") => Separator::Comma,
        name if name.ends_with(".tsv") => Separator::Tab,
        _ => Separator::Blanks,
    }
}

fn not_utf8(line: &[u8], valid: usize) -> String {
    // The cut may fall inside a character. The message then starts with a replacement character.
    let before = &line[valid.saturating_sub(20)..valid];
    format!("byte {:#04x} after {} is not UTF-8; save the table as UTF-8", line[valid], quoted(before))
}

/// Splits `line` into `fields` of `text`.
fn split(
    line: &str,
    separator: Separator,
    csv: &mut csv_core::Reader,
    text: &mut String,
    fields: &mut Vec<(usize, usize)>,
) -> Result<(), String> {
    text.clear();
    fields.clear();
    if separator != Separator::Blanks && line.contains('"') {
        return split_quoted(line, csv, text, fields);
    }
    text.push_str(line);
    let mut start = 0;
    for (end, _) in line.bytes().chain([b'\n']).enumerate().filter(|(_, byte)| separator.ends_field(*byte)) {
        if separator != Separator::Blanks || end > start {
            fields.push((start, end));
        }
        start = end + 1;
    }
    if fields.len() > FIELDS_MAX { Err(too_many_fields()) } else { Ok(()) }
}

impl Separator {
    /// True when `byte` ends a field. LF stands for the end of the line.
    const fn ends_field(self, byte: u8) -> bool {
        match self {
            Self::Comma => matches!(byte, b',' | b'\n'),
            Self::Tab => matches!(byte, b'\t' | b'\n'),
            Self::Blanks => matches!(byte, b' ' | b'\t' | b'\n'),
        }
    }
}

fn too_many_fields() -> String {
    format!("has more than {FIELDS_MAX} fields")
}

/// Splits a line with fields that may stand in double quotes.
fn split_quoted(
    line: &str,
    csv: &mut csv_core::Reader,
    text: &mut String,
    fields: &mut Vec<(usize, usize)>,
) -> Result<(), String> {
    if line.bytes().filter(|byte| *byte == b'"').count() % 2 == 1 {
        return Err("a quoted field does not end on this line".into());
    }
    let mut unquoted = vec![0; line.len() + 1];
    let mut ends = [0; FIELDS_MAX + 1];
    csv.reset();
    let (result, _, written, ended) = csv.read_record(line.as_bytes(), &mut unquoted, &mut ends);
    if result == csv_core::ReadRecordResult::OutputEndsFull {
        return Err(too_many_fields());
    }
    // The end of the input ends the last field.
    let (_, _, _, last) = csv.read_record(b"", &mut unquoted[written..], &mut ends[ended..]);
    let count = ended + last;
    if count > FIELDS_MAX {
        return Err(too_many_fields());
    }
    unquoted.truncate(written);
    text.push_str(std::str::from_utf8(&unquoted).expect("UTF-8 split at ASCII characters"));
    let mut start = 0;
    for end in &ends[..count] {
        fields.push((start, *end));
        start = *end;
    }
    Ok(())
}
