//! Problems of a scenario, with their places.

use std::cmp::Ordering;
use std::fmt;

/// Place of a key or value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// In the scenario file. Both count from 1, columns in characters.
    File {
        /// Line of the file.
        line: usize,
        /// Column in that line.
        column: usize,
    },
    /// In an override on the command line or from Python: `KEY=VALUE`.
    Override(String),
}

/// A problem of a scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Name of the scenario file, as the caller gave it.
    pub file: String,
    /// Place of the key, or of the table that lacks it.
    pub place: Place,
    /// Dotted key, such as `leg.0.tcp.buffer`. Empty when the text is no TOML.
    pub key: String,
    /// Message: the value found and the values allowed.
    pub message: String,
}

/// All that is wrong with a scenario: one line a problem and a closing count.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct ScenarioError {
    /// In the order of the file, then of the overrides. Never empty.
    pub problems: Vec<Problem>,
}

impl ScenarioError {
    /// Puts the problems in the order of the file, each once.
    pub(crate) fn new(mut problems: Vec<Problem>) -> Self {
        problems.sort_by(Problem::by_place);
        problems.dedup();
        Self { problems }
    }
}

impl Problem {
    /// Key and message, each in one line.
    #[must_use]
    pub fn in_lines(&self) -> [String; 2] {
        [OneLine(&self.key).to_string(), OneLine(&self.message).to_string()]
    }

    fn by_place(&self, other: &Self) -> Ordering {
        self.place.cmp(&other.place)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, key, message) = (&self.file, OneLine(&self.key), OneLine(&self.message));
        match &self.place {
            // A syntax error has no key that would lead the eye to the column.
            Place::File { line, column } if self.key.is_empty() => {
                write!(f, "{file}:{line}:{column}: {message}")
            }
            Place::File { line, .. } => write!(f, "{file}:{line}: {key}: {message}"),
            Place::Override(text) => write!(f, "--set {}: {key}: {message}", OneLine(text)),
        }
    }
}

/// A text that may repeat what a stranger's file holds: control characters, which would break the line or drive the terminal, are
/// spelled out.
struct OneLine<'t>(&'t str);

impl fmt::Display for OneLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in self.0.split_inclusive(char::is_control) {
            let plain = part.trim_end_matches(char::is_control);
            write!(f, "{plain}{}", part[plain.len()..].escape_default())?;
        }
        Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_is_one_line_whatever_the_file_holds() {
        let place = Place::File { line: 3, column: 1 };
        let (file, key) = ("s.toml".to_owned(), "run.until".to_owned());
        let problem = Problem { file, place, key, message: "found \"\u{1b}[2J\n\u{85}é\"".to_owned() };
        assert_eq!(problem.to_string(), r#"s.toml:3: run.until: found "\u{1b}[2J\n\u{85}é""#);
        let typed = Problem { place: Place::Override("name=a\rb".to_owned()), ..problem };
        assert!(typed.to_string().starts_with(r"--set name=a\rb: run.until: found"));
    }
}
