//! Unreadable lines of a log or a trace: counted, and the first of them kept for messages. Too many of them are an
//! error: the file has another format then.

use serde::Serialize;

use super::WorkloadError;
use super::lines::clipped;

/// Most of them that are kept.
const KEPT_MAX: usize = 20;

/// Characters of a line that are kept.
const TEXT_MAX: usize = 120;

/// Lines of a file before too many unreadable ones can end the reading.
const EARLY_LINES: u64 = 1000;

/// A line that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unreadable {
    /// Name of its file before a space, empty where there is but one.
    pub log: String,
    /// Its number, from 1.
    pub line: u64,
    /// The problem with it.
    pub why: String,
    /// Its beginning, in quotes.
    pub text: String,
}

/// All lines of a file that could not be read so far.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct UnreadableLines {
    /// Number of them.
    #[serde(rename = "unreadable_lines")]
    pub count: u64,
    /// The first 20 of them.
    #[serde(rename = "unreadable")]
    pub first: Vec<Unreadable>,
}

impl UnreadableLines {
    /// Counts line `line`.
    pub(super) fn add(&mut self, line: u64, why: String, text: &[u8]) {
        self.count += 1;
        if self.first.len() < KEPT_MAX {
            self.first.push(Unreadable { log: String::new(), line, why, text: clipped(text, TEXT_MAX) });
        }
    }

    /// Checks that they are no more than the share `max` of the `lines` of the file called `name`.
    ///
    /// # Errors
    /// When they are more. The error names the first one.
    pub(super) fn check(&self, max: f64, lines: u64, name: &str) -> Result<(), WorkloadError> {
        if self.count as f64 <= max * lines as f64 {
            return Ok(());
        }
        let Unreadable { line, why, text, .. } = &self.first[0];
        Err(WorkloadError(format!(
            "{name}: {} of {lines} lines cannot be read, more than --max-unreadable {max} allows; the first is line {line}: \
             {why}, in {text}",
            self.count
        )))
    }

    /// The same on the way, when enough lines have been read to judge the file.
    pub(super) fn check_early(&self, max: f64, lines: u64, name: &str) -> Result<(), WorkloadError> {
        if lines >= EARLY_LINES { self.check(max, lines, name) } else { Ok(()) }
    }
}

/// Checks the share of lines that may be unreadable.
pub(super) fn check_share(max: f64) -> Result<(), WorkloadError> {
    if (0.0..=1.0).contains(&max) {
        return Ok(());
    }
    Err(WorkloadError(format!("--max-unreadable: found {max}; write a share from 0 to 1")))
}
