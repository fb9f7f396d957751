//! TLS: the handshake before the first message of a connection, and the records that carry its bytes.
//!
//! Models a handshake as flights of given sizes that the ends send in turn, each answered at once when whole, and
//! records, readable only when whole. Both count bytes between an application and its transport. Leaves out keys,
//! alerts, renegotiation, a `HelloRetryRequest`, close_notify, and the time that cryptography takes.
//!
//! Sources: RFC 8446 (TLS 1.3) and RFC 5246 (TLS 1.2). Sizes name their own.

mod chain;
mod handshake;
pub mod parts;
mod programs;
mod records;
mod schemes;

pub use chain::SCTS_MAX;
pub use handshake::{Flight, Handshake, HandshakeBytes, Start, Version};
pub use parts::Parts;
pub use programs::{SmallRecord, Writer};
pub use records::{Ramp, RecordSize, Records, Small};
pub use schemes::{KeyExchange, Scheme};

use crate::units::Instant;

/// TLS as both ends of a leg's connections have it.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Version.
    pub version: Version,
    /// Sizes of the records that each end sends.
    pub record: RecordSize,
    /// Handshakes, in the order of [`Start`].
    pub handshakes: [Handshake; 3],
}

impl Settings {
    /// Both ends of a new connection, the client's first.
    #[must_use]
    pub fn pair(&self, start: Start) -> [Layer; 2] {
        [0, 1].map(|end| Layer {
            end,
            handshake: self.handshakes[start as usize],
            steps: 0,
            notified: false,
            has_ticket: false,
            records: Records::new(self.record, self.version.record_overhead()),
        })
    }
}

/// TLS at one end of a connection. An end is the one that opens (0) or the other one (1).
#[derive(Debug, Clone)]
pub struct Layer {
    end: usize,
    handshake: Handshake,
    /// Flights that it has sent or got whole.
    steps: usize,
    /// True once it has had the notice that it may send messages.
    notified: bool,
    /// True once it has taken its ticket.
    has_ticket: bool,
    /// Records that it sends.
    records: Records,
}

impl Layer {
    /// True when it may send messages.
    #[must_use]
    pub const fn is_ready(&self) -> bool {
        self.steps >= self.handshake.ready_after[self.end]
    }

    /// Sends the handshake's messages up to the next flight of the other end. True once: when it may send messages from
    /// now on.
    pub fn go_on(&mut self) -> bool {
        while let Some(flight) =
            self.handshake.flights().get(self.steps).filter(|flight| flight.from == self.end)
        {
            self.records.push_flight(flight.bytes);
            self.steps += 1;
        }
        self.is_ready() && !std::mem::replace(&mut self.notified, true)
    }

    /// The handshake that it makes.
    #[must_use]
    pub const fn start(&self) -> Start {
        self.handshake.start
    }

    /// True once: when the client has got the last flight of the server, and with it a ticket.
    pub fn takes_ticket(&mut self) -> bool {
        let is_whole = self.end == 0 && self.steps == self.handshake.flights().len();
        is_whole && !std::mem::replace(&mut self.has_ticket, true)
    }

    /// True when it has sent all that the handshake asks of it. A server that answered early data has not before it has the client's
    /// last flight.
    #[must_use]
    pub fn has_shaken_hands(&self) -> bool {
        self.handshake.flights()[self.steps..].iter().all(|flight| flight.from != self.end)
    }

    /// Bytes that wait for its transport.
    #[must_use]
    pub const fn to_write(&self) -> u64 {
        self.records.to_write()
    }

    /// The transport took `bytes` of those.
    pub const fn on_written(&mut self, bytes: u64) {
        self.records.on_written(bytes);
    }

    /// Puts up to `bytes` of messages into the next record. Returns how many.
    pub fn seal(&mut self, now: Instant, bytes: u64) -> u64 {
        self.records.seal(now, bytes)
    }

    /// The transport brought `bytes` from the other end, `from`. Returns bytes of messages that have become readable,
    /// behind the flights complete with them. [`go_on`](Self::go_on) answers those.
    pub fn on_read(&mut self, from: &mut Self, bytes: u64) -> u64 {
        let (plain, flights) = from.records.on_read(bytes);
        self.steps += flights;
        if self.end == 1 {
            // Requests do not depend on acknowledgements.
            let read = from.records.bytes_read();
            from.records.on_acknowledged(read);
        }
        plain
    }

    /// Bytes of messages in the first `bytes` given to its transport, at least as many as have been acknowledged.
    #[must_use]
    pub fn messages_within(&self, bytes: u64) -> u64 {
        self.records.plain_within(bytes)
    }

    /// Bytes of messages in the first `bytes` given to its transport, until the other end has read them.
    #[must_use]
    pub fn messages_before(&self, bytes: u64) -> u64 {
        self.records.plain_before(bytes)
    }

    /// The first `bytes` given to its transport have been acknowledged. Returns bytes of messages among them.
    pub fn on_acknowledged(&mut self, bytes: u64) -> u64 {
        self.records.on_acknowledged(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: HandshakeBytes = HandshakeBytes { client: 300, server: 3000 };

    fn pair(version: Version, start: Start) -> [Layer; 2] {
        let handshakes = Start::ALL.map(|start| Handshake::new(version, start, BYTES));
        let record = RecordSize { full: 16_384, small: None };
        Settings { version, record, handshakes }.pair(start)
    }

    /// `from` sends `bytes`, which the other end reads. Bytes of messages that it gets.
    fn carry(ends: &mut [Layer; 2], from: usize, bytes: u64) -> u64 {
        let [client, server] = ends;
        let (from, to) = if from == 0 { (client, server) } else { (server, client) };
        to.on_read(from, bytes)
    }

    /// `from` sends all that it has.
    fn carry_all(ends: &mut [Layer; 2], from: usize) -> u64 {
        let bytes = ends[from].to_write();
        ends[from].on_written(bytes);
        carry(ends, from, bytes)
    }

    #[test]
    fn an_end_is_notified_once_that_it_is_ready() {
        for (version, start) in [(Version::V13, Start::Full), (Version::V12, Start::Full)] {
            let mut ends = pair(version, start);
            let mut notices = [0; 2];
            notices[0] += usize::from(ends[0].go_on());
            for half in 0..4 {
                let (from, to) = (half % 2, 1 - half % 2);
                carry_all(&mut ends, from);
                notices[to] += usize::from(ends[to].go_on());
            }
            assert_eq!(notices, [1, 1], "{version:?}");
        }
    }

    /// Round trips, in halves, until each end may send messages: ends send in turn all that they have.
    fn halves_until_ready(version: Version, start: Start) -> [usize; 2] {
        let mut ends = pair(version, start);
        let mut ready = [None; 2];
        ends[0].go_on();
        for half in 0.. {
            for (end, ready) in ends.iter().zip(&mut ready) {
                if end.is_ready() {
                    ready.get_or_insert(half);
                }
            }
            if let [Some(client), Some(server)] = ready {
                return [client, server];
            }
            let from = half % 2;
            assert_eq!(carry_all(&mut ends, from), 0, "no message yet");
            ends[1 - from].go_on();
        }
        unreachable!()
    }

    #[test]
    fn each_start_takes_its_round_trips() {
        // A client that is ready after two halves sends its request a round trip after the first flight.
        assert_eq!(halves_until_ready(Version::V13, Start::Full), [2, 3]);
        assert_eq!(halves_until_ready(Version::V13, Start::Resumed), [2, 3]);
        assert_eq!(halves_until_ready(Version::V13, Start::EarlyData), [0, 1]);
        assert_eq!(halves_until_ready(Version::V12, Start::Full), [4, 3]);
        assert_eq!(halves_until_ready(Version::V12, Start::Resumed), [2, 3]);
    }

    #[test]
    fn a_request_may_follow_the_last_flight_at_once() {
        let mut ends = pair(Version::V13, Start::EarlyData);
        assert!(ends[0].go_on(), "it may send");
        assert_eq!(ends[0].seal(Instant::ZERO, 100), 100);
        let bytes = ends[0].to_write();
        assert_eq!(bytes, 300 + 100 + 22);
        ends[0].on_written(bytes);
        assert_eq!(carry(&mut ends, 0, 300), 0);
        assert_eq!(carry(&mut ends, 0, 121), 0, "a byte of the record is missing");
        assert_eq!(carry(&mut ends, 0, 1), 100);
    }
}
