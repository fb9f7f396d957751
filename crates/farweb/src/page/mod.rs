//! Page loads that browsers recorded: the bytes of a HAR, its pages, each as a [`Recording`], the graph of its
//! requests, and its load over another path.

mod crossing;
mod estimates;
mod exporters;
mod graph;
mod har;
mod json;
mod queues;
mod reading;
mod recording;
mod reservations;
mod rows;
mod sent;
mod settle;
mod sizes;
mod source;
#[cfg(test)]
mod tests;
mod times;
mod url;
mod words;

use std::fs::File;
use std::io::{Cursor, Read};
use std::path::Path;

use crate::workload::WorkloadError;
use crate::workload::packed::beginning;
pub use graph::{Dependency, Edge, Evidence, Rule, graph_of};
pub use recording::{Facts, Recording};
pub use rows::{Listed, Row};
pub use sent::{Kind, Protocol, Sent, Stated};
pub use settle::{Asked, Loaded, SettleError, asked_of, later_visit, settle};
use source::Source;
pub use words::{left_out, short_url};

/// Pages of a file, each as recorded, or why it cannot be loaded.
pub type Pages = Vec<Result<Recording, WorkloadError>>;

/// The pages of the HAR at `path` that have entries, plain or packed, in the order of the file.
///
/// # Errors
/// The file is no HAR, is damaged or too large. The message names the place in it.
pub fn read_har(path: &Path) -> Result<Pages, WorkloadError> {
    let name = path.display().to_string();
    let file =
        File::open(path).map_err(|error| WorkloadError(format!("{name}: cannot be opened: {error}")))?;
    pages_of(&name, file)
}

/// The pages of a HAR in memory, plain or packed, called `name` in messages.
///
/// # Errors
/// As [`read_har`].
pub fn har_of_bytes(name: &str, bytes: Vec<u8>) -> Result<Pages, WorkloadError> {
    pages_of(name, Cursor::new(bytes))
}

fn pages_of(name: &str, content: impl Read + Send + Sync + 'static) -> Result<Pages, WorkloadError> {
    let text = source::decoded(name, beginning(name, content, source::BYTES_MAX as u64 + 1)?)?;
    let source = Source { path: name, text: &text };
    let har = source.parse()?;
    let file = Path::new(name).file_name().map_or_else(|| name.into(), |file| file.to_string_lossy());
    Ok(har::pages_of(source, &har)?.iter().map(|page| Recording::of(page, &file)).collect())
}
