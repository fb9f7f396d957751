//! Records: the pieces of bytes on a TLS connection, each readable when whole.
//!
//! Models the bytes of one direction, of messages and of handshake flights. A sender fills a record with the bytes of one write, up to a
//! size, which may be smaller at the start of the connection and after a pause. Leaves out padding.
//!
//! Source: RFC 8446, section 5. Programs name the sources of their sizes.

use std::collections::VecDeque;

use crate::units::{Duration, Instant};

/// Most bytes that a sender puts into a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordSize {
    /// Once the small ones are over.
    pub full: u64,
    /// At the start of a connection.
    pub small: Option<Small>,
}

/// Records at the start of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Small {
    /// Their sizes, from the first on.
    pub ramp: Ramp,
    /// Pause that makes records begin again.
    pub after_pause: Option<Duration>,
}

/// Sizes of small records, in bytes of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ramp {
    /// One size until so many bytes have gone.
    Until {
        /// The size.
        size: u64,
        /// Bytes.
        bytes: u64,
    },
    /// Two sizes, each for so many records.
    Steps {
        /// The sizes.
        sizes: [u64; 2],
        /// Records of each.
        records: u64,
    },
    /// The first record has `first` bytes with all that it adds, and each has as many more as the first holds, until so many bytes
    /// have gone on the wire.
    Growing {
        /// Bytes of the first record.
        first: u64,
        /// Bytes on the wire.
        wire: u64,
    },
}

impl RecordSize {
    /// Most bytes in a record behind `gone`, with the `overhead` of each.
    fn at(&self, gone: Gone, overhead: u64) -> u64 {
        let small = match self.small.map(|small| small.ramp) {
            Some(Ramp::Until { size, bytes }) if gone.plain < bytes => size,
            Some(Ramp::Steps { sizes, records }) if gone.records < 2 * records => {
                sizes[usize::from(gone.records >= records)]
            }
            Some(Ramp::Growing { first, wire }) if gone.wire < wire => {
                (first - overhead).saturating_mul(gone.records + 1)
            }
            _ => return self.full,
        };
        small.min(self.full)
    }
}

/// Bytes and records that have gone since the small ones began.
#[derive(Debug, Clone, Copy, Default)]
struct Gone {
    records: u64,
    plain: u64,
    wire: u64,
}

/// The records of one direction, from the last sealed to the last acknowledged and read.
#[derive(Debug, Clone)]
pub struct Records {
    size: RecordSize,
    overhead: u64,
    /// Records in order, without superseded ones.
    records: VecDeque<Record>,
    /// Places behind the last byte of handshake flights that are not read.
    flights: VecDeque<u64>,
    sealed: Place,
    /// Time of the record that was sealed last, once there is one.
    sealed_at: Option<Instant>,
    gone: Gone,
    written: u64,
    read: Place,
    /// Last acknowledged place that the owner asked about.
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
    /// A direction without bytes, with records that add `overhead` bytes each.
    #[must_use]
    pub const fn new(size: RecordSize, overhead: u64) -> Self {
        let start = Place { wire: 0, plain: 0 };
        Self {
            size,
            overhead,
            records: VecDeque::new(),
            flights: VecDeque::new(),
            sealed: start,
            sealed_at: None,
            gone: Gone { records: 0, plain: 0, wire: 0 },
            written: 0,
            read: start,
            acknowledged: start,
        }
    }

    /// A handshake flight of `bytes`.
    pub fn push_flight(&mut self, bytes: u64) {
        self.sealed.wire += bytes;
        self.gone.wire += bytes;
        self.flights.push_back(self.sealed.wire);
    }

    /// Puts up to `bytes` of messages into a record. Returns how many.
    pub fn seal(&mut self, now: Instant, bytes: u64) -> u64 {
        if bytes == 0 {
            return 0;
        }
        let pause = self.sealed_at.replace(now).map_or(Duration::ZERO, |last| now.saturating_since(last));
        if self.size.small.and_then(|small| small.after_pause).is_some_and(|limit| pause > limit) {
            self.gone = Gone::default();
        }
        let plain = bytes.min(self.size.at(self.gone, self.overhead));
        self.sealed.wire += plain + self.overhead;
        self.sealed.plain += plain;
        self.gone.records += 1;
        self.gone.wire += plain + self.overhead;
        self.gone.plain += plain;
        self.records.push_back(self.sealed);
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

    /// The first `wire` bytes are acknowledged, which never are fewer. Bytes of messages in whole records among them.
    pub fn on_acknowledged(&mut self, wire: u64) -> u64 {
        self.acknowledged = Place { wire, plain: self.plain_within(wire) };
        self.forget();
        self.acknowledged.plain
    }

    /// Bytes of messages in whole records within the first `wire` bytes, at least as many as were acknowledged.
    #[must_use]
    pub fn plain_within(&self, wire: u64) -> u64 {
        self.plain_before(wire).max(self.acknowledged.plain)
    }

    /// Bytes of messages in the records that are kept, up to `wire`. None when it is before them.
    #[must_use]
    pub fn plain_before(&self, wire: u64) -> u64 {
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

    const NOW: Instant = Instant::ZERO;

    fn fixed(full: u64) -> RecordSize {
        RecordSize { full, small: None }
    }

    fn small(ramp: Ramp, after_pause: Option<Duration>) -> RecordSize {
        RecordSize { full: 16_384, small: Some(Small { ramp, after_pause }) }
    }

    #[test]
    fn a_full_record_can_be_read_when_it_is_whole() {
        let mut records = Records::new(fixed(16_384), 22);
        assert_eq!((records.seal(NOW, 100_172), records.seal(NOW, 83_788)), (16_384, 16_384));
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
                left -= records.seal(NOW, left);
                count += 1;
            }
            (count, records.to_write())
        };
        assert_eq!(sealed(fixed(16_384)), (7, 100_326));
        assert_eq!(sealed(fixed(1378)), (73, 101_778));
        // 47 small ones pass 64 KiB, and three full ones follow.
        assert_eq!(sealed(small(Ramp::Until { size: 1400, bytes: 65_536 }, None)).0, 47 + 3);
    }

    /// Sizes of the first `count` records of a sender that always has more.
    fn sizes(records: &mut Records, now: Instant, count: usize) -> Vec<u64> {
        (0..count).map(|_| records.seal(now, u64::MAX)).collect()
    }

    #[test]
    fn records_that_grow_do_so_by_the_first_one() {
        let ramp = Ramp::Growing { first: 1208, wire: 131_072 };
        let mut records = Records::new(small(ramp, None), 22);
        let grown: Vec<u64> = (1..=13).map(|nth| nth * 1186).chain([16_384; 3]).collect();
        assert_eq!(sizes(&mut records, NOW, 16), grown);
        // By TLS 1.2 the first holds less.
        assert_eq!(sizes(&mut Records::new(small(ramp, None), 29), NOW, 2), [1179, 2358]);
    }

    #[test]
    fn the_bytes_of_a_handshake_count_where_the_wire_does() {
        let mut records = Records::new(small(Ramp::Growing { first: 1208, wire: 3000 }, None), 22);
        records.push_flight(1791);
        assert_eq!(sizes(&mut records, NOW, 3), [1186, 2372, 16_384], "2,999 B were below 3,000");
    }

    #[test]
    fn steps_are_counted_in_records() {
        let ramp = Ramp::Steps { sizes: [1369, 4229], records: 2 };
        assert_eq!(sizes(&mut Records::new(small(ramp, None), 22), NOW, 5), [1369, 1369, 4229, 4229, 16_384]);
    }

    #[test]
    fn small_records_come_again_behind_a_longer_pause() {
        let at = |millis| Instant::ZERO + Duration::from_millis(millis);
        let ramp = Ramp::Until { size: 1000, bytes: 1500 };
        let mut records = Records::new(small(ramp, Some(Duration::from_millis(1000))), 22);
        assert_eq!(sizes(&mut records, at(0), 3), [1000, 1000, 16_384]);
        assert_eq!(sizes(&mut records, at(1000), 1), [16_384], "a pause as long as the limit");
        assert_eq!(sizes(&mut records, at(2001), 3), [1000, 1000, 16_384]);
    }

    #[test]
    fn no_small_record_is_larger_than_the_full_one() {
        let size = RecordSize {
            full: 2000,
            small: Some(Small { ramp: Ramp::Steps { sizes: [1369, 4229], records: 1 }, after_pause: None }),
        };
        assert_eq!(sizes(&mut Records::new(size, 22), NOW, 3), [1369, 2000, 2000]);
    }

    #[test]
    fn acknowledgements_count_in_bytes_of_messages() {
        let mut records = Records::new(fixed(1000), 22);
        records.push_flight(300);
        for _ in 0..3 {
            records.seal(NOW, 1000);
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
