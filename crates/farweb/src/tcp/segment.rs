//! Segments: what one endpoint tells the other.
//!
//! Payload is counted, never stored. Sequence numbers are stream offsets that never wrap: the SYN is number 0, the first
//! byte of data number 1. 32-bit numbers appear only in captures.

use std::fmt;

/// A TCP segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// Number of the first byte (or of the SYN or FIN, when there is no data).
    pub seq: u64,
    /// Next number expected from the other side; meaningful with [`Flags::ACK`].
    pub ack: u64,
    /// Payload, in bytes.
    pub len: u32,
    /// Window field as it stands in the header: not yet scaled, in units of 2^scale bytes.
    pub window: u16,
    /// Control bits.
    pub flags: Flags,
    /// TCP options.
    pub options: Options,
}

/// Control bits of a segment.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(u8);

/// Options of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// Maximum segment size that the sender of a SYN accepts, in bytes.
    pub mss: Option<u16>,
    /// Shift of the window field, in a SYN (RFC 1323).
    pub window_scale: Option<u8>,
    /// Timestamps (RFC 1323): own clock, and the peer's clock as it is echoed.
    pub timestamps: Option<Timestamps>,
}

/// The timestamps option of RFC 1323, in ticks of each side's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timestamps {
    /// The sender's clock.
    pub value: u32,
    /// The newest clock value received from the other side.
    pub echo: u32,
}

/// Bytes of an IPv4 header and a TCP header without options.
pub const HEADER_BYTES: u32 = 40;

impl Segment {
    /// Sequence numbers that the segment takes: payload, and one each for SYN and FIN.
    #[must_use]
    pub const fn sequence_len(&self) -> u64 {
        self.len as u64 + self.flags.contains(Flags::SYN) as u64 + self.flags.contains(Flags::FIN) as u64
    }

    /// The number after the last one that the segment takes.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.seq + self.sequence_len()
    }

    /// Bytes of the IP packet that carries it: IPv4 and TCP headers, options, payload.
    #[must_use]
    pub const fn packet_bytes(&self) -> u32 {
        HEADER_BYTES + self.options.bytes() + self.len
    }
}

impl Options {
    /// No options.
    pub const NONE: Self = Self { mss: None, window_scale: None, timestamps: None };

    /// Bytes in the header, with the padding that BSD uses: 4 for the MSS, 4 for the scale, 12 for timestamps.
    #[must_use]
    pub const fn bytes(&self) -> u32 {
        (self.mss.is_some() as u32 + self.window_scale.is_some() as u32) * 4
            + self.timestamps.is_some() as u32 * 12
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

    /// Every combination of flags, by their bits.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..0x20).map(Self)
    }

    /// The bits as in a TCP header.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Whether all bits of `other` are set.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether any bit of `other` is set.
    #[must_use]
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The bits of both.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The bits without those of `other`.
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

/// As tcpdump prints them: `S`, `F`, `R`, `P`, and `.` for ACK.
impl fmt::Display for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letters =
            [(Self::SYN, "S"), (Self::FIN, "F"), (Self::RST, "R"), (Self::PSH, "P"), (Self::ACK, ".")];
        letters.iter().filter(|(flag, _)| self.contains(*flag)).try_for_each(|(_, letter)| f.write_str(letter))
    }
}

impl fmt::Debug for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
