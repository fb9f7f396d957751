//! Pacing and BBR, with a peer 100 ms away.

use super::*;
use crate::tcp::linux::recovery::CaState;
use crate::tcp::linux::{CongestionControl, PacingKind};
use crate::tcp::state::Limit;

fn paced() -> Profile {
    Profile { pacing: PacingKind::Internal, tail_loss_probe: false, ..Profile::linux() }
}

fn bbr() -> Profile {
    Profile { congestion_control: CongestionControl::Bbr, tail_loss_probe: false, ..Profile::linux() }
}

/// 200 % of 14 segments in 100 ms: one in 3.571 ms.
#[test]
fn ten_segments_leave_at_once_and_further_ones_a_gap_apart() {
    let mut sender = Sender::new(Profile { initial_cwnd_segments: 14, ..paced() });
    sender.write(14);
    assert_eq!(sender.sent(), (0..10).collect::<Vec<_>>());
    assert_eq!(sender.connection.limit(false), Limit::Pacing);
    for n in 10..14 {
        let gap = sender.timer().unwrap();
        assert!((gap - 100.0 / 28.0).abs() < 1e-3, "{gap}");
        let due = sender.connection.next_timeout().unwrap();
        sender.now = due;
        sender.connection.on_timeout(due, &mut sender.out);
        assert_eq!(sender.sent(), [n]);
    }
    assert_eq!(sender.connection.limit(false), Limit::None);
}

#[test]
fn without_pacing_the_window_leaves_at_once() {
    let profile = Profile { initial_cwnd_segments: 14, pacing: PacingKind::None, ..paced() };
    let mut sender = Sender::new(profile);
    sender.write(20);
    assert_eq!(sender.sent(), (0..14).collect::<Vec<_>>());
    assert_eq!(sender.connection.limit(false), Limit::Cwnd);
}

/// Linux 6.18 `bbr_set_state()`, `bbr_set_cwnd_to_recover_or_restore()`.
#[test]
fn a_timeout_takes_the_window_of_bbr_and_leaves_it_four_segments() {
    let mut sender = Sender::new(bbr());
    sender.write(10);
    sender.wait(340);
    assert_eq!((sender.cwnd(), sender.connection.recovery.state), (1, CaState::Loss));
    // Four at least, and then as many more as arrive.
    for (acked, cwnd) in [(1, 4), (3, 6), (7, 10)] {
        sender.wait(100);
        sender.ack(acked, &[]);
        assert_eq!(sender.cwnd(), cwnd, "{acked} arrived");
    }
    sender.wait(100);
    sender.ack(10, &[]);
    assert_eq!((sender.cwnd(), sender.connection.recovery.state), (13, CaState::Open));
}

/// Linux 6.18 `tcp_pacing_delay()`: the eleventh segment leaves after 4.55 ms, a tick and some.
#[test]
fn timers_wait_in_whole_ticks_for_a_departure() {
    let mut sender = Sender::new(Profile { initial_cwnd_segments: 11, ..paced() });
    sender.write(11);
    assert_eq!(sender.connection.ticks_until_departure(), Duration::from_millis(4));
    sender.wait(5);
    assert_eq!(sender.connection.ticks_until_departure(), Duration::from_millis(4));
}

/// Linux 6.18 `tcp_rate_gen()`: segments SACKed before would count again.
#[test]
fn deliveries_are_no_sample_after_the_receiver_has_thrown_data_away() {
    let rate = |has_reneged| {
        let mut sender = Sender::new(bbr());
        sender.write(10);
        sender.wait(100);
        sender.connection.recovery.has_reneged = has_reneged;
        sender.ack(10, &[]);
        sender.connection.bbr().unwrap().rate_bps
    };
    assert!((700_000..800_000).contains(&rate(false)), "ten in 100 ms: {}", rate(false));
    assert_eq!(rate(true), 0);
}

/// The first SACKed segment is at the front of the queue when the timer runs: all SACKs are forgotten.
#[test]
fn the_receiver_has_thrown_data_away_until_the_episode_is_over() {
    let mut sender = Sender::new(bbr());
    sender.write(10);
    sender.wait(100);
    sender.ack(0, &[(1, 3)]);
    sender.ack(1, &[]);
    sender.wait(120);
    assert!(sender.connection.recovery.has_reneged);
    sender.wait(100);
    sender.ack(10, &[]);
    assert!(!sender.connection.recovery.has_reneged);
}

/// Linux 6.18 `bbr_sndbuf_expand()`.
#[test]
fn the_send_buffer_of_bbr_has_room_for_three_windows() {
    let buffer = |profile: Profile| {
        let small = Profile {
            send_buffer_initial: Bytes::new(16_384),
            send_buffer_max: Bytes::new(1 << 22),
            ..profile
        };
        Sender::with_own_buffer(small).connection.buffers().0
    };
    assert_eq!(2 * buffer(bbr()), 3 * buffer(paced()));
}
