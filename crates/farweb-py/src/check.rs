//! Scenarios explained, with the load of their workloads.

use farweb::load::{self, Extent, Imported, PointLoad, Swept};
use pyo3::prelude::*;

use crate::errors::workload_error;
use crate::scenario::Scenario;
use crate::tables::Prepared;

/// A scenario explained, and the load of its workload held against its path.
#[pyclass(frozen, module = "farweb._core")]
pub(crate) struct Check(load::Check);

#[pymethods]
impl Check {
    #[new]
    #[pyo3(signature = (scenario, prepared, origin_unix_s=None, has_tunnels=true, known=None))]
    fn new(
        py: Python<'_>,
        scenario: &Scenario,
        prepared: &Prepared,
        origin_unix_s: Option<f64>,
        has_tunnels: bool,
        known: Option<&Self>,
    ) -> PyResult<Self> {
        let (imported, known) = (Imported { origin_unix_s, has_tunnels }, known.map(|known| &known.0));
        py.detach(|| load::Check::of(scenario.checked(), scenario.design(), &prepared.0, imported, known))
            .map(Self)
            .map_err(workload_error)
    }

    fn figures(&self) -> String {
        serde_json::to_string(&self.0.figures()).expect("a check is plain data")
    }

    fn said(&self) -> String {
        serde_json::to_string(&self.0.said()).expect("it is plain data")
    }

    #[getter]
    fn packet_hops(&self) -> Option<u64> {
        self.0.extent().map(|extent| extent.packet_hops)
    }
}

/// The size of so many runs as JSON text, those of `checks` standing for equal parts. None without requests.
#[pyfunction]
pub(crate) fn extent_of(checks: Vec<PyRef<'_, Check>>, runs: u64) -> Option<String> {
    let extents: Vec<_> = checks.iter().filter_map(|check| check.0.extent()).collect();
    let extent = Extent::of_runs(&extents, runs)?;
    Some(serde_json::to_string(&extent.report()).expect("an extent is plain data"))
}

/// The answer of a sweep with so many points as JSON text. `points` are the names and checks of those looked at.
#[pyfunction]
pub(crate) fn answer_of(points: Vec<(String, PyRef<'_, Check>)>, number: usize) -> String {
    let points: Vec<_> = points.iter().map(|(name, check)| PointLoad { name, check: &check.0 }).collect();
    serde_json::to_string(&Swept::of(&points, number)).expect("an answer is plain data")
}

/// The owner of the connections that requests use, in words.
#[pyfunction]
pub(crate) fn whose(shared: bool, standing: bool) -> &'static str {
    use farweb::scenario::ClientShare::{All, Each};
    load::whose(if shared { All } else { Each }, standing)
}
