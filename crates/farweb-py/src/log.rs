//! Logs, read in batches without holding the GIL.

use std::path::{Path, PathBuf};

use farweb::units::Duration;
use farweb::workload::{
    Bound, Caching, ClientColumn, ClientKey, ClientNames, LogFormat, LogOptions, Method, Overview, Sample,
    Words, WorkloadError,
};
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::columns::words_to_python;
use crate::errors::workload_error;

/// The format of a log that begins with `head`. None when it is not known.
#[pyfunction]
pub(crate) fn log_format(head: &[u8]) -> Option<String> {
    LogFormat::of_head(head).map(|format| format.to_string())
}

/// Names of formats of logs, each with true where sizes of responses are without headers.
#[pyfunction]
pub(crate) fn log_formats(py: Python<'_>) -> PyResult<pyo3::Bound<'_, PyDict>> {
    let names = PyDict::new(py);
    LogFormat::names().try_for_each(|(name, body_sizes)| names.set_item(name, body_sizes))?;
    Ok(names)
}

/// The format that a name, a format string or keys of JSON describe.
fn format_of(
    format: &str,
    log_format: Option<&str>,
    fields: Option<Vec<String>>,
) -> Result<LogFormat, WorkloadError> {
    match (log_format, fields) {
        (Some(text), _) => LogFormat::custom(text),
        (None, Some(pairs)) => Ok(LogFormat::Fields(pairs)),
        (None, None) => format.parse(),
    }
}

/// A first reading of the logs of an import: lines that stand in two of them, and calls that two sidecars log.
#[pyclass(module = "farweb._core", frozen)]
pub(crate) struct LogOverview(Overview);

#[pymethods]
impl LogOverview {
    #[new]
    #[pyo3(signature = (paths, format, *, log_format = None, fields = None))]
    fn new(
        py: Python<'_>,
        paths: Vec<String>,
        format: &str,
        log_format: Option<&str>,
        fields: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let format = format_of(format, log_format, fields).map_err(workload_error)?;
        let paths: Vec<&Path> = paths.iter().map(Path::new).collect();
        py.detach(|| Overview::of(&paths, &format)).map(Self).map_err(workload_error)
    }

    fn repeats(&self) -> String {
        serde_json::to_string(self.0.repeats()).expect("repeats are plain data")
    }
}

/// Requests from logs, one after the other, streamed in constant memory.
#[pyclass(module = "farweb._core")]
pub(crate) struct LogReader(farweb::workload::LogsReader);

#[pymethods]
impl LogReader {
    #[new]
    #[pyo3(signature = (
        paths, format, *, names = vec![], log_format = None, fields = None, keep = None, dynamic = true, errors = true, tunnels = true, bypass = "",
        rtt_ns = 0,
        request_bytes = None, assume_bytes = None, server_time = "elapsed", elapsed_unit = None, server_name = "server", client_key = None,
        client_from_forwarded = false, client = None, from_ = None, to = None, span_ns = None,
        sample = None, sample_by = "client", seed = 1, max_unreadable = 0.01, overview = None,
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are keyword arguments in Python")]
    fn new(
        paths: Vec<PathBuf>,
        format: &str,
        names: Vec<String>,
        log_format: Option<String>,
        fields: Option<Vec<String>>,
        keep: Option<&str>,
        dynamic: bool,
        errors: bool,
        tunnels: bool,
        bypass: &str,
        rtt_ns: u64,
        request_bytes: Option<u64>,
        assume_bytes: Option<u64>,
        server_time: &str,
        elapsed_unit: Option<&str>,
        server_name: &str,
        client_key: Option<[u8; 16]>,
        client_from_forwarded: bool,
        client: Option<String>,
        from_: Option<&str>,
        to: Option<&str>,
        span_ns: Option<(i64, i64)>,
        sample: Option<f64>,
        sample_by: &str,
        seed: u64,
        max_unreadable: f64,
        overview: Option<&LogOverview>,
    ) -> PyResult<Self> {
        let open = || {
            let by = sample_by.parse()?;
            let options = LogOptions {
                keep: keep.map(str::parse).transpose()?,
                dynamic,
                errors,
                tunnels,
                bypass: bypass.parse()?,
                rtt: Duration::from_nanos(rtt_ns),
                request_bytes,
                assume_bytes,
                server_time: server_time.parse()?,
                elapsed_unit: elapsed_unit.map(str::parse).transpose()?,
                server_name: server_name.to_owned(),
                client_names: client_key
                    .map_or(ClientNames::AsLogged, |key| ClientNames::Pseudonyms(ClientKey::new(key))),
                client_from_forwarded,
                client,
                from: bound("from", from_)?,
                to: bound("to", to)?,
                span: span_ns.map(|(begin, end)| begin..end),
                sample: sample.map(|share| Sample { share, by, seed }),
                max_unreadable,
            };
            let format = format_of(format, log_format.as_deref(), fields)?;
            let overview = overview.map(|overview| overview.0.clone()).unwrap_or_default();
            farweb::workload::LogsReader::open(paths, names, format, options, overview)
        };
        open().map(Self).map_err(workload_error)
    }

    fn batch<'py>(&mut self, py: Python<'py>, rows: usize) -> PyResult<Option<pyo3::Bound<'py, PyDict>>> {
        let Some(batch) = py.detach(|| self.0.batch(rows)).map_err(workload_error)? else {
            return Ok(None);
        };
        let words = |words: Words| words_to_python(py, words.codes, words.words);
        let columns = PyDict::new(py);
        columns.set_item("start_s", batch.start_s.into_pyarray(py))?;
        columns.set_item("second", batch.second.into_pyarray(py))?;
        columns.set_item("before_s", batch.before_s.into_pyarray(py))?;
        columns.set_item("host", words(batch.host)?)?;
        columns.set_item("request_bytes", batch.request_bytes.into_pyarray(py))?;
        columns.set_item("response_bytes", batch.response_bytes.into_pyarray(py))?;
        columns.set_item("server_s", batch.server_s.into_pyarray(py))?;
        columns.set_item("wait_s", batch.wait_s.into_pyarray(py))?;
        columns.set_item("object", batch.object.into_pyarray(py))?;
        let methods = batch.method.iter().map(|method| {
            let place = Method::WORDS.iter().position(|(_, known)| known == method);
            place.unwrap_or_default() as i32
        });
        let names = Method::WORDS.map(|(name, _)| name.to_owned()).to_vec();
        columns.set_item("method", words_to_python(py, methods.collect(), names)?)?;
        let cachings = batch.caching.iter().map(|caching| *caching as i32).collect();
        let names = Caching::WORDS.map(|(name, _)| name.to_owned()).to_vec();
        columns.set_item("caching", words_to_python(py, cachings, names)?)?;
        columns.set_item("tls", batch.tls.into_pyarray(py))?;
        match batch.client {
            ClientColumn::Pseudonyms(ids) => columns.set_item("client", ids.into_pyarray(py))?,
            ClientColumn::AsLogged(texts) => columns.set_item("client", words(texts)?)?,
        }
        Ok(Some(columns))
    }

    #[getter]
    fn origin_unix_s(&self) -> Option<i64> {
        self.0.report().origin_unix_s
    }

    fn report(&self) -> String {
        serde_json::to_string(self.0.report()).expect("a report is plain data")
    }
}

/// The time that the option `name` has.
fn bound(name: &str, text: Option<&str>) -> Result<Option<Bound>, WorkloadError> {
    let Some(text) = text else { return Ok(None) };
    let wrong = || {
        WorkloadError(format!(
            "--{name}: found \"{text}\"; write a date or a date and a time, such as 2015-05-17 or 2015-05-17T10:05:03, with a \
             zone (+02:00, Z) or in that of the log; of a log with times since its start 60s"
        ))
    };
    Bound::parse(text).ok_or_else(wrong).map(Some)
}
