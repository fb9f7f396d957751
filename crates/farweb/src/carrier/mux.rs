//! A bundle of connections between two proxies, over which messages of all requests go side by side.
//!
//! Models the mux of the NZ–US studies: all connections are opened when the run begins, one that failed when a message wants it
//! next, and closed by their client end when every request has ended and none will come. A request, and from its first bytes on a
//! response, gets the connection that [`http::mux`](crate::http::mux) chooses, and stays on it; bytes are written in the order
//! in which they came, with framing before each piece of a response. The rest of the messages of a failed exchange is still
//! sent, and ignored. Leaves out credits and priorities.
//!
//! Source: the NZ–US studies (Proc. SPIE 3529, 1998, doi 10.1117/12.333730; CNDS 2001, pp. 97–102).

use std::cmp::Ordering;

use crate::conn::{Closing, Connection, ConnectionId, Connections, End, ExchangeId, Ride};
use crate::http::mux::{Assign, Bundle, Framing, Load, Overhead, Ties};
use crate::tcp::State;

use super::{Action, Carry, Context, Turn};

/// The connections of a leg, and which of them the next message gets.
pub(crate) struct Mux {
    leg: usize,
    connections: Vec<Option<ConnectionId>>,
    /// Number of them that are missing.
    missing: usize,
    /// By the end that writes the message.
    bundles: [Bundle; 2],
    loads: [Vec<Load>; 2],
    framing: Framing,
}

/// A connection that is not there.
const ABSENT: Load = Load { established: false, outstanding: 0 };

impl Mux {
    pub(crate) fn new(leg: usize, connections: u32, overhead: Overhead, assign: Assign, ties: Ties) -> Self {
        let count = connections as usize;
        let bundle = Bundle::new(count, assign, ties);
        Self {
            leg,
            connections: vec![None; count],
            missing: count,
            bundles: [bundle.clone(), bundle],
            loads: [vec![ABSENT; count], vec![ABSENT; count]],
            framing: Framing::new(overhead),
        }
    }

    /// The connection that has its turn for a message from `end`.
    fn choose(&mut self, end: End) -> ConnectionId {
        let loads = &self.loads[end as usize];
        let slot = self.bundles[end as usize].choose(|slot| loads[slot]);
        self.connections[slot].expect("those that were missing have been opened")
    }

    /// Opens the connections that are missing.
    fn open_missing(&mut self, cx: &mut Context, connections: &mut Connections) {
        if self.missing == 0 {
            return;
        }
        let nodes = cx.legs[self.leg].nodes();
        for (slot, place) in self.connections.iter_mut().enumerate().filter(|(_, place)| place.is_none()) {
            let id = cx.open(connections, self.leg, None, nodes);
            connections.get_mut(id).expect("it has just been added").slot = Some(slot as u32);
            *place = Some(id);
        }
        self.missing = 0;
    }

    /// Takes a connection out of its place; whether it was in one.
    fn leave_slot(&mut self, connection: &mut Connection) -> bool {
        let Some(slot) = connection.slot.take() else {
            return false;
        };
        self.connections[slot as usize] = None;
        self.missing += 1;
        self.loads.iter_mut().for_each(|loads| loads[slot as usize] = ABSENT);
        true
    }
}

impl Carry for Mux {
    fn opens_at_once(&self) -> bool {
        true
    }

    fn begin(&mut self, cx: &mut Context, connections: &mut Connections) {
        self.open_missing(cx, connections);
    }

    fn send_request(&mut self, cx: &mut Context, connections: &mut Connections, id: ExchangeId) {
        self.open_missing(cx, connections);
        let turn = Turn::Use(self.choose(End::Client));
        cx.actions.now(Action::Resume { exchange: id, leg: self.leg, turn });
    }

    fn resume(&mut self, cx: &mut Context, connections: &mut Connections, id: ExchangeId, turn: Turn) {
        if let Turn::Use(on) = turn {
            cx.assign(connections, id, on, false);
            cx.actions.now(Action::Act(on, End::Client));
        }
    }

    fn place_response(&mut self, cx: &mut Context, connections: &mut Connections, id: ExchangeId) {
        let exchange = cx.exchanges.get(id).expect("the caller has found it");
        let up = exchange.up;
        if exchange.down.is_some() {
            return;
        }
        self.open_missing(cx, connections);
        let on = self.choose(End::Server);
        let same = up.filter(|up| up.connection == on);
        let ride =
            same.unwrap_or_else(|| Ride::on(on, connections.get(on).expect("it is open, or about to be")));
        cx.exchanges.get_mut(id).expect("found above").down = Some(ride);
        cx.board(connections, id, on, same.is_none());
    }

    fn frame(&mut self, bytes: u64, mss: u64) -> u64 {
        self.framing.before(bytes, bytes.div_ceil(mss))
    }

    /// The requests that wait for the connection have got it.
    fn on_established(&mut self, cx: &mut Context, on: ConnectionId, _connection: &mut Connection) {
        cx.note_established(on);
    }

    /// Its response may come back on another connection.
    fn on_request_read(
        &mut self,
        cx: &mut Context,
        on: ConnectionId,
        connection: &mut Connection,
        id: ExchangeId,
    ) {
        cx.alight(on, connection, id);
    }

    /// The other end is gone, or is going as well: what the connection carries fails, and the next message on the leg has another
    /// opened in its place.
    fn on_lost(&mut self, cx: &mut Context, on: ConnectionId, connection: &mut Connection, _end: End) {
        if self.leave_slot(connection) {
            cx.actions.later(Action::Close(on, End::Client, Closing::Now));
        }
        cx.give_up_all(on, connection);
    }

    /// The others that ride the same connections go on.
    fn on_failed(&mut self, _cx: &mut Context, _id: ExchangeId, _there: Ordering) {}

    /// Notes what is outstanding.
    fn on_settled(&mut self, connection: &Connection, end: End) {
        let Some(slot) = connection.slot else {
            return;
        };
        let endpoint = connection.end(end);
        let state = endpoint.tcp().map(crate::tcp::Connection::state);
        let established = matches!(state, Some(State::Established | State::CloseWait));
        let load = Load { established, outstanding: endpoint.outstanding() };
        self.loads[end as usize][slot as usize] = load;
    }

    fn on_rest(&mut self, cx: &mut Context, connections: &mut Connections) {
        for slot in 0..self.connections.len() {
            let on = self.connections[slot];
            if let Some((on, connection)) = on.and_then(|on| Some((on, connections.get_mut(on)?))) {
                self.leave_slot(connection);
                cx.actions.later(Action::Close(on, End::Client, Closing::WhenWritten));
            }
        }
    }
}
