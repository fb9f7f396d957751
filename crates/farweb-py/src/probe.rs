//! Captures, looked through for servers without holding the GIL.

use std::net::IpAddr;
use std::path::Path;

use farweb::workload::WorkloadError;
use pyo3::prelude::*;

use crate::errors::workload_error;

/// Hosts from captures.
#[pyclass(module = "farweb._core")]
pub(crate) struct Probe(farweb::workload::Probe);

#[pymethods]
impl Probe {
    #[new]
    #[pyo3(signature = (*, max_unreadable = 0.01))]
    fn new(max_unreadable: f64) -> PyResult<Self> {
        farweb::workload::Probe::new(max_unreadable).map(Self).map_err(workload_error)
    }

    fn open(&mut self, path: &str) -> PyResult<()> {
        self.0.open(Path::new(path)).map_err(workload_error)
    }

    fn advance(&mut self, py: Python<'_>, packets: u64) -> PyResult<bool> {
        py.detach(|| self.0.advance(packets)).map_err(workload_error)
    }

    fn hosts(&self, names: Vec<(String, String)>, only_named: bool) -> PyResult<String> {
        let parsed = |(address, name): (String, String)| match address.parse::<IpAddr>() {
            Ok(address) => Ok((address, name)),
            Err(_) => Err(WorkloadError(format!("{address:?} is no address"))),
        };
        let names = names.into_iter().map(parsed).collect::<Result<Vec<_>, _>>().map_err(workload_error)?;
        let hosts = self.0.hosts(&names, only_named);
        Ok(serde_json::to_string(&hosts).expect("hosts are plain data"))
    }

    fn report(&self) -> String {
        serde_json::to_string(self.0.report()).expect("a report is plain data")
    }

    #[getter]
    fn bytes_read(&self) -> u64 {
        self.0.bytes_read()
    }
}
