//! Columns between Rust and NumPy.
//!
//! A column is an array, or for words a pair: codes (int32, -1 is null) and the words they stand for. Lists of ranges are
//! three arrays: where each list begins and the last one ends (int32), first numbers, and numbers after the last.

use farweb::export::{Frames, Packets};
use farweb::record::{Column, Dictionary, Ranges};
use farweb::workload::{Batch, HostColumns, Words};
use numpy::{Element, IntoPyArray, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{FarwebError, WorkloadError};

/// A column of results for Python.
pub(crate) fn to_python<'py>(
    py: Python<'py>,
    column: Column,
    words: impl FnOnce(Dictionary) -> Vec<String>,
) -> PyResult<Bound<'py, PyAny>> {
    Ok(match column {
        Column::Int(values) => values.into_pyarray(py).into_any(),
        Column::Id(values) => values.into_pyarray(py).into_any(),
        Column::Float(values) => values.into_pyarray(py).into_any(),
        Column::Bool(values) => values.into_pyarray(py).into_any(),
        Column::Word(codes, dictionary) => words_to_python(py, codes, words(dictionary))?,
        Column::Ranges(lists) => ranges_to_python(py, &lists)?,
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

fn ranges_to_python<'py>(py: Python<'py>, lists: &[Ranges]) -> PyResult<Bound<'py, PyAny>> {
    let (mut offsets, mut starts, mut ends) = (vec![0_i32], Vec::new(), Vec::new());
    for list in lists {
        starts.extend(list.as_slice().iter().map(|(start, _)| *start));
        ends.extend(list.as_slice().iter().map(|(_, end)| *end));
        offsets.push(i32::try_from(starts.len()).expect("a batch has fewer than 2^31 ranges"));
    }
    let arrays = (offsets.into_pyarray(py), starts.into_pyarray(py), ends.into_pyarray(py));
    Ok(arrays.into_pyobject(py)?.into_any())
}

/// Rows of the packet table.
pub(crate) fn packets(columns: &Bound<'_, PyDict>) -> PyResult<Packets> {
    Ok(Packets {
        time_ns: required(columns, "time_ns", array)?,
        connection: required(columns, "connection", array)?,
        leg: required(columns, "leg", array)?,
        host: required(columns, "host", words)?,
        node: required(columns, "node", words)?,
        link: required(columns, "link", array)?,
        event: required(columns, "event", words)?,
        direction: required(columns, "direction", words)?,
        packet: required(columns, "packet", array)?,
        seq: required(columns, "seq", array)?,
        ack: required(columns, "ack", array)?,
        payload_bytes: required(columns, "payload_bytes", array)?,
        window_bytes: required(columns, "window_bytes", array)?,
        window_field: required(columns, "window_field", array)?,
        flags: required(columns, "flags", words)?,
        ecn: optional(columns, "ecn", words)?,
        retransmission: required(columns, "retransmission", array)?,
        mss_bytes: required(columns, "mss_bytes", array)?,
        window_scale: required(columns, "window_scale", array)?,
        sack_permitted: required(columns, "sack_permitted", array)?,
        sack: required(columns, "sack", ranges)?,
        timestamp: required(columns, "timestamp", array)?,
        timestamp_echo: required(columns, "timestamp_echo", array)?,
        credit_limit: required(columns, "credit_limit", array)?,
    })
}

/// Rows of the frame table.
pub(crate) fn frames(columns: &Bound<'_, PyDict>) -> PyResult<Frames> {
    Ok(Frames {
        connection: required(columns, "connection", array)?,
        direction: required(columns, "direction", words)?,
        seq: required(columns, "seq", array)?,
        protocol: required(columns, "protocol", words)?,
        kind: required(columns, "kind", words)?,
        stream: required(columns, "stream", array)?,
        framing_bytes: required(columns, "framing_bytes", array)?,
        data_bytes: required(columns, "data_bytes", array)?,
        ends: required(columns, "ends", array)?,
        credit_bytes: required(columns, "credit_bytes", array)?,
        frame_bytes_max: required(columns, "frame_bytes_max", array)?,
        streams_max: required(columns, "streams_max", array)?,
    })
}

/// A batch of a request table.
pub(crate) fn batch(columns: &Bound<'_, PyDict>) -> PyResult<Batch> {
    Ok(Batch {
        start_s: required(columns, "start_s", array)?,
        host: required(columns, "host", words)?,
        request_bytes: required(columns, "request_bytes", array)?,
        response_bytes: required(columns, "response_bytes", array)?,
        server_s: optional(columns, "server_s", array)?,
        wait_s: optional(columns, "wait_s", array)?,
        object: optional(columns, "object", array)?,
        source: optional(columns, "source", words)?,
        tag: optional(columns, "tag", words)?,
        day: optional(columns, "day", array)?,
        client: optional(columns, "client", array)?,
        method: optional(columns, "method", words)?,
        caching: optional(columns, "caching", words)?,
        tls: optional(columns, "tls", array)?,
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

/// Rows of a request table for Python.
pub(crate) fn batch_to_python(py: Python<'_>, batch: Batch) -> PyResult<Bound<'_, PyDict>> {
    let columns = PyDict::new(py);
    columns.set_item("start_s", batch.start_s.into_pyarray(py))?;
    columns.set_item("host", words_to_python(py, batch.host.codes, batch.host.words)?)?;
    columns.set_item("request_bytes", batch.request_bytes.into_pyarray(py))?;
    columns.set_item("response_bytes", batch.response_bytes.into_pyarray(py))?;
    columns.set_item("server_s", batch.server_s.map(|values| values.into_pyarray(py)))?;
    columns.set_item("wait_s", batch.wait_s.map(|values| values.into_pyarray(py)))?;
    columns.set_item("object", batch.object.map(|values| values.into_pyarray(py)))?;
    let all =
        [("source", batch.source), ("tag", batch.tag), ("method", batch.method), ("caching", batch.caching)];
    for (name, words) in all {
        let words = words.map(|words| words_to_python(py, words.codes, words.words)).transpose()?;
        columns.set_item(name, words)?;
    }
    columns.set_item("day", batch.day.map(|values| values.into_pyarray(py)))?;
    columns.set_item("client", batch.client.map(|values| values.into_pyarray(py)))?;
    columns.set_item("tls", batch.tls.map(|values| values.into_pyarray(py)))?;
    Ok(columns)
}

/// A host table for Python. Names are left out.
pub(crate) fn hosts_to_python(py: Python<'_>, hosts: HostColumns) -> PyResult<Bound<'_, PyDict>> {
    let columns = PyDict::new(py);
    columns.set_item("host", words_to_python(py, hosts.host.codes, hosts.host.words)?)?;
    columns.set_item("window_bytes", hosts.window_bytes.map(|values| values.into_pyarray(py)))?;
    columns.set_item("mss_bytes", hosts.mss_bytes.map(|values| values.into_pyarray(py)))?;
    Ok(columns)
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

fn ranges(column: &Bound<'_, PyAny>) -> PyResult<Vec<Ranges>> {
    let (offsets, starts, ends): (Bound<'_, PyAny>, Bound<'_, PyAny>, Bound<'_, PyAny>) = column.extract()?;
    let (offsets, starts, ends) = (array::<i32>(&offsets)?, array::<i64>(&starts)?, array::<i64>(&ends)?);
    let list = |bounds: &[i32]| {
        let (from, to) = (usize::try_from(bounds[0]).ok()?, usize::try_from(bounds[1]).ok()?);
        let (starts, ends) = (starts.get(from..to)?, ends.get(from..to)?);
        let pairs = starts.iter().copied().zip(ends.iter().copied());
        (starts.len() <= Ranges::CAPACITY).then(|| pairs.collect())
    };
    let lists: Option<Vec<Ranges>> = offsets.windows(2).map(list).collect();
    lists.ok_or_else(|| FarwebError::new_err("a list of ranges has more than 4, or ends before it begins"))
}

fn words(column: &Bound<'_, PyAny>) -> PyResult<Words> {
    let (codes, words): (Bound<'_, PyAny>, Vec<String>) = column.extract()?;
    Ok(Words { codes: array(&codes)?, words })
}
