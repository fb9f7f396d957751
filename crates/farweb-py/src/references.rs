//! Requests counted by document and stack distance.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

/// How documents are asked for.
#[pyclass(module = "farweb._core")]
#[derive(Default)]
pub(crate) struct References(farweb::workload::References);

#[pymethods]
impl References {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    fn add(
        &mut self,
        py: Python<'_>,
        objects: PyReadonlyArray1<'_, u64>,
        sizes: PyReadonlyArray1<'_, i64>,
    ) -> PyResult<()> {
        let (objects, sizes) = (objects.as_slice()?, sizes.as_slice()?);
        py.detach(|| {
            for (object, size) in objects.iter().zip(sizes) {
                self.0.add(*object, size.unsigned_abs());
            }
        });
        Ok(())
    }

    fn counts<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u64>> {
        self.0.counts().to_vec().into_pyarray(py)
    }

    fn sizes<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u64>> {
        self.0.bytes().to_vec().into_pyarray(py)
    }

    fn distances<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u64>> {
        self.0.distances().to_vec().into_pyarray(py)
    }

    #[getter]
    fn resized(&self) -> u64 {
        self.0.resized()
    }
}
