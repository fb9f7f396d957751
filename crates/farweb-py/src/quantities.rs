//! Numbers with units, for people.

use farweb::units::words;
use pyo3::prelude::*;

#[pyfunction]
pub(crate) fn seconds(value: f64) -> String {
    words::seconds(value)
}

#[pyfunction]
pub(crate) fn moment(unix_s: f64) -> String {
    words::moment(unix_s)
}

#[pyfunction]
pub(crate) fn scaled(value: f64, unit: &str) -> String {
    words::scaled(value, unit)
}

#[pyfunction]
pub(crate) fn share(value: f64) -> String {
    words::share(value)
}

#[pyfunction]
pub(crate) fn plain(value: f64, digits: i32) -> String {
    words::plain(value, digits)
}

#[pyfunction]
pub(crate) fn count(value: f64) -> String {
    words::count(value)
}

#[pyfunction]
pub(crate) fn digits(value: f64) -> String {
    words::digits(value)
}
