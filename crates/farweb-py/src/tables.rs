//! Host tables, and request tables: files that the core reads, or batches that Python hands over.

use std::path::Path;

use farweb::id::Id;
use farweb::units::{Duration, Instant};
use farweb::workload::{
    Batch, BatchTable, Copies, Directory, HostColumns, Request, RequestSource, RequestTable, SymbolTable,
    Words, WorkloadError, hosts_from_columns, open_hosts,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyIterator};

use crate::columns;
use crate::errors::workload_error;

/// The code of a word that is missing.
const NULL_CODE: i32 = -1;

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

    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let size = |bytes: Option<u64>| bytes.map_or(i64::MIN, |bytes| bytes as i64);
        let mut table = HostColumns::default();
        let (mut windows, mut segments) = (Vec::new(), Vec::new());
        for (id, host) in self.0.hosts().iter() {
            table.host.codes.push(id.index() as i32);
            table.host.words.push(host.key.to_string());
            windows.push(size(host.window));
            segments.push(size(host.mss.map(u64::from)));
        }
        (table.window_bytes, table.mss_bytes) = (Some(windows), Some(segments));
        columns::hosts_to_python(py, table)
    }

    fn __len__(&self) -> usize {
        self.0.hosts().len()
    }
}

/// Requests that any table gives.
pub(crate) type Requests = Box<dyn RequestSource + Send + Sync>;

/// The rows of a request table of any kind, checked, by start time.
#[pyclass(module = "farweb._core")]
pub(crate) struct RequestReader {
    requests: Copies<Requests>,
    directory: Directory,
}

#[pymethods]
impl RequestReader {
    #[new]
    fn new(requests: &Bound<'_, PyAny>, name: &str) -> PyResult<Self> {
        let (requests, _) = open_copies(requests, name, 1, Duration::ZERO)?;
        Ok(Self { requests, directory: Directory::default() })
    }

    fn batch<'py>(&mut self, py: Python<'py>, rows: usize) -> PyResult<Option<Bound<'py, PyDict>>> {
        let batch = py.detach(|| self.read(rows)).map_err(workload_error)?;
        if batch.start_s.is_empty() {
            return Ok(None);
        }
        columns::batch_to_python(py, batch).map(Some)
    }
}

impl RequestReader {
    fn read(&mut self, rows: usize) -> Result<Batch, WorkloadError> {
        let (mut batch, mut server) = (Batch::default(), Vec::new());
        let (mut hosts, mut sources, mut tags) =
            (BatchWords::default(), BatchWords::default(), BatchWords::default());
        while batch.start_s.len() < rows {
            let Some(request) = self.requests.next_request(&mut self.directory)? else { break };
            let Request { start, host, request_bytes, response_bytes, server: took, source, tag } = request;
            let directory = &self.directory;
            batch.start_s.push((start - Instant::ZERO).to_secs_f64());
            hosts.push(Some(&directory.hosts()[host].key));
            batch.request_bytes.push(request_bytes as i64);
            batch.response_bytes.push(response_bytes as i64);
            server.push(took.map_or(f64::NAN, Duration::to_secs_f64));
            sources.push(source.map(|source| &*directory.sources.words()[source]));
            tags.push(tag.map(|tag| &*directory.tags.words()[tag]));
        }
        batch.host = hosts.words();
        batch.server_s = Some(server);
        (batch.source, batch.tag) = (Some(sources.words()), Some(tags.words()));
        Ok(batch)
    }
}

/// A column of words, numbered as they come in a batch.
#[derive(Default)]
struct BatchWords {
    codes: Vec<i32>,
    known: SymbolTable,
}

impl BatchWords {
    fn push(&mut self, word: Option<&str>) {
        self.codes.push(word.map_or(NULL_CODE, |word| self.known.symbol(word).index() as i32));
    }

    fn words(self) -> Words {
        let words = self.known.words().iter().map(|(_, word)| word.to_string()).collect();
        Words { codes: self.codes, words }
    }
}

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
        // The text alone: the type of the exception is that of the one that Python sees in the end.
        .map_err(|error: PyErr| WorkloadError(Python::attach(|py| error.value(py).to_string())))
    }
}
