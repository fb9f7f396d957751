//! HTTP/1.1 with persistent connections: which connection of a client a request is sent on.
//!
//! Models a client's connections as a pool. A request takes an idle connection to its host, if there is one. Otherwise
//! it opens one if the limits allow, or waits. Waiting requests are served in the order of arrival.
//!
//! - A connection carries one request at a time: requests are not pipelined, so nothing ever waits on a connection behind
//!   another response. What HTTP/1.1 has of head-of-line blocking is that a request waits for a whole response to end when
//!   the limits leave it no connection of its own.
//! - Of several idle connections the one used last is taken: its congestion window has decayed least, and the others can
//!   reach their idle timeout.
//! - Limits count connections that are opening, busy or idle, from the answer that allows them. They do not count one that
//!   is being closed: it carries no request any more.
//!
//! Leaves out pipelining, and limits on how many requests a connection carries in all. The caller decides who closes an
//! idle connection, and when. [`Pool::idle_since`] says since when one is idle. Sources: RFC 2068 and RFC 2616, sections
//! 8.1.1 to 8.1.4; RFC 9112, section 9; the NZ–US studies (CNDS 2001, pp. 97–102), section on persistent HTTP: an idle
//! connection to the same server is used, otherwise a new one is opened, and one that was idle for a timeout is closed.

use std::collections::VecDeque;
use std::hash::Hash;

use rustc_hash::FxHashMap;

use crate::units::Instant;

#[cfg(test)]
mod tests;

/// Largest numbers of connections of a client. `None` is any number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// Connections to one host, at least 1.
    pub per_host: Option<u32>,
    /// Connections to all hosts together, at least 1.
    pub total: Option<u32>,
}

impl Limits {
    /// Limits of a browser, where none are given.
    ///
    /// Source: Chromium, `net/socket/client_socket_pool_manager.cc`: 6 sockets a group, 256 in all.
    #[must_use]
    pub fn or_of_a_browser(self) -> Self {
        Self { per_host: self.per_host.or(Some(6)), total: self.total.or(Some(256)) }
    }
}

/// Answer to a request that asked for a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer<C> {
    /// Use this connection, which was idle and is busy now.
    Use(C),
    /// Open a connection and report it to [`Pool::opened`].
    Open,
    /// Close this connection, which the pool has forgotten, then open another and report it to [`Pool::opened`]. It has
    /// been idle longest, and goes to another host.
    CloseFirst(C),
    /// Wait until [`Pool::idle`] or [`Pool::gone`] names it.
    Wait,
}

/// Fate of a connection after its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next<W> {
    /// It lies idle.
    Idle,
    /// It stays busy: this request, which has waited, uses it.
    Use(W),
    /// It is to be closed and the pool has forgotten it: this request, which has waited, is for another host. It is to open
    /// a connection and report it to [`Pool::opened`].
    CloseFirst(W),
}

/// A client's connections, by host, and the requests that wait for one.
///
/// `C` names a connection, `W` a request. Hosts are numbers. On a leg to a proxy, all requests are for one host.
///
/// No servable request waits: a free connection or place goes at once to the longest waiting request that can use it.
#[derive(Debug, Clone)]
pub struct Pool<C, W> {
    limits: Limits,
    /// Hosts with connections or requests that wait.
    hosts: FxHashMap<u32, Host<C, W>>,
    members: FxHashMap<C, Member>,
    /// Connections that limits count: the members, and those allowed but not named yet.
    counted: u32,
    /// Requests that wait, for any host.
    waiting: usize,
    /// Number of the next request that waits, or of the next connection to lie idle.
    turn: u64,
}

#[derive(Debug, Clone)]
struct Host<C, W> {
    counted: u32,
    /// The one used last at the end.
    idle: Vec<C>,
    /// Requests that wait, with their turns.
    waiting: VecDeque<(u64, W)>,
}

#[derive(Debug, Clone, Copy)]
struct Member {
    host: u32,
    idle: Option<Idle>,
}

#[derive(Debug, Clone, Copy)]
struct Idle {
    since: Instant,
    turn: u64,
}

impl<C, W> Default for Host<C, W> {
    fn default() -> Self {
        Self { counted: 0, idle: Vec::new(), waiting: VecDeque::new() }
    }
}

impl<C: Copy + Eq + Hash, W: Copy + Eq> Pool<C, W> {
    /// A pool without connections.
    ///
    /// # Panics
    /// When a limit is 0, which would make requests wait for ever.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        assert!(limits.per_host != Some(0) && limits.total != Some(0), "a limit allows a connection");
        Self {
            limits,
            hosts: FxHashMap::default(),
            members: FxHashMap::default(),
            counted: 0,
            waiting: 0,
            turn: 0,
        }
    }

    /// A connection for the request `who` to `host`. [`Answer::Wait`] queues it behind all that wait already.
    pub fn ask(&mut self, host: u32, who: W) -> Answer<C> {
        if let Some(connection) = self.hosts.get_mut(&host).and_then(|host| host.idle.pop()) {
            self.member(connection).idle = None;
            return Answer::Use(connection);
        }
        if self.host_has_room(host) {
            if self.has_room() {
                self.count(host);
                return Answer::Open;
            }
            if let Some(longest) = self.idle_longest() {
                self.forget(longest);
                self.count(host);
                return Answer::CloseFirst(longest);
            }
        }
        self.turn += 1;
        self.waiting += 1;
        let turn = self.turn;
        self.hosts.entry(host).or_default().waiting.push_back((turn, who));
        Answer::Wait
    }

    /// The connection that a request was allowed to open is `connection`. It is busy with that request until
    /// [`idle`](Self::idle), also while opening.
    ///
    /// # Panics
    /// When no request was allowed to open one.
    pub fn opened(&mut self, host: u32, connection: C) {
        self.members.insert(connection, Member { host, idle: None });
        assert!(self.members.len() <= self.counted as usize, "a connection that nobody was allowed to open");
    }

    /// The request on `connection` has ended and left it reusable. The longest waiting request that can use it is
    /// served. Without one it is idle from `now` on.
    ///
    /// # Panics
    /// When the pool does not know it, or it is idle already.
    pub fn idle(&mut self, connection: C, now: Instant) -> Next<W> {
        let Member { host, idle: None } = *self.member(connection) else {
            panic!("a connection lies idle already");
        };
        let same = self.hosts[&host].waiting.front().map(|(turn, _)| *turn);
        let other = if self.has_room() { None } else { self.longest_waiting() };
        match (same, other) {
            (Some(same), other) if other.is_none_or(|(turn, _)| same <= turn) => Next::Use(self.serve(host)),
            (_, Some((_, other))) => {
                self.forget(connection);
                self.count(other);
                Next::CloseFirst(self.serve(other))
            }
            _ => {
                self.turn += 1;
                let turn = self.turn;
                self.member(connection).idle = Some(Idle { since: now, turn });
                self.hosts.get_mut(&host).expect("it has a connection").idle.push(connection);
                Next::Idle
            }
        }
    }

    /// `connection`, in any state, is not to be used again: either end is closing it, or it has failed. Returns the
    /// request that may open one in its place, the longest waiting one within the limits, to be reported to
    /// [`opened`](Self::opened).
    ///
    /// Of a connection that the pool has forgotten already this changes nothing.
    pub fn gone(&mut self, connection: C) -> Option<W> {
        if !self.members.contains_key(&connection) {
            return None;
        }
        self.forget(connection);
        let (_, host) = self.longest_waiting()?;
        self.count(host);
        Some(self.serve(host))
    }

    /// A request to `host` that was allowed to open a connection does without. Gives the request that may open one in its
    /// place, as [`gone`](Self::gone) does.
    ///
    /// # Panics
    /// When no request was allowed to open one.
    pub fn declined(&mut self, host: u32) -> Option<W> {
        assert!(self.members.len() < self.counted as usize, "a connection that nobody was allowed to open");
        self.uncount(host);
        let (_, host) = self.longest_waiting()?;
        self.count(host);
        Some(self.serve(host))
    }

    /// The request `who` to `host` does not wait any more. True if it did.
    pub fn leave(&mut self, host: u32, who: W) -> bool {
        let Some(queue) = self.hosts.get_mut(&host).map(|host| &mut host.waiting) else {
            return false;
        };
        let Some(found) = queue.iter().position(|(_, other)| *other == who) else {
            return false;
        };
        queue.remove(found);
        self.waiting -= 1;
        self.drop_if_empty(host);
        true
    }

    /// True when it has no connection, and no request waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.hosts.is_empty()
    }

    /// True when the pool knows `connection`.
    #[must_use]
    pub fn has(&self, connection: C) -> bool {
        self.members.contains_key(&connection)
    }

    /// Since when `connection` is idle. `None` when it is not, or the pool does not know it.
    #[must_use]
    pub fn idle_since(&self, connection: C) -> Option<Instant> {
        self.members.get(&connection)?.idle.map(|idle| idle.since)
    }

    fn member(&mut self, connection: C) -> &mut Member {
        self.members.get_mut(&connection).expect("a connection of the pool")
    }

    /// True when the limit on all connections allows one more.
    fn has_room(&self) -> bool {
        self.limits.total.is_none_or(|most| self.counted < most)
    }

    fn host_has_room(&self, host: u32) -> bool {
        let counted = self.hosts.get(&host).map_or(0, |host| host.counted);
        self.limits.per_host.is_none_or(|most| counted < most)
    }

    fn count(&mut self, host: u32) {
        self.counted += 1;
        self.hosts.entry(host).or_default().counted += 1;
    }

    fn uncount(&mut self, host: u32) {
        self.counted -= 1;
        self.hosts.get_mut(&host).expect("it has a connection").counted -= 1;
        self.drop_if_empty(host);
    }

    fn drop_if_empty(&mut self, host: u32) {
        let is_empty = |host: &Host<C, W>| host.counted == 0 && host.waiting.is_empty();
        if self.hosts.get(&host).is_some_and(is_empty) {
            self.hosts.remove(&host);
        }
    }

    fn forget(&mut self, connection: C) {
        let Member { host, idle } = self.members.remove(&connection).expect("a connection of the pool");
        if idle.is_some() {
            let host = self.hosts.get_mut(&host).expect("it has a connection");
            host.idle.retain(|other| *other != connection);
        }
        self.uncount(host);
    }

    /// The turn and the host of the longest waiting request with room at its host.
    fn longest_waiting(&self) -> Option<(u64, u32)> {
        if self.waiting == 0 {
            return None;
        }
        let first = |(number, host): (&u32, &Host<C, W>)| Some((host.waiting.front()?.0, *number));
        self.hosts.iter().filter_map(first).filter(|(_, host)| self.host_has_room(*host)).min()
    }

    /// The connection that has been idle longest. The first of each host is its longest.
    fn idle_longest(&self) -> Option<C> {
        let turn = |connection: &C| self.members[connection].idle.map(|idle| idle.turn);
        self.hosts.values().filter_map(|host| host.idle.first().copied()).min_by_key(turn)
    }

    /// Takes the longest waiting request of a host. The host has been counted and stays.
    fn serve(&mut self, host: u32) -> W {
        self.waiting -= 1;
        let queue = &mut self.hosts.get_mut(&host).expect("found waiting").waiting;
        queue.pop_front().expect("found waiting").1
    }
}
