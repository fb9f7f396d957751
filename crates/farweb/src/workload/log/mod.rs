//! Request tables from logs, streamed: a line in, a request out or a reason why not, in constant memory.
//!
//! Every line is accounted for: it gives a request, is dropped for a [`Reason`], or could not be read, which the
//! [`Report`] names with its number and its fault. Too many unreadable lines are an error, since the file
//! is then of another format. Requests come in the order of the log, by their ends; the caller
//! sorts.
//!
//! Lines of every format go the same way: anything [`wrapped`] around a line is passed over, the [`layout`] divides a line into fields, the
//! fields that are of use make a [`record`], and [`rules`] decide about it. Lines without a client's request, and second lines
//! of one, are set [`apart`]; an [`overview`] of all logs of an import knows which stand in two. A format with a name is a row of [`known`].
//! [`Facts`] are of all lines, also of dropped ones.
//!
//! Assumed, and said in the report: a request has the size of its first line, its `Host` line and 205 B of other
//! headers, and no body; the server took the elapsed time less a given round trip, at least 0; in a server's log a
//! response has a header of 250 B besides its body.
//!
//! Left out: the content type, requests that a proxy sends on its own account.

mod apart;
mod batch;
mod caching;
mod calls;
mod captures;
mod clients;
mod directives;
mod facts;
mod field;
mod format;
mod json;
mod keys;
mod known;
mod layout;
mod names;
mod options;
mod others;
mod overview;
mod pattern;
mod programs;
mod record;
mod report;
mod rules;
mod secure;
mod select;
mod several;
mod spans;
mod squid;
mod statement;
mod strftime;
mod syslog;
mod units;
mod unread;
mod values;
mod when;
mod wrapped;

pub use batch::{ClientColumn, LogBatch};
pub use caching::{Bypass, CachingReport, Rule};
pub use clients::{ClientKey, ClientNames};
pub use format::LogFormat;
pub use options::{Keep, LogOptions, ServerTime};
pub use overview::{Known as KnownOfLog, Overview, Repeat};
pub use report::{FirstRequest, Reason, Report, TimeOuts, Unclear};
pub use select::{Sample, SampleBy};
pub use several::LogsReader;
pub use spans::Unit;
pub use unread::UnreadFields;
pub use when::Bound;
pub(crate) use when::unix_us;

use std::path::Path;

use super::lines::{LINE_BYTES_MAX, Line, Lines, clipped};
use super::{Method, ObjectId, OriginTime, WorkloadError};
use crate::units::Duration;
use batch::Builder;
use field::Field;
use layout::Layout;
use record::Record;
use units::{Signs, Units};
use wrapped::Parts;

/// Largest request or response, in bytes, as in a request table.
const BYTES_MAX: u64 = 1 << 53;

/// In ns.
const SECOND: i64 = 1_000_000_000;

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
    /// True when that is a whole second.
    whole: bool,
    /// Time in ns from its start to its line's time.
    before: i64,
    host: String,
    object: ObjectId,
    /// As the log has it.
    client: Option<Box<[u8]>>,
    request_bytes: u64,
    response_bytes: u64,
    server: OriginTime,
    method: Method,
    /// Rule for its treatment by caches.
    rule: Rule,
    /// True under TLS; `None` where the line does not say.
    tls: Option<bool>,
    /// True if its page is made for each request.
    is_dynamic: bool,
    /// Its line, where it may be the earliest request.
    first: Option<Box<FirstRequest>>,
}

impl Entry {
    /// Its earliest and its latest start, in ns since 1970: a whole second is spread.
    const fn start_range(&self) -> (i64, i64) {
        let least = self.at - self.before;
        (least, least + if self.whole { SECOND } else { 0 })
    }

    /// The request as line `number` was read.
    fn described(&self, number: u64, record: &Record<'_>) -> FirstRequest {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let seconds = |span: Option<Duration>| span.map(|span| span.as_secs_f64());
        let url = record.url.as_deref().unwrap_or_default();
        let method = record.method.as_deref().unwrap_or(b"GET");
        FirstRequest {
            log: String::new(),
            line: number,
            start_unix_s: (self.at - self.before) as f64 / 1e9,
            client: self.client.as_deref().map(text),
            method: text(method),
            url: text(url),
            host: self.host.clone(),
            has_host: record.host.is_some() || values::host_and_path(url).is_some() || method == b"CONNECT",
            status: record.status,
            request_bytes: self.request_bytes,
            request_bytes_logged: record.sent.or(record.sent_body),
            response_bytes: self.response_bytes,
            response_bytes_logged: record.total.or(record.body),
            server_s: seconds(self.server.whole()),
            wait_s: seconds(self.server.wait()),
        }
    }
}

/// Facts of a whole log that decide about its lines.
#[derive(Debug)]
struct Whole {
    /// A user named on every line.
    shared_user: Option<Box<[u8]>>,
    /// Clients on the loopback interface stand for others.
    behind_own_proxy: bool,
    /// Facts of all logs of the import together.
    known: KnownOfLog,
}

/// Reads requests from a log.
#[derive(Debug)]
pub struct LogReader {
    lines: Lines,
    parts: Parts,
    options: LogOptions,
    layout: Layout,
    whole: Whole,
    builder: Builder,
    report: Report,
    /// Another format that the first unreadable line fits.
    looks_like: Option<LogFormat>,
}

impl LogReader {
    /// Opens the log at `path`, plain or packed by gzip, xz or Zstandard; `-` is standard input. `known` is what an [`Overview`] says about it.
    ///
    /// # Errors
    /// When it cannot be opened, is no text, has no known format, or an option is out of range.
    pub fn open(
        path: &Path,
        format: &LogFormat,
        options: LogOptions,
        known: KnownOfLog,
    ) -> Result<Self, WorkloadError> {
        Self::new(Lines::open(path)?, format, options, known)
    }

    fn new(
        lines: Lines,
        format: &LogFormat,
        options: LogOptions,
        known: KnownOfLog,
    ) -> Result<Self, WorkloadError> {
        options.check()?;
        let head = wrapped::joined(lines.head()).into_owned();
        let found = match format {
            LogFormat::Auto => LogFormat::of_head(&head)
                .or_else(|| LogFormat::of_first(&head))
                .ok_or_else(|| unknown(&lines, &head))?,
            named => named.clone(),
        };
        let software = found.software(&head);
        let mut layout = found.layout(&head)?;
        let unit = decide(&mut layout, &head, &known, &options)
            .map_err(|why| WorkloadError(format!("{}: --elapsed-unit: {why}", lines.name())))?;
        let shared_user = caching::shared_user(&layout, &head);
        let behind_own_proxy = apart::is_behind_own_proxy(&layout, &head, options.client_from_forwarded);
        let mut assumed = assumptions(&found, &options);
        if shared_user.is_some() {
            assumed.push(
                "Nearly all of the first requests name the same user, who is one for all: caches may serve them.".into(),
            );
        }
        let report = Report::new(found.to_string(), software, assumed, &layout, unit);
        if options.client_from_forwarded {
            let checked = layout.check_forwarded(&head);
            checked.map_err(|why| WorkloadError(format!("{}: {why}", lines.name())))?;
        }
        if let Some(keep @ (Keep::Misses | Keep::Crossed)) = options.keep {
            let checked = layout.check_results(&head);
            checked.map_err(|why| WorkloadError(format!("{}: --keep {keep}: {why}", lines.name())))?;
        }
        for (name, is_asked, field) in [
            ("cookie", options.bypass.cookie, Field::Cookie),
            ("set-cookie", options.bypass.set_cookie, Field::SetCookie),
        ] {
            if is_asked && !layout.shown(&head, |known| known == field).0 {
                return Err(WorkloadError(format!(
                    "{}: --bypass {name}: its lines have no {}",
                    lines.name(),
                    field.name()
                )));
            }
        }
        select::check_bounds(&options, &layout, &head)
            .map_err(|why| WorkloadError(format!("{}: {why}", lines.name())))?;
        let builder = Builder::new(options.client_names);
        let whole = Whole { shared_user, behind_own_proxy, known };
        Ok(Self { lines, parts: Parts::default(), options, layout, whole, builder, report, looks_like: None })
    }

    /// The next requests in the order of the log, about `rows` (a second of a server's log is not divided). `None` at
    /// the end.
    ///
    /// # Errors
    /// When the file cannot be read on, or more lines are unreadable than [`LogOptions::max_unreadable`] allows.
    pub fn batch(&mut self, rows: usize) -> Result<Option<LogBatch>, WorkloadError> {
        loop {
            let Self { lines, parts, options, layout, whole, builder, report, looks_like } = self;
            let number = lines.number() + 1;
            let Some(line) = lines.next()? else { break };
            report.lines += 1;
            let (Line::Whole(text) | Line::TooLong(text)) = line;
            let is_repeated = whole.known.repeated.contains(&number) && overview::has_content(text);
            if is_repeated && options.keep() == Keep::Lines {
                report.kept_apart += 1;
            } else if is_repeated {
                report.drop(Reason::Repeated);
                continue;
            }
            let Some(joined) = parts.join(text) else {
                report.drop(Reason::Part);
                continue;
            };
            let is_too_long = matches!(line, Line::TooLong(_)) || joined.len() > LINE_BYTES_MAX;
            let text = &*joined;
            let line = if is_too_long { Line::TooLong(text) } else { Line::Whole(text) };
            match verdict(line, number, layout, whole, options, report) {
                Ok(Verdict::Dropped(reason)) => report.drop(reason),
                Ok(Verdict::Request(entry)) => {
                    let full = builder.len() >= rows.max(1) && builder.may_end_before(&entry);
                    let batch = full.then(|| builder.take());
                    builder.push(entry);
                    if let Some(batch) = batch {
                        report.give_out(&batch, builder);
                        return Ok(Some(batch));
                    }
                }
                Err(why) => {
                    if report.unreadable.count == 0 {
                        *looks_like = LogFormat::of_head(text);
                    }
                    report.cannot_read(number, why, text);
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
        self.report.give_out(&batch, &self.builder);
        Ok(Some(batch))
    }

    /// Report on the lines read so far. Its sums are over the requests given out.
    #[must_use]
    pub const fn report(&self) -> &Report {
        &self.report
    }

    /// Error for the file, which names the format that it may have.
    fn hinted(&self, error: WorkloadError) -> WorkloadError {
        // Some formats have several names.
        let is_other = |format: &LogFormat| {
            format.layout(self.lines.head()).is_ok_and(|layout| layout.is_other_than(&self.layout))
        };
        match &self.looks_like {
            Some(format) if is_other(format) => {
                WorkloadError(format!("{error}; that line reads as format {format}"))
            }
            _ => match wrapped::unwrapped_by(self.lines.head()) {
                Some(jq) => WorkloadError(format!(
                    "{error}; requests are inside of other JSON, make a line of each: {jq} {}",
                    self.lines.name()
                )),
                None => error,
            },
        }
    }
}

fn verdict(
    line: Line<'_>,
    number: u64,
    layout: &mut Layout,
    whole: &Whole,
    options: &LogOptions,
    report: &mut Report,
) -> Result<Verdict, String> {
    let Line::Whole(line) = line else {
        return Err(format!("is longer than {LINE_BYTES_MAX} bytes"));
    };
    let line = &*wrapped::message(line);
    if line.trim_ascii().is_empty() {
        return Ok(Verdict::Dropped(Reason::Blank));
    }
    if layout.heads(line, number == 1) {
        return Ok(Verdict::Dropped(Reason::Header));
    }
    let mut record = match layout.read(line) {
        Ok(record) => record,
        Err(_) if layout.is_other(line) => {
            return Ok(Verdict::Dropped(Reason::NoRequest));
        }
        Err(why) => return Err(why),
    };
    report.check_clock(&record)?;
    if record.user == whole.shared_user.as_deref().map(Into::into) {
        record.user = None;
    }
    if options.client_from_forwarded {
        clients::take_forwarded(&mut record);
    }
    let is_apart = || match whole.apart(&record) {
        Some(_) if options.keep() == Keep::Lines => {
            report.kept_apart += 1;
            None
        }
        reason => reason,
    };
    let mut verdict = rules::verdict(&record, options, is_apart)?;
    let dropped = match &mut verdict {
        Verdict::Dropped(reason) => Some(*reason),
        Verdict::Request(entry) => {
            report.treated.add(&record, entry);
            let is_own =
                record.server.is_some() || record.server_header.is_some() || entry.method == Method::Connect;
            report.with_elapsed_time += u64::from(entry.server.whole().is_some() && !is_own);
            report.unread_fields.add(record.rest);
            report.add_unclear(&record);
            if rules::is_given_up(&record) {
                report.given_up.add(entry.response_bytes);
            }
            report.time_outs.add(number, &record, entry.server.whole());
            if report.may_be_first(entry) {
                entry.first = Some(Box::new(entry.described(number, &record)));
            }
            None
        }
    };
    report.facts.add(&record, dropped);
    Ok(verdict)
}

impl Whole {
    /// Why a line is no request, or the second one of a request.
    fn apart(&self, record: &Record<'_>) -> Option<Reason> {
        let second = || self.known.calls.has_caller_of(record).then_some(Reason::OtherSide);
        apart::reason(record, self.behind_own_proxy).or_else(second)
    }
}

/// Decides about the unit of spans whose format leaves it open. What was decided, for people.
///
/// # Errors
/// When a unit is stated, and the log has its own.
fn decide(
    layout: &mut Layout,
    head: &[u8],
    known: &KnownOfLog,
    options: &LogOptions,
) -> Result<Option<String>, String> {
    if let Some(unit) = options.elapsed_unit {
        units::check_open(layout, head)?;
        layout.decide(Units::Stated(unit));
        return Ok(None);
    }
    let signs = known.signs.unwrap_or_else(|| Signs::of_head(layout, head));
    layout.decide(signs.units());
    Ok(signs.said())
}

/// Error for a file of no known format.
fn unknown(lines: &Lines, head: &[u8]) -> WorkloadError {
    let name = lines.name();
    let Some(first) = head.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty()) else {
        let is_empty = lines.head().trim_ascii().is_empty();
        let why = if is_empty { "is empty" } else { "has parts of lines without their last ones (stdout P)" };
        return WorkloadError(format!("{name}: {why}"));
    };
    if is_har(head) {
        return WorkloadError(format!(
            "{}: is a HAR file, the page loads of a browser, which farweb page simulates and workload import makes tables of; a log of a \
             server or a proxy is read here",
            name
        ));
    }
    if let Some(jq) = wrapped::unwrapped_by(head) {
        return WorkloadError(format!(
            "{}: has its requests inside of other JSON; make a line of each: {jq} {}",
            name, name
        ));
    }
    let line = wrapped::message(first);
    let in_it = clipped(first, 120);
    if line.starts_with(b"{")
        && let Err(error) = json::value(&line)
    {
        return WorkloadError(format!("{}: its first line {}, in {in_it}", name, keys::broken(&error)));
    }
    if let Some((format, wrong)) = LogFormat::nearly(line.trim_ascii()) {
        let values = if wrong.len() == 1 { "one value" } else { "two values" };
        return WorkloadError(format!(
            "{}: its first line reads as format {format} but for {values}: {}, in {in_it}",
            name,
            wrong.join("; "),
        ));
    }
    let names: Vec<_> = LogFormat::names().map(|(name, _)| name).collect();
    WorkloadError(format!(
        "{}: no known format has lines like its first, {}; name the format ({}), describe its lines by a format string, such as \
         {{client}} [{{start}}] \"{{request}}\" {{status}} {{bytes}}, or name the keys of its JSON objects, such as start=KEY url=KEY bytes=KEY",
        name,
        in_it,
        names.join(", "),
    ))
}

/// True when a file begins as the object `log` of the HTTP Archive format does, on one line or on several.
fn is_har(head: &[u8]) -> bool {
    let plain: Vec<u8> = head.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).take(12).collect();
    plain.starts_with(b"{\"log\":{")
}

/// Assumptions, a sentence each.
fn assumptions(format: &LogFormat, options: &LogOptions) -> Vec<String> {
    let size = match options.request_bytes {
        Some(bytes) => format!("Each request has {bytes} B, as requested."),
        None => format!(
            "Where the log does not give its size, a request has its first line, its Host line and {} B of other headers, \
             about 270 B in all, and no body.",
            values::OTHER_HEADERS
        ),
    };
    let mut all = vec![size];
    if [LogFormat::SQUID, LogFormat::SQUID_COMMON].contains(format) {
        all.push("A response has the bytes that the client got, headers included.".into());
    } else {
        all.push(format!(
            "A response whose size is given without its header has a header of {LOG_HEADER_BYTES} B."
        ));
        all.push(format!("Requests whose line names no host are for one host, {}.", options.server_name));
    }
    if *format == LogFormat::SQUID {
        all.push("A request started at the logged time, which is its end, less the elapsed time.".into());
    } else {
        all.push("Requests that are logged in the same whole second are spread evenly over it.".into());
    }
    if let Some(bytes) = options.assume_bytes {
        all.push(format!("A response whose size is not logged has {bytes} B, as requested."));
    }
    all.push(match options.server_time {
        ServerTime::None => "The server time is left out, as requested.".into(),
        ServerTime::Elapsed => format!(
            "Server time: as logged, else the elapsed time (with the transfer to the client) minus a round trip of {} \
             (--rtt-ms). With neither, servers answer at once. The wait for the first byte is counted alike.",
            options.rtt
        ),
    });
    if options.keep == Some(Keep::Crossed) {
        all.push(format!("A revalidation brought a header of at most {LOG_HEADER_BYTES} B."));
    }
    all
}

#[cfg(test)]
mod tests;
