//! Parts that fuzz targets share: files for the readers, checks of their results, and endpoints.

pub mod captures;
pub mod endpoints;
pub mod logs;
pub mod scenarios;
pub mod tables;

use std::io::Write;
use std::path::Path;

use farweb::workload::WorkloadError;

/// Calls `read` with a file whose name ends in `suffix` and that holds `bytes`.
pub fn with_file<T>(bytes: &[u8], suffix: &str, read: impl FnOnce(&Path) -> T) -> T {
    let mut file = tempfile::Builder::new().suffix(suffix).tempfile().expect("a temporary file can be made");
    file.write_all(bytes).expect("a temporary file can be written");
    read(file.path())
}

/// Passes on what a reader gave.
///
/// # Panics
/// When an error would break the line of a terminal or drive it.
pub fn checked<T>(result: Result<T, WorkloadError>) -> Result<T, WorkloadError> {
    if let Err(error) = &result {
        let shown = error.to_string();
        assert!(!shown.is_empty() && !shown.chars().any(char::is_control), "the message is {shown:?}");
    }
    result
}
