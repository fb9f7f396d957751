//! Contents of a cache: requests that are hits.
//!
//! Models three ways to decide. The request table says it in its column `source`. A share of all client requests is drawn at
//! random, as the ns-2 study did in place of a cache. Or a live cache remembers the objects that pass through it. A drawn hit
//! depends on the seed and the number of the request alone: equal requests hit in all runs of a sweep with one seed, on any
//! path. Only a live cache keeps responses.
//!
//! A request that no copy may serve ([`Caching`](crate::workload::Caching)) is no hit in a live cache and none that is drawn.
//! The share is then a share of the others. One that changes its object makes a live cache give up its copy when the response
//! is whole, and stores no response to an older request: it may be from before the change.
//!
//! Source: C. Williamson and N. Markatchev, "Network-Level Impacts on User-Level Web Performance", SPECTS 2003, section
//! "Simulation Model and Assumptions", and its footnote 1 for the meaning of the share.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::cache::{Cache, Lookup};
use crate::conn::{CacheAnswer, Exchange, ExchangeId};
use crate::context::Context;
use crate::rng::RandomStreams;
use crate::units::Instant;
use crate::workload::{Caching, Directory, ObjectId, Request, WorkloadError};

/// Contents of a cache, and its statistics.
pub(crate) struct Contents {
    /// Its number among the caches, the key of its statistics.
    cache: usize,
    node: u8,
    hits: Hits,
    /// Objects that have changed, each with the time when the last change was known here.
    changed_at: FxHashMap<ObjectId, Instant>,
}

/// Requests that are hits.
pub(crate) enum Hits {
    /// Requests that the request table gives to `node`, one of the `servers`.
    Listed { node: String, servers: Vec<String> },
    /// Requests with a drawn number in this range.
    Drawn { streams: RandomStreams, from: f64, to: f64 },
    /// Caches of the siblings, each for a part of the objects.
    Live { siblings: Vec<Cache>, divide_by: DivideBy },
}

/// Key that divides objects among siblings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum DivideBy {
    /// A hash of the object.
    #[default]
    Object,
    /// A hash of the origin server's key: all objects of a server are at one sibling.
    Host,
}

/// Copy of an object in a cache, with the size of its version in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// A copy that serves the request.
    Fresh(u64),
    /// A copy older than its `ttl`.
    Stale(u64),
    /// None, or one that the origin has purged.
    None,
}

/// Key of a fetch that other requests may wait for.
pub(super) type FetchKey = (ObjectId, Option<u64>);

impl Contents {
    /// Contents of cache number `cache` of a scenario, which is at `node`, when the run begins.
    pub(crate) fn new(cache: usize, node: u8, hits: Hits) -> Self {
        Self { cache, node, hits, changed_at: FxHashMap::default() }
    }

    /// The sibling that has to do with a request, and the object that it asks for.
    fn sibling(&mut self, request: &Request, directory: &Directory) -> Option<(&mut Cache, ObjectId)> {
        let Hits::Live { siblings, divide_by } = &mut self.hits else {
            return None;
        };
        let object = request.object?;
        let place = match divide_by {
            _ if siblings.len() == 1 => 0,
            DivideBy::Object => ObjectId::of_bytes(&object.get().to_le_bytes()).get() % siblings.len() as u64,
            DivideBy::Host => {
                ObjectId::of_bytes(directory.hosts()[request.host].key.as_bytes()).get()
                    % siblings.len() as u64
            }
        };
        Some((&mut siblings[place as usize], object))
    }

    /// Checks that `request` has what the cache needs to decide between hit and miss.
    ///
    /// # Errors
    /// The problem with the request.
    pub(super) fn check(&self, request: &Request, directory: &Directory) -> Result<(), WorkloadError> {
        let at = request.start;
        let problem = match (&self.hits, request.source, request.object) {
            (Hits::Live { .. }, _, None) if request.caching.may_be_served() => format!(
                "column object: nothing for the request at {at}; write what it asks for, as a cache with a policy must know that"
            ),
            (Hits::Listed { servers, .. }, Some(source), _) => {
                let word = &*directory.sources.words()[source];
                if servers.iter().any(|server| server == word) {
                    return Ok(());
                }
                let nodes = servers.join(", ");
                format!(
                    "column source: found {word:?} for the request at {at}; write the node that serves it ({nodes})"
                )
            }
            _ => return Ok(()),
        };
        Err(WorkloadError(format!("request table: {problem}")))
    }

    /// Looks for what an exchange asks for.
    pub(super) fn find(&mut self, now: Instant, exchange: &Exchange, directory: &Directory) -> Found {
        let Request { response_bytes: asked, caching, .. } = exchange.request;
        if let Some((cache, object)) = self.sibling(&exchange.request, directory) {
            return match (cache.ask(object, asked, caching, now), cache.version(object)) {
                (Lookup::Hit, Some(_)) if caching == Caching::Serve => Found::Fresh(asked),
                (Lookup::Hit, Some(held)) => Found::Fresh(held),
                (Lookup::Stale, Some(held)) => Found::Stale(held),
                _ => Found::None,
            };
        }
        let is_hit = match &self.hits {
            Hits::Live { .. } => false,
            Hits::Listed { node, .. } => {
                exchange.request.source.is_some_and(|source| *directory.sources.words()[source] == **node)
            }
            Hits::Drawn { streams, from, to } => {
                let drawn = streams.stream("cache hits", exchange.number).uniform();
                caching.may_be_served() && (*from..*to).contains(&drawn)
            }
        };
        if is_hit { Found::Fresh(asked) } else { Found::None }
    }

    /// True if it would keep the response to `exchange`, of `bytes`: its size fits, its request allows that, and its object has not
    /// changed since that was sent.
    pub(super) fn would_keep(&self, exchange: &Exchange, bytes: u64) -> bool {
        let Request { caching, object, .. } = exchange.request;
        let changed = object.and_then(|object| self.changed_at.get(&object));
        caching == Caching::Store
            && self.fits(bytes)
            && changed.is_none_or(|changed| *changed <= exchange.times.start)
    }

    fn fits(&self, bytes: u64) -> bool {
        match &self.hits {
            Hits::Live { siblings, .. } => siblings[0].fits(bytes),
            Hits::Listed { .. } | Hits::Drawn { .. } => false,
        }
    }

    /// Key of the fetch that serves a request: its object, and the version asked for where the cache learns of changes. `None`:
    /// its response is for itself alone.
    pub(super) fn fetch_key(&self, request: &Request) -> Option<FetchKey> {
        let Hits::Live { siblings, .. } = &self.hits else {
            return None;
        };
        if request.caching != Caching::Store {
            return None;
        }
        let version = siblings[0].learns_of_changes().then_some(request.response_bytes);
        Some((request.object?, version))
    }

    /// Answer to a request that finds no copy here and goes on.
    pub(super) fn missed(&self, exchange: &Exchange) -> CacheAnswer {
        match &self.hits {
            Hits::Live { .. } | Hits::Drawn { .. } if !exchange.request.caching.may_be_served() => {
                CacheAnswer::Bypass
            }
            Hits::Live { .. } if !self.fits(exchange.request.response_bytes) => CacheAnswer::Bypass,
            _ => CacheAnswer::Miss,
        }
    }

    /// The whole response to an exchange is here. `joined` others were served from it on its way, and count as accesses now.
    pub(super) fn keep(&mut self, cx: &mut Context, exchange: ExchangeId, joined: u64) {
        let now = cx.now;
        let exchange = cx.exchanges.get(exchange).expect("its response has just become whole");
        let (request, bytes) = (exchange.request, exchange.expected_version());
        let is_kept = self.would_keep(exchange, bytes);
        let Some((cache, object)) = self.sibling(&request, &cx.directory) else {
            return;
        };
        let before = (cache.objects(), cache.bytes());
        if is_kept {
            cache.store(object, bytes, now);
        } else if request.caching == Caching::Invalidate {
            cache.invalidate(object);
        }
        for _ in 0..joined {
            cache.look_up(object, now);
        }
        let (objects, bytes) = (cache.objects(), cache.bytes());
        let stats = &mut cx.observer.caches[self.cache].total;
        stats.objects = stats.objects - before.0 + objects;
        stats.bytes = stats.bytes - before.1 + bytes;
        if request.caching == Caching::Invalidate {
            self.changed_at.insert(object, now);
        }
    }

    /// The origin still has the version of `bytes`. `joined` other requests waited for that, and count as accesses now. A copy
    /// of another version that has come in the meantime is not renewed.
    pub(super) fn renew(&mut self, cx: &Context, request: &Request, bytes: u64, joined: u64) {
        if let Some((cache, object)) = self.sibling(request, &cx.directory) {
            if cache.version(object) == Some(bytes) {
                cache.renew(object, cx.now);
            }
            for _ in 0..joined {
                cache.look_up(object, cx.now);
            }
        }
    }

    /// True if the cache has counted this request.
    pub(super) fn has_counted(&self, exchange: &Exchange) -> bool {
        exchange.counted_at >= Some(self.node)
    }

    /// Counts a request with its answer, once.
    pub(super) fn count(&self, cx: &mut Context, exchange: ExchangeId, answer: CacheAnswer) {
        let exchange = cx.exchanges.get_mut(exchange).expect("its request is here");
        if self.has_counted(exchange) {
            return;
        }
        exchange.counted_at = Some(self.node);
        exchange.answer = Some(answer);
        let bytes = exchange.asked_bytes();
        let stats = &mut cx.observer.caches[self.cache].total;
        stats.requests.add(bytes);
        match answer {
            CacheAnswer::Hit => stats.hits.add(bytes),
            CacheAnswer::DelayedHit => stats.delayed.add(bytes),
            CacheAnswer::Bypass => stats.bypasses += 1,
            CacheAnswer::Miss | CacheAnswer::Revalidated => {}
        }
    }

    /// Counts a request as a hit after all: it was a miss while its cache asked above, and its copy was found unchanged.
    pub(super) fn count_revalidated(&self, cx: &mut Context, exchange: ExchangeId) {
        let exchange = cx.exchanges.get_mut(exchange).expect("it waits for the answer");
        if exchange.revalidates && exchange.answer == Some(CacheAnswer::Miss) {
            exchange.answer = Some(CacheAnswer::Revalidated);
            let stats = &mut cx.observer.caches[self.cache].total;
            stats.hits.add(exchange.asked_bytes());
            stats.revalidations += 1;
        }
    }
}
