//! How a log is to be read.

use std::str::FromStr;

use crate::units::Duration;
use crate::workload::WorkloadError;
use crate::workload::unreadable::check_share;

/// Format of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// Native `access.log` of Squid.
    Squid,
    /// Common or combined log format of a web server, or a tab-separated table of the same fields with a header line.
    Clf,
}

/// Which answered requests are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// Those whose response crossed the link: a proxy's misses, a server's answers with a body.
    Misses,
    /// Also those for which only a header crossed it: revalidations.
    Crossed,
    /// Also those that a cache answered: everything that a client got with success, with the bytes that it got.
    All,
}

/// Where the server time of a request comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerTime {
    /// The recorded elapsed time less [`LogOptions::rtt`].
    Elapsed,
    /// Nowhere: it is left out.
    None,
}

/// How a log is to be read.
#[derive(Debug, Clone, PartialEq)]
pub struct LogOptions {
    /// Which answered requests are kept.
    pub keep: Keep,
    /// Whether pages that are made for each request are kept: those whose URL has a query, `cgi-bin` or `.cgi`.
    pub dynamic: bool,
    /// Whether CONNECT tunnels are kept, each as one request and one response.
    pub tunnels: bool,
    /// Round-trip time that the recorded elapsed times contain; it is taken off the server time.
    pub rtt: Duration,
    /// Size of each request in bytes, at least 1; `None`: estimated from method, URL and host.
    pub request_bytes: Option<u64>,
    /// Where the server time comes from.
    pub server_time: ServerTime,
    /// Host of all requests of a web server's log, which does not name it.
    pub server_name: String,
    /// Share of lines that may be unreadable, 0 to 1.
    pub max_unreadable: f64,
}

impl Default for LogOptions {
    fn default() -> Self {
        Self {
            keep: Keep::Misses,
            dynamic: true,
            tunnels: false,
            rtt: Duration::ZERO,
            request_bytes: None,
            server_time: ServerTime::Elapsed,
            server_name: "server".into(),
            max_unreadable: 0.01,
        }
    }
}

impl LogOptions {
    /// Whether the values are in range.
    pub(super) fn check(&self) -> Result<(), WorkloadError> {
        check_share(self.max_unreadable)?;
        if self.request_bytes.is_some_and(|bytes| bytes == 0 || bytes > super::BYTES_MAX) {
            return Err(WorkloadError("request_bytes: write a number of bytes from 1 to 2^53".into()));
        }
        if self.server_name.is_empty() {
            return Err(WorkloadError("server_name: is empty; write the host of a web server's log".into()));
        }
        Ok(())
    }
}

fn one_of<T: Copy>(what: &str, text: &str, values: &[(&str, T)]) -> Result<T, WorkloadError> {
    let found = values.iter().find(|(name, _)| *name == text);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<_> = values.iter().map(|(name, _)| *name).collect();
        WorkloadError(format!("{what}: found \"{text}\"; write one of: {}", names.join(", ")))
    })
}

impl FromStr for LogFormat {
    type Err = WorkloadError;
    fn from_str(text: &str) -> Result<Self, WorkloadError> {
        one_of("format", text, &[("squid", Self::Squid), ("clf", Self::Clf)])
    }
}

impl FromStr for Keep {
    type Err = WorkloadError;
    fn from_str(text: &str) -> Result<Self, WorkloadError> {
        one_of("keep", text, &[("misses", Self::Misses), ("crossed", Self::Crossed), ("all", Self::All)])
    }
}

impl FromStr for ServerTime {
    type Err = WorkloadError;
    fn from_str(text: &str) -> Result<Self, WorkloadError> {
        one_of("server_time", text, &[("elapsed", Self::Elapsed), ("none", Self::None)])
    }
}
