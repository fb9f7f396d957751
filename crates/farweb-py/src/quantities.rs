//! Numbers with units, for people.

use farweb::load::quantities;
use pyo3::prelude::*;

#[pyfunction]
pub(crate) fn seconds(value: f64) -> String {
    quantities::seconds(value)
}

#[pyfunction]
pub(crate) fn moment(unix_s: f64) -> String {
    quantities::moment(unix_s)
}

#[pyfunction]
pub(crate) fn scaled(value: f64, unit: &str) -> String {
    quantities::scaled(value, unit)
}

#[pyfunction]
pub(crate) fn share(value: f64) -> String {
    quantities::share(value)
}

#[pyfunction]
pub(crate) fn plain(value: f64, digits: i32) -> String {
    quantities::plain(value, digits)
}

#[pyfunction]
pub(crate) fn count(value: f64) -> String {
    quantities::count(value)
}

#[pyfunction]
pub(crate) fn digits(value: f64) -> String {
    quantities::digits(value)
}
