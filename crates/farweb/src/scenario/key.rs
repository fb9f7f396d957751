//! Type of the value of a dotted key, by the JSON Schema.

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use super::{LoadScale, QueueLimit, SCHEMA};
use crate::tcp::ProfileName;
use crate::units::{BitRate, Bytes, Duration, Quantity};

/// Kind of value of a key, as far as numbers go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A whole number.
    Whole,
    /// A number.
    Number,
    /// A duration.
    Duration,
    /// A size.
    Size,
    /// A rate.
    Rate,
    /// A size or a number of packets.
    Queue,
    /// Anything else: a word, a list, a table.
    Other,
}

/// A quantity in its smallest unit, and what its numbers on an axis are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Amount {
    /// Whole ns, B, bit/s or packets.
    pub(crate) smallest: u64,
    /// Unit on an axis: `s`, `B`, `bit/s`, `packets`.
    pub(crate) unit: &'static str,
}

impl Amount {
    /// Its place on an axis.
    pub(crate) fn number(self) -> f64 {
        match self.unit {
            "s" => Duration::from_nanos(self.smallest).as_secs_f64(),
            _ => self.smallest as f64,
        }
    }
}

impl Kind {
    /// The kind of what stands at `key` in `scenario`, which has its defaults spelled out.
    pub(crate) fn of(scenario: &Value, key: &[String]) -> Self {
        let (mut schema, mut value, mut parent) = (&*SCHEMA, scenario, &Value::Null);
        for segment in key {
            schema = member(alternative(resolve(schema), value, parent), segment);
            parent = value;
            value = match value {
                Value::Array(list) => segment.parse().ok().and_then(|index: usize| list.get(index)),
                table => table.get(segment),
            }
            .unwrap_or(&Value::Null);
        }
        Self::of_schema(alternative(resolve(schema), value, parent))
    }

    fn of_schema(schema: &Value) -> Self {
        match (schema["type"].as_str(), schema["format"].as_str()) {
            (Some("integer"), _) => Self::Whole,
            (Some("number"), _) => Self::Number,
            (_, Some(Duration::KIND)) => Self::Duration,
            (_, Some(Bytes::KIND)) => Self::Size,
            (_, Some(BitRate::KIND)) => Self::Rate,
            (_, Some(QueueLimit::KIND)) => Self::Queue,
            _ => Self::Other,
        }
    }

    /// The quantity that `text` is, if this is a kind of quantity and it is no word that stands for one.
    pub(crate) fn amount(self, text: &str) -> Option<Amount> {
        let (smallest, unit) = match self {
            Self::Duration => (text.parse::<Duration>().ok()?.as_nanos(), "s"),
            Self::Size => (text.parse::<Bytes>().ok()?.get(), "B"),
            Self::Rate => (text.parse::<BitRate>().ok()?.as_bps(), "bit/s"),
            Self::Queue => match text.parse().ok()? {
                QueueLimit::Bytes(bytes) => (bytes.get(), "B"),
                QueueLimit::Packets(packets) => (packets, "packets"),
                QueueLimit::Time(time) => (time.as_nanos(), "s"),
            },
            Self::Whole | Self::Number | Self::Other => return None,
        };
        Some(Amount { smallest, unit })
    }
}

/// The definition that `schema` refers to, or itself.
pub(crate) fn resolve(schema: &Value) -> &Value {
    let name = schema["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/"));
    name.map_or(schema, |name| &SCHEMA["$defs"][name])
}

/// Reads a table or a list of tables, or the word "none" in place of it.
pub(super) fn or_none<'de, D: Deserializer<'de>, T: DeserializeOwned + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::String(word) if word == "none" => Ok(T::default()),
        table => serde_json::from_value(table).map_err(D::Error::custom),
    }
}

/// The word and the table, list of tables or number of a schema that has one or the other.
pub(crate) fn word_or_other(schema: &Value) -> Option<(&str, &Value)> {
    match schema["anyOf"].as_array()?.as_slice() {
        [word, other] => Some((word["const"].as_str()?, other)),
        _ => None,
    }
}

/// The text and the other value of a schema that has one or the other, but for a number.
pub(crate) fn text_or_other(schema: &Value) -> Option<(&Value, &Value)> {
    match schema["anyOf"].as_array()?.as_slice() {
        [text, other] => (text["type"] == "string" && other["type"] != "number").then_some((text, other)),
        _ => None,
    }
}

/// The branch of `schema` that holds for the table `value` in `parent`: by its kind, or by the keys beside it.
fn alternative<'s>(schema: &'s Value, value: &Value, parent: &Value) -> &'s Value {
    if let Some((_, other)) = word_or_other(schema) {
        return resolve(other);
    }
    if let Some((text, other)) = text_or_other(schema) {
        return if value.is_string() { text } else { alternative(resolve(other), value, parent) };
    }
    let branches = |name: &str| schema[name].as_array().map(Vec::as_slice).unwrap_or_default();
    let kind = &value["kind"];
    let of_kind = |branch: &&Value| branch["properties"]["kind"]["const"] == *kind;
    let found = branches("oneOf").iter().find(of_kind).or_else(|| beside(branches("anyOf"), parent));
    found.map_or(schema, resolve)
}

/// The branch that holds in the table `parent`, by the profile, the family or the scale that is named there.
pub(crate) fn beside<'s>(branches: &'s [Value], parent: &Value) -> Option<&'s Value> {
    let word = |key: &str, default: Value| if parent[key].is_null() { default } else { parent[key].clone() };
    let profile = word("profile", json!(ProfileName::default()));
    let scale = word("scale", json!(LoadScale::default()));
    let names = |branch: &Value, list: &str, name: &Value| {
        branch[list].as_array().is_some_and(|names| names.contains(name))
    };
    branches.iter().find(|branch| {
        names(branch, "x-profiles", &profile)
            || names(branch, "x-families", &parent["family"])
            || names(branch, "x-scales", &scale)
    })
}

/// The schema of an entry of a table or list.
fn member<'s>(schema: &'s Value, key: &str) -> &'s Value {
    match &schema["properties"][key] {
        Value::Null if schema["type"] == "array" => &schema["items"],
        Value::Null => &schema["additionalProperties"],
        found => found,
    }
}
