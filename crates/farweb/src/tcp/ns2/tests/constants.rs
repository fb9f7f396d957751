//! Effect on a transfer of each constant that ns-2 changed over the years.

use super::super::{Profile, Sender};
use super::wire::*;
use crate::tcp::state::Output;
use crate::units::{Bytes, Duration, Instant};

fn acked_ms(profile: &Profile, packets: u64) -> u64 {
    Wire::instant(50).transfer(profile, packets, Duration::ZERO).acked.as_nanos() / 1_000_000
}

#[test]
fn an_initial_window_of_two_saves_a_round_trip() {
    let two = Profile { initial_cwnd_segments: 2, ..RENO };
    assert_eq!(Wire::instant(50).transfer(&two, 30, Duration::ZERO).burst_sizes(), [2, 4, 8, 16]);
    assert_eq!((acked_ms(&RENO, 6), acked_ms(&two, 6)), (300, 200));
}

#[test]
fn a_syn_takes_a_round_trip_and_carries_nothing() {
    let syn = Profile { syn: true, delay_growth: true, initial_cwnd_segments: 2, ..RENO };
    let record = Wire::instant(50).transfer(&syn, 6, Duration::ZERO);
    assert_eq!(record.burst_sizes(), [1, 2, 4]);
    assert_eq!((record.sent.len(), record.sink.received()), (7, 6 * 512));
    // Without the delayed growth the window is open from the start, and the SYN's ACK opens it further.
    let eager = Profile { delay_growth: false, ..syn };
    assert_eq!(Wire::instant(50).transfer(&eager, 6, Duration::ZERO).burst_sizes(), [2, 4, 1]);
}

#[test]
fn delayed_growth_forgets_the_first_ack_without_a_syn_too() {
    let odd = Profile { delay_growth: true, ..RENO };
    assert_eq!(Wire::instant(50).transfer(&odd, 8, Duration::ZERO).burst_sizes(), [1, 1, 2, 4]);
}

/// A lost SYN lowers the initial window from June 2006 on.
#[test]
fn a_lost_first_packet_lowers_the_initial_window() {
    let syn = Profile { syn: true, delay_growth: true, initial_cwnd_segments: 2, ..RENO };
    let sizes = |bug_fix_start| {
        let profile = Profile { bug_fix_start, ..syn };
        Wire::instant(50).losing([0]).transfer(&profile, 3, Duration::ZERO).burst_sizes()
    };
    assert_eq!(sizes(true), [1, 1, 1, 2]);
    assert_eq!(sizes(false), [1, 1, 2, 1]);
}

/// The second packet lost with a window of 5: the ACK of packet 0 is duplicated before any loss was noted.
#[test]
fn the_loss_of_the_second_packet_may_start_a_fast_retransmit_since_2006() {
    let timeouts = |bug_fix_start| {
        let profile = Profile { bug_fix_start, initial_cwnd_segments: 5, ..RENO };
        let record = Wire::instant(50).losing([1]).transfer(&profile, 5, Duration::ZERO);
        (record.sender.timeouts(), record.times_of(1).last().unwrap().as_nanos() / 1_000_000)
    };
    assert_eq!(timeouts(true), (0, 100));
    assert_eq!(timeouts(false), (1, 400));
}

/// Tick 0.1 s, smallest timeout, first timeout: when a single lost packet at the end of a transfer is sent again.
#[test]
fn ticks_and_bounds_decide_how_long_a_timeout_takes() {
    // Packets 3 to 6 are sent at 200 ms. The loss of the last is noticed one timeout after the ACKs at 300 ms.
    let sent_again = |profile: &Profile| {
        let record = Wire::instant(50).losing([6]).transfer(profile, 7, Duration::ZERO);
        (record.times_of(6)[1] - at(300)).as_nanos() / 1_000_000
    };
    // Each round trip counts one tick of 100 ms: (1 + 2) · 100 ms after one sample, and after more of them.
    assert_eq!(sent_again(&RENO), 300);
    // In ticks of 10 ms: 10, 10 and 10 → srtt 80/8, rttvar 20, 15, 12 → (8 · 12 + 80) / 8 = 22.
    assert_eq!(sent_again(&Profile { tick: ms(10), ..RENO }), 220);
    assert_eq!(sent_again(&Profile { rto_min: ms(1000), ..RENO }), 1000);
    assert_eq!(sent_again(&Profile { rto_max: ms(200), ..RENO }), 200);
    let first_lost = |profile: &Profile| {
        let record = Wire::instant(50).losing([0]).transfer(profile, 1, Duration::ZERO);
        record.times_of(0)[1].as_nanos() / 1_000_000
    };
    assert_eq!(first_lost(&RENO), 6000);
    assert_eq!(first_lost(&Profile { rto_initial: ms(3000), ..RENO }), 3000);
}

/// Before May 2001 an ACK restarted the timer with the estimate from before it: 6 s for the second of two packets.
#[test]
fn the_timer_once_ran_on_the_estimate_before_the_sample() {
    let second_lost = |timer_after_rtt| {
        let profile = Profile { timer_after_rtt, initial_cwnd_segments: 2, ..RENO };
        Wire::instant(50).losing([1]).transfer(&profile, 2, Duration::ZERO).times_of(1)[1]
    };
    assert_eq!(second_lost(true), at(100 + 300));
    assert_eq!(second_lost(false), at(100 + 6000));
}

/// Packets 2 to 6 are in flight. Each of two duplicates lets one more out, the third sends packet 2 again.
#[test]
fn limited_transmit_sends_a_new_packet_for_a_duplicate() {
    let sent = |limited_transmit| {
        let profile = Profile { limited_transmit, initial_cwnd_segments: 4, ..RENO };
        let mut sender = Sender::new(&profile, Duration::ZERO, random());
        let mut output = Output::default();
        sender.write(Instant::ZERO, 100 * 512, &mut output);
        sender.on_segment(at(100), &profile.acknowledgement(2), &mut output);
        output.segments.clear();
        for _ in 0..3 {
            sender.on_segment(at(110), &profile.acknowledgement(2), &mut output);
        }
        output.segments.iter().map(|segment| profile.packet_number(segment.seq)).collect::<Vec<_>>()
    };
    assert_eq!(sent(true), [7, 8, 2]);
    assert_eq!(sent(false), [2]);
}

#[test]
fn headers_count_from_the_second_packet_on() {
    let sizes = |headers| {
        let profile = Profile { headers, ..RENO };
        Wire::ethernet(1).transfer(&profile, 3, Duration::ZERO).acked.as_nanos()
    };
    assert_eq!(sizes(true) - sizes(false), 2 * 40 * 800);
}

#[test]
fn the_window_and_the_packet_size_limit_a_transfer() {
    let small = Profile { window: 4, ..RENO };
    assert_eq!(Wire::instant(50).transfer(&small, 15, Duration::ZERO).burst_sizes(), [1, 2, 4, 4, 4]);
    let large = Profile { packet_size: Bytes::new(1000), ..RENO };
    assert_eq!(large.packets(4001), 5);
    let record = Wire::ethernet(1).transfer(&large, 1, Duration::ZERO);
    assert_eq!(record.delivered.as_nanos(), 1_000_000 + 800_000);
}

/// A window of 15 halves to 7 or 7.5, which shows after the next packet that congestion avoidance adds.
#[test]
fn half_a_packet_is_kept_or_not() {
    let windows = |precise_halving| {
        let profile = Profile { precise_halving, window: 15, ..RENO };
        let record = Wire::instant(50).losing([20]).transfer(&profile, 45, Duration::ZERO);
        (record.sender.ssthresh() / 512, record.sender.retransmits(), record.sent.len(), record.sender.cwnd())
    };
    let (whole, precise) = (windows(false), windows(true));
    assert_eq!((whole.0, precise.0), (7, 7));
    assert_eq!((whole.1, precise.1), (1, 1));
    assert!(precise.3 > whole.3, "{precise:?} {whole:?}");
}

/// A burst of 2 at most: the rest of the window waits for further ACKs.
#[test]
fn bursts_are_limited() {
    let limited = Profile { burst_max: 2, initial_cwnd_segments: 10, ..RENO };
    assert_eq!(Wire::instant(50).transfer(&limited, 10, Duration::ZERO).burst_sizes(), [2, 4, 4]);
}

/// Each burst waits up to 10 ms, and two of them do not wait the same time.
#[test]
fn bursts_wait_a_random_time() {
    let waiting = Profile { overhead: ms(10), ..RENO };
    let record = Wire::instant(50).transfer(&waiting, 3, Duration::ZERO);
    let bursts = record.bursts();
    assert_eq!(record.burst_sizes(), [1, 2]);
    let first = bursts[0].0 - at(0);
    let second = bursts[1].0 - bursts[0].0;
    assert!(first > Duration::ZERO && first < ms(10), "{first}");
    assert!(second > ms(100) && second < ms(110) && second != ms(100) + first, "{second}");
}

/// Duplicate ACKs after a timeout: before 2003 they inflated the window although nothing was recovered.
#[test]
fn duplicates_after_a_timeout_once_let_packets_out() {
    let new_packets = |exit_fast_retransmit| {
        let profile = Profile { exit_fast_retransmit, ..RENO };
        let mut sender = Sender::new(&profile, Duration::ZERO, random());
        let mut output = Output::default();
        sender.write(Instant::ZERO, 100 * 512, &mut output);
        for acknowledged in 1..=8 {
            sender.on_segment(at(10 * acknowledged), &profile.acknowledgement(acknowledged), &mut output);
        }
        let due = sender.next_timeout().unwrap();
        sender.on_timeout(due, &mut output);
        output.segments.clear();
        for _ in 0..6 {
            sender.on_segment(due + ms(10), &profile.acknowledgement(8), &mut output);
        }
        (sender.timeouts(), output.segments.len())
    };
    assert_eq!(new_packets(true), (1, 0));
    assert_eq!(new_packets(false), (1, 6));
}
