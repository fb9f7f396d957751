//! SYN and SYN-ACK: their options, times of retransmission, and the cost of their loss.

use super::*;
use crate::tcp::Random;
use crate::tcp::state::CloseReason;

fn config(profile: Profile) -> Config {
    Config {
        profile: Arc::new(SharedProfile::new(profile)),
        mss: 1460,
        receive_window: None,
        random: Random::default(),
    }
}

fn syn(options: Options) -> Segment {
    Segment { seq: 0, ack: 0, len: 0, window: 65535, flags: Flags::SYN, ecn: Codepoint::NotEct, options }
}

/// Times of an unanswered endpoint's segments in whole seconds, until it gives up.
fn times_of_sending(connection: &mut Connection) -> Vec<u64> {
    let mut times = Vec::new();
    while let Some(due) = connection.next_timeout() {
        let mut out = Output::default();
        connection.on_timeout(due, &mut out);
        times.extend(out.segments.iter().map(|_| (due - Instant::ZERO).as_nanos() / 1_000_000_000));
    }
    times
}

#[test]
fn a_syn_goes_again_every_second_before_its_timeout_doubles() {
    let mut connection =
        Connection::open(None, Instant::ZERO, config(Profile::linux()), host(), None, &mut Output::default());
    let times = times_of_sending(&mut connection);
    assert_eq!(times[..7], [1, 2, 3, 4, 5, 7, 11]);
    assert_eq!(times.len(), 10);
    assert_eq!(connection.state(), State::Closed);
}

#[test]
fn a_syn_ack_goes_again_with_doubling_timeouts() {
    let mut out = Output::default();
    let first = syn(Options::NONE);
    let mut connection =
        Connection::open(None, Instant::ZERO, config(Profile::linux()), host(), Some(&first), &mut out);
    let times = times_of_sending(&mut connection);
    assert_eq!(times, [1, 3, 7, 15, 31]);
    assert_eq!(connection.state(), State::Closed);
}

#[test]
fn a_syn_that_comes_again_is_answered_again_and_both_cost_the_initial_window() {
    let mut out = Output::default();
    let options = Options { mss: NonZeroU16::new(1460), ..Options::NONE };
    let first = syn(options);
    let mut connection =
        Connection::open(None, Instant::ZERO, config(Profile::linux()), host(), Some(&first), &mut out);
    let second = Instant::ZERO + Duration::from_secs(1);
    let expiry = connection.next_timeout().unwrap();
    connection.on_timeout(expiry, &mut out);
    let later = second + Duration::from_millis(60);
    connection.on_segment(later, &syn(options), &mut out);
    assert_eq!(out.segments.len(), 3);
    let ack = Segment {
        seq: 1,
        ack: 1,
        len: 0,
        window: 65535,
        flags: Flags::ACK,
        ecn: Codepoint::NotEct,
        options: Options::NONE,
    };
    connection.on_segment(later + Duration::from_millis(60), &ack, &mut out);
    assert_eq!(connection.state(), State::Established);
    assert_eq!(connection.cwnd(), 1460);
    assert_eq!(connection.rto(), Duration::from_secs(3), "no round trip was measured");
}

#[test]
fn one_retransmission_leaves_the_initial_window() {
    let mut out = Output::default();
    let options = Options { mss: NonZeroU16::new(1460), ..Options::NONE };
    let first = syn(options);
    let mut connection =
        Connection::open(None, Instant::ZERO, config(Profile::linux()), host(), Some(&first), &mut out);
    let expiry = connection.next_timeout().unwrap();
    connection.on_timeout(expiry, &mut out);
    let ack = Segment {
        seq: 1,
        ack: 1,
        len: 0,
        window: 65535,
        flags: Flags::ACK,
        ecn: Codepoint::NotEct,
        options: Options::NONE,
    };
    connection.on_segment(expiry + Duration::from_millis(120), &ack, &mut out);
    assert_eq!(connection.cwnd(), 14600);
}

#[test]
fn options_are_offered_as_the_profile_has_them() {
    let options = |profile| {
        let mut out = Output::default();
        Connection::open(None, Instant::ZERO, config(profile), host(), None, &mut out);
        out.segments[0].options
    };
    let linux = options(Profile::linux());
    assert!(linux.sack_permitted && linux.timestamps.is_some() && linux.window_scale.is_some());
    assert_eq!(linux.bytes(), 20);
    let classic = options(Profile::linux_classic());
    assert_eq!(classic, Options { mss: NonZeroU16::new(1460), ..Options::NONE });
}

#[test]
fn a_reset_refuses_and_a_wrong_ack_is_reset() {
    let mut out = Output::default();
    let mut connection =
        Connection::open(None, Instant::ZERO, config(Profile::linux()), host(), None, &mut out);
    out.segments.clear();
    let now = Instant::ZERO + Duration::from_millis(1);
    let wrong = Segment {
        seq: 0,
        ack: 7,
        len: 0,
        window: 0,
        flags: Flags::ACK,
        ecn: Codepoint::NotEct,
        options: Options::NONE,
    };
    connection.on_segment(now, &wrong, &mut out);
    assert_eq!((out.segments[0].flags, out.segments[0].seq), (Flags::RST, 7));
    let reset = Segment { ack: 1, flags: Flags::RST | Flags::ACK, ..wrong };
    connection.on_segment(now, &reset, &mut out);
    assert_eq!(out.notices, [Notice::Closed(CloseReason::Refused)]);
}
