//! Relays of split legs: nodes inside a leg that end TCP and begin it anew.
//!
//! Models a relay that reads as many bytes as the stretch behind it takes, at once: a slow stretch shuts the windows of the one
//! before. It passes on the end of a stream behind its last byte, and a reset, or its own giving up, at once. It sends without
//! Nagle's rule. It opens the stretch behind it on the SYN of the one before, without waiting, or on a CONNECT, and answers the
//! CONNECT when that stretch stands. A standing stretch needs no handshake: word of a new connection goes ahead of its bytes.
//! Leaves out computing time, connections kept open for others, and relays that answer in the server's name only when it has.
//!
//! Sources: RFC 3135, sections 2 and 3 (split connections, at both ends of a satellite link or at one); RFC 9110, section 9.3.6 (CONNECT).

use crate::conn::{ANSWER_BYTES, Closing, Connection, ConnectionId, End, Event, Packet, Place, Transport};
use crate::observe::Seen;
use crate::record::PacketEvent;
use crate::tcp::{self, CloseReason, Notice, Output, State};
use crate::units::{Instant, When};

use super::World;
use super::network::{Network, Settled};

impl World {
    /// A timer on a side of a relay may be due.
    pub(super) fn on_relay_timer(&mut self, id: ConnectionId, side: u8) {
        let now = When::at(self.progress.now);
        if let Some(connection) = self.connections.get_mut(id)
            && connection.socket(Place::Side(side)).timer == now
        {
            connection.socket_mut(Place::Side(side)).timer = When::NEVER;
            self.network.at_side(id, connection, side, tcp::Connection::on_timeout);
            if connection.severed || connection.is_over() {
                self.end_if_over(id);
            }
        }
    }
}

impl Network {
    /// Gives a segment to the relay that it is for.
    #[cold]
    pub(super) fn relay(
        &mut self,
        connection: &mut Connection,
        packet: &Packet,
        output: &mut Output,
    ) -> Settled {
        let (now, id) = (self.context.now, packet.connection);
        let segment = &packet.segment(&self.extras);
        packet.leave(&mut self.extras);
        let place = connection.place_at(packet.toward, packet.destination);
        let Place::Side(side) = place else {
            unreachable!("a packet of a split leg is for an end or a relay")
        };
        let was_closed = connection.socket(place).transport.is_none();
        self.on_other(id, connection, place, segment, output);
        let has_opened = was_closed && connection.socket(place).transport.is_some();
        if has_opened && connection.relays_mut().relay_mut(side).to_come == 0 {
            self.open_behind(id, connection, side);
        }
        if packet.mark().recorded {
            let seen = Seen { place, event: PacketEvent::Receive, credit_limit: None };
            self.context.observer.packets.record_at_end(now, connection, seen, segment, packet.mark());
        }
        self.settle_side(id, connection, side, output);
        Settled { has_responses: false, is_over: connection.severed || connection.is_over() }
    }

    /// Has the TCP at a side of a relay do something, and carries out its output.
    fn at_side(
        &mut self,
        id: ConnectionId,
        connection: &mut Connection,
        side: u8,
        act: impl FnOnce(&mut tcp::Connection, Instant, &mut Output),
    ) {
        self.settled(id, connection, side, |network, connection, output| {
            if let Some(tcp) = connection.socket_mut(Place::Side(side)).stack_mut() {
                act(tcp, network.context.now, output);
            }
        });
    }

    /// Lets a side of a relay act, and carries out the output.
    fn settled<T>(
        &mut self,
        id: ConnectionId,
        connection: &mut Connection,
        side: u8,
        act: impl FnOnce(&mut Self, &mut Connection, &mut Output) -> T,
    ) -> T {
        let mut output = std::mem::take(&mut self.spare);
        let result = act(self, connection, &mut output);
        self.settle_side(id, connection, side, &mut output);
        self.spare = output;
        result
    }

    /// Carries out the output of a side of a relay.
    fn settle_side(&mut self, id: ConnectionId, connection: &mut Connection, side: u8, output: &mut Output) {
        let mut noticed = 0;
        loop {
            for segment in &output.segments {
                self.transmit(id, connection, Place::Side(side), segment);
            }
            output.segments.clear();
            let Some(notice) = output.notices.get(noticed).copied() else {
                break;
            };
            noticed += 1;
            self.on_relay_notice(id, connection, side, notice);
        }
        output.notices.clear();
        if side.is_multiple_of(2) && self.context.observer.wants_senders() {
            self.context.note_relayed(connection, side);
        }
        if let Some(at) = connection.socket_mut(Place::Side(side)).timer_to_set() {
            self.context.queue.push(at, Event::RelayTimerFires(id, side));
        }
    }

    fn on_relay_notice(&mut self, id: ConnectionId, connection: &mut Connection, side: u8, notice: Notice) {
        let place = Place::Side(side);
        match notice {
            Notice::Connected if side.is_multiple_of(2) => {
                self.at_side(id, connection, side, |tcp, _, _| tcp.set_nodelay());
                self.pump(id, connection, side ^ 1);
            }
            Notice::Connected => self.on_opened(id, connection, side),
            Notice::Readable if matches!(connection.socket(place).transport, Some(Transport::Asking(_))) => {
                if self.settled(id, connection, side, |network, of, out| network.hears_answer(of, place, out))
                {
                    self.on_path(id, connection, side);
                }
            }
            Notice::Readable | Notice::EndOfStream | Notice::Closed(CloseReason::Finished) => {
                self.pump(id, connection, side);
            }
            Notice::Writable => self.pump(id, connection, side ^ 1),
            Notice::Closed(CloseReason::Aborted) => {}
            Notice::Closed(reason) => {
                self.at_side(id, connection, side ^ 1, tcp::Connection::abort);
                self.lose(id, connection, End::Server, reason);
            }
        }
    }

    /// Opens the stretch behind the relay with this side.
    fn open_behind(&mut self, id: ConnectionId, connection: &mut Connection, side: u8) {
        let far = side | 1;
        let split = self.context.legs[connection.leg].config.splits[usize::from(side / 2)];
        if let Some(round_trip) = split.standing {
            self.context.stand(connection, Place::Side(far), round_trip);
            self.at_side(id, connection, far + 1, |tcp, _, _| tcp.set_nodelay());
            self.on_opened(id, connection, far);
        } else {
            let place = Place::Side(far);
            self.settled(id, connection, far, |network, of, out| {
                network.start_tcp(id, of, place, None, out);
            });
        }
    }

    /// The stretch behind a relay stands at its side `far`.
    fn on_opened(&mut self, id: ConnectionId, connection: &mut Connection, far: u8) {
        let place = Place::Side(far);
        connection.socket_mut(place).stack_mut().expect("it stands").set_nodelay();
        if !self.settled(id, connection, far, |network, of, out| network.asks(of, place, out)) {
            self.on_path(id, connection, far);
        }
    }

    /// The path behind a relay is open: it answers the asker, and passes on the bytes that have come.
    fn on_path(&mut self, id: ConnectionId, connection: &mut Connection, far: u8) {
        let near = far ^ 1;
        if self.context.legs[connection.leg].config.splits[usize::from(far / 2)].answers {
            let mut taken = 0;
            self.at_side(id, connection, near, |tcp, now, out| taken = tcp.write(now, ANSWER_BYTES, out));
            let relay = connection.relays_mut().relay_mut(near);
            (relay.to_answer, relay.answered) = (taken, taken);
        }
        self.pump(id, connection, near);
        self.pump(id, connection, far);
    }

    /// Asks the relay behind a connected place to go on, where it has to be asked. True where its answer is waited for.
    /// A send buffer that is smaller than the request makes it shorter.
    pub(super) fn asks(&self, connection: &mut Connection, place: Place, output: &mut Output) -> bool {
        let stretch = connection.stretch(place);
        let relay = connection.relays.as_mut().and_then(|relays| relays.behind_mut(stretch));
        let Some(asked) = relay.map(|relay| relay.to_come).filter(|bytes| *bytes > 0) else {
            return false;
        };
        let waits = self.context.legs[connection.leg].config.splits[stretch].answers;
        let socket = connection.socket_mut(place);
        let written = socket.stack_mut().map_or(0, |tcp| tcp.write(self.context.now, asked, output));
        if waits && let Some(Transport::Tcp(tcp)) = socket.transport.take() {
            socket.transport = Some(Transport::Asking(tcp));
        }
        connection.relays_mut().behind_mut(stretch).expect("found above").to_come = written;
        waits
    }

    /// The relay behind a place that has asked it answers. True once, when the answer is complete and the place may go on.
    fn hears_answer(&self, connection: &mut Connection, place: Place, output: &mut Output) -> bool {
        let stretch = connection.stretch(place);
        let left = connection.relays_mut().behind_mut(stretch).expect("it has been asked").to_answer;
        let socket = connection.socket_mut(place);
        let read = socket.stack_mut().map_or(0, |tcp| tcp.read(self.context.now, left, output));
        let is_whole = read > 0 && read == left;
        if is_whole && let Some(Transport::Asking(tcp)) = socket.transport.take() {
            socket.transport = Some(Transport::Tcp(tcp));
        }
        connection.relays_mut().behind_mut(stretch).expect("found above").to_answer = left - read;
        is_whole
    }

    /// The client end has asked the first relay to go on: it hears the answer, and may be closed before that.
    #[cold]
    pub(super) fn on_asking(
        &mut self,
        id: ConnectionId,
        connection: &mut Connection,
        end: End,
        output: &mut Output,
    ) {
        let endpoint = connection.end_mut(end);
        let Some(Transport::Asking(tcp)) = &mut endpoint.socket.transport else {
            return;
        };
        if matches!(endpoint.closing, Closing::WhenWritten | Closing::Now) {
            endpoint.closing = Closing::Done;
            tcp.close(self.context.now, output);
        } else if self.hears_answer(connection, Place::End(end), output) {
            self.on_notice(id, connection, end, output, Notice::Connected);
            if connection.end(end).tcp().is_some_and(|tcp| tcp.readable() > 0) {
                self.on_notice(id, connection, end, output, Notice::Readable);
            }
        }
    }

    /// Reads the word that asks the relay with the side `near` to go on, which then opens the stretch behind it. True while more has to come.
    fn reads_request(&mut self, id: ConnectionId, connection: &mut Connection, near: u8) -> bool {
        let left = connection.relays_mut().relay_mut(near).to_come;
        if left == 0 {
            return false;
        }
        let mut read = 0;
        self.at_side(id, connection, near, |tcp, now, out| read = tcp.read(now, left, out));
        connection.relays_mut().relay_mut(near).to_come = left - read;
        if read == left {
            self.open_behind(id, connection, near);
        } else if connection.socket(Place::Side(near)).tcp().is_some_and(|tcp| has_ended(tcp.state())) {
            self.at_side(id, connection, near, tcp::Connection::shutdown_write);
        }
        read < left
    }

    /// Passes on bytes from a side of a relay, as many as the other one takes, and the end of the stream behind them.
    fn pump(&mut self, id: ConnectionId, connection: &mut Connection, from: u8) {
        if from.is_multiple_of(2) && self.reads_request(id, connection, from) {
            return;
        }
        let [near, far] = connection.relays_mut().both_mut(from);
        let readable = near.tcp().map_or(0, tcp::Connection::readable);
        if readable > 0 && far.tcp().is_some() {
            let mut taken = 0;
            self.at_side(id, connection, from ^ 1, |tcp, now, out| taken = tcp.write(now, readable, out));
            if taken > 0 {
                self.at_side(id, connection, from, |tcp, now, out| {
                    tcp.read(now, taken, out);
                });
            }
        }
        let [near, far] = connection.relays_mut().both_mut(from);
        let is_at_end = near.tcp().is_some_and(|tcp| has_ended(tcp.state()) && tcp.readable() == 0);
        if is_at_end && far.tcp().is_some_and(|tcp| may_write(tcp.state())) {
            self.at_side(id, connection, from ^ 1, tcp::Connection::shutdown_write);
        }
    }
}

/// True if the peer of a TCP in this state sends no more.
const fn has_ended(state: State) -> bool {
    matches!(state, State::CloseWait | State::Closing | State::LastAck | State::TimeWait | State::Closed)
}

/// True when a TCP in this state has not ended its own stream.
const fn may_write(state: State) -> bool {
    matches!(state, State::Established | State::CloseWait)
}
