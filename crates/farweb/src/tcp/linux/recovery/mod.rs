//! Loss recovery: which segments count as lost, and when the window is reduced. [`congestion`](super::congestion) limits
//! how much may fly.
//!
//! Models the states of Linux: Open, Disorder (an odd ACK was seen), CWR (the window is being reduced without a
//! retransmission), Recovery (fast retransmit) and Loss (a timeout). Losses are found by time of transmission ([`rack`])
//! with SACK, and by duplicate ACKs ([`newreno`]) without. The end of a flight is probed ([`tlp`]). An uncalled-for
//! reduction is undone ([`undo`], [`frto`]). An echoed mark reduces the window as a loss does, once a window. Leaves out
//! congestion at the host itself, which leads to CWR too.
//!
//! Source: Linux 6.18 `tcp_input.c`, `tcp_fastretrans_alert()`, `tcp_enter_recovery()`, `tcp_enter_loss()`,
//! `tcp_timeout_mark_lost()`, `tcp_try_to_open()`, `tcp_enter_cwr()`; RFC 6675; RFC 5681; RFC 3168, section 6.1.2.

mod frto;
mod newreno;
mod rack;
mod tlp;
mod undo;

pub(super) use rack::Rack;
pub(super) use tlp::Probe;
pub(super) use undo::Undo;

use super::acknowledge::Ack;
use super::congestion::Event;
use super::connection::Connection;
use super::profile::Profile;
use super::sack::Blocks;
use super::timers::Pending;
use crate::units::Duration;

/// Shortest time that a receiver that seems to throw data away is given to think better of it (chosen by Linux,
/// `tcp_check_sack_reneging()`).
const RENEGING_PATIENCE_MIN: Duration = Duration::from_millis(10);

/// State of the sender with respect to losses, from calm to alarm (`tcp_ca_state`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CaState {
    /// All is well.
    Open,
    /// Duplicate ACKs or SACKs were seen.
    Disorder,
    /// The window is being reduced, nothing is retransmitted.
    Cwr,
    /// Fast recovery.
    Recovery,
    /// Recovery from a timeout.
    Loss,
}

/// Segment to send after an ACK beyond those that the window allows anyway.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Resend {
    Nothing,
    /// Segments that are marked as lost.
    Lost,
    /// New data, to see if the timeout was spurious (RFC 5682).
    New,
}

/// Loss recovery of a connection.
#[derive(Debug, Clone)]
pub(super) struct Recovery {
    pub(super) state: CaState,
    /// The episode ends when this is acknowledged: `snd_nxt` when it began.
    pub(super) high_seq: u64,
    /// Most segments that may overtake one without loss.
    pub(super) reordering: u32,
    /// True when segments have overtaken each other on this connection.
    pub(super) reordering_seen: bool,
    /// Timeouts since `snd_una` last advanced.
    pub(super) timeouts_in_a_row: u32,
    /// Segments that the peer has reported to have received twice.
    pub(super) duplicates_reported: u64,
    /// SACK blocks of the last ACK that had some.
    pub(super) known_blocks: Option<Box<Blocks>>,
    /// True when the last timeout may turn out to be spurious.
    pub(super) frto: bool,
    /// The window was reduced, and new data has not told the peer yet (`TCP_ECN_QUEUE_CWR`).
    pub(super) owes_cwr: bool,
    /// Times that it was reduced for marks.
    pub(super) ece_cuts: u64,
    /// The receiver has thrown away data that it had SACKed, and the episode is not over (`is_sack_reneg`).
    pub(super) has_reneged: bool,
    pub(super) undo: Undo,
    pub(super) rack: Rack,
    pub(super) probe: Probe,
}

impl CaState {
    /// True when the window shrinks in step with deliveries.
    pub(super) const fn is_reducing(self) -> bool {
        matches!(self, Self::Cwr | Self::Recovery)
    }
}

impl Recovery {
    pub(super) fn new(profile: &Profile) -> Self {
        Self {
            state: CaState::Open,
            high_seq: 0,
            reordering: profile.reordering,
            reordering_seen: false,
            timeouts_in_a_row: 0,
            duplicates_reported: 0,
            known_blocks: None,
            frto: false,
            owes_cwr: false,
            ece_cuts: 0,
            has_reneged: false,
            undo: Undo::default(),
            rack: Rack::default(),
            probe: Probe::default(),
        }
    }
}

impl Connection {
    /// Moves the state machine with an ACK that is not plainly good. `duplicates` is 1 for a duplicate ACK.
    pub(super) fn alert(&mut self, duplicates: u32, ack: &mut Ack) -> Resend {
        if self.queue.is_empty() {
            self.queue.sacked_out = 0;
        }
        if ack.ece {
            self.recovery.undo.prior_ssthresh = None;
        }
        if self.is_reneging(ack) {
            return Resend::Nothing;
        }
        if self.end_episode() {
            return Resend::Nothing;
        }
        match self.recovery.state {
            CaState::Recovery => self.alert_in_recovery(duplicates, ack),
            CaState::Loss => {
                let resend = self.process_loss(duplicates, ack);
                self.identify_losses(ack);
                // A timeout that proved spurious, or a retransmission that was lost, is looked at as in other states.
                if self.recovery.state != CaState::Open && !ack.retransmission_lost {
                    return resend;
                }
                self.alert_elsewhere(duplicates, ack, resend)
            }
            _ => self.alert_elsewhere(duplicates, ack, Resend::Nothing),
        }
    }

    /// The first segment in the queue was SACKed, yet the ACK moved: the receiver may have thrown data away. It gets half
    /// a round trip, then all its SACKs are forgotten.
    fn is_reneging(&mut self, ack: &mut Ack) -> bool {
        if !ack.reneging || !ack.una_advanced {
            return false;
        }
        let half = self.rtt.srtt().unwrap_or(Duration::ZERO).mul_div(1, 2);
        self.set_transmission(Pending::Retransmit, half.max(RENEGING_PATIENCE_MIN));
        ack.restart_timer = false;
        true
    }

    /// Ends an episode once its `high_seq` is acknowledged. True if it goes on until more is.
    fn end_episode(&mut self) -> bool {
        if self.recovery.state == CaState::Open {
            self.recovery.undo.first_retransmit = None;
            return false;
        }
        if self.snd_una < self.recovery.high_seq {
            return false;
        }
        match self.recovery.state {
            CaState::Cwr if self.snd_una != self.recovery.high_seq => {
                self.end_reduction();
                self.recovery.state = CaState::Open;
            }
            CaState::Recovery => {
                if !self.agreed.sack {
                    self.queue.sacked_out = 0;
                }
                if self.try_undo_recovery() {
                    return true;
                }
                self.end_reduction();
            }
            _ => {}
        }
        false
    }

    fn alert_in_recovery(&mut self, duplicates: u32, ack: &mut Ack) -> Resend {
        if !ack.una_advanced {
            self.add_reno_sacks(duplicates);
        } else if self.try_undo_partial(ack.prior_una) {
            return Resend::Nothing;
        }
        if self.try_undo_by_duplicates() {
            self.try_to_open(ack.ece);
        }
        self.identify_losses(ack);
        if self.recovery.state != CaState::Recovery {
            if self.queue.lost_out == 0 {
                return Resend::Nothing;
            }
            self.enter_recovery(ack.ece);
        }
        Resend::Lost
    }

    /// In the states without retransmissions. `so_far` goes out if nothing is lost.
    fn alert_elsewhere(&mut self, duplicates: u32, ack: &mut Ack, so_far: Resend) -> Resend {
        if !self.agreed.sack && ack.una_advanced {
            self.queue.sacked_out = 0;
        }
        self.add_reno_sacks(duplicates);
        if self.recovery.state <= CaState::Disorder {
            self.try_undo_by_duplicates();
        }
        self.identify_losses(ack);
        if self.queue.lost_out == 0 {
            self.try_to_open(ack.ece);
            return so_far;
        }
        self.enter_recovery(ack.ece);
        Resend::Lost
    }

    /// Marks lost segments.
    fn identify_losses(&mut self, ack: &mut Ack) {
        if self.queue.is_empty() {
            return;
        }
        if !self.agreed.sack {
            self.newreno_mark_lost(ack.una_advanced);
            return;
        }
        let retransmissions = self.queue.retrans_out;
        if self.rack_mark_lost() {
            ack.restart_timer = false;
        }
        ack.retransmission_lost |= self.queue.retrans_out < retransmissions;
    }

    /// Enters fast recovery. A reduction that a mark asks for too (`ece`) is not undone.
    pub(super) fn enter_recovery(&mut self, ece: bool) {
        if !self.is_anything_retransmitted() {
            self.recovery.undo.first_retransmit = None;
        }
        self.recovery.undo.prior_ssthresh = None;
        self.start_undo();
        if !self.recovery.state.is_reducing() {
            self.recovery.undo.prior_ssthresh = (!ece).then(|| self.current_ssthresh());
            self.start_reduction();
        }
        self.recovery.state = CaState::Recovery;
    }

    /// Reduces the window for a mark, unless that is under way.
    #[cold]
    fn enter_cwr(&mut self) {
        self.recovery.undo.prior_ssthresh = None;
        if self.recovery.state < CaState::Cwr {
            self.recovery.undo.marker = None;
            self.start_reduction();
            self.recovery.state = CaState::Cwr;
            self.recovery.ece_cuts += u64::from(!self.congestion.is_by_rate());
        }
    }

    /// The retransmission timer has expired: queued segments count as lost.
    pub(super) fn enter_loss(&mut self) {
        let is_new = self.recovery.state < CaState::Recovery;
        let timeouts = self.recovery.timeouts_in_a_row;
        self.mark_lost_at_timeout();
        let is_unanswered = self.recovery.state <= CaState::Disorder
            || self.recovery.high_seq <= self.snd_una
            || (self.recovery.state == CaState::Loss && timeouts == 0);
        if is_unanswered {
            self.recovery.undo.prior_ssthresh = Some(self.current_ssthresh());
            self.start_undo();
        }
        let in_flight = self.queue.in_flight();
        self.congestion.on_timeout(&self.clock, &self.profile, is_unanswered, in_flight, self.snd_nxt);
        self.tell_model(Event::Timeout);
        // Many duplicate ACKs and yet a timeout: so much reordering was not there.
        if self.recovery.state <= CaState::Disorder && self.queue.sacked_out >= self.profile.reordering {
            self.recovery.reordering = self.recovery.reordering.min(self.profile.reordering);
        }
        self.recovery.state = CaState::Loss;
        self.recovery.high_seq = self.snd_nxt;
        self.recovery.probe.high_seq = None;
        self.recovery.owes_cwr = self.agreed.ecn;
        self.recovery.frto = self.profile.frto && (is_new || timeouts > 0);
    }

    /// Marks all as lost except segments sent less than a round trip ago. A receiver that has thrown data away loses its
    /// SACKs.
    fn mark_lost_at_timeout(&mut self) {
        let Some(front) = self.queue.front() else { return };
        let is_reneging = front.sacked;
        self.recovery.has_reneged |= is_reneging;
        if !self.agreed.sack {
            self.queue.sacked_out = 0;
        }
        for id in self.queue.ids() {
            if is_reneging {
                self.queue.clear_sacked(id);
            } else if id != self.queue.first_id() && self.is_too_young_to_be_lost(id) {
                continue;
            }
            self.queue.mark_lost(id);
        }
        self.queue.forget_retransmit_hint();
    }

    /// Goes to Open, or to Disorder while something is missing, or to CWR for a mark.
    fn try_to_open(&mut self, ece: bool) {
        if !self.is_anything_retransmitted() {
            self.recovery.undo.first_retransmit = None;
        }
        if ece {
            self.enter_cwr();
        }
        if self.recovery.state != CaState::Cwr {
            self.keep_open();
        }
    }

    pub(super) fn keep_open(&mut self) {
        let is_odd = self.queue.left_out() > 0 || self.is_anything_retransmitted();
        let state = if is_odd { CaState::Disorder } else { CaState::Open };
        if self.recovery.state != state {
            self.recovery.state = state;
            self.recovery.high_seq = self.snd_nxt;
        }
    }

    /// True when a retransmission is in flight, or the first segment was sent again at some time.
    pub(super) fn is_anything_retransmitted(&self) -> bool {
        self.queue.retrans_out > 0 || self.queue.front().is_some_and(|front| front.ever_retransmitted)
    }

    /// ssthresh as it is worth now.
    fn current_ssthresh(&self) -> u32 {
        self.congestion.current_ssthresh(self.recovery.state.is_reducing())
    }

    /// The window is going to shrink, for a mark, a loss that was found or one that a probe has repaired.
    fn start_reduction(&mut self) {
        self.recovery.high_seq = self.snd_nxt;
        self.recovery.probe.high_seq = None;
        self.recovery.owes_cwr = self.agreed.ecn;
        self.congestion.on_loss_found(&self.profile);
    }

    /// The reduction is over.
    fn end_reduction(&mut self) {
        let is_undone = self.recovery.state != CaState::Cwr && self.recovery.undo.marker.is_none();
        if !is_undone {
            self.congestion.on_recovered(&self.clock);
        }
    }
}
