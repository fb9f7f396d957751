//! Header prediction: the two segments that arrive most, handled with little work, and with their quirks.
//!
//! Models 4.4BSD-Lite: a pure ACK that takes this path does not touch cwnd, the counter of duplicates or the window's
//! origin, so cwnd stops growing once it has reached the peer's window, and the ACK that ends a fast recovery may leave an
//! inflated window behind (RFC 2525, section 2.8; L. Brakmo and L. Peterson, "Performance Problems in BSD4.4 TCP", CCR 25(5),
//! 1995). [`HeaderPrediction::Fixed`] keeps that last ACK off this path.
//! Leaves out urgent data, which keeps a segment off this path.
//!
//! Source: 4.4BSD-Lite `tcp_input.c` 8.5; V. Jacobson, "4BSD TCP Header Prediction", CCR 20(2), 1990.

use super::connection::Connection;
use super::profile::HeaderPrediction;
use super::timers::Timer;
use crate::tcp::segment::{Flags, Plain};
use crate::tcp::state::{Emit, State};

/// Control bits that the fast path looks at: of these only ACK may be set.
const LOOKED_AT: Flags = Flags::SYN.union(Flags::FIN).union(Flags::RST).union(Flags::ACK);

impl Connection {
    /// Handles a segment if it is the expected one. False when it is not.
    pub(super) fn on_predicted(&mut self, segment: &Plain, out: &mut impl Emit) -> bool {
        let window = self.window_in(segment);
        let expected = self.state == State::Established
            && segment.flags.intersects(Flags::ACK)
            && !segment.flags.intersects(LOOKED_AT.without(Flags::ACK))
            && segment.seq == self.rcv_nxt
            && window != 0
            && window == self.snd_wnd
            && self.snd_nxt == self.snd_max
            && !self.is_timestamp_old(segment);
        if !expected {
            return false;
        }
        if segment.len == 0 {
            self.on_predicted_ack(segment, out)
        } else {
            self.on_predicted_data(segment, out)
        }
    }

    /// A pure ACK of new data, when the congestion window is not what limits.
    fn on_predicted_ack(&mut self, segment: &Plain, out: &mut impl Emit) -> bool {
        let recovering = self.profile.header_prediction == HeaderPrediction::Fixed
            && self.recovery.is_recovering(&self.profile);
        let new = segment.ack > self.snd_una && segment.ack <= self.snd_max;
        if !new || self.congestion.cwnd() < self.snd_wnd || recovering {
            return false;
        }
        self.measure_rtt(segment);
        self.snd_una = segment.ack;
        self.restart_retransmit();
        self.wake_writer(out);
        if self.send.queued(self.snd_una) > 0 {
            self.output(out);
        }
        true
    }

    /// Data in order and nothing else new: acknowledged later.
    fn on_predicted_data(&mut self, segment: &Plain, out: &mut impl Emit) -> bool {
        let len = u64::from(segment.len);
        if segment.ack != self.snd_una || !self.receive.is_in_order() || len > self.receive.space() {
            return false;
        }
        self.note_timestamp_in_window(segment);
        self.accept_text(len, out);
        self.delay_ack();
        if self.ack_now {
            self.output(out);
        }
        true
    }

    /// Round-trip sample of an ACK of new data.
    pub(super) fn measure_rtt(&mut self, segment: &Plain) {
        let echo = segment.timestamps().map(|stamps| stamps.echo);
        self.rtt.on_ack(segment.ack, self.clock.tick, echo, &self.profile);
    }

    /// After an ACK of new data: all acknowledged stops the timer, else it starts anew, unless the window is shut.
    pub(super) fn restart_retransmit(&mut self) {
        if self.snd_una == self.snd_max {
            self.timers.cancel(Timer::Retransmit);
        } else if !self.timers.is_set(Timer::Persist) {
            self.set_timer(Timer::Retransmit, self.rtt.rto());
        }
    }

    /// In-order data wants an ACK: later, or at once when the profile delays none, or none for so many segments.
    pub(super) fn delay_ack(&mut self) {
        self.unacked_segments += 1;
        let many = self.profile.ack_every > 0 && self.unacked_segments >= self.profile.ack_every;
        if self.profile.delayed_ack && !many {
            self.timers.set_delayed_ack(&mut self.clock, &self.profile);
        } else {
            self.ack_now = true;
        }
    }
}
