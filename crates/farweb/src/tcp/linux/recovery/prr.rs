//! Proportional rate reduction: the window shrinks in step with what is delivered.
//!
//! Counts segments. Leaves out nothing of RFC 9937; in place of RecoverFS stands cwnd before the reduction, as in Linux.
//!
//! Source: RFC 9937, section 6; Linux 6.18 `tcp_input.c`, `tcp_cwnd_reduction()`, `tcp_init_cwnd_reduction()`,
//! `tcp_end_cwnd_reduction()`.

use super::{CaState, Connection};
use crate::tcp::linux::congestion::SSTHRESH_INFINITE;

/// Progress of a reduction, in segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::tcp::linux) struct Prr {
    /// Delivered since it began.
    delivered: u32,
    /// Sent since it began.
    pub(in crate::tcp::linux) out: u32,
}

impl Prr {
    /// Segments that may be sent now that `delivered` more have arrived; `is_safe` when the ACK moved and showed no new
    /// loss.
    fn quota(
        &mut self,
        delivered: u32,
        is_safe: bool,
        in_flight: u32,
        ssthresh: u32,
        prior_cwnd: u32,
    ) -> u32 {
        self.delivered += delivered;
        let quota = if in_flight > ssthresh {
            let share = u64::from(self.delivered) * u64::from(ssthresh);
            share.div_ceil(u64::from(prior_cwnd)).saturating_sub(u64::from(self.out)) as u32
        } else {
            let owed = self.delivered.saturating_sub(self.out).max(delivered);
            (owed + u32::from(is_safe)).min(ssthresh - in_flight)
        };
        // The first retransmission leaves whatever is in flight.
        quota.max(u32::from(self.out == 0))
    }
}

impl Connection {
    /// A reduction begins: the new ssthresh.
    pub(super) fn start_reduction(&mut self) {
        self.recovery.high_seq = self.snd_nxt;
        self.recovery.probe.high_seq = None;
        self.window.cwnd_cnt = 0;
        self.recovery.prior_cwnd = self.window.cwnd;
        self.recovery.prr = Prr::default();
        self.window.ssthresh = self.congestion.ssthresh_after_loss(&self.window);
    }

    /// The window as the reduction goes on.
    pub(in crate::tcp::linux) fn reduce_window(&mut self, delivered: u32, lost: u32, una_advanced: bool) {
        if delivered == 0 || self.recovery.prior_cwnd == 0 {
            return;
        }
        let in_flight = self.queue.in_flight();
        let is_safe = una_advanced && lost == 0;
        let (ssthresh, prior_cwnd) = (self.window.ssthresh, self.recovery.prior_cwnd);
        let quota = self.recovery.prr.quota(delivered, is_safe, in_flight, ssthresh, prior_cwnd);
        self.window.cwnd = in_flight + quota;
    }

    /// The reduction is over.
    pub(super) fn end_reduction(&mut self) {
        let is_undone = self.recovery.state != CaState::Cwr && self.recovery.undo.marker.is_none();
        if self.window.ssthresh < SSTHRESH_INFINITE && !is_undone {
            self.window.cwnd = self.window.ssthresh;
            self.usage.since = self.now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn above_ssthresh_it_sends_in_proportion() {
        // 20 in flight, one lost, ssthresh 10: every second delivery lets one segment go.
        let mut prr = Prr::default();
        let mut in_flight = 19;
        let mut sent = Vec::new();
        for _ in 0..8 {
            in_flight -= 1;
            let quota = prr.quota(1, false, in_flight, 10, 20);
            prr.out += quota;
            in_flight += quota;
            sent.push(quota);
        }
        assert_eq!(sent, [1, 0, 1, 0, 1, 0, 1, 0]);
    }

    #[test]
    fn below_ssthresh_it_sends_what_was_delivered_and_one_more_while_it_is_safe() {
        let mut prr = Prr { delivered: 5, out: 5 };
        assert_eq!(prr.quota(2, false, 4, 10, 20), 2);
        assert_eq!(Prr { delivered: 5, out: 5 }.quota(2, true, 4, 10, 20), 3);
        assert_eq!(Prr { delivered: 5, out: 5 }.quota(2, true, 9, 10, 20), 1, "not beyond ssthresh");
        assert_eq!(Prr { delivered: 9, out: 5 }.quota(1, false, 2, 10, 20), 5, "what was held back is owed");
    }

    #[test]
    fn the_first_retransmission_always_goes() {
        assert_eq!(Prr::default().quota(1, false, 30, 5, 100), 1);
        assert_eq!(Prr::default().quota(1, true, 10, 10, 20), 1, "even where ssthresh is reached");
    }
}
