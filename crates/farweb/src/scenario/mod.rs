//! The description of a run: read from TOML, overridden by key, checked once.
//!
//! [`Scenario::parse`] goes through three gates, and each finds all that is wrong before it closes: the text becomes a
//! tree that knows the place of every key (`document`), the tree is checked against the JSON Schema of the types in `model`
//! (`shape`), and the typed scenario against the rules that a schema cannot express (`check`).

mod absent;
mod cache;
mod carrier;
mod check;
pub(crate) mod document;
pub mod draft;
mod edit;
mod factors;
mod family;
mod http2;
mod inputs;
pub(crate) mod key;
mod link;
mod link_files;
mod load;
mod model;
mod preset;
mod problem;
mod queue;
mod shape;
mod source;
#[cfg(test)]
pub(crate) mod tests;
mod tls;

pub use absent::absent;
pub use edit::edit;
pub use family::{Family, FamilyParameters};
pub use http2::{CountedBy, Grant, GrantOf, Growth, Http2, Http2End, Preset, Raise, Turns};
pub use inputs::{Input, InputKind};
pub use link_files::{LinkFile, LinkFiles};
pub use model::*;
pub use preset::{Change, Figure, Preset as LinkPreset, PresetName, presets};
pub use problem::{Place, Problem, ScenarioError};
pub use source::Source;

use std::sync::LazyLock;

use serde_json::{Value, json};

use document::Document;

static SCHEMA: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("schema.json")).expect("a test writes it"));

/// JSON Schema (2020-12) of a scenario, as it is before presets of links fill in keys.
///
/// `format` names the kind of quantity that a text holds (`duration`, `size`, `rate`, `queue`), `x-words` the words that
/// may stand for one, `x-limited-words` those that do so beside a limit alone, and `examples` how one is written. `x-profiles`, `x-families` and `x-scales` say beside which `profile`,
/// `family` or `scale` an alternative stands, `x-unless` the key that may stand in place of one.
#[must_use]
pub fn schema() -> Value {
    let mut schema = SCHEMA.clone();
    let [ways, keys] = ["Link", "LinkDirection"]
        .map(|name| schema["$defs"][name].as_object_mut().and_then(|table| table.remove("required")));
    let properties = schema["$defs"]["LinkDirection"]["properties"].as_object();
    let unless = properties.into_iter().flatten().filter_map(|(key, stated)| {
        let other = stated["x-unless"].as_str()?;
        Some(json!({ "if": { "required": [other] }, "else": { "required": [key] } }))
    });
    let whole = json!({ "required": keys, "allOf": unless.collect::<Vec<_>>() });
    let link = &mut schema["$defs"]["Link"];
    link["if"] = json!({ "required": ["preset"] });
    link["else"] = json!({ "required": ways, "properties": { "up": whole, "down": whole } });
    schema
}

impl Scenario {
    /// Reads a scenario and checks it.
    ///
    /// `file` is its name for messages. Each override is a dotted key, such as `leg.0.tcp.buffer`, and a value as TOML or
    /// as bare text (`4`, `60 ms`, `"60 ms"`, `[1, 2]`). They are applied in order before anything is checked, and the
    /// key need not be in the file. Levels of a sweep are checked where it is planned, by `sweep::Planned`.
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
        Source::parse(text, file, overrides).map(Source::into_scenario)
    }

    /// The scenario after overrides with every default spelled out, quantities as text with their units.
    ///
    /// As TOML or JSON it parses to an equal scenario. Keys stay absent where absence has a meaning (`queue`: unlimited), and a
    /// link that switches changes of its preset off has its keys without it.
    #[must_use]
    pub fn effective(&self) -> Value {
        let mut tree = serde_json::to_value(self).expect("a scenario has text keys and finite numbers only");
        preset::detach(&mut tree);
        tree
    }
}

/// The typed scenario, once the document has its shape and keeps all rules. Levels of a sweep are not looked at.
pub(crate) fn read(document: &Document) -> Result<Scenario, Vec<Problem>> {
    let document = &*preset::expanded(document);
    let mut problems = shape::problems(document);
    problems.extend(factors::problems(document));
    if !problems.is_empty() {
        return Err(problems);
    }
    // The shape is right: serde still refuses values by rules that no schema has.
    let scenario: Scenario = serde_json::from_value(document.tree.clone())
        .map_err(|error| vec![document.problem("format", error.to_string())])?;
    let problems = check::problems(&scenario);
    if problems.is_empty() {
        return Ok(scenario);
    }
    Err(problems.iter().map(|(key, message)| document.problem(key, message)).collect())
}
