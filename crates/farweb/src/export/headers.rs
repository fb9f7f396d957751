//! Packets as they would stand on the wire: IPv4 and TCP headers with valid checksums.
//!
//! The simulation counts bytes from 0 and names hosts. Here they get numbers, the same for a packet wherever it is seen:
//!
//! * Addresses: node n is 10.n.0.0/16, and its connections take an address and a port each from 32768 to 60999, the
//!   ports that Linux gives out (`ip_local_port_range`). No two connections of a run share both. An origin server has an
//!   address from 198.18.0.0/15, the network for benchmarks (RFC 2544, section 12), by a hash of its name, and port 80.
//! * Initial sequence numbers: random, by connection and end. Timestamps come from the simulation.
//! * IP identification: one more for each packet of a sender on a connection, from a random start, as Linux counts.
//! * Time to live: 64 at the sender (RFC 1700; 4.4BSD and Linux have it too), one less behind each node that forwards.
//!   A transfer that a node in the middle of a leg sends counts as one of the leg's end.
//! * Don't Fragment is set, as by hosts that discover the path MTU (RFC 1191).
//!
//! Options stand in Linux's order, MSS, timestamps, window scale, SACK, padded in front with NOP. The permission of
//! SACK takes the place of the padding of timestamps. 4.4BSD writes the window scale before the timestamps, with the
//! same length.
//!
//! The one-way agents of ns-2 know neither SYN nor windows, and their packets do not always count 40 bytes of headers. In a
//! capture they have the headers, with a closed window.
//!
//! Payload is the caller's. farweb counts bytes and has none of its own. Left out: fragments, IP options, urgent data.

use etherparse::{IpEcn, IpNumber, Ipv4Header, TcpHeader, TcpOptionElement};
use rand_core::Rng as _;

use crate::record::PacketEvent;
use crate::rng::RandomStreams;
use crate::tcp::{Flags, Options, Segment};

use super::rows::{ExportError, Point, Route, Sighting};

/// First port that clients take, and how many there are (Linux: `ip_local_port_range`, 32768 to 60999).
const PORTS: (u64, u64) = (32_768, 28_232);

/// Port of servers: HTTP (RFC 1945, section 3.2.2).
const SERVER_PORT: u16 = 80;

/// Time to live of a packet that leaves its sender (RFC 1700).
const TTL: usize = 64;

/// Writes the headers of packets. Keeps memory between them.
#[derive(Debug, Default)]
pub(super) struct Headers {
    options: Vec<TcpOptionElement>,
}

/// End of a connection as headers have it.
struct Host {
    address: [u8; 4],
    port: u16,
    /// Sequence number of its SYN.
    initial: u32,
    /// IP identification of its first packet.
    identification: u16,
}

impl Headers {
    /// Appends the headers of a packet with this payload to `out`. Its length on the wire.
    ///
    /// # Errors
    /// When no IPv4 packet has room for its payload and options.
    pub(super) fn write(
        &mut self,
        packet: &Sighting<'_>,
        route: &Route,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<u32, ExportError> {
        let [client, server] = [Host::of(packet, route, true), Host::of(packet, route, false)];
        let (from, to) = if packet.up { (client, server) } else { (server, client) };
        let length = packet.segment.len as usize;
        let too_long =
            || ExportError::new("payload_bytes", length.to_string(), "an IPv4 packet has at most 65535 B");
        let mut tcp = tcp_header(&packet.segment, &from, &to);
        options(&packet.segment, to.initial, &mut self.options);
        tcp.set_options(&self.options).map_err(|_| {
            ExportError::new("sack", "too many options".to_owned(), "a TCP header has at most 40 B of them")
        })?;
        let ip_payload = u16::try_from(tcp.header_len() + length).map_err(|_| too_long())?;
        let mut ip = Ipv4Header::new(ip_payload, ttl(packet), IpNumber::TCP, from.address, to.address)
            .map_err(|_| too_long())?;
        ip.dont_fragment = true;
        ip.ecn = IpEcn::try_new(packet.segment.ecn as u8).expect("two bits");
        ip.identification = from.identification.wrapping_add(packet.number as u16);
        ip.header_checksum = ip.calc_header_checksum();
        tcp.checksum = tcp.calc_checksum_ipv4(&ip, payload).map_err(|_| too_long())?;
        out.extend_from_slice(&ip.to_bytes());
        out.extend_from_slice(&tcp.to_bytes());
        Ok(u32::from(ip.total_len))
    }
}

impl Host {
    fn of(packet: &Sighting<'_>, route: &Route, is_client: bool) -> Self {
        let streams = RandomStreams::new(0);
        let mut random = streams.stream("capture", 2 * packet.connection + u64::from(is_client));
        let (initial, identification) = (random.next_u32(), random.next_u32() as u16);
        let (client_node, server_node) = packet.leg;
        let (address, port) = if is_client {
            let [.., high, low] = (packet.connection / PORTS.1 + 1).to_be_bytes();
            let port = PORTS.0 + packet.connection % PORTS.1;
            ([10, client_node as u8, high, low], port as u16)
        } else if server_node == route.last() {
            let hash = streams.stream(packet.host, 0).next_u32().to_be_bytes();
            ([198, 18 + hash[0] % 2, hash[1], hash[2]], SERVER_PORT)
        } else {
            ([10, server_node as u8, 0, 1], SERVER_PORT)
        };
        Self { address, port, initial, identification }
    }
}

fn tcp_header(segment: &Segment, from: &Host, to: &Host) -> TcpHeader {
    let has = |flag| segment.flags.contains(flag);
    let mut header =
        TcpHeader::new(from.port, to.port, from.initial.wrapping_add(segment.seq as u32), segment.window);
    header.syn = has(Flags::SYN);
    header.fin = has(Flags::FIN);
    header.rst = has(Flags::RST);
    header.psh = has(Flags::PSH);
    header.ack = has(Flags::ACK);
    header.ece = has(Flags::ECE);
    header.cwr = has(Flags::CWR);
    if header.ack {
        header.acknowledgment_number = to.initial.wrapping_add(segment.ack as u32);
    }
    header
}

/// The options of a segment, with their padding. SACK blocks are numbers of the receiver from `initial` on.
fn options(segment: &Segment, initial: u32, elements: &mut Vec<TcpOptionElement>) {
    use TcpOptionElement as Element;
    let Options { mss, window_scale, timestamps, sack_permitted, .. } = segment.options;
    elements.clear();
    elements.extend(mss.map(|mss| Element::MaximumSegmentSize(mss.get())));
    match (sack_permitted, timestamps.is_some()) {
        (true, true) => elements.push(Element::SelectiveAcknowledgementPermitted),
        (true, false) => {
            elements.extend([Element::Noop, Element::Noop, Element::SelectiveAcknowledgementPermitted]);
        }
        (false, true) => elements.extend([Element::Noop, Element::Noop]),
        (false, false) => {}
    }
    elements.extend(timestamps.map(|timestamps| Element::Timestamp(timestamps.value, timestamps.echo)));
    if let Some(shift) = window_scale {
        elements.extend([Element::Noop, Element::WindowScale(shift)]);
    }
    let number = |number: u64| initial.wrapping_add(number as u32);
    let mut blocks = segment.sack_blocks().map(|block| (number(block.start), number(block.end)));
    if let Some(first) = blocks.next() {
        let rest = [blocks.next(), blocks.next(), blocks.next()];
        elements.extend([Element::Noop, Element::Noop, Element::SelectiveAcknowledgement(first, rest)]);
    }
}

/// The time to live where the packet was seen: one less for each node that has forwarded it.
fn ttl(packet: &Sighting<'_>) -> u8 {
    let (client, server) = packet.leg;
    let forwarded = match (packet.point, packet.up) {
        (Point::End(_), _) if packet.event == PacketEvent::Send => 0,
        (Point::End(_), _) => server - client - 1,
        (Point::Link(link), true) => link.saturating_sub(client),
        (Point::Link(link), false) => server.saturating_sub(link + 1),
    };
    TTL.saturating_sub(forwarded).max(1) as u8
}
