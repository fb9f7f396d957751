//! A cache where two legs meet: a proxy that serves what it holds, and fetches what it does not.
//!
//! Models four outcomes for a request that has arrived whole. A **hit** is served from here at once. A **delayed hit** joins a
//! fetch of the object that is under way, and gets first the bytes that have come. A **revalidation** sends a conditional request
//! on for an object older than its `ttl`, gets an answer of [`NOT_MODIFIED_BYTES`] without a body, and is then served from here.
//! A **miss** goes on. A response is kept when all of it has come. In `split` mode it goes on towards the
//! clients as it is read, in `store-and-forward` mode when it is whole.
//!
//! A fetch for which no request waits any more goes on when less than [`QUICK_ABORT_MIN`] is missing and the cache would keep it,
//! and is given up otherwise. When a fetch fails, the request that began it fails, and so do those that were given some of it; the others
//! go on by themselves, the first of them as a new fetch. No request waits for an object that the cache would not keep for its size.
//!
//! Leaves out: objects that change, so that a conditional request never brings a body; requests that forbid caching; ranges; the
//! time that look-ups and disks take. A real proxy learns the size of a response only from its header.
//!
//! Source: Squid's configuration manual, `collapsed_forwarding` (requests for one object are fetched once) and `quick_abort_min`,
//! `quick_abort_max` (16 KB each); RFC 9111, section 4.3 (validation).

use rustc_hash::FxHashMap;

use crate::carrier::Context;
use crate::conn::{CacheAnswer, Exchange, ExchangeId};
use crate::workload::ObjectId;

use super::contents::{Contents, Found};
use super::{Decision, Route, Stand, held_response};

/// Size of a response that says that nothing has changed, with its header. Chosen: headers of the time had 150 to 300 B.
pub(crate) const NOT_MODIFIED_BYTES: u64 = 200;

/// A fetch of which less than this is missing goes on without clients.
const QUICK_ABORT_MIN: u64 = 16 * 1024;

/// A cache where two legs meet.
pub(crate) struct Cache {
    node: u8,
    contents: Contents,
    /// Whether a response goes on only when it is whole.
    stores_first: bool,
    /// Whether requests wait for a fetch that is under way.
    coalesces: bool,
    fetches: FxHashMap<ObjectId, Fetch>,
}

/// A fetch that others may join.
struct Fetch {
    /// Its exchange, on the leg towards the servers.
    exchange: ExchangeId,
    /// The one on the leg towards the clients that began it.
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
        if !self.contents.would_keep(&exchange.request) {
            return None;
        }
        let fetch = self.fetches.get_mut(&exchange.request.object?)?;
        // Who asks for a body can wait for that or for a revalidation; who has the body, only for a revalidation.
        let is_conditional = cx.exchanges.get(fetch.exchange)?.is_conditional;
        (is_conditional || !exchange.is_conditional).then_some(fetch)
    }

    /// Forgets a fetch that has ended; how many had joined it.
    fn end_fetch(&mut self, object: Option<ObjectId>, fetch: ExchangeId) -> u64 {
        let Some(object) = object else {
            return 0;
        };
        match self.fetches.get(&object) {
            Some(known) if known.exchange == fetch => {
                self.fetches.remove(&object).map_or(0, |fetch| fetch.joined)
            }
            _ => 0,
        }
    }
}

impl Stand for Cache {
    fn on_request(&mut self, _cx: &Context, _id: ExchangeId) -> Decision {
        Decision::PassOn
    }

    fn route(&mut self, cx: &mut Context, id: ExchangeId) -> Route {
        let exchange = cx.exchanges.get(id).expect("its request has arrived");
        let is_new = exchange.answer.is_none();
        let found = self.contents.find(cx.now, exchange, &cx.directory);
        let (answer, route) = if found == Found::Hit {
            (CacheAnswer::Hit, Route::Serve(held_response(cx, id, self.node)))
        } else if let Some(fetch) = self.under_way(cx, exchange) {
            fetch.joined += 1;
            (CacheAnswer::DelayedHit, Route::Join(fetch.exchange))
        } else if found == Found::Stale {
            (CacheAnswer::Revalidated, Route::Fetch { is_conditional: true })
        } else {
            (CacheAnswer::Miss, Route::Fetch { is_conditional: exchange.is_conditional })
        };
        if is_new {
            self.contents.note(cx, id, answer);
        }
        route
    }

    fn on_fetch(&mut self, cx: &Context, first: ExchangeId, fetch: ExchangeId) {
        let exchange = cx.exchanges.get(fetch).expect("it has just been started");
        let is_joinable = !exchange.is_conditional || self.contents.holds(&exchange.request, &cx.directory);
        if let Some(object) = exchange.request.object
            && self.coalesces
            && is_joinable
        {
            self.fetches.entry(object).or_insert(Fetch { exchange: fetch, first, joined: 0 });
        }
    }

    fn on_response(&mut self, cx: &Context, fetch: ExchangeId, _below: ExchangeId, bytes: u64) -> u64 {
        let Some(fetch) = cx.exchanges.get(fetch).filter(|fetch| !fetch.is_conditional) else {
            return 0;
        };
        match (self.stores_first, fetch.bytes.is_received()) {
            (false, _) => bytes,
            (true, false) => 0,
            (true, true) => fetch.bytes.received(),
        }
    }

    fn on_fetched(&mut self, cx: &mut Context, id: ExchangeId) {
        let fetch = cx.exchanges.get(id).expect("it has just become whole");
        let (request, is_conditional) = (fetch.request, fetch.is_conditional);
        let joined = self.end_fetch(request.object, id);
        if !is_conditional {
            self.contents.keep(cx, &request, joined);
            return;
        }
        self.contents.renew(cx, &request, joined);
        let mut next = cx.exchanges.waiting_for(id).next();
        while let Some(below) = next {
            next = cx.exchanges.beside(below);
            let response = held_response(cx, below, self.node);
            cx.release_later(below, response);
        }
    }

    fn on_fetch_lost(&mut self, cx: &Context, id: ExchangeId) {
        let object = cx.exchanges.get(id).and_then(|fetch| fetch.request.object);
        self.end_fetch(object, id);
    }

    fn goes_on_without(&self, cx: &Context, id: ExchangeId) -> bool {
        cx.exchanges.get(id).is_some_and(|fetch| {
            let missing = fetch.bytes.response() - fetch.bytes.received();
            missing < QUICK_ABORT_MIN && self.contents.would_keep(&fetch.request)
        })
    }

    fn outlives(&self, cx: &Context, fetch: ExchangeId, below: ExchangeId) -> bool {
        let object = cx.exchanges.get(fetch).and_then(|fetch| fetch.request.object);
        let known =
            object.and_then(|object| self.fetches.get(&object)).filter(|known| known.exchange == fetch);
        let has_nothing = cx.exchanges.get(below).is_some_and(|below| below.bytes.ready() == 0);
        has_nothing && known.is_some_and(|known| known.first != below)
    }
}
