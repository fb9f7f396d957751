//! Segments: the packets between two endpoints.
//!
//! Payload is counted, never stored. Sequence numbers are stream offsets that never wrap: the SYN is number 0, the first
//! byte of data number 1. 32-bit numbers appear only in captures.
//!
//! Models the fields and options of a TCP header that a stack here reads or writes, and the codepoint of ECN in the IP header.
//! Leaves out ports, checksums, the urgent pointer, and the order of options.
//!
//! Source: RFC 9293, section 3.1; RFC 7323 (scaling, timestamps); RFC 2018 (SACK); RFC 3168, section 5 (ECN).

use std::fmt;
use std::num::NonZeroU16;
use std::ops::{Range, RangeInclusive};

/// Number of a SYN.
pub(super) const ISS: u64 = 0;
/// Number of the first byte of a stream.
pub(crate) const FIRST_BYTE: u64 = ISS + 1;

/// A TCP segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// Number of the first byte (or of the SYN or FIN, when there is no data).
    pub seq: u64,
    /// Next number expected from the other side. Meaningful with [`Flags::ACK`].
    pub ack: u64,
    /// Payload, in bytes.
    pub len: u32,
    /// Window field as it stands in the header: not yet scaled, in units of 2^scale bytes.
    pub window: u16,
    /// Control bits.
    pub flags: Flags,
    /// ECN in the IP header.
    pub ecn: Codepoint,
    /// TCP options.
    pub options: Options,
}

/// A segment with no option but timestamps, as nearly all are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plain {
    /// As in [`Segment`].
    pub seq: u64,
    /// As in [`Segment`].
    pub ack: u64,
    timestamps: Timestamps,
    /// As in [`Segment`].
    pub len: u32,
    /// As in [`Segment`].
    pub window: u16,
    /// As in [`Segment`].
    pub flags: Flags,
    /// Bytes of the timestamps option, 0 or 12, and in the two bits below the codepoint of ECN.
    bits: u8,
}

/// Codepoint of ECN in an IP header (RFC 3168, section 5), by its bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Codepoint {
    /// The sender takes no marks.
    #[default]
    NotEct,
    /// ECT(1), which no stack here sends.
    Ect1,
    /// ECT(0): the sender takes a mark for a drop.
    Ect0,
    /// A router has marked it: congestion experienced.
    Ce,
}

impl Codepoint {
    /// All, by their bits.
    pub const ALL: [Self; 4] = [Self::NotEct, Self::Ect1, Self::Ect0, Self::Ce];

    /// Their names.
    pub const NAMES: [&str; 4] = ["Not-ECT", "ECT(1)", "ECT(0)", "CE"];
}

/// Control bits of a segment.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(u8);

/// Options of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// Maximum segment size that the sender of a SYN accepts, in bytes.
    pub mss: Option<NonZeroU16>,
    /// Shift of the window field, in a SYN (RFC 7323).
    pub window_scale: Option<u8>,
    /// Timestamps (RFC 7323): own clock, and the peer's clock as it is echoed.
    pub timestamps: Option<Timestamps>,
    /// True when the sender of a SYN understands selective acknowledgements (RFC 2018).
    pub sack_permitted: bool,
    /// Selective acknowledgements (RFC 2018).
    pub sack: SackBlocks,
}

/// Up to four blocks of a selective acknowledgement, each relative to the number that the segment acknowledges.
///
/// Relative numbers make a block 8 bytes instead of 16 in every packet of a simulation. A block must lie within 2^31 of the
/// acknowledgement, as it must on the wire. [`Segment::sack_blocks`] gives them as sequence numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SackBlocks {
    blocks: [(i32, i32); Self::MAX],
    len: u8,
}

/// The timestamps option of RFC 7323, in ticks of each side's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timestamps {
    /// The sender's clock.
    pub value: u32,
    /// The newest clock value received from the other side.
    pub echo: u32,
}

/// Bytes of an IPv4 header and a TCP header without options.
pub const HEADER_BYTES: u32 = 40;

/// Bytes of the timestamps option, with its padding.
pub(super) const TIMESTAMP_BYTES: u32 = 12;

/// Bits of the codepoint in [`Plain`].
const CODEPOINT_BITS: u8 = 3;

/// Smallest and largest MSS, in bytes: 4.4BSD-Lite works with no smaller one (`tcp_input.c`, `tcp_mss`: `max(mss, 32)`), and an
/// IPv4 packet has 65535 B at most, headers included (RFC 791; RFC 9293, section 3.7.1).
pub const MSS_BYTES: RangeInclusive<u16> = 32..=u16::MAX - HEADER_BYTES as u16;

/// Smallest buffer, in bytes: 4.4BSD-Lite lowers the MSS to a smaller send buffer, and an MSS has a least size.
pub const BUFFER_BYTES_MIN: u64 = *MSS_BYTES.start() as u64;

/// Largest window that the header's field can name without scaling (RFC 9293, section 3.1).
pub const WINDOW_FIELD_MAX: u64 = 65_535;

/// Largest shift of a window (RFC 7323, section 2.3).
pub const WINDOW_SCALE_MAX: u8 = 14;

/// Largest window that field and shift can express, in bytes.
pub const WINDOW_MAX: u64 = WINDOW_FIELD_MAX << WINDOW_SCALE_MAX;

impl Segment {
    /// The segment without the options that few have.
    #[inline]
    #[must_use]
    pub const fn plain(&self) -> Plain {
        let Self { seq, ack, len, window, flags, ecn, options } = *self;
        let mut plain = Plain::new(seq, ack, len, window, flags, options.timestamps);
        plain.set_ecn(ecn);
        plain
    }

    /// Sequence numbers that the segment takes: payload, and one each for SYN and FIN.
    #[must_use]
    pub const fn sequence_len(&self) -> u64 {
        self.plain().sequence_len()
    }

    /// The number after the last one that the segment takes.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.plain().end()
    }

    /// The blocks of its selective acknowledgement, in their order: sequence numbers from the first to the one after the last.
    pub fn sack_blocks(&self) -> impl Iterator<Item = Range<u64>> + use<> {
        let (ack, SackBlocks { blocks, len }) = (self.ack, self.options.sack);
        let number = move |relative: i32| ack.wrapping_add_signed(i64::from(relative));
        blocks.into_iter().take(usize::from(len)).map(move |(start, end)| number(start)..number(end))
    }

    /// Bytes of the IP packet that carries it: IPv4 and TCP headers, options, payload.
    #[must_use]
    pub const fn packet_bytes(&self) -> u32 {
        HEADER_BYTES + self.options.bytes() + self.len
    }
}

impl Plain {
    /// A segment with `len` bytes of payload, Not-ECT.
    #[inline]
    #[must_use]
    pub const fn new(
        seq: u64,
        ack: u64,
        len: u32,
        window: u16,
        flags: Flags,
        timestamps: Option<Timestamps>,
    ) -> Self {
        let (timestamps, bits) = match timestamps {
            Some(timestamps) => (timestamps, TIMESTAMP_BYTES as u8),
            None => (Timestamps { value: 0, echo: 0 }, 0),
        };
        Self { seq, ack, timestamps, len, window, flags, bits }
    }

    /// Gives it another codepoint of ECN.
    #[inline]
    pub const fn set_ecn(&mut self, ecn: Codepoint) {
        self.bits = self.bits & !CODEPOINT_BITS | ecn as u8;
    }

    /// ECN in its IP header.
    #[must_use]
    pub const fn ecn(&self) -> Codepoint {
        Codepoint::ALL[(self.bits & CODEPOINT_BITS) as usize]
    }

    /// Its timestamps, where it has them.
    #[inline]
    #[must_use]
    pub const fn timestamps(&self) -> Option<Timestamps> {
        if self.timestamp_bytes() > 0 { Some(self.timestamps) } else { None }
    }

    #[inline]
    const fn timestamp_bytes(&self) -> u32 {
        (self.bits & !CODEPOINT_BITS) as u32
    }

    /// Sequence numbers that it takes: payload, and one each for SYN and FIN.
    #[inline]
    #[must_use]
    pub const fn sequence_len(&self) -> u64 {
        self.len as u64 + self.flags.contains(Flags::SYN) as u64 + self.flags.contains(Flags::FIN) as u64
    }

    /// The number after the last one that it takes.
    #[inline]
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.seq + self.sequence_len()
    }

    /// Bytes of the IP packet that carries it: IPv4 and TCP headers, timestamps, payload.
    #[inline]
    #[must_use]
    pub const fn packet_bytes(&self) -> u32 {
        HEADER_BYTES + self.timestamp_bytes() + self.len
    }

    /// The same, as a segment that could have others.
    #[inline]
    #[must_use]
    pub const fn segment(&self) -> Segment {
        let Self { seq, ack, len, window, flags, .. } = *self;
        let options = Options { timestamps: self.timestamps(), ..Options::NONE };
        Segment { seq, ack, len, window, flags, ecn: self.ecn(), options }
    }
}

impl Options {
    /// True when there are none but timestamps, as on most segments.
    #[inline]
    pub(crate) const fn are_common(&self) -> bool {
        self.mss.is_none() && self.window_scale.is_none() && !self.sack_permitted && self.sack.is_empty()
    }

    /// No options.
    pub const NONE: Self = Self {
        mss: None,
        window_scale: None,
        timestamps: None,
        sack_permitted: false,
        sack: SackBlocks::NONE,
    };

    /// Bytes in the header, with the padding that BSD and Linux use: 4 for the MSS, 4 for the scale, 12 for
    /// timestamps (the permission of SACK takes the place of their padding, else it takes 4), and 4 with 8 a
    /// block for SACK.
    #[must_use]
    #[inline]
    pub const fn bytes(&self) -> u32 {
        if self.are_common() {
            return self.timestamps.is_some() as u32 * TIMESTAMP_BYTES;
        }
        let words = self.mss.is_some() as u32
            + self.window_scale.is_some() as u32
            + (self.sack_permitted && self.timestamps.is_none()) as u32
            + self.timestamps.is_some() as u32 * 3;
        let sack = if self.sack.len > 0 { 1 + 2 * self.sack.len as u32 } else { 0 };
        (words + sack) * 4
    }
}

impl SackBlocks {
    /// Most blocks that fit into a header without other options.
    pub const MAX: usize = 4;

    /// No blocks.
    pub const NONE: Self = Self { blocks: [(0, 0); Self::MAX], len: 0 };

    /// The first four of `blocks`, as sequence numbers from the first to the one after the last, for a segment that
    /// acknowledges `ack`.
    #[inline]
    #[must_use]
    pub fn new(ack: u64, blocks: impl IntoIterator<Item = Range<u64>>) -> Self {
        let mut sack = Self::NONE;
        let relative = |number: u64| number.wrapping_sub(ack) as i32;
        for (slot, block) in sack.blocks.iter_mut().zip(blocks) {
            *slot = (relative(block.start), relative(block.end));
            sack.len += 1;
        }
        sack
    }

    /// True when there is no block.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl Flags {
    /// No flag.
    pub const NONE: Self = Self(0);
    /// No more data from the sender.
    pub const FIN: Self = Self(0x01);
    /// Synchronise sequence numbers.
    pub const SYN: Self = Self(0x02);
    /// Reset the connection.
    pub const RST: Self = Self(0x04);
    /// Push: the segment empties the sender's buffer.
    pub const PSH: Self = Self(0x08);
    /// The acknowledgement field is valid.
    pub const ACK: Self = Self(0x10);
    /// The urgent pointer is valid. No stack here sets it.
    const URG: Self = Self(0x20);
    /// Echo of a mark (RFC 3168, section 6.1).
    pub const ECE: Self = Self(0x40);
    /// The sender has reduced its window for a mark or a loss (RFC 3168, section 6.1).
    pub const CWR: Self = Self(0x80);

    /// Every combination of flags, by their bits.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..=u8::MAX).map(Self)
    }

    /// The bits as in a TCP header.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// True when all bits of `other` are set.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// True when any bit of `other` is set.
    #[must_use]
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The bits of both.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The bits of `self` without the bits of `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl std::ops::BitOr for Flags {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        self.union(other)
    }
}

/// As tcpdump prints them: `S`, `F`, `R`, `P`, `.` for ACK, `U`, `E` for ECE, `W` for CWR.
impl fmt::Display for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letters = [
            (Self::SYN, "S"),
            (Self::FIN, "F"),
            (Self::RST, "R"),
            (Self::PSH, "P"),
            (Self::ACK, "."),
            (Self::URG, "U"),
            (Self::ECE, "E"),
            (Self::CWR, "W"),
        ];
        letters
            .iter()
            .filter(|(flag, _)| self.contains(*flag))
            .try_for_each(|(_, letter)| f.write_str(letter))
    }
}

impl fmt::Debug for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_take_the_bytes_that_real_stacks_give_them() {
        let stamps = Some(Timestamps { value: 1, echo: 2 });
        let blocks =
            |count: u64| SackBlocks::new(1, (0..count).map(|block| block * 20 + 11..block * 20 + 21));
        let mss = NonZeroU16::new(1460);
        let cases = [
            (Options { mss, ..Options::NONE }, 4),
            (Options { mss, window_scale: Some(7), ..Options::NONE }, 8),
            (Options { mss, sack_permitted: true, ..Options::NONE }, 8),
            // The SYN of Linux.
            (
                Options {
                    mss,
                    sack_permitted: true,
                    timestamps: stamps,
                    window_scale: Some(7),
                    ..Options::NONE
                },
                20,
            ),
            (Options { timestamps: stamps, ..Options::NONE }, 12),
            (Options { sack: blocks(1), ..Options::NONE }, 12),
            (Options { sack: blocks(4), ..Options::NONE }, 36),
            (Options { sack: blocks(3), timestamps: stamps, ..Options::NONE }, 40),
        ];
        for (options, bytes) in cases {
            assert_eq!(options.bytes(), bytes, "{options:?}");
        }
    }

    #[test]
    fn sack_blocks_are_numbers_around_the_acknowledgement() {
        let ack = 1 << 40;
        let blocks = [ack - 1460..ack, ack + 2920..ack + 4380, ack + (1 << 30)..ack + (1 << 30) + 1];
        let options = Options { sack: SackBlocks::new(ack, blocks.clone()), ..Options::NONE };
        let segment =
            Segment { seq: 1, ack, len: 0, window: 0, flags: Flags::ACK, ecn: Codepoint::NotEct, options };
        assert_eq!(segment.sack_blocks().collect::<Vec<_>>(), blocks);
    }

    #[test]
    fn a_fifth_block_has_no_room() {
        let sack = SackBlocks::new(0, (1..6).map(|block| block * 10..block * 10 + 5));
        let segment = Segment {
            seq: 1,
            ack: 0,
            len: 0,
            window: 0,
            flags: Flags::ACK,
            ecn: Codepoint::NotEct,
            options: Options { sack, ..Options::NONE },
        };
        assert_eq!(segment.sack_blocks().last(), Some(40..45));
    }
}
