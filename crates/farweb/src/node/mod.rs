//! Nodes: what happens to a request that is whole at the far end of a leg, and to the bytes of a response that come there.
//!
//! A node decides, and others carry it out: a request is served here or passed on; of a response so many bytes go on towards
//! the clients. A response may start at any node, and a node may hold one back. A new kind of node is a file with an
//! implementation of [`Stand`], and a line in each place of this one that names the others.

mod origin;
mod proxy;

use crate::carrier::Context;
use crate::conn::{Event, ExchangeId, Releasing};
use crate::scenario::Scenario;

use origin::Origin;
use proxy::Proxy;

/// A node of the path.
pub(crate) enum Node {
    /// Where packets are passed on and no leg ends, or where requests start: no request arrives.
    Router,
    Proxy(Proxy),
    Origin(Origin),
}

/// What happens to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Its response starts here.
    Serve(Releasing),
    /// It goes on, on the next leg.
    PassOn,
}

/// What a node does with requests and responses.
pub(crate) trait Stand {
    /// The whole request of an exchange is here.
    fn on_request(&mut self, cx: &Context, id: ExchangeId) -> Decision;

    /// `bytes` of a response have come here, for an exchange that goes on towards the clients. How many are sent on now: a node
    /// may hold some back, and adds them to those that come later.
    fn on_response(&mut self, _cx: &Context, _id: ExchangeId, bytes: u64) -> u64 {
        bytes
    }
}

/// The match on nodes.
macro_rules! on_node {
    ($node:expr, $own:ident => $call:expr) => {
        match $node {
            $crate::node::Node::Router => unreachable!("no leg ends at a router"),
            $crate::node::Node::Proxy($own) => $call,
            $crate::node::Node::Origin($own) => $call,
        }
    };
}
pub(crate) use on_node;

impl Node {
    /// The nodes of a scenario, by number.
    pub(crate) fn all(scenario: &Scenario) -> Vec<Self> {
        let last = scenario.path.nodes.len() - 1;
        let kind = |(place, name): (usize, &String)| match () {
            () if place == last => Self::Origin(Origin::new(scenario.origin.release)),
            () if scenario.leg.iter().any(|leg| leg.to == *name) => Self::Proxy(Proxy),
            () => Self::Router,
        };
        scenario.path.nodes.iter().enumerate().map(kind).collect()
    }
}

/// Releases what is due of the response to an exchange, and sees to it that the rest follows. Bytes, and the size of the
/// segments in which they come, where a response has begun.
pub(crate) fn release(cx: &mut Context, id: ExchangeId) -> Option<(u64, u64)> {
    let exchange = cx.exchanges.get_mut(id)?;
    let is_first = exchange.served_by.is_none();
    let Releasing { node, since, plan, mss } = exchange.releasing.as_mut()?;
    let released = plan.release(cx.now - *since);
    if let Some(due) = plan.next_due() {
        cx.queue.push(*since + due, Event::ResponseReleases(id));
    }
    let (node, mss) = (*node, *mss);
    if is_first && released > 0 {
        cx.exchanges.serve(id, node);
    }
    Some((released, mss))
}
