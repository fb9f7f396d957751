//! HTTP/2: requests share connections, each on a stream of its own, between data of others.
//!
//! Models which connection a request goes over, when another is opened, and that a request waits where all have as many streams as
//! they may; the [`Endpoint`]s at both ends decide what leaves next and what is granted. A message is a header block and data: the
//! block stands for the first bytes of the message, which are its header. An end handles all that it has read before it writes, so
//! that requests of one segment are answered together. An exchange that fails elsewhere is reset on its stream.
//! Where a connection is lost that has carried a whole response, requests of which no byte has come back are sent again on another
//! one; so each time that this happens another response has come. Leaves out servers that close, and say in GOAWAY what they took.
//!
//! Source: RFC 9113, sections 5.1.2, 8.1, 8.7 and 9.1; RFC 9110, section 9.2.2; the rules for connections, each where `scenario::OpenRule` describes it.

use std::cmp::Ordering;
use std::collections::VecDeque;

use crate::conn::{
    Closing, Connection, ConnectionId, Connections, Content, End, Event, Exchange, ExchangeId, Response,
};
use crate::http::h2::endpoint::{Config, Endpoint, Frame, Role};
use crate::scenario::{self, AssignStream, OpenRule};
use crate::units::{Duration, Instant, When};
use crate::workload::HostId;

use super::context::Ready;
use super::{Action, Carry, Context, Turn};

/// The connections of a leg, and the requests that wait for one of them.
pub(crate) struct Http2 {
    leg: usize,
    configs: [Config; 2],
    nodelay: [bool; 2],
    /// Whether the server's settings go out before it has read anything.
    speaks_first: bool,
    /// Whether a header block ends a write.
    heads_apart: [bool; 2],
    /// Bytes of a message that its header block stands for, by the end that sends it.
    text: [u64; 2],
    connections: u32,
    open_rule: OpenRule,
    assign: AssignStream,
    idle_timeout: Duration,
    /// By `Connection::slot`.
    places: Vec<Option<Place>>,
    /// The place behind that which was chosen last.
    next: usize,
    waiting: VecDeque<(u32, ExchangeId)>,
}

/// A connection that may carry requests.
struct Place {
    id: ConnectionId,
    /// The host by which connections are kept apart.
    key: u32,
    ends: [Endpoint<ExchangeId, HostId>; 2],
    /// Pieces that each end has put into its stream and the other one has not read.
    wire: [VecDeque<OnWire>; 2],
    /// Whether an end makes use of what it has read.
    is_reading: [bool; 2],
    /// Requests that it carries.
    streams: u32,
    /// Since when it carries none, after it has carried one.
    idle_since: When,
    /// Whether it has carried a whole response.
    has_answered: bool,
    is_closing: bool,
}

/// A frame in a stream, and how much of its data has not been read.
#[derive(Debug, Clone, Copy)]
struct OnWire {
    frame: Frame<ExchangeId>,
    left: u64,
}

/// Bytes of frames that are put together for one write. Chosen: a buffer as nghttpd's, 64 KiB.
const WRITE_BYTES: u64 = 65_536;

impl Http2 {
    pub(crate) fn new(leg: usize, keys: &scenario::Http2, has_tls: bool) -> Self {
        let roles = [Role::Client, Role::Server];
        Self {
            leg,
            configs: roles.map(|role| keys.config(role)),
            nodelay: roles.map(|role| keys.is_nodelay(role, has_tls)),
            heads_apart: roles.map(|role| keys.preset(role).writes_heads_apart(role)),
            speaks_first: keys.preset(Role::Server).speaks_first(has_tls),
            text: [keys.request_text.get(), keys.response_text.get()],
            connections: keys.connections,
            open_rule: keys.open_rule,
            assign: keys.assign,
            idle_timeout: keys.idle_timeout,
            places: Vec::new(),
            next: 0,
            waiting: VecDeque::new(),
        }
    }

    fn key_of(&self, cx: &Context, id: ExchangeId) -> u32 {
        let host = cx.exchanges.get(id).expect("who asks or waits has not ended").request.host;
        cx.legs[self.leg].key(host)
    }

    fn place(&self, connection: &Connection) -> Option<&Place> {
        self.places.get(connection.slot? as usize)?.as_ref()
    }

    fn place_mut(&mut self, connection: &Connection) -> Option<&mut Place> {
        self.places.get_mut(connection.slot? as usize)?.as_mut()
    }

    /// The places with this key whose connections take requests.
    fn open_places(&self, key: u32) -> impl Iterator<Item = (usize, &Place)> {
        let places = self.places.iter().enumerate();
        let there = places.filter_map(|(slot, place)| Some((slot, place.as_ref()?)));
        there.filter(move |(_, place)| place.key == key && !place.is_closing)
    }

    /// The connection with room that has its turn.
    fn choose(&mut self, key: u32) -> Option<ConnectionId> {
        let (next, assign, count) = (self.next, self.assign, self.places.len().max(1));
        let rank = |(slot, place): &(usize, &Place)| match assign {
            AssignStream::FirstWithRoom => (0, *slot),
            AssignStream::RoundRobin => (0, (slot + count - next) % count),
            AssignStream::LeastSessions => (place.streams, *slot),
        };
        let with_room = self.open_places(key).filter(|(_, place)| place.has_room());
        let (slot, id) = with_room.min_by_key(rank).map(|(slot, place)| (slot, place.id))?;
        self.next = slot + 1;
        Some(id)
    }

    fn open(
        &mut self,
        cx: &mut Context,
        connections: &mut Connections,
        key: u32,
        host: Option<HostId>,
    ) -> ConnectionId {
        let nodes = cx.legs[self.leg].nodes();
        let id = cx.open(connections, self.leg, host, nodes);
        let free = self.places.iter().position(Option::is_none);
        let slot = free.unwrap_or_else(|| {
            self.places.push(None);
            self.places.len() - 1
        });
        let [client, server] = &self.configs;
        let ends = [Endpoint::new(Role::Client, client), Endpoint::new(Role::Server, server)];
        self.places[slot] = Some(Place {
            id,
            key,
            ends,
            wire: [VecDeque::new(), VecDeque::new()],
            is_reading: [false; 2],
            streams: 0,
            idle_since: When::NEVER,
            has_answered: false,
            is_closing: false,
        });
        connections.get_mut(id).expect("it has just been added").slot = Some(slot as u32);
        id
    }

    /// Opens the connections that are always open, and missing.
    fn open_missing(&mut self, cx: &mut Context, connections: &mut Connections) {
        if self.open_rule == OpenRule::Fixed {
            let there = self.open_places(0).count() as u32;
            for _ in there..self.connections {
                self.open(cx, connections, 0, None);
            }
        }
    }

    /// Puts the request of an exchange on a connection.
    fn put_on(&mut self, cx: &mut Context, connections: &mut Connections, id: ExchangeId, on: ConnectionId) {
        let text = self.text[End::Client as usize];
        let Some(exchange) = cx.ride(connections, id, on, true) else {
            return;
        };
        let (bytes, host) = (exchange.request.request_bytes, exchange.request.host);
        let connection = connections.get_mut(on).expect("the exchange rides it");
        let place = self.place_mut(connection).expect("a connection that takes requests has its place");
        place.streams += 1;
        place.idle_since = When::NEVER;
        let client = &mut place.ends[End::Client as usize];
        let text = text.min(bytes);
        client.begin(id, host, text, text == bytes);
        if text < bytes {
            client.send(id, bytes - text, true);
        }
        cx.actions.now(Action::Act(on, End::Client));
    }

    /// A stream of a connection has ended: the request that has waited longest gets its place, or the connection may lie idle.
    fn end_stream(&mut self, cx: &mut Context, on: ConnectionId, slot: usize) {
        let place = self.places[slot].as_mut().expect("the caller has found it");
        place.streams -= 1;
        let (key, has_room) = (place.key, place.has_room() && !place.is_closing);
        let next = self.waiting.iter().position(|(of, _)| *of == key).filter(|_| has_room);
        if let Some((_, exchange)) = next.and_then(|next| self.waiting.remove(next)) {
            cx.actions.later(Action::Resume { exchange, leg: self.leg, turn: Turn::Use(on) });
        } else if let Some(place) = self.places[slot].as_mut().filter(|place| place.streams == 0) {
            place.idle_since = When::at(cx.now);
            cx.queue.push(cx.now + self.idle_timeout, Event::IdleEnds(on, End::Client));
        }
    }

    /// Takes a connection out of its place, and lets those that wait look for another.
    fn leave_place(&mut self, cx: &mut Context, connection: &mut Connection) {
        let Some(place) = connection.slot.take().and_then(|slot| self.places[slot as usize].take()) else {
            return;
        };
        let (gone, stay): (VecDeque<_>, _) = self.waiting.drain(..).partition(|(key, _)| *key == place.key);
        self.waiting = stay;
        for (_, exchange) in gone {
            cx.actions.later(Action::Send(exchange));
        }
    }

    /// Puts what an end has to send into its stream, up to a write, once the connection is there.
    fn fill(&mut self, cx: &mut Context, connection: &mut Connection, end: End) {
        let is_there = end == End::Server || connection.established.get().is_some();
        let (side, heads_apart) = (end as usize, self.heads_apart[end as usize]);
        let Some(place) = self.place_mut(connection).filter(|place| is_there && !place.is_reading[side])
        else {
            return;
        };
        while connection.end(end).stream.to_write() < WRITE_BYTES
            && let Some((frame, framing)) = place.ends[side].next_frame(cx.now)
        {
            if connection.recorded && connection.tls.is_none() {
                let seq = connection.end(end).stream.pushed() + 1;
                let request =
                    frame.stream().and_then(|id| cx.exchanges.get(id)).map(|exchange| exchange.number);
                cx.observer.frames.record(cx.now, connection, end, seq, &frame, framing, request);
            }
            let stream = &mut connection.end_mut(end).stream;
            let mut left = 0;
            match frame {
                Frame::Data(data) => {
                    stream.push(Content::Message(data.stream), data.bytes, framing);
                    left = data.bytes;
                }
                Frame::Head { stream: of, .. } => stream.push_frame(Content::Message(of), framing),
                _ => stream.push_frame(Content::Frame, framing),
            }
            place.wire[side].push_back(OnWire { frame, left });
            if heads_apart && matches!(frame, Frame::Head { .. }) {
                stream.end_write();
            }
            if end == End::Server
                && let Some(exchange) = frame.ended()
            {
                let end = stream.pushed();
                connection.unacknowledged.push(Response { exchange, end });
            }
        }
    }

    fn set_nodelay(&self, connection: &mut Connection, end: End) {
        if self.nodelay[end as usize]
            && let Some(tcp) = connection.end_mut(end).tcp_mut()
        {
            tcp.set_nodelay();
        }
    }

    /// Closes a connection on which nothing is left to be done.
    fn close(&mut self, cx: &mut Context, connection: &Connection) {
        if let Some(place) = self.place_mut(connection)
            && !place.is_closing
        {
            place.is_closing = true;
            place.ends[End::Client as usize].go_away();
            cx.actions.later(Action::Close(place.id, End::Client, Closing::WhenWritten));
        }
    }
}

impl Place {
    /// Whether the server lets its client open another stream.
    fn has_room(&self) -> bool {
        self.streams < self.ends[End::Client as usize].max_streams()
    }

    /// `end` has read the next `bytes` of what the other one put into its stream; how many bytes of a message that is.
    fn on_read(&mut self, now: Instant, end: End, bytes: u64) -> u64 {
        let other = end.other() as usize;
        let front = self.wire[other].front_mut().expect("what is read was put into the stream");
        let OnWire { frame, left } = front;
        if let Frame::Data(data) = frame {
            *left -= bytes;
            let (data, left) = (*data, *left);
            if left == 0 {
                self.wire[other].pop_front();
            }
            self.ends[end as usize].on_data(now, &data, bytes, left);
            return bytes;
        }
        let frame = *frame;
        self.wire[other].pop_front();
        self.ends[end as usize].on_frame(now, &frame);
        if let Frame::Head { text, .. } = frame { text } else { 0 }
    }
}

impl Carry for Http2 {
    fn opens_at_once(&self) -> bool {
        self.open_rule == OpenRule::Fixed
    }

    fn begin(&mut self, cx: &mut Context, connections: &mut Connections) {
        self.open_missing(cx, connections);
    }

    fn send_request(&mut self, cx: &mut Context, connections: &mut Connections, id: ExchangeId) {
        self.open_missing(cx, connections);
        let key = self.key_of(cx, id);
        if let Some(on) = self.choose(key) {
            return self.put_on(cx, connections, id, on);
        }
        if self.open_places(key).count() < self.connections as usize {
            let host = cx.exchanges.get(id).expect("it goes on").request.host;
            let of = cx.legs[self.leg].host_of(host);
            let on = self.open(cx, connections, key, of);
            return self.put_on(cx, connections, id, on);
        }
        self.waiting.push_back((key, id));
    }

    fn resume(&mut self, cx: &mut Context, connections: &mut Connections, id: ExchangeId, turn: Turn) {
        let is_wanted = cx.exchanges.get(id).is_some_and(Exchange::is_alive);
        let Turn::Use(on) = turn else {
            return;
        };
        let place = connections.get(on).and_then(|connection| self.place_mut(connection));
        let is_usable = place.is_some_and(|place| place.has_room() && !place.is_closing);
        match (is_wanted, is_usable) {
            (true, true) => self.put_on(cx, connections, id, on),
            (true, false) => cx.actions.later(Action::Send(id)),
            (false, _) => {}
        }
    }

    /// A message is a header block, which leaves when the bytes that it stands for are there, and the data behind them.
    fn respond(
        &mut self,
        cx: &mut Context,
        on: ConnectionId,
        connection: &mut Connection,
        id: ExchangeId,
        bytes: u64,
        _framing: u64,
    ) {
        let Some(exchange) = cx.exchanges.get(id) else {
            return;
        };
        let (host, response) = (exchange.request.host, exchange.bytes.response());
        let text = self.text[End::Server as usize].min(response);
        let Some(Ready { before, is_last }) = cx.note_ready(on, id, bytes) else {
            return;
        };
        let Some(place) = self.place_mut(connection) else {
            return;
        };
        let server = &mut place.ends[End::Server as usize];
        let there = before + bytes;
        if before < text.max(1) && there >= text.max(1) {
            server.begin(id, host, text, text == response);
        }
        if there > text {
            server.send(id, there - before.max(text), is_last);
        }
    }

    fn to_write(&mut self, cx: &mut Context, connection: &mut Connection, end: End) -> u64 {
        if connection.end(end).stream.to_write() == 0 {
            self.fill(cx, connection, end);
        }
        connection.end(end).stream.next_write()
    }

    fn waits_for_credit(&self, connection: &Connection, end: End) -> bool {
        self.place(connection).is_some_and(|place| place.ends[end as usize].waits_for_credit())
    }

    fn credit(&self, connection: &Connection, end: End) -> Option<u64> {
        self.place(connection)?.ends[end as usize].available()
    }

    /// All that there is, frame by frame.
    fn to_read(&self, _connection: &Connection, _end: End) -> Option<u64> {
        Some(u64::MAX)
    }

    fn on_content(
        &mut self,
        cx: &mut Context,
        connection: &mut Connection,
        end: End,
        _content: Content,
        bytes: u64,
    ) -> u64 {
        let Some(place) = self.place_mut(connection) else {
            return bytes;
        };
        place.is_reading[end as usize] = true;
        place.on_read(cx.now, end, bytes)
    }

    fn on_read(&mut self, _cx: &mut Context, connection: &mut Connection, end: End) -> bool {
        self.place_mut(connection).is_some_and(|place| {
            let had_read = std::mem::take(&mut place.is_reading[end as usize]);
            had_read && place.ends[end as usize].has_frame()
        })
    }

    /// The requests that wait for the connection have got it.
    fn on_established(&mut self, cx: &mut Context, on: ConnectionId, connection: &mut Connection) {
        self.set_nodelay(connection, End::Client);
        cx.note_established(on);
    }

    /// Its settings go first.
    fn on_accepted(&mut self, cx: &mut Context, _on: ConnectionId, connection: &mut Connection) {
        self.set_nodelay(connection, End::Server);
        if self.speaks_first {
            self.fill(cx, connection, End::Server);
        }
    }

    fn on_response_read(&mut self, cx: &mut Context, on: ConnectionId, connection: &mut Connection) {
        if let Some(slot) = connection.slot {
            self.places[slot as usize].as_mut().expect("a slot is taken").has_answered = true;
            self.end_stream(cx, on, slot as usize);
        }
    }

    /// A connection has been idle for the timeout, if nothing has gone over it since.
    fn on_idle(&mut self, cx: &mut Context, _on: ConnectionId, connection: &Connection, _end: End) {
        let since = self.place_mut(connection).and_then(|place| place.idle_since.get());
        let is_due = since.is_some_and(|since| since + self.idle_timeout == cx.now);
        if is_due && self.open_rule != OpenRule::Fixed {
            self.close(cx, connection);
        }
    }

    /// The other end is gone, or is going as well: what the connection carries is sent again, or fails.
    fn on_lost(&mut self, cx: &mut Context, on: ConnectionId, connection: &mut Connection, _end: End) {
        let may_repeat = self.place(connection).is_some_and(|place| place.has_answered);
        if connection.slot.is_some() {
            self.leave_place(cx, connection);
            cx.actions.later(Action::Close(on, End::Client, Closing::Now));
        }
        for id in cx.aboard(on) {
            let exchange = cx.exchanges.alive(id);
            if may_repeat && exchange.is_some_and(|exchange| exchange.bytes.received() == 0) {
                cx.actions.later(Action::SendAgain(id));
            } else {
                cx.give_up(connection, id);
            }
        }
    }

    /// The end towards the leg that failed gives the stream up; the others on the connection go on.
    fn on_failed(&mut self, cx: &mut Context, id: ExchangeId, there: Ordering) {
        let exchange = cx.exchanges.get(id).expect("the caller has found it");
        let Some(on) = exchange.up.map(|up| up.connection) else {
            self.waiting.retain(|(_, waits)| *waits != id);
            return;
        };
        let is_received = exchange.bytes.is_received();
        let end = match there {
            Ordering::Less => End::Server,
            Ordering::Equal => return,
            Ordering::Greater => End::Client,
        };
        let found = self.places.iter().position(|place| place.as_ref().is_some_and(|place| place.id == on));
        if let Some(slot) = found.filter(|_| !is_received) {
            let place = self.places[slot].as_mut().expect("found above");
            place.ends[end as usize].reset(id);
            self.end_stream(cx, on, slot);
            cx.actions.now(Action::Act(on, end));
        }
    }

    fn on_rest(&mut self, cx: &mut Context, connections: &mut Connections) {
        let open: Vec<_> = self.places.iter().flatten().map(|place| place.id).collect();
        for on in open {
            if let Some(connection) = connections.get(on) {
                self.close(cx, connection);
            }
        }
    }
}
