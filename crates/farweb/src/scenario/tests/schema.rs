//! `schema.json` agrees with the types: it is written from them, here.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::{env, fs};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};

use crate::scenario::load::{LoadLevel, LoadScale};
use crate::scenario::{Factors, Levels};
use crate::scenario::{
    Family, FamilyParameters, Flows, Queue, QueueLimit, QueueTable, SCHEMA, Scenario, schema,
};
use crate::tcp::{self, ProfileName, bsd, linux, ns2};
use crate::units::Share;
use crate::workload::{RATE_MAX, RATE_MIN, nzix, prowgen};

#[test]
fn the_file_is_written_from_the_types() {
    let generated = SchemaGenerator::default().into_root_schema_for::<Scenario>().to_value();
    let text = format!("{:#}\n", without_null(generated));
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/scenario/schema.json");
    if env::var_os("WRITE_SCHEMA").is_some() {
        fs::write(file, &text).unwrap();
    }
    assert!(text == fs::read_to_string(file).unwrap(), "schema.json is not of these types: make schema");
}

#[test]
fn the_schema_has_no_null_and_describes_every_key() {
    let schema = schema();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert!(!schema.to_string().contains("\"null\""));
    assert_eq!(schema["properties"]["sweep"]["$ref"], "#/$defs/Sweep");
    assert_eq!(schema["$defs"]["LinkDirection"]["properties"]["delay"]["examples"][0], "60 ms");
    let undescribed =
        keys_of(&SCHEMA).into_iter().filter(|(name, key)| name != "kind" && key["description"].is_null());
    assert_eq!(undescribed.map(|(name, _)| name).collect::<Vec<_>>(), [""; 0]);
}

/// Every key of the schema with its entry.
pub(super) fn keys_of(schema: &Value) -> Vec<(String, Value)> {
    let mut keys = Vec::new();
    for (name, value) in schema.as_object().into_iter().flatten() {
        if name == "properties" {
            keys.extend(
                value.as_object().into_iter().flatten().map(|(name, key)| (name.clone(), key.clone())),
            );
        }
    }
    for value in schema
        .as_object()
        .into_iter()
        .flat_map(|table| table.values())
        .chain(schema.as_array().into_iter().flatten())
    {
        keys.extend(keys_of(value));
    }
    keys
}

/// One list of names a stack, for the profiles in `x-profiles`.
impl JsonSchema for tcp::Overrides {
    fn schema_name() -> Cow<'static, str> {
        "Constants".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let stack = |schema: Schema, profiles: &[ProfileName]| {
            let mut schema = schema.to_value();
            schema["x-profiles"] = serde_json::to_value(profiles).expect("names are words");
            schema
        };
        let names = [ProfileName::Bsd44Lite, ProfileName::Solaris25];
        let bsd = stack(generator.subschema_for::<bsd::Overrides>(), &names);
        let names = [ProfileName::Linux, ProfileName::LinuxClassic];
        let linux = stack(generator.subschema_for::<linux::Overrides>(), &names);
        let ns2 = stack(generator.subschema_for::<ns2::Overrides>(), &[ProfileName::Ns2Reno]);
        json_schema!({ "type": "object", "anyOf": [bsd, linux, ns2] })
    }
}

/// One list of names a family, for the one in `x-families`.
impl JsonSchema for FamilyParameters {
    fn schema_name() -> Cow<'static, str> {
        "FamilyParameters".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let family = |schema: Schema, family: Family| {
            let mut schema = schema.to_value();
            schema["x-families"] = serde_json::to_value([family]).expect("names are words");
            schema
        };
        let nzix = family(generator.subschema_for::<nzix::Overrides>(), Family::Nzix);
        let prowgen = family(generator.subschema_for::<prowgen::Overrides>(), Family::Prowgen);
        json_schema!({ "type": "object", "anyOf": [nzix, prowgen] })
    }
}

/// One range a scale, named by `x-scales`.
impl JsonSchema for LoadLevel {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "LoadLevel".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                { "type": "integer", "format": "uint32", "minimum": 1, "x-scales": [LoadScale::Copies] },
                { "type": "number", "minimum": RATE_MIN, "maximum": RATE_MAX, "x-scales": [LoadScale::Rate] }
            ]
        })
    }
}

/// A limit or the name of a discipline, or a table.
impl JsonSchema for Queue {
    fn schema_name() -> Cow<'static, str> {
        "Queue".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut text = generator.subschema_for::<QueueLimit>().to_value();
        text["x-words"] = Self::KINDS.into();
        text["x-limited-words"] = ["drop-head"].into();
        json_schema!({ "anyOf": [text, generator.subschema_for::<QueueTable>()] })
    }
}

/// A word or a number.
impl JsonSchema for Flows {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Flows".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [
            { "const": Self::EXACT },
            { "type": "integer", "format": "uint32", "minimum": 1, "maximum": Self::MAX }
        ] })
    }
}

/// The keys of a table, or the word for none.
pub(in crate::scenario) fn or_none<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "anyOf": [{ "const": "none" }, generator.subschema_for::<T>()] })
}

impl JsonSchema for Share {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        Self::KIND.into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "format": Self::KIND })
    }
}

impl JsonSchema for Factors {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Factors".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        BTreeMap::<String, Levels>::json_schema(generator)
    }
}

/// The schema without null, which TOML does not have: a key that is optional is just not required.
fn without_null(schema: Value) -> Value {
    match schema {
        Value::Object(entries) => without_null_alternative(entries),
        Value::Array(list) => list.into_iter().map(without_null).collect(),
        Value::String(text) => Value::String(text.replace('\n', " ")),
        other => other,
    }
}

fn without_null_alternative(entries: Map<String, Value>) -> Value {
    let mut kept = Map::new();
    for (key, value) in entries {
        match (key.as_str(), value) {
            ("type", Value::Array(types)) => {
                let mut types = types.into_iter().filter(|name| name != "null");
                kept.insert(key, types.next().unwrap_or(Value::Null));
            }
            ("anyOf", Value::Array(branches)) => {
                let optional = branches.iter().any(|branch| branch["type"] == "null");
                let others = branches.into_iter().filter(|branch| branch["type"] != "null").map(without_null);
                if optional {
                    kept.extend(others.flat_map(|branch| branch.as_object().cloned().unwrap_or_default()));
                } else {
                    kept.insert(key, others.collect());
                }
            }
            (_, value) => {
                kept.insert(key, without_null(value));
            }
        }
    }
    Value::Object(kept)
}
