//! Report on the lines of a log, or of several: how many gave requests, were dropped or could not be read.

use std::collections::BTreeMap;

use serde::Serialize;

use super::batch::Builder;
use super::caching::CachingReport;
use super::facts::{Facts, Part};
use super::layout::Layout;
use super::record::Record;
use super::rules::is_time_out;
use super::unread::{TEXT_BYTES, UnreadFields};
use super::values;
use super::{Entry, LogBatch};
use crate::units::Duration;
use crate::workload::UnreadableLines;
use crate::workload::lines::clipped;

/// Why a line that could be read is no request of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// Nothing on the line.
    Blank,
    /// Names the columns, or says something else of the log.
    Header,
    /// A part of a longer line, read with its last one.
    Part,
    /// Starts before or after the span of time that is asked for.
    OutsideTime,
    /// A request of a client that is not selected.
    OtherClient,
    /// A request of a client or to a host that is not in the sample.
    NotSampled,
    /// A question between caches (UDP), no HTTP request.
    Icp,
    /// Refused by the proxy's rules, or asked for a password.
    Denied,
    /// The client, or a proxy that waited for a server, gave up before any byte of a response.
    Aborted,
    /// The proxy answered with an error of its own: no valid request, no connection to the server.
    Error,
    /// A tunnel: its bytes are many exchanges inside TLS, its time is how long it was open.
    ConnectTunnel,
    /// A page that is made for each request: its URL has a query, `cgi-bin` or `.cgi`.
    DynamicPage,
    /// Not answered with a status of 2xx or 3xx: with an error, or given up without a status.
    NotSuccessful,
    /// No request of HTTP, answered by an error: another protocol, or a silent connection.
    NoRequest,
    /// The log does not give the size of the answer.
    NoSize,
    /// Answered with no bytes, where the log counts headers too.
    ZeroBytes,
    /// The answer came from the proxy's own cache.
    Hit,
    /// The server confirmed a copy of the cache: only a header crossed the link.
    Revalidation,
    /// Answered by the proxy itself: an icon, a redirection, its management pages.
    AnsweredByProxy,
    /// The answer came from a cache beside this one.
    SiblingHit,
    /// Asked by another tier of a CDN or of a cache, which logs the client's request itself.
    InnerTier,
    /// The server's side of a request that the caller's sidecar logs too.
    OtherSide,
    /// A check by a balancer or an orchestrator of its own servers.
    HealthCheck,
    /// From the machine of the server itself: it crossed no network.
    Loopback,
    /// Stands in another of the logs too.
    Repeated,
}

impl Reason {
    /// True for lines that are no request of a client, or one that another line is of: facts of the log leave them out.
    pub(super) const fn is_no_request(self) -> bool {
        matches!(
            self,
            Self::Icp
                | Self::NoRequest
                | Self::InnerTier
                | Self::OtherSide
                | Self::HealthCheck
                | Self::Loopback
                | Self::Repeated
        )
    }

    /// True for lines that are not expected to have a request.
    pub(super) const fn is_no_line(self) -> bool {
        matches!(self, Self::Blank | Self::Header | Self::Part)
    }

    /// Description of such lines, to follow their number, of one or of several.
    pub(super) const fn meaning(self) -> &'static str {
        match self {
            Self::Blank => "blank",
            Self::Header => "with names of columns, or about the log",
            Self::Part => "read with the last part of a longer line",
            Self::OutsideTime => "outside the selected span of time",
            Self::OtherClient => "of clients that were not selected",
            Self::NotSampled => "not in the sample",
            Self::Icp => "asked between caches",
            Self::Denied => "refused by the proxy, or asked for a password",
            Self::Aborted => "given up before any byte of a response",
            Self::Error => "answered by the proxy with an error of its own",
            Self::ConnectTunnel => "for tunnels, many exchanges under TLS",
            Self::DynamicPage => "for pages made for each request",
            Self::NotSuccessful => "not answered with a status of 2xx or 3xx",
            Self::NoRequest => "without a request of HTTP",
            Self::NoSize => "without the size of the response",
            Self::ZeroBytes => "answered with no bytes",
            Self::Hit => "answered by the proxy's cache",
            Self::Revalidation => "for revalidations of the cache's copies",
            Self::AnsweredByProxy => "answered by the proxy itself",
            Self::SiblingHit => "answered by a cache beside the proxy",
            Self::InnerTier => "between tiers (a shield, a parent, a worker), not from a client",
            Self::OtherSide => "of the server's side, where the caller's sidecar logs too",
            Self::HealthCheck => "from health checks of a balancer or an orchestrator",
            Self::Loopback => "from the server's own machine",
            Self::Repeated => "also in another of the logs",
        }
    }
}

/// A request as its line was read.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FirstRequest {
    /// Name of its log, empty where there is but one.
    pub log: String,
    /// Number of its line, from 1.
    pub line: u64,
    /// Unix time of its start, in s.
    pub start_unix_s: f64,
    /// Client as the log has it.
    pub client: Option<String>,
    /// Method as the log has it, GET where it has none.
    pub method: String,
    /// URL as the log has it.
    pub url: String,
    /// Host, in lower case.
    pub host: String,
    /// True if the line names its host.
    pub has_host: bool,
    /// Status, where the log has it.
    pub status: Option<u64>,
    /// Size of the request in the table.
    pub request_bytes: u64,
    /// Size that the line has, with or without its header.
    pub request_bytes_logged: Option<u64>,
    /// Size of the response in the table.
    pub response_bytes: u64,
    /// Size that the line has, with or without its header.
    pub response_bytes_logged: Option<u64>,
    /// Time of the server, in s.
    pub server_s: Option<f64>,
    /// Its part before the first byte, in s.
    pub wait_s: Option<f64>,
}

/// Requests with a value that says nothing, and the first such value.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Unclear {
    /// Their number.
    pub requests: u64,
    /// The value, in quotes.
    pub text: String,
}

/// Answers of a log that are time-outs: 408, 502, 503 or 504 after [`TIME_OUT_MIN`] or more.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct TimeOuts {
    /// Number of them.
    pub requests: u64,
    /// Longest server time, in s.
    pub longest_s: f64,
    /// Status of that one; 0 without any.
    pub status: u64,
    /// Its line, from 1.
    pub line: u64,
    /// Name of its log, empty where there is but one.
    pub log: String,
}

/// Least server time of an error that counts as a time-out. Chosen: below the defaults of proxies (30 to 60 s).
const TIME_OUT_MIN: Duration = Duration::from_secs(10);

impl TimeOuts {
    /// Counts an answer to a request that a server took `time` for, if it is one.
    pub(super) fn add(&mut self, line: u64, record: &Record<'_>, time: Option<Duration>) {
        let Some(time) = time.filter(|time| *time >= TIME_OUT_MIN && is_time_out(record)) else { return };
        self.requests += 1;
        if time.as_secs_f64() > self.longest_s {
            let status = record.status.unwrap_or(0);
            let log = String::new();
            *self = Self { requests: self.requests, longest_s: time.as_secs_f64(), status, line, log };
        }
    }
}

/// Counts of a log so far: `lines = requests + sum of dropped + unreadable lines` at its end.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Report {
    /// Formats of the logs, each once: their names, or the format string.
    pub formats: Vec<String>,
    /// Lines.
    pub lines: u64,
    /// Requests given out.
    pub requests: u64,
    /// Lines that are no request of the table, by reason.
    pub dropped: BTreeMap<Reason, u64>,
    /// Description of such lines, for each of those reasons.
    pub meanings: BTreeMap<Reason, &'static str>,
    /// Lines that [`Keep::Lines`](super::Keep::Lines) alone does not leave out.
    pub kept_apart: u64,
    /// Lines that could not be read.
    #[serde(flatten)]
    pub unreadable: UnreadableLines,
    /// Assumptions, a sentence each.
    pub assumptions: Vec<String>,
    /// The Unix time of `start_s` 0, in s: the whole second of the log's first start.
    pub origin_unix_s: Option<i64>,
    /// Start of the earliest request, in s since the origin.
    #[serde(skip)]
    pub first_start_s: Option<f64>,
    /// Start of the latest request, in s since the origin.
    #[serde(skip)]
    pub last_start_s: Option<f64>,
    /// True when the requests came by start time. A log by end time seldom does.
    pub sorted: bool,
    /// True when a whole second stands in two places, between lines of others or in two logs.
    pub seconds_come_back: bool,
    /// Requests with a server time.
    pub with_server_time: u64,
    /// Requests with a wait for the first byte in it.
    pub with_wait: u64,
    /// Requests with a server time from an elapsed time, which contains the path of the log.
    pub with_elapsed_time: u64,
    /// Bytes of all requests.
    pub request_bytes: u64,
    /// Bytes of all responses.
    pub response_bytes: u64,
    /// Facts of all requests of the log.
    #[serde(flatten)]
    pub facts: Facts,
    /// Treatment of the requests of the table by caches.
    #[serde(flatten)]
    pub treated: CachingReport,
    /// Unreadable lines by the value that is wrong; `form` where a line is not divided as its format says.
    pub unreadable_by: BTreeMap<String, u64>,
    /// The earliest request of the table, of several the first in the log, as its line was read.
    pub first_request: Option<FirstRequest>,
    /// Requests of the table with a time-out for an answer.
    pub time_outs: TimeOuts,
    /// Fields behind the agent that the format does not name.
    pub unread_fields: UnreadFields,
    /// Requests of the table that were given up, with the bytes of their responses up to then.
    pub given_up: Part,
    /// Requests of the table with a value that says nothing about what its field stands for, by field.
    pub unclear: BTreeMap<&'static str, Unclear>,
    /// Units of spans whose format leaves it open, why, and how to override it.
    pub units: Vec<String>,
    /// Assumption about the unit of a span, where others write it in another one.
    pub unit_doubt: Option<&'static str>,
    #[serde(skip)]
    last_given: Option<f64>,
    /// The earliest request starts then at the latest, in ns since 1970.
    #[serde(skip)]
    first_by: i64,
    /// Times are since the start of the log.
    #[serde(skip)]
    since_start: Option<bool>,
}

impl Report {
    pub(super) fn new(
        format: String,
        software: Option<String>,
        assumptions: Vec<String>,
        layout: &Layout,
        unit: Option<String>,
    ) -> Self {
        let facts = Facts { software, ..Facts::default() };
        Self {
            formats: vec![format],
            facts,
            assumptions,
            units: unit.map(|unit| format!("times are {unit}")).into_iter().collect(),
            unit_doubt: layout.doubt(),
            sorted: true,
            first_by: i64::MAX,
            ..Self::default()
        }
    }

    pub(super) fn drop(&mut self, reason: Reason) {
        *self.dropped.entry(reason).or_default() += 1;
        self.meanings.entry(reason).or_insert_with(|| reason.meaning());
    }

    /// Checks that a time counts from where those before it do.
    pub(super) fn check_clock(&mut self, record: &Record<'_>) -> Result<(), String> {
        let Some(at) = record.at else { return Ok(()) };
        let is_since = values::is_since_start(at.nanos);
        match is_since == *self.since_start.get_or_insert(is_since) {
            true => Ok(()),
            false => Err("time: found one since the start of the log beside others that are dates".into()),
        }
    }

    /// Counts a value of a request that says nothing.
    pub(super) fn add_unclear(&mut self, record: &Record<'_>) {
        let Some((field, text)) = &record.unclear else { return };
        let text = || clipped(text.trim_ascii(), TEXT_BYTES);
        let unclear =
            self.unclear.entry(field.name()).or_insert_with(|| Unclear { requests: 0, text: text() });
        unclear.requests += 1;
    }

    /// Counts a line that could not be read.
    pub(super) fn cannot_read(&mut self, line: u64, why: String, text: &[u8]) {
        let value = why.split_once(": found ").map_or("form", |(value, _)| value).to_owned();
        *self.unreadable_by.entry(value).or_default() += 1;
        self.unreadable.add(line, why, text);
    }

    /// True if a request may turn out to be the earliest one, wherever in its second it is spread to.
    pub(super) fn may_be_first(&mut self, entry: &Entry) -> bool {
        let (least, most) = entry.start_range();
        let is_earlier = least < self.first_by;
        self.first_by = self.first_by.min(most);
        is_earlier
    }

    pub(super) fn give_out(&mut self, batch: &LogBatch, from: &Builder) {
        self.origin_unix_s = from.origin_s();
        self.first_request = from.first().cloned();
        self.requests += batch.start_s.len() as u64;
        let known = |times: &[f64]| times.iter().filter(|time| !time.is_nan()).count() as u64;
        self.with_server_time += known(&batch.server_s);
        self.with_wait += known(&batch.wait_s);
        for start in &batch.start_s {
            self.sorted &= self.last_given.is_none_or(|last| last <= *start);
            self.last_given = Some(*start);
            self.first_start_s = Some(self.first_start_s.map_or(*start, |first| first.min(*start)));
            self.last_start_s = Some(self.last_start_s.map_or(*start, |last| last.max(*start)));
        }
        let sum =
            |bytes: &[i64]| bytes.iter().fold(0_u64, |sum, bytes| sum.saturating_add(bytes.unsigned_abs()));
        self.request_bytes = self.request_bytes.saturating_add(sum(&batch.request_bytes));
        self.response_bytes = self.response_bytes.saturating_add(sum(&batch.response_bytes));
    }
}
