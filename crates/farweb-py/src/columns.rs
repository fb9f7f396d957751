//! Columns between Rust and NumPy.
//!
//! A column is an array, or for words a pair: codes (int32, -1 is null) and the words they stand for.

use farweb::record::{Column, Dictionary};
use farweb::workload::{Batch, HostColumns, Words};
use numpy::{Element, IntoPyArray, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::WorkloadError;

/// A column of results for Python.
pub(crate) fn to_python<'py>(
    py: Python<'py>,
    column: Column,
    words: impl FnOnce(Dictionary) -> Vec<String>,
) -> PyResult<Bound<'py, PyAny>> {
    Ok(match column {
        Column::Int(values) => values.into_pyarray(py).into_any(),
        Column::Float(values) => values.into_pyarray(py).into_any(),
        Column::Bool(values) => values.into_pyarray(py).into_any(),
        Column::Word(codes, dictionary) => words_to_python(py, codes, words(dictionary))?,
    })
}

/// A column of words for Python.
pub(crate) fn words_to_python(
    py: Python<'_>,
    codes: Vec<i32>,
    words: Vec<String>,
) -> PyResult<Bound<'_, PyAny>> {
    Ok((codes.into_pyarray(py), words).into_pyobject(py)?.into_any())
}

/// A batch of a request table.
pub(crate) fn batch(columns: &Bound<'_, PyDict>) -> PyResult<Batch> {
    Ok(Batch {
        start_s: required(columns, "start_s", array)?,
        host: required(columns, "host", words)?,
        request_bytes: required(columns, "request_bytes", array)?,
        response_bytes: required(columns, "response_bytes", array)?,
        server_s: optional(columns, "server_s", array)?,
        source: optional(columns, "source", words)?,
        tag: optional(columns, "tag", words)?,
    })
}

/// A host table.
pub(crate) fn hosts(columns: &Bound<'_, PyDict>) -> PyResult<HostColumns> {
    Ok(HostColumns {
        host: required(columns, "host", words)?,
        name: optional(columns, "name", words)?,
        window_bytes: optional(columns, "window_bytes", array)?,
        mss_bytes: optional(columns, "mss_bytes", array)?,
    })
}

type Read<T> = fn(&Bound<'_, PyAny>) -> PyResult<T>;

fn required<T>(columns: &Bound<'_, PyDict>, name: &str, read: Read<T>) -> PyResult<T> {
    optional(columns, name, read)?.ok_or_else(|| WorkloadError::new_err(format!("there is no column {name}")))
}

fn optional<T>(columns: &Bound<'_, PyDict>, name: &str, read: Read<T>) -> PyResult<Option<T>> {
    columns.get_item(name)?.as_ref().map(read).transpose()
}

fn array<T: Element + Copy>(column: &Bound<'_, PyAny>) -> PyResult<Vec<T>> {
    Ok(column.extract::<PyReadonlyArray1<'_, T>>()?.as_array().to_vec())
}

fn words(column: &Bound<'_, PyAny>) -> PyResult<Words> {
    let (codes, words): (Bound<'_, PyAny>, Vec<String>) = column.extract()?;
    Ok(Words { codes: array(&codes)?, words })
}
