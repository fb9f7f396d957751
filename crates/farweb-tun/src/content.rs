//! Content of a stream: the core counts payload, a kernel wants its bytes.
//!
//! Both directions are addressed by the offset in the stream: the first byte is number 0. Retransmissions ask for the same
//! bytes again, and data that arrives out of order or twice is put where it belongs. Content that the core has not accepted
//! cannot be read, so keeping it does no harm.

use std::collections::VecDeque;

/// Byte at `offset` of a stream, below 2^32: both ends of a talk know the pattern.
///
/// The top byte of the offset's hash: no stretch of the stream looks like another one.
///
/// Source: the 32-bit finaliser of MurmurHash3 (A. Appleby, in the public domain).
pub(crate) const fn pattern(offset: u64) -> u8 {
    let mut mixed = offset as u32;
    mixed = (mixed ^ mixed >> 16).wrapping_mul(0x85eb_ca6b);
    mixed = (mixed ^ mixed >> 13).wrapping_mul(0xc2b2_ae35);
    (mixed >> 24) as u8
}

/// Bytes written and not acknowledged.
#[derive(Debug, Default)]
pub(crate) struct Outgoing {
    /// Offset of the first byte that is kept.
    start: u64,
    bytes: VecDeque<u8>,
}

impl Outgoing {
    /// Appends bytes just written.
    pub(crate) fn append(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
    }

    /// The `len` bytes from `offset` on.
    ///
    /// # Panics
    /// When they were never written, or forgotten: the core sent bytes that it cannot have.
    pub(crate) fn slice(&self, offset: u64, len: usize) -> Vec<u8> {
        let first = offset.checked_sub(self.start).expect("bytes that are not acknowledged") as usize;
        self.bytes.range(first..first + len).copied().collect()
    }

    /// Forgets the bytes before `offset`: they were acknowledged.
    pub(crate) fn forget(&mut self, offset: u64) {
        let acknowledged = offset.saturating_sub(self.start) as usize;
        self.bytes.drain(..acknowledged);
        self.start += acknowledged as u64;
    }
}

/// Bytes that arrived and were not read.
#[derive(Debug, Default)]
pub(crate) struct Incoming {
    /// Offset of the first byte that was not read.
    start: u64,
    /// Bytes from there on. Those that have not arrived are zero.
    bytes: VecDeque<u8>,
}

impl Incoming {
    /// Keeps a payload that begins at `offset`, as far as it is before `limit`.
    pub(crate) fn keep(&mut self, offset: u64, payload: &[u8], limit: u64) {
        for (offset, byte) in (offset..limit).zip(payload) {
            let Some(place) = offset.checked_sub(self.start) else { continue };
            let place = place as usize;
            if place >= self.bytes.len() {
                self.bytes.resize(place + 1, 0);
            }
            self.bytes[place] = *byte;
        }
    }

    /// Reads the next `len` bytes.
    ///
    /// # Panics
    /// When less has arrived: the core says more is in order than there is.
    pub(crate) fn take(&mut self, len: usize) -> Vec<u8> {
        self.start += len as u64;
        self.bytes.drain(..len).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_acknowledged_can_be_sent_again() {
        let mut outgoing = Outgoing::default();
        outgoing.append(b"a request");
        assert_eq!(outgoing.slice(2, 7), b"request");
        outgoing.forget(2);
        outgoing.append(b" or two");
        assert_eq!(outgoing.slice(2, 14), b"request or two");
        outgoing.forget(1);
        assert_eq!(outgoing.slice(2, 1), b"r");
    }

    #[test]
    fn payload_is_put_where_it_belongs() {
        let mut incoming = Incoming::default();
        incoming.keep(4, b"efgh", 100);
        incoming.keep(0, b"abcd", 100);
        assert_eq!(incoming.take(2), b"ab");
        incoming.keep(0, b"abcdef", 100);
        incoming.keep(8, b"ijkl", 10);
        assert_eq!(incoming.take(8), b"cdefghij");
    }

    #[test]
    fn the_pattern_distinguishes_shifted_streams() {
        let first: Vec<u8> = (0..1000).map(pattern).collect();
        for shift in [1, 2, 255, 256, 512, 1448, 1460, 4096, 46368, 65536, 1 << 20] {
            let shifted: Vec<u8> = (shift..shift + 1000).map(pattern).collect();
            let same = first.iter().zip(&shifted).filter(|(left, right)| left == right).count();
            assert!(same < 20, "{same} of 1000 bytes are the same {shift} bytes on");
        }
    }
}
