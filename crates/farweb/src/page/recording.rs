//! A page load as recorded: its requests by issue, what was left out, and limits of the file.

use super::sent::{Protocol, Sent};

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
        let number = |protocol| self.sent.iter().filter(|sent| sent.protocol == protocol).count();
        let first = self.sent.iter().map(|sent| sent.protocol).rev();
        first.max_by_key(|protocol| number(*protocol)).expect("a page has a request")
    }
}
