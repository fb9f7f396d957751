//! Captures, read back by a reader of a few lines.

use std::collections::BTreeSet;
use std::num::NonZeroU16;

use proptest::prelude::*;

use super::*;

/// A packet of a capture.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Captured {
    interface: u32,
    time_ns: u64,
    /// Length on the wire.
    length: usize,
    bytes: Vec<u8>,
    options: Vec<u8>,
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn u16_be(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes(bytes[at..at + 2].try_into().unwrap())
}

fn u32_be(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap())
}

/// The blocks of a file: type and body.
fn blocks(mut file: &[u8]) -> Vec<(u32, &[u8])> {
    let mut blocks = Vec::new();
    while !file.is_empty() {
        let (kind, length) = (u32_at(file, 0), u32_at(file, 4) as usize);
        assert_eq!((length % 4, u32_at(file, length - 4) as usize), (0, length));
        blocks.push((kind, &file[8..length - 4]));
        file = &file[length..];
    }
    blocks
}

fn captured(points: &[Point], payload: Payload, rows: &[Seen]) -> Vec<Captured> {
    let mut encoder = Pcapng::new(route(), points.to_vec(), payload);
    let mut file = Vec::new();
    encoder.add(&packets(rows), &mut file).unwrap();
    let read = |(kind, body): (u32, &[u8])| {
        assert_eq!(kind, 6);
        let length = u32_at(body, 12) as usize;
        Captured {
            interface: u32_at(body, 0),
            time_ns: u64::from(u32_at(body, 4)) << 32 | u64::from(u32_at(body, 8)),
            length: u32_at(body, 16) as usize,
            bytes: body[20..20 + length].to_vec(),
            options: body[20 + length.next_multiple_of(4)..].to_vec(),
        }
    };
    let packets: Vec<_> = blocks(&file).into_iter().map(read).collect();
    assert_eq!(packets.len() as u64, encoder.packets());
    packets
}

fn one(payload: Payload, row: Seen) -> Captured {
    let mut packets = captured(&[row.point], payload, &[row]);
    assert_eq!(packets.len(), 1);
    packets.remove(0)
}

/// The sum of RFC 1071 over 16-bit words. All ones over data with a valid checksum.
fn sum(parts: &[&[u8]]) -> u16 {
    let bytes: Vec<u8> = parts.concat();
    let mut sum: u32 =
        bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0))).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

#[test]
fn a_capture_begins_with_a_section_and_an_interface_for_each_point() {
    let mut file = Vec::new();
    Pcapng::new(route(), vec![Point::End(2), Point::Link(1)], Payload::None).start("a test", &mut file);
    let blocks = blocks(&file);
    let kinds: Vec<u32> = blocks.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(kinds, [0x0a0d_0d0a, 1, 1]);
    assert_eq!(blocks[0].1[..8], [0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0]);
    let comment = b"\x01\0\x06\0a test\0\0";
    assert_eq!(blocks[0].1[16..28], comment[..]);
    for (block, name) in blocks[1..].iter().zip(["proxy", "link 1"]) {
        let body = block.1;
        assert_eq!(body[..8], [101, 0, 0, 0, 0, 0, 0, 0], "raw IP, no snap length");
        assert_eq!(body[8..12], [2, 0, name.len() as u8, 0]);
        assert_eq!(&body[12..12 + name.len()], name.as_bytes());
        assert!(body.ends_with(&[9, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0]), "nanoseconds, end of options");
    }
    assert!(String::from_utf8_lossy(blocks[2].1).contains("the link router – proxy, at router"));
}

#[test]
fn a_syn_stands_on_the_wire_as_a_syn() {
    let mut syn = segment(SYN, 0, 0, 0);
    syn.options.mss = NonZeroU16::new(1460);
    let Captured { interface, time_ns, length, bytes, options } =
        one(Payload::None, sent(syn).at(7_000_000_123));
    assert_eq!((interface, time_ns, length, bytes.len()), (0, 7_000_000_123, 44, 44));
    assert_eq!(options, [2, 0, 4, 0, 2, 0, 0, 0, 0, 0, 0, 0], "it went out");
    assert_eq!(bytes[..4], [0x45, 0, 0, 44]);
    assert_eq!(bytes[6..10], [0x40, 0, 64, 6], "do not fragment, time to live, TCP");
    assert_eq!(bytes[12..20], [10, 0, 0, 1, 10, 2, 0, 1], "the node of the client, the node of the proxy");
    assert_eq!((u16_be(&bytes, 20), u16_be(&bytes, 22)), (32_768, 80));
    assert_eq!(u32_be(&bytes, 28), 0, "nothing is acknowledged");
    assert_eq!(bytes[32..36], [0x60, 0x02, 0x1f, 0x40], "24 bytes of header, SYN, a window of 8000");
    assert_eq!(bytes[40..44], [2, 4, 0x05, 0xb4]);
}

/// The lengths are as simulated: `Options::bytes`.
#[test]
fn options_are_padded_as_linux_pads_them() {
    let stamps = Some(Timestamps { value: 0x0102_0304, echo: 0x0506_0708 });
    let mss = NonZeroU16::new(536);
    let syn = |mss, sack_permitted, timestamps, window_scale| Options {
        mss,
        window_scale,
        timestamps,
        sack_permitted,
        sack: SackBlocks::NONE,
    };
    let stamp = [8, 10, 1, 2, 3, 4, 5, 6, 7, 8];
    let cases = [
        (syn(mss, false, None, None), vec![2, 4, 2, 24]),
        (syn(mss, true, None, None), vec![2, 4, 2, 24, 1, 1, 4, 2]),
        (syn(mss, true, stamps, Some(7)), [&[2, 4, 2, 24, 4, 2], &stamp[..], &[1, 3, 3, 7]].concat()),
        (syn(mss, false, stamps, Some(0)), [&[2, 4, 2, 24, 1, 1], &stamp[..], &[1, 3, 3, 0]].concat()),
        (syn(None, false, stamps, None), [&[1, 1], &stamp[..]].concat()),
    ];
    for (options, expected) in cases {
        let segment = Segment { options, ..segment(SYN, 0, 0, 0) };
        assert_eq!(one(Payload::None, sent(segment)).bytes[40..], expected);
        assert_eq!(expected.len(), options.bytes() as usize);
    }
}

#[test]
fn sack_blocks_count_from_the_start_of_the_other_side() {
    let stamps = Some(Timestamps { value: 1, echo: 2 });
    let mut segment = with_sack(segment(ACK, 1, 1001, 0), &[(4001, 5001), (2001, 3001), (6001, 7001)]);
    segment.options.timestamps = stamps;
    let bytes = one(Payload::None, sent(segment)).bytes;
    let options = &bytes[40..];
    assert_eq!((options.len(), segment.options.bytes()), (40, 40));
    assert_eq!(options[12..16], [1, 1, 5, 26]);
    let first = u32_be(&bytes, 28).wrapping_sub(1001);
    let bounds: Vec<u32> = (16..40).step_by(4).map(|at| u32_be(options, at).wrapping_sub(first)).collect();
    assert_eq!(bounds, [4001, 5001, 2001, 3001, 6001, 7001]);
}

#[test]
fn numbers_go_round_after_32_bits() {
    let at = |seq| u32_be(&one(Payload::None, sent(segment(ACK, seq, 1, 1))).bytes, 24);
    assert_eq!(at(1).wrapping_sub(at(0)), 1);
    assert_eq!(at(1 << 32), at(0));
    assert_eq!(at((1 << 32) + 5), at(5));
}

#[test]
fn a_packet_is_the_same_wherever_it_is_seen_but_for_its_time_to_live() {
    let row = Seen { number: 9, ..sent(segment(ACK, 1, 1, 100)) };
    let at = |point, event| one(Payload::Whole, Seen { point, event, ..row }).bytes;
    let (here, there) = (at(Point::End(0), PacketEvent::Send), at(Point::End(2), PacketEvent::Receive));
    assert_eq!(here[..8], there[..8]);
    assert_eq!((here[8], there[8]), (64, 63));
    assert_eq!(here[12..], there[12..]);
    let next = one(Payload::Whole, Seen { number: 10, ..row }).bytes;
    assert_eq!(
        u16_be(&next, 4),
        u16_be(&here, 4).wrapping_add(1),
        "the next packet, the next identification"
    );
}

#[test]
fn each_node_that_forwards_takes_one_from_the_time_to_live() {
    let row = |point, up, event| Seen { point, up, event, ..sent(segment(ACK, 1, 1, 0)) };
    let ttl = |point, up, event| one(Payload::None, row(point, up, event)).bytes[8];
    // The first leg: clients – router – proxy.
    assert_eq!(ttl(Point::Link(0), true, PacketEvent::Pass), 64);
    assert_eq!(ttl(Point::Link(1), true, PacketEvent::Pass), 63);
    assert_eq!(ttl(Point::Link(1), false, PacketEvent::Pass), 64);
    assert_eq!(ttl(Point::Link(0), false, PacketEvent::Pass), 63);
    assert_eq!(ttl(Point::End(0), false, PacketEvent::Receive), 63);
    assert_eq!(ttl(Point::End(2), false, PacketEvent::Send), 64);
    let behind = Seen { leg: 1, ..row(Point::End(3), true, PacketEvent::Receive) };
    assert_eq!(one(Payload::None, behind).bytes[8], 64, "nobody forwards on the second leg");
}

#[test]
fn origin_servers_have_addresses_for_benchmarks() {
    let bytes =
        one(Payload::None, Seen { leg: 1, point: Point::End(2), ..sent(segment(SYN, 0, 0, 0)) }).bytes;
    assert_eq!(bytes[12..14], [10, 2]);
    assert!(bytes[16] == 198 && (18..20).contains(&bytes[17]), "{bytes:?}");
}

#[test]
fn no_two_connections_share_an_address_and_a_port() {
    let numbers = (0..60_000).step_by(7).chain([28_232, 28_233, 2_000_000_000]);
    let mut seen = BTreeSet::new();
    for connection in numbers {
        let bytes = one(Payload::None, Seen { connection, ..sent(segment(SYN, 0, 0, 0)) }).bytes;
        assert!((32_768..61_000).contains(&u16_be(&bytes, 20)));
        assert!(seen.insert((bytes[12..16].to_vec(), u16_be(&bytes, 20))), "connection {connection}");
    }
}

#[test]
fn a_capture_has_what_its_points_saw_and_no_drops() {
    let row = sent(segment(ACK, 1, 1, 0));
    let rows = [
        row.at(1),
        Seen { point: Point::Link(0), event: PacketEvent::Pass, ..row.at(2) },
        Seen { point: Point::Link(0), event: PacketEvent::Drop, ..row.at(3) },
        Seen { point: Point::Link(1), event: PacketEvent::Pass, ..row.at(4) },
        Seen { point: Point::End(2), event: PacketEvent::Receive, ..row.at(5) },
    ];
    let times = |points: &[Point]| -> Vec<(u64, u32)> {
        captured(points, Payload::None, &rows)
            .iter()
            .map(|packet| (packet.time_ns, packet.interface))
            .collect()
    };
    assert_eq!(times(&[Point::Link(0)]), [(2, 0)]);
    assert_eq!(times(&[Point::End(2), Point::End(0)]), [(1, 1), (5, 0)]);
    let inbound = captured(&[Point::End(2)], Payload::None, &rows);
    assert_eq!(inbound[0].options[..8], [2, 0, 4, 0, 1, 0, 0, 0]);
    assert!(
        captured(&[Point::Link(1)], Payload::None, &rows)[0].options.is_empty(),
        "a tap has no in and out"
    );
}

proptest! {
    /// With payload and without: lengths are as simulated, and checksums hold.
    #[test]
    fn every_packet_is_whole(
        flags in 0..256_usize,
        ecn in prop::sample::select(Codepoint::ALL.to_vec()),
        (seq, ack) in (0..1_u64 << 50, 1 << 40..1_u64 << 50),
        (len, window) in (0..9_000_u32, any::<u16>()),
        mss in prop::option::of(any::<NonZeroU16>()),
        window_scale in prop::option::of(0..15_u8),
        stamps in prop::option::of(any::<(u32, u32)>()),
        sack_permitted in any::<bool>(),
        block in prop::option::of(1..1_u64 << 30),
        (up, connection) in (any::<bool>(), 0..1_i64 << 40),
    ) {
        let timestamps = stamps.map(|(value, echo)| Timestamps { value, echo });
        let flags = Flags::all().nth(flags).unwrap();
        let options = Options { mss, window_scale, timestamps, sack_permitted, sack: SackBlocks::NONE };
        let plain = Segment { seq, ack, len, window, flags, ecn, options };
        let segment = block.map_or(plain, |start| with_sack(plain, &[(ack + start, ack + start + 1000)]));
        let row = Seen { up, connection, ..sent(segment) };
        let (whole, headers) = (one(Payload::Whole, row), one(Payload::None, row));
        let bytes = &whole.bytes;
        prop_assert_eq!(bytes.len(), segment.packet_bytes() as usize);
        prop_assert_eq!((whole.length, headers.length), (bytes.len(), bytes.len()));
        prop_assert_eq!(&headers.bytes[..], &bytes[..bytes.len() - len as usize]);
        prop_assert_eq!(u16_be(bytes, 2) as usize, bytes.len());
        prop_assert_eq!(sum(&[&bytes[..20]]), 0xffff);
        let pseudo = [&[0, 6][..], &((bytes.len() - 20) as u16).to_be_bytes()].concat();
        prop_assert_eq!(sum(&[&bytes[12..20], &pseudo, &bytes[20..]]), 0xffff);
        prop_assert_eq!(bytes[33] & !0x20, flags.bits() & !0x20);
        prop_assert_eq!(bytes[1], ecn as u8);
        prop_assert_eq!(u16_be(bytes, 34), window);
    }
}
