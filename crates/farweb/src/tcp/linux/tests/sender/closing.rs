//! FIN, half-close, TIME_WAIT, resets, and segments that are out of place.

use super::*;
use crate::tcp::state::CloseReason;

impl Sender {
    /// A segment of the peer with flags, from its number `seq` on, that acknowledges up to our number `ack`.
    fn receive(&mut self, flags: Flags, seq: u64, ack: u64, len: u32) {
        let timestamps = self.connection.agreed.timestamps.then(|| Timestamps {
            value: (self.now - Instant::ZERO).as_nanos() as u32 / 1_000_000,
            echo: self.connection.clock.timestamp_ms_at(self.now) - 100,
        });
        let options = Options { timestamps, ..Options::NONE };
        let segment = Segment { seq, ack, len, window: self.window, flags, ecn: Codepoint::NotEct, options };
        self.out = Output::default();
        self.connection.on_segment(self.now, &segment, &mut self.out);
    }

    /// Flags, number and ACK of the only segment that has just left.
    fn answer(&self) -> (Flags, u64, u64) {
        let [segment] = self.out.segments[..] else { panic!("{:?}", self.out.segments) };
        (segment.flags, segment.seq, segment.ack)
    }
}

const FIN_ACK: Flags = Flags::FIN.union(Flags::ACK);

#[test]
fn closing_first_ends_in_time_wait_for_a_minute() {
    let mut sender = Sender::new(Profile::linux());
    sender.connection.close(sender.now, &mut sender.out);
    assert_eq!(sender.answer(), (FIN_ACK, 1, 1));
    sender.wait(100);
    sender.receive(Flags::ACK, 1, 2, 0);
    assert_eq!(sender.connection.state(), State::FinWait2);
    sender.receive(FIN_ACK, 1, 2, 0);
    assert_eq!((sender.connection.state(), sender.answer()), (State::TimeWait, (Flags::ACK, 2, 2)));
    sender.wait(30_000);
    sender.receive(FIN_ACK, 1, 2, 0);
    assert_eq!(sender.answer(), (Flags::ACK, 2, 2), "a FIN that comes again is answered");
    sender.wait(59_000);
    assert_eq!(sender.connection.state(), State::TimeWait, "and the minute begins anew");
    sender.wait(10_000);
    assert_eq!(sender.out.notices, [Notice::Closed(CloseReason::Finished)]);
}

#[test]
fn closing_second_ends_with_the_last_ack() {
    let mut sender = Sender::new(Profile::linux());
    sender.receive(FIN_ACK, 1, 1, 0);
    assert_eq!(sender.out.notices, [Notice::EndOfStream]);
    assert_eq!(sender.connection.state(), State::CloseWait);
    sender.out = Output::default();
    sender.connection.close(sender.now, &mut sender.out);
    assert_eq!(sender.answer(), (FIN_ACK, 1, 2));
    sender.receive(Flags::ACK, 2, 2, 0);
    assert_eq!(sender.out.notices, [Notice::Closed(CloseReason::Finished)]);
}

#[test]
fn closing_at_the_same_time_passes_through_closing() {
    let mut sender = Sender::new(Profile::linux());
    sender.connection.close(sender.now, &mut sender.out);
    sender.receive(FIN_ACK, 1, 1, 0);
    assert_eq!((sender.connection.state(), sender.answer()), (State::Closing, (Flags::ACK, 2, 2)));
    sender.receive(Flags::ACK, 2, 2, 0);
    assert_eq!(sender.connection.state(), State::TimeWait);
}

#[test]
fn a_half_closed_connection_takes_data_until_its_application_closes() {
    let mut sender = Sender::new(Profile::linux());
    sender.connection.shutdown_write(sender.now, &mut sender.out);
    sender.receive(Flags::ACK, 1, 2, 1000);
    assert_eq!(sender.out.notices, [Notice::Readable]);
    assert_eq!(sender.connection.state(), State::FinWait2);
    assert_eq!(sender.connection.read(sender.now, 5000, &mut sender.out), 1000);
    sender.connection.close(sender.now, &mut sender.out);
    sender.receive(Flags::ACK, 1001, 2, 1000);
    assert_eq!(sender.answer(), (Flags::RST, 2, 0), "nobody is there to read");
    assert_eq!(sender.out.notices, [Notice::Closed(CloseReason::Reset)]);
}

#[test]
fn fin_wait_2_without_an_application_lasts_a_minute() {
    let mut sender = Sender::new(Profile::linux());
    sender.connection.close(sender.now, &mut sender.out);
    sender.receive(Flags::ACK, 1, 2, 0);
    sender.wait(59_000);
    assert_eq!(sender.connection.state(), State::FinWait2);
    sender.wait(10_000);
    assert_eq!(sender.connection.state(), State::Closed);
}

#[test]
fn closing_with_unread_data_resets() {
    let mut sender = Sender::new(Profile::linux());
    sender.receive(Flags::ACK, 1, 1, 1000);
    sender.out = Output::default();
    sender.connection.close(sender.now, &mut sender.out);
    assert_eq!(sender.answer(), (Flags::RST | Flags::ACK, 1, 1001));
    assert_eq!(sender.connection.state(), State::Closed);
}

#[test]
fn a_reset_counts_only_with_the_number_that_is_expected() {
    let mut sender = Sender::new(Profile::linux());
    sender.receive(Flags::RST, 500, 0, 0);
    assert_eq!(sender.answer(), (Flags::ACK, 1, 1), "a challenge");
    sender.receive(Flags::RST, 500, 0, 0);
    assert!(sender.out.segments.is_empty(), "one in half a second");
    sender.receive(Flags::RST, 1_000_000, 0, 0);
    assert!(sender.out.segments.is_empty(), "beyond the window");
    assert_eq!(sender.connection.state(), State::Established);
    sender.receive(Flags::RST, 1, 0, 0);
    assert_eq!(sender.out.notices, [Notice::Closed(CloseReason::Reset)]);
}

#[test]
fn a_syn_in_an_open_connection_is_challenged() {
    let mut sender = Sender::new(Profile::linux());
    sender.receive(Flags::SYN, 100, 0, 0);
    assert_eq!((sender.connection.state(), sender.answer()), (State::Established, (Flags::ACK, 1, 1)));
}

#[test]
fn an_ack_of_what_was_never_sent_is_dropped() {
    let mut sender = Sender::new(Profile::linux());
    sender.receive(Flags::ACK, 1, 5000, 1000);
    assert!(sender.out.segments.is_empty() && sender.out.notices.is_empty());
    assert_eq!(sender.connection.readable(), 0);
}

#[test]
fn a_segment_with_an_old_timestamp_is_dropped_and_answered() {
    let mut sender = Sender::new(Profile::linux());
    sender.wait(1000);
    sender.receive(Flags::ACK, 1, 1, 1000);
    assert_eq!(sender.connection.readable(), 1000);
    sender.now = Instant::ZERO + Duration::from_millis(1100);
    let options = Options { timestamps: Some(Timestamps { value: 500, echo: 1 }), ..Options::NONE };
    let old = Segment {
        seq: 1001,
        ack: 1,
        len: 1000,
        window: 100,
        flags: Flags::ACK,
        ecn: Codepoint::NotEct,
        options,
    };
    sender.out = Output::default();
    sender.connection.on_segment(sender.now, &old, &mut sender.out);
    assert_eq!(sender.connection.readable(), 1000);
    assert_eq!(sender.answer(), (Flags::ACK, 1, 1001));
}

#[test]
fn an_idle_connection_is_probed_if_that_is_wanted_and_given_up_without_an_answer() {
    let mut sender = Sender::new(Profile { keepalive: true, ..Profile::linux() });
    sender.wait(7_199_000);
    assert!(sender.out.segments.is_empty());
    sender.wait(60_000);
    assert_eq!(sender.answer(), (Flags::ACK, 0, 1), "a number that the peer has seen");
    sender.receive(Flags::ACK, 1, 1, 0);
    let mut probes = 0;
    while let Some(due) = sender.connection.next_timeout() {
        sender.now = due;
        sender.connection.on_timeout(due, &mut sender.out);
        probes += sender.out.segments.drain(..).filter(|segment| segment.flags == Flags::ACK).count();
    }
    assert_eq!(probes, 9);
    assert_eq!(sender.out.notices, [Notice::Closed(CloseReason::TimedOut)]);
}
