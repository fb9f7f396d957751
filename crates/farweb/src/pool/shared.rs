//! Connections that carry many requests at once: HTTP/2 and W3C MUX.
//!
//! Models which connection a request goes over, when another is opened, and that a request waits where all have as many open as they
//! may. An exchange that fails elsewhere is reset, and the others go on. HTTP/2 sends the requests of a lost connection again on another
//! one if that has carried a whole response and no byte of theirs has come back. So each time that this happens another
//! response has come. W3C MUX has a connection to each server, which stays open until every request has ended and none will
//! come. Leaves out servers that close, and name in GOAWAY the requests they took, and a second connection of W3C MUX to the
//! same server.
//!
//! Source: RFC 9113, sections 5.1.2, 8.7 and 9.1; RFC 9110, section 9.2.2; RFC 9112, section 9.3, for a connection that stays.
//! [`OpenRule`] names the sources of the rules for connections.

use std::cmp::Ordering;
use std::collections::{BTreeSet, VecDeque};

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::conn::{Closing, Connection, ConnectionId, Connections, End, Exchange, ExchangeId, Key};
use crate::context::{Action, Context, Turn};
use crate::units::{Duration, When};

use super::Allot;

/// The connections of a leg, and the requests that wait for one of them.
pub(crate) struct Shared {
    leg: usize,
    rules: Rules,
    /// By `Connection::slot`.
    places: Vec<Option<Place>>,
    free: BTreeSet<usize>,
    /// The place behind the one that was chosen last.
    next: usize,
    /// Groups with connections or requests that wait.
    groups: FxHashMap<Key, Group>,
    /// True when no request is left, and none will come.
    is_resting: bool,
}

/// Rules for opening, choosing and closing connections.
pub(crate) struct Rules {
    /// Most connections with the same key.
    pub(crate) connections: u32,
    pub(crate) open: OpenRule,
    pub(crate) assign: AssignStream,
    /// Time that a connection is idle before its client closes it. None keeps it for ever.
    pub(crate) idle_timeout: Option<Duration>,
    /// Requests of a lost connection may be sent again.
    pub(crate) repeats: bool,
}

/// Rule for when connections are opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum OpenRule {
    /// When every open connection has as many streams as it may have, as Envoy, nghttpx, Go and curl do.
    #[default]
    AtSessionLimit,
    /// All when the run begins, as between two proxies with that many workers; on an inner leg only.
    Fixed,
}

/// Rule that selects the connection of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum AssignStream {
    /// The first one with room.
    #[default]
    FirstWithRoom,
    /// One after the other, in turn.
    RoundRobin,
    /// The one with the fewest streams.
    LeastSessions,
}

/// Connections with the same key.
#[derive(Default)]
struct Group {
    /// Places of the connections that take requests.
    open: Vec<usize>,
    waiting: VecDeque<ExchangeId>,
}

/// A connection that may carry requests.
struct Place {
    id: ConnectionId,
    key: Key,
    /// Requests that it carries.
    aboard: u32,
    /// True once it has carried a whole response.
    has_answered: bool,
    is_closing: bool,
}

impl Shared {
    pub(crate) fn new(leg: usize, rules: Rules) -> Self {
        Self {
            leg,
            rules,
            places: Vec::new(),
            free: BTreeSet::new(),
            next: 0,
            groups: FxHashMap::default(),
            is_resting: false,
        }
    }

    /// Key of the connections that an exchange may go over.
    fn key_of(&self, cx: &Context, id: ExchangeId) -> Key {
        if self.rules.open == OpenRule::Fixed {
            return Key::ANY;
        }
        cx.legs[self.leg].key(cx.exchanges.get(id).expect("who asks or waits has not ended"))
    }

    fn place_mut(&mut self, connection: &Connection) -> Option<&mut Place> {
        self.places.get_mut(connection.slot? as usize)?.as_mut()
    }

    /// The connection with room that has its turn.
    fn choose(&mut self, connections: &Connections, key: Key) -> Option<ConnectionId> {
        let (next, assign, count) = (self.next, self.rules.assign, self.places.len().max(1));
        let places =
            self.groups.get(&key)?.open.iter().filter_map(|slot| Some((*slot, self.places[*slot].as_ref()?)));
        let rank = |(slot, place): &(usize, &Place)| match assign {
            AssignStream::FirstWithRoom => (0, *slot),
            AssignStream::RoundRobin => (0, (slot + count - next) % count),
            AssignStream::LeastSessions => (place.aboard, *slot),
        };
        let with_room = places.filter(|(_, place)| place.has_room(connections.get(place.id)));
        let (slot, id) = with_room.min_by_key(rank).map(|(slot, place)| (slot, place.id))?;
        self.next = slot + 1;
        Some(id)
    }

    fn open(&mut self, cx: &mut Context, connections: &mut Connections, key: Key) -> ConnectionId {
        let nodes = cx.legs[self.leg].nodes_of(&key);
        let id = cx.open(connections, self.leg, key, nodes);
        let slot = self.free.pop_first().unwrap_or_else(|| {
            self.places.push(None);
            self.places.len() - 1
        });
        self.places[slot] = Some(Place { id, key, aboard: 0, has_answered: false, is_closing: false });
        self.groups.entry(key).or_default().open.push(slot);
        connections.get_mut(id).expect("it has just been added").slot = Some(slot as u32);
        id
    }

    /// Number of connections with this key that take requests.
    fn count(&self, key: Key) -> u32 {
        self.groups.get(&key).map_or(0, |group| group.open.len() as u32)
    }

    /// Opens the connections that are always open, and missing.
    fn open_missing(&mut self, cx: &mut Context, connections: &mut Connections) {
        if self.rules.open == OpenRule::Fixed {
            for _ in self.count(Key::ANY)..self.rules.connections {
                self.open(cx, connections, Key::ANY);
            }
        }
    }

    /// Puts the request of an exchange on a connection.
    fn put_on(&mut self, cx: &mut Context, connections: &mut Connections, id: ExchangeId, on: ConnectionId) {
        let connection = connections.get_mut(on).expect("it takes requests");
        connection.idle_until = When::NEVER;
        self.place_mut(connection).expect("a connection that takes requests has its place").aboard += 1;
        cx.assign(connections, id, on, true);
        cx.actions.now(Action::Act(on, End::Client));
    }

    /// A request is over on a connection: the one that has waited longest gets its place, or the connection may lie idle.
    fn free_place(&mut self, cx: &mut Context, on: ConnectionId, connection: &mut Connection) {
        let Some(place) = self.place_mut(connection) else {
            return;
        };
        place.aboard -= 1;
        let is_empty = place.aboard == 0;
        if self.serve_next(cx, on, connection) {
            return;
        }
        if is_empty && self.is_resting {
            cx.actions.later(Action::Close(on, End::Client, Closing::WhenWritten));
        } else if let Some(idle_timeout) = self.rules.idle_timeout.filter(|_| is_empty) {
            cx.lie_idle(on, connection, End::Client, idle_timeout);
        }
    }

    /// The request that has waited longest gets a place on a connection with room. True if so.
    fn serve_next(&mut self, cx: &mut Context, on: ConnectionId, connection: &Connection) -> bool {
        let place =
            self.place_mut(connection).filter(|place| !place.is_closing && place.has_room(Some(connection)));
        let Some(key) = place.map(|place| place.key) else {
            return false;
        };
        let Some(exchange) = self.groups.get_mut(&key).and_then(|group| group.waiting.pop_front()) else {
            return false;
        };
        cx.actions.later(Action::Resume { exchange, leg: self.leg, turn: Turn::Use(on) });
        true
    }

    /// A connection takes no requests any more: waiting requests look for another.
    fn close_place(&mut self, cx: &mut Context, slot: usize) {
        let Some(place) = self.places[slot].as_mut().filter(|place| !place.is_closing) else {
            return;
        };
        place.is_closing = true;
        let key = place.key;
        let group = self.groups.get_mut(&key).expect("it has a connection");
        group.open.retain(|other| *other != slot);
        group.waiting.drain(..).for_each(|exchange| cx.actions.later(Action::Send(exchange)));
        self.drop_if_empty(key);
    }

    fn drop_if_empty(&mut self, key: Key) {
        if self.groups.get(&key).is_some_and(|group| group.open.is_empty() && group.waiting.is_empty()) {
            self.groups.remove(&key);
        }
    }
}

impl Place {
    /// True when its client end may open another message.
    fn has_room(&self, connection: Option<&Connection>) -> bool {
        connection.is_some_and(|connection| self.aboard < connection.end(End::Client).session.messages_max())
    }
}

impl Allot for Shared {
    fn begin(&mut self, cx: &mut Context, connections: &mut Connections) {
        self.open_missing(cx, connections);
    }

    fn ask(&mut self, cx: &mut Context, connections: &mut Connections, id: ExchangeId) {
        self.open_missing(cx, connections);
        let key = self.key_of(cx, id);
        if let Some(on) = self.choose(connections, key) {
            return self.put_on(cx, connections, id, on);
        }
        if self.count(key) < self.rules.connections {
            let on = self.open(cx, connections, key);
            return self.put_on(cx, connections, id, on);
        }
        self.groups.entry(key).or_default().waiting.push_back(id);
    }

    fn resume(&mut self, cx: &mut Context, connections: &mut Connections, id: ExchangeId, turn: Turn) {
        let is_wanted = cx.exchanges.get(id).is_some_and(Exchange::is_alive);
        let Turn::Use(on) = turn else {
            return;
        };
        let connection = connections.get(on);
        let place = connection.and_then(|connection| self.place_mut(connection));
        let is_usable = place.is_some_and(|place| place.has_room(connection) && !place.is_closing);
        match (is_wanted, connection.filter(|_| is_usable)) {
            (true, Some(_)) => self.put_on(cx, connections, id, on),
            (true, None) => cx.actions.later(Action::Send(id)),
            (false, Some(connection)) => {
                self.serve_next(cx, on, connection);
            }
            (false, None) => {}
        }
    }

    fn on_free(&mut self, cx: &mut Context, on: ConnectionId, connection: &mut Connection) {
        if let Some(place) = self.place_mut(connection) {
            place.has_answered = true;
        }
        self.free_place(cx, on, connection);
    }

    /// The other end is gone, or is going as well: each request that the connection carries is sent again, or fails.
    fn on_lost(&mut self, cx: &mut Context, on: ConnectionId, connection: &mut Connection, _end: End) {
        let mut may_repeat = false;
        if let Some(slot) = connection.slot.take().map(|slot| slot as usize) {
            self.close_place(cx, slot);
            let place = self.places[slot].take().expect("a slot is taken");
            self.free.insert(slot);
            may_repeat = place.has_answered && self.rules.repeats;
            connection.ends.iter_mut().for_each(|end| end.session.end());
            cx.actions.later(Action::Close(on, End::Client, Closing::Now));
        }
        for id in cx.aboard(connection) {
            let exchange = cx.exchanges.alive(id);
            if may_repeat && exchange.is_some_and(|exchange| exchange.may_repeat()) {
                cx.actions.later(Action::SendAgain(id));
            } else {
                cx.give_up(connection, id);
            }
        }
    }

    fn on_closing(&mut self, cx: &mut Context, _on: ConnectionId, connection: &mut Connection) {
        if let Some(slot) = connection.slot {
            self.close_place(cx, slot as usize);
            connection.end_mut(End::Client).session.finish();
        }
    }

    /// The end towards the leg that failed gives the message up. The others on the connection go on.
    fn on_failed(
        &mut self,
        cx: &mut Context,
        connections: &mut Connections,
        id: ExchangeId,
        there: Ordering,
    ) {
        let exchange = cx.exchanges.get(id).expect("the caller has found it");
        let Some(on) = exchange.up.map(|up| up.connection) else {
            let key = self.key_of(cx, id);
            if let Some(group) = self.groups.get_mut(&key) {
                group.waiting.retain(|waits| *waits != id);
                self.drop_if_empty(key);
            }
            return;
        };
        let end = match there {
            Ordering::Less => End::Server,
            Ordering::Equal => return,
            Ordering::Greater => End::Client,
        };
        let is_received = exchange.bytes.is_received();
        let is_silent = exchange.tunnel.as_ref().is_some_and(|tunnel| !tunnel.has_begun);
        if let Some(connection) = connections.get_mut(on).filter(|of| of.slot.is_some() && !is_received) {
            if is_silent {
                return self.free_place(cx, on, connection);
            }
            let session = &mut connection.end_mut(end).session;
            if !session.reset(id) {
                return;
            }
            if end == End::Client || session.ends_with_message() {
                self.free_place(cx, on, connection);
            }
            cx.actions.now(Action::Act(on, end));
        }
    }

    fn on_rest(&mut self, cx: &mut Context, connections: &mut Connections) {
        self.is_resting = true;
        for place in self.places.iter().flatten().filter(|place| !place.is_closing) {
            let is_over = |connection: &Connection| connection.end(End::Client).session.ends_with_message();
            if place.aboard == 0 || connections.get(place.id).is_some_and(is_over) {
                cx.actions.later(Action::Close(place.id, End::Client, Closing::WhenWritten));
            }
        }
    }
}
