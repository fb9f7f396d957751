//! Requests to caches and their answers: by recording interval, since the warm-up and over the whole run.
//!
//! A request counts when it reaches the cache, a revalidated one as a hit when the answer is back. Its bytes are the size of
//! the response that it asks for, whichever version serves it. After the warm-up all requests count, also behind the end of the
//! measured interval: shares of them are no rates over time.

/// Activity of a cache in an interval, and its contents at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CacheStats {
    /// Requests that reached it.
    pub requests: Asked,
    /// Requests served from its contents.
    pub hits: Asked,
    /// Requests served from a fetch in progress.
    pub delayed: Asked,
    /// Requests for responses of a size never stored here.
    pub bypasses: u64,
    /// Hits after a revalidation of the copy held.
    pub revalidations: u64,
    /// Objects held.
    pub objects: u64,
    /// Bytes held.
    pub bytes: u64,
}

/// Requests, and the bytes of the responses that they ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Asked {
    /// Number of requests.
    pub number: u64,
    /// Their responses, in bytes.
    pub bytes: u64,
}

/// Counts the activity of a cache.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CacheWatch {
    /// Since the run began.
    pub(crate) total: CacheStats,
    /// Value of `total` when the recording interval began, and at the end of the warm-up.
    interval_from: CacheStats,
    measured_from: CacheStats,
}

impl Asked {
    /// Counts one more request, for a response of `bytes`.
    pub(crate) const fn add(&mut self, bytes: u64) {
        self.number += 1;
        self.bytes += bytes;
    }

    const fn since(self, before: Self) -> Self {
        Self { number: self.number - before.number, bytes: self.bytes - before.bytes }
    }
}

impl CacheStats {
    /// Counts since `before`, and the bytes held now.
    const fn since(self, before: Self) -> Self {
        Self {
            requests: self.requests.since(before.requests),
            hits: self.hits.since(before.hits),
            delayed: self.delayed.since(before.delayed),
            bypasses: self.bypasses - before.bypasses,
            revalidations: self.revalidations - before.revalidations,
            ..self
        }
    }
}

impl CacheWatch {
    /// Counts since the last call, and the bytes held now.
    pub(super) const fn close_interval(&mut self) -> CacheStats {
        let stats = self.total.since(self.interval_from);
        self.interval_from = self.total;
        stats
    }

    pub(super) const fn begin_measuring(&mut self) {
        self.measured_from = self.total;
    }

    /// Counts since the warm-up.
    pub(super) const fn measured(&self) -> CacheStats {
        self.total.since(self.measured_from)
    }
}
