//! Proportional rate reduction: the window shrinks in step with deliveries.
//!
//! Models the reduction in whole segments. Leaves out nothing of RFC 9937. In place of RecoverFS stands cwnd before the
//! reduction, as in Linux.
//!
//! Source: RFC 9937, section 6; Linux 6.18 `tcp_input.c`, `tcp_cwnd_reduction()`, `tcp_init_cwnd_reduction()`.

/// Progress of a reduction, in segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reduction {
    /// cwnd before it. Zero before the first.
    pub(super) prior_cwnd: u32,
    /// Delivered since it began.
    delivered: u32,
    /// Sent since it began.
    sent: u32,
}

impl Reduction {
    /// State of a connection without any loss.
    pub(super) const NONE: Self = Self::starting_at(0);

    pub(super) const fn starting_at(cwnd: u32) -> Self {
        Self { prior_cwnd: cwnd, delivered: 0, sent: 0 }
    }

    /// True when there is a window to reduce from.
    pub(super) const fn has_begun(&self) -> bool {
        self.prior_cwnd > 0
    }

    pub(super) const fn on_sent(&mut self, segments: u32) {
        self.sent += segments;
    }

    /// Segments that may be sent now that `delivered` more have arrived. `is_safe` when the ACK moved and showed no new
    /// loss.
    pub(super) fn quota(&mut self, delivered: u32, is_safe: bool, in_flight: u32, ssthresh: u32) -> u32 {
        self.delivered += delivered;
        let quota = if in_flight > ssthresh {
            let share = u64::from(self.delivered) * u64::from(ssthresh);
            share.div_ceil(u64::from(self.prior_cwnd)).saturating_sub(u64::from(self.sent)) as u32
        } else {
            let owed = self.delivered.saturating_sub(self.sent).max(delivered);
            (owed + u32::from(is_safe)).min(ssthresh - in_flight)
        };
        // The first retransmission leaves whatever is in flight.
        quota.max(u32::from(self.sent == 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn above_ssthresh_it_sends_in_proportion() {
        // 20 in flight, one lost, ssthresh 10: every second delivery lets one segment go.
        let mut reduction = Reduction::starting_at(20);
        let mut in_flight = 19;
        let mut sent = Vec::new();
        for _ in 0..8 {
            in_flight -= 1;
            let quota = reduction.quota(1, false, in_flight, 10);
            reduction.on_sent(quota);
            in_flight += quota;
            sent.push(quota);
        }
        assert_eq!(sent, [1, 0, 1, 0, 1, 0, 1, 0]);
    }

    #[test]
    fn below_ssthresh_it_sends_what_was_delivered_and_one_more_while_it_is_safe() {
        let reduction = |delivered, sent| Reduction { prior_cwnd: 20, delivered, sent };
        assert_eq!(reduction(5, 5).quota(2, false, 4, 10), 2);
        assert_eq!(reduction(5, 5).quota(2, true, 4, 10), 3);
        assert_eq!(reduction(5, 5).quota(2, true, 9, 10), 1, "not beyond ssthresh");
        assert_eq!(reduction(9, 5).quota(1, false, 2, 10), 5, "what was held back is owed");
    }

    #[test]
    fn the_first_retransmission_always_goes() {
        assert_eq!(Reduction::starting_at(100).quota(1, false, 30, 5), 1);
        assert_eq!(Reduction::starting_at(20).quota(1, true, 10, 10), 1, "even where ssthresh is reached");
    }
}
