//! Text of a report, by lines: words alone, or a label and words beside it.

use std::fmt;

use serde::{Serialize, Serializer};

/// A label and a few words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Row(pub String, pub String);

impl Row {
    pub(crate) fn new(label: &str, words: impl Into<String>) -> Self {
        Self(label.to_owned(), words.into())
    }
}

/// A line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Line {
    /// Words, laid out as they are.
    Words(String),
    /// A label, and words beside it.
    Row(Row),
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Words(words) => f.write_str(words),
            Self::Row(Row(label, words)) => write!(f, "  {label:<24} {words}"),
        }
    }
}

/// Lines for people. In JSON one text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Text(Vec<Line>);

impl Text {
    /// The lines.
    #[must_use]
    pub fn lines(&self) -> &[Line] {
        &self.0
    }

    /// Adds words of one or more lines.
    pub(super) fn say(&mut self, words: &str) {
        self.0.extend(words.split('\n').map(|line| Line::Words(line.to_owned())));
    }

    /// Adds a label and words beside it.
    pub(super) fn row(&mut self, label: &str, words: impl Into<String>) {
        self.0.push(Line::Row(Row::new(label, words)));
    }

    /// Adds another text behind an empty line.
    pub(super) fn add(&mut self, other: &Self) {
        self.say("");
        self.0.extend(other.0.iter().cloned());
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A sentence as indented lines of at most 98 columns, the second one on further in.
pub(super) fn wrapped(sentence: &str) -> String {
    let (mut text, mut line) = (String::new(), String::from(" "));
    for word in sentence.split(' ') {
        if line.chars().count() + 1 + word.chars().count() > 98 {
            text.push_str(&line);
            text.push('\n');
            line = String::from("   ");
        }
        line.push(' ');
        line.push_str(word);
    }
    text + &line + "\n"
}
