//! Requests to caches and what they served: by recording interval, since the warm-up and over the whole run.
//!
//! A request counts when it reaches the cache; its bytes are those of the response that it asks for, whatever becomes of it. After
//! the warm-up all requests count, those behind the end of the measured interval too: shares of them are no rates over time.

/// What a cache did in a time, and what it holds at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CacheStats {
    /// What was asked for.
    pub requests: Asked,
    /// What it served from what it held.
    pub hits: Asked,
    /// What it served from a fetch that was under way.
    pub delayed: Asked,
    /// Hits for which it first asked whether what it held was still good.
    pub revalidations: u64,
    /// Objects held.
    pub objects: u64,
    /// Bytes held.
    pub bytes: u64,
}

/// Requests, and the bytes of the responses that they ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Asked {
    /// How many.
    pub number: u64,
    /// Their responses, in bytes.
    pub bytes: u64,
}

/// Follows what a cache does.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CacheWatch {
    /// Since the run began.
    pub(crate) total: CacheStats,
    /// What `total` was when the recording interval began, and at the end of the warm-up.
    interval_from: CacheStats,
    measured_from: CacheStats,
}

impl Asked {
    /// One more request, for a response of `bytes`.
    pub(crate) const fn add(&mut self, bytes: u64) {
        self.number += 1;
        self.bytes += bytes;
    }

    const fn since(self, before: Self) -> Self {
        Self { number: self.number - before.number, bytes: self.bytes - before.bytes }
    }
}

impl CacheStats {
    /// What has been counted since there was `before`, and what is held.
    const fn since(self, before: Self) -> Self {
        Self {
            requests: self.requests.since(before.requests),
            hits: self.hits.since(before.hits),
            delayed: self.delayed.since(before.delayed),
            revalidations: self.revalidations - before.revalidations,
            ..self
        }
    }
}

impl CacheWatch {
    /// What happened since the last call, and what is held now.
    pub(super) const fn close_interval(&mut self) -> CacheStats {
        let stats = self.total.since(self.interval_from);
        self.interval_from = self.total;
        stats
    }

    pub(super) const fn begin_measuring(&mut self) {
        self.measured_from = self.total;
    }

    /// What it has done since the warm-up.
    pub(super) const fn measured(&self) -> CacheStats {
        self.total.since(self.measured_from)
    }
}
