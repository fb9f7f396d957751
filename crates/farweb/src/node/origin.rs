//! The origin servers behind the last node.
//!
//! Models a server that answers every request that it has whole, with the size and over the time that the request table says;
//! [`http::Release`](crate::http::Release) says when the bytes are there to be sent; the conditional request of a cache is
//! answered at once. Leaves out the load of servers: requests do not wait for each other.
//!
//! Source: the NZ–US studies (Proc. SPIE 3529, 1998, doi 10.1117/12.333730; CNDS 2001, pp. 97–102), their HTTP traffic model.

use crate::carrier::Context;
use crate::conn::{End, ExchangeId, Releasing};
use crate::http::{Release, ReleasePlan};
use crate::units::Duration;
use crate::workload::OriginTime;

use super::{Decision, Stand};

/// The origin servers.
pub(crate) struct Origin {
    release: Release,
}

impl Origin {
    pub(crate) const fn new(release: Release) -> Self {
        Self { release }
    }
}

impl Stand for Origin {
    fn on_request(&mut self, cx: &Context, id: ExchangeId) -> Decision {
        let exchange = cx.exchanges.get(id).expect("its request has arrived");
        let request = &exchange.request;
        let host = &cx.directory.hosts()[request.host];
        let mss = cx.legs[exchange.leg].mss(End::Server, Some(host));
        let server = if exchange.is_conditional { OriginTime::NONE } else { request.server };
        let whole = server.whole().unwrap_or(Duration::ZERO);
        let plan =
            ReleasePlan::new(self.release, exchange.bytes.response(), whole, server.wait(), mss.into());
        Decision::Serve(Releasing { node: cx.legs[exchange.leg].node(End::Server), since: cx.now, plan, mss })
    }
}
