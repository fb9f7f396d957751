//! Captures and plots of recorded packets: columns in, bytes out, without holding the GIL.

use farweb::export::{self, ExportError, Payload, Point, Route};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::columns;
use crate::errors::FarwebError;

/// Writes a capture in the format pcapng.
#[pyclass(module = "farweb._core")]
pub(crate) struct PcapngEncoder(export::Pcapng);

#[pymethods]
impl PcapngEncoder {
    #[new]
    fn new(
        nodes: Vec<String>,
        legs: Vec<(usize, usize)>,
        points: Vec<(String, usize)>,
        payload: bool,
    ) -> PyResult<Self> {
        let points = points.iter().map(|(kind, number)| point(kind, *number)).collect::<PyResult<_>>()?;
        let payload = if payload { Payload::Whole } else { Payload::None };
        Ok(Self(export::Pcapng::new(Route::new(nodes, legs).map_err(wrong)?, points, payload)))
    }

    fn start<'py>(&self, py: Python<'py>, comment: &str) -> Bound<'py, PyBytes> {
        let mut out = Vec::new();
        self.0.start(comment, &mut out);
        PyBytes::new(py, &out)
    }

    fn add_frames(&mut self, py: Python<'_>, rows: &Bound<'_, PyDict>) -> PyResult<()> {
        let rows = columns::frames(rows)?;
        py.detach(|| self.0.add_frames(&rows)).map_err(wrong)
    }

    fn add<'py>(&mut self, py: Python<'py>, rows: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyBytes>> {
        let (rows, mut out) = (columns::packets(rows)?, Vec::new());
        py.detach(|| self.0.add(&rows, &mut out)).map_err(wrong)?;
        Ok(PyBytes::new(py, &out))
    }

    #[getter]
    fn packets(&self) -> u64 {
        self.0.packets()
    }
}

/// Writes a time–sequence plot of one connection for xplot.
#[pyclass(module = "farweb._core")]
pub(crate) struct XplotEncoder(export::Xplot);

#[pymethods]
impl XplotEncoder {
    #[new]
    fn new(
        nodes: Vec<String>,
        legs: Vec<(usize, usize)>,
        point: (String, usize),
        connection: u64,
        up: bool,
    ) -> PyResult<Self> {
        let point = self::point(&point.0, point.1)?;
        Ok(Self(export::Xplot::new(Route::new(nodes, legs).map_err(wrong)?, point, connection, up)))
    }

    fn start<'py>(&self, py: Python<'py>, leg: usize) -> PyResult<Bound<'py, PyBytes>> {
        let mut out = String::new();
        self.0.start(leg, &mut out).map_err(wrong)?;
        Ok(PyBytes::new(py, out.as_bytes()))
    }

    fn add<'py>(&mut self, py: Python<'py>, rows: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyBytes>> {
        let (rows, mut out) = (columns::packets(rows)?, String::new());
        py.detach(|| self.0.add(&rows, &mut out)).map_err(wrong)?;
        Ok(PyBytes::new(py, out.as_bytes()))
    }

    fn finish<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let mut out = String::new();
        self.0.finish(&mut out);
        PyBytes::new(py, out.as_bytes())
    }

    #[getter]
    fn packets(&self) -> u64 {
        self.0.packets()
    }
}

fn point(kind: &str, number: usize) -> PyResult<Point> {
    match kind {
        "end" => Ok(Point::End(number)),
        "link" => Ok(Point::Link(number)),
        _ => Err(FarwebError::new_err(format!("a point is an end or a link, not {kind}"))),
    }
}

fn wrong(error: ExportError) -> PyErr {
    FarwebError::new_err(error.to_string())
}
