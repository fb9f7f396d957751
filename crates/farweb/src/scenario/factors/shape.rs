//! Checks that each factor of a sweep has one of the three allowed shapes: a list of values, a list of named
//! levels, a range. Finds which one is meant. Named levels and ranges then follow the JSON Schema.

use serde_json::{Map, Value};

use crate::scenario::document::{Document, join, quote};
use crate::scenario::problem::Problem;
use crate::scenario::shape::{describe, problems_of};

/// Everything in `sweep.factors` that is no factor.
pub(in crate::scenario) fn problems(document: &Document) -> Vec<Problem> {
    let mut walk = Walk { document, problems: Vec::new() };
    for (name, levels) in
        document.tree.pointer("/sweep/factors").and_then(Value::as_object).into_iter().flatten()
    {
        walk.factor(&join("sweep.factors", name), name, levels);
    }
    walk.problems
}

struct Walk<'a> {
    document: &'a Document,
    problems: Vec<Problem>,
}

impl Walk<'_> {
    fn report(&mut self, path: &str, message: impl Into<String>) {
        self.problems.push(self.document.problem(path, message));
    }

    fn factor(&mut self, path: &str, name: &str, levels: &Value) {
        match levels {
            // Null stands for what reading has already reported.
            Value::Null => {}
            Value::Array(list) if list.is_empty() => {
                self.report(path, "there are no levels; write at least one");
            }
            Value::Array(list) if has_names(list) => {
                for (index, level) in list.iter().enumerate() {
                    self.named_level(&join(path, &index.to_string()), level);
                }
            }
            Value::Array(_) => {}
            Value::Object(table) if is_range(table) => {
                self.problems.extend(problems_of(self.document, path, "Range", levels));
            }
            Value::Object(table) => {
                let key = quote(&dotted(name, table));
                self.report(path, format!("found a table; write a dotted key in quotes: {key} = [1, 2]"));
            }
            other => {
                let found = describe(other);
                let ways = "a list of levels, such as [1, 2, 4], or a range, such as { from = \"10 ms\", to = \"600 ms\" }";
                self.report(path, format!("found {found}; write {ways}"));
            }
        }
    }

    fn named_level(&mut self, path: &str, level: &Value) {
        self.problems.extend(problems_of(self.document, path, "NamedLevel", level));
        match &level["level"] {
            Value::String(label) if label.trim().is_empty() => {
                self.report(&join(path, "level"), "found an empty name; a level needs one");
            }
            Value::String(label) if label.contains(char::is_control) => {
                let message = format!("found {label:?}; a name is one line without control characters");
                self.report(&join(path, "level"), message);
            }
            _ => {}
        }
        let (path, set) = (join(path, "set"), level["set"].as_object());
        for (key, value) in set.into_iter().flatten() {
            if let (Value::Object(below), false) = (value, key.contains('.')) {
                let key = quote(&dotted(key, below));
                self.report(
                    &path,
                    format!("found a table; write the whole dotted key in quotes, such as {key}"),
                );
            }
        }
    }
}

/// True when the levels in `list` are meant to be named ones. No table of a scenario has their keys.
pub(super) fn has_names(list: &[Value]) -> bool {
    let is_named = |table: &Map<String, Value>| table.contains_key("level") || table.contains_key("set");
    list.iter().filter_map(Value::as_object).any(is_named)
}

/// True when `table` is meant to be a range. No table of a scenario has all its keys among these.
fn is_range(table: &Map<String, Value>) -> bool {
    ["from", "to", "scale"].iter().any(|key| table.contains_key(*key))
}

/// The key that nested tables stand for, when it was written without quotes.
fn dotted(name: &str, table: &Map<String, Value>) -> String {
    let (mut key, mut table) = (name.to_owned(), table);
    while let Some((next, value)) = table.iter().next() {
        key = join(&key, next);
        match value {
            Value::Object(below) if !is_range(below) => table = below,
            _ => break,
        }
    }
    key
}
