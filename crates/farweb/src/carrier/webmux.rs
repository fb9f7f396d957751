//! W3C MUX: sessions side by side on one connection, each direction of each with a credit of its own.
//!
//! Models a connection to each server, on an inner leg one to the next proxy, which the first request opens and which stays open
//! until every request has ended and none will come. Each request is a session: SYN, the request; the response and FIN; FIN.
//! [`http::webmux`](crate::http::webmux) decides at each end which bytes go when, write by write, as the transport takes them;
//! the reader passes the bytes of one read to the applications, which take them at once, and grants them back. A
//! request that finds 127 sessions open waits for one to end. One that fails is taken back with RST. Leaves out a second
//! connection to the same server, strings and stacks of protocols, and limits of fragments that the peer sets.
//!
//! Sources: those of [`http::webmux`](crate::http::webmux); RFC 9112, section 9.3, for a connection that stays.

use std::cmp::Ordering;
use std::collections::{BTreeMap, VecDeque};

use crate::conn::{Closing, Connection, ConnectionId, Connections, Content, End, ExchangeId, Response};
use crate::http::webmux::{Config, Control, Ending, Frame, Ids, Receiver, Sender, Step};
use crate::workload::HostId;

use super::{Action, Carry, Context};

/// The connections of a leg.
pub(crate) struct WebMux {
    leg: usize,
    config: Config,
    read_buffer: u64,
    /// Connections by the key that keeps them apart, their `slot`.
    lines: BTreeMap<u32, Line>,
}

/// A connection and its sessions.
struct Line {
    connection: ConnectionId,
    ids: Ids,
    /// Exchanges that have a session, as the client end knows it.
    sessions: Vec<(ExchangeId, u8)>,
    /// Requests that wait for a session.
    waiting: VecDeque<ExchangeId>,
    /// Whether no request will come any more.
    is_resting: bool,
    /// By [`End`].
    peers: [Peer; 2],
}

/// One end of a connection.
struct Peer {
    sender: Sender<ExchangeId>,
    receiver: Receiver<ExchangeId>,
    /// Frames in the stream that the other end has not read, and what they are about.
    unread: VecDeque<(ExchangeId, Frame)>,
    /// Sessions that the other end has finished, as far as its stream is read.
    finished: Vec<ExchangeId>,
}

impl WebMux {
    pub(crate) const fn new(leg: usize, config: Config, read_buffer: u64) -> Self {
        Self { leg, config, read_buffer, lines: BTreeMap::new() }
    }

    /// The connection to a host, which is opened where there is none.
    fn line_to(&mut self, cx: &mut Context, connections: &mut Connections, host: HostId) -> &mut Line {
        let (key, config) = (cx.legs[self.leg].key(host), self.config);
        self.lines.entry(key).or_insert_with(|| {
            let leg = &cx.legs[self.leg];
            let (nodes, of) = (leg.nodes(), leg.host_of(host));
            let on = cx.open(connections, self.leg, of, nodes);
            connections.get_mut(on).expect("it has just been added").slot = Some(key);
            Line::new(on, config)
        })
    }

    fn line(&mut self, connection: &Connection) -> Option<&mut Line> {
        self.lines.get_mut(&connection.slot?)
    }

    fn sender(&self, connection: &Connection, end: End) -> Option<&Sender<ExchangeId>> {
        Some(&self.lines.get(&connection.slot?)?.peers[end as usize].sender)
    }

    /// `end` has read a frame without payload and acts on it.
    fn on_frame(&mut self, cx: &mut Context, connection: &Connection, end: End) {
        let Some(line) = self.line(connection) else {
            return;
        };
        let read = line.peers[end.other() as usize].unread.pop_front();
        let (of, frame) = read.expect("a frame is read after it was written");
        let peer = &mut line.peers[end as usize];
        match frame {
            Frame::Control(Control::AddCredit { bytes, .. }) => peer.sender.on_grant(of, bytes.into()),
            Frame::Control(_) => {}
            Frame::Fragment { session, flags, .. } if flags.syn => {
                peer.sender.accept(of, session);
                peer.receiver.open(of, session);
            }
            Frame::Fragment { flags, .. } if flags.fin => peer.finished.push(of),
            Frame::Fragment { .. } => {
                peer.forget(of);
                if end == End::Client {
                    line.end_session(cx, of);
                }
            }
        }
    }
}

impl Line {
    fn new(connection: ConnectionId, config: Config) -> Self {
        let peer = || Peer {
            sender: Sender::new(config),
            receiver: Receiver::new(config),
            unread: VecDeque::new(),
            finished: Vec::new(),
        };
        Self {
            connection,
            ids: Ids::default(),
            sessions: Vec::new(),
            waiting: VecDeque::new(),
            is_resting: false,
            peers: [peer(), peer()],
        }
    }

    fn session_of(&self, id: ExchangeId) -> Option<u8> {
        self.sessions.iter().find(|(of, _)| *of == id).map(|(_, session)| *session)
    }

    /// The session of an exchange is over at the client end: another request may have its number.
    fn end_session(&mut self, cx: &mut Context, id: ExchangeId) {
        let Some(place) = self.sessions.iter().position(|(of, _)| *of == id) else {
            return;
        };
        let (_, session) = self.sessions.swap_remove(place);
        self.ids.give_back(session);
        if let Some(next) = self.waiting.pop_front() {
            cx.actions.later(Action::Send(next));
        }
        self.close_if_done(cx);
    }

    /// Closes the connection when no session is open and none will be.
    fn close_if_done(&self, cx: &mut Context) {
        if self.is_resting && self.sessions.is_empty() {
            cx.actions.later(Action::Close(self.connection, End::Client, Closing::WhenWritten));
        }
    }

    /// Does what `end` owes for what it has read: grants, and its own end of sessions that the other one has finished. Whether
    /// anything.
    fn answer(&mut self, cx: &mut Context, end: End) -> bool {
        let peer = &mut self.peers[end as usize];
        let mut answers = false;
        while let Some((of, bytes)) = peer.receiver.next_piece() {
            if let Some(grant) = peer.receiver.on_taken(of, bytes) {
                peer.sender.send(of, grant);
                answers = true;
            }
        }
        for of in std::mem::take(&mut peer.finished) {
            let peer = &mut self.peers[end as usize];
            peer.receiver.close(of);
            if end == End::Client
                && let Some(session) = self.session_of(of)
            {
                self.peers[end as usize].sender.send(of, Frame::end(session, false));
                self.end_session(cx, of);
                answers = true;
            }
        }
        answers
    }
}

impl Peer {
    /// Nothing more of an exchange comes or goes.
    fn forget(&mut self, id: ExchangeId) {
        self.sender.forget(id);
        self.receiver.close(id);
    }
}

impl Carry for WebMux {
    fn send_request(&mut self, cx: &mut Context, connections: &mut Connections, id: ExchangeId) {
        let exchange = cx.exchanges.get(id).expect("it goes on");
        let (host, bytes) = (exchange.request.host, exchange.request.request_bytes);
        let line = self.line_to(cx, connections, host);
        let Some(session) = line.ids.take() else {
            line.waiting.push_back(id);
            return;
        };
        let on = line.connection;
        cx.ride(connections, id, on, true);
        line.sessions.push((id, session));
        let near = &mut line.peers[End::Client as usize];
        near.sender.open(id, session);
        near.sender.write(id, bytes, Ending::Message);
        near.receiver.open(id, session);
        cx.actions.now(Action::Act(on, End::Client));
    }

    fn respond(
        &mut self,
        cx: &mut Context,
        on: ConnectionId,
        connection: &mut Connection,
        id: ExchangeId,
        bytes: u64,
        _framing: u64,
    ) {
        let is_last = cx.note_ready(on, id, bytes).is_some_and(|ready| ready.is_last);
        let ending = if is_last { Ending::Session } else { Ending::More };
        if let Some(line) = self.line(connection) {
            line.peers[End::Server as usize].sender.write(id, bytes, ending);
        }
    }

    /// Puts the next write into the stream, where the last one is taken.
    fn to_write(&mut self, cx: &mut Context, connection: &mut Connection, end: End) -> u64 {
        let waiting = connection.end(end).stream.next_write();
        let layout = self.config.layout;
        let Some(line) = self.line(connection).filter(|_| waiting == 0) else {
            return waiting;
        };
        let Peer { sender, unread, .. } = &mut line.peers[end as usize];
        while let Some(step) = sender.next_step() {
            if let Step::Header(of, frame, _) | Step::Frame(of, frame, _) = step
                && connection.recorded
                && connection.tls.is_none()
            {
                let seq = connection.end(end).stream.pushed() + 1;
                let request = cx.exchanges.get(of).map(|exchange| exchange.number);
                let frames = &mut cx.observer.frames;
                frames.record_mux(cx.now, connection, end, seq, layout, frame, of, request);
            }
            let stream = &mut connection.ends[end as usize].stream;
            match step {
                Step::Header(_, _, bytes) | Step::Padding(bytes) => stream.push(Content::Frame, 0, bytes),
                Step::Payload(of, bytes) => stream.push(Content::Message(of), bytes, 0),
                Step::Frame(of, frame, bytes) => {
                    stream.push_frame(Content::Frame, bytes);
                    unread.push_back((of, frame));
                }
                Step::Whole(of) if end == End::Server => {
                    let response = Response { exchange: of, end: stream.pushed() };
                    connection.unacknowledged.push(response);
                }
                Step::Whole(_) => {}
                Step::Flush => {
                    stream.end_write();
                    return stream.next_write();
                }
            }
        }
        0
    }

    fn waits_for_credit(&self, connection: &Connection, end: End) -> bool {
        self.sender(connection, end).is_some_and(Sender::waits_for_credit)
    }

    /// Credit of all sessions together.
    fn credit(&self, connection: &Connection, end: End) -> Option<u64> {
        self.sender(connection, end)?.available()
    }

    fn to_read(&self, _connection: &Connection, _end: End) -> Option<u64> {
        Some(self.read_buffer)
    }

    fn on_content(
        &mut self,
        cx: &mut Context,
        connection: &mut Connection,
        end: End,
        content: Content,
        bytes: u64,
    ) -> u64 {
        match content {
            Content::Frame => self.on_frame(cx, connection, end),
            Content::Message(of) => {
                if let Some(line) = self.line(connection) {
                    line.peers[end as usize].receiver.on_payload(of, bytes);
                }
            }
        }
        bytes
    }

    /// The frames read may also have brought the credit that this end waits for.
    fn on_read(&mut self, cx: &mut Context, connection: &mut Connection, end: End) -> bool {
        let Some(line) = self.line(connection) else {
            return false;
        };
        line.answer(cx, end);
        true
    }

    /// The requests that wait for the connection have got it.
    fn on_established(&mut self, cx: &mut Context, on: ConnectionId, _connection: &mut Connection) {
        cx.note_established(on);
    }

    /// The other end is gone, or is going as well: what the connection carries fails, and those that wait go on another.
    fn on_lost(&mut self, cx: &mut Context, on: ConnectionId, connection: &mut Connection, _end: End) {
        if let Some(slot) = connection.slot.take()
            && let Some(line) = self.lines.remove(&slot)
        {
            cx.actions.later(Action::Close(on, End::Client, Closing::Now));
            line.waiting.into_iter().for_each(|id| cx.actions.later(Action::Send(id)));
        }
        cx.give_up_all(on, connection);
    }

    /// The end towards the leg that failed takes its session back; the others on the connection go on.
    fn on_failed(&mut self, cx: &mut Context, id: ExchangeId, there: Ordering) {
        let end = match there {
            Ordering::Less => End::Server,
            Ordering::Equal | Ordering::Greater => End::Client,
        };
        let key = cx.legs[self.leg].key(cx.exchanges.get(id).expect("the caller has found it").request.host);
        let Some(line) = self.lines.get_mut(&key) else {
            return;
        };
        line.waiting.retain(|waiting| *waiting != id);
        let Some(session) = line.session_of(id) else {
            return;
        };
        let on = line.connection;
        let peer = &mut line.peers[end as usize];
        peer.forget(id);
        peer.sender.send(id, Frame::end(session, true));
        if end == End::Client {
            line.end_session(cx, id);
        }
        cx.actions.now(Action::Act(on, end));
    }

    fn on_rest(&mut self, cx: &mut Context, _connections: &mut Connections) {
        for line in self.lines.values_mut() {
            line.is_resting = true;
            line.close_if_done(cx);
        }
    }
}
