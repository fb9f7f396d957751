//! Caches without packets: requests as columns in, the outcome of each out. The GIL is released meanwhile: a thread may
//! do so for each of several caches.

use std::borrow::Cow;
use std::path::Path;

use farweb::cache::{self, Lookup};
use farweb::rng::RandomStreams;
use farweb::units::Instant;
use farweb::workload::{Caching, ObjectId, TraceBatch};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{FarwebError, WorkloadError, workload_error};

/// Outcome of a request's look-up, as a number of an array.
const fn code(lookup: Lookup) -> u8 {
    match lookup {
        Lookup::Miss => 0,
        Lookup::Hit => 1,
        Lookup::Stale => 2,
        Lookup::Bypass => 3,
    }
}

/// Objects, sizes and treatments of requests, columns of the same length.
struct Requests<'a> {
    object: &'a [u64],
    bytes: &'a [i64],
    caching: &'a [u8],
}

impl<'a> Requests<'a> {
    fn of(
        object: &'a PyReadonlyArray1<'_, u64>,
        bytes: &'a PyReadonlyArray1<'_, i64>,
        caching: &'a [u8],
    ) -> PyResult<Self> {
        let (object, bytes) = (object.as_slice()?, bytes.as_slice()?);
        if object.len() != bytes.len() || object.len() != caching.len() {
            return Err(FarwebError::new_err("object, bytes and caching are columns of different lengths"));
        }
        if let Some(code) = caching.iter().find(|code| usize::from(**code) >= Caching::WORDS.len()) {
            return Err(FarwebError::new_err(format!("{code} stands for no treatment by caches")));
        }
        if object.contains(&ObjectId::NONE) {
            return Err(WorkloadError::new_err("a request names no object"));
        }
        if let Some(bytes) = bytes.iter().find(|bytes| **bytes < 0) {
            return Err(WorkloadError::new_err(format!("a request has {bytes} bytes")));
        }
        Ok(Self { object, bytes, caching })
    }

    fn iter(&self) -> impl Iterator<Item = (ObjectId, u64, Caching)> {
        let sizes = self.bytes.iter().zip(self.caching);
        self.object.iter().zip(sizes).map(|(id, (bytes, caching))| {
            let object = ObjectId::new(*id).expect("checked above");
            (object, *bytes as u64, Caching::WORDS[usize::from(*caching)].1)
        })
    }
}

/// A cache that requests go through.
#[pyclass(module = "farweb._core")]
pub(crate) struct Cache(cache::Cache);

#[pymethods]
impl Cache {
    #[new]
    fn new(config: &str, seed: u64) -> PyResult<Self> {
        let config = serde_json::from_str(config)
            .map_err(|error| FarwebError::new_err(format!("this is no cache: {error}")))?;
        Ok(Self(cache::Cache::new(&config, |purpose| RandomStreams::new(seed).stream(purpose, 0))))
    }

    #[pyo3(signature = (object, bytes, time_ns, next = None, *, caching = None))]
    fn replay<'py>(
        &mut self,
        py: Python<'py>,
        object: &Bound<'py, PyAny>,
        bytes: &Bound<'py, PyAny>,
        time_ns: &Bound<'py, PyAny>,
        next: Option<&Bound<'py, PyAny>>,
        caching: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<u8>>> {
        let (object, bytes): (PyReadonlyArray1<'py, u64>, PyReadonlyArray1<'py, i64>) =
            (object.extract()?, bytes.extract()?);
        let caching: Option<PyReadonlyArray1<'py, u8>> = caching.map(|codes| codes.extract()).transpose()?;
        let caching = match &caching {
            Some(codes) => Cow::Borrowed(codes.as_slice()?),
            None => Cow::Owned(vec![Caching::Store as u8; object.len()?]),
        };
        let requests = Requests::of(&object, &bytes, &caching)?;
        let time_ns: PyReadonlyArray1<'py, u64> = time_ns.extract()?;
        let next: Option<PyReadonlyArray1<'py, u64>> = next.map(|next| next.extract()).transpose()?;
        let times = time_ns.as_slice()?;
        let next = next.as_ref().map(|next| next.as_slice()).transpose()?;
        if times.len() != requests.object.len() || next.is_some_and(|next| next.len() != times.len()) {
            return Err(FarwebError::new_err("the columns of requests have different lengths"));
        }
        let cache = &mut self.0;
        let met = py.detach(|| {
            let request = |(number, ((object, bytes, caching), time)): (usize, (_, &u64))| {
                if let Some(next) = next {
                    cache.foresee(Some(next[number]).filter(|next| *next != u64::MAX));
                }
                code(cache.request(object, bytes, caching, Instant::from_nanos(*time)))
            };
            requests.iter().zip(times).enumerate().map(request).collect::<Vec<u8>>()
        });
        Ok(met.into_pyarray(py))
    }

    #[getter]
    fn bytes(&self) -> u64 {
        self.0.bytes()
    }

    #[getter]
    fn objects(&self) -> u64 {
        self.0.objects()
    }
}

/// Stack distances of requests in bytes.
#[pyclass(module = "farweb._core")]
pub(crate) struct StackDistances(cache::StackDistances);

#[pymethods]
impl StackDistances {
    #[new]
    fn new() -> Self {
        Self(cache::StackDistances::new())
    }

    fn replay<'py>(
        &mut self,
        py: Python<'py>,
        object: &Bound<'py, PyAny>,
        bytes: &Bound<'py, PyAny>,
        caching: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let (object, bytes) = (object.extract()?, bytes.extract()?);
        let caching: PyReadonlyArray1<'_, u8> = caching.extract()?;
        let requests = Requests::of(&object, &bytes, caching.as_slice()?)?;
        let stack = &mut self.0;
        let distances = py.detach(|| {
            let distance = |(object, bytes, caching)| match caching {
                Caching::Bypass => u64::MAX,
                _ => stack.request(object, bytes).unwrap_or(u64::MAX),
            };
            requests.iter().map(distance).collect::<Vec<u64>>()
        });
        Ok(distances.into_pyarray(py))
    }
}

/// Sums over the requests of a trace.
#[pyclass(module = "farweb._core")]
pub(crate) struct Survey(cache::Survey);

#[pymethods]
impl Survey {
    #[new]
    fn new() -> Self {
        Self(cache::Survey::default())
    }

    fn add(
        &mut self,
        py: Python<'_>,
        object: &Bound<'_, PyAny>,
        bytes: &Bound<'_, PyAny>,
        caching: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let (object, bytes) = (object.extract()?, bytes.extract()?);
        let caching: PyReadonlyArray1<'_, u8> = caching.extract()?;
        let requests = Requests::of(&object, &bytes, caching.as_slice()?)?;
        let survey = &mut self.0;
        py.detach(|| {
            for (object, bytes, caching) in requests.iter() {
                survey.request(object, bytes, caching);
            }
        });
        Ok(())
    }

    #[getter]
    fn requests(&self) -> u64 {
        self.0.requests
    }

    #[getter]
    fn bytes(&self) -> u64 {
        self.0.bytes
    }

    #[getter]
    fn objects(&self) -> u64 {
        self.0.objects()
    }

    #[getter]
    fn storable_objects(&self) -> u64 {
        self.0.storable_objects
    }

    #[getter]
    fn of_several_sizes(&self) -> u64 {
        self.0.of_several_sizes
    }

    #[getter]
    fn objects_of_several_sizes(&self) -> u64 {
        self.0.objects_of_several_sizes
    }

    #[getter]
    fn served_only(&self) -> u64 {
        self.0.served_only
    }

    #[getter]
    fn bypassing(&self) -> u64 {
        self.0.bypassing
    }

    #[getter]
    fn invalidating(&self) -> u64 {
        self.0.invalidating
    }

    #[getter]
    fn footprint(&self) -> u64 {
        self.0.footprint
    }

    #[getter]
    fn largest(&self) -> u64 {
        self.0.largest
    }

    #[getter]
    fn resized(&self) -> u64 {
        self.0.resized
    }
}

/// Requests of a trace of time, object and size, streamed in constant memory.
#[pyclass(module = "farweb._core")]
pub(crate) struct TraceReader(farweb::workload::TraceReader);

#[pymethods]
impl TraceReader {
    #[new]
    #[pyo3(signature = (path, *, max_unreadable = 0.01))]
    fn new(path: &str, max_unreadable: f64) -> PyResult<Self> {
        farweb::workload::TraceReader::open(Path::new(path), max_unreadable).map(Self).map_err(workload_error)
    }

    fn batch<'py>(&mut self, py: Python<'py>, rows: usize) -> PyResult<Option<Bound<'py, PyDict>>> {
        let TraceBatch { time, object, bytes } = py.detach(|| self.0.batch(rows)).map_err(workload_error)?;
        if object.is_empty() {
            return Ok(None);
        }
        let columns = PyDict::new(py);
        let time_ns: Vec<u64> = time.into_iter().map(Instant::as_nanos).collect();
        let object: Vec<u64> = object.into_iter().map(ObjectId::get).collect();
        let bytes: Vec<i64> = bytes.into_iter().map(|bytes| bytes as i64).collect();
        columns.set_item("time_ns", time_ns.into_pyarray(py))?;
        columns.set_item("object", object.into_pyarray(py))?;
        columns.set_item("bytes", bytes.into_pyarray(py))?;
        Ok(Some(columns))
    }

    fn unreadable(&self) -> String {
        serde_json::to_string(self.0.unreadable()).expect("lines are plain data")
    }
}
