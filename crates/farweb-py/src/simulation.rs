//! A run, advanced in steps without holding the GIL.

use farweb::record::{CacheColumns, Column, Dictionary, LegColumns, LinkColumns};
use farweb::schema::NULL_INT;
use farweb::workload::Requests;
use farweb::world::{LinkTotals, Measured, World, cache_row, leg_row, link_row};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Map, Value, json};

use crate::columns::to_python;
use crate::errors::workload_error;
use crate::scenario::Scenario;
use crate::tables::Prepared;

/// One run.
#[pyclass(module = "farweb._core")]
pub(crate) struct Simulation {
    world: World,
    requests: Requests,
    requests_total: Option<u64>,
}

#[pymethods]
impl Simulation {
    #[new]
    fn new(py: Python<'_>, scenario: &Scenario, seed: u64, prepared: &Prepared) -> PyResult<Self> {
        let laying = scenario.checked().workload.laying(seed);
        let (requests, requests_total) = py.detach(|| prepared.0.laid(&laying)).map_err(workload_error)?;
        let hosts = prepared.0.hosts().cloned().unwrap_or_default();
        Ok(Self { world: World::new(scenario.checked(), seed, hosts), requests, requests_total })
    }

    fn advance(&mut self, py: Python<'_>, events: u64) -> PyResult<bool> {
        let Self { world, requests, .. } = self;
        let progress = py.detach(|| world.advance(requests, events)).map_err(workload_error)?;
        Ok(!progress.done)
    }

    fn take<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let tables = PyDict::new(py);
        for (table, columns) in self.world.take() {
            let values = PyDict::new(py);
            for (name, column) in columns {
                values.set_item(name, to_python(py, column, |dictionary| self.world.words(dictionary))?)?;
            }
            tables.set_item(table, values)?;
        }
        Ok(tables)
    }

    fn progress<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let progress = self.world.progress();
        let figures = PyDict::new(py);
        figures.set_item("now_ns", progress.now.as_nanos())?;
        figures.set_item("events", progress.events)?;
        figures.set_item("packet_hops", progress.packet_hops)?;
        figures.set_item("requests_started", progress.requests_started)?;
        figures.set_item("requests_finished", progress.requests_finished)?;
        figures.set_item("requests_failed", progress.requests_failed)?;
        figures.set_item("requests_total", self.requests_total)?;
        Ok(figures)
    }

    fn link_totals(&mut self) -> String {
        link_rows(&self.world.link_totals()).to_string()
    }

    fn measured(&mut self) -> String {
        let Measured { from, to, links, legs, caches, presented_bytes, tunnel_bytes } = self.world.measured();
        let mut columns = (LegColumns::default(), CacheColumns::default());
        for (leg, stats) in legs.iter().enumerate() {
            columns.0.push(leg_row(leg, stats));
        }
        for stats in &caches {
            columns.1.push(cache_row(0, from, to, stats));
        }
        let mut caches = rows(columns.1.take(), &["node", "time_ns", "interval_ns"]);
        for (place, cache) in caches.iter_mut().enumerate() {
            cache.shift_insert(0, "cache".to_owned(), place.into());
        }
        json!({
            "from_ns": from.as_nanos(),
            "to_ns": to.as_nanos(),
            "links": link_rows(&links),
            "legs": rows(columns.0.take(), &["time_ns"]),
            "caches": caches,
            "presented_bytes": presented_bytes,
            "tunnel_bytes": tunnel_bytes,
        })
        .to_string()
    }
}

fn link_rows(totals: &[LinkTotals]) -> Value {
    let mut columns = LinkColumns::default();
    totals.iter().for_each(|totals| columns.push(link_row(totals)));
    rows(columns.take(), &["time_ns"]).into_iter().map(Value::Object).collect()
}

/// Rows of a table, each with its values by column, but for the columns that are left out.
fn rows(columns: Vec<(&'static str, Column)>, left_out: &[&str]) -> Vec<Map<String, Value>> {
    let mut rows = Vec::new();
    for (name, column) in columns.into_iter().filter(|(name, _)| !left_out.contains(name)) {
        let values: Vec<Value> = match column {
            Column::Int(values) => {
                values.into_iter().map(|value| (value != NULL_INT).then_some(value).into()).collect()
            }
            Column::Float(values) => values.into_iter().map(Value::from).collect(),
            Column::Word(codes, Dictionary::Fixed(words)) => {
                codes.into_iter().map(|code| words[code as usize].into()).collect()
            }
            other => unreachable!("no table of intervals has such a column: {other:?}"),
        };
        rows.resize_with(values.len(), Map::new);
        for (row, value) in rows.iter_mut().zip(values) {
            row.insert(name.to_owned(), value);
        }
    }
    rows
}
