//! Contents of a cache: whether a request is a hit.
//!
//! Models three ways to decide: the request table says it in its column `source`; a share of all client requests is drawn at
//! random, as the ns-2 study did in place of a cache; or a live cache remembers what passes through it. A drawn hit depends on the
//! seed and the number of the request alone, so that equal requests hit in all runs of a sweep with one seed, whatever the path is.
//! Only a live cache keeps responses.
//!
//! Source: C. Williamson and N. Markatchev, "Network-Level Impacts on User-Level Web Performance", SPECTS 2003, section
//! "Simulation Model and Assumptions", and its footnote 1 for the meaning of the share.

use crate::cache::{Cache, Lookup};
use crate::carrier::Context;
use crate::conn::{CacheAnswer, Exchange, ExchangeId};
use crate::rng::RandomStreams;
use crate::scenario::{self, DivideBy, Scenario};
use crate::units::Instant;
use crate::workload::{Directory, ObjectId, Request, WorkloadError};

/// Contents of a cache, and its statistics.
pub(crate) struct Contents {
    /// Its number among the caches, by which its statistics are kept.
    cache: usize,
    kind: Kind,
}

enum Kind {
    /// Requests that the request table says `node` serves, one of the `servers`.
    Listed { node: String, servers: Vec<String> },
    /// Requests whose drawn number is in this range.
    Drawn { streams: RandomStreams, from: f64, to: f64 },
    /// Caches of the siblings, each for a part of the objects.
    Live { siblings: Vec<Cache>, divide_by: DivideBy },
}

/// Whether a request is for something that a cache holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    Hit,
    /// The cache holds the object, and has to ask whether it is still good.
    Stale,
    Miss,
}

impl Contents {
    /// Contents of cache number `cache` of a scenario when the run begins.
    pub(crate) fn new(cache: usize, scenario: &Scenario, streams: &RandomStreams) -> Self {
        let own = &scenario.cache[cache];
        let kind = match (own.live(), own.hit_ratio) {
            (Some(config), _) => {
                let sibling = |index: u32| {
                    let stream = u64::from(index) << u32::BITS | cache as u64;
                    Cache::new(&config, |purpose| streams.stream(purpose, stream))
                };
                Kind::Live { siblings: (0..own.siblings).map(sibling).collect(), divide_by: own.divide_by }
            }
            (None, Some(share)) => {
                let from = drawn_before(scenario, cache);
                Kind::Drawn { streams: *streams, from, to: from + share }
            }
            (None, None) => Kind::Listed { node: own.node.clone(), servers: servers(scenario) },
        };
        Self { cache, kind }
    }

    /// The sibling that has to do with a request, and the object that it asks for.
    fn sibling(&mut self, request: &Request, directory: &Directory) -> Option<(&mut Cache, ObjectId)> {
        let Kind::Live { siblings, divide_by } = &mut self.kind else {
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

    /// Checks that the cache can decide whether `request` is a hit.
    ///
    /// # Errors
    /// The problem with the request.
    pub(super) fn check(&self, request: &Request, directory: &Directory) -> Result<(), WorkloadError> {
        let at = request.start;
        let problem = match (&self.kind, request.source, request.object) {
            (Kind::Live { .. }, _, None) => format!(
                "column object: nothing for the request at {at}; write what it asks for, as a cache with a policy must know that"
            ),
            (Kind::Listed { servers, .. }, Some(source), _) => {
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
        if let Some((cache, object)) = self.sibling(&exchange.request, directory) {
            return match cache.look_up(object, now) {
                Lookup::Hit => Found::Hit,
                Lookup::Stale => Found::Stale,
                Lookup::Miss => Found::Miss,
            };
        }
        let is_hit = match &self.kind {
            Kind::Live { .. } => false,
            Kind::Listed { node, .. } => {
                exchange.request.source.is_some_and(|source| *directory.sources.words()[source] == **node)
            }
            Kind::Drawn { streams, from, to } => {
                let drawn = streams.stream("cache hits", exchange.number).uniform();
                (*from..*to).contains(&drawn)
            }
        };
        if is_hit { Found::Hit } else { Found::Miss }
    }

    /// Whether it would keep the response to a request, by the size of the response alone.
    pub(super) fn would_keep(&self, request: &Request) -> bool {
        match &self.kind {
            Kind::Live { siblings, .. } => {
                request.object.is_some() && siblings[0].fits(request.response_bytes)
            }
            Kind::Listed { .. } | Kind::Drawn { .. } => false,
        }
    }

    /// Whether it holds what a request asks for, fresh or not.
    pub(super) fn holds(&mut self, request: &Request, directory: &Directory) -> bool {
        self.sibling(request, directory).is_some_and(|(cache, object)| cache.holds(object))
    }

    /// The whole response to a request has come; `joined` others were served from it on its way, and count as accesses now.
    pub(super) fn keep(&mut self, cx: &mut Context, request: &Request, joined: u64) {
        let now = cx.now;
        let Some((cache, object)) = self.sibling(request, &cx.directory) else {
            return;
        };
        let before = (cache.objects(), cache.bytes());
        cache.store(object, request.response_bytes, now);
        for _ in 0..joined {
            cache.look_up(object, now);
        }
        let (objects, bytes) = (cache.objects(), cache.bytes());
        let stats = &mut cx.observer.caches[self.cache].total;
        stats.objects = stats.objects - before.0 + objects;
        stats.bytes = stats.bytes - before.1 + bytes;
    }

    /// The copy that it holds for a request is still good; `joined` other requests waited for that, and count as accesses now.
    pub(super) fn renew(&mut self, cx: &Context, request: &Request, joined: u64) {
        if let Some((cache, object)) = self.sibling(request, &cx.directory) {
            cache.renew(object, cx.now);
            for _ in 0..joined {
                cache.look_up(object, cx.now);
            }
        }
    }

    /// Counts a request that was answered so.
    pub(super) fn note(&self, cx: &mut Context, exchange: ExchangeId, answer: CacheAnswer) {
        let exchange = cx.exchanges.get_mut(exchange).expect("its request is here");
        exchange.answer = Some(answer);
        let bytes = exchange.bytes.response();
        let stats = &mut cx.observer.caches[self.cache].total;
        stats.requests.add(bytes);
        match answer {
            CacheAnswer::Hit => stats.hits.add(bytes),
            CacheAnswer::DelayedHit => stats.delayed.add(bytes),
            CacheAnswer::Revalidated => {
                stats.hits.add(bytes);
                stats.revalidations += 1;
            }
            CacheAnswer::Miss => {}
        }
    }
}

/// The nodes that a request table can name: those of caches, and the last one.
fn servers(scenario: &Scenario) -> Vec<String> {
    let nodes = &scenario.path.nodes;
    let caches = nodes.iter().filter(|node| scenario.cache.iter().any(|cache| cache.node == **node));
    caches.chain(nodes.last()).cloned().collect()
}

/// The share of requests that the caches with drawn hits before this one on the path serve.
fn drawn_before(scenario: &Scenario, cache: usize) -> f64 {
    let place = |cache: &scenario::Cache| scenario.path.nodes.iter().position(|node| *node == cache.node);
    let own = place(&scenario.cache[cache]);
    scenario.cache.iter().filter(|other| place(other) < own).filter_map(|other| other.hit_ratio).sum()
}
