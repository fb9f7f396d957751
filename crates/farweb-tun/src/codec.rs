//! Segments as bytes: IPv4 and TCP headers to [`Segment`] and back.
//!
//! The core numbers bytes by stream offsets of 64 bits: the SYN is 0, the first byte 1. On the wire numbers have 32 bits,
//! begin at a random number for each direction, and wrap. A number from the wire is taken as the offset nearest to the one
//! that is expected (RFC 9293, section 3.4: comparisons are modulo 2^32).
//!
//! Leaves out IPv6, fragments and urgent data. Options that the core does not know are skipped.
//!
//! Source: RFC 791; RFC 9293, section 3.1; RFC 7323, sections 2.2 and 3.2; RFC 2018.

use std::iter;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::num::NonZeroU16;

use etherparse::{
    IpEcn, IpHeaders, IpNumber, Ipv4Header, Ipv4Slice, PacketBuilder, TcpHeader, TcpOptionElement, TcpSlice,
};
use farweb::tcp::{Codepoint, Flags, Options, SackBlocks, Segment, Timestamps};

/// Time to live of packets, Linux's and BSD's default after RFC 1700.
const TIME_TO_LIVE: u8 = 64;

/// Checksums are sums modulo this (RFC 1071).
const CHECKSUM_MODULUS: u16 = 0xffff;

/// Sender and receiver of a packet.
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
    ecn: Codepoint,
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
    /// Addresses of the way back.
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
        // Both zeros of ones' complement stand for the same sum. Linux sends the one with all bits set.
        if computed % CHECKSUM_MODULUS != tcp.checksum() % CHECKSUM_MODULUS {
            return Err(Undecodable::Checksum { found: tcp.checksum(), computed });
        }
        let addresses = Addresses {
            from: SocketAddrV4::new(Ipv4Addr::from(header.source()), tcp.source_port()),
            to: SocketAddrV4::new(Ipv4Addr::from(header.destination()), tcp.destination_port()),
        };
        let ecn = Codepoint::ALL[usize::from(header.ecn().value())];
        Ok(Self { addresses, flags: flags_of(&tcp), ecn, tcp })
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
        let ack = if self.flags.contains(Flags::ACK) {
            unwrap(self.tcp.acknowledgment_number(), numbering.ours, snd_una)?
        } else {
            0
        };
        Some(Segment {
            seq: unwrap(self.tcp.sequence_number(), numbering.theirs, rcv_nxt)?,
            ack,
            len: self.tcp.payload().len() as u32,
            window: self.tcp.window_size(),
            flags: self.flags,
            ecn: self.ecn,
            options: self.options(numbering, ack),
        })
    }

    fn options(&self, numbering: Numbering, ack: u64) -> Options {
        let mut options = Options::NONE;
        for option in self.tcp.options_iterator().flatten() {
            match option {
                TcpOptionElement::MaximumSegmentSize(mss) => options.mss = NonZeroU16::new(mss),
                TcpOptionElement::WindowScale(shift) => options.window_scale = Some(shift),
                TcpOptionElement::Timestamp(value, echo) => {
                    options.timestamps = Some(Timestamps { value, echo });
                }
                TcpOptionElement::SelectiveAcknowledgementPermitted => options.sack_permitted = true,
                TcpOptionElement::SelectiveAcknowledgement(first, rest) => {
                    let blocks = iter::once(first).chain(rest.into_iter().flatten());
                    options.sack = SackBlocks::new(
                        ack,
                        blocks.filter_map(|(start, end)| {
                            Some(unwrap(start, numbering.ours, ack)?..unwrap(end, numbering.ours, ack)?)
                        }),
                    );
                }
                TcpOptionElement::Noop => {}
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
    tcp.ece = flags.contains(Flags::ECE);
    tcp.cwr = flags.contains(Flags::CWR);
    if tcp.ack {
        tcp.acknowledgment_number = numbering.theirs.wrapping_add(segment.ack as u32);
    }
    tcp.set_options(&elements(segment, numbering)).expect("options of at most 40 bytes");
    let (from, to) = (addresses.from.ip().octets(), addresses.to.ip().octets());
    // The builder sets the length.
    let mut ip = Ipv4Header::new(0, TIME_TO_LIVE, IpNumber::TCP, from, to).expect("an empty payload fits");
    ip.identification = identification;
    ip.ecn = IpEcn::try_new(segment.ecn as u8).expect("two bits");
    let builder =
        PacketBuilder::ip(IpHeaders::Ipv4(ip, etherparse::Ipv4Extensions::default())).tcp_header(tcp);
    let mut bytes = Vec::with_capacity(builder.size(payload.len()));
    builder.write(&mut bytes, payload).expect("a segment that fits into a packet");
    bytes
}

/// Marks a packet, congestion experienced, if its sender takes marks. True when it is.
pub(crate) fn set_ce(packet: &mut [u8]) -> bool {
    let Ok((mut header, _)) = Ipv4Header::from_slice(packet) else { return false };
    if header.ecn == IpEcn::ZERO {
        return false;
    }
    header.ecn = IpEcn::THREE;
    header.header_checksum = header.calc_header_checksum();
    packet[..header.header_len()].copy_from_slice(&header.to_bytes());
    true
}

/// Options in the order and with the padding that Linux uses, which [`Options::bytes`] counts.
fn elements(segment: &Segment, numbering: Numbering) -> Vec<TcpOptionElement> {
    use TcpOptionElement::{
        MaximumSegmentSize, Noop, SelectiveAcknowledgement, SelectiveAcknowledgementPermitted, Timestamp,
        WindowScale,
    };
    let Options { mss, window_scale, timestamps, sack_permitted, .. } = segment.options;
    let mut elements: Vec<_> = mss.map(|mss| MaximumSegmentSize(mss.get())).into_iter().collect();
    match (sack_permitted, timestamps) {
        (true, Some(_)) => elements.push(SelectiveAcknowledgementPermitted),
        (true, None) => elements.extend([Noop, Noop, SelectiveAcknowledgementPermitted]),
        (false, Some(_)) => elements.extend([Noop, Noop]),
        (false, None) => {}
    }
    elements.extend(timestamps.map(|Timestamps { value, echo }| Timestamp(value, echo)));
    elements.extend(window_scale.into_iter().flat_map(|shift| [Noop, WindowScale(shift)]));
    let wire = |number: u64| numbering.theirs.wrapping_add(number as u32);
    let mut blocks = segment.sack_blocks().map(|block| (wire(block.start), wire(block.end)));
    if let Some(first) = blocks.next() {
        let rest = [blocks.next(), blocks.next(), blocks.next()];
        elements.extend([Noop, Noop, SelectiveAcknowledgement(first, rest)]);
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
        (tcp.ece(), Flags::ECE),
        (tcp.cwr(), Flags::CWR),
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

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: Addresses = Addresses {
        from: SocketAddrV4::new(Ipv4Addr::new(10, 77, 0, 2), 40_000),
        to: SocketAddrV4::new(Ipv4Addr::new(10, 77, 0, 1), 80),
    };

    fn segment(seq: u64, ack: u64, len: u32, flags: Flags, options: Options) -> Segment {
        Segment { seq, ack, len, window: 4321, flags, ecn: Codepoint::NotEct, options }
    }

    /// A segment of ours as the peer reads it.
    fn there(segment: &Segment, payload: &[u8], ours: Numbering) -> Segment {
        let bytes = packet(OURS, 7, ours, segment, payload);
        assert_eq!(bytes.len() as u32, segment.packet_bytes(), "{segment:?}");
        let packet = WirePacket::parse(&bytes).unwrap();
        assert_eq!((packet.addresses, packet.payload()), (OURS, payload));
        let peer = Numbering { ours: ours.theirs, theirs: ours.ours };
        packet.segment(peer, segment.seq, segment.ack).unwrap()
    }

    #[test]
    fn every_combination_of_options_and_flags_is_read_back() {
        let stamps = Some(Timestamps { value: 0x0102_0304, echo: u32::MAX });
        let numbering = Numbering { ours: 0xffff_ff00, theirs: 17 };
        let is_urgent = |flags: Flags| flags.bits() & 0x20 != 0;
        for flags in Flags::all().filter(|flags| flags.contains(Flags::ACK) && !is_urgent(*flags)) {
            for bits in 0..32_u32 {
                let wants = |bit: u32| bits >> bit & 1 == 1;
                let blocks = [7000..8448, 9896..11344, 20_000..20_001, 500..600];
                let room = if wants(2) { 3 } else { 4 };
                let is_syn = flags.contains(Flags::SYN);
                let options = Options {
                    mss: NonZeroU16::new(1460).filter(|_| is_syn && wants(0)),
                    window_scale: Some(7).filter(|_| is_syn && wants(1)),
                    timestamps: stamps.filter(|_| wants(2)),
                    sack_permitted: is_syn && wants(3),
                    sack: SackBlocks::new(
                        5000,
                        blocks.into_iter().take(room).filter(|_| !is_syn && wants(4)),
                    ),
                };
                let ecn = Codepoint::ALL[bits as usize % 4];
                let sent = Segment { ecn, ..segment(1000, 5000, 3, flags, options) };
                assert_eq!(there(&sent, b"abc", numbering), sent);
            }
        }
    }

    #[test]
    fn a_packet_that_is_ect_is_marked_and_stays_whole() {
        let numbering = Numbering { ours: 1, theirs: 2 };
        let marked = |ecn| {
            let sent = Segment { ecn, ..segment(1, 1, 3, Flags::ACK, Options::NONE) };
            let mut bytes = packet(OURS, 7, numbering, &sent, b"abc");
            let is_marked = set_ce(&mut bytes);
            let (header, _) = Ipv4Header::from_slice(&bytes).unwrap();
            assert_eq!(header.header_checksum, header.calc_header_checksum());
            assert!(WirePacket::parse(&bytes).is_ok());
            (is_marked, header.ecn)
        };
        assert_eq!(marked(Codepoint::NotEct), (false, IpEcn::ZERO));
        assert_eq!(marked(Codepoint::Ect0), (true, IpEcn::THREE));
    }

    #[test]
    fn numbers_wrap_on_the_wire_and_nowhere_else() {
        let numbering = Numbering { ours: 0xffff_fff0, theirs: 0xffff_0000 };
        for far in [0, 1, 15, 16, 17, 1 << 20, (1 << 32) - 1, 1 << 32, (3 << 32) + 5] {
            let sent = segment(far, far + 3, 0, Flags::ACK, Options::NONE);
            assert_eq!(there(&sent, &[], numbering), sent);
        }
    }

    #[test]
    fn a_number_before_the_stream_is_no_segment() {
        let keepalive = segment(0, 1, 0, Flags::ACK, Options::NONE);
        let bytes = packet(OURS, 1, Numbering { ours: 99, theirs: 5 }, &keepalive, &[]);
        let packet = WirePacket::parse(&bytes).unwrap();
        assert_eq!(packet.segment(Numbering { ours: 5, theirs: 100 }, 1, 1), None);
        assert_eq!(packet.segment(Numbering { ours: 7, theirs: 99 }, 1, 1), None);
    }

    #[test]
    fn a_checksum_of_zero_may_be_written_in_both_ways() {
        let zero = (0..=u16::MAX).find_map(|window| {
            let sent = Segment { window, ..segment(1, 1, 0, Flags::ACK, Options::NONE) };
            let bytes = packet(OURS, 1, Numbering { ours: 1, theirs: 2 }, &sent, &[]);
            (bytes[36..38] == [0, 0]).then_some(bytes)
        });
        let mut bytes = zero.expect("one of all windows brings the sum to zero");
        assert!(WirePacket::parse(&bytes).is_ok());
        bytes[36..38].copy_from_slice(&[0xff, 0xff]);
        assert!(WirePacket::parse(&bytes).is_ok());
        bytes[37] = 0xfe;
        assert!(WirePacket::parse(&bytes).is_err());
    }

    #[test]
    fn damaged_and_foreign_packets_are_distinguished() {
        let sent = segment(1, 1, 3, Flags::ACK | Flags::PSH, Options::NONE);
        let bytes = packet(OURS, 1, Numbering { ours: 1, theirs: 2 }, &sent, b"abc");
        let mut damaged = bytes.clone();
        damaged[42] ^= 1;
        assert!(matches!(WirePacket::parse(&damaged), Err(Undecodable::Checksum { .. })));
        let mut datagram = bytes.clone();
        datagram[9] = 17;
        assert_eq!(WirePacket::parse(&datagram).err(), Some(Undecodable::Foreign));
        assert!(matches!(WirePacket::parse(&bytes[..30]), Err(Undecodable::Foreign)));
        assert_eq!(WirePacket::parse(&[0x60; 48]).err(), Some(Undecodable::Foreign));
    }
}
