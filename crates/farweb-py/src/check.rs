//! Scenarios explained, with the load of their workloads.

use farweb::load::{self, Extent, Imported, PointLoad, Swept};
use pyo3::prelude::*;

use crate::errors::workload_error;
use crate::scenario::Scenario;
use crate::tables::Prepared;

/// A scenario explained, and the load of its workload held against its path.
#[pyclass(frozen, module = "farweb._core")]
pub(crate) struct Check {
    scenario: Py<Scenario>,
    check: load::Check,
}

#[pymethods]
impl Check {
    #[new]
    #[pyo3(signature = (scenario, prepared, origin_unix_s=None, has_tunnels=true, known=None))]
    fn new(
        scenario: Bound<'_, Scenario>,
        prepared: &Prepared,
        origin_unix_s: Option<f64>,
        has_tunnels: bool,
        known: Option<&Self>,
    ) -> PyResult<Self> {
        let (read, imported) = (scenario.get(), Imported { origin_unix_s, has_tunnels });
        let known = known.map(|known| &known.check);
        let check = scenario
            .py()
            .detach(|| load::Check::of(read.checked(), read.design(), &prepared.0, imported, known))
            .map_err(workload_error)?;
        Ok(Self { scenario: scenario.unbind(), check })
    }

    fn figures(&self) -> String {
        serde_json::to_string(&self.check).expect("a check is plain data")
    }

    fn said(&self) -> String {
        serde_json::to_string(&self.check.said(self.scenario.get().checked())).expect("it is plain data")
    }

    #[getter]
    fn packet_hops(&self) -> Option<u64> {
        self.check.extent().map(|extent| extent.packet_hops)
    }
}

/// The size of so many runs as JSON text, those of `checks` standing for equal parts. None without requests.
#[pyfunction]
pub(crate) fn extent_of(checks: Vec<PyRef<'_, Check>>, runs: u64) -> Option<String> {
    let extents: Vec<_> = checks.iter().filter_map(|check| check.check.extent()).collect();
    let extent = Extent::of_runs(&extents, runs)?;
    Some(serde_json::to_string(&extent.report()).expect("an extent is plain data"))
}

/// The answer of a sweep with so many points as JSON text. `points` are the names and checks of those looked at.
#[pyfunction]
pub(crate) fn answer_of(points: Vec<(String, PyRef<'_, Check>)>, number: usize) -> String {
    let points: Vec<_> = points.iter().map(|(name, check)| PointLoad { name, check: &check.check }).collect();
    serde_json::to_string(&Swept::of(&points, number)).expect("an answer is plain data")
}

/// The owner of the connections that requests use, in words.
#[pyfunction]
pub(crate) fn whose(shared: bool, standing: bool) -> &'static str {
    use farweb::scenario::ClientShare::{All, Each};
    load::whose(if shared { All } else { Each }, standing)
}
