//! Logs, read in batches without holding the GIL.

use std::path::Path;

use farweb::units::Duration;
use farweb::workload::{LogOptions, Words};
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::columns::words_to_python;
use crate::errors::workload_error;

/// Requests from a log, streamed in constant memory.
#[pyclass(module = "farweb._core")]
pub(crate) struct LogReader(farweb::workload::LogReader);

#[pymethods]
impl LogReader {
    #[new]
    #[pyo3(signature = (
        path, format, *, keep = "misses", dynamic = true, tunnels = false, rtt_ns = 0, request_bytes = None, server_time = "elapsed",
        server_name = "server", max_unreadable = 0.01,
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are keyword arguments in Python")]
    fn new(
        path: &str,
        format: &str,
        keep: &str,
        dynamic: bool,
        tunnels: bool,
        rtt_ns: u64,
        request_bytes: Option<u64>,
        server_time: &str,
        server_name: &str,
        max_unreadable: f64,
    ) -> PyResult<Self> {
        let open = || {
            let options = LogOptions {
                keep: keep.parse()?,
                dynamic,
                tunnels,
                rtt: Duration::from_nanos(rtt_ns),
                request_bytes,
                server_time: server_time.parse()?,
                server_name: server_name.to_owned(),
                max_unreadable,
            };
            farweb::workload::LogReader::open(Path::new(path), format.parse()?, options)
        };
        open().map(Self).map_err(workload_error)
    }

    fn batch<'py>(&mut self, py: Python<'py>, rows: usize) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(batch) = py.detach(|| self.0.batch(rows)).map_err(workload_error)? else {
            return Ok(None);
        };
        let words = |words: Words| words_to_python(py, words.codes, words.words);
        let columns = PyDict::new(py);
        columns.set_item("start_s", batch.start_s.into_pyarray(py))?;
        columns.set_item("host", words(batch.host)?)?;
        columns.set_item("request_bytes", batch.request_bytes.into_pyarray(py))?;
        columns.set_item("response_bytes", batch.response_bytes.into_pyarray(py))?;
        columns.set_item("server_s", batch.server_s.into_pyarray(py))?;
        columns.set_item("object", batch.object.into_pyarray(py))?;
        Ok(Some(columns))
    }

    fn report(&self) -> String {
        serde_json::to_string(self.0.report()).expect("a report is plain data")
    }
}
