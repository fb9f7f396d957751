//! Losses: fast retransmit with and without SACK, reordering, tail loss probes, timeouts, and undone reductions.

use super::*;
use crate::tcp::linux::profile::CongestionControl;
use crate::tcp::linux::recovery::CaState;

/// Reno has windows that are easy to work out. Everything else as in Linux.
fn reno() -> Profile {
    Profile { congestion_control: CongestionControl::Reno, ..Profile::linux() }
}

fn without_sack() -> Profile {
    Profile { initial_cwnd_segments: 10, ..Profile::linux_classic() }
}

/// A sender with segments 10 to 29 in flight.
fn with_twenty_in_flight(profile: Profile) -> Sender {
    let mut sender = Sender::new(profile);
    sender.write(25);
    sender.write(1000);
    sender.wait(100);
    for acked in 1..=10 {
        sender.ack(acked, &[]);
    }
    sender.wait(100);
    assert_eq!(sender.sent().last(), Some(&29));
    sender
}

#[test]
fn the_third_sacked_segment_starts_recovery() {
    let mut sender = with_twenty_in_flight(reno());
    sender.ack(10, &[(11, 12)]);
    assert_eq!(sender.sent(), [30], "one has left the network");
    sender.ack(10, &[(11, 13)]);
    assert_eq!(sender.sent(), [31]);
    assert_eq!(sender.connection.recovery.state, CaState::Disorder);
    sender.ack(10, &[(11, 14)]);
    assert_eq!(sender.sent(), [10]);
    assert_eq!(sender.connection.recovery.state, CaState::Recovery);
    assert_eq!(sender.ssthresh(), 10);
}

#[test]
fn during_recovery_the_window_shrinks_in_step_with_deliveries() {
    let mut sender = with_twenty_in_flight(reno());
    sender.ack(10, &[(11, 14)]);
    // Three of 20 have arrived, and ssthresh is 10: three halves, rounded up.
    assert_eq!(sender.sent(), [10, 30]);
    let mut sent = Vec::new();
    for sacked in 15..25 {
        sender.ack(10, &[(11, sacked)]);
        sent.push(sender.sent().len());
    }
    assert_eq!(sent, [0, 1, 0, 1, 0, 1, 0, 1, 0, 1]);
    sender.wait(100);
    sender.ack(36, &[]);
    assert_eq!(sender.connection.recovery.state, CaState::Open);
    assert_eq!(sender.ssthresh(), 10);
}

#[test]
fn several_holes_are_filled_within_one_round_trip() {
    let mut sender = with_twenty_in_flight(reno());
    sender.ack(10, &[(13, 16)]);
    let mut resent = sender.sent();
    for sacked in 17..25 {
        sender.ack(10, &[(13, sacked)]);
        resent.extend(sender.sent());
    }
    assert_eq!(resent[..3], [10, 11, 12]);
}

#[test]
fn without_sack_recovery_fills_one_hole_a_round_trip() {
    let mut sender = with_twenty_in_flight(without_sack());
    sender.ack(10, &[]);
    sender.ack(10, &[]);
    assert_eq!(sender.sent(), [30, 31], "limited transmit");
    sender.ack(10, &[]);
    assert_eq!(sender.sent(), [10]);
    sender.wait(100);
    sender.ack(15, &[]);
    assert_eq!(sender.sent().first(), Some(&15), "a partial ACK shows the next hole");
    assert_eq!(sender.connection.recovery.state, CaState::Recovery);
    sender.wait(100);
    sender.ack(32, &[]);
    assert_eq!(sender.connection.recovery.state, CaState::Recovery, "held on to until more is acknowledged");
}

#[test]
fn a_segment_that_was_only_overtaken_is_waited_for_once_reordering_was_seen() {
    let mut sender = with_twenty_in_flight(reno());
    sender.ack(10, &[(11, 12)]);
    sender.ack(12, &[]);
    assert!(sender.connection.recovery.reordering_seen);
    sender.sent();
    sender.ack(12, &[(13, 17)]);
    assert!(!sender.sent().contains(&12), "a quarter of the round trip more");
    sender.wait(40);
    assert_eq!(sender.sent().first(), Some(&12));
}

#[test]
fn the_end_of_a_flight_is_probed_after_two_round_trips() {
    let mut sender = Sender::new(reno());
    sender.write(3);
    sender.sent();
    let due = sender.timer().unwrap();
    assert!((202.0..=212.0).contains(&due), "{due}");
    sender.wait(220);
    assert_eq!(sender.sent(), [2], "the last segment once more");
    sender.wait(100);
    sender.ack(0, &[(2, 3)]);
    assert_eq!(sender.connection.recovery.state, CaState::Recovery, "its SACK shows the hole");
}

#[test]
fn a_single_segment_is_given_the_time_of_a_delayed_ack() {
    let mut sender = Sender::new(reno());
    sender.write(1);
    let due = sender.timer().unwrap();
    // Two round trips and 200 ms would be 400 ms. The timeout of 300 ms comes first.
    assert!((300.0..=336.0).contains(&due), "{due}");
}

#[test]
fn a_probe_that_repaired_a_loss_halves_the_window() {
    let mut sender = Sender::new(reno());
    sender.write(10);
    sender.wait(250);
    assert_eq!(sender.sent().last(), Some(&9));
    sender.ack(9, &[]);
    sender.wait(100);
    let before = sender.cwnd();
    sender.write(5);
    sender.ack(11, &[]);
    assert_eq!(sender.cwnd(), before / 2, "{before}");
}

#[test]
fn a_timeout_marks_all_lost_and_starts_again_with_one_segment() {
    let mut sender = Sender::new(without_sack());
    sender.write(10);
    sender.sent();
    sender.wait(340);
    assert_eq!(sender.sent(), [0]);
    assert_eq!((sender.cwnd(), sender.ssthresh(), sender.connection.timeouts()), (1, 5, 1));
    sender.wait(100);
    sender.ack(1, &[]);
    assert_eq!(sender.sent(), [1, 2]);
    sender.ack(3, &[]);
    assert_eq!(sender.sent(), [3, 4, 5, 6]);
}

#[test]
fn timeouts_double() {
    let mut sender = Sender::new(Profile { tail_loss_probe: false, ..without_sack() });
    sender.write(1);
    sender.sent();
    let (mut last, mut gaps) = (sender.now, Vec::new());
    for _ in 0..4 {
        let due = sender.connection.next_timeout().unwrap();
        sender.now = due;
        sender.connection.on_timeout(due, &mut sender.out);
        assert_eq!(sender.sent(), [0]);
        gaps.push((due - last).as_nanos() / 100_000_000);
        last = due;
    }
    // The timer wheel rounds up the more the longer a timeout is.
    assert_eq!(gaps, [3, 6, 12, 25]);
}

#[test]
fn a_timeout_that_was_spurious_is_taken_back() {
    let mut sender = Sender::new(Profile { tail_loss_probe: false, ..reno() });
    sender.write(10);
    sender.sent();
    let echo = sender.connection.timestamps(sender.now).map(|stamps| stamps.value);
    sender.wait(340);
    assert_eq!((sender.sent(), sender.cwnd()), (vec![0], 1));
    // The originals were only late: the echoed timestamp is older than the retransmission.
    sender.ack_with(2, &[], echo);
    assert_eq!(sender.connection.recovery.state, CaState::Open);
    assert!(sender.cwnd() >= 10, "{}", sender.cwnd());
    assert_eq!(sender.connection.ssthresh(), 65535 << 14);
}

#[test]
fn without_timestamps_new_data_shows_that_a_timeout_was_spurious() {
    let profile = Profile { tail_loss_probe: false, timestamps: false, ..reno() };
    let mut sender = Sender::new(profile);
    sender.write(20);
    sender.sent();
    sender.wait(340);
    assert_eq!(sender.sent(), [0]);
    sender.ack(1, &[]);
    assert_eq!(sender.sent(), [10, 11], "new data instead of retransmissions");
    sender.ack(3, &[]);
    assert_eq!(sender.connection.recovery.state, CaState::Open);
    assert!(sender.cwnd() >= 10, "{}", sender.cwnd());
}

#[test]
fn a_recovery_is_taken_back_when_all_retransmissions_were_duplicates() {
    let mut sender = with_twenty_in_flight(Profile { timestamps: false, ..reno() });
    sender.ack(10, &[(11, 14)]);
    assert_eq!(sender.sent(), [10, 30]);
    sender.ack(14, &[]);
    sender.sent();
    sender.wait(100);
    sender.ack(20, &[(10, 11)]);
    assert_eq!(sender.connection.recovery.state, CaState::Open);
    assert!(sender.cwnd() >= 20, "{}", sender.cwnd());
}

#[test]
fn a_connection_without_an_answer_is_given_up() {
    let mut sender = Sender::new(Profile::linux());
    sender.write(1);
    let start = sender.now;
    while let Some(due) = sender.connection.next_timeout() {
        sender.now = due;
        sender.connection.on_timeout(due, &mut sender.out);
    }
    assert_eq!(sender.connection.state(), State::Closed);
    let minutes = (sender.now - start).as_nanos() / 60_000_000_000;
    assert!((15..=18).contains(&minutes), "{minutes}");
}
