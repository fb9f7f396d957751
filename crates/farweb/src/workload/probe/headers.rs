//! Decodes the TCP header of a captured packet, behind the headers before it.
//!
//! Known are Ethernet, with VLAN tags, Cisco HDLC, PPP, the two cooked formats of Linux, the family numbers of BSD's
//! loopback, and packets that begin with their IP header. IPv4 and IPv6 with extension headers. Options of TCP are read
//! as far as they were captured: the MSS stands first in practice.
//!
//! Left out: tunnels, PPPoE, MPLS, fragments, checksums (a sender that leaves them to its adapter is captured without).
//!
//! Source: tcpdump.org, list of link-layer header types; RFC 9293, section 3.1; RFC 7323, section 2.2.

use std::net::SocketAddr;

use etherparse::{IpNumber, LaxIpSlice, err::ip::LaxHeaderSliceError};

use super::capture::Packet;
use super::report::Skipped;

/// EtherTypes (IEEE registry): IPv4, IPv6, and the tags of VLANs, customers' and providers' (802.1Q, 802.1ad, QinQ).
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86DD;
const TAGS: [u16; 3] = [0x8100, 0x88A8, 0x9100];

/// Protocols of PPP (RFC 1332, section 3; RFC 5072, section 3), and address and control that may stand before them
/// (RFC 1662, section 3.1).
const PPP_IPV4: u16 = 0x0021;
const PPP_IPV6: u16 = 0x0057;
const PPP_FRAMING: [u8; 2] = [0xFF, 0x03];

/// Bytes of a TCP header without options.
const TCP_BYTES: usize = 20;

/// Option kinds of TCP.
const END: u8 = 0;
const NO_OPERATION: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;

/// Values of a TCP header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) from: SocketAddr,
    pub(super) to: SocketAddr,
    pub(super) seq: u32,
    pub(super) ack: u32,
    pub(super) flags: Flags,
    /// Window field, not scaled.
    pub(super) window: u16,
    pub(super) mss: Option<u16>,
    pub(super) scale: Option<u8>,
    /// True when all options were captured. An option that is missing was then not sent.
    pub(super) options_whole: bool,
}

/// Control bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Flags {
    pub(super) syn: bool,
    pub(super) ack: bool,
    pub(super) fin: bool,
    pub(super) rst: bool,
}

/// Why a packet has no TCP header to look at.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Without {
    /// A packet of another kind.
    Skipped(Skipped),
    /// Its headers contradict themselves.
    Malformed(String),
}

/// The TCP header of a packet.
pub(super) fn read(packet: &Packet<'_>) -> Result<Header, Without> {
    let too_short = |what: &str| {
        if packet.cut {
            Without::Skipped(Skipped::CutShort)
        } else {
            Without::Malformed(format!("its {what} is not whole"))
        }
    };
    let skipped = Err(Without::Skipped(Skipped::NotIp));
    let from_link = match behind_link(packet.link_type, packet.data) {
        Link::Ip(bytes) => bytes,
        Link::Other => return skipped,
        Link::Unknown => return Err(Without::Skipped(Skipped::LinkType)),
        Link::Short => return Err(too_short("link-layer header")),
    };
    let ip = match LaxIpSlice::from_slice(from_link) {
        Ok((ip, _)) => ip,
        Err(LaxHeaderSliceError::Len(_)) => return Err(too_short("IP header")),
        Err(LaxHeaderSliceError::Content(error)) => return Err(Without::Malformed(error.to_string())),
    };
    let payload = ip.payload();
    if payload.ip_number != IpNumber::TCP {
        return Err(Without::Skipped(Skipped::NotTcp));
    }
    if payload.fragmented {
        return Err(Without::Skipped(Skipped::Fragment));
    }
    let tcp = payload.payload;
    if tcp.len() < TCP_BYTES {
        return Err(too_short("TCP header"));
    }
    let length = usize::from(tcp[12] >> 4) * 4;
    if length < TCP_BYTES {
        return Err(Without::Malformed(format!("its TCP header has {length} B")));
    }
    if tcp.len() < length && !packet.cut {
        return Err(too_short("TCP header"));
    }
    let number = |at: usize| u16::from_be_bytes([tcp[at], tcp[at + 1]]);
    let long = |at: usize| u32::from_be_bytes([tcp[at], tcp[at + 1], tcp[at + 2], tcp[at + 3]]);
    let has = |bit: u8| tcp[13] & bit != 0;
    let (mss, scale) = options(&tcp[TCP_BYTES..length.min(tcp.len())]);
    Ok(Header {
        from: SocketAddr::new(ip.source_addr(), number(0)),
        to: SocketAddr::new(ip.destination_addr(), number(2)),
        seq: long(4),
        ack: long(8),
        flags: Flags { fin: has(0x01), syn: has(0x02), rst: has(0x04), ack: has(0x10) },
        window: number(14),
        mss,
        scale,
        options_whole: length <= tcp.len(),
    })
}

/// Packet behind a link-layer header.
enum Link<'a> {
    Ip(&'a [u8]),
    Other,
    Unknown,
    Short,
}

fn behind_link(link_type: u16, data: &[u8]) -> Link<'_> {
    let number = |at: usize| data.get(at..at + 2).map(|bytes| u16::from_be_bytes([bytes[0], bytes[1]]));
    let rest = |at: usize| data.get(at..).unwrap_or_default();
    let by_ether_type = |at: usize, behind: usize| number(at).map(|kind| ether(kind, rest(behind)));
    let link = match link_type {
        // BSD's loopback: a family number in the byte order of the host, or (OpenBSD) of the network.
        0 | 108 => {
            data.get(..4).map(|bytes| match u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) {
                family if is_ip_family(family) || is_ip_family(family.swap_bytes()) => Link::Ip(rest(4)),
                _ => Link::Other,
            })
        }
        1 => by_ether_type(12, 14),
        9 => {
            let at = if data.starts_with(&PPP_FRAMING) { 2 } else { 0 };
            number(at).map(|protocol| match protocol {
                PPP_IPV4 | PPP_IPV6 => Link::Ip(rest(at + 2)),
                _ => Link::Other,
            })
        }
        // Raw IP. 12 and 14 are BSD's own numbers, 228 and 229 promise a version.
        12 | 14 | 101 | 228 | 229 => Some(Link::Ip(data)),
        104 => by_ether_type(2, 4),
        113 => by_ether_type(14, 16),
        276 => by_ether_type(0, 20),
        _ => Some(Link::Unknown),
    };
    link.unwrap_or(Link::Short)
}

/// True when a family is AF_INET, or AF_INET6 of NetBSD and OpenBSD, FreeBSD, or Darwin.
const fn is_ip_family(family: u32) -> bool {
    matches!(family, 2 | 24 | 28 | 30)
}

/// Packet behind an EtherType and any tags.
fn ether(mut kind: u16, mut data: &[u8]) -> Link<'_> {
    while TAGS.contains(&kind) {
        let Some((tag, behind)) = data.split_first_chunk::<4>() else { return Link::Short };
        (kind, data) = (u16::from_be_bytes([tag[2], tag[3]]), behind);
    }
    if matches!(kind, IPV4 | IPV6) { Link::Ip(data) } else { Link::Other }
}

/// MSS and window scale among the options of a TCP header, without unknown ones and wrong lengths.
fn options(mut bytes: &[u8]) -> (Option<u16>, Option<u8>) {
    let (mut mss, mut scale) = (None, None);
    loop {
        match *bytes {
            [NO_OPERATION, ref rest @ ..] => bytes = rest,
            [] | [END, ..] => break,
            [kind, length, ..] if length >= 2 && usize::from(length) <= bytes.len() => {
                match (kind, &bytes[2..usize::from(length)]) {
                    (MSS, [high, low]) => mss = Some(u16::from_be_bytes([*high, *low])),
                    (WINDOW_SCALE, [shift]) => scale = Some(*shift),
                    _ => {}
                }
                bytes = &bytes[usize::from(length)..];
            }
            // Cut off, or nonsense: the beginning of the next one is unknown.
            _ => break,
        }
    }
    (mss, scale)
}
