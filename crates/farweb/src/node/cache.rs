//! A cache where two legs meet: a proxy that serves objects it holds, and fetches the others.
//!
//! Models five answers to a request that has arrived whole. A **hit** is served from here at once. A **delayed hit** joins a
//! fetch of the object that is under way, and gets first the bytes that have come. A **revalidation** sends a conditional request
//! on for an object older than its `ttl`. Without a body in the answer ([`NOT_MODIFIED_BYTES`](crate::http::NOT_MODIFIED_BYTES))
//! the copy is served. A **miss** goes on, and so does a **bypass**, which no copy may serve
//! ([`Caching`](crate::workload::Caching)) or one with a response of a size that the cache does not keep. A response is kept when it
//! is whole. In `split` mode it goes on towards the clients as it is read, in `store-and-forward` mode
//! when it is whole. One without a body goes on when it is whole in both.
//!
//! **Versions.** A version of an object is known by its size. The origin has the one that the request table names. A fresh copy, and a
//! fetch under way, serve requests for other versions too, as a cache cannot know of the change. With `changed = "fetch"` they do
//! not, and such a request is a miss of its own. A revalidation brings the new version with its body, which replaces the old one:
//! then it was a miss.
//!
//! A fetch without waiting requests goes on when less than [`QUICK_ABORT_MIN`] is missing and the cache would keep it, and is
//! given up otherwise. When a fetch fails, the request that began it fails, and so do requests with a part of the response. The
//! others go on by themselves, the first of them as a new fetch. No request waits for a fetch that the cache would not keep for
//! its size.
//!
//! Leaves out ranges put together to a whole, and the time that look-ups and disks take. A real proxy learns the size
//! of a response only from its header.
//!
//! Source: Squid's configuration manual, `collapsed_forwarding` (requests for one object are fetched once) and `quick_abort_min`,
//! `quick_abort_max` (16 KB each); RFC 9111, section 4.3 (validation).

use rustc_hash::FxHashMap;

use crate::conn::{CacheAnswer, Exchange, ExchangeId};
use crate::context::Context;

use super::contents::{Contents, FetchKey, Found};
use super::{Decision, Route, Stand, held_response};

/// A fetch with less than this missing goes on without clients.
const QUICK_ABORT_MIN: u64 = 16 * 1024;

/// A cache where two legs meet.
pub(crate) struct Cache {
    node: u8,
    contents: Contents,
    /// True when a response goes on only when it is whole.
    stores_first: bool,
    /// True when requests wait for a fetch that is under way.
    coalesces: bool,
    fetches: FxHashMap<FetchKey, Fetch>,
}

/// A fetch that others may join.
struct Fetch {
    /// Its exchange, on the leg towards the servers.
    exchange: ExchangeId,
    /// The exchange on the leg towards the clients that began it.
    first: ExchangeId,
    /// Number of requests that joined it.
    joined: u64,
}

impl Cache {
    pub(crate) fn new(node: u8, contents: Contents, stores_first: bool, coalesces: bool) -> Self {
        Self { node, contents, stores_first, coalesces, fetches: FxHashMap::default() }
    }

    pub(super) const fn contents(&self) -> &Contents {
        &self.contents
    }

    /// The fetch that `exchange` joins.
    fn under_way(&mut self, cx: &Context, exchange: &Exchange) -> Option<&mut Fetch> {
        let fetch = self.fetches.get_mut(&self.contents.fetch_key(&exchange.request)?)?;
        let above = cx.exchanges.get(fetch.exchange)?;
        // Who asks for a body can wait for that or for a revalidation. Who has the body, only for a revalidation.
        let has_answer = above.condition.is_some() || exchange.condition.is_none();
        (has_answer && self.contents.would_keep(above, above.expected_version())).then_some(fetch)
    }

    /// Forgets a fetch that has ended, with the number of requests that joined it.
    fn end_fetch(&mut self, key: Option<FetchKey>, fetch: ExchangeId) -> u64 {
        match key.and_then(|key| Some((key, self.fetches.get(&key)?))) {
            Some((key, known)) if known.exchange == fetch => {
                self.fetches.remove(&key).map_or(0, |fetch| fetch.joined)
            }
            _ => 0,
        }
    }

    /// The key of a fetch under way.
    fn key_of(&self, cx: &Context, fetch: ExchangeId) -> Option<FetchKey> {
        self.contents.fetch_key(&cx.exchanges.get(fetch)?.request)
    }
}

impl Stand for Cache {
    fn on_request(&mut self, _cx: &Context, _id: ExchangeId) -> Decision {
        Decision::PassOn
    }

    fn route(&mut self, cx: &mut Context, id: ExchangeId) -> Route {
        let exchange = cx.exchanges.get(id).expect("its request has arrived");
        let found = self.contents.find(cx.now, exchange, &cx.directory);
        let mut revalidates = false;
        let (answer, route) = if let Found::Fresh(held) = found {
            (CacheAnswer::Hit, Route::Serve(held_response(cx, id, self.node, held)))
        } else if let Some(fetch) = self.under_way(cx, exchange) {
            fetch.joined += 1;
            (CacheAnswer::DelayedHit, Route::Join(fetch.exchange))
        } else if let Found::Stale(held) = found {
            revalidates = true;
            (CacheAnswer::Miss, Route::Fetch { condition: Some(held) })
        } else {
            (self.contents.missed(exchange), Route::Fetch { condition: exchange.condition })
        };
        cx.exchanges.get_mut(id).expect("found above").revalidates = revalidates;
        self.contents.count(cx, id, answer);
        route
    }

    fn on_fetch(&mut self, cx: &Context, first: ExchangeId, fetch: ExchangeId) {
        let [of, began] = [fetch, first].map(|id| cx.exchanges.get(id).expect("it has just been started"));
        // A condition of a cache below is no use to others: its answer may have no body.
        let is_joinable = of.condition.is_none() || began.revalidates;
        if let Some(key) = self.contents.fetch_key(&of.request)
            && self.coalesces
            && is_joinable
        {
            self.fetches.entry(key).or_insert(Fetch { exchange: fetch, first, joined: 0 });
        }
    }

    fn on_response(&mut self, cx: &Context, fetch: ExchangeId, below: ExchangeId, bytes: u64) -> u64 {
        let [fetch, below] = [fetch, below].map(|id| cx.exchanges.get(id).expect("it waits for this fetch"));
        let is_first = bytes > 0 && fetch.bytes.received() == bytes;
        match (self.stores_first, fetch.bytes.is_received()) {
            _ if fetch.tunnel.is_some() => bytes,
            _ if fetch.is_not_modified() => 0,
            _ if below.is_not_modified() => {
                if is_first {
                    below.bytes.response()
                } else {
                    0
                }
            }
            (false, _) => bytes,
            (true, false) => 0,
            (true, true) => fetch.bytes.received(),
        }
    }

    fn on_fetched(&mut self, cx: &mut Context, id: ExchangeId) {
        let fetch = cx.exchanges.get(id).expect("it has just become whole");
        let (request, is_not_modified) = (fetch.request, fetch.is_not_modified());
        let version = fetch.version.expect("its response has begun");
        let joined = self.end_fetch(self.contents.fetch_key(&request), id);
        if !is_not_modified {
            self.contents.keep(cx, id, joined);
            return;
        }
        self.contents.renew(cx, &request, version, joined);
        let mut next = cx.exchanges.waiting_for(id).next();
        while let Some(below) = next {
            next = cx.exchanges.beside(below);
            self.contents.count_revalidated(cx, below);
            let response = held_response(cx, below, self.node, version);
            cx.release_later(below, response);
        }
    }

    fn on_fetch_lost(&mut self, cx: &Context, id: ExchangeId) {
        self.end_fetch(self.key_of(cx, id), id);
    }

    fn goes_on_without(&self, cx: &Context, id: ExchangeId) -> bool {
        cx.exchanges.get(id).is_some_and(|fetch| {
            let missing = fetch.bytes.response() - fetch.bytes.received();
            missing < QUICK_ABORT_MIN && self.contents.would_keep(fetch, fetch.expected_version())
        })
    }

    fn outlives(&self, cx: &Context, fetch: ExchangeId, below: ExchangeId) -> bool {
        let known = self.key_of(cx, fetch).and_then(|key| self.fetches.get(&key));
        let known = known.filter(|known| known.exchange == fetch);
        let has_nothing = cx.exchanges.get(below).is_some_and(|below| below.bytes.ready() == 0);
        has_nothing && known.is_some_and(|known| known.first != below)
    }
}
