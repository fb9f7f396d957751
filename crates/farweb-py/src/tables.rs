//! Host tables, and request tables: files that the core reads, or batches that Python hands over.

use std::path::Path;
use std::sync::Arc;

use farweb::id::Id;
use farweb::record::{NULL_CODE, NULL_ID, NULL_INT};
use farweb::rng::RandomStreams;
use farweb::scenario::Generated;
use farweb::units::{Duration, Instant};
use farweb::workload::{
    AtRate, AtSpeed, Batch, BatchTable, Caching, ClientId, Copies, CopiesHosts, Directory, HostColumns, Load,
    MemoryRows, MemoryTable, Method, ObjectId, Request, RequestSource, RequestTable, Resample,
    ResampledClients, SymbolTable, Words, WorkloadError, hosts_from_columns, open_hosts, shared,
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
    fn of_family(scenario: &Scenario, seed: u64) -> PyResult<Self> {
        generated(scenario, seed).map(|generated| Self(generated.names().clone()))
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

/// Requests that any table gives.
pub(crate) type Requests = Box<dyn RequestSource + Send + Sync>;

/// The rows of a request table of any kind, checked, by start time.
#[pyclass(module = "farweb._core")]
pub(crate) struct RequestReader {
    requests: Requests,
    directory: Directory,
}

#[pymethods]
impl RequestReader {
    #[new]
    fn new(requests: &Bound<'_, PyAny>, name: &str) -> PyResult<Self> {
        let requests = match requests.extract::<String>() {
            Ok(path) => Box::new(RequestTable::open(Path::new(&path)).map_err(workload_error)?.0),
            Err(_) => of_batches(requests, name)?,
        };
        Ok(Self { requests, directory: Directory::default() })
    }

    #[staticmethod]
    fn of_family(scenario: &Scenario, seed: u64) -> PyResult<Self> {
        let requests: Requests = match generated(scenario, seed)? {
            Generated::Days(table) => {
                let load = table.days() as u32;
                let all = Load {
                    load,
                    offset: Duration::ZERO,
                    period: None,
                    hosts: CopiesHosts::Same,
                    drawn: None,
                };
                Box::new(all.of_table(&Arc::new(table), |rows| rows).map_err(workload_error)?)
            }
            Generated::Trace(trace) => Box::new(trace.requests()),
        };
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
        let mut batch = Batch::default();
        let (mut server, mut wait) = (Vec::new(), Vec::new());
        let (mut objects, mut days, mut clients) = (Vec::new(), Vec::new(), Vec::new());
        let [mut hosts, mut sources, mut tags, mut methods, mut cachings]: [BatchWords; 5] =
            Default::default();
        while batch.start_s.len() < rows {
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
        }
        batch.host = hosts.words();
        (batch.server_s, batch.wait_s, batch.object) = (Some(server), Some(wait), Some(objects));
        (batch.source, batch.tag) = (Some(sources.words()), Some(tags.words()));
        (batch.method, batch.caching) = (Some(methods.words()), Some(cachings.words()));
        (batch.day, batch.client) = (Some(days), Some(clients));
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

/// The requests of a run: days and copies of a table or of a family's trace.
pub(crate) struct Workload {
    pub(crate) requests: Requests,
    /// The hosts that are there before any request asks for one.
    pub(crate) directory: Directory,
    /// Number of requests, and of rows of the table or trace, where they are known.
    pub(crate) total: Option<u64>,
    pub(crate) rows: Option<u64>,
}

impl Workload {
    /// Opens what a scenario asks for: its family's trace, or the table that is given, the file at a path or an iterable of
    /// batches.
    pub(crate) fn open(
        scenario: &Scenario,
        seed: u64,
        requests: Option<&Bound<'_, PyAny>>,
        name: &str,
        hosts: Option<&HostTable>,
    ) -> PyResult<Self> {
        let workload = &scenario.checked().workload;
        let streams = RandomStreams::new(seed);
        let drawn = (workload.resample == Some(Resample::Days)).then_some(streams);
        let load = Load { drawn, ..workload.load() };
        let doubles = (workload.resample == Some(Resample::Clients)).then_some(workload.copies_offset);
        let pace = Pace { speed: workload.speed, rate: workload.rate(), doubles, streams };
        let Some(requests) = requests else {
            let generated = generated(scenario, seed)?;
            let directory = generated.names().clone();
            return Ok(Self { directory, ..Self::of_family(&load, pace, generated)? });
        };
        let directory = hosts.map_or_else(Default::default, |hosts| hosts.0.clone());
        let opened = match requests.extract::<String>() {
            Ok(path) => Self::of_file(&load, pace, Path::new(&path))?,
            Err(_) => Self::of_batches(&load, pace, requests, name)?,
        };
        Ok(Self { directory, ..opened })
    }

    fn of_family(load: &Load, pace: Pace, generated: Generated) -> PyResult<Self> {
        let trace = match generated {
            Generated::Days(table) => return Self::in_memory(load, pace, table),
            Generated::Trace(trace) => trace,
        };
        if load.period.is_some() {
            return Self::in_memory(
                load,
                pace,
                MemoryTable::read(&mut trace.requests()).map_err(workload_error)?,
            );
        }
        let copies = (0..load.load).map(|_| pace.at_rate(trace.requests())).collect();
        let total = pace.total(trace.len() * u64::from(load.load));
        Ok(Self { total, rows: Some(trace.len()), ..Self::of(pace, load.of_streams(copies)) })
    }

    fn of_file(load: &Load, pace: Pace, path: &Path) -> PyResult<Self> {
        let (table, summary) = RequestTable::open(path).map_err(workload_error)?;
        if summary.has_days || load.period.is_some() || load.drawn.is_some() {
            return Self::in_memory(
                load,
                pace,
                MemoryTable::read(&mut pace.at_speed(table)).map_err(workload_error)?,
            );
        }
        let copies =
            shared(table, load.load).into_iter().map(|copy| pace.at_rate(pace.at_speed(copy))).collect();
        let total = pace.total(summary.requests * u64::from(load.load));
        Ok(Self { total, rows: Some(summary.requests), ..Self::of(pace, load.of_streams(copies)) })
    }

    fn of_batches(load: &Load, pace: Pace, batches: &Bound<'_, PyAny>, name: &str) -> PyResult<Self> {
        let mut first = of_batches(batches, name)?;
        let first = first.next_request(&mut Directory::default()).map_err(workload_error)?;
        let in_memory = load.period.is_some() || load.drawn.is_some();
        if in_memory || first.is_some_and(|request| request.day.is_some()) {
            let mut table = pace.at_speed(of_batches(batches, name)?);
            return Self::in_memory(load, pace, MemoryTable::read(&mut table).map_err(workload_error)?);
        }
        let table = of_batches(batches, name)?;
        let copies =
            shared(table, load.load).into_iter().map(|copy| pace.at_rate(pace.at_speed(copy))).collect();
        Ok(Self::of(pace, load.of_streams(copies)))
    }

    fn in_memory(load: &Load, pace: Pace, table: MemoryTable) -> PyResult<Self> {
        let table = Arc::new(table);
        let copies = load.of_table(&table, |rows: MemoryRows| pace.at_rate(rows)).map_err(workload_error)?;
        let (total, rows) = (pace.total(load.requests_of(&table)), Some(table.requests().len() as u64));
        Ok(Self { total, rows, ..Self::of(pace, copies) })
    }

    fn of(pace: Pace, copies: Copies<Requests>) -> Self {
        Self { requests: pace.drawn(copies), directory: Directory::default(), total: None, rows: None }
    }
}

/// The requests that the scenario's family generates.
fn generated(scenario: &Scenario, seed: u64) -> PyResult<Generated> {
    scenario.checked().workload.generated(seed).ok_or_else(|| {
        workload_error(WorkloadError(
            "the scenario has no workload.family; its requests are in a table".into(),
        ))
    })
}

/// How fast the requests of a table come, how many times as many, and whose.
#[derive(Clone, Copy)]
struct Pace {
    speed: Option<f64>,
    rate: Option<(f64, Duration)>,
    /// Where clients are drawn anew, the time within which doubles start.
    doubles: Option<Duration>,
    streams: RandomStreams,
}

impl Pace {
    fn at_speed(&self, requests: impl RequestSource + Send + Sync + 'static) -> Requests {
        match self.speed {
            Some(speed) => Box::new(AtSpeed::new(requests, speed)),
            None => Box::new(requests),
        }
    }

    fn at_rate(&self, requests: impl RequestSource + Send + Sync + 'static) -> Requests {
        match self.rate {
            Some((load, window)) => Box::new(AtRate::new(requests, load, window, self.streams)),
            None => Box::new(requests),
        }
    }

    fn drawn(&self, copies: Copies<Requests>) -> Requests {
        match self.doubles {
            Some(window) => Box::new(ResampledClients::new(copies, window, self.streams)),
            None => Box::new(copies),
        }
    }

    /// The number of requests that so many become; not known before they are drawn.
    fn total(&self, requests: u64) -> Option<u64> {
        (self.rate.is_none() && self.doubles.is_none()).then_some(requests)
    }
}

/// The requests of an iterable of batches, from the first one on.
fn of_batches(batches: &Bound<'_, PyAny>, name: &str) -> PyResult<Requests> {
    Ok(Box::new(BatchTable::new(name, next_batch(batches.try_iter()?.unbind()))))
}

/// The batches that an iterator of Python yields; the GIL is taken once a batch.
fn next_batch(
    iterator: Py<PyIterator>,
) -> impl FnMut() -> Result<Option<Batch>, WorkloadError> + Send + Sync {
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

/// The ids of objects and clients by what tables call them.
#[pyfunction]
pub(crate) fn object_ids(py: Python<'_>, texts: Vec<String>) -> Bound<'_, PyArray1<u64>> {
    let ids: Vec<u64> = texts.iter().map(|text| ObjectId::of_text(text).get()).collect();
    ids.into_pyarray(py)
}
