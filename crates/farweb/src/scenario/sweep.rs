//! Whether the levels of a sweep are values that the scenario could have.

use super::document::{Document, join};
use super::problem::Problem;
use super::{SCHEMA, Scenario, read, shape};

/// What is wrong with the sweep of `scenario`, each level tried alone.
pub(super) fn problems(scenario: &Scenario, document: &Document) -> Vec<Problem> {
    let Some(sweep) = &scenario.sweep else { return Vec::new() };
    let mut problems = Vec::new();
    for (factor, levels) in &sweep.factors {
        let path = join("sweep.factors", factor);
        if factor == "sweep" || factor.starts_with("sweep.") {
            problems.push(document.problem(&path, "a sweep cannot vary itself"));
        } else if levels.is_empty() {
            problems.push(document.problem(&path, "there are no levels; write at least one"));
        } else {
            // A key that does not exist is wrong at every level; equal problems are told once.
            let messages = levels.iter().flat_map(|level| level_problems(document, factor, level));
            problems.extend(messages.map(|message| document.problem(&path, message)));
        }
    }
    problems
}

fn level_problems(document: &Document, factor: &str, level: &serde_json::Value) -> Vec<String> {
    let mut varied = document.clone();
    if let Err(message) = varied.set_value(factor, level.clone(), document.place(factor)) {
        return vec![message];
    }
    let mut problems = shape::problems(&varied, &SCHEMA);
    if problems.is_empty() {
        problems = read(&varied).err().unwrap_or_default();
    }
    problems.into_iter().map(|problem| format!("{}: {}", problem.key, problem.message)).collect()
}
