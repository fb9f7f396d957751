//! Host tables, and request tables: files that the core reads, or batches that Python hands over.

use std::path::Path;

use farweb::id::Id;
use farweb::record::{NULL_CODE, NULL_ID, NULL_INT};
use farweb::units::{Duration, Instant};
use farweb::workload::{
    Batch, BatchTable, Begin, Caching, ClientId, Directory, HostColumns, Method, ObjectId, Request, Requests,
    SymbolTable, Words, WorkloadError, hosts_from_columns, open_hosts,
};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyIterator};

use crate::columns;
use crate::errors::workload_error;
use crate::scenario::Scenario;

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
        let size = |bytes: Option<u64>| bytes.map_or(NULL_INT, |bytes| bytes as i64);
        let mut table = HostColumns::default();
        let (mut windows, mut segments) = (Vec::new(), Vec::new());
        for (id, host) in self.0.hosts().iter() {
            table.host.codes.push(id.index() as i32);
            table.host.words.push(host.key.to_string());
            windows.push(size(host.buffer));
            segments.push(size(host.mss.map(u64::from)));
        }
        (table.window_bytes, table.mss_bytes) = (Some(windows), Some(segments));
        columns::hosts_to_python(py, table)
    }

    fn __len__(&self) -> usize {
        self.0.hosts().len()
    }
}

/// The requests of a workload and their hosts.
#[pyclass(frozen, module = "farweb._core")]
pub(crate) struct Prepared(pub(crate) farweb::workload::Prepared);

#[pymethods]
impl Prepared {
    #[new]
    #[pyo3(signature = (requests, name, hosts=None, rows=None))]
    fn new(
        requests: &Bound<'_, PyAny>,
        name: &str,
        hosts: Option<&HostTable>,
        rows: Option<u64>,
    ) -> PyResult<Self> {
        let hosts = hosts.map(|hosts| hosts.0.clone());
        let prepared = match requests.extract::<String>() {
            Ok(path) => requests.py().detach(|| farweb::workload::Prepared::of_text(Path::new(&path), hosts)),
            Err(_) => {
                let table = Batches { batches: requests.clone().unbind(), name: name.to_owned() };
                farweb::workload::Prepared::of_table(Box::new(table), rows, hosts)
            }
        };
        prepared.map(Self).map_err(workload_error)
    }

    #[staticmethod]
    fn of_family(scenario: &Scenario, seed: u64) -> PyResult<Self> {
        scenario.checked().workload.generated(seed).map(Self).ok_or_else(|| {
            workload_error(WorkloadError(
                "the scenario has no workload.family; its requests are in a table".into(),
            ))
        })
    }

    #[getter]
    fn hosts(&self) -> Option<HostTable> {
        self.0.hosts().cloned().map(HostTable)
    }

    #[getter]
    fn rows(&self) -> Option<u64> {
        self.0.count()
    }

    fn __iter__(&self) -> PyResult<RequestReader> {
        let requests = self.0.all().map_err(workload_error)?;
        Ok(RequestReader { requests, directory: Directory::default() })
    }
}

/// Batches that an iterable of Python gives, from the first one on each time.
struct Batches {
    batches: Py<PyAny>,
    name: String,
}

impl Begin for Batches {
    fn begin(&self) -> Result<Requests, WorkloadError> {
        let iterator = Python::attach(|py| self.batches.bind(py).try_iter().map(Bound::unbind));
        Ok(Box::new(BatchTable::new(self.name.clone(), next_batch(iterator.map_err(error_of_python)?))))
    }
}

/// The batches that an iterator of Python yields. The GIL is taken once a batch.
fn next_batch(
    iterator: Py<PyIterator>,
) -> impl FnMut() -> Result<Option<Batch>, WorkloadError> + Send + Sync {
    move || {
        Python::attach(|py| {
            let mut iterator = iterator.bind(py).clone();
            let batch = iterator.next().transpose()?;
            batch.map(|batch| columns::batch(batch.cast::<PyDict>()?)).transpose()
        })
        .map_err(error_of_python)
    }
}

/// The text alone: Python sees another type of exception in the end.
fn error_of_python(error: PyErr) -> WorkloadError {
    WorkloadError(Python::attach(|py| error.value(py).to_string()))
}

/// Chosen: some MB, and few enough batches that their cost does not show.
const ROWS_A_BATCH: usize = 65_536;

/// The rows of a workload, checked, in batches by start time.
#[pyclass(module = "farweb._core")]
pub(crate) struct RequestReader {
    requests: Requests,
    directory: Directory,
}

#[pymethods]
impl RequestReader {
    const fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let batch = py.detach(|| self.read()).map_err(workload_error)?;
        if batch.start_s.is_empty() {
            return Ok(None);
        }
        columns::batch_to_python(py, batch).map(Some)
    }
}

impl RequestReader {
    fn read(&mut self) -> Result<Batch, WorkloadError> {
        let mut batch = Batch::default();
        let (mut server, mut wait) = (Vec::new(), Vec::new());
        let (mut objects, mut days, mut clients) = (Vec::new(), Vec::new(), Vec::new());
        let mut secured = Vec::new();
        let [mut hosts, mut sources, mut tags, mut methods, mut cachings]: [BatchWords; 5] =
            Default::default();
        while batch.start_s.len() < ROWS_A_BATCH {
            let Some(request) = self.requests.next_request(&mut self.directory)? else { break };
            let Request {
                start,
                host,
                request_bytes,
                response_bytes,
                server: took,
                object,
                source,
                tag,
                day,
                client,
                method,
                caching,
                tls,
            } = request;
            let directory = &self.directory;
            batch.start_s.push((start - Instant::ZERO).to_secs_f64());
            hosts.push(Some(&directory.hosts()[host].key));
            batch.request_bytes.push(request_bytes as i64);
            batch.response_bytes.push(response_bytes as i64);
            server.push(took.whole().map_or(f64::NAN, Duration::to_secs_f64));
            wait.push(took.wait().map_or(f64::NAN, Duration::to_secs_f64));
            objects.push(object.map_or(NULL_ID, ObjectId::get));
            sources.push(source.map(|source| &*directory.sources.words()[source]));
            tags.push(tag.map(|tag| &*directory.tags.words()[tag]));
            days.push(day.map_or(NULL_INT, i64::from));
            clients.push(client.map_or(NULL_ID, ClientId::get));
            let is_usual = method == Method::Get && caching == Caching::Store;
            methods.push((method != Method::Get).then_some(method.word()));
            cachings.push((!is_usual).then_some(caching.word()));
            secured.push(tls.map_or(NULL_CODE as i8, i8::from));
        }
        batch.host = hosts.words();
        (batch.server_s, batch.wait_s, batch.object) = (Some(server), Some(wait), Some(objects));
        (batch.source, batch.tag) = (Some(sources.words()), Some(tags.words()));
        (batch.method, batch.caching) = (Some(methods.words()), Some(cachings.words()));
        (batch.day, batch.client, batch.tls) = (Some(days), Some(clients), Some(secured));
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

/// The ids of objects and clients by what tables call them.
#[pyfunction]
pub(crate) fn object_ids(py: Python<'_>, texts: Vec<String>) -> Bound<'_, PyArray1<u64>> {
    let ids: Vec<u64> = texts.iter().map(|text| ObjectId::of_text(text).get()).collect();
    ids.into_pyarray(py)
}
