//! The connections of a leg that multiplexes: all opened when the run begins, one that failed when a message wants it next,
//! closed by their near end when every request has ended and none will come.

use crate::http::mux::{Assign, Bundle, Framing, Load, Overhead, Ties};
use crate::tcp::State;
use crate::units::Instant;

use super::exchange::ExchangeId;
use super::leg::Carrier;
use super::pair::{Closing, ConnectionId, End};
use super::tasks::Task;
use super::transport::Transport;
use super::{Upcoming, World};

/// The connections of a leg, and which of them the next message gets.
pub(super) struct Mux {
    connections: Vec<Option<ConnectionId>>,
    /// By the end that writes the message.
    bundles: [Bundle; 2],
    loads: [Vec<Load>; 2],
    framing: Framing,
}

/// A connection that is not there.
const ABSENT: Load = Load { established: false, outstanding: 0 };

impl Mux {
    pub(super) fn new(connections: u32, overhead: Overhead, assign: Assign, ties: Ties) -> Self {
        let connections = connections as usize;
        let bundle = Bundle::new(connections, assign, ties);
        Self {
            connections: vec![None; connections],
            bundles: [bundle.clone(), bundle],
            loads: [vec![ABSENT; connections], vec![ABSENT; connections]],
            framing: Framing::new(overhead),
        }
    }

    fn choose(&mut self, end: End) -> ConnectionId {
        let loads = &self.loads[end as usize];
        let slot = self.bundles[end as usize].choose(|slot| loads[slot]);
        self.connections[slot].expect("those that were missing have been opened")
    }
}

impl World {
    /// Opens the connections of every mux.
    pub(super) fn on_begin(&mut self, now: Instant) {
        if !matches!(self.upcoming, Upcoming::None) {
            (0..self.legs.len()).for_each(|leg| self.open_missing(now, leg));
        }
    }

    fn mux(&mut self, leg: usize) -> Option<&mut Mux> {
        match &mut self.legs[leg].carrier {
            Carrier::Mux(mux) => Some(mux),
            _ => None,
        }
    }

    /// Opens the connections that a mux lacks.
    fn open_missing(&mut self, now: Instant, leg: usize) {
        let mut slot = 0;
        while let Some(connection) = self.mux(leg).and_then(|mux| mux.connections.get(slot)) {
            if connection.is_none() {
                let (id, output) = self.open_connection(now, leg, None);
                self.connections.get_mut(id).expect("it has just been opened").slot = Some(slot);
                self.mux(leg).expect("found above").connections[slot] = Some(id);
                self.settle(now, id, End::Client, output);
            }
            slot += 1;
        }
    }

    /// Sends the request of an exchange on the connection that has its turn.
    pub(super) fn send_request_on_mux(&mut self, now: Instant, id: ExchangeId) {
        let leg = self.exchanges.get(id).expect("the caller has found it").leg;
        self.open_missing(now, leg);
        let connection = self.mux(leg).expect("the caller has looked").choose(End::Client);
        self.assign_request(now, id, connection);
        self.act(now, connection, End::Client);
    }

    /// Bytes of framing before the next `bytes` of the response of an exchange, which came in so many segments. The first
    /// ones get the connection that has its turn.
    pub(super) fn frame_on_mux(&mut self, now: Instant, id: ExchangeId, bytes: u64, segments: u64) -> u64 {
        let exchange = self.exchanges.get(id).expect("the caller has found it");
        let (leg, up) = (exchange.leg, exchange.up);
        if exchange.down.is_none() {
            self.open_missing(now, leg);
            let connection = self.mux(leg).expect("the caller has looked").choose(End::Server);
            let ride = match up {
                Some(up) if up.connection == connection => up,
                _ => self.connections.get(connection).expect("a mux has open connections").ride(connection),
            };
            self.exchanges.get_mut(id).expect("found above").down = Some(ride);
            self.board(now, id, connection, up.is_none_or(|up| up.connection != connection));
        }
        self.mux(leg).expect("the caller has looked").framing.before(bytes, segments)
    }

    /// The near end of a connection may write: the requests that wait for it have got it.
    pub(super) fn on_mux_established(&mut self, now: Instant, id: ConnectionId) {
        for exchange in self.aboard(id) {
            let exchange = self.exchanges.get_mut(exchange).expect("listed above");
            exchange.times.connected.get_or_insert(now);
        }
    }

    /// An end of a connection is gone, or is going: so is the other one, what they carry fails, and the next message on the leg
    /// has another opened in its place.
    pub(super) fn on_mux_lost(&mut self, id: ConnectionId) {
        if self.leave_slot(id) {
            self.tasks.push_back(Task::Close(id, Closing::Now));
        }
        for exchange in self.aboard(id) {
            self.give_up(exchange);
        }
    }

    /// Takes a connection out of its mux; whether it was in one.
    fn leave_slot(&mut self, id: ConnectionId) -> bool {
        let Some(pair) = self.connections.get_mut(id) else {
            return false;
        };
        let (leg, slot) = (pair.leg, pair.slot.take());
        let (Some(slot), Some(mux)) = (slot, self.mux(leg)) else {
            return false;
        };
        mux.connections[slot] = None;
        mux.loads.iter_mut().for_each(|loads| loads[slot] = ABSENT);
        true
    }

    /// The exchanges that a connection carries.
    pub(super) fn aboard(&self, id: ConnectionId) -> Vec<ExchangeId> {
        let carried = self.exchanges.iter().filter(|(_, exchange)| exchange.aboard == Some(id));
        carried.map(|(exchange, _)| exchange).collect()
    }

    /// Notes what is outstanding at `end` of a connection of a mux.
    pub(super) fn note_load(&mut self, id: ConnectionId, end: End) {
        let Some(pair) = self.connections.get(id) else {
            return;
        };
        let Some(slot) = pair.slot else {
            return;
        };
        let established = match pair.transport(end) {
            Some(Transport::Tcp(tcp)) => matches!(tcp.state(), State::Established | State::CloseWait),
            _ => false,
        };
        let load = Load { established, outstanding: pair.outstanding(end) };
        let leg = pair.leg;
        if let Some(mux) = self.mux(leg) {
            mux.loads[end as usize][slot] = load;
        }
    }

    /// Closes the connections of every mux when no request is left and none will come.
    pub(super) fn close_muxes_if_over(&mut self) {
        if !self.exchanges.is_empty() || !matches!(self.upcoming, Upcoming::None) {
            return;
        }
        for leg in 0..self.legs.len() {
            let connections = self.mux(leg).map(|mux| mux.connections.clone()).unwrap_or_default();
            for connection in connections.into_iter().flatten() {
                self.leave_slot(connection);
                self.tasks.push_back(Task::Close(connection, Closing::WhenWritten));
            }
        }
    }
}
