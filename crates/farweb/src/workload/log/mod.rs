//! Request tables from logs, streamed: a line in, a request out or a reason why not, in constant memory.
//!
//! Every line is accounted for: it gives a request, is dropped for a [`Reason`], or could not be read, which the
//! [`Report`] tells with its number and what is wrong with it. Too many unreadable lines are an error, since the file
//! is then not what it was taken for. Requests come in the order of the log, which is that of their ends; the caller
//! sorts.
//!
//! Assumed, and said in the report: a request has the size of its first line, its `Host` line and 205 B of other
//! headers, and no body; the server took the elapsed time less a given round trip, at least 0; in a server's log a
//! response has a header of 250 B besides its body.
//!
//! Left out: the client (a table has one), the content type, requests that a proxy sends on its own account.

mod batch;
mod clf;
mod fields;
mod options;
mod report;
mod squid;

pub use batch::LogBatch;
pub use options::{Keep, LogFormat, LogOptions, ServerTime};
pub use report::{Reason, Report};

use std::borrow::Cow;
use std::path::Path;

use super::WorkloadError;
use super::lines::{Line, Lines};
use crate::units::Duration;
use batch::Builder;

/// Largest request or response, in bytes, as in a request table.
const BYTES_MAX: u64 = 1 << 53;

/// A response's header in a server's log, in bytes. Chosen: responses of 1997 had 150 to 300 B (status line, Date, Server,
/// Last-Modified, Content-Type, Content-Length).
pub const LOG_HEADER_BYTES: u64 = 250;

/// What one line says.
enum Verdict<'a> {
    Request(Entry<'a>),
    Dropped(Reason),
}

/// A request as its line has it.
struct Entry<'a> {
    /// In ns since 1970.
    start: i64,
    host: Cow<'a, str>,
    url: &'a [u8],
    request_bytes: u64,
    response_bytes: u64,
    server: Option<Duration>,
}

/// How lines are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dialect {
    Squid,
    Clf,
    Table(clf::Columns),
}

/// Reads requests from a log.
#[derive(Debug)]
pub struct LogReader {
    lines: Lines,
    options: LogOptions,
    dialect: Dialect,
    builder: Builder,
    report: Report,
    /// The other format, if the first unreadable line fits it.
    looks_like: Option<&'static str>,
}

impl LogReader {
    /// Opens the log at `path`, plain or gzip.
    ///
    /// # Errors
    /// When it cannot be opened, is no text, or an option is out of range.
    pub fn open(path: &Path, format: LogFormat, options: LogOptions) -> Result<Self, WorkloadError> {
        Self::new(Lines::open(path)?, format, options)
    }

    fn new(lines: Lines, format: LogFormat, options: LogOptions) -> Result<Self, WorkloadError> {
        options.check()?;
        let dialect = match format {
            LogFormat::Squid => Dialect::Squid,
            LogFormat::Clf => Dialect::Clf,
        };
        let report = Report::new(assumptions(format, &options));
        let builder = Builder::new(format == LogFormat::Clf);
        Ok(Self { lines, options, dialect, builder, report, looks_like: None })
    }

    /// The next requests in the order of the log, about `rows` (a second of a server's log is not divided); `None` at
    /// the end.
    ///
    /// # Errors
    /// When the file cannot be read on, or more lines are unreadable than [`LogOptions::max_unreadable`] allows.
    pub fn batch(&mut self, rows: usize) -> Result<Option<LogBatch>, WorkloadError> {
        loop {
            let Self { lines, options, dialect, builder, report, looks_like } = self;
            let number = lines.number() + 1;
            let Some(line) = lines.next()? else { break };
            let (Line::Whole(text) | Line::TooLong(text)) = line;
            if *dialect == Dialect::Clf
                && number == 1
                && let Some(columns) = clf::columns(text)
            {
                *dialect = Dialect::Table(columns);
                continue;
            }
            report.lines += 1;
            match verdict(line, *dialect, options) {
                Ok(Verdict::Dropped(reason)) => report.drop(reason),
                Ok(Verdict::Request(entry)) => {
                    let full = builder.len() >= rows.max(1) && builder.may_end_before(entry.start);
                    let batch = full.then(|| builder.take());
                    builder.push(&entry);
                    if let Some(batch) = batch {
                        report.give_out(&batch, builder.origin_s());
                        return Ok(Some(batch));
                    }
                }
                Err(why) => {
                    if report.unreadable.count == 0 {
                        *looks_like = other_format(line, *dialect, options);
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

    /// What became of the lines that were read; the sums are those of the requests given out.
    #[must_use]
    pub const fn report(&self) -> &Report {
        &self.report
    }

    /// What is wrong with the file, with the format that it may have.
    fn hinted(&self, error: WorkloadError) -> WorkloadError {
        match self.looks_like {
            Some(format) => WorkloadError(format!("{error}; that line reads as format {format}")),
            None => error,
        }
    }
}

fn verdict<'a>(line: Line<'a>, dialect: Dialect, options: &'a LogOptions) -> Result<Verdict<'a>, String> {
    let Line::Whole(line) = line else {
        return Err(format!("is longer than {} bytes", super::lines::LINE_BYTES_MAX));
    };
    if line.trim_ascii().is_empty() {
        return Ok(Verdict::Dropped(Reason::Blank));
    }
    let verdict = match dialect {
        Dialect::Squid => squid::parse(line, options),
        Dialect::Clf => clf::parse(line, options),
        Dialect::Table(columns) => clf::parse_row(line, columns, options),
    }?;
    Ok(match verdict {
        Verdict::Request(entry) if !options.dynamic && fields::is_dynamic(entry.url) => {
            Verdict::Dropped(Reason::DynamicPage)
        }
        verdict => verdict,
    })
}

fn other_format(line: Line<'_>, dialect: Dialect, options: &LogOptions) -> Option<&'static str> {
    let (other, name) = match dialect {
        Dialect::Squid => (Dialect::Clf, "clf"),
        Dialect::Clf | Dialect::Table(_) => (Dialect::Squid, "squid"),
    };
    verdict(line, other, options).is_ok().then_some(name)
}

/// What is taken for granted, a sentence each.
fn assumptions(format: LogFormat, options: &LogOptions) -> Vec<String> {
    let size = match options.request_bytes {
        Some(bytes) => format!("Each request has {bytes} B, as was asked for."),
        None => format!(
            "A request has its first line, its Host line and {} B of other headers, about 270 B in all, and no body.",
            fields::OTHER_HEADERS
        ),
    };
    let mut all = vec![size];
    match format {
        LogFormat::Squid => {
            all.push("A request started at the logged time, which is its end, less the elapsed time.".into());
            all.push("A response has the bytes that the client got, headers included.".into());
            all.push(match options.server_time {
                ServerTime::None => "The server time is left out, as was asked for.".into(),
                ServerTime::Elapsed => format!(
                    "The server took the elapsed time less a round trip of {}, at least 0; this contains the \
                     transfer to the client as it was.",
                    options.rtt
                ),
            });
            if options.keep == Keep::Crossed {
                all.push(format!("A revalidation brought a header of at most {LOG_HEADER_BYTES} B."));
            }
            if options.tunnels {
                all.push("A CONNECT tunnel is one request and one response of all its bytes.".into());
            }
        }
        LogFormat::Clf => {
            all.push(
                "The logged time is the start; the requests of a second are spread evenly over it.".into(),
            );
            all.push(format!("A response has the logged bytes and a header of {LOG_HEADER_BYTES} B."));
            all.push(format!(
                "All requests are for one host, {}; its server time is not known.",
                options.server_name
            ));
        }
    }
    all
}

#[cfg(test)]
mod tests;
