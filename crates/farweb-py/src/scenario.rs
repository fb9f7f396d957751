//! Scenarios: text in, checked values out.

use std::collections::BTreeMap;

use farweb::workload::Directory;
use pyo3::prelude::*;

use crate::errors::ScenarioError;
use crate::tables::HostTable;

/// A checked scenario.
#[pyclass(frozen, module = "farweb._core")]
pub(crate) struct Scenario(pub(crate) farweb::scenario::Scenario);

#[pymethods]
impl Scenario {
    #[staticmethod]
    fn parse(text: &str, file: &str, overrides: BTreeMap<String, String>) -> PyResult<Self> {
        let overrides: Vec<_> = overrides.into_iter().collect();
        farweb::scenario::Scenario::parse(text, file, &overrides)
            .map(Self)
            .map_err(|error| ScenarioError::new_err(error.to_string()))
    }

    #[getter]
    fn warmup_ns(&self) -> u64 {
        self.0.run.warmup.as_nanos()
    }

    fn effective(&self) -> String {
        self.0.effective().to_string()
    }

    fn check(&self, hosts: Option<&HostTable>) -> String {
        let directory: Option<&Directory> = hosts.map(|hosts| &hosts.0);
        serde_json::to_string(&self.0.report(directory)).expect("a report is plain data")
    }
}

/// JSON Schema of a scenario.
#[pyfunction]
pub(crate) fn scenario_schema() -> String {
    farweb::scenario::schema().to_string()
}
