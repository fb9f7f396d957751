//! A first reading of the logs of an import, for what decides about single lines and only all of them tell: lines that stand in two logs,
//! calls that two sidecars log, and the unit of spans whose format leaves it open.
//!
//! A log rotated by copying and truncating begins with lines that the one before ends with, and so does one that was fetched twice. A run of
//! equal lines from the beginning of one log to the end of another, of two different lines or more, is such an overlap. A log that stands in
//! another one as a whole is left out as a whole. Equal lines within one log, and a run of one line at a border, are no sign of it.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;

use super::calls::Calls;
use super::field::Field;
use super::layout::Layout;
use super::units::Signs;
use super::wrapped::{self, Parts};
use super::{LogFormat, ObjectId, WorkloadError};
use crate::workload::lines::{Line, Lines};

/// What a first reading of all logs says about one of them.
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// Numbers of lines, from 1, that stand in another log.
    pub(super) repeated: Range<u64>,
    pub(super) calls: Arc<Calls>,
    /// Signs of the unit of its spans. `None`: it was not read before.
    pub(super) signs: Option<Signs>,
}

/// Lines at the beginning of a log that another one has too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Repeat {
    /// Place of the log, from 0.
    pub log: usize,
    /// Number of the lines.
    pub lines: u64,
    /// They are all that it has.
    pub is_whole: bool,
    /// Place of the other log.
    pub other: usize,
}

/// A first reading of logs.
#[derive(Debug, Clone, Default)]
pub struct Overview {
    logs: Vec<Known>,
    repeats: Vec<Repeat>,
}

impl Overview {
    /// Reads those of the logs at `paths`, of `format`, that have to be: several, those of sidecars, and those whose first lines leave the
    /// unit of spans open. Standard input cannot be read twice.
    ///
    /// # Errors
    /// When one cannot be opened or read.
    pub fn of(paths: &[&Path], format: &LogFormat) -> Result<Self, WorkloadError> {
        let logs: Result<_, _> = paths.iter().map(|path| Lines::open(path)).collect();
        Self::of_lines(logs?, format)
    }

    pub(super) fn of_lines(logs: Vec<Lines>, format: &LogFormat) -> Result<Self, WorkloadError> {
        let several = logs.len() > 1;
        let mut calls = Calls::default();
        let read: Result<Vec<_>, _> =
            logs.into_iter().map(|lines| read(lines, format, several, &mut calls)).collect();
        let (hashed, signs): (Vec<_>, Vec<_>) = read?.into_iter().unzip();
        let repeats = repeats(&hashed);
        let calls = Arc::new(calls);
        let repeated = |log: usize| {
            let repeat = repeats.iter().find(|repeat| repeat.log == log)?;
            let last = hashed[log].get(usize::try_from(repeat.lines).ok()?.checked_sub(1)?)?;
            Some(hashed[log][0].0..last.0 + 1)
        };
        let known = |log: usize| Known {
            repeated: repeated(log).unwrap_or_default(),
            calls: Arc::clone(&calls),
            signs: Some(signs[log]),
        };
        Ok(Self { logs: (0..hashed.len()).map(known).collect(), repeats })
    }

    /// What it says about a log.
    #[must_use]
    pub fn about(&self, log: usize) -> Known {
        self.logs.get(log).cloned().unwrap_or_default()
    }

    /// Lines that stand in two logs.
    #[must_use]
    pub fn repeats(&self) -> &[Repeat] {
        &self.repeats
    }
}

/// Numbers and hashes of the lines of a log with content, where they are asked for, and signs of the unit of its spans;
/// takes the calls of sidecars.
fn read(
    mut lines: Lines,
    format: &LogFormat,
    hashes: bool,
    calls: &mut Calls,
) -> Result<(Vec<(u64, ObjectId)>, Signs), WorkloadError> {
    let head = wrapped::joined(lines.head()).into_owned();
    // A format that cannot be found is the reader's to report.
    let found = match format {
        LogFormat::Auto => LogFormat::of_head(&head).or_else(|| LogFormat::of_first(&head)),
        named => Some(named.clone()),
    };
    let mut layout = found.and_then(|format| format.layout(&head).ok());
    let mut signs = layout.as_ref().map(|layout| Signs::of_head(layout, &head)).unwrap_or_default();
    let is_of_sidecar = |layout: &Layout| {
        [Field::Cluster, Field::RequestId].iter().all(|field| layout.has(|known| known == *field))
    };
    let has_calls = layout.as_ref().is_some_and(is_of_sidecar);
    let mut all = Vec::new();
    let mut parts = Parts::default();
    while (hashes || has_calls || signs.is_open())
        && let Some(Line::Whole(text) | Line::TooLong(text)) = lines.next()?
    {
        let text = text.to_vec();
        if hashes && has_content(&text) {
            all.push((lines.number(), ObjectId::of_bytes(&text)));
        }
        let Some(layout) = layout.as_mut().filter(|_| has_calls || signs.is_open()) else { continue };
        let Some(whole) = parts.join(&text) else { continue };
        let line = wrapped::message(&whole);
        if !layout.heads(&line, lines.number() == 1)
            && let Ok(record) = layout.read(&line)
        {
            calls.add(&record);
            signs.add(&record);
        }
    }
    Ok((all, signs))
}

/// True for a line that is neither blank nor about the log.
pub(super) fn has_content(text: &[u8]) -> bool {
    !text.starts_with(b"#") && !text.trim_ascii().is_empty()
}

/// Logs that another one has as a whole, and the longest overlap of each of the rest with another one of these.
fn repeats(logs: &[Vec<(u64, ObjectId)>]) -> Vec<Repeat> {
    let overlap_with = |log: usize, other: usize| {
        let lines = overlap(&logs[log], &logs[other]);
        let is_whole = lines > 0 && lines == logs[log].len();
        Repeat { log, lines: lines as u64, is_whole, other }
    };
    let others = |log: usize| (0..logs.len()).filter(move |other| *other != log);
    // Of two that are one the first stays.
    let may_have = |log: usize, other: usize| logs[log].len() < logs[other].len() || other < log;
    let whole = |log: usize| {
        let larger = others(log).filter(|other| may_have(log, *other));
        larger.map(|other| overlap_with(log, other)).find(|repeat| repeat.is_whole)
    };
    let within: Vec<Option<Repeat>> = (0..logs.len()).map(whole).collect();
    let of_log = |log: usize| {
        within[log].clone().or_else(|| {
            let read = others(log).filter(|other| within[*other].is_none());
            let longest = read.map(|other| overlap_with(log, other)).max_by_key(|repeat| repeat.lines);
            longest.filter(|repeat| repeat.lines > 0)
        })
    };
    (0..logs.len()).filter_map(of_log).collect()
}

/// Lines from the beginning of a log that the end of `other` has too, in order, or all where `other` has them anywhere.
///
/// By D. E. Knuth, J. H. Morris, V. R. Pratt, "Fast pattern matching in strings" (1977), in linear time.
fn overlap(log: &[(u64, ObjectId)], other: &[(u64, ObjectId)]) -> usize {
    let pattern: Vec<ObjectId> = log.iter().map(|(_, line)| *line).collect();
    let mut borders = vec![0; pattern.len()];
    let step = |borders: &[usize], mut matched: usize, line: ObjectId| {
        while matched > 0 && (matched == pattern.len() || pattern[matched] != line) {
            matched = borders[matched - 1];
        }
        matched + usize::from(pattern.get(matched) == Some(&line))
    };
    for at in 1..pattern.len() {
        borders[at] = step(&borders, borders[at - 1], pattern[at]);
    }
    let mut matched = 0;
    for (_, line) in other {
        matched = step(&borders, matched, *line);
        if matched == pattern.len() && pattern.len() > 1 {
            break;
        }
    }
    let is_same = matched == pattern.len() && pattern.len() == other.len();
    let differ = pattern[..matched].iter().any(|line| *line != pattern[0]);
    if differ || is_same { matched } else { 0 }
}
