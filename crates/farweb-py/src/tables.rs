//! Host tables, and request tables: files that the core reads, or batches that Python hands over.

use std::path::Path;

use farweb::units::Duration;
use farweb::workload::{
    Batch, BatchTable, Copies, Directory, RequestSource, RequestTable, WorkloadError, hosts_from_columns,
    open_hosts,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyIterator};

use crate::columns;
use crate::errors::workload_error;

/// A host table.
#[pyclass(frozen, module = "farweb._core")]
pub(crate) struct HostTable(pub(crate) Directory);

#[pymethods]
impl HostTable {
    #[staticmethod]
    fn open(path: &str) -> PyResult<Self> {
        open_hosts(Path::new(path)).map(Self).map_err(workload_error)
    }

    #[staticmethod]
    fn from_columns(columns: &Bound<'_, PyDict>, name: &str) -> PyResult<Self> {
        hosts_from_columns(&columns::hosts(columns)?, name).map(Self).map_err(workload_error)
    }

    fn __len__(&self) -> usize {
        self.0.hosts().len()
    }
}

/// Requests that any table gives.
pub(crate) type Requests = Box<dyn RequestSource + Send + Sync>;

/// Opens the copies of a request table that a load asks for: of the file at a path, or of an iterable of batches. The number
/// of requests of each copy comes with them, where it is known.
pub(crate) fn open_copies(
    requests: &Bound<'_, PyAny>,
    name: &str,
    load: u32,
    offset: Duration,
) -> PyResult<(Copies<Requests>, Option<u64>)> {
    if let Ok(path) = requests.extract::<String>() {
        let (table, summary) = RequestTable::open(Path::new(&path)).map_err(workload_error)?;
        let copy = |_| Ok(Box::new(table.restart().map_err(workload_error)?) as Requests);
        let copies = (0..load).map(copy).collect::<PyResult<_>>()?;
        return Ok((Copies::new(copies, offset), Some(summary.requests)));
    }
    let copy = |_| Ok(Box::new(BatchTable::new(name, batches(requests.try_iter()?.unbind()))) as Requests);
    let copies = (0..load).map(copy).collect::<PyResult<_>>()?;
    Ok((Copies::new(copies, offset), None))
}

/// The batches that an iterator of Python yields; the GIL is taken once a batch.
fn batches(iterator: Py<PyIterator>) -> impl FnMut() -> Result<Option<Batch>, WorkloadError> + Send + Sync {
    move || {
        Python::attach(|py| {
            let mut iterator = iterator.bind(py).clone();
            let batch = iterator.next().transpose()?;
            batch.map(|batch| columns::batch(batch.cast::<PyDict>()?)).transpose()
        })
        .map_err(|error: PyErr| WorkloadError(error.to_string()))
    }
}
