//! Tail loss probe: two round trips after the last segment of a flight, one more is sent. Its ACK shows missing segments.
//!
//! Models RFC 8985, section 7, with Linux's timers: where one segment is in flight the probe waits 200 ms more, for an ACK
//! that may be delayed. Leaves out Fast Open.
//!
//! Source: RFC 8985, section 7; Linux 6.18 `tcp_output.c`, `tcp_schedule_loss_probe()`, `tcp_send_loss_probe()`;
//! `tcp_input.c`, `tcp_process_tlp_ack()`.

use std::num::NonZeroU64;

use super::{CaState, Connection};
use crate::tcp::linux::acknowledge::Ack;
use crate::tcp::linux::output::Push;
use crate::tcp::linux::timers::Pending;
use crate::tcp::state::Emit;
use crate::units::Duration;

/// Time added to two round trips where more than one segment is in flight (`TCP_TIMEOUT_MIN_US`).
const TIMEOUT_MIN: Duration = Duration::from_millis(2);

/// A probe that is out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::tcp::linux) struct Probe {
    /// `snd_nxt` when it was sent. `None` when none is out.
    pub(in crate::tcp::linux) high_seq: Option<NonZeroU64>,
    /// It was sent before, as data.
    pub(super) is_retransmission: bool,
}

impl Connection {
    /// True where the end of a flight is probed.
    #[inline]
    pub(in crate::tcp::linux) fn may_probe(&self) -> bool {
        self.profile.tail_loss_probe
            && self.agreed.sack
            && matches!(self.recovery.state, CaState::Open | CaState::Cwr)
    }

    /// Sets the timer to the next probe. True when it did. If not, the retransmission timer is wanted.
    ///
    /// `is_progress` when the retransmission timer would start anew, else it runs from the first segment on.
    pub(in crate::tcp::linux) fn schedule_probe(&mut self, is_progress: bool) -> bool {
        if self.queue.is_empty() || !self.may_probe() {
            return false;
        }
        let mut wait = match self.rtt.srtt() {
            None => self.profile.rto_initial,
            Some(srtt) if self.queue.packets_out() == 1 => srtt * 2 + self.profile.rto_min,
            Some(srtt) => srtt * 2 + TIMEOUT_MIN,
        };
        let until_timeout = if is_progress { self.rtt.rto() } else { self.until_rto() };
        if until_timeout > Duration::ZERO {
            wait = wait.min(until_timeout);
        }
        self.set_paced_transmission(Pending::LossProbe, wait);
        true
    }

    /// The time of a probe has come: new data goes if it can, else the last segment once more.
    pub(in crate::tcp::linux) fn on_probe_expiry(&mut self, out: &mut impl Emit) {
        if self.recovery.probe.high_seq.is_none() && self.send_probe(out) {
            self.recovery.probe.high_seq = NonZeroU64::new(self.snd_nxt);
            // The retransmission timer runs from now.
            self.timers.cancel_transmission();
        }
        self.rearm_rto();
    }

    fn send_probe(&mut self, out: &mut impl Emit) -> bool {
        self.recovery.probe.is_retransmission = false;
        if self.unsent_segment_waits() && self.is_next_in_window() {
            let packets = self.queue.packets_out();
            self.push(Push::Probe, out);
            return self.queue.packets_out() > packets;
        }
        let Some(last) = self.queue.ids().next_back() else { return false };
        self.transmit_again(last, false, out);
        self.recovery.probe.is_retransmission = true;
        true
    }

    /// Meaning of an ACK for a probe that is out.
    pub(in crate::tcp::linux) fn tlp_on_ack(&mut self, acked: u64, ack: &Ack) {
        let Some(high_seq) = self.recovery.probe.high_seq.map(NonZeroU64::get) else { return };
        if acked < high_seq {
            return;
        }
        let is_pure_duplicate = !ack.una_advanced && !ack.is_not_duplicate() && !ack.data_sacked;
        if !self.recovery.probe.is_retransmission || ack.probe_duplicated {
            self.recovery.probe.high_seq = None;
        } else if acked > high_seq {
            // Only the probe has repaired the loss: the congestion that it shows is answered all the same.
            self.start_reduction();
            self.recovery.state = CaState::Cwr;
            self.end_reduction();
            self.keep_open();
        } else if is_pure_duplicate {
            self.recovery.probe.high_seq = None;
        }
    }
}
