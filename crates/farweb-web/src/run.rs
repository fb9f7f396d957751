//! A run in steps. Its rows stay here, column by column, until the page asks for them.

use std::collections::BTreeMap;

use farweb::record::{Column, NULL_CODE, NULL_ID, NULL_INT, Summary, reached};
use farweb::units::Duration;
use farweb::workload::WorkloadError;
use farweb::world::World;
use serde_json::json;
use wasm_bindgen::prelude::*;

use crate::scenario::parsed;
use crate::tables::Tables;

/// A run of a scenario with its own seed.
#[wasm_bindgen]
pub struct Run {
    world: World,
    requests: farweb::workload::Requests,
    requests_total: Option<u64>,
    warmup: Duration,
    tables: BTreeMap<&'static str, Vec<(&'static str, Column)>>,
}

#[wasm_bindgen]
impl Run {
    /// The run of `text`, with requests of its family, or of the table.
    ///
    /// # Errors
    /// When the scenario is wrong, when there is no table, or when it lacks a column that the scenario needs.
    #[wasm_bindgen(constructor)]
    pub fn new(text: &str, tables: &Tables) -> Result<Self, JsError> {
        let planned = parsed(text)?;
        let scenario = planned.scenario();
        let seed = scenario.run.seed;
        let begun = tables.of(scenario, |prepared| {
            let none = || WorkloadError("its requests are in a file, and there is none here".to_owned());
            let prepared = prepared.ok_or_else(none)?;
            let hosts = prepared.hosts().cloned().unwrap_or_default();
            Ok((prepared.laid(&scenario.workload.laying(seed))?, hosts))
        });
        let ((requests, requests_total), hosts) =
            begun.map_err(|error: WorkloadError| JsError::from(error))?;
        let world = World::new(scenario, seed, hosts);
        let warmup = scenario.run.warmup;
        Ok(Self { world, requests, requests_total, warmup, tables: BTreeMap::new() })
    }

    /// Processes up to `events` events. True while there are more.
    ///
    /// # Errors
    /// When a row of the table is no request.
    pub fn advance(&mut self, events: u32) -> Result<bool, JsError> {
        let progress = self.world.advance(&mut self.requests, events.into())?;
        for (table, columns) in self.world.take() {
            let Some(kept) = self.tables.get_mut(table) else {
                self.tables.insert(table, columns);
                continue;
            };
            kept.iter_mut().zip(columns).for_each(|((_, all), (_, new))| append(all, new));
        }
        Ok(!progress.done)
    }

    /// Counts so far as JSON text. `requests_total` is null where it is not known before.
    #[must_use]
    pub fn progress(&self) -> String {
        let progress = self.world.progress();
        json!({
            "now_ns": progress.now.as_nanos(),
            "events": progress.events,
            "packet_hops": progress.packet_hops,
            "requests_started": progress.requests_started,
            "requests_finished": progress.requests_finished,
            "requests_failed": progress.requests_failed,
            "requests_total": self.requests_total,
        })
        .to_string()
    }

    /// Length of the warm-up in ns: requests that began in it are in no number of the summary.
    #[must_use]
    pub fn warmup_ns(&self) -> f64 {
        self.warmup.as_nanos() as f64
    }

    /// A [`Summary`] of the requests so far as JSON text. Null before the first has ended.
    #[must_use]
    pub fn summary(&self) -> String {
        json!(self.tables.get("requests").map(|requests| Summary::of(requests, self.warmup))).to_string()
    }

    /// Names of the columns of each table with rows, as JSON text.
    #[must_use]
    pub fn columns(&self) -> String {
        let table = |(table, columns): (&&'static str, &Vec<(&'static str, Column)>)| {
            (*table, columns.iter().map(|(name, _)| *name).collect::<Vec<_>>())
        };
        json!(self.tables.iter().map(table).collect::<BTreeMap<_, _>>()).to_string()
    }

    /// A column as numbers: times below 2^53 ns (104 days) and ids below 2^53 stay whole, nulls are NaN, words their place in
    /// [`Run::words`], truth 1. Empty where there is no such column, and of ranges.
    #[must_use]
    pub fn numbers(&self, table: &str, column: &str) -> Vec<f64> {
        match self.column(table, column) {
            Some(Column::Int(values)) => values.iter().map(|value| of_int(*value)).collect(),
            Some(Column::Id(values)) => values.iter().map(|value| of_id(*value)).collect(),
            Some(Column::Float(values)) => values.clone(),
            Some(Column::Bool(values)) => values.iter().map(|value| f64::from(u8::from(*value))).collect(),
            Some(Column::Word(codes, _)) => codes.iter().map(|code| of_code(*code)).collect(),
            Some(Column::Ranges(_)) | None => Vec::new(),
        }
    }

    /// When the packet of each row of the packet table reached its place, in ns. Empty without rows.
    #[must_use]
    pub fn reached(&self) -> Vec<f64> {
        let packets = self.tables.get("packets");
        packets.map_or_else(Vec::new, |packets| reached(packets).into_iter().map(of_int).collect())
    }

    /// The words of a column. Empty where it has none.
    #[must_use]
    pub fn words(&self, table: &str, column: &str) -> Vec<String> {
        match self.column(table, column) {
            Some(Column::Word(_, dictionary)) => self.world.words(*dictionary),
            _ => Vec::new(),
        }
    }
}

impl Run {
    fn column(&self, table: &str, column: &str) -> Option<&Column> {
        self.tables.get(table)?.iter().find(|(name, _)| *name == column).map(|(_, column)| column)
    }
}

fn of_int(value: i64) -> f64 {
    if value == NULL_INT { f64::NAN } else { value as f64 }
}

fn of_id(value: u64) -> f64 {
    if value == NULL_ID { f64::NAN } else { value as f64 }
}

fn of_code(code: i32) -> f64 {
    if code == NULL_CODE { f64::NAN } else { f64::from(code) }
}

fn append(all: &mut Column, new: Column) {
    match (all, new) {
        (Column::Int(all), Column::Int(mut new)) => all.append(&mut new),
        (Column::Id(all), Column::Id(mut new)) => all.append(&mut new),
        (Column::Float(all), Column::Float(mut new)) => all.append(&mut new),
        (Column::Bool(all), Column::Bool(mut new)) => all.append(&mut new),
        (Column::Word(all, _), Column::Word(mut new, _)) => all.append(&mut new),
        (Column::Ranges(all), Column::Ranges(mut new)) => all.append(&mut new),
        (all, new) => unreachable!("a column keeps its type: {all:?}, then {new:?}"),
    }
}
