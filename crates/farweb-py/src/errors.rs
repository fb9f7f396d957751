//! The exceptions of farweb.

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(
    farweb._core,
    FarwebError,
    PyException,
    "Base of what farweb raises for what a user can put right."
);
create_exception!(farweb._core, ScenarioError, FarwebError, "A scenario has a wrong key or value.");
create_exception!(
    farweb._core,
    WorkloadError,
    FarwebError,
    "A request table, host table or log cannot be used."
);
create_exception!(farweb._core, RunError, FarwebError, "A run failed.");

pub(crate) fn workload_error(error: farweb::workload::WorkloadError) -> PyErr {
    WorkloadError::new_err(error.to_string())
}
