//! Places in a table, for messages about errors, and the allowed contents of a cell.

use std::fmt::{self, Display};

use crate::tcp::segment::{BUFFER_BYTES_MIN, MSS_BYTES};
use crate::units::{Duration, Instant};
use crate::workload::WorkloadError;

/// Latest start and longest server time, in seconds (285 years). Chosen: results hold times as int64 ns, and this
/// leaves seven years for the run itself.
const SECONDS_MAX: f64 = 9e9;

/// Largest request or response, in bytes: every whole number up to here is exact in a float64 column as well.
const BYTES_MAX: i64 = 1 << 53;

pub(super) const START_ALLOWED: &str = "seconds from 0 to 9e9, for example 12.75";
pub(super) const SIZE_ALLOWED: &str = "a whole number of bytes from 1 to 2^53";
pub(super) const REQUEST_ALLOWED: &str = "a whole number of bytes from 0 to 2^53";
pub(super) const SERVER_ALLOWED: &str = "seconds from 0 to 9e9, or nothing when it was not recorded";
pub(super) const WAIT_ALLOWED: &str =
    "seconds from 0 to the server_s of the row, or nothing when it was not recorded";
pub(super) const DAY_ALLOWED: &str = "a whole number of days from 1 to 1000000, in every row or in none";
pub(super) const CACHING_ALLOWED: &str = "store, serve, bypass or invalidate, or nothing to go by the method";
pub(super) const TLS_ALLOWED: &str = "true or false, or nothing when it is not known";
pub(super) const WINDOW_ALLOWED: &str =
    "a whole number of bytes from 32 to 2^53, or nothing when it is not known";
pub(super) const MSS_ALLOWED: &str =
    "a whole number of bytes from 32 to 65495, or nothing when it is not known";

/// A line or row of a table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) file: &'a str,
    pub(super) position: Position,
}

/// Position in the table. Both count from 1.
#[derive(Debug, Clone, Copy)]
pub(super) enum Position {
    /// A line of a text file.
    Line(u64),
    /// A row of columns.
    Row(u64),
}

impl Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.position {
            Position::Line(line) => write!(f, "{}:{line}", self.file),
            Position::Row(row) => write!(f, "{}, row {row}", self.file),
        }
    }
}

impl Place<'_> {
    /// Something is wrong with the whole line.
    pub(super) fn problem(&self, why: impl Display) -> WorkloadError {
        WorkloadError(format!("{self}: {why}"))
    }

    /// `column` holds `found`, which is not `allowed`.
    pub(super) fn wrong(&self, column: &str, found: impl Display, allowed: &str) -> WorkloadError {
        WorkloadError(format!("{self}: column {column}: found {found}; write {allowed}"))
    }
}

/// A start time, or `None` when it is out of range.
pub(super) fn start(secs: f64) -> Option<Instant> {
    server(secs).map(|since| Instant::ZERO + since)
}

/// A server time, or `None` when it is out of range.
pub(super) fn server(secs: f64) -> Option<Duration> {
    if secs <= SECONDS_MAX { Duration::from_secs_f64(secs) } else { None }
}

/// A number of bytes, at least 1, or `None` when it is out of range.
pub(super) fn size(bytes: i64) -> Option<u64> {
    u64::try_from(bytes).ok().filter(|bytes| (1..=BYTES_MAX as u64).contains(bytes))
}

/// The size of a request, or `None` when it is out of range: transfers have none.
pub(super) fn request_size(bytes: i64) -> Option<u64> {
    if bytes == 0 { Some(0) } else { size(bytes) }
}

/// A day, or `None` when it is out of range. The last one is chosen: a day more than any trace has.
pub(super) fn day(day: i64) -> Option<u32> {
    u32::try_from(day).ok().filter(|day| (1..=1_000_000).contains(day))
}

/// True or false, in small or capital letters, or `None` for another word.
pub(super) fn truth(word: &str) -> Option<bool> {
    ["false", "true"].iter().position(|known| word.eq_ignore_ascii_case(known)).map(|place| place == 1)
}

/// A buffer, or `None` when it is out of range.
pub(super) fn buffer(bytes: i64) -> Option<u64> {
    size(bytes).filter(|bytes| *bytes >= BUFFER_BYTES_MIN)
}

/// A maximum segment size, or `None` when it is out of range.
pub(super) fn mss(bytes: i64) -> Option<u16> {
    u16::try_from(bytes).ok().filter(|bytes| MSS_BYTES.contains(bytes))
}

/// ` (did you mean NAME?)` for the name that `word` is most like, or nothing.
pub(in crate::workload) fn near(word: &str, names: &[&str]) -> String {
    let likeness = |name: &&&str| (strsim::jaro_winkler(word, name) * 1e6) as u64;
    match names.iter().max_by_key(likeness) {
        // 0.7 is chosen: "start" is near "start_s", "time" is near nothing.
        Some(name) if strsim::jaro_winkler(word, name) > 0.7 => format!(" (did you mean {name}?)"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_allowed_is_said_with_its_bounds() {
        let (least, most) = MSS_BYTES.into_inner();
        assert!(MSS_ALLOWED.contains(&format!("from {least} to {most},")), "{MSS_ALLOWED}");
        assert!(WINDOW_ALLOWED.contains(&format!("from {BUFFER_BYTES_MIN} to 2^53")), "{WINDOW_ALLOWED}");
    }
}
