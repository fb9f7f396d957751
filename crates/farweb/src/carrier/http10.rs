//! HTTP/1.0: a connection for each request, which the server closes behind the response.
//!
//! Models RFC 1945, section 1.3, as browsers and proxies of 1996 had it: the client opens a connection to the server that the
//! request is for, sends the request, and reads until the server closes. A connection that is lost takes its request with it.
//! Leaves out `Keep-Alive`, parallel limits of a browser, and retries.
//!
//! Source: RFC 1945, section 1.3; the NZ–US studies (Proc. SPIE 3529, 1998, doi 10.1117/12.333730).

use crate::conn::{Closing, Connection, ConnectionId, Connections, End, ExchangeId};

use super::{Carry, Context};

/// The connections of a leg with one request each.
pub(crate) struct Http10 {
    leg: usize,
}

impl Http10 {
    pub(crate) const fn new(leg: usize) -> Self {
        Self { leg }
    }
}

impl Carry for Http10 {
    fn row_waits(&self) -> bool {
        true
    }

    fn send_request(&mut self, cx: &mut Context, connections: &mut Connections, id: ExchangeId) {
        let exchange = cx.exchanges.get(id).expect("it goes on");
        let host = exchange.request.host;
        let [near, far] = cx.legs[self.leg].nodes();
        let nodes = [near, exchange.source.unwrap_or(far)];
        let connection = cx.open(connections, self.leg, Some(host), nodes);
        cx.assign(connections, id, connection, true);
    }

    fn respond(
        &mut self,
        cx: &mut Context,
        on: ConnectionId,
        connection: &mut Connection,
        id: ExchangeId,
        bytes: u64,
        framing: u64,
    ) {
        if cx.queue_response(on, connection, id, bytes, framing) {
            connection.end_mut(End::Server).closing = Closing::WhenWritten;
        }
    }

    fn on_lost(&mut self, cx: &mut Context, _on: ConnectionId, connection: &mut Connection, _end: End) {
        if let Some(id) = connection.exchange {
            cx.give_up(connection, id);
        }
    }
}
