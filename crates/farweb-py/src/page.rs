//! Pages of HARs, as recorded.

use std::path::PathBuf;

use farweb::page;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::errors::workload_error;

/// A request of a page.
#[pyclass(frozen, get_all, eq, module = "farweb._core")]
#[derive(PartialEq)]
pub(crate) struct Sent {
    name: String,
    host: String,
    kind: &'static str,
    method: String,
    status: i64,
    protocol: &'static str,
    is_secure: bool,
    issue_ms: f64,
    send_ms: f64,
    first_ms: f64,
    end_ms: f64,
    wait_ms: f64,
    tcp_ms: f64,
    tls_ms: f64,
    connection: String,
    is_new: bool,
    request_bytes: u64,
    response_bytes: u64,
    redirect: String,
    initiator: String,
    initiator_type: String,
    is_ahead: bool,
    is_pushed: bool,
    is_sized: bool,
    is_unpacked: bool,
    parents: String,
    dependency: String,
}

impl From<page::Sent> for Sent {
    fn from(sent: page::Sent) -> Self {
        let wait_ms = sent.wait_ms();
        let (parents, dependency) =
            sent.stated.map(|stated| (stated.parents, stated.dependency)).unwrap_or_default();
        Self {
            name: sent.name,
            host: sent.host,
            kind: sent.kind.word(),
            method: sent.method,
            status: sent.status,
            protocol: sent.protocol.word(),
            is_secure: sent.is_secure,
            issue_ms: sent.issue_ms,
            send_ms: sent.send_ms,
            first_ms: sent.first_ms,
            end_ms: sent.end_ms,
            wait_ms,
            tcp_ms: sent.tcp_ms,
            tls_ms: sent.tls_ms,
            connection: sent.connection,
            is_new: sent.is_new,
            request_bytes: sent.request_bytes,
            response_bytes: sent.response_bytes,
            redirect: sent.redirect,
            initiator: sent.initiator,
            initiator_type: sent.initiator_type,
            is_ahead: sent.is_ahead,
            is_pushed: sent.is_pushed,
            is_sized: sent.is_sized,
            is_unpacked: sent.is_unpacked,
            parents,
            dependency,
        }
    }
}

/// A page load.
#[pyclass(frozen, module = "farweb._core")]
pub(crate) struct Recording {
    pub(crate) recording: page::Recording,
    #[pyo3(get)]
    sent: Py<PyTuple>,
}

impl Recording {
    fn of(py: Python<'_>, recording: page::Recording) -> PyResult<Self> {
        let sent = PyTuple::new(py, recording.sent.iter().cloned().map(Sent::from))?.unbind();
        Ok(Self { recording, sent })
    }
}

#[pymethods]
impl Recording {
    #[getter]
    fn file(&self) -> &str {
        &self.recording.file
    }

    #[getter]
    fn page(&self) -> &str {
        &self.recording.page
    }

    #[getter]
    fn url(&self) -> &str {
        &self.recording.url
    }

    #[getter]
    fn exporter(&self) -> &str {
        &self.recording.exporter
    }

    #[getter]
    fn browser(&self) -> &str {
        &self.recording.browser
    }

    #[getter]
    fn start_ms(&self) -> f64 {
        self.recording.start_ms
    }

    #[getter]
    fn server_ms(&self) -> Vec<f64> {
        self.recording.server_ms.clone()
    }

    #[getter]
    fn origins(&self) -> Vec<String> {
        self.recording.origins.clone()
    }

    #[getter]
    fn root(&self) -> usize {
        self.recording.root
    }

    #[getter]
    fn dropped<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict(py, &self.recording.dropped)
    }

    #[getter]
    fn load_ms(&self) -> f64 {
        self.recording.load_ms
    }

    #[getter]
    fn is_load_known(&self) -> bool {
        self.recording.is_load_known
    }

    #[getter]
    fn is_repeat(&self) -> bool {
        self.recording.is_repeat
    }

    #[getter]
    fn dom_ms(&self) -> Option<f64> {
        self.recording.dom_ms
    }

    #[getter]
    fn gates(&self) -> Vec<bool> {
        self.recording.gates.clone()
    }

    #[getter]
    fn rtt_ms<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict(py, &self.recording.rtt_ms)
    }

    #[getter]
    fn rate_bps(&self) -> f64 {
        self.recording.rate_bps
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.recording.warnings.clone()
    }

    #[getter]
    fn tail_ms(&self) -> f64 {
        self.recording.tail_ms()
    }

    #[getter]
    fn response_bytes(&self) -> u64 {
        self.recording.response_bytes()
    }

    #[getter]
    fn gating_bytes(&self) -> u64 {
        self.recording.gating_bytes()
    }

    #[getter]
    fn has_tls(&self) -> bool {
        self.recording.has_tls()
    }

    #[getter]
    fn protocol(&self) -> &'static str {
        self.recording.protocol().word()
    }

    #[getter]
    fn counted(&self) -> String {
        self.recording.counted()
    }

    #[getter]
    fn in_the_clear(&self) -> Vec<String> {
        self.recording.in_the_clear().into_iter().collect()
    }

    #[getter]
    fn reservations(&self) -> Vec<String> {
        self.recording.reservations()
    }

    fn rows(&self, page: &str) -> String {
        serde_json::to_string(&self.recording.rows(page)).expect("rows are plain data")
    }

    fn listed(&self, page: &str) -> String {
        serde_json::to_string(&self.recording.listed(page)).expect("facts are plain data")
    }

    fn facts(&self) -> String {
        serde_json::to_string(&self.recording.facts()).expect("facts are plain data")
    }
}

fn dict<'py, V: IntoPyObject<'py> + Copy>(
    py: Python<'py>,
    rows: &[(String, V)],
) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    for (name, value) in rows {
        found.set_item(name, *value)?;
    }
    Ok(found)
}

/// The pages of a HAR: each as recorded, or why it cannot be loaded.
#[pyfunction]
pub(crate) fn read_har(py: Python<'_>, path: PathBuf) -> PyResult<Vec<Py<PyAny>>> {
    let pages = py.detach(|| page::read_har(&path)).map_err(workload_error)?;
    let told = pages.into_iter().map(|page| match page {
        Ok(recording) => Ok(Py::new(py, Recording::of(py, recording)?)?.into_any()),
        Err(error) => Ok(workload_error(error).into_value(py).into_any()),
    });
    told.collect()
}

/// A URL in a line.
#[pyfunction]
pub(crate) fn short_url(url: &str) -> String {
    page::short_url(url)
}

/// A sentence on entries left out.
#[pyfunction]
pub(crate) fn left_out(dropped: Vec<(String, u64)>) -> String {
    page::left_out(&dropped)
}
