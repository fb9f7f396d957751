//! A request on one leg: how far it is, and which connections carry it.
//!
//! A request travels leg by leg and has an exchange on each, linked `below`, towards the clients, and
//! `above`, towards the servers. The exchange of the first leg writes the row of the request. The node at the
//! server end of the topmost exchange serves it. **Latency is defined here**: from [`Times::start`] of the
//! first leg's exchange to its [`Times::end`].
//!
//! One response may feed several exchanges below: they wait for the same one above, and are a chain by `beside`.
//!
//! **The node that serves an exchange chooses the version of the response**, by its size: the origin the one asked for, a cache the one
//! it holds. The choice reaches all that wait, on every leg below, at once. Bytes take their time. A conditional exchange is
//! answered by [`NOT_MODIFIED_BYTES`] if that is the version it names.

use crate::http::{self, NOT_MODIFIED_BYTES, ReleasePlan, Turns};
use crate::id::Slab;
use crate::record::{Failure, VisitRequest};
use crate::units::{Instant, When};
use crate::workload::Request;

use super::{Connection, ConnectionId, ExchangeId, HeldTimes};
use crate::session::Part;

/// A request on one leg, and how far it is.
pub(crate) struct Exchange {
    /// Number of the request.
    pub(crate) number: u64,
    pub(crate) request: Request,
    pub(crate) leg: usize,
    /// Its place in the visit of its client, on the first leg.
    pub(crate) visit: Option<VisitRequest>,
    /// The first of those on the leg towards the clients that wait for its response.
    below: Option<ExchangeId>,
    /// The next one that waits for the same response as this one.
    beside: Option<ExchangeId>,
    /// The exchange on the leg towards the servers that answers it, once there is one.
    above: Option<ExchangeId>,
    /// The connection that carries the request.
    pub(crate) up: Option<Ride>,
    /// The connection that carries the response: the same as `up` in all pools but a bundle.
    pub(crate) down: Option<Ride>,
    /// The connection that counts it among the requests on it.
    pub(crate) aboard: Option<ConnectionId>,
    /// Its neighbours in the chain of those on it: the one that came after, and the one that came before.
    pub(crate) beside_aboard: [Option<ExchangeId>; 2],
    pub(crate) bytes: http::ExchangeBytes,
    pub(crate) times: Times,
    /// Turns of a tunnel with TLS inside.
    pub(crate) tunnel: Option<Box<Tunnel>>,
    /// Sending of the response, where the senders are recorded.
    pub(crate) sending: Option<Box<Sending>>,
    /// The response that the node at the server end is releasing.
    pub(crate) releasing: Option<Releasing>,
    /// Node where its response began. Of a delayed hit, the cache with the fetch under way.
    pub(crate) served_by: Option<u8>,
    /// Size of the version that a cache below holds: the request is conditional, for a body only if the version is another one.
    pub(crate) condition: Option<u64>,
    /// Size of the version that its response brings or confirms, once the node that serves it has chosen.
    pub(crate) version: Option<u64>,
    /// The node inside its leg, or at the server end, where the connection for it goes. `None`: where the leg ends.
    pub(crate) source: Option<u8>,
    /// The node of the last cache that has counted it.
    pub(crate) counted_at: Option<u8>,
    /// Answer of the cache that counted it last.
    pub(crate) answer: Option<CacheAnswer>,
    /// True if the cache at its server end has a stale copy and asks above for the sake of this exchange.
    pub(crate) revalidates: bool,
    /// Number of times that its request was sent again.
    pub(crate) resent: u32,
    /// Why it fails, as far as that is known.
    pub(crate) failure: Option<Failure>,
}

/// Answer of a cache to a request, numbered as in the column `cache_answer`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CacheAnswer {
    /// A hit.
    Hit,
    /// A fetch of it that was under way.
    DelayedHit,
    /// A stale copy, which was found unchanged above.
    Revalidated,
    /// Nothing that serves it.
    Miss,
    /// Nothing, and the response is of a size that it does not keep.
    Bypass,
}

/// A connection that carries a message, and what had happened on it before.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ride {
    pub(crate) connection: ConnectionId,
    pub(crate) number: u64,
    pub(crate) retransmits: u32,
    pub(crate) timeouts: u32,
}

/// A response that a node is releasing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Releasing {
    pub(crate) node: u8,
    pub(crate) since: Instant,
    pub(crate) plan: ReleasePlan,
    /// Size of the version, in bytes.
    pub(crate) version: u64,
    /// Size of the segments that would bring it here, in bytes.
    pub(crate) mss: u16,
}

/// A tunnel with TLS inside.
#[derive(Debug)]
pub(crate) struct Tunnel {
    pub(crate) turns: Turns,
    /// Its connection has got the first turn to carry: not before the CONNECT is answered, on the last leg.
    pub(crate) has_begun: bool,
    /// All turns but the last were over at the client end: the client may ask for something.
    pub(crate) ready: When,
}

/// When an exchange came how far.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Times {
    /// It was queued on the leg.
    pub(crate) start: Instant,
    /// Its connection was there.
    pub(crate) connected: When,
    /// The whole request was at the server end.
    pub(crate) requested: When,
    /// The first bytes of the response were read at the client end.
    pub(crate) first_byte: When,
    /// The last byte was.
    pub(crate) end: When,
    /// The server end had the last byte acknowledged.
    pub(crate) acked: When,
    /// It was given up, on all legs.
    pub(crate) failed: When,
}

/// Sending of a response.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sending {
    /// Its first bytes were there to be sent at the server end.
    pub(crate) ready_first: When,
    /// The last byte was.
    pub(crate) ready_last: When,
    /// The last byte was sent for the first time.
    pub(crate) sent_last: When,
    /// The relay nearest to the client has sent it, where there is one.
    pub(crate) relayed_last: When,
    /// The last byte leaves the regulator below TCP, where there is one.
    pub(crate) left_last: When,
    /// Readings of the sender's clocks when the first bytes were there. How much further they were when the last byte had
    /// been sent.
    pub(crate) held: HeldTimes,
}

/// The exchanges that go on, on all legs.
pub(crate) struct Exchanges(Slab<Exchange>);

impl Exchange {
    fn new(now: Instant, leg: usize, number: u64, request: Request) -> Self {
        Self {
            number,
            request,
            leg,
            visit: None,
            below: None,
            beside: None,
            above: None,
            up: None,
            down: None,
            aboard: None,
            beside_aboard: [None; 2],
            bytes: http::ExchangeBytes::new(request.request_bytes, request.response_bytes),
            times: Times { start: now, ..Times::default() },
            tunnel: None,
            sending: None,
            releasing: None,
            served_by: None,
            condition: None,
            version: None,
            source: None,
            counted_at: None,
            answer: None,
            revalidates: false,
            resent: 0,
            failure: None,
        }
    }

    /// Its request is to be sent again from the client end, and nothing has come of it yet.
    pub(crate) fn start_again(&mut self) {
        let mut fresh = Self::new(self.times.start, self.leg, self.number, self.request);
        if let Some(held) = self.condition {
            fresh.ask_unless(held);
        }
        let (below, beside, visit) = (self.below, self.beside, self.visit);
        *self = Self { below, beside, visit, resent: self.resent + 1, ..fresh };
    }

    /// It is a tunnel with TLS inside.
    pub(crate) fn make_tunnel(&mut self, turns: Turns) {
        self.bytes = http::ExchangeBytes::new(turns.up.length(), turns.down.length());
        self.tunnel = Some(Box::new(Tunnel { turns, has_begun: false, ready: When::NEVER }));
    }

    /// Its request is conditional: for a body unless the version still has the `held` bytes.
    pub(crate) const fn ask_unless(&mut self, held: u64) {
        self.condition = Some(held);
        self.bytes = http::ExchangeBytes::new(self.request.request_bytes, NOT_MODIFIED_BYTES);
    }

    /// Bytes that caches count for it when it asks: the response's, or the confirmation's that a cache below hopes for.
    pub(crate) const fn asked_bytes(&self) -> u64 {
        if self.condition.is_some() { NOT_MODIFIED_BYTES } else { self.request.response_bytes }
    }

    /// Size of the version that it will bring as far as is known: the one asked for until a node has chosen.
    pub(crate) fn expected_version(&self) -> u64 {
        self.version.unwrap_or(self.request.response_bytes)
    }

    /// Bytes of the response that serves it with the version of `version` bytes.
    pub(crate) fn response_to(&self, version: u64) -> u64 {
        match &self.tunnel {
            Some(tunnel) => tunnel.turns.down.length(),
            None if self.condition == Some(version) => NOT_MODIFIED_BYTES,
            None => version,
        }
    }

    /// The next part of the request: all of it, or the turn of a tunnel behind those at the server end.
    pub(crate) fn next_of_request(&self, of: ExchangeId) -> Part {
        let (before, length) = (self.bytes.requested(), self.bytes.request());
        let turns = self.tunnel.as_ref().map(|tunnel| &tunnel.turns.up);
        let (first, end) = turns.map_or((length, length), |up| (up.next(0), up.next(before)));
        Part { of, host: self.request.host, before, bytes: end - before, length, first }
    }

    /// The `bytes` of the response behind the first `before`.
    #[inline]
    pub(crate) fn part_of_response(&self, of: ExchangeId, before: u64, bytes: u64) -> Part {
        let length = self.bytes.response();
        let first = self.tunnel.as_ref().map_or(length, |tunnel| tunnel.turns.down.next(0));
        Part { of, host: self.request.host, before, bytes, length, first }
    }

    /// Bytes that answer the request with the version of `version` bytes, or the turn that is at the server end.
    pub(crate) fn answer_to(&self, version: u64) -> u64 {
        let ready = self.bytes.ready();
        self.tunnel
            .as_ref()
            .map_or_else(|| self.response_to(version), |tunnel| tunnel.turns.down.next(ready) - ready)
    }

    /// True when the byte of the response behind the first `before` is of its last turn, if it has turns.
    #[inline]
    pub(crate) fn is_in_last_turn(&self, before: u64) -> bool {
        self.tunnel.as_ref().is_none_or(|tunnel| tunnel.turns.down.is_in_last(before))
    }

    /// True of a tunnel on the last leg, with the proxy at its client end that answers the CONNECT.
    pub(crate) fn answers_connect(&self) -> bool {
        self.tunnel.as_ref().is_some_and(|tunnel| tunnel.turns.answers_connect)
    }

    /// `bytes` of the request were read at the server end. True when it, or a turn of it, is whole with them.
    pub(crate) fn on_requested(&mut self, bytes: u64) -> bool {
        let before = self.bytes.requested();
        let is_whole = self.bytes.on_requested(bytes);
        is_whole || self.tunnel.as_ref().is_some_and(|tunnel| tunnel.turns.up.are_reached(before, bytes))
    }

    /// Notes the first byte of the response, in a tunnel of its last turn, when `bytes` are about to be read at the client end. True
    /// when they end a turn that another one follows.
    #[inline]
    pub(crate) fn on_coming(&mut self, now: Instant, bytes: u64) -> bool {
        let before = self.bytes.received();
        match &mut self.tunnel {
            Some(tunnel) if !tunnel.turns.down.is_in_last(before) => tunnel.on_coming(now, before, bytes),
            _ => {
                self.times.first_byte.set_once(now);
                false
            }
        }
    }

    /// True when its request may be sent again where its connection is lost: nothing has come of it. A tunnel is lost with its
    /// connection.
    pub(crate) fn may_repeat(&self) -> bool {
        self.bytes.received() == 0 && self.tunnel.is_none()
    }

    /// True if its response only confirms what a cache below holds.
    pub(crate) fn is_not_modified(&self) -> bool {
        self.condition.is_some() && self.condition == self.version
    }

    /// True when it is still going on.
    #[inline]
    pub(crate) const fn is_alive(&self) -> bool {
        self.times.failed.is_never() && self.times.end.is_never()
    }

    /// True when its response goes over `connection`.
    #[inline]
    pub(crate) fn rides_down(&self, connection: ConnectionId) -> bool {
        self.down.is_some_and(|ride| ride.connection == connection)
    }
}

impl Tunnel {
    /// `bytes` of a turn before the last one are about to be read behind the first `before`. True when it is whole with them.
    fn on_coming(&mut self, now: Instant, before: u64, bytes: u64) -> bool {
        let down = &self.turns.down;
        let is_whole = down.are_reached(before, bytes);
        if is_whole && down.is_in_last(before + bytes) {
            self.ready = When::at(now);
        }
        is_whole
    }
}

impl Ride {
    /// On `connection`, with id `id`, from now on.
    #[inline]
    pub(crate) fn on(id: ConnectionId, connection: &Connection) -> Self {
        Self {
            connection: id,
            number: connection.number,
            retransmits: connection.retransmits() as u32,
            timeouts: connection.timeouts() as u32,
        }
    }
}

impl Exchanges {
    pub(crate) const fn new() -> Self {
        Self(Slab::new())
    }

    /// A request is there to be sent over a leg.
    pub(crate) fn start(&mut self, now: Instant, leg: usize, number: u64, request: Request) -> ExchangeId {
        self.0.insert(Exchange::new(now, leg, number, request))
    }

    #[inline]
    pub(crate) fn get(&self, id: ExchangeId) -> Option<&Exchange> {
        self.0.get(id)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: ExchangeId) -> Option<&mut Exchange> {
        self.0.get_mut(id)
    }

    /// The exchange, unless it has ended.
    #[inline]
    pub(crate) fn alive(&mut self, id: ExchangeId) -> Option<&mut Exchange> {
        self.0.get_mut(id).filter(|exchange| exchange.is_alive())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (ExchangeId, &Exchange)> {
        self.0.iter()
    }

    /// `below` waits for the response of `above`, of whatever version, behind all that do already.
    pub(crate) fn join(&mut self, below: ExchangeId, above: ExchangeId) {
        if let Some(version) = self.0.get(above).and_then(|exchange| exchange.version) {
            self.choose(below, version);
        }
        let last = self.waiting_for(above).last();
        self.0.get_mut(below).expect("it waits from now on").above = Some(above);
        match last {
            Some(last) => self.0.get_mut(last).expect("it waits").beside = Some(below),
            None => self.0.get_mut(above).expect("it has been started").below = Some(below),
        }
    }

    /// The exchange on the leg towards the servers that `below` waits for.
    pub(crate) fn above(&self, below: ExchangeId) -> Option<ExchangeId> {
        self.0.get(below)?.above
    }

    /// `below` does not wait for a response any more. The exchange above, if none waits for that now.
    pub(crate) fn part(&mut self, below: ExchangeId) -> Option<ExchangeId> {
        let exchange = self.0.get_mut(below)?;
        let (above, next) = (exchange.above.take()?, exchange.beside.take());
        let before = self.waiting_for(above).take_while(|other| *other != below).last();
        match before {
            Some(before) => self.0.get_mut(before).expect("it waits").beside = next,
            None => self.0.get_mut(above)?.below = next,
        }
        self.0.get(above)?.below.is_none().then_some(above)
    }

    /// Exchanges on the leg below that wait for the response of `above`, in the order they joined.
    #[inline]
    pub(crate) fn waiting_for(&self, above: ExchangeId) -> impl Iterator<Item = ExchangeId> {
        let next = |id: &ExchangeId| self.beside(*id);
        std::iter::successors(self.0.get(above).and_then(|exchange| exchange.below), next)
    }

    /// The node that serves an exchange sends the version of `version` bytes, to it and to all that wait for its response.
    pub(crate) fn choose(&mut self, id: ExchangeId, version: u64) {
        let Some(exchange) = self.0.get_mut(id) else {
            return;
        };
        let waited_for_it = exchange.version.is_none() && exchange.condition.is_some();
        exchange.version = Some(version);
        exchange.bytes.set_response(exchange.response_to(version));
        let (served_by, mut next) = (exchange.served_by.filter(|_| waited_for_it), exchange.below);
        while let Some(below) = next {
            self.choose(below, version);
            next = self.beside(below);
        }
        if let Some(node) = served_by {
            self.serve_below(id, node);
        }
    }

    /// The node at the server end of an exchange, or inside its leg, has the response and releases it.
    pub(crate) fn release(&mut self, id: ExchangeId, response: Releasing) {
        self.choose(id, response.version);
        self.0.get_mut(id).expect("it has just been chosen for").releasing = Some(response);
    }

    /// The response to an exchange has begun at `node`, and with it the response to all that wait for a body from it.
    pub(crate) fn serve(&mut self, id: ExchangeId, node: u8) {
        let Some(exchange) = self.0.get_mut(id).filter(|exchange| exchange.served_by.is_none()) else {
            return;
        };
        exchange.served_by = Some(node);
        self.serve_below(id, node);
    }

    /// Marks exchanges that wait for a body from `id` as served by `node`. A conditional exchange without a chosen
    /// version may yet bring no body. Its waiters are then served by the copy that it confirms.
    fn serve_below(&mut self, id: ExchangeId, node: u8) {
        let exchange = self.0.get(id).expect("the caller has found it");
        let has_body =
            exchange.condition.is_none() || exchange.version.is_some_and(|of| exchange.condition != Some(of));
        let mut next = exchange.below.filter(|_| has_body);
        while let Some(below) = next {
            self.serve(below, node);
            next = self.beside(below);
        }
    }

    /// Exchange that waits for the same response behind `below`.
    #[inline]
    pub(crate) fn beside(&self, below: ExchangeId) -> Option<ExchangeId> {
        self.0.get(below)?.beside
    }

    /// Forgets an exchange that has ended, and parts it from the others: the beginning of a body above may have been its whole
    /// answer.
    pub(crate) fn forget(&mut self, id: ExchangeId) {
        self.part(id);
        let mut next = self.0.get(id).and_then(|exchange| exchange.below);
        while let Some(below) = next.and_then(|below| self.0.get_mut(below)) {
            below.above = None;
            next = below.beside.take();
        }
        self.0.remove(id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Directory;

    fn start(exchanges: &mut Exchanges, leg: usize) -> ExchangeId {
        let request = Request {
            request_bytes: 300,
            response_bytes: 1000,
            ..Request::bare(Instant::ZERO, Directory::default().host("server"))
        };
        exchanges.start(Instant::ZERO, leg, 0, request)
    }

    fn waiting(exchanges: &Exchanges, above: ExchangeId) -> Vec<ExchangeId> {
        exchanges.waiting_for(above).collect()
    }

    #[test]
    fn several_wait_for_one_response_in_the_order_in_which_they_came() {
        let mut exchanges = Exchanges::new();
        let above = start(&mut exchanges, 1);
        let [first, second, third] = [0; 3].map(|leg| start(&mut exchanges, leg));
        for below in [first, second, third] {
            exchanges.join(below, above);
        }
        assert_eq!(waiting(&exchanges, above), [first, second, third]);
        assert_eq!(exchanges.part(second), None);
        assert_eq!(exchanges.part(second), None, "once");
        assert_eq!(waiting(&exchanges, above), [first, third]);
        assert_eq!(exchanges.part(first), None);
        assert_eq!(exchanges.part(third), Some(above), "nobody waits any more");
        assert_eq!(waiting(&exchanges, above), []);
    }

    #[test]
    fn who_waited_for_a_response_that_has_ended_waits_for_nothing() {
        let mut exchanges = Exchanges::new();
        let above = start(&mut exchanges, 1);
        let [first, second] = [0; 2].map(|leg| start(&mut exchanges, leg));
        exchanges.join(first, above);
        exchanges.join(second, above);
        exchanges.forget(above);
        for below in [first, second] {
            assert_eq!(exchanges.get(below).and_then(|exchange| exchange.above), None);
            assert_eq!(exchanges.part(below), None);
        }
        let next = start(&mut exchanges, 1);
        exchanges.join(second, next);
        assert_eq!(waiting(&exchanges, next), [second], "the old chain is gone");
    }
}
