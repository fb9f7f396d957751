//! The exceptions of farweb.

use farweb::scenario::{Place, Problem, ScenarioError as CoreError};
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::IntoPyDict;

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

/// The error with its problems in `problems`, which is empty on errors of no core.
pub(crate) fn scenario_error(error: CoreError) -> PyErr {
    let raised = ScenarioError::new_err(error.to_string());
    let set = |py: Python<'_>| {
        let kind = problem_type(py)?;
        let problems: PyResult<Vec<_>> =
            error.problems.into_iter().map(|problem| kind.call1(fields(problem))).collect();
        raised.value(py).setattr("problems", problems?)
    };
    Python::attach(set).map_or_else(|failed| failed, |()| raised)
}

type Fields = (Option<String>, Option<usize>, Option<usize>, String, String);

fn fields(problem: Problem) -> Fields {
    let [key, message] = problem.in_lines();
    match problem.place {
        Place::File { line, column } => (Some(problem.file), Some(line), Some(column), key, message),
        Place::Override(_) => (None, None, None, key, message),
    }
}

/// The named tuple of a problem, which goes from process to process.
pub(crate) fn problem_type(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static TYPE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let make = || {
        let (name, fields) = ("Problem", ["file", "line", "column", "key", "message"]);
        let module = [("module", "farweb._core")].into_py_dict(py)?;
        let named = py.import("collections")?.getattr("namedtuple")?;
        Ok::<_, PyErr>(named.call((name, fields), Some(&module))?.unbind())
    };
    TYPE.get_or_try_init(py, make).map(|kind| kind.bind(py))
}
