//! Records: the pieces in which a TLS connection carries bytes, each readable when it is whole.
//!
//! Models the bytes of one direction, of messages and of handshake flights. A sender fills a record with the bytes of one write, up to a
//! size, which may be smaller at the start of the connection. Leaves out padding.
//!
//! Source: RFC 8446, section 5; sizes, each where it is described.

use std::collections::VecDeque;

/// Most bytes that a sender puts into a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordSize {
    /// Always the same.
    Fixed(u64),
    /// A small one for the first bytes of a connection, then a full one.
    ///
    /// Source: h2o, `lib/common/socket.c` (1,400 B until 64 KiB); Apache, `h2_c1_io.c` (1,300 B until 1 MiB). They go back to small
    /// records after a second without data, which is left out.
    Growing {
        /// The small one, in bytes.
        small: u64,
        /// Up to where in the stream, in bytes.
        until: u64,
        /// The full one, in bytes.
        full: u64,
    },
}

/// The records of one direction, from what was sealed last to what is acknowledged and read.
#[derive(Debug, Clone)]
pub struct Records {
    size: RecordSize,
    overhead: u64,
    /// Records in order, without those that are no longer needed.
    records: VecDeque<Record>,
    /// Places behind the last byte of handshake flights that are not read.
    flights: VecDeque<u64>,
    sealed: Place,
    written: u64,
    read: Place,
    /// Place up to which records have been asked for.
    acknowledged: Place,
}

/// A place in the stream: bytes on the wire, and bytes of messages among them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Place {
    wire: u64,
    plain: u64,
}

/// The place behind a record.
type Record = Place;

impl Records {
    /// A direction without bytes whose records add `overhead` bytes each.
    #[must_use]
    pub const fn new(size: RecordSize, overhead: u64) -> Self {
        let start = Place { wire: 0, plain: 0 };
        Self {
            size,
            overhead,
            records: VecDeque::new(),
            flights: VecDeque::new(),
            sealed: start,
            written: 0,
            read: start,
            acknowledged: start,
        }
    }

    /// A handshake flight of `bytes`.
    pub fn push_flight(&mut self, bytes: u64) {
        self.sealed.wire += bytes;
        self.flights.push_back(self.sealed.wire);
    }

    /// Puts up to `bytes` of messages into a record; how many.
    pub fn seal(&mut self, bytes: u64) -> u64 {
        let most = match self.size {
            RecordSize::Fixed(size) => size,
            RecordSize::Growing { small, until, .. } if self.sealed.plain < until => small,
            RecordSize::Growing { full, .. } => full,
        };
        let plain = bytes.min(most);
        if plain > 0 {
            self.sealed.wire += plain + self.overhead;
            self.sealed.plain += plain;
            self.records.push_back(self.sealed);
        }
        plain
    }

    /// Bytes on the wire that wait for the transport.
    #[must_use]
    pub const fn to_write(&self) -> u64 {
        self.sealed.wire - self.written
    }

    /// The transport took `bytes` of those.
    pub const fn on_written(&mut self, bytes: u64) {
        self.written += bytes;
    }

    /// The reader got the next `bytes` on the wire: bytes of messages and flights that are whole with them.
    pub fn on_read(&mut self, bytes: u64) -> (u64, usize) {
        self.read.wire += bytes;
        let plain = self.plain_before(self.read.wire).max(self.read.plain);
        let fresh = plain - self.read.plain;
        self.read.plain = plain;
        let flights = self.flights.iter().take_while(|end| **end <= self.read.wire).count();
        self.flights.drain(..flights);
        self.forget();
        (fresh, flights)
    }

    /// Bytes on the wire that the reader has got.
    #[must_use]
    pub const fn bytes_read(&self) -> u64 {
        self.read.wire
    }

    /// The first `wire` bytes are acknowledged, which never are fewer; bytes of messages in whole records among them.
    pub fn on_acknowledged(&mut self, wire: u64) -> u64 {
        self.acknowledged = Place { wire, plain: self.plain_within(wire) };
        self.forget();
        self.acknowledged.plain
    }

    /// Bytes of messages in whole records within the first `wire` bytes, of which at least as many as were acknowledged.
    #[must_use]
    pub fn plain_within(&self, wire: u64) -> u64 {
        self.plain_before(wire).max(self.acknowledged.plain)
    }

    /// Bytes of messages in the records that are kept, up to `wire`; none when it is before them.
    fn plain_before(&self, wire: u64) -> u64 {
        let whole = self.records.partition_point(|record| record.wire <= wire);
        whole.checked_sub(1).map_or(0, |last| self.records[last].plain)
    }

    /// Leaves out the records that have been read, and acknowledged where that is needed.
    fn forget(&mut self) {
        let passed = self.read.wire.min(self.acknowledged.wire);
        while self.records.front().is_some_and(|record| record.wire <= passed) {
            self.records.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_record_can_be_read_when_it_is_whole() {
        let mut records = Records::new(RecordSize::Fixed(16_384), 22);
        assert_eq!((records.seal(100_172), records.seal(83_788)), (16_384, 16_384));
        assert_eq!(records.to_write(), 2 * 16_406);
        records.on_written(2 * 16_406);
        // Eleven segments of 1,460 B do not make a record, the twelfth does.
        assert_eq!(records.on_read(11 * 1460), (0, 0));
        assert_eq!(records.on_read(1460), (16_384, 0));
        assert_eq!(records.on_read(2 * 16_406 - 12 * 1460), (16_384, 0));
    }

    #[test]
    fn records_of_100_kb_have_their_bytes() {
        let sealed = |size| {
            let (mut records, mut left, mut count) = (Records::new(size, 22), 100_172, 0);
            while left > 0 {
                left -= records.seal(left);
                count += 1;
            }
            (count, records.to_write())
        };
        assert_eq!(sealed(RecordSize::Fixed(16_384)), (7, 100_326));
        assert_eq!(sealed(RecordSize::Fixed(1378)), (73, 101_778));
        // 47 small ones pass 64 KiB, and three full ones follow.
        assert_eq!(sealed(RecordSize::Growing { small: 1400, until: 65_536, full: 16_384 }).0, 47 + 3);
    }

    #[test]
    fn acknowledgements_count_in_bytes_of_messages() {
        let mut records = Records::new(RecordSize::Fixed(1000), 22);
        records.push_flight(300);
        for _ in 0..3 {
            records.seal(1000);
        }
        assert_eq!(records.on_read(300), (0, 1));
        assert_eq!(records.on_read(3 * 1022), (3000, 0));
        assert_eq!(records.on_acknowledged(300 + 1021), 0);
        assert_eq!(records.on_acknowledged(300 + 1022), 1000);
        assert_eq!(records.on_acknowledged(300 + 3 * 1022), 3000);
        assert!(records.records.is_empty(), "nobody asks for them any more");
        assert_eq!(records.on_acknowledged(300 + 3 * 1022), 3000);
    }
}
