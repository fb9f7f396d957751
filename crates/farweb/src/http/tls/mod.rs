//! TLS: the handshake before the first message of a connection, and the records that carry its bytes.
//!
//! Models a handshake as flights of given sizes that the ends send in turn, each answered at once when it is whole; and
//! records, of which no byte can be read before the last one is there. Both count bytes between an application and its
//! transport. Leaves out keys, alerts, renegotiation, a `HelloRetryRequest`, close_notify, and the time that cryptography takes.
//!
//! Sources: RFC 8446 (TLS 1.3) and RFC 5246 (TLS 1.2); sizes, each where it is described.

mod handshake;
mod records;

pub use handshake::{Flight, Handshake, HandshakeBytes, Start, Version};
pub use records::{RecordSize, Records};

/// Both ends of a TLS connection. An end is the one that opens (0) or the other one (1).
#[derive(Debug, Clone)]
pub struct Session {
    handshake: Handshake,
    /// Flights that each end has sent or got whole.
    steps: [usize; 2],
    /// Whether each end has had the notice that it may send messages.
    notified: [bool; 2],
    /// Records that each end sends.
    records: [Records; 2],
}

impl Session {
    /// A connection on which nothing has been sent.
    #[must_use]
    pub const fn new(version: Version, handshake: Handshake, record: RecordSize) -> Self {
        let records = Records::new(record, version.record_overhead());
        Self {
            handshake,
            steps: [0; 2],
            notified: [false; 2],
            records: [records, Records::new(record, version.record_overhead())],
        }
    }

    /// Whether `end` may send messages.
    #[must_use]
    pub fn is_ready(&self, end: usize) -> bool {
        self.steps[end] >= self.handshake.ready_after[end]
    }

    /// `end` sends what it has to, up to the next flight of the other one. Whether it may send messages from now on, which is true
    /// once.
    pub fn go_on(&mut self, end: usize) -> bool {
        while let Some(flight) =
            self.handshake.flights().get(self.steps[end]).filter(|flight| flight.from == end)
        {
            self.records[end].push_flight(flight.bytes);
            self.steps[end] += 1;
        }
        self.is_ready(end) && !std::mem::replace(&mut self.notified[end], true)
    }

    /// Whether `end` has sent all that the handshake asks of it. A server that answered early data has not before it has the client's
    /// last flight.
    #[must_use]
    pub fn has_shaken_hands(&self, end: usize) -> bool {
        self.handshake.flights()[self.steps[end]..].iter().all(|flight| flight.from != end)
    }

    /// Bytes that wait at `end` for its transport.
    #[must_use]
    pub const fn to_write(&self, end: usize) -> u64 {
        self.records[end].to_write()
    }

    /// The transport at `end` took `bytes` of those.
    pub const fn on_written(&mut self, end: usize, bytes: u64) {
        self.records[end].on_written(bytes);
    }

    /// `end` puts up to `bytes` of messages into the next record; how many.
    pub fn seal(&mut self, end: usize, bytes: u64) -> u64 {
        self.records[end].seal(bytes)
    }

    /// The transport gave `bytes` to `end`: bytes of messages that can be read now and could not before. It is behind the flights
    /// that have come whole with them; [`go_on`](Self::go_on) answers those.
    pub fn on_read(&mut self, end: usize, bytes: u64) -> u64 {
        let (plain, flights) = self.records[1 - end].on_read(bytes);
        self.steps[end] += flights;
        if end == 1 {
            // For requests it does not matter what is acknowledged.
            let read = self.records[0].bytes_read();
            self.records[0].on_acknowledged(read);
        }
        plain
    }

    /// Bytes of messages in the first `bytes` of what `end` has given to its transport, at least as many as have been acknowledged.
    #[must_use]
    pub fn messages_within(&self, end: usize, bytes: u64) -> u64 {
        self.records[end].plain_within(bytes)
    }

    /// The first `bytes` of what `end` has given to its transport have been acknowledged; bytes of messages among them.
    pub fn on_acknowledged(&mut self, end: usize, bytes: u64) -> u64 {
        self.records[end].on_acknowledged(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: HandshakeBytes = HandshakeBytes { client: 300, server: 3000 };

    fn session(version: Version, start: Start) -> Session {
        Session::new(version, Handshake::new(version, start, BYTES), RecordSize::Fixed(16_384))
    }

    #[test]
    fn an_end_is_notified_once_that_it_is_ready() {
        for (version, start) in [(Version::V13, Start::Full), (Version::V12, Start::Full)] {
            let mut session = session(version, start);
            let mut notices = [0; 2];
            notices[0] += usize::from(session.go_on(0));
            for half in 0..4 {
                let (from, to) = (half % 2, 1 - half % 2);
                let bytes = session.to_write(from);
                session.on_written(from, bytes);
                session.on_read(to, bytes);
                notices[to] += usize::from(session.go_on(to));
            }
            assert_eq!(notices, [1, 1], "{version:?}");
        }
    }

    /// Round trips, in halves, until each end may send messages: ends send in turn all that they have.
    fn halves_until_ready(version: Version, start: Start) -> [usize; 2] {
        let mut session = session(version, start);
        let mut ready = [None; 2];
        session.go_on(0);
        for half in 0.. {
            for (end, ready) in ready.iter_mut().enumerate() {
                if session.is_ready(end) {
                    ready.get_or_insert(half);
                }
            }
            if let [Some(client), Some(server)] = ready {
                return [client, server];
            }
            let from = half % 2;
            let bytes = session.to_write(from);
            session.on_written(from, bytes);
            assert_eq!(session.on_read(1 - from, bytes), 0, "no message yet");
            session.go_on(1 - from);
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
        let mut session = session(Version::V13, Start::EarlyData);
        assert!(session.go_on(0), "it may send");
        assert_eq!(session.seal(0, 100), 100);
        let bytes = session.to_write(0);
        assert_eq!(bytes, 300 + 100 + 22);
        session.on_written(0, bytes);
        assert_eq!(session.on_read(1, 300), 0);
        assert_eq!(session.on_read(1, 121), 0, "a byte of the record is missing");
        assert_eq!(session.on_read(1, 1), 100);
    }
}
