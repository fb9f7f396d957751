//! Applications at both ends of a connection: their reactions to the notices of their endpoint.
//!
//! Models a client end that writes requests and reads responses, and a server end that reads requests and writes responses,
//! each as soon as it can, or after waking (`application.wake`). The session decides which bytes. The pool of the leg decides
//! the rest, together with the node at the server end for a request, at the client end for a response that goes on. Leaves out
//! computing time of applications.

use crate::conn::{Closing, Connection, ConnectionId, End, Event, Exchange, ExchangeId, Place, Transport};
use crate::context::{Action, Context};
use crate::node::{self, Decision, Stand, on_node};
use crate::pool::{Allot, on_pool};
use crate::session::Content;
use crate::tcp::{CloseReason, Notice, Output};
use crate::units::{Duration, When};

use super::launch::on_tcp;
use super::network::{Network, Settled};

impl Network {
    /// The application at `end` acts on a notice.
    #[inline(never)]
    pub(super) fn on_notice(
        &mut self,
        id: ConnectionId,
        connection: &mut Connection,
        end: End,
        output: &mut Output,
        notice: Notice,
    ) {
        match notice {
            Notice::Connected => self.on_connected(id, connection, end, output),
            Notice::Writable | Notice::Readable if self.wakes_later(id, connection, end) => {}
            Notice::Writable => self.write(id, connection, end, output),
            Notice::Readable => self.read(id, connection, end, output),
            Notice::EndOfStream => self.on_end_of_stream(id, connection, end, output),
            Notice::Closed(reason) => self.lose(id, connection, end, reason),
        }
    }

    /// The transport at `end` of a connection stands.
    #[inline(never)]
    fn on_connected(&mut self, id: ConnectionId, connection: &mut Connection, end: End, output: &mut Output) {
        let has_relays = end == End::Client && connection.relays.is_some();
        if has_relays && self.asks(connection, Place::End(end), output) {
            return;
        }
        if connection.end(end).session.has_tls() {
            // OpenSSL's clients and nginx turn Nagle's rule off before the handshake.
            connection.end_mut(end).tcp_mut().expect("it is connected").set_nodelay();
            self.shake_hands(id, connection, end, output);
        } else {
            self.on_ready(id, connection, end, output);
        }
    }

    /// `end` of a connection may write.
    fn on_ready(&mut self, id: ConnectionId, connection: &mut Connection, end: End, output: &mut Output) {
        let endpoint = connection.end_mut(end);
        let speaks_first = endpoint.session.open();
        if endpoint.session.is_nodelay()
            && let Some(tcp) = endpoint.tcp_mut()
        {
            tcp.set_nodelay();
        }
        if end == End::Client {
            connection.established = When::at(self.context.now);
            self.context.note_established(connection);
            self.context.observer.on_ready(self.context.now, id);
        }
        if end == End::Client || speaks_first || connection.end(end).has_work() {
            self.write(id, connection, end, output);
        }
    }

    /// `end` of a connection with TLS sends what the handshake asks of it now. The last of it makes it ready.
    fn shake_hands(&mut self, id: ConnectionId, connection: &mut Connection, end: End, output: &mut Output) {
        let session = &mut connection.end_mut(end).session;
        let is_ready = session.shake_hands();
        if session.takes_ticket() {
            let leg = &mut self.context.legs[connection.leg];
            leg.add_ticket(self.context.now, connection.key);
        }
        let session = &connection.end(end).session;
        if session.has_records() {
            self.write(id, connection, end, output);
        }
        if is_ready {
            self.on_ready(id, connection, end, output);
        }
    }

    /// True when the application at `end` acts on its notice only later, because it takes time to wake. Schedules that.
    #[inline(always)]
    fn wakes_later(&mut self, id: ConnectionId, connection: &mut Connection, end: End) -> bool {
        let wake = self.context.legs[connection.leg].config.application.wake;
        if wake > Duration::ZERO {
            self.schedule_waking(id, connection, end, wake);
        }
        wake > Duration::ZERO
    }

    #[inline(never)]
    fn schedule_waking(&mut self, id: ConnectionId, connection: &mut Connection, end: End, wake: Duration) {
        let endpoint = connection.end_mut(end);
        if !endpoint.is_waking {
            endpoint.is_waking = true;
            let Context { queue, now, .. } = &mut self.context;
            queue.push(*now + wake, Event::ApplicationWakes(id, end));
        }
    }

    /// The other end has finished sending, and so does this one, unless its session has still to read bytes before the end.
    #[inline(never)]
    pub(super) fn on_end_of_stream(
        &mut self,
        id: ConnectionId,
        connection: &mut Connection,
        end: End,
        output: &mut Output,
    ) {
        if connection.end(end).tcp().is_none_or(|tcp| tcp.readable() > 0) {
            return;
        }
        self.close_tcp(id, connection, end, output);
        if end == End::Client {
            self.lose(id, connection, end, CloseReason::Finished);
        }
    }

    /// `end` of a connection gives it up, for `reason`: the pool decides about its requests. Where the server end is gone, it does so
    /// when nothing more can come to the client, whose TCP does not hear of that.
    #[inline(never)]
    pub(super) fn lose(
        &mut self,
        id: ConnectionId,
        connection: &mut Connection,
        end: End,
        reason: CloseReason,
    ) {
        connection.note_lost(end, reason);
        connection.severed = end == End::Server && connection.may_bring_more();
        if !connection.severed {
            self.lose_requests(id, connection, end);
        }
    }

    /// Nothing more comes from the lost `end` of a connection.
    pub(super) fn lose_requests(&mut self, id: ConnectionId, connection: &mut Connection, end: End) {
        let Self { pools, context, .. } = self;
        on_pool!(&mut pools[connection.leg], own => own.on_lost(context, id, connection, end));
    }

    /// Writes what waits at `end` of a connection, and closes it where that was all.
    pub(super) fn write(
        &mut self,
        id: ConnectionId,
        connection: &mut Connection,
        end: End,
        output: &mut Output,
    ) {
        let closing = connection.end(end).closing;
        let mut waiting = self.context.next_write(connection, end);
        let is_drained = loop {
            let bytes = if closing == Closing::Now { 0 } else { waiting };
            let now = self.context.now;
            let Some(written) = on_tcp!(self, id, connection, end, output, (session, tcp, out) => {
                session.hand_over(tcp, now, bytes, out)
            }) else {
                return self.on_asking(id, connection, end, output);
            };
            if written < waiting {
                break false;
            }
            if waiting > 0 {
                waiting = self.context.next_write(connection, end);
            }
            if waiting == 0 {
                break connection.end(end).session.has_handed_over();
            }
        };
        if is_drained && connection.end(end).holds_release {
            connection.end_mut(end).holds_release = false;
            if let Some(of) = connection.exchange {
                node::on_taken(&mut self.context, of);
            }
        }
        match closing {
            Closing::No | Closing::Done => {}
            Closing::AfterIdle(_) | Closing::WhenWritten if !is_drained => {}
            Closing::AfterIdle(idle_timeout) => {
                connection.end_mut(end).closing = Closing::No;
                self.context.lie_idle(id, connection, end, idle_timeout);
            }
            Closing::WhenWritten | Closing::Now => {
                self.close_tcp(id, connection, end, output);
            }
        }
    }

    /// Closes the TCP at `end` of a connection.
    fn close_tcp(&mut self, id: ConnectionId, connection: &mut Connection, end: End, output: &mut Output) {
        connection.end_mut(end).closing = Closing::Done;
        let now = self.context.now;
        on_tcp!(self, id, connection, end, output, (_, tcp, out) => tcp.close(now, out));
    }

    /// Reads all bytes at `end` of a connection, and writes the answers.
    pub(super) fn read(
        &mut self,
        id: ConnectionId,
        connection: &mut Connection,
        end: End,
        output: &mut Output,
    ) {
        match connection.end(end).session.to_read() {
            None => self.read_messages(id, connection, end, output),
            Some(most) => self.read_frames(id, connection, end, most, output),
        }
    }

    /// Reads all bytes at `end` of a connection that carries messages alone.
    #[inline]
    fn read_messages(
        &mut self,
        id: ConnectionId,
        connection: &mut Connection,
        end: End,
        output: &mut Output,
    ) {
        let now = self.context.now;
        let Some((mut bytes, mss)) = on_tcp!(self, id, connection, end, output, (_, tcp, out) => {
            (tcp.read(now, u64::MAX, out), tcp.mss())
        }) else {
            self.take_packets(id, connection);
            return self.on_asking(id, connection, end, output);
        };
        if connection.end(end).session.has_tls() {
            bytes = self.unseal(id, connection, end, bytes, output);
        }
        while let Some((content, part)) = connection.end_mut(end.other()).session.stream.read(&mut bytes) {
            self.on_part(id, connection, end, content, part, mss, output);
        }
    }

    /// Reads all bytes at `end` of a connection, up to `most` in a read, and carries out the frames in them.
    fn read_frames(
        &mut self,
        id: ConnectionId,
        connection: &mut Connection,
        end: End,
        most: u64,
        output: &mut Output,
    ) {
        let now = self.context.now;
        while let Some((read, mss, left)) = on_tcp!(self, id, connection, end, output, (_, tcp, out) => {
            (tcp.read(now, most, out), tcp.mss(), tcp.readable())
        }) {
            let mut bytes = read;
            if connection.end(end).session.has_tls() {
                bytes = self.unseal(id, connection, end, bytes, output);
            }
            while let Some((content, part)) = self.read_part(connection, end, &mut bytes) {
                self.on_part(id, connection, end, content, part, mss, output);
            }
            let answer = connection.end_mut(end).session.on_read();
            for _ in 0..answer.ended {
                let Self { pools, context, .. } = self;
                on_pool!(&mut pools[connection.leg], own => own.on_free(context, id, connection));
            }
            if answer.writes {
                self.write(id, connection, end, output);
            }
            if read == 0 || left == 0 {
                return;
            }
        }
        self.on_asking(id, connection, end, output);
    }

    /// Bytes of its stream in the next `bytes` that `end` of a connection with TLS has read. The end may go on with the
    /// handshake for them.
    fn unseal(
        &mut self,
        id: ConnectionId,
        connection: &mut Connection,
        end: End,
        bytes: u64,
        output: &mut Output,
    ) -> u64 {
        let (endpoint, from) = connection.facing(end);
        let unsealed = endpoint.session.unseal(from, bytes);
        self.shake_hands(id, connection, end, output);
        unsealed
    }

    /// Reads the next part of the first `bytes` of the other end's stream, which have come to `end`.
    #[inline]
    fn read_part(&self, connection: &mut Connection, end: End, bytes: &mut u64) -> Option<(Content, u64)> {
        let (endpoint, from) = connection.facing(end);
        endpoint.session.read(from, self.context.now, bytes)
    }

    /// `end` of a connection has read the next `bytes` of a message, or a frame.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "bytes, whose they are, and where they come from")]
    fn on_part(
        &mut self,
        id: ConnectionId,
        connection: &mut Connection,
        end: End,
        content: Content,
        bytes: u64,
        mss: u64,
        output: &mut Output,
    ) {
        match (end, content) {
            (_, Content::Frame) => {}
            (End::Client, Content::Message(of)) => self.on_response(id, connection, of, bytes, mss),
            (End::Server, Content::Message(of)) => self.on_request(id, connection, of, bytes, output),
        }
    }

    /// The client takes the packets of a transfer that have arrived in order.
    fn take_packets(&mut self, id: ConnectionId, connection: &mut Connection) {
        let Some(Transport::Sink(sink)) = &connection.end(End::Client).socket.transport else {
            return;
        };
        let received = sink.received();
        if let Some(of) = connection.exchange
            && let Some(exchange) = self.context.exchanges.get(of)
        {
            let bytes = received - exchange.bytes.received();
            self.on_response(id, connection, of, bytes, 1);
        }
    }

    /// `bytes` of a response were read at the client end of a connection, from segments of up to `mss` bytes.
    #[inline(always)]
    fn on_response(
        &mut self,
        id: ConnectionId,
        connection: &mut Connection,
        of: ExchangeId,
        bytes: u64,
        mss: u64,
    ) {
        let cx = &mut self.context;
        let Some(exchange) = cx.exchanges.alive(of).filter(|exchange| exchange.rides_down(id)) else {
            return; // Given up: no reader is left.
        };
        let ends_turn = exchange.on_coming(cx.now, bytes);
        let is_whole = exchange.bytes.on_received(bytes);
        if ends_turn && connection.leg == 0 {
            cx.actions.later(Action::Ask(of));
        }
        if is_whole || connection.leg > 0 {
            self.hand_on(id, connection, of, bytes, mss, is_whole);
        }
    }

    /// Gives the next `bytes` of a response to the exchanges above its leg that wait for them. Ends it when it is whole.
    fn hand_on(
        &mut self,
        id: ConnectionId,
        connection: &mut Connection,
        of: ExchangeId,
        bytes: u64,
        mss: u64,
        is_whole: bool,
    ) {
        let Self { pools, nodes, context: cx, .. } = self;
        if connection.leg > 0 {
            let node = &mut nodes[usize::from(connection.end(End::Client).socket.node)];
            let mut next = cx.exchanges.waiting_for(of).next();
            while let Some(below) = next {
                next = cx.exchanges.beside(below);
                let bytes = on_node!(node, own => own.on_response(cx, of, below, bytes));
                if bytes > 0 {
                    cx.actions.later(Action::Respond { exchange: below, bytes, mss });
                }
            }
            if is_whole {
                on_node!(node, own => own.on_fetched(cx, of));
            }
        }
        if is_whole {
            if cx.legs[connection.leg].config.has_caches {
                node::end_inside(nodes, cx, of, true);
            }
            let times = &mut cx.exchanges.get_mut(of).expect("found above").times;
            times.end = When::at(cx.now);
            if connection.leg == 0 && !times.acked.is_never() {
                cx.actions.later(Action::End(of));
            }
            cx.alight(id, connection, of);
            cx.leave_leg(connection.leg);
            if connection.end(End::Client).session.ends_with_message() {
                on_pool!(&mut pools[connection.leg], own => own.on_free(cx, id, connection));
            }
            if connection.leg > 0 {
                cx.forget_exchange(of);
            }
        }
    }

    /// `bytes` of a request were read at the server end of a connection.
    fn on_request(
        &mut self,
        id: ConnectionId,
        connection: &mut Connection,
        of: ExchangeId,
        bytes: u64,
        output: &mut Output,
    ) {
        connection.idle_until = When::NEVER;
        let Self { nodes, context: cx, .. } = self;
        let is_on_it = |exchange: &&mut Exchange| exchange.up.is_some_and(|up| up.connection == id);
        let Some(exchange) = cx.exchanges.get_mut(of).filter(is_on_it) else {
            return;
        };
        if !exchange.on_requested(bytes) {
            return;
        }
        if exchange.bytes.is_requested() {
            exchange.times.requested = When::at(cx.now);
            if exchange.rides_down(id) {
                cx.observer.on_response_due(id, of);
            } else {
                cx.alight(id, connection, of);
            }
        }
        if let Some(fetch) = cx.exchanges.above(of) {
            return cx.actions.later(Action::Ask(fetch));
        }
        let node = connection.end(End::Server).socket.node;
        match on_node!(&mut nodes[usize::from(node)], own => own.on_request(cx, of)) {
            Decision::PassOn => cx.actions.later(Action::PassOn(of)),
            Decision::Serve(response) => {
                cx.exchanges.release(of, response);
                self.release(id, connection, of, output);
            }
        }
    }

    /// Releases the due bytes of a response that starts at the server end of a connection. It goes over that one, or over another
    /// that its pool has for it.
    fn release(
        &mut self,
        id: ConnectionId,
        connection: &mut Connection,
        of: ExchangeId,
        output: &mut Output,
    ) {
        let cx = &mut self.context;
        let Some((bytes, mss)) = node::release(cx, of) else {
            return;
        };
        if !cx.exchanges.get(of).is_some_and(|exchange| exchange.rides_down(id)) {
            return cx.actions.later(Action::Respond { exchange: of, bytes, mss });
        }
        let releasing = cx.exchanges.get(of).and_then(|exchange| exchange.releasing);
        if let Some(pace) = releasing.and_then(|releasing| releasing.plan.pace()).filter(|_| bytes > 0) {
            connection.regulator.get_or_insert_default().announce(of, bytes, pace);
        }
        cx.respond(id, connection, of, bytes, mss);
        connection.end_mut(End::Server).holds_release =
            releasing.is_some_and(|releasing| releasing.plan.waits_for_transport());
        self.write(id, connection, End::Server, output);
    }

    /// The next part of a response is due at the server end of the connection that it has.
    pub(super) fn release_more(
        &mut self,
        id: ConnectionId,
        connection: &mut Connection,
        of: ExchangeId,
        output: &mut Output,
    ) -> Settled {
        self.release(id, connection, of, output);
        self.settle(id, connection, End::Server, output)
    }
}
