//! Request tables from logs, streamed: a line in, a request out or a reason why not, in constant memory.
//!
//! Every line is accounted for: it gives a request, is dropped for a [`Reason`], or could not be read, which the
//! [`Report`] names with its number and what is wrong with it. Too many unreadable lines are an error, since the file
//! is then not what it was taken for. Requests come in the order of the log, which is that of their ends; the caller
//! sorts.
//!
//! Lines of every format go the same way: the [`layout`] divides a line into fields, the fields that are of use make a
//! [`record`], and [`rules`] decide about it.
//!
//! Assumed, and said in the report: a request has the size of its first line, its `Host` line and 205 B of other
//! headers, and no body; the server took the elapsed time less a given round trip, at least 0; in a server's log a
//! response has a header of 250 B besides its body.
//!
//! Left out: the client (a table has one), the content type, requests that a proxy sends on its own account.

mod batch;
mod fields;
mod format;
mod layout;
mod names;
mod options;
mod pattern;
mod record;
mod report;
mod rules;
mod select;
mod squid;
mod when;

pub use batch::LogBatch;
pub use format::LogFormat;
pub use options::{Keep, LogOptions, ServerTime};
pub use report::{Reason, Report};
pub use select::{Sample, SampleBy};
pub use when::Bound;

use std::path::Path;

use super::lines::{LINE_BYTES_MAX, Line, Lines, clipped};
use super::{ObjectId, OriginTime, WorkloadError};
use batch::Builder;
use layout::Layout;

/// Largest request or response, in bytes, as in a request table.
const BYTES_MAX: u64 = 1 << 53;

/// A response's header in a server's log, in bytes. Chosen: responses of 1997 had 150 to 300 B (status line, Date, Server,
/// Last-Modified, Content-Type, Content-Length).
pub const LOG_HEADER_BYTES: u64 = 250;

/// Verdict on a line.
enum Verdict {
    Request(Entry),
    Dropped(Reason),
}

/// A request as its line has it.
struct Entry {
    /// The logged time, in ns since 1970.
    at: i64,
    /// Whether that is a whole second.
    whole: bool,
    /// Time in ns by which it started before its line's time.
    before: i64,
    host: String,
    object: ObjectId,
    request_bytes: u64,
    response_bytes: u64,
    server: OriginTime,
}

/// Reads requests from a log.
#[derive(Debug)]
pub struct LogReader {
    lines: Lines,
    options: LogOptions,
    layout: Layout,
    builder: Builder,
    report: Report,
    /// Another format that the first unreadable line fits.
    looks_like: Option<LogFormat>,
}

impl LogReader {
    /// Opens the log at `path`, plain or packed by gzip, xz or Zstandard; `-` is standard input.
    ///
    /// # Errors
    /// When it cannot be opened, is no text, has no known format, or an option is out of range.
    pub fn open(path: &Path, format: &LogFormat, options: LogOptions) -> Result<Self, WorkloadError> {
        Self::new(Lines::open(path)?, format, options)
    }

    fn new(lines: Lines, format: &LogFormat, options: LogOptions) -> Result<Self, WorkloadError> {
        options.check()?;
        let found = match format {
            LogFormat::Auto => LogFormat::of_head(lines.head()).ok_or_else(|| unknown(&lines))?,
            named => named.clone(),
        };
        let report = Report::new(found.to_string(), assumptions(&found, &options));
        let layout = found.layout(lines.head())?;
        Ok(Self { lines, options, layout, builder: Builder::default(), report, looks_like: None })
    }

    /// The next requests in the order of the log, about `rows` (a second of a server's log is not divided); `None` at
    /// the end.
    ///
    /// # Errors
    /// When the file cannot be read on, or more lines are unreadable than [`LogOptions::max_unreadable`] allows.
    pub fn batch(&mut self, rows: usize) -> Result<Option<LogBatch>, WorkloadError> {
        loop {
            let Self { lines, options, layout, builder, report, looks_like } = self;
            let number = lines.number() + 1;
            let Some(line) = lines.next()? else { break };
            let (Line::Whole(text) | Line::TooLong(text)) = line;
            report.lines += 1;
            match verdict(line, number == 1, layout, options) {
                Ok(Verdict::Dropped(reason)) => report.drop(reason),
                Ok(Verdict::Request(entry)) => {
                    let full = builder.len() >= rows.max(1) && builder.may_end_before(&entry);
                    let batch = full.then(|| builder.take());
                    builder.push(&entry);
                    if let Some(batch) = batch {
                        report.give_out(&batch, builder.origin_s());
                        return Ok(Some(batch));
                    }
                }
                Err(why) => {
                    if report.unreadable.count == 0 {
                        *looks_like = LogFormat::of_head(text);
                    }
                    report.unreadable.add(number, why, text);
                    let early =
                        report.unreadable.check_early(options.max_unreadable, report.lines, lines.name());
                    early.map_err(|error| self.hinted(error))?;
                }
            }
        }
        let Report { lines, unreadable, .. } = &self.report;
        let few = unreadable.check(self.options.max_unreadable, *lines, self.lines.name());
        few.map_err(|error| self.hinted(error))?;
        if self.builder.len() == 0 {
            return Ok(None);
        }
        let batch = self.builder.take();
        self.report.give_out(&batch, self.builder.origin_s());
        Ok(Some(batch))
    }

    /// Report on the lines read so far; the sums are those of the requests given out.
    #[must_use]
    pub const fn report(&self) -> &Report {
        &self.report
    }

    /// Error for the file, which names the format that it may have.
    fn hinted(&self, error: WorkloadError) -> WorkloadError {
        match &self.looks_like {
            Some(format) if format.to_string() != self.report.format => {
                WorkloadError(format!("{error}; that line reads as format {format}"))
            }
            _ => error,
        }
    }
}

fn verdict(
    line: Line<'_>,
    first: bool,
    layout: &mut Layout,
    options: &LogOptions,
) -> Result<Verdict, String> {
    let Line::Whole(line) = line else {
        return Err(format!("is longer than {LINE_BYTES_MAX} bytes"));
    };
    if line.trim_ascii().is_empty() {
        return Ok(Verdict::Dropped(Reason::Blank));
    }
    if layout.heads(line, first) {
        return Ok(Verdict::Dropped(Reason::Header));
    }
    rules::verdict(&layout.read(line)?, options)
}

/// Error for a file whose format no line shows.
fn unknown(lines: &Lines) -> WorkloadError {
    let first = lines.head().split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty());
    WorkloadError(format!(
        "{}: no known format has lines like its first, {}; name the format, or describe its lines by a format string",
        lines.name(),
        clipped(first.unwrap_or_default(), 120)
    ))
}

/// Assumptions, a sentence each.
fn assumptions(format: &LogFormat, options: &LogOptions) -> Vec<String> {
    let size = match options.request_bytes {
        Some(bytes) => format!("Each request has {bytes} B, as requested."),
        None => format!(
            "Where the log does not give its size, a request has its first line, its Host line and {} B of other headers, \
             about 270 B in all, and no body.",
            fields::OTHER_HEADERS
        ),
    };
    let mut all = vec![size];
    if matches!(format, LogFormat::Squid | LogFormat::SquidCommon) {
        all.push("A response has the bytes that the client got, headers included.".into());
    } else {
        all.push(format!(
            "A response whose size is given without its header has a header of {LOG_HEADER_BYTES} B."
        ));
        all.push(format!("Requests whose line names no host are for one host, {}.", options.server_name));
    }
    if *format == LogFormat::Squid {
        all.push("A request started at the logged time, which is its end, less the elapsed time.".into());
    } else {
        all.push("Requests that are logged in the same whole second are spread evenly over it.".into());
    }
    all.push(match options.server_time {
        ServerTime::None => "The server time is left out, as requested.".into(),
        ServerTime::Elapsed => format!(
            "The server took what the log says of it; else the elapsed time less a round trip of {}, at least 0, which \
             contains the transfer to the client as it was; where the log has neither, its time is not known. The wait \
             for the first byte, where the log has it, is counted alike and is at most the whole.",
            options.rtt
        ),
    });
    if options.keep == Keep::Crossed {
        all.push(format!("A revalidation brought a header of at most {LOG_HEADER_BYTES} B."));
    }
    if options.tunnels {
        all.push("A CONNECT tunnel is one request and one response of all its bytes.".into());
    }
    all
}

#[cfg(test)]
mod tests;
