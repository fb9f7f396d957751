//! Taking back a reduction of the window that was not called for.
//!
//! Models both signs that Linux knows: a reduction is taken back when all that was retransmitted is reported as a
//! duplicate (D-SACK), or when a timestamp shows that what arrived is the original (Eifel). What a mark has asked for is
//! never taken back. Leaves out nothing.
//!
//! Source: Linux 6.18 `tcp_input.c`, `tcp_may_undo()`, `tcp_packet_delayed()`, `tcp_undo_cwnd_reduction()`,
//! `tcp_try_undo_recovery()`, `tcp_try_undo_partial()`, `tcp_try_undo_dsack()`, `tcp_try_undo_loss()`; RFC 3522; RFC 3708.

use super::{CaState, Connection};
use crate::tcp::linux::congestion::Event;
use crate::tcp::linux::input::Incoming;
use crate::tcp::linux::sent::Sent;
use crate::tcp::state::State;

/// State needed to take back a reduction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::tcp::linux) struct Undo {
    /// `snd_una` when the reduction began. `None` when there is nothing to take back.
    pub(in crate::tcp::linux) marker: Option<u64>,
    /// Retransmissions not reported as duplicates. At zero the reduction may be taken back. `None` before the first.
    retransmissions: Option<u32>,
    /// ssthresh before the reduction. `None` when cwnd must stay reduced.
    pub(super) prior_ssthresh: Option<u32>,
    /// Timestamp of the first retransmission of the episode.
    pub(in crate::tcp::linux) first_retransmit: Option<u32>,
}

impl Undo {
    /// `count` retransmissions were reported as duplicates.
    pub(in crate::tcp::linux) const fn count_down(&mut self, count: u32) {
        if let Some(left) = self.retransmissions {
            self.retransmissions = Some(left.saturating_sub(count));
        }
    }

    /// One more segment was retransmitted, at timestamp `stamp`.
    pub(in crate::tcp::linux) fn on_retransmit(&mut self, stamp: u32) {
        self.first_retransmit.get_or_insert(stamp);
        self.retransmissions = Some(self.retransmissions.unwrap_or(0) + 1);
    }
}

impl Connection {
    /// Begins to watch for signs that the reduction is not called for.
    pub(super) fn start_undo(&mut self) {
        let probes =
            u32::from(self.recovery.probe.high_seq.is_some() && self.recovery.probe.is_retransmission);
        let in_flight = self.queue.retrans_out + probes;
        let undo = &mut self.recovery.undo;
        undo.marker = Some(self.snd_una);
        undo.retransmissions = (in_flight > 0).then_some(in_flight);
    }

    /// True when the timestamp that came back last is older than `stamp`.
    const fn echo_is_before(&self, stamp: u32) -> bool {
        match self.last_echo {
            Some(echo) => (echo.wrapping_sub(stamp) as i32) < 0,
            None => false,
        }
    }

    /// True when the ACK is for a transmission of `sent` before its last one.
    pub(in crate::tcp::linux) fn is_spuriously_retransmitted(
        &self,
        sent: &Sent,
        segment: Incoming<'_>,
    ) -> bool {
        sent.was_retransmitted()
            && self.echo_in(segment).is_some()
            && self.echo_is_before(self.clock.timestamp_ms_at(sent.sent_at))
    }

    /// True when the arriving segment was sent before the first retransmission, or nothing was retransmitted.
    fn is_only_delayed(&self) -> bool {
        match self.recovery.undo.first_retransmit {
            Some(stamp) => self.echo_is_before(stamp),
            None => {
                let held_back = !self.agreed.sack && self.snd_una >= self.recovery.high_seq;
                !held_back && self.state != State::SynSent
            }
        }
    }

    fn may_undo(&self) -> bool {
        let undo = &self.recovery.undo;
        undo.marker.is_some() && (undo.retransmissions == Some(0) || self.is_only_delayed())
    }

    fn undo_reduction(&mut self, unmarks_losses: bool) {
        if unmarks_losses {
            self.queue.clear_lost();
        }
        let prior_ssthresh = self.recovery.undo.prior_ssthresh;
        let is_raised = |now| prior_ssthresh.is_some_and(|prior| prior > now);
        if self.congestion.ssthresh().is_some_and(is_raised) {
            self.recovery.owes_cwr = false;
        }
        self.congestion.on_undo(&self.clock, prior_ssthresh);
        if prior_ssthresh.is_some() {
            self.tell_model(Event::Undo);
        }
        self.recovery.undo.marker = None;
        self.recovery.rack.force();
    }

    /// Without SACK the episode is held on to until something above `high_seq` is acknowledged: duplicate ACKs of
    /// retransmissions would start another one (RFC 6582, section 3.2).
    fn is_held_without_sack(&mut self) -> bool {
        if self.agreed.sack || self.snd_una != self.recovery.high_seq {
            return false;
        }
        if !self.is_anything_retransmitted() {
            self.recovery.undo.first_retransmit = None;
        }
        true
    }

    /// `high_seq` is acknowledged: undoes the reduction if it may, and opens. True when the episode is held on to.
    pub(super) fn try_undo_recovery(&mut self) -> bool {
        if self.may_undo() {
            self.undo_reduction(false);
        } else {
            self.recovery.rack.on_recovered();
        }
        if self.is_held_without_sack() {
            return true;
        }
        self.end_alarm();
        false
    }

    /// The episode is over, and with it the memory of data that the receiver has thrown away.
    const fn end_alarm(&mut self) {
        self.recovery.state = CaState::Open;
        self.recovery.has_reneged = false;
    }

    /// Undoes the reduction if all retransmissions were reported as duplicates. True when it did.
    pub(super) fn try_undo_by_duplicates(&mut self) -> bool {
        let undo = &self.recovery.undo;
        let undoes = undo.marker.is_some() && undo.retransmissions == Some(0);
        if undoes {
            self.recovery.rack.on_undone();
            self.undo_reduction(false);
        }
        undoes
    }

    /// A partial ACK: if the original has filled the hole, it was reordering. True: wait for the retransmitted segments.
    pub(super) fn try_undo_partial(&mut self, prior_una: u64) -> bool {
        if self.recovery.undo.marker.is_none() || !self.is_only_delayed() {
            return false;
        }
        self.check_reordering(prior_una);
        if self.queue.retrans_out > 0 {
            return true;
        }
        if !self.is_anything_retransmitted() {
            self.recovery.undo.first_retransmit = None;
        }
        self.undo_reduction(true);
        self.keep_open();
        false
    }

    /// Undoes the reduction of a timeout, if it may or `is_spurious` says so. True when it did.
    pub(super) fn try_undo_loss(&mut self, is_spurious: bool) -> bool {
        if !is_spurious && !self.may_undo() {
            return false;
        }
        self.undo_reduction(true);
        self.recovery.timeouts_in_a_row = 0;
        if !self.is_held_without_sack() && (is_spurious || self.agreed.sack) {
            self.end_alarm();
        }
        true
    }
}
