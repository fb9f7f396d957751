//! A cache inside a leg: a router that can be the source of a response.
//!
//! Models the proxies of the ns-2 study: when a request is made, the nodes of the leg are asked from the clients on, and the
//! connection goes to the first that holds the object, else to the end of the leg. Asking the others takes no time. A response
//! that passes is held from when its last byte has arrived at the leg's client end. A request for an object that is on its way
//! through the node waits for that, once (a **delayed hit**), and then asks again.
//!
//! Leaves out the knowledge that the first node would need for that, the time between the last byte at this node and at the
//! client end, responses that a waiting request could get while they pass, and revalidation.
//!
//! Source: C. Williamson and N. Markatchev, "Network-Level Impacts on User-Level Web Performance", SPECTS 2003, section
//! "Simulation Model and Assumptions".

use rustc_hash::FxHashMap;

use crate::conn::{CacheAnswer, ExchangeId};
use crate::context::{Action, Context};

use super::contents::{Contents, FetchKey, Found};
use super::{Decision, Stand, held_response};

/// A cache inside a leg.
pub(crate) struct CutThrough {
    node: u8,
    contents: Contents,
    /// True when requests wait for a response that is on its way through.
    coalesces: bool,
    fetches: FxHashMap<FetchKey, Fetch>,
}

/// A response that passes, and who waits for it.
struct Fetch {
    exchange: ExchangeId,
    waiting: Vec<ExchangeId>,
}

/// Answer of a cut-through cache to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ask {
    /// The request is served from here, with a version of this size in bytes.
    Serve(u64),
    /// The request waits here.
    Wait,
    /// The next node is asked.
    Pass,
}

impl CutThrough {
    pub(crate) fn new(node: u8, contents: Contents, coalesces: bool) -> Self {
        Self { node, contents, coalesces, fetches: FxHashMap::default() }
    }

    pub(super) const fn contents(&self) -> &Contents {
        &self.contents
    }

    pub(super) const fn node(&self) -> u8 {
        self.node
    }

    /// A request is made. Who has waited here is counted already, and does not wait again.
    pub(super) fn ask(&mut self, cx: &mut Context, id: ExchangeId) -> Ask {
        let exchange = cx.exchanges.get(id).expect("its request is made");
        let has_waited = self.contents.has_counted(exchange);
        let found = self.contents.find(cx.now, exchange, &cx.directory);
        let fetch = self.contents.fetch_key(&exchange.request).and_then(|key| self.fetches.get_mut(&key));
        let is_kept = |fetch: &Fetch| {
            let passing = cx.exchanges.get(fetch.exchange);
            passing.is_some_and(|passing| self.contents.would_keep(passing, passing.expected_version()))
        };
        let (answer, ask) = match (found, fetch) {
            (Found::Fresh(held) | Found::Stale(held), _) => (CacheAnswer::Hit, Ask::Serve(held)),
            (Found::None, Some(fetch)) if !has_waited && is_kept(fetch) => {
                fetch.waiting.push(id);
                (CacheAnswer::DelayedHit, Ask::Wait)
            }
            (Found::None, _) => (self.contents.missed(exchange), Ask::Pass),
        };
        self.contents.count(cx, id, answer);
        ask
    }

    /// The response to a request that this node has let pass will come through it.
    pub(super) fn on_pass(&mut self, cx: &Context, id: ExchangeId) {
        if let Some(key) = self.key_of(cx, id)
            && self.coalesces
        {
            self.fetches.entry(key).or_insert(Fetch { exchange: id, waiting: Vec::new() });
        }
    }

    /// A response that has come through this node is whole.
    pub(super) fn on_passed(&mut self, cx: &mut Context, id: ExchangeId) {
        self.contents.keep(cx, id, 0);
        self.wake(cx, id);
    }

    /// Nothing more comes of a response. Who waits for it is asked anew.
    pub(super) fn wake(&mut self, cx: &mut Context, id: ExchangeId) {
        let Some(key) = self.key_of(cx, id) else {
            return;
        };
        if self.fetches.get(&key).is_some_and(|fetch| fetch.exchange == id) {
            let fetch = self.fetches.remove(&key).expect("found above");
            for waiting in fetch.waiting {
                cx.actions.later(Action::Send(waiting));
            }
        }
    }

    /// The key of a response that passes.
    fn key_of(&self, cx: &Context, id: ExchangeId) -> Option<FetchKey> {
        self.contents.fetch_key(&cx.exchanges.get(id)?.request)
    }
}

impl Stand for CutThrough {
    /// Connections come here only for requests served from here.
    fn on_request(&mut self, cx: &Context, id: ExchangeId) -> Decision {
        let version = cx.exchanges.get(id).and_then(|exchange| exchange.version);
        Decision::Serve(held_response(cx, id, self.node, version.expect("chosen when it was asked")))
    }
}
