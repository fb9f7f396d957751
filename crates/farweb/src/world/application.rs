//! What the applications at both ends of a connection do when their endpoint tells them something.
//!
//! The near end writes requests and reads responses, the far end reads requests and writes responses; what else they do
//! depends on the carrier, and on whether the far end is an origin server or a proxy.

use crate::tcp::{Notice, Output};
use crate::units::Instant;

use super::World;
use super::exchange::ExchangeId;
use super::leg::Carrier;
use super::pair::{Closing, ConnectionId, End, Writer};
use super::tasks::Task;

impl World {
    pub(super) fn on_notice(
        &mut self,
        now: Instant,
        id: ConnectionId,
        end: End,
        notice: Notice,
        output: &mut Output,
    ) {
        match (end, notice) {
            (End::Client, Notice::Connected) => {
                self.on_established(now, id);
                self.write(now, id, end, output);
            }
            (End::Server, Notice::Connected) => {
                if self.connections.get(id).is_some_and(|pair| pair.has_work(end)) {
                    self.write(now, id, end, output);
                }
            }
            (_, Notice::Writable) => self.write(now, id, end, output),
            (End::Client, Notice::Readable) => self.client_reads(now, id, output),
            (End::Server, Notice::Readable) => self.server_reads(now, id, output),
            (_, Notice::EndOfStream) => self.on_end_of_stream(now, id, end, output),
            (_, Notice::Closed(_)) => self.on_lost(id, end),
        }
    }

    /// The near end may write: what waits for the connection has got it.
    fn on_established(&mut self, now: Instant, id: ConnectionId) {
        let Some(pair) = self.connections.get_mut(id) else {
            return;
        };
        pair.established = Some(now);
        match self.legs[pair.leg].carrier {
            Carrier::Single | Carrier::Persistent(_) => {
                if let Some(exchange) = pair.exchange.and_then(|only| self.exchanges.get_mut(only)) {
                    exchange.times.connected = Some(now);
                }
            }
            Carrier::Mux(_) => self.on_mux_established(now, id),
        }
    }

    /// Writes what waits at `end` of a connection, and closes it where that was all.
    pub(super) fn write(&mut self, now: Instant, id: ConnectionId, end: End, output: &mut Output) {
        let Some(Writer { stream, closing, tcp }) =
            self.connections.get_mut(id).and_then(|pair| pair.writer(end))
        else {
            return;
        };
        if *closing != Closing::Now {
            let written = tcp.write(now, stream.to_write(), output);
            stream.on_written(written);
        }
        match closing {
            Closing::WhenWritten | Closing::WhenIdle if stream.to_write() > 0 => {}
            Closing::No | Closing::Done => {}
            Closing::WhenIdle => {
                *closing = Closing::No;
                self.watch_idle(now, id, end);
            }
            Closing::WhenWritten | Closing::Now => {
                *closing = Closing::Done;
                tcp.close(now, output);
            }
        }
    }

    /// Lets an end of a connection write, and close, what it has to.
    pub(super) fn act(&mut self, now: Instant, id: ConnectionId, end: End) {
        let mut output = std::mem::take(&mut self.output);
        self.write(now, id, end, &mut output);
        self.settle(now, id, end, output);
    }

    /// Closes a connection from one of its ends.
    pub(super) fn close_connection(&mut self, now: Instant, id: ConnectionId, end: End, closing: Closing) {
        if let Some(pair) = self.connections.get_mut(id)
            && pair.closing[end as usize] != Closing::Done
        {
            pair.closing[end as usize] = closing;
            if end == End::Client {
                self.leave_pool(id);
            }
            self.act(now, id, end);
        }
    }

    fn client_reads(&mut self, now: Instant, id: ConnectionId, output: &mut Output) {
        let Some(mss) = self.read(now, id, End::Client, output) else {
            return self.take_packets(now, id);
        };
        let mut arrivals = std::mem::take(&mut self.arrivals);
        for (exchange, bytes) in arrivals.drain(..) {
            self.on_response(now, id, exchange, bytes, mss);
        }
        self.arrivals = arrivals;
    }

    /// `bytes` of a response were read at the near end of a connection whose segments have up to `mss` bytes.
    fn on_response(&mut self, now: Instant, id: ConnectionId, from: ExchangeId, bytes: u64, mss: u64) {
        let Some(exchange) = self.exchanges.get_mut(from) else {
            return; // Given up: nobody listens.
        };
        if exchange.down.is_none_or(|ride| ride.connection != id) {
            return;
        }
        exchange.times.first_byte.get_or_insert(now);
        if let Some(below) = exchange.below {
            let segments = bytes.div_ceil(mss);
            self.tasks.push_back(Task::Forward { exchange: below, bytes, segments });
        }
        if exchange.bytes.on_received(bytes) {
            exchange.times.end = Some(now);
            self.on_response_complete(now, from);
        }
    }

    fn server_reads(&mut self, now: Instant, id: ConnectionId, output: &mut Output) {
        if self.read(now, id, End::Server, output).is_none() {
            return;
        }
        let mut arrivals = std::mem::take(&mut self.arrivals);
        for (exchange, bytes) in arrivals.drain(..) {
            self.on_request(now, id, exchange, bytes, output);
        }
        self.arrivals = arrivals;
    }

    /// `bytes` of a request were read at the far end of a connection.
    fn on_request(
        &mut self,
        now: Instant,
        id: ConnectionId,
        of: ExchangeId,
        bytes: u64,
        output: &mut Output,
    ) {
        if let Some(pair) = self.connections.get_mut(id) {
            pair.idle_since = None;
        }
        let Some(exchange) = self.exchanges.get_mut(of) else {
            return;
        };
        if exchange.up.is_none_or(|ride| ride.connection != id) || !exchange.bytes.on_requested(bytes) {
            return;
        }
        exchange.times.requested = Some(now);
        let leg = exchange.leg;
        if matches!(self.legs[leg].carrier, Carrier::Mux(_)) {
            self.alight(now, of);
        }
        if leg + 1 == self.legs.len() {
            self.start_release(now, of, id, output);
        } else {
            self.tasks.push_back(Task::PassOn(of));
        }
    }

    /// Reads what there is at `end` of a connection into `arrivals`, by exchange; gives the size of its segments, or nothing
    /// when no TCP runs there.
    fn read(&mut self, now: Instant, id: ConnectionId, end: End, output: &mut Output) -> Option<u64> {
        let Self { connections, arrivals, .. } = self;
        let (stream, tcp) = connections.get_mut(id)?.reader(end)?;
        let bytes = tcp.read(now, tcp.readable(), output);
        stream.read(bytes, |exchange, bytes| arrivals.push((exchange, bytes)));
        Some(tcp.mss())
    }

    /// The other end has finished sending, and so does this one.
    fn on_end_of_stream(&mut self, now: Instant, id: ConnectionId, end: End, output: &mut Output) {
        let Some(Writer { closing, tcp, .. }) =
            self.connections.get_mut(id).and_then(|pair| pair.writer(end))
        else {
            return;
        };
        *closing = Closing::Done;
        tcp.close(now, output);
        if end == End::Client {
            self.on_lost(id, end);
        }
    }

    /// `end` of a connection can go on no more: an exchange on it that has not all of its response fails.
    fn on_lost(&mut self, id: ConnectionId, end: End) {
        let Some(pair) = self.connections.get(id) else {
            return;
        };
        match self.legs[pair.leg].carrier {
            Carrier::Single => {
                if let Some(exchange) = pair.exchange {
                    self.give_up(exchange);
                }
            }
            Carrier::Persistent(_) => self.on_persistent_lost(id, end),
            Carrier::Mux(_) => self.on_mux_lost(id),
        }
    }

    /// A part of a response that was read in so many segments goes on towards the clients in the exchange below.
    pub(super) fn forward(&mut self, now: Instant, id: ExchangeId, bytes: u64, segments: u64) {
        let Some(exchange) = self.exchanges.get(id).filter(|exchange| exchange.is_alive()) else {
            return;
        };
        let framing = match self.legs[exchange.leg].carrier {
            Carrier::Single | Carrier::Persistent(_) => 0,
            Carrier::Mux(_) => self.frame_on_mux(now, id, bytes, segments),
        };
        self.on_response_ready(now, id, bytes, framing);
        if let Some(ride) = self.exchanges.get(id).and_then(|exchange| exchange.down) {
            self.act(now, ride.connection, End::Server);
        }
    }
}
