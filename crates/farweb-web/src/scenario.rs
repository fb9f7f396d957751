//! Scenarios: text in, checked values out.

use farweb::explain::report;
use farweb::load::{Check, Imported};
use farweb::net::Loss;
use farweb::scenario::draft::Draft;
use farweb::scenario::{LinkDirection, LinkFiles, Place, Queue, QueueLimit, ScenarioError};
use farweb::sweep::Planned;
use farweb::workload::Prepared;
use serde_json::{Value, json};
use wasm_bindgen::prelude::*;

use crate::tables::Tables;

/// The name of a scenario in messages of the core. The page has but one.
const FILE: &str = "scenario";

/// Checks a scenario: `{"problems": […]}`, each with its line and column, from 1, its key and message. Or gives `{"effective",
/// "report", "links"}`: all defaults spelled out, what `farweb check` derives from them, and figures of each link `{"up",
/// "down"}` as numbers `{"rate_mbps", "delay_ms", "queue_ms", "loss"}`, null where one has no such number, with the key of the
/// queue's limit, `queue_key`.
#[wasm_bindgen]
#[must_use]
pub fn check(text: &str, tables: &Tables) -> String {
    let planned = match parsed(text) {
        Err(error) => return json!({ "problems": problems(&error) }).to_string(),
        Ok(planned) => planned,
    };
    let scenario = planned.scenario();
    let links =
        scenario.path.link.iter().map(|link| json!({ "up": figures(&link.up), "down": figures(&link.down) }));
    let hosts = |requests: Option<&Prepared>| requests.and_then(Prepared::hosts).cloned();
    let hosts = tables.of(scenario, hosts);
    json!({
        "effective": scenario.effective(),
        "report": report(scenario, planned.design(), hosts.as_ref()),
        "links": links.collect::<Vec<_>>(),
    })
    .to_string()
}

/// Holds the load of a scenario's requests against its path, `{"answer", "warnings"}` as `farweb check` says them, each
/// warning with its `key` and `words`. The answer is null without requests.
///
/// # Errors
/// When the scenario has problems, or its table has a fault.
#[wasm_bindgen]
pub fn load(text: &str, tables: &Tables) -> Result<String, JsError> {
    let planned = parsed(text)?;
    let scenario = planned.scenario();
    let held =
        |requests: &Prepared| Check::of(scenario, planned.design(), requests, Imported::default(), None);
    let check = tables.of(scenario, |requests| requests.map(held).transpose())?;
    let warnings = check.as_ref().map(Check::warnings).unwrap_or_default();
    Ok(json!({ "answer": check.as_ref().map(Check::answer), "warnings": warnings }).to_string())
}

/// A scenario to start from. `choices` are a [`Draft`] as JSON text.
///
/// # Errors
/// When they are none.
#[wasm_bindgen]
pub fn draft(choices: &str) -> Result<String, JsError> {
    let draft: Draft = serde_json::from_str(choices)?;
    draft.to_toml().map_err(|error| JsError::new(&error))
}

/// `text` after edits, `[[key, value], …]` as JSON text, null for a key that goes: comments and order stay.
///
/// # Errors
/// When the text is not TOML, or has no place for a key.
#[wasm_bindgen]
pub fn edit(text: &str, edits: &str) -> Result<String, JsError> {
    let edits: Vec<(String, Option<String>)> = serde_json::from_str(edits)?;
    let one = |text: String, (key, value): &(String, Option<String>)| {
        farweb::scenario::edit(&text, key, value.as_deref())
    };
    edits.iter().try_fold(text.to_owned(), one).map_err(|error| JsError::new(&error))
}

/// Figures of a direction of a link.
fn figures(way: &LinkDirection) -> Value {
    let rate = way.rate();
    let queue_ms = match way.queue.and_then(|queue| queue.limit()) {
        Some(QueueLimit::Time(time)) => Some(time.as_nanos() as f64 / 1e6),
        Some(QueueLimit::Bytes(bytes)) => rate.map(|rate| bytes.get() as f64 * 8e3 / rate.as_bps() as f64),
        Some(QueueLimit::Packets(_)) | None => None,
    };
    let loss = match way.loss {
        Loss::None => Some(0.0),
        Loss::Bernoulli { probability } => Some(probability),
        _ => None,
    };
    json!({
        "rate_mbps": rate.map(|rate| rate.as_bps() as f64 / 1e6),
        "delay_ms": way.delay.as_nanos() as f64 / 1e6,
        "queue_ms": queue_ms,
        "queue_key": if matches!(way.queue, Some(Queue::Table(_))) { "queue.limit" } else { "queue" },
        "loss": loss,
    })
}

/// Kinds of paths, which are the presets of links, as JSON text.
#[wasm_bindgen]
#[must_use]
pub fn presets() -> String {
    serde_json::to_string(&farweb::scenario::presets()).expect("they are plain data")
}

pub(crate) fn parsed(text: &str) -> Result<Planned, ScenarioError> {
    let planned = Planned::parse(text, FILE, &[])?;
    planned.source().complete(&LinkFiles::default())?; // names those that a tab does not read
    Ok(planned)
}

fn problems(error: &ScenarioError) -> Value {
    let place = |place: &Place| match place {
        Place::File { line, column } => [*line, *column],
        Place::Override(_) => unreachable!("the page has no overrides"),
    };
    let each = error.problems.iter().map(|problem| {
        let [line, column] = place(&problem.place);
        json!({ "line": line, "column": column, "key": problem.key, "message": problem.message })
    });
    each.collect()
}
