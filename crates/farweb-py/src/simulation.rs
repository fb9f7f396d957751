//! A run, advanced in steps without holding the GIL.

use farweb::workload::Copies;
use farweb::world::{CacheStats, LegStats, LinkTotals, World};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::json;

use crate::columns::to_python;
use crate::errors::workload_error;
use crate::scenario::Scenario;
use crate::tables::{HostTable, Requests, Workload};

/// One run.
#[pyclass(module = "farweb._core")]
pub(crate) struct Simulation {
    world: World,
    requests: Copies<Requests>,
    requests_total: Option<u64>,
    rows: Option<u64>,
}

#[pymethods]
impl Simulation {
    #[new]
    fn new(
        scenario: &Scenario,
        seed: u64,
        requests: Option<&Bound<'_, PyAny>>,
        requests_name: &str,
        hosts: Option<&HostTable>,
    ) -> PyResult<Self> {
        let workload = Workload::open(scenario, seed, requests, requests_name, hosts)?;
        Ok(Self {
            world: World::new(scenario.checked(), seed, workload.directory),
            requests: workload.requests,
            requests_total: workload.total,
            rows: workload.rows,
        })
    }

    #[getter]
    fn requests_rows(&self) -> Option<u64> {
        self.rows
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
        links(self.world.link_totals()).to_string()
    }

    fn measured(&mut self) -> String {
        let measured = self.world.measured();
        json!({
            "from_ns": measured.from.as_nanos(),
            "to_ns": measured.to.as_nanos(),
            "links": links(measured.links),
            "legs": legs(&measured.legs),
            "caches": caches(&measured.caches),
            "presented_bytes": measured.presented_bytes,
        })
        .to_string()
    }
}

fn links(totals: Vec<LinkTotals>) -> serde_json::Value {
    let row = |totals: LinkTotals| {
        let stats = totals.stats;
        json!({
            "link": totals.link,
            "direction": totals.direction.name(),
            "interval_ns": (stats.to - stats.from).as_nanos(),
            "bytes": stats.bytes.get(),
            "packets": stats.packets,
            "drops": stats.drops(),
            "queue_bytes_mean": stats.queue_bytes_mean(),
            "queue_bytes_max": stats.queue_bytes_max.get(),
            "busy": stats.busy_share(),
        })
    };
    totals.into_iter().map(row).collect()
}

fn legs(stats: &[LegStats]) -> serde_json::Value {
    let row = |(leg, stats): (usize, &LegStats)| {
        json!({
            "leg": leg,
            "interval_ns": (stats.to - stats.from).as_nanos(),
            "open_mean": stats.mean(stats.open),
            "open_max": stats.open.max,
            "busy_mean": stats.mean(stats.busy),
            "busy_max": stats.busy.max,
            "requests_mean": stats.mean(stats.requests),
            "requests_max": stats.requests.max,
            "connection_requests_max": stats.connection_requests_max,
        })
    };
    stats.iter().enumerate().map(row).collect()
}

fn caches(stats: &[CacheStats]) -> serde_json::Value {
    let row = |(cache, stats): (usize, &CacheStats)| {
        json!({
            "cache": cache,
            "requests": stats.requests.number,
            "hits": stats.hits.number,
            "delayed_hits": stats.delayed.number,
            "revalidations": stats.revalidations,
            "request_bytes": stats.requests.bytes,
            "hit_bytes": stats.hits.bytes,
            "delayed_hit_bytes": stats.delayed.bytes,
            "objects": stats.objects,
            "bytes": stats.bytes,
        })
    };
    stats.iter().enumerate().map(row).collect()
}
