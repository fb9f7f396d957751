//! Recovery without SACK: duplicate ACKs stand for segments that have arrived.
//!
//! Models NewReno as in Linux: `sacked_out` counts duplicate ACKs, and each lets one new segment go (limited transmit
//! before the third). A partial ACK shows the next hole. Proportional rate reduction sets the window instead of inflation
//! by duplicates. Leaves out ECN.
//!
//! Source: Linux 6.18 `tcp_input.c` (`tcp_add_reno_sack()`, `tcp_remove_reno_sacks()`, `tcp_check_reno_reordering()`),
//! `tcp_recovery.c` (`tcp_newreno_mark_lost()`); RFC 6582; RFC 3042.

use super::{CaState, Connection};

impl Connection {
    /// Duplicate ACKs came: as many segments have left the network.
    pub(super) fn add_reno_sacks(&mut self, duplicates: u32) {
        if self.agreed.sack || duplicates == 0 {
            return;
        }
        let before = self.queue.sacked_out;
        self.queue.sacked_out += duplicates;
        self.limit_reno_sacks(0);
        self.queue.delivered_total += u64::from(self.queue.sacked_out.saturating_sub(before));
    }

    /// `acked` segments were acknowledged: one was the hole, the others the duplicate ACKs had announced.
    pub(in crate::tcp::linux) fn remove_reno_sacks(&mut self, acked: u32) {
        if acked > 0 {
            let unannounced = acked.saturating_sub(self.queue.sacked_out).max(1);
            self.queue.delivered_total += u64::from(unannounced);
            self.queue.sacked_out = self.queue.sacked_out.saturating_sub(acked - 1);
        }
        self.limit_reno_sacks(acked);
    }

    /// More duplicate ACKs than segments that can have arrived show reordering.
    fn limit_reno_sacks(&mut self, acked: u32) {
        let packets = self.queue.packets_out();
        let holes = self.queue.lost_out.max(1).min(packets);
        if self.queue.sacked_out + holes <= packets {
            return;
        }
        self.queue.sacked_out = packets - holes;
        self.recovery.reordering = (packets + acked).min(self.profile.reordering_max);
        self.recovery.reordering_seen = true;
    }

    /// The first segment is lost at the third duplicate ACK, and at every partial ACK of a recovery.
    pub(super) fn newreno_mark_lost(&mut self, una_advanced: bool) {
        let state = self.recovery.state;
        let at_threshold = state < CaState::Recovery && self.queue.sacked_out >= self.recovery.reordering;
        let at_partial_ack = state == CaState::Recovery && una_advanced;
        if (at_threshold || at_partial_ack) && self.queue.front().is_some_and(|front| !front.lost) {
            self.queue.mark_lost(self.queue.first_id());
        }
    }
}
