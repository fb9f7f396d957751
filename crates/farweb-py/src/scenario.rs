//! Scenarios: text in, checked values out.

use farweb::explain::report;
use farweb::net::Direction;
use farweb::scenario::draft::{Draft, Proxy};
use farweb::scenario::{Carrier, Input, InputKind, LinkFiles, ScenarioError as CoreError, Source};
use farweb::sweep::{Design, Planned};
use farweb::units::{Duration, Instant};
use farweb::workload::{Directory, Prepared};
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{ScenarioError, scenario_error, workload_error};
use crate::tables::HostTable;

/// A checked scenario, and the one to simulate once the files of its links are read.
#[pyclass(frozen, module = "farweb._core")]
pub(crate) struct Scenario {
    planned: Planned,
    files: LinkFiles,
    complete: Option<farweb::scenario::Scenario>,
}

/// A file that a link names.
#[pyclass(frozen, module = "farweb._core")]
pub(crate) struct LinkFile(farweb::scenario::LinkFile);

#[pymethods]
impl LinkFile {
    #[staticmethod]
    fn of_any(name: String, content: &[u8]) -> PyResult<Self> {
        farweb::scenario::LinkFile::of_any(name, content.to_vec()).map(Self).map_err(workload_error)
    }

    #[getter]
    fn kind(&self) -> &'static str {
        self.0.kind().word()
    }

    #[getter]
    fn length_s(&self) -> f64 {
        self.0.length().as_secs_f64()
    }

    fn rates<'py>(&self, py: Python<'py>, every_ms: u64) -> Option<Bound<'py, PyArray1<f64>>> {
        self.0.rates(Duration::from_millis(every_ms)).map(|rates| rates.into_pyarray(py))
    }

    fn gaps<'py>(&self, py: Python<'py>) -> (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>) {
        let gaps = self.0.gaps();
        let begins: Vec<f64> = gaps.iter().map(|(at, _)| (*at - Instant::ZERO).as_secs_f64()).collect();
        let lengths: Vec<f64> = gaps.iter().map(|(_, lasts)| lasts.as_secs_f64()).collect();
        (begins.into_pyarray(py), lengths.into_pyarray(py))
    }

    fn extremes(&self) -> (Option<(f64, f64)>, Option<f64>) {
        let (delays, loss) = self.0.extremes();
        (delays.map(|[least, most]| (least.as_secs_f64(), most.as_secs_f64())), loss)
    }

    #[new]
    fn new(py: Python<'_>, kind: &str, name: String, content: &[u8]) -> PyResult<Self> {
        let kind = kind_of(kind);
        py.detach(|| farweb::scenario::LinkFile::of_bytes(kind, name, content.to_vec()))
            .map(Self)
            .map_err(workload_error)
    }

    #[getter]
    fn rows(&self) -> u64 {
        self.0.rows()
    }
}

fn kind_of(word: &str) -> InputKind {
    InputKind::ALL.into_iter().find(|kind| kind.word() == word).expect("a kind of input")
}

impl Scenario {
    pub(crate) fn checked(&self) -> &farweb::scenario::Scenario {
        self.complete.as_ref().unwrap_or(self.planned.scenario())
    }

    /// `planned` with the files that this one has, if it has any.
    fn again(&self, planned: Result<Planned, CoreError>) -> PyResult<Self> {
        let again = checked(planned)?;
        if self.complete.is_some() { again.completed(self.files.clone()) } else { Ok(again) }
    }

    fn completed(self, files: LinkFiles) -> PyResult<Self> {
        let complete = self.planned.source().complete(&files).map_err(scenario_error)?;
        Ok(Self { complete: Some(complete), files, ..self })
    }

    fn design_with(&self, point: usize) -> PyResult<&Design> {
        match self.planned.design() {
            None => Err(PyIndexError::new_err("the scenario has no sweep, and no points")),
            Some(design) if point < design.points.len() => Ok(design),
            Some(design) => {
                let points = design.points.len();
                Err(PyIndexError::new_err(format!(
                    "there is no point {point}; the sweep has {points}, from 0"
                )))
            }
        }
    }
}

#[pymethods]
impl Scenario {
    #[staticmethod]
    fn parse(text: &str, file: &str, overrides: &Bound<'_, PyDict>) -> PyResult<Self> {
        checked(Planned::parse(text, file, &settings(overrides)?))
    }

    #[staticmethod]
    fn of_effective(effective: &str, file: &str) -> PyResult<Self> {
        let tree = serde_json::from_str(effective)
            .map_err(|error| ScenarioError::new_err(format!("{file}: not JSON: {error}")))?;
        checked(Source::of_effective(tree, file).and_then(Planned::of))
    }

    /// Names of the factors of its sweep.
    #[getter]
    fn factors(&self) -> Vec<String> {
        let factors = self.checked().sweep.iter().flat_map(|sweep| &sweep.factors.0);
        factors.map(|factor| factor.name.clone()).collect()
    }

    fn problem(&self, key: &str, message: &str) -> String {
        self.planned.source().problem(key, message).to_string()
    }

    fn with_(&self, overrides: &Bound<'_, PyDict>) -> PyResult<Self> {
        self.again(self.planned.with(&settings(overrides)?))
    }

    fn without_sweep(&self) -> PyResult<Self> {
        self.again(Ok(self.planned.without_sweep()))
    }

    fn complete(&self, seed: u64, files: Vec<(String, String, PyRef<'_, LinkFile>)>) -> PyResult<Self> {
        let mut read = LinkFiles::new(seed);
        for (kind, file, content) in files {
            read.add(kind_of(&kind), file, content.0.clone());
        }
        checked(Ok(self.planned.clone()))?.completed(read)
    }

    fn design(&self) -> Option<String> {
        let text = |design| serde_json::to_string(design).expect("a design is plain data");
        self.planned.design().map(text)
    }

    fn point(&self, number: usize) -> PyResult<Self> {
        self.design_with(number)?;
        self.again(self.planned.point(number))
    }

    fn seed(&self, point: usize, replication: u32) -> PyResult<u64> {
        self.design_with(point).map(|design| design.seed(point, replication))
    }

    fn inputs(&self, seed: u64) -> Vec<(String, String, &'static str, String, bool)> {
        let inputs = self.planned.scenario().inputs(seed).into_iter();
        let entry =
            |input: Input| (input.name, input.key, input.kind.word(), input.file, input.link.is_some());
        inputs.map(entry).collect()
    }

    #[getter]
    fn warmup_ns(&self) -> u64 {
        self.checked().run.warmup.as_nanos()
    }

    fn effective(&self) -> String {
        self.planned.scenario().effective().to_string()
    }

    fn mean_rates<'py>(
        &self,
        py: Python<'py>,
        link: usize,
        is_down: bool,
        every_s: u64,
        count: usize,
    ) -> Option<Bound<'py, PyArray1<f64>>> {
        let way = if is_down { Direction::Down } else { Direction::Up };
        let rates = self.checked().path.link[link].mean_rates(way, Duration::from_secs(every_s), count);
        rates.map(|rates| rates.into_pyarray(py))
    }

    fn check(&self, hosts: Option<&HostTable>) -> String {
        let run = &self.checked().run;
        let generated = hosts.is_none().then(|| self.checked().workload.generated(run.seed)).flatten();
        let of_family = generated.as_ref().and_then(Prepared::hosts);
        let directory: Option<&Directory> = hosts.map(|hosts| &hosts.0).or(of_family);
        serde_json::to_string(&report(self.checked(), self.planned.design(), directory))
            .expect("a report is plain data")
    }
}

/// Keys and values in the order of application.
fn settings(overrides: &Bound<'_, PyDict>) -> PyResult<Vec<(String, String)>> {
    overrides.iter().map(|(key, value)| Ok((key.extract()?, value.extract()?))).collect()
}

fn checked(planned: Result<Planned, CoreError>) -> PyResult<Scenario> {
    let planned = planned.map_err(scenario_error)?;
    Ok(Scenario { planned, files: LinkFiles::default(), complete: None })
}

/// Use of connections by a carrier. Both are JSON text, the carrier as an effective scenario has it.
#[pyfunction]
pub(crate) fn connection_use(carrier: &str) -> PyResult<String> {
    let carrier: Carrier = serde_json::from_str(carrier)
        .map_err(|error| ScenarioError::new_err(format!("carrier {carrier}: {error}")))?;
    Ok(serde_json::to_string(&carrier.connection_use()).expect("it is plain data"))
}

/// Kinds of paths, which are the presets of links, as JSON text.
#[pyfunction]
pub(crate) fn link_presets() -> String {
    serde_json::to_string(&farweb::scenario::presets()).expect("they are plain data")
}

/// A scenario to start from. `choices` are a `Draft` as JSON text.
#[pyfunction]
pub(crate) fn draft(choices: &str) -> PyResult<String> {
    let draft: Draft = serde_json::from_str(choices)
        .map_err(|error| ScenarioError::new_err(format!("choices {choices}: {error}")))?;
    draft.to_toml().map_err(ScenarioError::new_err)
}

/// Names of proxies on a path.
pub(crate) fn proxies() -> [&'static str; 4] {
    Proxy::ALL.map(Proxy::word)
}

/// The sentence for a name of the field that farweb does not have. None of others.
#[pyfunction]
pub(crate) fn absent(word: &str) -> Option<String> {
    farweb::scenario::absent(word)
}

/// JSON Schema of a scenario.
#[pyfunction]
pub(crate) fn scenario_schema() -> String {
    farweb::scenario::schema().to_string()
}
