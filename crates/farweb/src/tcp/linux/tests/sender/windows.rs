//! Slow start, what does not let the window grow, idleness, Nagle's rule, a closed window.

use super::*;
use crate::tcp::linux::profile::CongestionControl;

#[test]
fn slow_start_counts_segments_not_acks() {
    let mut sender = Sender::new(Profile::linux());
    sender.write(100);
    assert_eq!(sender.sent(), (0..10).collect::<Vec<_>>());
    sender.wait(100);
    sender.ack(2, &[]);
    assert_eq!(sender.sent(), [10, 11, 12, 13]);
    sender.ack(10, &[]);
    assert_eq!((sender.sent().len(), sender.cwnd()), (16, 20));
}

#[test]
fn classic_starts_with_one_segment_and_doubles() {
    let mut sender = Sender::new(Profile::linux_classic());
    sender.write(100);
    let mut acked = 0;
    for round in [1, 2, 4, 8, 16] {
        assert_eq!(sender.sent().len(), round);
        sender.wait(100);
        for _ in 0..round {
            acked += 1;
            sender.ack(acked, &[]);
        }
    }
}

#[test]
fn a_window_that_is_not_used_does_not_grow() {
    let mut sender = Sender::new(Profile::linux());
    sender.write(4);
    sender.wait(100);
    sender.ack(4, &[]);
    assert_eq!(sender.cwnd(), 10);
}

#[test]
fn half_a_window_in_use_is_enough_in_slow_start() {
    let mut sender = Sender::new(Profile::linux());
    sender.write(6);
    sender.wait(100);
    sender.ack(6, &[]);
    assert_eq!(sender.cwnd(), 16);
}

#[test]
fn an_idle_connection_loses_half_its_window_for_every_rto() {
    let grown = |idle: u64, after_idle: bool| {
        let mut sender = Sender::new(Profile { slow_start_after_idle: after_idle, ..Profile::linux() });
        sender.write(70);
        for acked in [10, 30, 70] {
            sender.wait(100);
            sender.ack(acked, &[]);
        }
        assert_eq!(sender.cwnd(), 80);
        sender.wait(idle);
        sender.write(1);
        sender.cwnd()
    };
    // SRTT 100 ms and the floor of 200 ms: an RTO of 300 ms. The last data left 100 ms before its ACK.
    assert_eq!(grown(200, true), 80);
    assert_eq!(grown(500, true), 40);
    assert_eq!(grown(800, true), 20);
    assert_eq!(grown(3000, true), 10, "not below the initial window");
    assert_eq!(grown(3000, false), 80);
}

#[test]
fn a_small_segment_waits_for_the_small_one_before_it() {
    let mut sender = Sender::new(Profile::linux());
    let (now, out) = (sender.now, &mut sender.out);
    sender.connection.write(now, 300, out);
    sender.connection.write(now, 300, out);
    assert_eq!(out.segments.len(), 1);
    sender.connection.write(now, 700, out);
    assert_eq!(out.segments.iter().map(|segment| segment.len).collect::<Vec<_>>(), [300, 1000]);
    let mut open = Sender::new(Profile { nagle: false, ..Profile::linux() });
    open.connection.write(open.now, 300, &mut open.out);
    open.connection.write(open.now, 300, &mut open.out);
    assert_eq!(open.out.segments.len(), 2);
}

#[test]
fn a_fin_takes_the_last_segment_along() {
    let mut sender = Sender::new(Profile::linux());
    let (now, out) = (sender.now, &mut sender.out);
    sender.connection.write(now, 10 * MSS + 10, out);
    sender.connection.close(now, out);
    sender.wait(100);
    sender.out.segments.clear();
    sender.ack(10, &[]);
    let last = sender.out.segments[0];
    assert_eq!((last.seq, last.len), (Sender::number(10), 10));
    assert!(last.flags.contains(Flags::FIN | Flags::PSH | Flags::ACK));
    assert_eq!(sender.connection.state(), State::FinWait1);
}

#[test]
fn a_closed_window_is_probed_and_the_interval_doubles() {
    let mut sender = Sender::new(Profile { congestion_control: CongestionControl::Reno, ..Profile::linux() });
    sender.write(20);
    sender.wait(100);
    sender.window = 0;
    sender.ack(10, &[]);
    sender.out.segments.clear();
    let mut at = Vec::new();
    let start = sender.now;
    for _ in 0..4 {
        let due = sender.connection.next_timeout().unwrap();
        sender.now = due;
        sender.connection.on_timeout(due, &mut sender.out);
        at.push((due - start).as_nanos() / 100_000_000);
        let probe = sender.out.segments.pop().unwrap();
        assert_eq!((probe.seq, probe.len), (Sender::number(10) - 1, 0));
        sender.ack(10, &[]);
    }
    // 300 ms, then 600, 1200 and 2400 ms more, each rounded up by the timer wheel.
    assert_eq!(at, [3, 9, 21, 46]);
    sender.window = u16::MAX;
    sender.ack(10, &[]);
    assert_eq!(sender.sent(), (10..20).collect::<Vec<_>>());
}

#[test]
fn a_fin_waits_with_its_segment_for_room_and_a_probe_parts_them() {
    let mut sender = Sender::new(Profile { window_scaling: false, ..Profile::linux() });
    sender.write(9);
    sender.wait(100);
    sender.window = 0;
    sender.ack(9, &[]);
    sender.write(1);
    sender.connection.close(sender.now, &mut sender.out);
    sender.out.segments.clear();
    sender.window = MSS as u16;
    sender.ack(9, &[]);
    assert!(sender.out.segments.is_empty(), "the segment has room, but not its FIN");
    sender.wait(400);
    let [probe] = sender.out.segments[..] else { panic!("{:?}", sender.out.segments) };
    assert_eq!((probe.seq, probe.len, probe.flags), (Sender::number(9), 1000, Flags::PSH | Flags::ACK));
    sender.out.segments.clear();
    sender.ack(10, &[]);
    assert_eq!(sender.out.segments[0].flags, Flags::FIN | Flags::ACK);
}

#[test]
fn a_write_is_accepted_as_far_as_memory_goes_and_the_buffer_grows_with_the_window() {
    // As an untuned kernel begins.
    let unconfigured = Profile { send_buffer_initial: Bytes::new(16_384), ..Profile::linux() };
    let mut sender = Sender::with_own_buffer(unconfigured);
    let accepted = sender.connection.write(sender.now, 1 << 20, &mut sender.out);
    let (buffer, _) = sender.connection.buffers();
    // 2 · 10 segments of 2048 B and a descriptor.
    assert_eq!(buffer, 20 * (2048 + 256));
    assert_eq!(accepted, buffer.div_ceil(MSS + 832) * MSS);
    sender.wait(100);
    sender.out.notices.clear();
    sender.ack(10, &[]);
    assert_eq!(sender.out.notices, [Notice::Writable]);
    assert!(sender.connection.buffers().0 > buffer, "cwnd has more room than there was to send");
}
