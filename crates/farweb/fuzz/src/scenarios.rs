//! Scenarios.

use farweb::explain;
use farweb::scenario::{Place, Scenario, ScenarioError};
use farweb::sweep::Planned;
use serde_json::Value;

/// A scenario to start from.
pub const EXAMPLE: &str = include_str!("../../../../examples/cable.toml");

/// Reads a scenario and all that `farweb check` says of it.
///
/// # Panics
/// When an error names a place that is not there, or a scenario that is right is not equal to its effective values.
pub fn read(text: &str, overrides: &[(String, String)]) {
    match Planned::parse(text, "scenario.toml", overrides) {
        Ok(planned) => check(&planned),
        Err(error) => check_error(&error, text),
    }
}

fn check(planned: &Planned) {
    let scenario = planned.scenario();
    let effective = scenario.effective();
    let again = Scenario::parse(&to_document(&effective), "effective.toml", &[]);
    assert_eq!(again.as_ref(), Ok(scenario), "the effective values are another scenario");
    let report = explain::report(scenario, planned.design(), None);
    assert_eq!(report.legs.len(), scenario.leg.len());
    for line in report.text.to_string().split('\n') {
        assert!(!line.chars().any(char::is_control), "control characters in {line:?}");
        assert!(line.chars().count() <= 100, "a line of more than 100 columns: {line}");
    }
}

fn check_error(error: &ScenarioError, text: &str) {
    assert!(!error.problems.is_empty(), "an error without a problem");
    let lines = text.split('\n').count();
    for problem in &error.problems {
        assert!(!problem.message.is_empty());
        if let Place::File { line, column } = problem.place {
            assert!(
                (1..=lines).contains(&line) && column >= 1,
                "{problem} is not in a text of {lines} lines"
            );
        }
        let shown = problem.to_string();
        assert!(!shown.chars().any(char::is_control), "control characters in {shown:?}");
    }
}

/// JSON as a TOML document, each key on a line.
fn to_document(value: &Value) -> String {
    let table = value.as_object().expect("a scenario is a table");
    table.iter().map(|(key, value)| format!("{key:?} = {}\n", to_toml(value))).collect()
}

fn to_toml(value: &Value) -> String {
    match value {
        Value::Object(table) => {
            let entries = table.iter().map(|(key, value)| format!("{} = {}", quoted(key), to_toml(value)));
            format!("{{ {} }}", entries.collect::<Vec<_>>().join(", "))
        }
        Value::Array(list) => format!("[{}]", list.iter().map(to_toml).collect::<Vec<_>>().join(", ")),
        Value::String(text) => quoted(text),
        other => other.to_string(),
    }
}

/// A basic string of TOML.
fn quoted(text: &str) -> String {
    let escaped = text.chars().map(|c| match c {
        '"' | '\\' => format!("\\{c}"),
        c if c.is_control() => format!("\\u{:04X}", u32::from(c)),
        c => c.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

/// The dotted keys of every value in `tree`, tables and lists included.
pub fn keys(tree: &Value) -> Vec<String> {
    let mut all = Vec::new();
    collect_keys("", tree, &mut all);
    all
}

fn collect_keys(path: &str, value: &Value, all: &mut Vec<String>) {
    let mut visit = |key: &str, value: &Value| {
        let path = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
        all.push(path.clone());
        collect_keys(&path, value, all);
    };
    match value {
        Value::Object(table) => table.iter().for_each(|(key, value)| visit(key, value)),
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(index, value)| visit(&index.to_string(), value))
        }
        _ => {}
    }
}
