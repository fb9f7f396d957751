//! Losses: fast retransmit, timeouts and their aftermath.

use super::super::{Profile, Sender};
use super::wire::*;
use crate::tcp::state::Output;
use crate::units::{Duration, Instant};

fn ser(bytes: u64) -> Duration {
    Duration::from_nanos(bytes * 800)
}

/// "A 3-packet transfer whose first packet was lost took 6.005 s" (Williamson and Markatchev 2003): the first timeout, and
/// two round trips on a local network.
#[test]
fn a_lost_first_packet_costs_six_seconds() {
    let record = Wire::ethernet(1).losing([0]).transfer(&RENO, 3, Duration::ZERO);
    assert_eq!(record.acked, at(6000) + ms(4) + ser(512 + 40) + ser(552 * 2 + 40));
    assert_eq!(record.acked.as_nanos(), 6_005_356_800);
    assert_eq!((record.sender.retransmits(), record.sender.timeouts()), (1, 1));
}

#[test]
fn a_packet_lost_again_and_again_is_sent_at_doubling_distances() {
    let record = Wire::instant(1).losing(0..5).transfer(&RENO, 1, Duration::ZERO);
    assert_eq!(record.times_of(0), [0, 6, 18, 42, 90, 150].map(|secs| at(secs * 1000)));
    assert_eq!((record.sender.retransmits(), record.sender.timeouts()), (5, 5));
}

/// Packet 7, the first of a round of 8, is lost: the third duplicate ACK sends it again, halves the window of 8 + 7 packets
/// in use to 4, and further duplicates let new packets out when the inflated window passes the packets in flight.
#[test]
fn the_third_duplicate_ack_sends_the_packet_again() {
    let record = Wire::instant(50).losing([7]).transfer(&RENO, 40, Duration::ZERO);
    let times = record.times_of(7);
    assert_eq!(times, [at(300), at(400)]);
    assert_eq!((record.sender.retransmits(), record.sender.timeouts()), (1, 0));
    // 7 duplicates come at 400 ms: cwnd 4 + 7 lets 3 packets beyond the 8 in flight out.
    let burst = record.bursts().into_iter().find(|(time, _)| *time == at(400)).unwrap().1;
    assert_eq!(burst, [7, 15, 16, 17]);
    // The ACK of all 8 comes at 500 ms with 3 in flight: cwnd 4 + 1/4, so the rest is sent by congestion avoidance.
    let after = record.bursts().into_iter().find(|(time, _)| *time == at(500)).unwrap().1;
    assert_eq!(after[0], 18);
    assert_eq!(record.sender.ssthresh(), 4 * 512);
}

/// Two packets of one window lost: `bug_fix` lets only the first be sent again at once, the other waits for its timeout.
#[test]
fn one_window_has_one_fast_retransmit() {
    let losing_two = |bug_fix| {
        let profile = Profile { bug_fix, ..RENO };
        Wire::instant(50).losing([15, 17]).transfer(&profile, 60, Duration::ZERO)
    };
    assert_eq!(losing_two(true).sender.timeouts(), 1);
    assert_eq!(losing_two(false).sender.timeouts(), 0);
    assert!(losing_two(false).acked < losing_two(true).acked);
}

/// After a timeout the sender goes back to the first packet that is missing, and sends again what the sink has.
#[test]
fn a_timeout_goes_back_to_the_first_missing_packet() {
    // Of packets 3 to 6 only the last arrives: one duplicate ACK, which is too few.
    let record = Wire::instant(50).losing([3, 4, 5]).transfer(&RENO, 7, Duration::ZERO);
    // Samples of one tick: the timeout is 3 ticks after the last new ACK, at 200 ms.
    let sent_again: Vec<(u64, u64)> =
        record.sent.iter().skip(7).map(|(at, number)| (at.as_nanos() / 1_000_000, *number)).collect();
    // The ACK of packet 4 alone comes before the ACK of all, and lets packet 6 out although the sink has it.
    assert_eq!(sent_again, [(500, 3), (600, 4), (600, 5), (700, 6)]);
    assert_eq!((record.sender.timeouts(), record.sender.ssthresh()), (1, 2 * 512));
    assert_eq!(record.acked, at(700));
}

#[test]
fn a_lost_ack_is_made_good_by_the_next() {
    let mut wire = Wire::instant(50);
    wire.lost_acks = [1].into();
    let record = wire.transfer(&RENO, 7, Duration::ZERO);
    // Two ACKs instead of three open the window to 3 and not to 4, and packet 6 takes a round trip more.
    assert_eq!((record.sender.retransmits(), record.acked), (0, at(400)));
}

/// A window that is halved from one packet is none: the next timeout or ACK opens it again.
#[test]
fn a_window_below_a_packet_waits_for_the_timer() {
    let profile = Profile { bug_fix: false, ..RENO };
    let mut sender = Sender::new(&profile, Duration::ZERO, random());
    let mut output = Output::default();
    sender.write(Instant::ZERO, 5 * 512, &mut output);
    for _ in 0..3 {
        sender.on_segment(at(10), &profile.acknowledgement(0), &mut output);
    }
    assert_eq!(sender.retransmits(), 1);
    // cwnd 0 and three duplicates: a window of 3 packets.
    assert_eq!(sender.cwnd(), 3 * 512);
    output.segments.clear();
    sender.on_segment(at(20), &profile.acknowledgement(1), &mut output);
    assert_eq!(sender.cwnd(), 512);
}
