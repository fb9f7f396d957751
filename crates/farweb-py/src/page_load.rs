//! Graphs of pages, and their loads over other paths.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::ScopedJoinHandle;

use farweb::page::{self, Evidence, Rule, SettleError};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::errors::{RunError, workload_error};
use crate::page::Recording;
use crate::scenario::Scenario;

/// A point of another request's load that a request waits for.
#[pyclass(frozen, get_all, eq, module = "farweb._core")]
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Edge {
    parent: usize,
    share: Option<f64>,
}

#[pymethods]
impl Edge {
    #[new]
    const fn new(parent: usize, share: Option<f64>) -> Self {
        Self { parent, share }
    }

    fn __repr__(&self) -> String {
        let Self { parent, share } = self;
        format!("Edge({parent}, {})", share.map_or_else(|| "None".to_owned(), |share| format!("{share:?}")))
    }
}

/// When a request is issued.
#[pyclass(frozen, eq, module = "farweb._core")]
#[derive(Clone, PartialEq)]
pub(crate) struct Dependency(page::Dependency);

#[pymethods]
impl Dependency {
    #[new]
    fn new(edges: Vec<PyRef<'_, Edge>>, think_ms: f64, kind: &str) -> PyResult<Self> {
        let edges = edges.iter().map(|edge| page::Edge { parent: edge.parent, share: edge.share }).collect();
        let evidence = Evidence::ALL.into_iter().find(|each| each.word() == kind);
        let evidence = evidence.ok_or_else(|| PyValueError::new_err(format!("no kind {kind}")))?;
        Ok(Self(page::Dependency { edges, think_ms, evidence }))
    }

    #[getter]
    fn edges<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.edges.iter().map(|edge| Edge { parent: edge.parent, share: edge.share }))
    }

    #[getter]
    const fn think_ms(&self) -> f64 {
        self.0.think_ms
    }

    #[getter]
    const fn kind(&self) -> &'static str {
        self.0.evidence.word()
    }

    #[getter]
    const fn confidence(&self) -> f64 {
        self.0.evidence.confidence()
    }

    fn thinking(&self, factor: f64) -> Self {
        Self(page::Dependency { think_ms: self.0.think_ms * factor, ..self.0.clone() })
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let edges = self.edges(py)?.repr()?;
        Ok(format!("Dependency({edges}, {:?}, {:?})", self.0.think_ms, self.kind()))
    }
}

/// A request of a page as a run has it.
#[pyclass(frozen, eq, module = "farweb._core")]
#[derive(Clone, PartialEq)]
pub(crate) struct Asked(page::Asked);

#[pymethods]
impl Asked {
    #[new]
    #[pyo3(signature = (host, request_bytes, response_bytes, server_s, dependency, is_secure=true, source=""))]
    fn new(
        host: String,
        request_bytes: u64,
        response_bytes: u64,
        server_s: f64,
        dependency: &Dependency,
        is_secure: bool,
        source: &str,
    ) -> Self {
        let (dependency, source) = (dependency.0.clone(), source.to_owned());
        Self(page::Asked { host, request_bytes, response_bytes, server_s, dependency, is_secure, source })
    }

    #[getter]
    fn host(&self) -> &str {
        &self.0.host
    }

    #[getter]
    const fn is_secure(&self) -> bool {
        self.0.is_secure
    }
}

/// A page that was loaded.
#[pyclass(frozen, module = "farweb._core")]
pub(crate) struct Loaded {
    loaded: page::Loaded,
    #[pyo3(get)]
    issue_ns: Py<PyArray1<i64>>,
    #[pyo3(get)]
    first_ns: Py<PyArray1<i64>>,
    #[pyo3(get)]
    end_ns: Py<PyArray1<i64>>,
}

impl Loaded {
    fn of(py: Python<'_>, loaded: page::Loaded) -> Self {
        let array = |times: &[i64]| PyArray1::from_slice(py, times).unbind();
        let (issue_ns, first_ns, end_ns) =
            (array(&loaded.issue_ns), array(&loaded.first_ns), array(&loaded.end_ns));
        Self { loaded, issue_ns, first_ns, end_ns }
    }
}

#[pymethods]
impl Loaded {
    #[new]
    fn new(
        issue_ns: &Bound<'_, PyArray1<i64>>,
        first_ns: &Bound<'_, PyArray1<i64>>,
        end_ns: &Bound<'_, PyArray1<i64>>,
        runs: usize,
    ) -> PyResult<Self> {
        let [issue, first, end] = [issue_ns, first_ns, end_ns].map(PyArrayMethods::to_vec);
        let loaded = page::Loaded { issue_ns: issue?, first_ns: first?, end_ns: end?, runs };
        Ok(Self::of(issue_ns.py(), loaded))
    }

    #[getter]
    const fn runs(&self) -> usize {
        self.loaded.runs
    }

    fn behind(&self, py: Python<'_>, number: usize, begin_ns: i64) -> Self {
        Self::of(py, self.loaded.behind(number, begin_ns))
    }

    fn think_ms(&self, graph: Vec<PyRef<'_, Dependency>>, place: usize) -> f64 {
        let graph: Vec<_> = graph.iter().map(|each| each.0.clone()).collect();
        self.loaded.think_ms(&graph, place)
    }
}

/// The dependency of each request of a page.
#[pyfunction]
#[pyo3(signature = (recording, rule="likely"))]
pub(crate) fn graph_of(recording: &Recording, rule: &str) -> PyResult<Vec<Dependency>> {
    let rule = Rule::ALL.into_iter().find(|each| each.word() == rule);
    let rule = rule.ok_or_else(|| PyValueError::new_err("no such rule"))?;
    Ok(page::graph_of(&recording.recording, rule).into_iter().map(Dependency).collect())
}

/// The requests of a page as a run has them. `sources` are nodes by the host that they serve.
#[pyfunction]
#[pyo3(signature = (recording, graph, *, is_multiplexed, server=1.0, sources=None))]
pub(crate) fn asked_of(
    recording: &Recording,
    graph: Vec<PyRef<'_, Dependency>>,
    is_multiplexed: bool,
    server: f64,
    sources: Option<&Bound<'_, PyDict>>,
) -> PyResult<Vec<Asked>> {
    let graph: Vec<_> = graph.iter().map(|each| each.0.clone()).collect();
    let mut page = page::asked_of(&recording.recording, &graph, is_multiplexed);
    for (asked, sent) in page.iter_mut().zip(&recording.recording.sent) {
        asked.server_s *= server;
        if let Some(source) = sources.map(|sources| sources.get_item(&sent.host)).transpose()?.flatten() {
            asked.source = source.extract()?;
        }
    }
    Ok(page.into_iter().map(Asked).collect())
}

/// A later visit to a page, and the number of requests in front of it.
#[pyfunction]
pub(crate) fn later_visit(page: Vec<PyRef<'_, Asked>>, pause_ms: f64) -> (Vec<Asked>, usize) {
    let page: Vec<_> = page.iter().map(|each| each.0.clone()).collect();
    let (all, number) = page::later_visit(&page, pause_ms);
    (all.into_iter().map(Asked).collect(), number)
}

type Load<'a> = (&'a farweb::scenario::Scenario, &'a [page::Asked], u64);

/// Loads several pages, as many at once as there are cores.
#[pyfunction]
pub(crate) fn settle_each(
    py: Python<'_>,
    loads: Vec<(PyRef<'_, Scenario>, Vec<PyRef<'_, Asked>>, u64)>,
) -> PyResult<Vec<Loaded>> {
    let pages: Vec<Vec<_>> =
        loads.iter().map(|(_, page, _)| page.iter().map(|each| each.0.clone()).collect()).collect();
    let loads: Vec<Load<'_>> = loads
        .iter()
        .zip(&pages)
        .map(|((scenario, _, seed), page)| (scenario.checked(), &page[..], *seed))
        .collect();
    let settled = py.detach(|| settled(&loads));
    let loaded = settled.into_iter().collect::<Result<Vec<_>, _>>().map_err(|error| match error {
        SettleError::Workload(error) => workload_error(error),
        error => RunError::new_err(error.to_string()),
    })?;
    Ok(loaded.into_iter().map(|loaded| Loaded::of(py, loaded)).collect())
}

/// Each load, in their order.
fn settled(loads: &[Load<'_>]) -> Vec<Result<page::Loaded, SettleError>> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let place = next.fetch_add(1, Ordering::Relaxed)
            && let Some((scenario, page, seed)) = loads.get(place)
        {
            done.push((place, page::settle(scenario, page, *seed)));
        }
        done
    };
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get).min(loads.len());
    let mut all: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let done =
            |thread: ScopedJoinHandle<'_, Vec<_>>| thread.join().unwrap_or_else(|panic| resume_unwind(panic));
        threads.into_iter().flat_map(done).collect()
    });
    all.sort_by_key(|(place, _)| *place);
    all.into_iter().map(|(_, loaded)| loaded).collect()
}
