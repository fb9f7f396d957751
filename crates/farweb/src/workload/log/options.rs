//! Options of reading a log.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use super::caching::Bypass;
use super::clients::{ClientKey, ClientNames};
use super::select::{Sample, SampleBy};
use super::spans::Unit;
use super::when::Bound;
use crate::units::Duration;
use crate::workload::WorkloadError;
use crate::workload::unreadable::check_share;

/// Selects the answered requests to keep, by the link that they crossed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// Requests with a response that crossed the link: a proxy's misses, a server's answers with a body.
    Misses,
    /// Also requests with only a header across it: revalidations.
    Crossed,
    /// Also requests that a cache answered: everything that a client got with success, with the bytes that it got.
    All,
    /// Also lines that are no request of a client, or that another line is of: inner tiers, other sides, health checks, lines of the
    /// server's own machine, lines that stand in another log.
    Lines,
}

/// Source of the server time of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerTime {
    /// The origin's own time where the log has it, or the recorded elapsed time less [`LogOptions::rtt`].
    Elapsed,
    /// Nowhere: it is left out.
    None,
}

/// Options of reading a log.
#[derive(Debug, Clone, PartialEq)]
pub struct LogOptions {
    /// Answered requests to keep. `None`: those across the link behind the proxy or server that wrote the log, or to the clients of a
    /// content delivery network, whose own results are not asked.
    pub keep: Option<Keep>,
    /// True when pages that are made for each request are kept: their URL has a query, `cgi-bin` or `.cgi`.
    pub dynamic: bool,
    /// True when requests without a status of 2xx or 3xx are kept: their bytes crossed the link as well.
    pub errors: bool,
    /// True when CONNECT tunnels are kept, each as one request and one response.
    pub tunnels: bool,
    /// Requests that bypass caches, besides the rules of RFC 9111.
    pub bypass: Bypass,
    /// Round-trip time that the recorded elapsed times contain; it is taken off the server time.
    pub rtt: Duration,
    /// Size of each request in bytes, at least 1; `None`: estimated from method, URL and host.
    pub request_bytes: Option<u64>,
    /// Size of a response that the log does not give, in bytes, at least 1. `None`: such requests are left out.
    pub assume_bytes: Option<u64>,
    /// Source of the server time.
    pub server_time: ServerTime,
    /// Unit of spans whose format leaves it open. `None`: as the whole log shows it.
    pub elapsed_unit: Option<Unit>,
    /// Host of requests without one in their line, as in most logs of web servers.
    pub server_name: String,
    /// Names that the table gives to clients.
    pub client_names: ClientNames,
    /// True if the client is the first address of `X-Forwarded-For`, where a line has one: logs of servers behind a
    /// proxy.
    pub client_from_forwarded: bool,
    /// Only requests of these clients: a pattern with `*` for any text and `?` for a character.
    pub client: Option<String>,
    /// Only requests that start at this time or later.
    pub from: Option<Bound>,
    /// Only requests that start before this time.
    pub to: Option<Bound>,
    /// Only requests that start in this span, in ns since 1970, of `from` and `to` as well.
    pub span: Option<Range<i64>>,
    /// Only requests of a sample of clients or hosts.
    pub sample: Option<Sample>,
    /// Share of lines that may be unreadable, 0 to 1.
    pub max_unreadable: f64,
}

impl Default for LogOptions {
    fn default() -> Self {
        Self {
            keep: None,
            dynamic: true,
            errors: true,
            tunnels: true,
            bypass: Bypass::default(),
            rtt: Duration::ZERO,
            request_bytes: None,
            assume_bytes: None,
            server_time: ServerTime::Elapsed,
            elapsed_unit: None,
            server_name: "server".into(),
            client_names: ClientNames::Pseudonyms(ClientKey::new([0; 16])),
            client_from_forwarded: false,
            client: None,
            from: None,
            to: None,
            span: None,
            sample: None,
            max_unreadable: 0.01,
        }
    }
}

impl Keep {
    /// Names of the options.
    const NAMES: [(&str, Self); 4] =
        [("misses", Self::Misses), ("crossed", Self::Crossed), ("all", Self::All), ("lines", Self::Lines)];

    /// True if answers of caches are kept.
    pub(super) const fn has_hits(self) -> bool {
        matches!(self, Self::All | Self::Lines)
    }
}

impl LogOptions {
    /// Answered requests to keep of a log whose results of a cache count.
    pub(super) fn keep(&self) -> Keep {
        self.keep.unwrap_or(Keep::Misses)
    }

    /// Checks that the values are in range.
    pub(super) fn check(&self) -> Result<(), WorkloadError> {
        check_share(self.max_unreadable)?;
        for (option, bytes) in
            [("--request-bytes", self.request_bytes), ("--assume-bytes", self.assume_bytes)]
        {
            if bytes.is_some_and(|bytes| bytes == 0 || bytes > super::BYTES_MAX) {
                return Err(WorkloadError(format!("{option}: write a number of bytes from 1 to 2^53")));
            }
        }
        if self.from.as_ref().zip(self.to.as_ref()).is_some_and(|(from, to)| !from.is_before(to)) {
            return Err(WorkloadError(
                "--from: found a time that is not before --to; write an earlier one".into(),
            ));
        }
        if self.server_name.is_empty() {
            return Err(WorkloadError(
                "--server-name: is empty; write the host of a web server's log".into(),
            ));
        }
        if self.sample.is_some_and(|sample| !(sample.share > 0.0 && sample.share <= 1.0)) {
            return Err(WorkloadError(
                "--sample: write a share above 0 % and up to 100 %, such as 10 %".into(),
            ));
        }
        Ok(())
    }
}

pub(super) fn one_of<T: Clone>(what: &str, text: &str, values: &[(&str, T)]) -> Result<T, WorkloadError> {
    let found = values.iter().find(|(name, _)| *name == text);
    found.map(|(_, value)| value.clone()).ok_or_else(|| {
        let names: Vec<_> = values.iter().map(|(name, _)| *name).collect();
        WorkloadError(format!("{what}: found \"{text}\"; write one of: {}", names.join(", ")))
    })
}

impl FromStr for Keep {
    type Err = WorkloadError;
    fn from_str(text: &str) -> Result<Self, WorkloadError> {
        one_of("--keep", text, &Self::NAMES)
    }
}

impl fmt::Display for Keep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAMES.iter().find(|(_, keep)| keep == self).map(|(name, _)| *name);
        f.write_str(name.expect("each has a name"))
    }
}

impl FromStr for ServerTime {
    type Err = WorkloadError;
    fn from_str(text: &str) -> Result<Self, WorkloadError> {
        one_of("--server-time", text, &[("elapsed", Self::Elapsed), ("none", Self::None)])
    }
}

impl FromStr for SampleBy {
    type Err = WorkloadError;
    fn from_str(text: &str) -> Result<Self, WorkloadError> {
        one_of("--sample-by", text, &[("client", Self::Client), ("host", Self::Host)])
    }
}
