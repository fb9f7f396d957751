//! Nodes: what happens to a request that has arrived whole at the server end of a leg, and to the bytes of a response there.
//!
//! A node decides, and the world carries it out: serve a request here or pass it on, and how many bytes of a
//! response go on towards the clients. A response may start at any node, and a node may hold one back. A new
//! kind of node is a file with an implementation of [`Stand`], and a line in each place of this one that
//! names the others.

mod cache;
mod contents;
mod cut_through;
mod origin;

use serde::{Deserialize, Serialize};

use crate::conn::{End, Event, ExchangeId, Releasing};
use crate::context::Context;
use crate::http::ReleasePlan;
use crate::workload::{Directory, Request, WorkloadError};

use cache::Cache;
pub use contents::DivideBy;
pub(crate) use contents::{Contents, Hits};
use cut_through::{Ask, CutThrough};
pub(crate) use origin::Origin;

/// A node of the path.
pub(crate) enum Node {
    /// A node where no request arrives: a router, which passes packets on inside a leg, or the clients.
    Router,
    CutThrough(CutThrough),
    Proxy(Proxy),
    Cache(Cache),
    Origin(Origin),
}

/// Role of a node with a cache towards packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CacheMode {
    /// A router inside a leg that can be the source of a response: connections go from the clients' end of the leg to the first
    /// node that serves the request.
    CutThrough,
    /// A proxy where two legs meet, which sends a response on as it reads it.
    Split,
    /// A proxy where two legs meet, which sends a response on when it has all of it.
    StoreAndForward,
}

/// Decision of a node about a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Its response starts here.
    Serve(Releasing),
    /// The request goes on over the next leg.
    PassOn,
}

/// Way of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Route {
    /// Not at all: its response starts here.
    Serve(Releasing),
    /// The request waits for the response to this exchange on the next leg, which others wait for already.
    Join(ExchangeId),
    /// An exchange begins on the next leg, conditional where a cache here or below holds a version of this size.
    Fetch { condition: Option<u64> },
}

/// Behaviour of a node towards requests and responses. The default methods make a proxy.
pub(crate) trait Stand {
    /// The whole request of an exchange is here.
    fn on_request(&mut self, _cx: &Context, _id: ExchangeId) -> Decision {
        Decision::PassOn
    }

    /// A request that is not served at once goes on, with the condition that it has.
    fn route(&mut self, cx: &mut Context, id: ExchangeId) -> Route {
        let exchange = cx.exchanges.get(id).expect("its request has arrived");
        Route::Fetch { condition: exchange.condition }
    }

    /// `fetch` has begun on the next leg, for the request of `first`.
    fn on_fetch(&mut self, _cx: &Context, _first: ExchangeId, _fetch: ExchangeId) {}

    /// `bytes` of the response to `fetch` are here, for the exchange `below` that goes on towards the clients. How many are sent on
    /// now: a node may hold some back, and adds them to later ones.
    fn on_response(&mut self, _cx: &Context, _fetch: ExchangeId, _below: ExchangeId, bytes: u64) -> u64 {
        bytes
    }

    /// The whole response to a fetch is here.
    fn on_fetched(&mut self, _cx: &mut Context, _fetch: ExchangeId) {}

    /// A fetch has failed, or is given up.
    fn on_fetch_lost(&mut self, _cx: &Context, _fetch: ExchangeId) {}

    /// True when a fetch goes on although no request waits for its response any more.
    fn goes_on_without(&self, _cx: &Context, _fetch: ExchangeId) -> bool {
        false
    }

    /// True when `below`, which waits for a fetch that has failed, does not fail with it but goes on by itself.
    fn outlives(&self, _cx: &Context, _fetch: ExchangeId, _below: ExchangeId) -> bool {
        false
    }
}

/// A proxy, where two legs meet.
///
/// Models a proxy that stores a request and sends it on when it has all of it, and that sends a response on as it reads it,
/// byte for byte. It reads as fast as bytes come and holds any number of them. Leaves out the time that it takes, a bound on
/// its buffer, and caching.
///
/// Source: the NZ–US studies (Proc. SPIE 3529, 1998, doi 10.1117/12.333730; CNDS 2001, pp. 97–102), sections on the US proxy.
pub(crate) struct Proxy;

impl Stand for Proxy {}

/// The match on nodes.
macro_rules! on_node {
    ($node:expr, $own:ident => $call:expr) => {
        match $node {
            $crate::node::Node::Router => unreachable!("no leg ends at a router"),
            $crate::node::Node::CutThrough($own) => $call,
            $crate::node::Node::Proxy($own) => $call,
            $crate::node::Node::Cache($own) => $call,
            $crate::node::Node::Origin($own) => $call,
        }
    };
}
pub(crate) use on_node;

impl Node {
    /// A node with a cache.
    pub(crate) fn cache(node: u8, contents: Contents, mode: CacheMode, coalesces: bool) -> Self {
        match mode {
            CacheMode::CutThrough => Self::CutThrough(CutThrough::new(node, contents, coalesces)),
            CacheMode::Split => Self::Cache(Cache::new(node, contents, false, coalesces)),
            CacheMode::StoreAndForward => Self::Cache(Cache::new(node, contents, true, coalesces)),
        }
    }
}

/// Checks that `request` has what every cache needs to decide between hit and miss.
///
/// # Errors
/// The problem with the request.
pub(crate) fn check(nodes: &[Node], request: &Request, directory: &Directory) -> Result<(), WorkloadError> {
    let contents = nodes.iter().filter_map(|node| match node {
        Node::CutThrough(cache) => Some(cache.contents()),
        Node::Cache(cache) => Some(cache.contents()),
        Node::Router | Node::Proxy(_) | Node::Origin(_) => None,
    });
    contents.into_iter().try_for_each(|contents| contents.check(request, directory))
}

/// The caches inside the leg of an exchange that its response passes, from the clients on.
fn passed<'a>(
    nodes: &'a mut [Node],
    cx: &Context,
    id: ExchangeId,
) -> impl Iterator<Item = &'a mut CutThrough> + use<'a> {
    let exchange = cx.exchanges.get(id).expect("the caller has found it");
    let [near, far] = cx.legs[exchange.leg].nodes().map(usize::from);
    let source = exchange.source.map_or(far, usize::from);
    nodes[near + 1..source].iter_mut().filter_map(|node| match node {
        Node::CutThrough(cache) => Some(cache),
        _ => None,
    })
}

/// Asks the caches inside the leg of an exchange for its object. True when it goes on now, to its `source`. Otherwise it waits
/// for a fetch under way through one of them.
pub(crate) fn ask_inside(nodes: &mut [Node], cx: &mut Context, id: ExchangeId) -> bool {
    let mut source = None;
    for cache in passed(nodes, cx, id) {
        match cache.ask(cx, id) {
            Ask::Pass => {}
            Ask::Wait => return false,
            Ask::Serve(version) => {
                source = Some(cache.node());
                cx.exchanges.choose(id, version);
                break;
            }
        }
    }
    let exchange = cx.exchanges.get_mut(id).expect("its request is made");
    let has_caches = exchange.answer.is_some();
    exchange.source = source.or_else(|| has_caches.then(|| cx.legs[exchange.leg].node(End::Server)));
    for cache in passed(nodes, cx, id) {
        cache.on_pass(cx, id);
    }
    true
}

/// The whole response to an exchange has come through its leg, or nothing more of it will.
pub(crate) fn end_inside(nodes: &mut [Node], cx: &mut Context, id: ExchangeId, is_whole: bool) {
    for cache in passed(nodes, cx, id) {
        if is_whole {
            cache.on_passed(cx, id);
        } else {
            cache.wake(cx, id);
        }
    }
}

/// All of the response to an exchange at once, at a node that holds the version of `version` bytes.
fn held_response(cx: &Context, id: ExchangeId, node: u8, version: u64) -> Releasing {
    let exchange = cx.exchanges.get(id).expect("its request is here");
    let host = &cx.directory.hosts()[exchange.request.host];
    let mss = cx.legs[exchange.leg].mss(End::Server, Some(host));
    let plan = ReleasePlan::at_once(exchange.response_to(version));
    Releasing { node, since: cx.now, plan, version, mss }
}

/// The fetch for the request of an exchange begins on the next leg.
pub(crate) fn start_fetch(cx: &mut Context, below: ExchangeId, condition: Option<u64>) -> ExchangeId {
    let exchange = cx.exchanges.get(below).expect("it goes on");
    let (number, request, leg) = (exchange.number, exchange.request, exchange.leg + 1);
    let fetch = cx.start_exchange(leg, number, request);
    if let Some(held) = condition {
        cx.exchanges.get_mut(fetch).expect("it has just been started").ask_unless(held);
    }
    cx.exchanges.join(below, fetch);
    fetch
}

/// Releases the due bytes of the response to an exchange, and schedules the rest. Bytes, and the size of their
/// segments, where a response has begun.
pub(crate) fn release(cx: &mut Context, id: ExchangeId) -> Option<(u64, u64)> {
    let exchange = cx.exchanges.get_mut(id)?;
    let is_first = exchange.served_by.is_none();
    let Releasing { node, since, plan, mss, .. } = exchange.releasing.as_mut()?;
    let released = plan.release(cx.now - *since);
    if let Some(due) = plan.next_due().filter(|_| !plan.waits_for_transport()) {
        cx.queue.push(*since + due, Event::ResponseReleases(id));
    }
    let (node, mss) = (*node, u64::from(*mss));
    if is_first && released > 0 {
        cx.exchanges.serve(id, node);
    }
    Some((released, mss))
}

/// The server's TCP has taken the released bytes of the response to an exchange: the time of the next piece counts from now.
pub(crate) fn on_taken(cx: &mut Context, id: ExchangeId) {
    let releasing = cx.exchanges.get(id).and_then(|exchange| exchange.releasing);
    let Some(plan) = releasing.map(|of| of.plan).filter(ReleasePlan::waits_for_transport) else { return };
    cx.queue.push(cx.now + plan.distance(), Event::ResponseReleases(id));
}
