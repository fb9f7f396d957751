//! What is wrong with a scenario, and where.

use std::cmp::Ordering;
use std::fmt;

/// Where a key or value was written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// In the scenario file; both count from 1, columns in characters.
    File {
        /// Line of the file.
        line: usize,
        /// Column in that line.
        column: usize,
    },
    /// In an override on the command line or from Python: `KEY=VALUE`.
    Override(String),
}

/// One thing that is wrong with a scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Name of the scenario file, as the caller gave it.
    pub file: String,
    /// Where the key stands, or the table that lacks it.
    pub place: Place,
    /// Dotted key, such as `leg.0.tcp.buffer`; empty when the text is no TOML.
    pub key: String,
    /// What was found and what is allowed.
    pub message: String,
}

/// All that is wrong with a scenario: one line a problem and a closing count.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct ScenarioError {
    /// In the order of the file, then of the overrides; never empty.
    pub problems: Vec<Problem>,
}

impl ScenarioError {
    /// Puts the problems in the order of the file, each once.
    pub(super) fn new(mut problems: Vec<Problem>) -> Self {
        problems.sort_by(Problem::by_place);
        problems.dedup();
        Self { problems }
    }
}

impl Problem {
    fn by_place(&self, other: &Self) -> Ordering {
        self.place.cmp(&other.place)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            // A syntax error has no key that would lead the eye to the column.
            Place::File { line, column } if self.key.is_empty() => {
                write!(f, "{}:{line}:{column}: {}", self.file, self.message)
            }
            Place::File { line, .. } => write!(f, "{}:{line}: {}: {}", self.file, self.key, self.message),
            Place::Override(text) => write!(f, "--set {text}: {}: {}", self.key, self.message),
        }
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for problem in &self.problems {
            writeln!(f, "{problem}")?;
        }
        match self.problems.len() {
            1 => write!(f, "1 problem in the scenario"),
            count => write!(f, "{count} problems in the scenario"),
        }
    }
}
