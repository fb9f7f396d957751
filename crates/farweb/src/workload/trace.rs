//! Traces for studies of caches, as text: a line a request, with time, object and size.
//!
//! The format of webcachesim and the traces that were published with it: three numbers or words with blanks between them, the
//! time in s from any origin (some traces have the number of the request there), the object by any name, its size in bytes.
//! More columns are passed over, and so are blank lines. What cannot be read is counted and told; too much of it is an error.
//!
//! Source: D. S. Berger, `webcachesim`, the section on its trace format in its README.

use std::path::Path;

use super::lines::{LINE_BYTES_MAX, Line, Lines, quoted};
use super::log::Unreadable;
use super::{ObjectId, WorkloadError};
use crate::units::{Duration, Instant};

/// Largest object, in bytes, as in a request table.
const BYTES_MAX: u64 = 1 << 53;

/// Most unreadable lines that are kept for a report.
const EXAMPLES_MAX: usize = 20;

/// Share of lines that may be unreadable, as by default in a log.
const UNREADABLE_MAX: f64 = 0.01;

/// Lines after which too many unreadable ones end the reading early.
const EARLY_LINES: u64 = 1000;

/// Some requests of a trace, as columns of equal length.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TraceBatch {
    /// When.
    pub time: Vec<Instant>,
    /// For what.
    pub object: Vec<ObjectId>,
    /// Its size, in bytes.
    pub bytes: Vec<u64>,
}

/// Reads a trace, streamed in constant memory.
#[derive(Debug)]
pub struct TraceReader {
    lines: Lines,
    requests: u64,
    unreadable_lines: u64,
    unreadable: Vec<Unreadable>,
}

impl TraceReader {
    /// Opens the trace at `path`, plain or gzip.
    ///
    /// # Errors
    /// When it cannot be opened or is no text.
    pub fn open(path: &Path) -> Result<Self, WorkloadError> {
        Ok(Self { lines: Lines::open(path)?, requests: 0, unreadable_lines: 0, unreadable: Vec::new() })
    }

    /// The next requests, at most `rows`; none at the end.
    ///
    /// # Errors
    /// When the file cannot be read on, or more than a hundredth of the lines are unreadable.
    pub fn batch(&mut self, rows: usize) -> Result<TraceBatch, WorkloadError> {
        let mut batch = TraceBatch::default();
        while batch.object.len() < rows {
            let Some(line) = self.lines.next()? else { break };
            let (Line::Whole(text) | Line::TooLong(text)) = line;
            if text.trim_ascii().is_empty() {
                continue;
            }
            let read = match line {
                Line::Whole(text) => request(text),
                Line::TooLong(_) => Err(format!("is longer than {LINE_BYTES_MAX} bytes")),
            };
            match read {
                Ok((time, object, bytes)) => {
                    self.requests += 1;
                    batch.time.push(time);
                    batch.object.push(object);
                    batch.bytes.push(bytes);
                }
                Err(why) => {
                    let text = quoted(text);
                    self.note(why, text)?;
                }
            }
        }
        if batch.object.is_empty() {
            self.check_share()?;
        }
        Ok(batch)
    }

    /// Lines that could not be read so far, and the first 20 of them.
    #[must_use]
    pub fn unreadable(&self) -> (u64, &[Unreadable]) {
        (self.unreadable_lines, &self.unreadable)
    }

    fn note(&mut self, why: String, text: String) -> Result<(), WorkloadError> {
        self.unreadable_lines += 1;
        if self.unreadable.len() < EXAMPLES_MAX {
            self.unreadable.push(Unreadable { line: self.lines.number(), why, text });
        }
        if self.requests + self.unreadable_lines >= EARLY_LINES { self.check_share() } else { Ok(()) }
    }

    fn check_share(&self) -> Result<(), WorkloadError> {
        let lines = self.requests + self.unreadable_lines;
        if self.unreadable_lines as f64 <= UNREADABLE_MAX * lines as f64 {
            return Ok(());
        }
        let Unreadable { line, why, text } = &self.unreadable[0];
        Err(WorkloadError(format!(
            "{}: {} of {lines} lines are no time, object and size, more than the hundredth that may be; the first is line \
             {line}: {why}, in {text}",
            self.lines.name(),
            self.unreadable_lines,
        )))
    }
}

/// Time, object and size of a line.
fn request(line: &[u8]) -> Result<(Instant, ObjectId, u64), String> {
    let text = std::str::from_utf8(line).map_err(|_| "is not UTF-8".to_owned())?;
    let mut words = text.split_ascii_whitespace();
    let (Some(time), Some(object), Some(bytes)) = (words.next(), words.next(), words.next()) else {
        return Err("has fewer than three columns".into());
    };
    let secs = time.parse().ok().and_then(Duration::from_secs_f64);
    let no_time = || format!("has the time {}, which is no number of s from 0 on", quoted(time.as_bytes()));
    let since = secs.ok_or_else(no_time)?;
    let bytes = bytes.parse().ok().filter(|bytes| *bytes <= BYTES_MAX);
    let bytes = bytes.ok_or("has a size that is no whole number of bytes from 0 to 2^53")?;
    Ok((Instant::ZERO + since, ObjectId::of_text(object), bytes))
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn reader(text: &str) -> TraceReader {
        let lines = Lines::new("trace".into(), Cursor::new(text.to_owned().into_bytes())).unwrap();
        TraceReader { lines, requests: 0, unreadable_lines: 0, unreadable: Vec::new() }
    }

    #[test]
    fn a_line_has_time_object_and_size() {
        let mut trace = reader("1 0 68\n\n1.5\t/index.html  7454 200 more\n2 0 68\n");
        let batch = trace.batch(2).unwrap();
        assert_eq!(batch.time, [1_000_000_000, 1_500_000_000].map(Instant::from_nanos));
        assert_eq!(batch.object, [ObjectId::new(0).unwrap(), ObjectId::of_text("/index.html")]);
        assert_eq!(batch.bytes, [68, 7454]);
        assert_eq!(trace.batch(2).unwrap().bytes, [68]);
        assert_eq!(trace.batch(2).unwrap(), TraceBatch::default());
        assert_eq!(trace.unreadable().0, 0);
    }

    #[test]
    fn a_few_unreadable_lines_are_told() {
        let mut trace = reader(&format!("{}7 8\n-1 0 5\nx 0 5\n1 0 -5\n1 0 5.5\n", "1 0 68\n".repeat(1000)));
        assert_eq!(trace.batch(2000).unwrap().bytes.len(), 1000);
        let (count, examples) = trace.unreadable();
        let told: Vec<_> =
            examples.iter().map(|each| format!("{} {} {}", each.line, each.why, each.text)).collect();
        assert_eq!(count, 5);
        assert_eq!(told[0], "1001 has fewer than three columns \"7 8\"");
        assert_eq!(told[1], "1002 has the time \"-1\", which is no number of s from 0 on \"-1 0 5\"");
        assert_eq!(told[3], "1004 has a size that is no whole number of bytes from 0 to 2^53 \"1 0 -5\"");
    }

    #[test]
    fn what_is_no_trace_is_told_by_its_first_line() {
        let told = |text: &str| {
            let mut trace = reader(text);
            trace.batch(10).and_then(|_| trace.batch(10)).unwrap_err().to_string()
        };
        assert_eq!(
            told("1157689312.049 5006 10.105.21.199 TCP_MISS/200\n"),
            "trace: 1 of 1 lines are no time, object and size, more than the hundredth that may be; the first is line 1: has a \
             size that is no whole number of bytes from 0 to 2^53, in \"1157689312.049 5006 10.105.21.199 TCP_MISS/200\""
        );
    }
}
