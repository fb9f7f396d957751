//! Files with false claims.

use proptest::prelude::*;

use super::captures::{File, Packet, handshake, opened, syn};
use super::{Probe, ProbeReport};
use crate::workload::WorkloadError;

fn read(bytes: Vec<u8>, max_unreadable: f64) -> Result<ProbeReport, WorkloadError> {
    let mut probe = Probe::new(max_unreadable)?;
    probe.begin(opened(bytes)?);
    while probe.advance(7)? {}
    let report = probe.report();
    let skipped: u64 = report.skipped.values().sum();
    assert_eq!(report.packets, report.tcp + skipped + report.unreadable_packets);
    assert_eq!(report.connections, report.answered + report.refused + report.unanswered);
    Ok(report.clone())
}

fn problem(bytes: Vec<u8>, max_unreadable: f64) -> String {
    read(bytes, max_unreadable).unwrap_err().to_string()
}

/// A hundred packets.
fn many() -> Vec<Packet> {
    (0..100).map(|port| syn(port, u64::from(port) * 1_000_000)).collect()
}

#[test]
fn what_is_no_capture_is_refused_by_its_first_bytes() {
    let other = |bytes: &[u8]| problem(bytes.to_vec(), 1.0);
    let is_no = "capture: is not a capture (pcap or pcapng, plain or gzip): it";
    assert_eq!(other(b""), format!("{is_no} is empty"));
    assert_eq!(other(b"GET / HTTP/1.0\r\n\r\n0123456789"), format!("{is_no} begins with 47 45 54 20"));
    assert_eq!(other(&[0xd4, 0xc3, 0xb2, 0xa1, 2]), format!("{is_no} begins with d4 c3 b2 a1"));
    assert!(other(&[0x1F, 0x8B, 8, 0]).ends_with("the gzip data ends too early"));
    assert!(Probe::new(1.5).is_err() && Probe::new(f64::NAN).is_err());
}

#[test]
fn a_file_that_is_cut_off_counts_up_to_there() {
    for ng in [false, true] {
        let mut bytes = File { ng, ..File::default() }.with(&many());
        bytes.truncate(bytes.len() - 1);
        let report = read(bytes, 0.0).unwrap();
        assert_eq!(report.packets, 99);
        let what = if ng { "block" } else { "packet" };
        assert_eq!(report.cut_off, [format!("capture: the file is cut off within a {what} after packet 99")]);
    }
    let mut packed = File { gzip: true, ..File::default() }.with(&many());
    packed.truncate(packed.len() - 20);
    let report = read(packed, 0.0).unwrap();
    assert!(report.packets > 0 && report.cut_off[0].contains("the gzip data ends too early"), "{report:?}");
}

#[test]
fn behind_a_nonsense_length_all_is_lost_and_too_much_of_it_is_an_error() {
    let file = File::default();
    let length = file.record(&many()[0]).len();
    let damaged = |packet: usize| {
        let mut bytes = file.with(&many());
        bytes[24 + packet * length + 8..][..4].fill(0xFF);
        bytes
    };
    let message = problem(damaged(10), 0.01);
    assert!(message.starts_with("capture: damaged at packet 11: a packet of 4294967295 B, "), "{message}");
    assert!(
        message.contains("what follows is lost, 89.7 % of the file, more than --max-unreadable 0.01 allows"),
        "{message}"
    );
    let report = read(damaged(99), 0.02).unwrap();
    assert_eq!(report.packets, 99);
    assert!(report.cut_off[0].contains("damaged at packet 100"), "{:?}", report.cut_off);
}

#[test]
fn a_damaged_block_is_passed_over() {
    let file = File { ng: true, ..File::default() };
    let whole = file.with(&[]);
    let length = file.block_of(&many()[0]).len();
    let damaged = |at: usize, word: u32| {
        let mut bytes = file.with(&many());
        bytes[whole.len() + 10 * length + at..][..4].copy_from_slice(&file.long(word));
        bytes
    };
    // Interface, captured length, and the length behind the block.
    for (at, word, why) in [
        (8, 5, "it names interface 5, and there are 1"),
        (20, 4000, "its block contradicts itself"),
        (20, u32::MAX, "its block contradicts itself"),
        (length - 4, 8, "its block contradicts itself"),
    ] {
        let report = read(damaged(at, word), 0.01).unwrap();
        assert_eq!((report.packets, report.unreadable_packets, report.unanswered), (100, 1, 99));
        assert_eq!((report.unreadable[0].packet, &*report.unreadable[0].why), (11, why));
        assert!(problem(damaged(at, word), 0.0).contains("1 of 100 packets are unreadable"), "{why}");
    }
    assert!(problem(damaged(4, 0), 0.0).contains("a block of 0 B"));
}

#[test]
fn headers_that_contradict_themselves_are_unreadable() {
    let file = File::default();
    let length = file.record(&many()[0]).len();
    // IP version 5, an IP header of 4 B, a TCP header of 16 B.
    for (at, byte) in [(14, 0x55), (14, 0x41), (14 + 20 + 12, 0x40)] {
        let mut bytes = file.with(&many());
        bytes[24 + 10 * length + 16 + at] = byte;
        let report = read(bytes, 0.01).unwrap();
        assert_eq!((report.unreadable_packets, report.unreadable[0].packet), (1, 11), "{at} {byte}");
    }
}

#[test]
fn many_unreadable_packets_end_a_long_capture_early() {
    let mut bytes = File { ng: true, ..File::default() }.with(&[]);
    let bad = File { ng: true, ..File::default() }.block_of(&syn(1, 0).at(9));
    for _ in 0..5000 {
        bytes.extend(&bad);
    }
    assert!(problem(bytes, 0.5).contains("1000 of 1000 packets are unreadable"));
}

proptest! {
    #[test]
    fn no_damage_panics_and_every_packet_is_accounted_for(
        ng: bool,
        big_endian: bool,
        gzip: bool,
        damage in prop::collection::vec((0_usize..4000, any::<u8>()), 0..8),
        keep in 0_usize..4000,
    ) {
        let packets: Vec<_> = (1..6).flat_map(|port| handshake(port, u64::from(port), 1_000_000)).collect();
        let mut bytes = File { ng, big_endian, gzip, ..File::default() }.with(&packets);
        for (at, byte) in damage {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        bytes.truncate(keep.max(bytes.len() / 2));
        let _ = read(bytes, 1.0);
    }
}
