//! The origin servers behind the last node.
//!
//! Models a server that answers every request that it has whole, with the size and over the time that the request table says.
//! [`http::Release`](crate::http::Release) says when the bytes are there to be sent. A tunnel's come over its recorded life.
//! The size asked for is the version that the server has at that time: a conditional request that names it is answered at once,
//! without a body. Leaves out the load of servers: requests do not wait for each other.
//!
//! Source: the NZ–US studies (Proc. SPIE 3529, 1998, doi 10.1117/12.333730; CNDS 2001, pp. 97–102), their HTTP traffic model.

use crate::conn::{End, ExchangeId, Releasing};
use crate::context::Context;
use crate::http::{Release, ReleasePlan};
use crate::units::Duration;
use crate::workload::{Method, OriginTime};

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
        let version = request.response_bytes;
        let bytes = exchange.answer_to(version);
        let is_due = exchange.condition != Some(version) && exchange.bytes.is_requested();
        let server = if is_due { request.server } else { OriginTime::NONE };
        let whole = server.whole().unwrap_or(Duration::ZERO);
        // What goes through a tunnel comes over its life, by whoever asks.
        let release = if request.method == Method::Connect { Release::Paced } else { self.release };
        let plan = ReleasePlan::new(release, bytes, whole, server.wait(), mss.into());
        let node = cx.legs[exchange.leg].node(End::Server);
        Decision::Serve(Releasing { node, since: cx.now, plan, version, mss })
    }
}
