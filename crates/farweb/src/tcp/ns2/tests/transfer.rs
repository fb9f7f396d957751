//! Transfers without loss: closed forms to the nanosecond.

use super::super::{Profile, Sender};
use super::wire::*;
use crate::tcp::state::Output;
use crate::units::{Duration, Instant};

/// Nanoseconds of `bytes` bytes at 10 Mbit/s.
fn ser(bytes: u64) -> Duration {
    Duration::from_nanos(bytes * 800)
}

/// On a link that sends in no time each round trip lets out twice the packets, up to the window.
#[test]
fn steps_double_up_to_the_window() {
    let record = Wire::instant(36).transfer(&RENO, 91, Duration::ZERO);
    let steps: Vec<_> = record.bursts().iter().map(|(at, numbers)| (*at, numbers.len())).collect();
    let expected = [(0, 1), (72, 2), (144, 4), (216, 8), (288, 16), (360, 20), (432, 20), (504, 20)];
    assert_eq!(steps, expected.map(|(millis, packets)| (at(millis), packets)));
    assert_eq!((record.delivered, record.acked), (at(540), at(576)));
}

/// The smallest k with 2^k - 1 packets or more is the number of round trips.
#[test]
fn a_transfer_takes_the_round_trips_of_slow_start() {
    for (packets, rounds) in
        [(1, 1), (2, 2), (3, 2), (4, 3), (7, 3), (8, 4), (15, 4), (16, 5), (31, 5), (32, 6)]
    {
        let record = Wire::instant(36).transfer(&RENO, packets, Duration::ZERO);
        assert_eq!(record.acked, at(72 * rounds), "{packets} packets");
        assert_eq!(record.delivered, at(72 * rounds - 36), "{packets} packets");
        assert_eq!((record.sender.retransmits(), record.sender.timeouts()), (0, 0));
    }
}

/// One packet over 10 Mbit/s and 1 ms: 512 B without a header there, 40 B back.
#[test]
fn the_first_packet_has_no_header() {
    let record = Wire::ethernet(1).transfer(&RENO, 1, Duration::ZERO);
    assert_eq!(record.delivered, at(1) + ser(512));
    assert_eq!(record.acked, at(2) + ser(512 + 40));
    let three = Wire::ethernet(1).transfer(&RENO, 3, Duration::ZERO);
    assert_eq!(three.acked, at(4) + ser(512 + 40) + ser(552 * 2 + 40));
}

/// A window of 20 packets and more than a round trip of them on the link: the link is busy, and 20 are in flight.
#[test]
fn the_window_never_has_more_than_its_packets() {
    let record = Wire::ethernet(30).transfer(&RENO, 500, Duration::ZERO);
    let mut events: Vec<(Instant, i64)> = record.sent.iter().map(|(at, _)| (*at, 1)).collect();
    // Each ACK that arrives lets one packet leave at the same instant: the one goes before the other.
    events.extend(record.acks.iter().map(|(at, _)| (*at + ms(30) + ser(40), -1)));
    events.sort_unstable();
    let mut in_flight = 0;
    let most = events.iter().map(|(_, change)| {
        in_flight += change;
        in_flight
    });
    assert_eq!(most.max(), Some(20));
    // 20 packets a round trip of 2 · 30 ms and one packet and one ACK on the wire, once the window is open.
    let round = ms(60) + ser(552 + 40);
    let times: Vec<_> = (100..480).map(|number| record.times_of(number)[0]).collect();
    assert!(times.windows(21).all(|sent| sent[20] - sent[0] == round));
}

/// Beyond ssthresh, which is the window, an ACK adds a share of a packet: the window counts on, but lets nothing more out.
#[test]
fn the_congestion_window_grows_on_beyond_the_window() {
    let record = Wire::instant(36).transfer(&RENO, 20 + 21, Duration::ZERO);
    // 19 ACKs lead from 1 to 20, the others add 1/20 and less each.
    let cwnd = record.sender.cwnd() as f64 / 512.0;
    let mut expected = 20.0;
    for _ in 19..41 {
        expected += 1.0 / expected;
    }
    assert!((cwnd - expected).abs() < 0.01, "{cwnd} packets, not {expected}");
}

#[test]
fn an_agent_that_was_idle_starts_again_with_one_packet() {
    let windows = |profile: &Profile| {
        let mut sender = Sender::new(profile, Duration::ZERO, random());
        let mut output = Output::default();
        let mut now = Instant::ZERO;
        sender.write(now, 3 * 512, &mut output);
        for acknowledged in [1, 2, 3] {
            now += ms(50);
            sender.on_segment(now, &profile.acknowledgement(acknowledged), &mut output);
        }
        assert!(sender.is_done());
        let before = sender.cwnd() / 512;
        let idle_until = sender.next_timeout().expect("the timer measures how long it is idle");
        sender.on_timeout(idle_until, &mut output);
        assert_eq!((sender.next_timeout(), sender.timeouts()), (None, 0));
        output.segments.clear();
        sender.write(idle_until + ms(1000), 10 * 512, &mut output);
        (before, idle_until, output.segments.len())
    };
    // Samples of a tick, 50 ms each from phase 0: timeout 3 ticks.
    assert_eq!(windows(&RENO), (4, at(150 + 300), 1));
    let steady = Profile { slow_start_restart: false, ..RENO };
    assert_eq!(windows(&steady), (4, at(150 + 300), 4));
}
