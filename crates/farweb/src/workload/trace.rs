//! Traces for studies of caches, as text: a line a request, with time, object and size.
//!
//! The format of webcachesim and the traces that were published with it: three numbers or words with blanks between them, the
//! time in s from any origin (some traces have the number of the request there), the object by any name, its size in bytes.
//! Further columns and blank lines are ignored. Unreadable lines are counted and reported. Too many of them are an error.
//!
//! Source: D. S. Berger, `webcachesim`, the section on its trace format in its README.

use std::path::Path;

use super::lines::{LINE_BYTES_MAX, Line, Lines, quoted};
use super::unreadable::check_share;
use super::{ObjectId, UnreadableLines, WorkloadError};
use crate::units::{Duration, Instant};

/// Largest object, in bytes, as in a request table.
const BYTES_MAX: u64 = 1 << 53;

/// Some requests of a trace, as columns of equal length.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TraceBatch {
    /// Time of each request.
    pub time: Vec<Instant>,
    /// Object of each request.
    pub object: Vec<ObjectId>,
    /// Its size, in bytes.
    pub bytes: Vec<u64>,
}

/// Reads a trace, streamed in constant memory.
#[derive(Debug)]
pub struct TraceReader {
    lines: Lines,
    max_unreadable: f64,
    requests: u64,
    unreadable: UnreadableLines,
}

impl TraceReader {
    /// Opens the trace at `path`, plain or gzip, with a share `max_unreadable`, 0 to 1, of lines that may be
    /// unreadable.
    ///
    /// # Errors
    /// When it cannot be opened or is no text, or the share is none.
    pub fn open(path: &Path, max_unreadable: f64) -> Result<Self, WorkloadError> {
        check_share(max_unreadable)?;
        Ok(Self::new(Lines::open(path)?, max_unreadable))
    }

    fn new(lines: Lines, max_unreadable: f64) -> Self {
        Self { lines, max_unreadable, requests: 0, unreadable: UnreadableLines::default() }
    }

    /// The next requests, at most `rows`. None at the end.
    ///
    /// # Errors
    /// When the file cannot be read on, or more lines are unreadable than may be.
    pub fn batch(&mut self, rows: usize) -> Result<TraceBatch, WorkloadError> {
        let mut batch = TraceBatch::default();
        while batch.object.len() < rows {
            let number = self.lines.number() + 1;
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
                    self.unreadable.add(number, why, text);
                    let lines = self.requests + self.unreadable.count;
                    self.unreadable.check_early(self.max_unreadable, lines, self.lines.name())?;
                }
            }
        }
        if batch.object.is_empty() {
            let lines = self.requests + self.unreadable.count;
            self.unreadable.check(self.max_unreadable, lines, self.lines.name())?;
        }
        Ok(batch)
    }

    /// Lines that could not be read so far.
    #[must_use]
    pub const fn unreadable(&self) -> &UnreadableLines {
        &self.unreadable
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
    let no_time =
        || format!("has the time {}, which is not a number of seconds from 0 on", quoted(time.as_bytes()));
    let since = secs.ok_or_else(no_time)?;
    let bytes = bytes.parse().ok().filter(|bytes| *bytes <= BYTES_MAX);
    let bytes = bytes.ok_or("has a size that is not a whole number of bytes from 0 to 2^53")?;
    Ok((Instant::ZERO + since, ObjectId::of_text(object), bytes))
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn reader(text: &str) -> TraceReader {
        let lines = Lines::new("trace".into(), Cursor::new(text.to_owned().into_bytes())).unwrap();
        TraceReader::new(lines, 0.01)
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
        assert_eq!(trace.unreadable().count, 0);
    }

    #[test]
    fn a_few_unreadable_lines_are_reported() {
        let mut trace = reader(&format!("{}7 8\n-1 0 5\nx 0 5\n1 0 -5\n1 0 5.5\n", "1 0 68\n".repeat(1000)));
        assert_eq!(trace.batch(2000).unwrap().bytes.len(), 1000);
        let unreadable = trace.unreadable();
        let found: Vec<_> =
            unreadable.first.iter().map(|each| format!("{} {} {}", each.line, each.why, each.text)).collect();
        assert_eq!(unreadable.count, 5);
        assert_eq!(found[0], "1001 has fewer than three columns \"7 8\"");
        assert_eq!(
            found[1],
            "1002 has the time \"-1\", which is not a number of seconds from 0 on \"-1 0 5\""
        );
        assert_eq!(found[3], "1004 has a size that is not a whole number of bytes from 0 to 2^53 \"1 0 -5\"");
    }

    #[test]
    fn what_is_no_trace_is_refused_with_its_first_line() {
        let error = |text: &str| {
            let mut trace = reader(text);
            trace.batch(10).and_then(|_| trace.batch(10)).unwrap_err().to_string()
        };
        assert_eq!(
            error("1157689312.049 5006 10.105.21.199 TCP_MISS/200\n"),
            "trace: 1 of 1 lines cannot be read, more than --max-unreadable 0.01 allows; the first is line 1: has a \
             size that is not a whole number of bytes from 0 to 2^53, in \"1157689312.049 5006 10.105.21.199 TCP_MISS/200\""
        );
    }
}
