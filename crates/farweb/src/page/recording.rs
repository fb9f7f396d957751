//! A page load as recorded: its requests by issue, what was left out, and limits of the file, also in words.

use serde::{Serialize, Serializer};

use super::sent::{Protocol, Sent};
use super::words::{left_out, short_url};
use crate::units::words::{plural, scaled};

/// Words of the limits that belong beside an answer. The others are in the report of an import.
const TOLD: [&str; 10] = [
    "no initiators",
    "server push",
    "warm cache",
    "stands for it",
    "proxy near",
    "without a",
    "unknown",
    "queue",
    "twice",
    "unpacked",
];

/// A page load as recorded. Times are in ms since its start, or since its first request if that was earlier.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    /// Name of the file.
    pub file: String,
    /// Id of the page in it, empty where the file names no pages.
    pub page: String,
    /// URL of the document; where the file has none, the page's title, or the first request's URL.
    pub url: String,
    /// Program that wrote the file, with its version.
    pub exporter: String,
    /// Browser with its version, empty where unknown.
    pub browser: String,
    /// Time 0 of it, Unix time in ms.
    pub start_ms: f64,
    /// Requests over the network, by issue. At least one.
    pub sent: Vec<Sent>,
    /// Time of the server for each, in ms.
    pub server_ms: Vec<f64>,
    /// For each the host that shares a connection with its own over HTTP/2.
    pub origins: Vec<String>,
    /// Place of the document among them.
    pub root: usize,
    /// Entries that were left out, by reason, in the order of the file.
    pub dropped: Vec<(String, u64)>,
    /// onLoad, or the last end where the file has none.
    pub load_ms: f64,
    /// False where the last end stands for it.
    pub is_load_known: bool,
    /// True where the exporter marks it as a later view, with what the first one left in the cache.
    pub is_repeat: bool,
    /// DOMContentLoaded, where known.
    pub dom_ms: Option<f64>,
    /// For each request true if onLoad waited for it.
    pub gates: Vec<bool>,
    /// Round trip to each host as estimated, by its first request.
    pub rtt_ms: Vec<(String, f64)>,
    /// Lower bound of the line's rate, from its busiest fifth of a second.
    pub rate_bps: f64,
    /// Limits of the file, a sentence each, without a capital and a full stop.
    pub warnings: Vec<String>,
}

/// What a file holds of a page, and what was left out of it.
#[derive(Debug, Serialize)]
pub struct Facts<'a> {
    pub(super) page: &'a str,
    file: &'a str,
    requests: usize,
    clear_requests: usize,
    response_bytes: u64,
    recorded_onload_s: Option<f64>,
    #[serde(serialize_with = "as_table")]
    dropped: &'a [(String, u64)],
    warnings: &'a [String],
}

/// Writes rows as a table, in their order.
pub(super) fn as_table<K: Serialize, S: Serializer>(rows: &[(K, u64)], to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(rows.iter().map(|(name, value)| (name, value)))
}

impl Recording {
    /// From the last end that gated onLoad to onLoad, in ms.
    #[must_use]
    pub fn tail_ms(&self) -> f64 {
        let last = self.gating().map(|sent| sent.end_ms).fold(0.0, f64::max);
        (self.load_ms - last).max(0.0)
    }

    /// Bytes of all responses.
    #[must_use]
    pub fn response_bytes(&self) -> u64 {
        self.sent.iter().map(|sent| sent.response_bytes).sum()
    }

    /// Bytes of the responses that gated onLoad.
    #[must_use]
    pub fn gating_bytes(&self) -> u64 {
        self.gating().map(|sent| sent.response_bytes).sum()
    }

    fn gating(&self) -> impl Iterator<Item = &Sent> {
        self.sent.iter().zip(&self.gates).filter(|(_, gates)| **gates).map(|(sent, _)| sent)
    }

    /// True where a request went under TLS.
    #[must_use]
    pub fn has_tls(&self) -> bool {
        self.sent.iter().any(|sent| sent.is_secure)
    }

    /// Number of requests without TLS.
    #[must_use]
    pub fn clear_requests(&self) -> usize {
        self.sent.iter().filter(|sent| !sent.is_secure).count()
    }

    /// The protocol of most requests, of equal ones the first's.
    #[must_use]
    pub fn protocol(&self) -> Protocol {
        let mut counts: Vec<(Protocol, usize)> = Vec::new();
        for sent in &self.sent {
            match counts.iter_mut().find(|(protocol, _)| *protocol == sent.protocol) {
                Some((_, number)) => *number += 1,
                None => counts.push((sent.protocol, 1)),
            }
        }
        let most = counts.iter().rev().max_by_key(|(_, number)| number); // the first of equal ones
        most.expect("a page has a request").0
    }

    /// The page with its requests, bytes and hosts, as lines begin with them.
    #[must_use]
    pub fn counted(&self) -> String {
        format!(
            "{}: {}, {}, {}",
            short_url(&self.url),
            plural(self.sent.len() as u64, "request"),
            scaled(self.response_bytes() as f64, "B"),
            plural(self.rtt_ms.len() as u64, "host")
        )
    }

    /// What the file holds and what was left out of it, as JSON has it.
    #[must_use]
    pub fn facts(&self) -> Facts<'_> {
        Facts {
            page: &self.url,
            file: &self.file,
            requests: self.sent.len(),
            clear_requests: self.clear_requests(),
            response_bytes: self.response_bytes(),
            recorded_onload_s: self.is_load_known.then_some(self.load_ms / 1000.0),
            dropped: &self.dropped,
            warnings: &self.warnings,
        }
    }

    /// A sentence where requests have no TLS: they have none over any protocol.
    #[must_use]
    pub fn in_the_clear(&self) -> Option<String> {
        let (clear, all) = (self.clear_requests(), self.sent.len());
        if clear == 0 {
            return None;
        }
        if clear == all {
            return Some("Its URLs are http: no TLS, with either protocol.".into());
        }
        let is = if clear == 1 { "is" } else { "are" };
        Some(format!("{clear} of {} {is} http, without TLS.", plural(all as u64, "request")))
    }

    /// Sentences on entries left out and on gaps in the file that belong beside an answer.
    #[must_use]
    pub fn reservations(&self) -> Vec<String> {
        let is_told = |warning: &&str| TOLD.iter().any(|word| warning.contains(word));
        let told: Vec<&str> = self.warnings.iter().map(String::as_str).filter(is_told).collect();
        let gaps = (!told.is_empty()).then(|| format!("The file: {}.", told.join("; ")));
        let gone = (!self.dropped.is_empty()).then(|| left_out(&self.dropped));
        gone.into_iter().chain(gaps).collect()
    }
}
