//! The two sinks: their ACKs and the times of these.

use super::super::{Profile, Sink};
use super::wire::*;
use crate::tcp::state::Output;
use crate::units::{Duration, Instant};

const DELAYED: Profile = Profile { delayed_ack: true, ..RENO };

/// Feeds packets to a sink at times in ms. Gives (time in ms, packet that the ACK expects), timers included.
fn answers(profile: &Profile, packets: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let mut sink = Sink::new(profile);
    let mut answers = Vec::new();
    let mut take = |now: Instant, output: &mut Output| {
        for ack in output.segments.drain(..) {
            answers.push((now.as_nanos() / 1_000_000, profile.packet_number(ack.ack)));
        }
    };
    let mut output = Output::default();
    for (millis, number) in packets {
        if let Some(due) = sink.next_timeout().filter(|due| *due <= at(*millis)) {
            sink.on_timeout(due, &mut output);
            take(due, &mut output);
        }
        sink.on_segment(at(*millis), &profile.packet(*number), &mut output);
        take(at(*millis), &mut output);
    }
    if let Some(due) = sink.next_timeout() {
        sink.on_timeout(due, &mut output);
        take(due, &mut output);
    }
    assert_eq!(sink.next_timeout(), None);
    answers
}

#[test]
fn the_plain_sink_answers_every_packet() {
    let packets = [(0, 0), (1, 1), (2, 3), (3, 4), (4, 3), (5, 2), (6, 0), (7, 6), (8, 5)];
    let expected = [(0, 1), (1, 2), (2, 2), (3, 2), (4, 2), (5, 5), (6, 5), (7, 5), (8, 7)];
    assert_eq!(answers(&RENO, &packets), expected);
}

#[test]
fn the_delaying_sink_waits_for_a_second_packet_or_its_interval() {
    assert_eq!(answers(&DELAYED, &[(0, 0), (10, 1), (20, 2), (30, 3)]), [(0, 1), (20, 3), (130, 4)]);
    let slow = Profile { delayed_ack_interval: ms(200), ..DELAYED };
    assert_eq!(answers(&slow, &[(0, 0), (10, 1)]), [(0, 1), (210, 2)]);
}

#[test]
fn before_2010_the_first_packet_waits_too() {
    let old = Profile { immediate_ack_of_first: false, ..DELAYED };
    assert_eq!(answers(&old, &[(0, 0)]), [(100, 1)]);
}

#[test]
fn what_is_out_of_order_is_acknowledged_at_once() {
    assert_eq!(answers(&DELAYED, &[(0, 0), (10, 1), (20, 3), (30, 4)]), [(0, 1), (20, 2), (30, 2)]);
    assert_eq!(answers(&DELAYED, &[(0, 0), (10, 0)]), [(0, 1), (10, 1)]);
}

/// Packet 1 fills the gap before 2, yet 4 is still apart.
#[test]
fn a_packet_in_a_gap_is_acknowledged_at_once_since_2000() {
    let packets = [(0, 0), (10, 3), (20, 1), (200, 2)];
    assert_eq!(answers(&DELAYED, &packets), [(0, 1), (10, 1), (20, 2), (200, 4)]);
    let old = Profile { immediate_ack_in_gap: false, ..DELAYED };
    assert_eq!(answers(&old, &packets), [(0, 1), (10, 1), (120, 2), (200, 4)]);
}

#[test]
fn delayed_acks_slow_the_start_down() {
    let plain = Wire::instant(50).transfer(&RENO, 31, Duration::ZERO);
    let delayed = Wire::instant(50).transfer(&DELAYED, 31, Duration::ZERO);
    assert_eq!(plain.acks.len(), 31);
    assert!(delayed.acks.len() < 20 && delayed.acked > plain.acked);
    assert_eq!(delayed.sink.received(), 31 * 512);
}
