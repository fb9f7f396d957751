//! The exceptions of farweb.

use farweb::scenario::{Place, ScenarioError as CoreError};
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

/// The error with its problems in `problems`, which is empty on errors of no core.
pub(crate) fn scenario_error(error: CoreError) -> PyErr {
    let raised = ScenarioError::new_err(error.to_string());
    let problems: Vec<_> = error.problems.into_iter().map(Problem::of).collect();
    Python::attach(|py| raised.value(py).setattr("problems", problems))
        .map_or_else(|failed| failed, |()| raised)
}

/// A problem of a scenario.
#[pyclass(frozen, get_all, module = "farweb._core")]
pub(crate) struct Problem {
    text: String,
    file: Option<String>,
    line: Option<usize>,
    column: Option<usize>,
    key: String,
    message: String,
}

impl Problem {
    fn of(problem: farweb::scenario::Problem) -> Self {
        let (text, [key, message]) = (problem.to_string(), problem.in_lines());
        let (file, line, column) = match problem.place {
            Place::File { line, column } => (Some(problem.file), Some(line), Some(column)),
            Place::Override(_) => (None, None, None),
        };
        Self { text, file, line, column, key, message }
    }
}

type Fields<'a> = (&'a str, Option<&'a str>, Option<usize>, Option<usize>, &'a str, &'a str);

#[pymethods]
impl Problem {
    #[new]
    const fn new(
        text: String,
        file: Option<String>,
        line: Option<usize>,
        column: Option<usize>,
        key: String,
        message: String,
    ) -> Self {
        Self { text, file, line, column, key, message }
    }

    /// Errors go from process to process.
    fn __getnewargs__(&self) -> Fields<'_> {
        let Self { text, file, line, column, key, message } = self;
        (text, file.as_deref(), *line, *column, key, message)
    }

    fn __repr__(&self) -> String {
        format!("Problem({:?})", self.text)
    }
}
