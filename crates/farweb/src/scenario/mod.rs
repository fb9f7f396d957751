//! The description of a run: read from TOML, overridden by key, checked once.
//!
//! [`Scenario::parse`] goes through three gates, and each finds all that is wrong before it closes: the text becomes a
//! tree that knows the place of every key (`document`), the tree is held against the JSON Schema of the types in `model`
//! (`shape`), and the typed scenario against the rules that a schema cannot say (`check`).

mod check;
mod document;
mod later;
mod model;
mod points;
mod problem;
mod report;
mod shape;
mod sweep;
#[cfg(test)]
mod tests;

pub use model::*;
pub use problem::{Place, Problem, ScenarioError};
pub use report::{DirectionReport, HostLimits, LegReport, LinkReport, Report, WindowLimit};

use std::sync::LazyLock;

use serde_json::{Map, Value};

use document::Document;

/// Version of the scenario format that this version reads.
const FORMAT: i64 = 1;

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    let schema = schemars::SchemaGenerator::default().into_root_schema_for::<Scenario>();
    without_null(schema.to_value())
});

/// JSON Schema (2020-12) of a scenario.
///
/// `format` names the kind of quantity that a text holds (`duration`, `size`, `rate`, `queue`), `x-word` the word that
/// may stand for one, and `examples` how one is written. `x-profiles` says beside which `profile` an alternative stands.
#[must_use]
pub fn schema() -> Value {
    SCHEMA.clone()
}

impl Scenario {
    /// Reads a scenario and checks it.
    ///
    /// `file` is its name for messages. Each override is a dotted key, such as `leg.0.tcp.buffer`, and a value as TOML or
    /// as bare text (`4`, `60 ms`, `"60 ms"`, `[1, 2]`); they are applied in order before anything is checked, and the
    /// key need not be in the file. Levels of a sweep are checked one by one like overrides.
    ///
    /// # Errors
    /// Everything that is wrong, with its place: as far as the text is TOML every key of the wrong name or type, and
    /// once there is none every value that makes no sense with the others.
    ///
    /// ```
    /// use farweb::scenario::Scenario;
    /// let error = Scenario::parse("format = 1\npath = 3", "cable.toml", &[]).unwrap_err();
    /// assert_eq!(error.problems[2].to_string(), "cable.toml:2: path: found the number 3; write a table");
    /// ```
    pub fn parse(text: &str, file: &str, overrides: &[(String, String)]) -> Result<Self, ScenarioError> {
        let mut problems = Vec::new();
        let mut document =
            Document::read(text, file, &mut problems).map_err(|problem| ScenarioError::new(vec![problem]))?;
        for (key, value) in overrides {
            problems.extend(document.set(key, value).err());
        }
        if let Some(problem) = wrong_format(&document) {
            return Err(ScenarioError::new(vec![problem]));
        }
        problems.extend(shape::problems(&document, &SCHEMA));
        if !problems.is_empty() {
            return Err(ScenarioError::new(problems));
        }
        let scenario = read(&document).map_err(ScenarioError::new)?;
        let problems = sweep::problems(&scenario, &document);
        if problems.is_empty() { Ok(scenario) } else { Err(ScenarioError::new(problems)) }
    }

    /// The scenario after overrides with every default spelled out, quantities as text with their units.
    ///
    /// As TOML or JSON it parses to an equal scenario. Keys whose absence has a meaning (`queue`: unlimited) stay absent.
    #[must_use]
    pub fn effective(&self) -> Value {
        serde_json::to_value(self).expect("a scenario has text keys and finite numbers only")
    }
}

/// The typed scenario, once the document has its shape and keeps all rules.
fn read(document: &Document) -> Result<Scenario, Vec<Problem>> {
    // The shape is right, so what serde still refuses are values whose rule no schema has.
    let scenario: Scenario = serde_json::from_value(document.tree.clone())
        .map_err(|error| vec![document.problem("format", error.to_string())])?;
    let problems = check::problems(&scenario);
    if problems.is_empty() {
        return Ok(scenario);
    }
    Err(problems.iter().map(|(key, message)| document.problem(key, message)).collect())
}

/// A file of another format is not worth looking into: its keys are others.
fn wrong_format(document: &Document) -> Option<Problem> {
    let format = document.tree.get("format")?.as_i64()?;
    let message = match format {
        FORMAT => return None,
        newer if newer > FORMAT => {
            format!("found {newer}: made for a newer farweb; farweb {} reads format {FORMAT}", crate::VERSION)
        }
        older => format!("found {older}; there is only format {FORMAT}"),
    };
    Some(document.problem("format", message))
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
