//! What caches were asked for and served, over recording intervals.
//!
//! A request counts when it reaches the cache; its bytes are those of the response that it asks for, whatever becomes of it.

/// What a cache did in an interval, and what it holds at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct CacheStats {
    /// What was asked for.
    pub(crate) requests: Asked,
    /// What it served from what it held.
    pub(crate) hits: Asked,
    /// What it served from a fetch that was under way.
    pub(crate) delayed: Asked,
    /// Hits for which it first asked whether what it held was still good.
    pub(crate) revalidations: u64,
    /// Objects held.
    pub(crate) objects: u64,
    /// Bytes held.
    pub(crate) bytes: u64,
}

/// Requests, and the bytes of the responses that they ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Asked {
    pub(crate) number: u64,
    pub(crate) bytes: u64,
}

impl Asked {
    /// One more request, for a response of `bytes`.
    pub(crate) const fn add(&mut self, bytes: u64) {
        self.number += 1;
        self.bytes += bytes;
    }
}

impl CacheStats {
    /// What happened since the last call, and what is held now.
    pub(super) fn close_interval(&mut self) -> Self {
        let next = Self { objects: self.objects, bytes: self.bytes, ..Self::default() };
        std::mem::replace(self, next)
    }
}
