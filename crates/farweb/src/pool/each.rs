//! HTTP/1.0: a connection for each request, which the server closes behind the response, or the client when it has read it.
//!
//! Models RFC 1945, section 1.3, as browsers and proxies of 1996 had it: the client opens a connection to the server that the
//! request is for, sends the request, and reads until the server closes, or, where it knows the length, until the response is
//! whole, and closes itself. Without a FIN behind it Nagle's rule may hold the end of the response. A connection that is lost
//! takes its request with it. Leaves out `Keep-Alive`, parallel limits of a browser, and retries.
//!
//! Source: RFC 1945, section 1.3; the NZ–US studies (Proc. SPIE 3529, 1998, doi 10.1117/12.333730).

use crate::conn::{Closing, Connection, ConnectionId, Connections, End, ExchangeId, Key};
use crate::context::{Action, Context};

use super::{Allot, ClosedBy};

/// The connections of a leg.
pub(crate) struct Each {
    leg: usize,
    closed_by: ClosedBy,
}

impl Each {
    pub(crate) const fn new(leg: usize, closed_by: ClosedBy) -> Self {
        Self { leg, closed_by }
    }
}

impl Allot for Each {
    fn ask(&mut self, cx: &mut Context, connections: &mut Connections, id: ExchangeId) {
        let exchange = cx.exchanges.get(id).expect("it goes on");
        let leg = &cx.legs[self.leg];
        let key = Key { host: Some(exchange.request.host), ..leg.key(exchange) };
        let nodes = leg.nodes_of(&key);
        let on = cx.open(connections, self.leg, key, nodes);
        if self.closed_by == ClosedBy::Server {
            let connection = connections.get_mut(on).expect("it has just been added");
            connection.behind_response = Closing::WhenWritten;
        }
        cx.assign_alone(connections, id, on);
    }

    fn on_free(&mut self, cx: &mut Context, on: ConnectionId, _connection: &mut Connection) {
        if self.closed_by == ClosedBy::Client {
            cx.actions.later(Action::Close(on, End::Client, Closing::WhenWritten));
        }
    }

    fn on_lost(&mut self, cx: &mut Context, _on: ConnectionId, connection: &mut Connection, _end: End) {
        if let Some(id) = connection.exchange {
            cx.give_up(connection, id);
        }
    }
}
