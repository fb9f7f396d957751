//! Segments as bytes: IPv4 and TCP headers to [`Segment`] and back.
//!
//! The core numbers bytes by stream offsets of 64 bits: the SYN is 0, the first byte 1. On the wire numbers have 32 bits,
//! begin at a random number for each direction, and wrap. A number from the wire is taken as the offset nearest to the one
//! that is expected (RFC 9293, section 3.4: comparisons are modulo 2^32).
//!
//! Leaves out IPv6, fragments and urgent data. Options that the core does not know are skipped.
//!
//! Source: RFC 791; RFC 9293, section 3.1; RFC 7323, sections 2.2 and 3.2; RFC 2018.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::num::NonZeroU16;

use etherparse::{
    IpHeaders, IpNumber, Ipv4Header, Ipv4Slice, PacketBuilder, TcpHeader, TcpOptionElement, TcpSlice,
};
use farweb::tcp::{Flags, Options, Segment, Timestamps};

/// Time to live of packets, Linux's and BSD's default after RFC 1700.
const TIME_TO_LIVE: u8 = 64;

/// Who sends a packet and to whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Addresses {
    pub(crate) from: SocketAddrV4,
    pub(crate) to: SocketAddrV4,
}

/// Why bytes are not a segment for us.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Undecodable {
    #[error("not TCP over IPv4")]
    Foreign,
    #[error("not a whole TCP segment: {0}")]
    Malformed(String),
    #[error("the TCP checksum is {found:#06x} where {computed:#06x} is right")]
    Checksum { found: u16, computed: u16 },
}

/// A packet from the wire, its numbers as they stand there.
#[derive(Debug)]
pub(crate) struct WirePacket<'a> {
    pub(crate) addresses: Addresses,
    pub(crate) flags: Flags,
    tcp: TcpSlice<'a>,
}

/// Where the two directions of a connection begin on the wire, seen from the end that is ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Numbering {
    /// Number of our SYN.
    pub(crate) ours: u32,
    /// Number of the peer's SYN.
    pub(crate) theirs: u32,
}

impl Addresses {
    /// Those of the way back.
    pub(crate) const fn reversed(self) -> Self {
        Self { from: self.to, to: self.from }
    }

    /// A number that no other connection of the sender with this host has.
    pub(crate) const fn flow(&self) -> u64 {
        (self.from.port() as u64) << 16 | self.to.port() as u64
    }
}

impl<'a> WirePacket<'a> {
    /// Reads a packet and checks its checksum.
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Self, Undecodable> {
        let ip = Ipv4Slice::from_slice(bytes).map_err(|_| Undecodable::Foreign)?;
        if ip.payload_ip_number() != IpNumber::TCP {
            return Err(Undecodable::Foreign);
        }
        let tcp = TcpSlice::from_slice(ip.payload().payload)
            .map_err(|problem| Undecodable::Malformed(problem.to_string()))?;
        let header = ip.header();
        let computed = tcp
            .calc_checksum_ipv4(header.source(), header.destination())
            .map_err(|problem| Undecodable::Malformed(problem.to_string()))?;
        if computed != tcp.checksum() {
            return Err(Undecodable::Checksum { found: tcp.checksum(), computed });
        }
        let addresses = Addresses {
            from: SocketAddrV4::new(Ipv4Addr::from(header.source()), tcp.source_port()),
            to: SocketAddrV4::new(Ipv4Addr::from(header.destination()), tcp.destination_port()),
        };
        Ok(Self { addresses, flags: flags_of(&tcp), tcp })
    }

    /// Number of the segment, as it stands in the header.
    pub(crate) fn sequence_number(&self) -> u32 {
        self.tcp.sequence_number()
    }

    pub(crate) fn payload(&self) -> &'a [u8] {
        self.tcp.payload()
    }

    /// The segment, when `rcv_nxt` is expected next and `snd_una` is not acknowledged yet.
    ///
    /// `None` when a number lies before the beginning of its stream.
    pub(crate) fn segment(&self, numbering: Numbering, rcv_nxt: u64, snd_una: u64) -> Option<Segment> {
        let acknowledges = self.flags.contains(Flags::ACK);
        Some(Segment {
            seq: unwrap(self.tcp.sequence_number(), numbering.theirs, rcv_nxt)?,
            ack: if acknowledges {
                unwrap(self.tcp.acknowledgment_number(), numbering.ours, snd_una)?
            } else {
                0
            },
            len: self.tcp.payload().len() as u32,
            window: self.tcp.window_size(),
            flags: self.flags,
            options: self.options(),
        })
    }

    fn options(&self) -> Options {
        let mut options = Options::NONE;
        for option in self.tcp.options_iterator().flatten() {
            match option {
                TcpOptionElement::MaximumSegmentSize(mss) => options.mss = NonZeroU16::new(mss),
                TcpOptionElement::WindowScale(shift) => options.window_scale = Some(shift),
                TcpOptionElement::Timestamp(value, echo) => {
                    options.timestamps = Some(Timestamps { value, echo });
                }
                _ => {}
            }
        }
        options
    }
}

/// The packet that carries `segment` with `payload`.
///
/// # Panics
/// When the payload is not as long as the segment says, or does not fit into a packet.
pub(crate) fn packet(
    addresses: Addresses,
    identification: u16,
    numbering: Numbering,
    segment: &Segment,
    payload: &[u8],
) -> Vec<u8> {
    assert_eq!(payload.len(), segment.len as usize, "the payload of {segment:?}");
    let mut tcp = TcpHeader::new(
        addresses.from.port(),
        addresses.to.port(),
        numbering.ours.wrapping_add(segment.seq as u32),
        segment.window,
    );
    let flags = segment.flags;
    tcp.syn = flags.contains(Flags::SYN);
    tcp.fin = flags.contains(Flags::FIN);
    tcp.rst = flags.contains(Flags::RST);
    tcp.psh = flags.contains(Flags::PSH);
    tcp.ack = flags.contains(Flags::ACK);
    if tcp.ack {
        tcp.acknowledgment_number = numbering.theirs.wrapping_add(segment.ack as u32);
    }
    tcp.set_options(&elements(&segment.options)).expect("options of at most 40 bytes");
    let (from, to) = (addresses.from.ip().octets(), addresses.to.ip().octets());
    // The builder sets the length.
    let mut ip = Ipv4Header::new(0, TIME_TO_LIVE, IpNumber::TCP, from, to).expect("an empty payload fits");
    ip.identification = identification;
    let builder =
        PacketBuilder::ip(IpHeaders::Ipv4(ip, etherparse::Ipv4Extensions::default())).tcp_header(tcp);
    let mut bytes = Vec::with_capacity(builder.size(payload.len()));
    builder.write(&mut bytes, payload).expect("a segment that fits into a packet");
    bytes
}

/// Options with the padding that [`Options::bytes`] counts.
fn elements(options: &Options) -> Vec<TcpOptionElement> {
    let mut elements = Vec::with_capacity(8);
    if let Some(mss) = options.mss {
        elements.push(TcpOptionElement::MaximumSegmentSize(mss.get()));
    }
    if let Some(shift) = options.window_scale {
        elements.extend([TcpOptionElement::Noop, TcpOptionElement::WindowScale(shift)]);
    }
    if let Some(Timestamps { value, echo }) = options.timestamps {
        elements.extend([
            TcpOptionElement::Noop,
            TcpOptionElement::Noop,
            TcpOptionElement::Timestamp(value, echo),
        ]);
    }
    elements
}

fn flags_of(tcp: &TcpSlice<'_>) -> Flags {
    [
        (tcp.fin(), Flags::FIN),
        (tcp.syn(), Flags::SYN),
        (tcp.rst(), Flags::RST),
        (tcp.psh(), Flags::PSH),
        (tcp.ack(), Flags::ACK),
    ]
    .into_iter()
    .filter(|(set, _)| *set)
    .fold(Flags::NONE, |flags, (_, flag)| flags | flag)
}

/// The stream offset of the wire's `number`, where the SYN has the number `first`: the one nearest to `near`.
fn unwrap(number: u32, first: u32, near: u64) -> Option<u64> {
    let distance = number.wrapping_sub(first).wrapping_sub(near as u32).cast_signed();
    near.checked_add_signed(i64::from(distance))
}
