//! Relays: nodes inside a leg that end TCP, begin it anew, and pass bytes on as they come.
//!
//! Models a relay as two sockets of one connection, one that faces the client and one that faces the server. Bytes lie in the receive
//! buffer of one or the send buffer of the other. Between two relays a stretch may stand before the connection opens. Leaves out what stretches of several connections share: their windows, and bytes that wait for lost ones of others.

use crate::tcp::Limit;
use crate::units::{Duration, Instant, When};

use super::socket::Socket;
use super::unacknowledged::Unacknowledged;
use super::{End, Transport};

/// Bytes of a CONNECT and of its answer, with their headers. Chosen: as curl and Squid send, rounded.
pub(crate) const CONNECT_BYTES: u64 = 200;
pub(crate) const ANSWER_BYTES: u64 = 100;

/// Bytes that ask the next relay over a standing stretch to open a connection. Chosen: a SYN has as many.
pub(crate) const OPEN_BYTES: u64 = 60;

/// A split of a leg, as its connections have it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Split {
    pub(crate) node: u8,
    /// Bytes that ask it to go on. None where a SYN does.
    pub(crate) request: u64,
    /// True where the asker waits for an answer.
    pub(crate) answers: bool,
    /// Round trip of the stretch behind it where that stands: propagation.
    pub(crate) standing: Option<Duration>,
}

/// The relays of a connection, from the client to the server.
pub(crate) struct Relays {
    each: Box<[Relay]>,
    /// Responses that the relay nearest to the client has not sent to the end, where senders are recorded.
    pub(crate) responses: Unacknowledged,
}

/// A relay.
pub(crate) struct Relay {
    sides: [Socket; 2],
    /// Bytes that have yet to come before it opens the stretch behind it.
    pub(crate) to_come: u64,
    /// Bytes of its answer that have yet to reach the asker.
    pub(crate) to_answer: u64,
    /// Bytes of its answer, which stand before the stream.
    pub(crate) answered: u64,
    /// Since when cwnd holds its sender towards the client, and for how long it did before.
    held_since: When,
    held: Duration,
}

impl Relays {
    /// Idle relays of a connection between two nodes. None where its leg is not split.
    pub(crate) fn new(splits: &[Split], [client, server]: [u8; 2]) -> Option<Box<Self>> {
        let node = |place: usize| match place {
            0 => client,
            place => splits.get(place - 1).map_or(server, |split| split.node),
        };
        let relay = |(index, split): (usize, &Split)| Relay {
            sides: [node(index), node(index + 2)].map(|peer| Socket::new(split.node, peer)),
            to_come: split.request,
            to_answer: 0,
            answered: 0,
            held_since: When::NEVER,
            held: Duration::ZERO,
        };
        let each = || splits.iter().enumerate().map(relay).collect();
        (!splits.is_empty()).then(|| Box::new(Self { each: each(), responses: Unacknowledged::default() }))
    }

    /// The relay that a side belongs to.
    pub(crate) fn relay_mut(&mut self, side: u8) -> &mut Relay {
        &mut self.each[usize::from(side / 2)]
    }

    /// The relay behind a socket, seen from the client. None behind the last.
    pub(crate) fn behind_mut(&mut self, stretch: usize) -> Option<&mut Relay> {
        self.each.get_mut(stretch)
    }

    /// A socket, by its place: two for each relay, the one that faces the client first.
    pub(crate) fn side(&self, side: u8) -> &Socket {
        &self.each[usize::from(side / 2)].sides[usize::from(side % 2)]
    }

    pub(crate) fn side_mut(&mut self, side: u8) -> &mut Socket {
        &mut self.relay_mut(side).sides[usize::from(side % 2)]
    }

    /// Both sockets of the relay with this side, this one first.
    pub(crate) fn both_mut(&mut self, side: u8) -> [&mut Socket; 2] {
        let [client, server] = &mut self.relay_mut(side).sides;
        if side.is_multiple_of(2) { [client, server] } else { [server, client] }
    }

    /// Bytes of the stream that the relay nearest to the client has sent there.
    pub(crate) fn bytes_relayed(&self) -> u64 {
        let nearest = &self.each[0];
        let sent = nearest.sides[0].transport.as_ref().map_or(0, Transport::bytes_sent);
        sent.saturating_sub(nearest.answered)
    }

    /// Notes if cwnd holds, from now on, the relay's sender towards the client.
    pub(crate) fn note_cwnd(&mut self, now: Instant, side: u8) {
        let relay = self.relay_mut(side);
        let [near, far] = &relay.sides;
        let more = far.stack().is_some_and(|tcp| tcp.readable() > 0);
        let is_held = near.transport.as_ref().is_some_and(|transport| transport.limit(more) == Limit::Cwnd);
        relay.held = relay.held(now);
        relay.held_since = if is_held { When::at(now) } else { When::NEVER };
    }

    /// Time of cwnd holding the senders of relays towards the client, summed over relays.
    pub(crate) fn held(&self, now: Instant) -> Duration {
        self.each.iter().map(|relay| relay.held(now)).sum()
    }

    /// The side of the relay at `node` that packets towards an end reach.
    pub(crate) fn side_at(&self, toward: End, node: u8) -> u8 {
        let relay = self.each.iter().position(|relay| relay.sides[0].node == node).expect("a relay is there");
        2 * relay as u8 + u8::from(toward == End::Client)
    }

    pub(crate) fn sockets(&self) -> impl Iterator<Item = &Socket> {
        self.each.iter().flat_map(|relay| &relay.sides)
    }

    pub(crate) fn sockets_mut(&mut self) -> impl Iterator<Item = &mut Socket> {
        self.each.iter_mut().flat_map(|relay| &mut relay.sides)
    }

    pub(crate) fn count(&self) -> usize {
        self.each.len()
    }

    pub(crate) fn first_node(&self) -> u8 {
        self.side(0).node
    }

    pub(crate) fn last_node(&self) -> u8 {
        self.each[self.count() - 1].sides[1].node
    }
}

impl Relay {
    fn held(&self, now: Instant) -> Duration {
        self.held + self.held_since.get().map_or(Duration::ZERO, |since| now - since)
    }
}
