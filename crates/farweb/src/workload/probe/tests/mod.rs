//! Captures made byte by byte, with known contents.

mod captures;
mod damage;

use std::net::IpAddr;

use super::{Probe, ProbeReport, ProbedHost};
use captures::{CLIENT, Ether, File, Packet, SERVER, SERVER6, ack, answer, handshake, reset, syn};

/// Findings of a probe in one capture.
fn probe(bytes: Vec<u8>) -> (Vec<ProbedHost>, ProbeReport) {
    let mut probe = Probe::new(0.0).unwrap();
    probe.begin(captures::opened(bytes).unwrap());
    while probe.advance(3).unwrap() {}
    (probe.hosts(&[], false), probe.report().clone())
}

fn only_host(packets: &[Packet]) -> ProbedHost {
    let (hosts, _) = probe(File::default().with(packets));
    let [host] = <[_; 1]>::try_from(hosts).unwrap();
    host
}

#[test]
fn a_handshake_shows_mss_window_and_round_trip_time() {
    let (hosts, report) = probe(File::default().with(&handshake(1, 0, 123_456_000)));
    let [host] = <[_; 1]>::try_from(hosts).unwrap();
    assert_eq!(host.host, SERVER.to_string());
    assert_eq!((host.mss_bytes, host.window_bytes, host.window_scale), (Some(1460), Some(8760), None));
    assert_eq!((host.rtt_ns, host.rtt_samples), (Some(123_456_000), 1));
    assert_eq!((host.connections, host.half_open, host.silent), (1, 0, false));
    assert_eq!((report.packets, report.tcp, report.connections, report.answered), (3, 3, 1, 1));
    assert!(report.skipped.is_empty() && report.cut_off.is_empty());
}

#[test]
fn every_link_type_format_and_address_family_gives_the_same() {
    let expected = |file: &File, server: IpAddr| {
        let mut packets = handshake(1, 5_000_000_000, 250_000_000);
        if server == SERVER6 {
            packets.iter_mut().for_each(Packet::make_ipv6);
        }
        let (hosts, report) = probe(file.with(&packets));
        let [host] =
            <[_; 1]>::try_from(hosts).unwrap_or_else(|hosts| panic!("{file:?}: {hosts:?}, {report:?}"));
        assert_eq!(
            (host.addresses[0], host.mss_bytes, host.window_bytes),
            (server, Some(1460), Some(8760)),
            "{file:?}"
        );
        // 2^-20 s is the coarsest unit here.
        assert!(host.rtt_ns.unwrap().abs_diff(250_000_000) < 1000, "{file:?}: {host:?}");
    };
    let mut files = Vec::new();
    for link_type in captures::LINK_TYPES {
        files.push(File { link_type, ..File::default() });
        files.push(File { link_type, ng: true, ..File::default() });
    }
    for tags in [1, 2] {
        files.push(File { ether: Ether { tags, swapped: false }, ..File::default() });
    }
    files.push(File { link_type: 0, ether: Ether { tags: 0, swapped: true }, ..File::default() });
    files.push(File { big_endian: true, ..File::default() });
    files.push(File { nanoseconds: true, ..File::default() });
    files.push(File { big_endian: true, nanoseconds: true, ..File::default() });
    files.push(File { modified: true, ..File::default() });
    for resolution in [None, Some(6), Some(9), Some(0x80 | 20), Some(0x80 | 40)] {
        files.push(File { ng: true, resolution, ..File::default() });
        files.push(File { ng: true, big_endian: true, resolution, ..File::default() });
    }
    files.push(File { gzip: true, ..File::default() });
    files.push(File { gzip: true, ng: true, ..File::default() });
    for file in &files {
        expected(file, SERVER);
        expected(file, SERVER6);
    }
}

#[test]
fn simple_packets_have_no_time_and_so_no_round_trip() {
    let file = File { ng: true, simple: true, snap: 96, ..File::default() };
    let (hosts, _) = probe(file.with(&handshake(1, 0, 1_000_000)));
    assert_eq!((hosts[0].mss_bytes, hosts[0].rtt_ns), (Some(1460), None));
}

#[test]
fn with_scaling_the_largest_later_window_counts_and_without_that_of_the_answer() {
    let scaled = |client: Option<u8>, server: Option<u8>| {
        let later = [ack(1, 60_000_000).down().window(500), ack(1, 70_000_000).down().window(1_000)];
        let mut packets = vec![
            syn(1, 0).scale(client),
            answer(1, 50_000_000).window(5_792).scale(server),
            ack(1, 51_000_000).window(60_000),
        ];
        packets.extend(later);
        let host = only_host(&packets);
        (host.window_bytes.unwrap(), host.window_scale)
    };
    assert_eq!(scaled(Some(2), Some(7)), (128_000, Some(7)));
    assert_eq!(scaled(Some(2), Some(0)), (5_792, Some(0)), "an unscaled start may be the largest");
    assert_eq!(scaled(Some(2), Some(200)), (1_000 << 14, Some(14)));
    assert_eq!(scaled(None, Some(7)), (5_792, None), "a scale that the client did not offer does not hold");
    assert_eq!(scaled(Some(2), None), (5_792, None));
}

#[test]
fn a_syn_that_was_sent_again_gives_no_round_trip_time_and_one_captured_twice_does() {
    let again =
        |after_ns| only_host(&[syn(1, 0), syn(1, after_ns), answer(1, 7_000_000_000), ack(1, 7_000_000_001)]);
    assert_eq!(again(6_000_000_000).rtt_ns, None);
    assert_eq!(again(9_999_000).rtt_ns, Some(7_000_000_000));
    let lost = [
        syn(1, 0),
        answer(1, 30_000_000),
        syn(1, 3_000_000_000),
        answer(1, 3_030_000_000),
        ack(1, 3_030_000_001),
    ];
    let (hosts, report) = probe(File::default().with(&lost));
    assert_eq!((hosts[0].rtt_ns, report.answered, report.retransmitted), (Some(30_000_000), 1, 0));
    let (_, report) =
        probe(File::default().with(&[syn(1, 0), syn(1, 6_000_000_000), syn(1, 30_000_000_000)]));
    assert_eq!((report.connections, report.retransmitted, report.unanswered), (1, 1, 1));
}

#[test]
fn an_answer_to_another_syn_gives_no_round_trip_time() {
    let late = answer(1, 100_000_000).acknowledging(0x8000_0000);
    assert_eq!(only_host(&[syn(1, 0), late, ack(1, 100_000_001)]).rtt_ns, None);
    let fast_open = answer(1, 100_000_000).acknowledging(captures::SEQ.wrapping_add(501));
    assert_eq!(only_host(&[syn(1, 0), fast_open]).rtt_ns, Some(100_000_000));
    assert_eq!(only_host(&[syn(1, 200_000_000), answer(1, 100_000_000)]).rtt_ns, None, "the clock went back");
}

#[test]
fn several_connections_give_the_common_mss_the_largest_window_and_the_least_time() {
    let mut packets = Vec::new();
    for (port, mss, window, rtt_ns) in [
        (1, Some(536), 8_760, 30),
        (2, Some(1460), 4_096, 20),
        (3, Some(1460), 16_384, 50),
        (4, None, 8_760, 40),
    ] {
        let mut connection = handshake(port, u64::from(port) * 1_000_000_000, rtt_ns * 1_000_000);
        connection[1] = connection[1].mss(mss).window(window);
        packets.extend(connection);
    }
    let host = only_host(&packets);
    assert_eq!(
        (host.mss_bytes, host.window_bytes, host.rtt_ns),
        (Some(1460), Some(16_384), Some(20_000_000))
    );
    assert_eq!((host.connections, host.rtt_samples), (4, 4));
    assert!(host.mss_differs && host.window_differs && !host.silent);
    // Of equally many, the largest.
    assert_eq!(only_host(&packets[..6]).mss_bytes, Some(1460));
}

#[test]
fn a_host_without_mss_is_silent_and_one_whose_options_are_cut_is_not() {
    let silent = [syn(1, 0), answer(1, 1_000_000).mss(None), ack(1, 1_000_001)];
    assert_eq!((only_host(&silent).mss_bytes, only_host(&silent).silent), (None, true));
    // 54 B hold the headers without options: the MSS may have been there.
    for (snap, mss, cut) in [(54, None, 1), (57, None, 1), (58, Some(1460), 0)] {
        let file = File { snap, ..File::default() };
        let (hosts, report) = probe(file.with(&handshake(1, 0, 1_000_000)));
        assert_eq!((hosts[0].mss_bytes, hosts[0].silent, report.options_cut), (mss, false, cut), "{snap}");
        assert_eq!((hosts[0].window_bytes, hosts[0].rtt_ns), (Some(8760), Some(1_000_000)));
    }
    let (hosts, report) = probe(File { snap: 53, ..File::default() }.with(&handshake(1, 0, 1_000_000)));
    assert!(hosts.is_empty());
    assert_eq!(report.skipped[&super::Skipped::CutShort], 3);
    // Values that no host table takes count as absent.
    let odd = only_host(&[syn(1, 0), answer(1, 1_000_000).mss(Some(0)).window(31), ack(1, 1_000_001)]);
    assert_eq!((odd.mss_bytes, odd.window_bytes, odd.silent), (None, None, true));
}

#[test]
fn refused_unanswered_and_half_open_connections_are_distinguished() {
    let packets = [
        vec![syn(1, 0), reset(1, 1_000_000)],
        vec![syn(2, 0)],
        vec![syn(3, 0), answer(3, 1_000_000)],
        vec![syn(4, 0), answer(4, 1_000_000), reset(4, 2_000_000).up()],
        vec![answer(5, 1_000_000), ack(5, 2_000_000)],
        handshake(6, 0, 1_000_000),
    ]
    .concat();
    let (hosts, report) = probe(File::default().with(&packets));
    let host = &hosts[0];
    assert_eq!((host.connections, host.refused, host.unanswered, host.half_open), (4, 1, 1, 2));
    assert_eq!((report.connections, report.answered, report.without_syn), (6, 4, 1));
    assert_eq!((report.refused, report.unanswered, report.half_open), (1, 1, 2));
    assert_eq!(report.connections, report.answered + report.refused + report.unanswered);
}

#[test]
fn the_same_ports_may_be_used_again() {
    let first = handshake(1, 0, 10_000_000);
    let second: Vec<_> = handshake(1, 60_000_000_000, 20_000_000).into_iter().map(|p| p.seq(99)).collect();
    let (hosts, report) = probe(File::default().with(&[first, second].concat()));
    assert_eq!((hosts[0].connections, hosts[0].rtt_ns, report.retransmitted), (2, Some(10_000_000), 0));
}

#[test]
fn silent_connections_are_forgotten_after_five_minutes() {
    let mut probe = Probe::new(0.0).unwrap();
    let packets = [vec![syn(1, 0)], handshake(2, 301_000_000_000, 1_000_000)].concat();
    probe.begin(captures::opened(File::default().with(&packets)).unwrap());
    assert!(probe.advance(2).unwrap());
    assert_eq!(probe.report().unanswered, 1, "counted before the capture ends");
    while probe.advance(10).unwrap() {}
    assert_eq!((probe.report().unanswered, probe.report().answered), (1, 1));
}

#[test]
fn interfaces_see_connections_of_their_own() {
    let seen = |interface: u32, at_ns| {
        handshake(1, at_ns, 40_000_000 / u64::from(interface + 1)).into_iter().map(move |p| p.at(interface))
    };
    let packets: Vec<_> = seen(0, 0).chain(seen(1, 10_000_000)).collect();
    let (hosts, report) = probe(File { ng: true, interfaces: 2, ..File::default() }.with(&packets));
    assert_eq!((report.connections, report.retransmitted), (2, 0));
    assert_eq!(hosts[0].rtt_ns, Some(20_000_000));
}

#[test]
fn names_gather_addresses_and_addresses_may_have_several_names() {
    let mut probe = Probe::new(0.0).unwrap();
    let mut other = handshake(2, 0, 5_000_000);
    other.iter_mut().for_each(Packet::make_ipv6);
    other[1] = other[1].mss(Some(536));
    let packets = [handshake(1, 0, 9_000_000), other, handshake(3, 0, 9_000_000)].concat();
    probe.begin(captures::opened(File::default().with(&packets)).unwrap());
    while probe.advance(100).unwrap() {}
    let names =
        [(SERVER, "b.example"), (SERVER6, "b.example"), (SERVER, "a.example"), (CLIENT, "never.seen")];
    let names = names.map(|(address, name)| (address, name.to_owned()));
    let shown: Vec<_> = probe
        .hosts(&names, false)
        .into_iter()
        .map(|h| (h.host, h.mss_bytes.unwrap(), h.rtt_ns.unwrap()))
        .collect();
    let expected = [("a.example", 1460, 9_000_000), ("b.example", 1460, 5_000_000)];
    assert_eq!(shown, expected.map(|(host, mss, rtt)| (host.to_owned(), mss, rtt)));
    let hosts = probe.hosts(&names[2..], false);
    assert_eq!(hosts.iter().map(|host| &*host.host).collect::<Vec<_>>(), ["a.example", "2001:db8::80"]);
    assert_eq!(probe.hosts(&names[2..], true).len(), 1);
}

#[test]
fn a_capture_later_in_line_adds_to_what_was_seen_and_connections_do_not_span_files() {
    let mut probe = Probe::new(0.0).unwrap();
    let all = handshake(1, 0, 9_000_000);
    for part in [&all[..1], &all[1..]] {
        probe.begin(captures::opened(File::default().with(part)).unwrap());
        while probe.advance(100).unwrap() {}
    }
    let report = probe.report();
    assert_eq!((report.connections, report.unanswered, report.without_syn), (2, 1, 1));
    assert_eq!(probe.hosts(&[], false)[0].rtt_ns, None);
}
