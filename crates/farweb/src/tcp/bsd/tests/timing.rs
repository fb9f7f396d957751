//! Guarantees about time for a caller: ticks at the instant of an event, and calls that are early.

use std::num::NonZeroU16;

use crate::tcp::*;
use crate::units::{Duration, Instant};

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

fn connecting(host: HostClock, out: &mut Output) -> Connection {
    let profile = ProfileName::Bsd44Lite.profile();
    let config =
        Config { profile, mss: 1460, send_buffer: None, receive_buffer: None, random: Random::default() };
    Connection::connect(Instant::ZERO, &config, host, out)
}

/// 4.4BSD-Lite `tcp_timer.c` 8.1.
#[test]
fn a_timer_that_is_due_runs_before_a_segment_of_the_same_instant() {
    let mut out = Output::default();
    let mut connection = connecting(HostClock::default(), &mut out);
    let options = Options { mss: NonZeroU16::new(1460), ..Options::NONE };
    let answer = Segment {
        seq: 0,
        ack: 1,
        len: 0,
        window: 8760,
        flags: Flags::SYN | Flags::ACK,
        ecn: Codepoint::NotEct,
        options,
    };
    assert_eq!(connection.next_timeout(), Some(at(6000)));
    out.segments.clear();
    connection.on_segment(at(6000), &answer, &mut out);
    let flags: Vec<Flags> = out.segments.iter().map(|segment| segment.flags).collect();
    assert_eq!(flags, [Flags::SYN, Flags::ACK]);
    assert_eq!(connection.timeouts(), 1);
}

/// 4.4BSD-Lite `tcp_timer.c` 8.1.
#[test]
fn a_call_before_anything_is_due_does_nothing() {
    let mut out = Output::default();
    let mut connection = connecting(HostClock::default(), &mut out);
    out.segments.clear();
    connection.on_timeout(at(5999), &mut out);
    assert!(out.segments.is_empty() && out.notices.is_empty());
    assert_eq!(connection.next_timeout(), Some(at(6000)));
}

/// 4.4BSD-Lite `tcp_timer.c` 8.1.
#[test]
fn phases_move_the_ticks() {
    for (phase, expected) in [(0, 6000), (1, 5501), (250, 5750), (499, 5999)] {
        let host = HostClock { slow_phase: Duration::from_millis(phase), ..HostClock::default() };
        let connection = connecting(host, &mut Output::default());
        assert_eq!(connection.next_timeout(), Some(at(expected)), "phase {phase} ms");
    }
}

/// RFC 1122, section 4.2.3.6; 4.4BSD-Lite `tcp_timer.c` 8.1.
#[test]
fn a_probe_before_our_syn_is_acknowledged_has_its_number() {
    let mut out = Output::default();
    let mut connection = connecting(HostClock::default(), &mut out);
    let flags = Flags::SYN | Flags::FIN;
    let crossing = Segment {
        seq: 0,
        ack: 0,
        len: 0,
        window: 8760,
        flags,
        ecn: Codepoint::NotEct,
        options: Options::NONE,
    };
    connection.on_segment(at(120), &crossing, &mut out);
    assert_eq!(connection.state(), State::CloseWait);
    while let Some(due) = connection.next_timeout().filter(|due| *due <= at(8_000_000)) {
        connection.on_timeout(due, &mut out);
    }
    let is_probe = |segment: &Segment| segment.flags == Flags::ACK && segment.seq == 0;
    assert!(out.segments.iter().any(is_probe));
}
