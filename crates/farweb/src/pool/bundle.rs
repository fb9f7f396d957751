//! A bundle of connections between two proxies, over which messages of all requests go side by side.
//!
//! Models the mux of the NZ–US studies: all connections are opened when the run begins, one that failed when a message wants it
//! next, and closed by their client end when every request has ended and none will come. A request, and from its first bytes on a
//! response, gets the connection that [`http::mux`](crate::http::mux) chooses, and stays on it. Bytes are written in the order
//! of arrival, with framing before each piece of a response. The rest of the messages of a failed exchange is still
//! sent, and ignored. Leaves out credits and priorities.
//!
//! Source: the NZ–US studies (Proc. SPIE 3529, 1998, doi 10.1117/12.333730; CNDS 2001, pp. 97–102).

use std::cmp::Ordering;

use crate::conn::{Closing, Connection, ConnectionId, Connections, End, ExchangeId, Key, Ride};
use crate::context::{Action, Context, Turn};
use crate::http::mux::{self, Assign, Ties};
use crate::tcp::State;

use super::Allot;

/// The connections of a leg, and which of them the next message gets.
pub(crate) struct Bundle {
    leg: usize,
    connections: Vec<Option<ConnectionId>>,
    /// Number of them that are missing.
    missing: usize,
    /// By the end that writes the message.
    turns: [mux::Bundle; 2],
    /// Bytes of each connection that wait or are not acknowledged, likewise.
    outstanding: [Vec<u64>; 2],
}

impl Bundle {
    pub(crate) fn new(leg: usize, connections: u32, assign: Assign, ties: Ties) -> Self {
        let count = connections as usize;
        let turns = mux::Bundle::new(count, assign, ties);
        let outstanding = [vec![0; count], vec![0; count]];
        Self {
            leg,
            connections: vec![None; count],
            missing: count,
            turns: [turns.clone(), turns],
            outstanding,
        }
    }

    /// The connection that has its turn for a message from `end`.
    fn choose(&mut self, connections: &Connections, end: End) -> ConnectionId {
        let Self { connections: slots, turns, outstanding, .. } = self;
        let id = |slot: usize| slots[slot].expect("those that were missing have been opened");
        let tcp = |slot: usize| connections.get(id(slot))?.end(end).tcp();
        let chosen = turns[end as usize].choose(
            |slot| outstanding[end as usize][slot],
            |slot| tcp(slot).is_some_and(|tcp| matches!(tcp.state(), State::Established | State::CloseWait)),
        );
        id(chosen)
    }

    /// Opens the connections that are missing.
    fn open_missing(&mut self, cx: &mut Context, connections: &mut Connections) {
        if self.missing == 0 {
            return;
        }
        let nodes = cx.legs[self.leg].nodes();
        for (slot, place) in self.connections.iter_mut().enumerate().filter(|(_, place)| place.is_none()) {
            let id = cx.open(connections, self.leg, Key::ANY, nodes);
            connections.get_mut(id).expect("it has just been added").slot = Some(slot as u32);
            *place = Some(id);
            self.outstanding.iter_mut().for_each(|by_slot| by_slot[slot] = 0);
        }
        self.missing = 0;
    }

    /// Takes a connection out of its place. True if it was in one.
    fn leave_slot(&mut self, connection: &mut Connection) -> bool {
        let Some(slot) = connection.slot.take() else {
            return false;
        };
        self.connections[slot as usize] = None;
        self.missing += 1;
        true
    }
}

impl Allot for Bundle {
    fn begin(&mut self, cx: &mut Context, connections: &mut Connections) {
        self.open_missing(cx, connections);
    }

    fn ask(&mut self, cx: &mut Context, connections: &mut Connections, id: ExchangeId) {
        self.open_missing(cx, connections);
        let turn = Turn::Use(self.choose(connections, End::Client));
        cx.actions.now(Action::Resume { exchange: id, leg: self.leg, turn });
    }

    fn resume(&mut self, cx: &mut Context, connections: &mut Connections, id: ExchangeId, turn: Turn) {
        if let Turn::Use(on) = turn {
            // Both directions of a tunnel with turns are lost together.
            let both = cx.exchanges.get(id).is_some_and(|exchange| exchange.tunnel.is_some());
            cx.assign(connections, id, on, both);
            cx.actions.now(Action::Act(on, End::Client));
        }
    }

    fn place_response(&mut self, cx: &mut Context, connections: &mut Connections, id: ExchangeId) {
        let exchange = cx.exchanges.get(id).expect("the caller has found it");
        let up = exchange.up;
        self.open_missing(cx, connections);
        let on = self.choose(connections, End::Server);
        let same = up.filter(|up| up.connection == on);
        let ride =
            same.unwrap_or_else(|| Ride::on(on, connections.get(on).expect("it is open, or about to be")));
        cx.exchanges.get_mut(id).expect("found above").down = Some(ride);
        cx.board(connections, id, on, same.is_none());
    }

    fn on_settled(&mut self, slot: u32, end: End, outstanding: u64) {
        self.outstanding[end as usize][slot as usize] = outstanding;
    }

    /// The other end is gone, or is going as well: what the connection carries fails, and the next message on the leg has another
    /// opened in its place.
    fn on_lost(&mut self, cx: &mut Context, on: ConnectionId, connection: &mut Connection, _end: End) {
        if self.leave_slot(connection) {
            cx.actions.later(Action::Close(on, End::Client, Closing::Now));
        }
        cx.give_up_all(connection);
    }

    /// The others that ride the same connections go on.
    fn on_failed(
        &mut self,
        _cx: &mut Context,
        _connections: &mut Connections,
        _id: ExchangeId,
        _there: Ordering,
    ) {
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
