//! Numbers with units, for people. None is a dash.

use farweb::units::{differences, words};
use pyo3::prelude::*;

const NONE: &str = "–";

fn or_none(value: Option<f64>, write: impl FnOnce(f64) -> String) -> String {
    value.map_or_else(|| NONE.to_owned(), write)
}

#[pyfunction]
pub(crate) fn seconds(value: Option<f64>) -> String {
    or_none(value, differences::time)
}

#[pyfunction]
pub(crate) fn moment(unix_s: f64) -> String {
    words::moment(unix_s)
}

#[pyfunction]
pub(crate) fn began(time_s: f64, origin_unix_s: Option<f64>) -> String {
    words::began(time_s, origin_unix_s)
}

#[pyfunction]
pub(crate) fn rate(bits_per_second: Option<f64>) -> String {
    or_none(bits_per_second, words::rate)
}

#[pyfunction]
pub(crate) fn size(in_bytes: Option<f64>) -> String {
    or_none(in_bytes, |bytes| words::scaled(bytes, "B"))
}

#[pyfunction]
pub(crate) fn share(value: Option<f64>) -> String {
    or_none(value, words::share)
}

#[pyfunction]
pub(crate) fn relative(percent: Option<f64>) -> String {
    or_none(percent, differences::relative)
}

#[pyfunction]
#[pyo3(signature = (value, *, signed=false))]
pub(crate) fn percents(value: f64, signed: bool) -> String {
    differences::percents(value, signed)
}

#[pyfunction]
pub(crate) fn plain(value: f64, digits: i32) -> String {
    words::plain(value, digits)
}

#[pyfunction]
pub(crate) fn count(value: Option<f64>) -> String {
    or_none(value, words::count)
}

#[pyfunction]
pub(crate) fn number(value: Option<f64>) -> String {
    or_none(value, differences::number)
}

#[pyfunction]
pub(crate) fn quantity(value: Option<f64>, unit: &str) -> String {
    or_none(value, |value| differences::quantity(value, unit))
}

#[pyfunction]
pub(crate) fn difference(value: Option<f64>, unit: &str) -> String {
    or_none(value, |value| differences::difference(value, unit))
}

#[pyfunction]
#[pyo3(signature = (low, high, unit, *, of=None, signed=false))]
pub(crate) fn interval(
    low: Option<f64>,
    high: Option<f64>,
    unit: &str,
    of: Option<f64>,
    signed: bool,
) -> String {
    let (Some(low), Some(high)) = (low, high) else { return String::new() };
    differences::interval(low, high, unit, of, signed)
}

#[pyfunction]
#[pyo3(signature = (value, margin, unit, *, signed=false))]
pub(crate) fn with_margin(value: f64, margin: f64, unit: &str, signed: bool) -> String {
    differences::with_margin(value, margin, unit, signed)
}
