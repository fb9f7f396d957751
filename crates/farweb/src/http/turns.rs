//! Turns of a tunnel (CONNECT) with TLS inside, between the client and the origin server.
//!
//! Models a tunnel as a few turns, each a part of the request and its answer, one behind the other: first CONNECT and the 200
//! of the last proxy, then the flights of the handshake before the client's first message, last the rest of the request and the
//! rest of the response. On the way from the last proxy to the server there is no CONNECT. Flights are taken out of the bytes
//! that a request table has for the tunnel: where these are too few, each turn keeps a byte. Leaves out records, which proxies
//! pass on byte by byte, tickets of a client, and that a tunnel carries many requests.
//!
//! Sources: RFC 9110, section 9.3.6 (CONNECT). Flights are [`Handshake`]'s.

use super::tls::Handshake;

/// A CONNECT. Chosen: request line, Host, User-Agent of a browser, Proxy-Connection.
const CONNECT: u64 = 200;

/// Its answer, as Squid writes it: `HTTP/1.1 200 Connection established` and an empty line.
const ESTABLISHED: u64 = 39;

/// CONNECT, two round trips of a handshake, and the rest.
const TURNS_MAX: usize = 4;

/// Turns of one direction, by the end of each in its message. Absent ones end with the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ends([u64; TURNS_MAX]);

/// Turns of a tunnel on a leg.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turns {
    /// Of the request.
    pub up: Ends,
    /// Of the response.
    pub down: Ends,
    /// True where the CONNECT ends at the client end of the leg, which answers it when its connection stands.
    pub answers_connect: bool,
}

impl Turns {
    /// Turns of a tunnel of `request` and `response` bytes. None where a direction has fewer bytes than turns.
    #[must_use]
    pub fn new(handshake: &Handshake, request: u64, response: u64) -> Option<Self> {
        let [mut up, mut down] = [vec![CONNECT], vec![ESTABLISHED]];
        for pair in handshake.before_messages() {
            up.push(pair[0].bytes);
            down.push(pair[1].bytes);
        }
        Some(Self { up: Ends::new(&up, request)?, down: Ends::new(&down, response)?, answers_connect: false })
    }

    /// The same on the last leg: behind the CONNECT, or, where no proxy answers that, with its bytes in the turn after it.
    #[must_use]
    pub fn on_last_leg(self, has_proxy: bool) -> Self {
        let [up, down] = [self.up, self.down].map(|ends| ends.behind_first(has_proxy));
        Self { up, down, answers_connect: has_proxy }
    }
}

impl Ends {
    /// Turns of these sizes, and a last one with the rest of `length` bytes.
    fn new(sizes: &[u64], length: u64) -> Option<Self> {
        let mut ends = [length; TURNS_MAX];
        let (mut end, mut most) = (0, length.checked_sub(sizes.len() as u64)?);
        if most == 0 {
            return None;
        }
        for (place, size) in ends.iter_mut().zip(sizes) {
            end += size;
            *place = end.min(most);
            most += 1;
        }
        Some(Self(ends))
    }

    /// The same without the first turn: its bytes are left out, or belong to the second one.
    fn behind_first(self, leaves_out: bool) -> Self {
        let [first, second, third, last] = self.0;
        let before = if leaves_out { first } else { 0 };
        Self([second, third, last, last].map(|end| end - before))
    }

    /// Bytes of the message.
    #[must_use]
    pub const fn length(&self) -> u64 {
        self.0[TURNS_MAX - 1]
    }

    /// End of the turn that has the byte behind the first `at`.
    #[must_use]
    pub fn next(&self, at: u64) -> u64 {
        self.0.into_iter().find(|end| *end > at).unwrap_or(self.length())
    }

    /// True when the byte behind the first `at` is of the last turn.
    #[must_use]
    pub fn is_in_last(&self, at: u64) -> bool {
        self.next(at) == self.length()
    }

    /// True when a turn is whole with `bytes` behind the first `at`.
    #[must_use]
    pub fn are_reached(&self, at: u64, bytes: u64) -> bool {
        let end = self.next(at);
        at < end && end <= at + bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::tls::{HandshakeBytes, Start, Version};

    fn turns(version: Version, start: Start, request: u64, response: u64) -> Option<Turns> {
        let bytes = HandshakeBytes { client: 1600, server: 4500 };
        Turns::new(&Handshake::new(version, start, bytes), request, response)
    }

    /// Sizes of the turns of a message.
    fn sizes(ends: Ends) -> Vec<u64> {
        let mut at = 0;
        std::iter::from_fn(|| {
            let turn = ends.next(at) - at;
            at += turn;
            (turn > 0).then_some(turn)
        })
        .collect()
    }

    fn both(turns: Turns) -> [Vec<u64>; 2] {
        [sizes(turns.up), sizes(turns.down)]
    }

    #[test]
    fn flights_before_the_first_message_are_turns() {
        for (version, start, flights) in [
            (Version::V13, Start::Full, vec![[1600, 4500]]),
            (Version::V13, Start::Resumed, vec![[1600, 4500]]),
            (Version::V13, Start::EarlyData, vec![]),
            (Version::V12, Start::Full, vec![[1600, 4500], [93, 261]]),
            (Version::V12, Start::Resumed, vec![[1600, 4500]]),
        ] {
            let [up, down] = both(turns(version, start, 9000, 90_000).unwrap());
            let all = |at: usize, first: u64, length: u64| {
                let mut sizes = vec![first];
                sizes.extend(flights.iter().map(|pair| pair[at]));
                sizes.push(length - sizes.iter().sum::<u64>());
                sizes
            };
            assert_eq!([up, down], [all(0, 200, 9000), all(1, 39, 90_000)], "{version:?} {start:?}");
        }
    }

    #[test]
    fn each_turn_keeps_a_byte_of_a_small_tunnel() {
        let of = |request, response| turns(Version::V13, Start::Full, request, response).map(both);
        assert_eq!(of(400, 3000), Some([vec![200, 199, 1], vec![39, 2960, 1]]));
        assert_eq!(of(3, 3), Some([vec![1; 3], vec![1; 3]]));
        assert_eq!((of(2, 9000), of(9000, 2), of(0, 0)), (None, None, None));
    }

    #[test]
    fn behind_the_last_proxy_there_is_no_connect() {
        let turns = turns(Version::V13, Start::Full, 2000, 9000).unwrap();
        let behind = turns.on_last_leg(true);
        assert_eq!(both(behind), [vec![1600, 200], vec![4500, 4461]]);
        assert!(behind.answers_connect && !turns.answers_connect);
        let alone = turns.on_last_leg(false);
        assert_eq!((both(alone), alone.answers_connect), ([vec![1800, 200], vec![4539, 4461]], false));
    }

    #[test]
    fn a_turn_is_reached_once() {
        let Turns { down, .. } = turns(Version::V13, Start::Full, 2000, 9000).unwrap();
        assert_eq!(
            [(0, 38), (38, 1), (39, 0), (39, 4499), (39, 4500)].map(|(at, more)| down.are_reached(at, more)),
            [false, true, false, false, true]
        );
        assert!(down.are_reached(8999, 1) && !down.are_reached(9000, 1));
        assert_eq!([38, 4538, 4539].map(|at| down.is_in_last(at)), [false, false, true]);
    }
}
