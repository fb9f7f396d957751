//! Transfers: responses that one of ns-2's senders sends to a sink at the first node, from the node that serves them.
//!
//! Models the studies of web traffic with ns-2: the server sends all of a response as soon as the request is made. Leaves out
//! the request and its way, the opening and closing of a connection, and the server's time.
//!
//! Source: C. Williamson and N. Markatchev, "Network-Level Impacts on User-Level Web Performance", SPECTS 2003.

use crate::conn::{Connection, ConnectionId, Connections, End, ExchangeId, Key};
use crate::context::Context;
use crate::workload::{Request, WorkloadError};

use super::Allot;

/// The transfers of a leg.
pub(crate) struct Transfer {
    leg: usize,
    first: u8,
    /// Names of the nodes behind that which can serve a request, to the last one of the leg.
    servers: Vec<String>,
}

impl Transfer {
    pub(crate) const fn new(leg: usize, first: u8, servers: Vec<String>) -> Self {
        Self { leg, first, servers }
    }

    /// Checks that a request names a node that can serve it.
    ///
    /// # Errors
    /// The problem with its source.
    pub(super) fn check(&self, request: &Request, cx: &Context) -> Result<(), WorkloadError> {
        self.source_node(request, cx).map(|_| ())
    }

    /// The node that serves a request where no cache decides it: that in its column `source`, or the last one of the leg.
    fn source_node(&self, request: &Request, cx: &Context) -> Result<u8, WorkloadError> {
        let Some(symbol) = request.source else {
            return Ok(self.first + self.servers.len() as u8);
        };
        let word = &*cx.directory.sources.words()[symbol];
        match self.servers.iter().position(|node| node == word) {
            Some(place) => Ok(self.first + 1 + place as u8),
            None => Err(WorkloadError(format!(
                "request table: column source: found {word:?} for the request at {}; write the node that serves it ({}), \
                 or nothing for {}",
                request.start,
                self.servers.join(", "),
                self.servers[self.servers.len() - 1]
            ))),
        }
    }
}

impl Allot for Transfer {
    fn ask(&mut self, cx: &mut Context, connections: &mut Connections, id: ExchangeId) {
        let exchange = cx.exchanges.get(id).expect("it goes on");
        let (request, decided) = (&exchange.request, exchange.source);
        let source =
            decided.unwrap_or_else(|| self.source_node(request, cx).expect("the request was checked"));
        let version = exchange.expected_version();
        let key = Key { host: Some(request.host), ..cx.legs[self.leg].key(exchange) };
        let on = cx.open(connections, self.leg, key, [self.first, source]);
        cx.assign_alone(connections, id, on);
        cx.exchanges.choose(id, version);
        cx.exchanges.serve(id, source);
        let connection = connections.get_mut(on).expect("it has just been added");
        cx.respond(on, connection, id, version, 1);
    }

    /// The sender has given up.
    fn on_lost(&mut self, cx: &mut Context, _on: ConnectionId, connection: &mut Connection, _end: End) {
        if let Some(id) = connection.exchange {
            cx.give_up(connection, id);
        }
    }
}
