//! Checks a tree of values against the JSON Schema of a scenario, and finds every problem.

use serde_json::{Map, Value};

use super::absent::absent;
use super::document::{Document, join, quote};
use super::problem::Problem;
use super::{CapturePoint, QueueLimit, SCHEMA, Shift, key};
use crate::http::mux::Overhead;
use crate::net::ListedPackets;
use crate::units::{BitRate, Bytes, Decibels, Duration, Quantity, QuantityError, Share};

/// Everything in `document` that does not follow the schema of a scenario.
pub(super) fn problems(document: &Document) -> Vec<Problem> {
    let mut walk = Walk { document, problems: Vec::new() };
    walk.value("", &SCHEMA, &document.tree);
    walk.problems
}

/// Everything in `value`, which stands at `path` in `document`, that does not follow a definition of the schema.
pub(super) fn problems_of(document: &Document, path: &str, definition: &str, value: &Value) -> Vec<Problem> {
    let mut walk = Walk { document, problems: Vec::new() };
    walk.value(path, &SCHEMA["$defs"][definition], value);
    walk.problems
}

struct Walk<'a> {
    document: &'a Document,
    problems: Vec<Problem>,
}

impl<'a> Walk<'a> {
    fn value(&mut self, path: &str, schema: &'a Value, value: &Value) {
        let schema = key::resolve(schema);
        // Null stands for what reading has already reported. TOML has none.
        if value.is_null() {
            return;
        }
        if let Some(branches) = schema["oneOf"].as_array() {
            return self.one_of(path, branches, value);
        }
        if let Some((word, other)) = key::word_or_other(schema) {
            let wanted = match key::resolve(other)["type"].as_str() {
                Some("array") => "tables",
                Some("integer") => "a whole number",
                _ => "a table",
            };
            let is_number = value.is_number() && wanted == "a whole number";
            return match value {
                _ if is_number || value.is_object() || value.is_array() => self.value(path, other, value),
                Value::String(text) if text == word => {}
                _ => self.wrong_type(path, value, &format!("{wanted}, or {}", quote(word))),
            };
        }
        if let Some((text, other)) = key::text_or_other(schema) {
            return match value {
                Value::Object(_) => self.value(path, other, value),
                _ => self.text(path, text, value),
            };
        }
        if let Some(branches) = schema["anyOf"].as_array()
            && (value.is_object() || schema["type"].is_null())
        {
            let types: Vec<&str> = branches.iter().filter_map(|branch| branch["type"].as_str()).collect();
            let is_plain = |name: &&str| matches!(*name, "string" | "number");
            return match types.iter().all(is_plain) && types.len() == branches.len() {
                true => self.one_of_types(path, &types, value),
                false => self.by_what_is_beside(path, branches, value),
            };
        }
        match (schema["type"].as_str(), value) {
            (Some("object"), Value::Object(table)) => self.table(path, schema, table),
            (Some("array"), Value::Array(list)) => {
                if schema["minItems"] == 2 && schema["maxItems"] == 2 && list.len() != 2 {
                    let message = format!("found {} in a list; write the least and the largest", list.len());
                    self.report(path, message);
                }
                for (index, entry) in list.iter().enumerate() {
                    self.value(&join(path, &index.to_string()), &schema["items"], entry);
                }
            }
            (Some("string"), value) => self.text(path, schema, value),
            (Some("integer"), Value::Number(number)) if !number.is_f64() => {
                self.range(path, schema, number.as_f64(), value);
            }
            (Some("number"), Value::Number(number)) => self.range(path, schema, number.as_f64(), value),
            (Some("number"), Value::String(text)) if schema["format"] == Share::KIND => {
                if let Err(message) = Share::parse(text) {
                    self.report(path, message);
                }
            }
            (Some("boolean"), Value::Bool(_)) | (None, _) => {}
            (Some(wanted), _) => self.wrong_type(path, value, type_name(wanted)),
        }
    }

    /// A text or number, as the types say.
    fn one_of_types(&mut self, path: &str, types: &[&str], value: &Value) {
        let found = match value {
            Value::String(_) => "string",
            Value::Number(_) => "number",
            _ => "",
        };
        if !types.contains(&found) {
            let wanted: Vec<&str> = types.iter().map(|name| type_name(name)).collect();
            self.wrong_type(path, value, &wanted.join(" or "));
        }
    }

    /// A table or a number: the profile, the family or the scale beside it decides about its keys or its range. An unknown one is
    /// reported where it stands.
    fn by_what_is_beside(&mut self, path: &str, branches: &'a [Value], value: &Value) {
        let beside = path.rsplit_once('.').map_or("", |(table, _)| table);
        let pointer = format!("/{}", beside.replace('.', "/"));
        let parent = self.document.tree.pointer(&pointer).unwrap_or(&Value::Null);
        if let Some(branch) = key::beside(branches, parent) {
            self.value(path, branch, value);
        }
    }

    /// A word from a list, or a table: its `kind` chooses the branch.
    fn one_of(&mut self, path: &str, branches: &'a [Value], value: &Value) {
        let words: Vec<&str> = branches.iter().filter_map(|branch| branch["const"].as_str()).collect();
        if !words.is_empty() {
            match value {
                Value::String(word) => self.word(path, &words, word),
                _ => self.wrong_type(path, value, &choice(&words)),
            }
            return;
        }
        let kinds: Vec<&str> = branches.iter().filter_map(kind_of).collect();
        let Some(table) = value.as_object() else {
            let meant =
                as_table(branches, value).map(|table| format!("; meant may be {table}")).unwrap_or_default();
            let message = format!("a table with a kind, {{ kind = … }}, {}{meant}", choice(&kinds));
            return self.wrong_type(path, value, &message);
        };
        let kind_path = join(path, "kind");
        match table.get("kind") {
            None => self.report(&kind_path, format!("missing; it is {}", choice(&kinds))),
            Some(Value::Null) => {}
            Some(Value::String(kind)) => match branches.iter().find(|branch| kind_of(branch) == Some(kind)) {
                Some(branch) => self.table(path, branch, table),
                None => self.word(&kind_path, &kinds, kind),
            },
            Some(kind) => self.wrong_type(&kind_path, kind, &choice(&kinds)),
        }
    }

    fn word(&mut self, path: &str, words: &[&str], word: &str) {
        if words.contains(&word) {
            return;
        }
        let meant = did_you_mean(word, words);
        let message = format!("found {}; it is {}{meant}", quote(word), choice(words));
        self.report(path, message);
    }

    fn table(&mut self, path: &str, schema: &'a Value, table: &Map<String, Value>) {
        let any_key = &schema["additionalProperties"];
        let no_keys = Map::new();
        let keys = schema["properties"].as_object();
        for (key, value) in table {
            let path = join(path, key);
            match keys.and_then(|keys| keys.get(key)) {
                Some(schema) => self.value(&path, schema, value),
                None if any_key.is_object() => self.value(&path, any_key, value),
                None if any_key == true => {}
                None => self.unknown_key(&path, key, value, keys.unwrap_or(&no_keys)),
            }
        }
        let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let unless = keys.into_iter().flatten().filter(|(_, stated)| {
            stated["x-unless"].as_str().is_some_and(|other| !table.contains_key(other))
        });
        for key in unless.map(|(key, _)| key.as_str()).chain(required) {
            let stated = &schema["properties"][key];
            if !table.contains_key(key) {
                let wanted = if stated["examples"].is_null() { key::resolve(stated) } else { stated };
                self.report(&join(path, key), format!("missing; {}", how_to_write(key, wanted)));
            }
        }
    }

    fn unknown_key(&mut self, path: &str, key: &str, value: &Value, keys: &Map<String, Value>) {
        let keys: Vec<&str> = keys.keys().map(String::as_str).collect();
        // Chosen: as many as a person reads to find one.
        const FEW: usize = 14;
        let meant = match did_you_mean(key, &keys) {
            meant if meant.starts_with(" (did you mean") => meant,
            meant => Some(not_here(value)).filter(|of_value| !of_value.is_empty()).unwrap_or(meant),
        };
        let message = match keys.as_slice() {
            [] => "unknown key; there are none here".to_owned(),
            keys if keys.len() <= FEW || meant.is_empty() => {
                format!("unknown key; the keys here are {}{meant}", keys.join(", "))
            }
            keys => format!("unknown key{meant}; farweb schema scenario lists the {} keys here", keys.len()),
        };
        self.report(path, message);
    }

    fn text(&mut self, path: &str, schema: &Value, value: &Value) {
        let listed = |name: &str| schema[name].as_array().into_iter().flatten().filter_map(Value::as_str);
        let words: Vec<&str> = listed("x-words").collect();
        if value.as_str().is_some_and(|text| words.contains(&text)) {
            return;
        }
        if let Some(kind) = listed("x-limited-words").find(|kind| value == kind) {
            let table = format!("{{ kind = \"{kind}\", limit = \"50 ms\" }}");
            self.report(path, format!("found \"{kind}\", which needs a limit; write queue = {table}"));
            return;
        }
        let or_word = if words.is_empty() { String::new() } else { format!("; or write {}", choice(&words)) };
        let error = match schema["format"].as_str() {
            Some(Duration::KIND) => quantity_error::<Duration>(value),
            Some(Bytes::KIND) => quantity_error::<Bytes>(value),
            Some(BitRate::KIND) => quantity_error::<BitRate>(value),
            Some(QueueLimit::KIND) => quantity_error::<QueueLimit>(value),
            Some(Shift::KIND) => quantity_error::<Shift>(value),
            Some(Decibels::KIND) => quantity_error::<Decibels>(value),
            Some(Overhead::KIND) => quantity_error::<Overhead>(value),
            Some(ListedPackets::KIND) if value.is_string() => listed_error(value),
            Some(CapturePoint::KIND) if value.is_string() => point_error(value),
            _ if value.is_string() => None,
            _ => return self.wrong_type(path, value, "text in quotes"),
        };
        if let Some(error) = error {
            let meant = value.as_str().map(|text| did_you_mean(text, &words)).unwrap_or_default();
            // A link without a rate for some time has an outage.
            let outage = if error.contains(" is zero, a rate") && path.contains(".steps.") {
                "; where nothing is to be sent for a time write outage"
            } else {
                ""
            };
            self.report(path, format!("{error}{outage}{or_word}{meant}"));
        }
    }

    fn range(&mut self, path: &str, schema: &Value, number: Option<f64>, value: &Value) {
        let low = schema["minimum"].as_f64().unwrap_or(f64::NEG_INFINITY);
        let high = schema["maximum"].as_f64().unwrap_or(match schema["format"].as_str() {
            Some("uint8") => f64::from(u8::MAX),
            Some("uint16") => f64::from(u16::MAX),
            Some("uint32") => f64::from(u32::MAX),
            _ => f64::INFINITY,
        });
        if number.is_some_and(|number| (low..=high).contains(&number)) {
            return;
        }
        let allowed = match (low.is_finite(), high.is_finite()) {
            (true, true) => format!("{low} to {high}"),
            (true, false) => format!("at least {low}"),
            _ => format!("at most {high}"),
        };
        self.report(path, format!("found {value}; it is {allowed}"));
    }

    fn wrong_type(&mut self, path: &str, value: &Value, wanted: &str) {
        self.report(path, format!("found {}; write {wanted}", describe(value)));
    }

    fn report(&mut self, path: &str, message: String) {
        self.problems.push(self.document.problem(path, message));
    }
}

fn kind_of(branch: &Value) -> Option<&str> {
    branch["properties"]["kind"]["const"].as_str()
}

/// The table that a value alone stands for: of the kind that it names, or of the kind that takes it as its only key.
fn as_table(branches: &[Value], value: &Value) -> Option<String> {
    branches.iter().find_map(|branch| {
        let kind = kind_of(branch).map(quote)?;
        match branch["required"].as_array()?.as_slice() {
            [_] if branch["properties"]["kind"]["const"] == *value => Some(format!("{{ kind = {kind} }}")),
            [_, key] => {
                let key = key.as_str()?;
                is_share(&branch["properties"][key], value)
                    .then(|| format!("{{ kind = {kind}, {key} = {value} }}"))
            }
            _ => None,
        }
    })
}

fn is_share(schema: &Value, value: &Value) -> bool {
    schema["format"] == Share::KIND
        && match value {
            Value::String(text) => Share::parse(text).is_ok(),
            Value::Number(number) => number.as_f64().is_some_and(|share| (0.0..=1.0).contains(&share)),
            _ => false,
        }
}

fn quantity_error<Q: Quantity>(value: &Value) -> Option<String> {
    let error = match value {
        Value::String(text) => text.parse::<Q>().err()?,
        Value::Number(number) => QuantityError::new::<Q>(format!("found {number} without a unit")),
        _ => QuantityError::new::<Q>(format!("found {}", describe(value))),
    };
    Some(error.to_string())
}

fn listed_error(value: &Value) -> Option<String> {
    value.as_str()?.parse::<ListedPackets>().err().map(|error| error.to_string())
}

fn point_error(value: &Value) -> Option<String> {
    let text = value.as_str()?;
    let error = text.parse::<CapturePoint>().err()?;
    let known = CapturePoint::like(text);
    Some(format!("{error}{}", did_you_mean(text, &known.each_ref().map(String::as_str))))
}

fn type_name(name: &str) -> &str {
    match name {
        "object" => "a table",
        "string" => "text",
        "array" => "a list",
        "integer" => "a whole number",
        "number" => "a number",
        "boolean" => "true or false",
        other => other,
    }
}

pub(super) fn describe(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) => format!("the text {}", quote(text)),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "a table".to_owned(),
    }
}

/// An example of a missing key, the first of its schema.
fn how_to_write(key: &str, schema: &Value) -> String {
    match (&schema["examples"][0], schema["type"].as_str()) {
        (Value::Null, Some(wanted)) => {
            format!("{key} is {}", type_name(wanted))
        }
        (Value::Null, None) => format!("{key} is a table with a kind"),
        (example, _) => format!("write for example {key} = {}", inline(example)),
    }
}

/// A value as TOML has it on a line.
fn inline(value: &Value) -> String {
    let Some(table) = value.as_object() else { return value.to_string() };
    let pairs: Vec<_> = table.iter().map(|(key, value)| format!("{} = {value}", join("", key))).collect();
    format!("{{ {} }}", pairs.join(", "))
}

fn list_quoted(words: &[&str]) -> String {
    words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(", ")
}

pub(super) fn choice(words: &[&str]) -> String {
    format!("{}{}", if words.len() == 1 { "" } else { "one of " }, list_quoted(words))
}

/// " (farweb does not model …)", or where it has it, for a text that is such a name, else nothing.
fn not_here(value: &Value) -> String {
    value.as_str().and_then(absent).map(|sentence| format!(" ({sentence})")).unwrap_or_default()
}

/// " (farweb does not model …)" for a name that is known to be absent, or the place where farweb has it, else
/// " (did you mean …?)" when one of `words` is near.
pub(super) fn did_you_mean(found: &str, words: &[&str]) -> String {
    if let Some(sentence) = absent(found) {
        return format!(" ({sentence})");
    }
    let found = found.to_lowercase();
    let letters = found.chars().count();
    // A third of the letters may differ: "bufer", "conections". Chosen: short words need to be close. A word
    // that is only begun ("bsd44") is near too.
    let distance = |word: &str| match word.starts_with(&found) && letters >= 3 {
        true => 0,
        false => strsim::osa_distance(&found, word),
    };
    match words.iter().map(|word| (distance(word), word)).min() {
        Some((distance, word)) if distance <= (letters / 3).max(1) => format!(" (did you mean {word}?)"),
        _ => String::new(),
    }
}
