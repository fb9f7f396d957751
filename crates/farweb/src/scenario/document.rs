//! A scenario as it was written: a tree of values, and the place of each key in the file or the overrides.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Map, Number, Value};
use toml_edit::{InlineTable, Item, Key, Table, TableLike};

use super::problem::{Place, Problem};

/// Longest scenario, in bytes. Chosen: a hand-written one has a few kB, a request table given by mistake has
/// more.
const LONGEST: usize = 1_000_000;

/// Deepest nesting of tables and lists. Chosen: the format itself needs 7. Trees of this depth are walked
/// recursively.
const DEEPEST: usize = 32;

/// Longest text that a message repeats, in characters. Chosen: leaves room for the rest of the line.
const LONGEST_QUOTE: usize = 60;

/// A scenario before it is known to be one.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    /// Name of the file, for messages.
    pub(crate) file: String,
    /// The values. Null stands for a value that is already reported as a problem.
    pub(crate) tree: Value,
    /// Place of each key, by dotted path.
    places: BTreeMap<String, Place>,
}

/// The dotted path of `key` in the table or list at `parent`.
pub(crate) fn join(parent: &str, key: &str) -> String {
    let is_bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    let key = if is_bare { key.to_owned() } else { format!("{key:?}") };
    if parent.is_empty() { key } else { format!("{parent}.{key}") }
}

/// The parts of a dotted key.
///
/// # Errors
/// When it is none, or has too many parts.
pub(crate) fn segments(key: &str) -> Result<Vec<String>, String> {
    let parts = Key::parse(key)
        .map_err(|_| format!("{} is not a dotted key; write one like \"leg.0.tcp.buffer\"", quote(key)))?;
    if parts.len() > DEEPEST {
        return Err(format!("{} parts; a key has at most {DEEPEST}", parts.len()));
    }
    Ok(parts.iter().map(|part| part.get().to_owned()).collect())
}

/// `text` in quotes, shortened and without control characters.
pub(crate) fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars().take(LONGEST_QUOTE) {
        if c.is_control() {
            let _ = write!(quoted, "{}", c.escape_default());
        } else {
            quoted.push(c);
        }
    }
    if text.chars().nth(LONGEST_QUOTE).is_some() {
        quoted.push('…');
    }
    quoted.push('"');
    quoted
}

impl Document {
    /// Reads TOML. `problems` gets the values that no scenario can hold, such as dates.
    ///
    /// # Errors
    /// When `text` is not TOML, with line and column.
    pub(crate) fn read(text: &str, file: &str, problems: &mut Vec<Problem>) -> Result<Self, Problem> {
        let whole = |line, column, message| Problem {
            file: file.to_owned(),
            place: Place::File { line, column },
            key: String::new(),
            message,
        };
        if text.len() > LONGEST {
            let found = format!("{} bytes of text; a scenario has at most {LONGEST}", text.len());
            return Err(whole(1, 1, found));
        }
        let lines = Lines::new(text);
        if let Some(start) = text.find('\0') {
            let (line, column) = lines.place(start);
            return Err(whole(line, column, "not TOML: binary data".to_owned()));
        }
        let toml = toml_edit::Document::parse(text).map_err(|error| {
            let (line, column) = lines.place(error.span().map_or(0, |span| span.start));
            let message = error.message().trim().replace('\n', "; ");
            whole(line, column, format!("not TOML: {message}"))
        })?;
        let mut document = Self {
            file: file.to_owned(),
            tree: Value::Null,
            places: BTreeMap::from([(String::new(), lines.at(0))]),
        };
        document.tree = Reader { lines, places: &mut document.places, rejected: Vec::new() }.read_into(
            toml.as_table(),
            file,
            problems,
        );
        Ok(document)
    }

    /// A tree from another source than TOML: its keys have no places of their own.
    pub(crate) fn of_tree(tree: Value, file: &str) -> Self {
        let start = Place::File { line: 1, column: 1 };
        Self { file: file.to_owned(), tree, places: BTreeMap::from([(String::new(), start)]) }
    }

    /// Sets the value at a dotted key, which need not exist before. `value` is TOML, or else bare text.
    ///
    /// # Errors
    /// When the key cannot be reached or the value starts like TOML but is none.
    pub(crate) fn set(&mut self, key: &str, value: &str) -> Result<(), Problem> {
        let place = Place::Override(format!("{key}={value}"));
        let done = override_value(value).and_then(|value| self.set_value(key, value, place.clone()));
        done.map_err(|message| Problem { file: self.file.clone(), place, key: key.to_owned(), message })
    }

    /// Sets the value at a dotted key. Everything that is new stands at `place`.
    ///
    /// # Errors
    /// When the key is no dotted key, a place in a list is beyond its end, or the way leads through a plain value.
    pub(crate) fn set_value(&mut self, key: &str, value: Value, place: Place) -> Result<(), String> {
        let mut path = String::new();
        let mut target = &mut self.tree;
        for segment in &segments(key)? {
            // A queue written as a text is its limit.
            if segment == "limit" && target.is_string() && key.ends_with(".queue.limit") {
                break;
            }
            let parent = path;
            path = join(&parent, segment);
            let is_new = target.get(segment).is_none() && !target.is_array();
            target = step(target, segment, &parent)?;
            if is_new {
                self.places.insert(path.clone(), place.clone());
            }
        }
        *target = value;
        let below = format!("{path}.");
        self.places.retain(|known, _| !known.starts_with(&below));
        self.places.insert(path, place);
        Ok(())
    }

    /// The same without the table `name`.
    pub(crate) fn without(&self, name: &str) -> Self {
        let is_other =
            |path: &str| path != name && !path.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
        let keep = |(path, place): (&String, &Place)| is_other(path).then(|| (path.clone(), place.clone()));
        let mut tree = Map::new();
        for (key, value) in self.tree.as_object().into_iter().flatten().filter(|(key, _)| *key != name) {
            tree.insert(key.clone(), value.clone());
        }
        Self {
            file: self.file.clone(),
            tree: tree.into(),
            places: self.places.iter().filter_map(keep).collect(),
        }
    }

    /// Where `path` stands, or the nearest table around it.
    pub(crate) fn place(&self, path: &str) -> Place {
        let mut path = path;
        loop {
            if let Some(place) = self.places.get(path) {
                return place.clone();
            }
            path = path.rfind('.').map_or("", |end| &path[..end]);
        }
    }

    /// A problem with the value at `path`.
    pub(crate) fn problem(&self, path: &str, message: impl Into<String>) -> Problem {
        Problem {
            file: self.file.clone(),
            place: self.place(path),
            key: path.to_owned(),
            message: message.into(),
        }
    }
}

/// The value under `key` in `target`, which stands at `path`. A table gets it when it is new.
fn step<'t>(target: &'t mut Value, key: &str, path: &str) -> Result<&'t mut Value, String> {
    if target.is_null() {
        *target = Value::Object(Map::new());
    }
    match target {
        Value::Object(table) => Ok(table.entry(key).or_insert(Value::Null)),
        Value::Array(list) => {
            let length = list.len();
            let index: usize =
                key.parse().map_err(|_| format!("{path} is a list; write a number after it, not {key}"))?;
            list.get_mut(index).ok_or_else(|| match length {
                0 => format!("{path} is an empty list"),
                1 => format!("{path} has one entry, {path}.0"),
                _ => format!("{path} has {length} entries, {path}.0 to {path}.{}", length - 1),
            })
        }
        _ => Err(format!("{path} is a value, not a table; it has no key {key}")),
    }
}

/// The value of an override: TOML when it reads as such, otherwise text (`60 ms`, `http/1.0`).
fn override_value(text: &str) -> Result<Value, String> {
    let trimmed = text.trim();
    let Ok(value) = trimmed.parse::<toml_edit::Value>() else {
        if trimmed.starts_with(['"', '\'', '[', '{']) {
            return Err(format!("{} is not TOML", quote(trimmed)));
        }
        return Ok(Value::String(trimmed.to_owned()));
    };
    let mut places = BTreeMap::new();
    let mut reader = Reader { lines: Lines::new(trimmed), places: &mut places, rejected: Vec::new() };
    let value = reader.value("", &value, 0);
    match reader.rejected.pop() {
        // Alone, a date or `nan` may be the text that is wanted: a name, a file.
        Some(_) if value.is_null() => Ok(Value::String(trimmed.to_owned())),
        Some((_, message)) => Err(message),
        None => Ok(value),
    }
}

/// Byte offsets to lines and columns.
struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    fn new(text: &'t str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(end, _)| end + 1)).collect();
        Self { text, starts }
    }

    /// Line and column, both from 1, of the character at byte `offset`.
    fn place(&self, offset: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|start| *start <= offset);
        let before = self.text.get(self.starts[line - 1]..offset).unwrap_or_default();
        (line, before.chars().count() + 1)
    }

    fn at(&self, offset: usize) -> Place {
        let (line, column) = self.place(offset);
        Place::File { line, column }
    }
}

/// Turns TOML into a tree and notes where each key stands.
struct Reader<'t, 'p> {
    lines: Lines<'t>,
    places: &'p mut BTreeMap<String, Place>,
    /// Path of a value that no scenario can hold, and why.
    rejected: Vec<(String, String)>,
}

impl Reader<'_, '_> {
    fn read_into(mut self, table: &Table, file: &str, problems: &mut Vec<Problem>) -> Value {
        let tree = self.table("", table, 0);
        for (path, message) in self.rejected {
            let place = self.places.get(&path).cloned().unwrap_or_else(|| self.lines.at(0));
            problems.push(Problem { file: file.to_owned(), place, key: path, message });
        }
        tree
    }

    fn table(&mut self, path: &str, table: &dyn TableLike, depth: usize) -> Value {
        let mut entries = Map::new();
        for (name, _) in table.iter() {
            let Some((key, item)) = table.get_key_value(name) else { continue };
            let path = join(path, name);
            self.note(&path, key.span().or_else(|| item.span()));
            let value = self.item(&path, item, depth + 1);
            entries.insert(name.to_owned(), value);
        }
        Value::Object(entries)
    }

    fn item(&mut self, path: &str, item: &Item, depth: usize) -> Value {
        match item {
            Item::None => Value::Null,
            Item::Value(value) => self.value(path, value, depth),
            Item::Table(table) => self.nested(path, table, depth),
            Item::ArrayOfTables(tables) => {
                let mut list = Vec::new();
                for (index, table) in tables.iter().enumerate() {
                    let path = join(path, &index.to_string());
                    self.note(&path, table.span());
                    list.push(self.nested(&path, table, depth + 1));
                }
                Value::Array(list)
            }
        }
    }

    fn value(&mut self, path: &str, value: &toml_edit::Value, depth: usize) -> Value {
        match value {
            toml_edit::Value::String(text) => Value::String(text.value().clone()),
            toml_edit::Value::Integer(number) => Value::Number((*number.value()).into()),
            toml_edit::Value::Float(number) => match Number::from_f64(*number.value()) {
                Some(number) => Value::Number(number),
                None => self.reject(path, format!("{} is not a number to work with", number.value())),
            },
            toml_edit::Value::Boolean(flag) => Value::Bool(*flag.value()),
            toml_edit::Value::Datetime(date) => {
                self.reject(path, format!("found the date {}; a scenario has no dates", date.value()))
            }
            toml_edit::Value::Array(values) => {
                if depth > DEEPEST {
                    return self.too_deep(path);
                }
                let mut list = Vec::new();
                for (index, value) in values.iter().enumerate() {
                    let path = join(path, &index.to_string());
                    self.note(&path, value.span());
                    list.push(self.value(&path, value, depth + 1));
                }
                Value::Array(list)
            }
            toml_edit::Value::InlineTable(table) => self.nested::<InlineTable>(path, table, depth),
        }
    }

    fn nested<T: TableLike>(&mut self, path: &str, table: &T, depth: usize) -> Value {
        if depth > DEEPEST { self.too_deep(path) } else { self.table(path, table, depth) }
    }

    fn note(&mut self, path: &str, span: Option<std::ops::Range<usize>>) {
        if let Some(span) = span {
            self.places.insert(path.to_owned(), self.lines.at(span.start));
        }
    }

    fn too_deep(&mut self, path: &str) -> Value {
        self.reject(path, format!("nested more than {DEEPEST} deep"))
    }

    fn reject(&mut self, path: &str, message: String) -> Value {
        self.rejected.push((path.to_owned(), message));
        Value::Null
    }
}
