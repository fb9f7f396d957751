//! Traces of links: a line for each delivery opportunity, in whole milliseconds.
//!
//! Lines do not go back, and the last one is above 0. A file may be plain or packed.
//!
//! Source: the trace files of mahimahi (`src/frontend/link_queue.cc` reads them).

use std::io::Cursor;

use super::WorkloadError;
use super::lines::{Line, Lines, quoted};
use crate::net::Opportunities;

/// Most lines. Chosen: an hour at 100 Mbit/s, 120 MB in memory.
const LINES_MAX: usize = 30_000_000;

/// Reads a trace in memory, called `name` in messages.
///
/// # Errors
/// When it is no text, has no line, or a line is no time at or after the one before: names file and line, and what is
/// allowed.
pub fn trace_of_bytes(name: String, bytes: Vec<u8>) -> Result<Opportunities, WorkloadError> {
    let mut lines = Lines::new(name, Cursor::new(bytes))?;
    let mut times: Vec<u32> = Vec::new();
    while let Some(line) = lines.next()? {
        let time = time_of(line, times.last().copied().unwrap_or(0));
        let wrong = |why: String| WorkloadError(format!("{}:{}: {why}", lines.name(), lines.number()));
        times.push(time.map_err(wrong)?);
        if times.len() > LINES_MAX {
            return Err(wrong(format!("is one line too many; a trace has at most {LINES_MAX}")));
        }
    }
    let (name, number) = (lines.name(), lines.number());
    Opportunities::new(times).ok_or_else(|| match number {
        0 => WorkloadError(format!(
            "{name}: is empty; a trace has a line for each delivery opportunity, in whole ms"
        )),
        _ => WorkloadError(format!("{name}:{number}: found \"0\"; end a trace with a time above 0 ms")),
    })
}

/// True when the first line of a file in memory, but for comments, begins with a number and has no comma: the names of columns begin a schedule.
///
/// # Errors
/// When it is no text.
pub fn is_trace(name: &str, bytes: &[u8]) -> Result<bool, WorkloadError> {
    let lines = Lines::new(name.to_owned(), Cursor::new(bytes.to_vec()))?;
    let mut rows = lines.head().split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let first = rows.find(|row| !row.is_empty() && !row.starts_with(b"#")).unwrap_or_default();
    let is_number = first.first().is_some_and(|byte| byte.is_ascii_digit() || *byte == b'-');
    Ok(is_number && !first.contains(&b','))
}

/// The time in a line, which is not before `last`.
fn time_of(line: Line<'_>, last: u32) -> Result<u32, String> {
    let (Line::Whole(text) | Line::TooLong(text)) = line;
    let digits = text.trim_ascii();
    let is_number = digits.iter().all(u8::is_ascii_digit);
    let number =
        std::str::from_utf8(digits).ok().filter(|_| is_number).and_then(|text| text.parse::<u32>().ok());
    match number {
        Some(time) if time >= last => Ok(time),
        Some(time) => {
            Err(format!("found \"{time}\" behind \"{last}\"; write times in whole ms that do not go back"))
        }
        None => Err(format!("found {}; write a time in whole ms from 0 to {}", quoted(text), u32::MAX)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_said_with_its_line_and_what_is_allowed() {
        let read = |text: &str| trace_of_bytes("down.trace".to_owned(), text.into());
        assert_eq!(read("1\n2\r\n2\n5\n").unwrap().times(), [1, 2, 2, 5]);
        for (text, message) in [
            ("", "down.trace: is empty; a trace has a line for each delivery opportunity, in whole ms"),
            ("0\n0\n", "down.trace:2: found \"0\"; end a trace with a time above 0 ms"),
            ("3\n2\n", "down.trace:2: found \"2\" behind \"3\"; write times in whole ms that do not go back"),
            ("1\n\n2\n", "down.trace:2: found \"\"; write a time in whole ms from 0 to 4294967295"),
            ("1.5\n", "down.trace:1: found \"1.5\"; write a time in whole ms"),
            ("# 2026, a drive\n1\n", "down.trace:1: found \"# 2026, a drive\"; write a time in whole ms"),
            ("-1\n", "down.trace:1: found \"-1\"; write"),
            ("4294967296\n", "down.trace:1: found \"4294967296\"; write"),
            ("\0\x01\x02", "down.trace: is not text but binary data"),
        ] {
            assert!(read(text).unwrap_err().to_string().starts_with(message), "{:?}", read(text));
        }
    }

    /// Whatever is wrong with a file, its own reader says it.
    #[test]
    fn a_file_is_a_trace_by_its_first_row_alone() {
        for (text, expected) in [
            ("1\n2\n", true),
            ("1.5\n2\n", true),
            ("# a drive, 2026\n\n1\n", true),
            ("1 ms\n", true),
            ("# a pass\ntime_s,rate_mbps\n0,1\n", false),
            ("time_s rate_mbps\n0 1\n", false),
            ("time_s\n", false),
            ("0,10\n", false),
        ] {
            assert_eq!(is_trace("f", text.as_bytes()).unwrap(), expected, "{text}");
        }
    }
}
