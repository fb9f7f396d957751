//! Processing of an ACK: the retransmission queue, the round-trip time, the state of recovery, the window, the timer.
//!
//! Models `tcp_ack()`, with Linux's steps and their order. Leaves out MTU probing and the fast path of header
//! prediction, which does the same with fewer checks.
//!
//! Source: Linux 6.18 `tcp_input.c`, `tcp_ack()`, `tcp_clean_rtx_queue()`, `tcp_ack_update_rtt()`, `tcp_cong_control()`,
//! `tcp_ack_update_window()`, `tcp_ecn_accept_cwr()`; RFC 5961, section 5.2; RFC 3168, section 6.1.

use super::congestion::AckSample;
use super::connection::Connection;
use super::input::Incoming;
use super::recovery::{CaState, Resend};
use super::sent::sent_after;
use crate::tcp::segment::Flags;
use crate::tcp::state::Emit;
use crate::units::{Duration, Instant};

/// Findings about one ACK so far.
#[derive(Debug, Default)]
pub(super) struct Ack {
    /// `snd_una` before it.
    pub(super) prior_una: u64,
    /// Its segment carries data or a FIN.
    pub(super) carries_data: bool,
    /// It may have changed the peer's window.
    pub(super) window_updated: bool,
    /// It acknowledges something new.
    pub(super) una_advanced: bool,
    /// It acknowledges new data or our FIN.
    pub(super) data_acked: bool,
    pub(super) syn_acked: bool,
    /// Something that it acknowledges was sent more than once.
    pub(super) retransmitted_acked: bool,
    /// It has SACK blocks of something new.
    pub(super) data_sacked: bool,
    /// It echoes a mark.
    pub(super) ece: bool,
    /// Something below `high_seq` that was sent only once has arrived.
    pub(super) original_delivered: bool,
    /// It reports a duplicate (D-SACK).
    pub(super) duplicate_reported: bool,
    /// The duplicate is our tail loss probe.
    pub(super) probe_duplicated: bool,
    /// The first segment in the queue has a SACK mark: the receiver has thrown data away.
    pub(super) reneging: bool,
    /// The timer is to be set anew.
    pub(super) restart_timer: bool,
    /// A retransmission was found lost.
    pub(super) retransmission_lost: bool,
    /// It may have waited at the receiver.
    pub(super) maybe_delayed: bool,
    /// Transmission of the first and the last segment that it newly SACKs and that was sent only once.
    pub(super) sacked_sent: Option<(Instant, Instant)>,
    /// Lowest number that was SACKed after a higher one.
    pub(super) reordered_from: u64,
    /// Segments that its SACK blocks show to have arrived, duplicates included.
    pub(super) sack_delivered: u32,
    /// Segments delivered when the newest one that it shows was sent, and that transmission.
    pub(super) prior_delivered: Option<(u64, Instant, u64)>,
    /// Round trip for congestion control.
    pub(super) rtt: Option<Duration>,
}

/// Decision about the segment after its ACK.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is processed further.
    Taken,
    /// So it is, but the ACK was an old one.
    Old,
    /// It is dropped: the ACK is older than any window (RFC 5961, section 5.2).
    TooOld,
    /// It is dropped: the ACK is for bytes never sent.
    Unsent,
}

impl Ack {
    /// True when it acknowledges SYN, data or FIN.
    const fn acknowledges(&self) -> bool {
        self.data_acked || self.syn_acked
    }

    /// True when it cannot be a duplicate.
    pub(super) const fn is_not_duplicate(&self) -> bool {
        self.carries_data || self.window_updated || self.acknowledges()
    }

    const fn is_alarming(&self) -> bool {
        self.data_sacked || self.duplicate_reported || self.ece
    }

    const fn makes_progress(&self) -> bool {
        self.acknowledges() || self.data_sacked
    }

    /// It shows a segment that ends at `end` and was last sent at `sent_at`, with what had been `delivered` then. The record
    /// of the most recently sent one counts.
    #[inline]
    pub(super) fn note_delivery(&mut self, delivered: Option<u64>, sent_at: Instant, end: u64) {
        if let Some(delivered) = delivered
            && self.is_newest(sent_at, end)
        {
            self.prior_delivered = Some((delivered, sent_at, end));
        }
    }

    /// True when no segment that it has shown so far was sent later.
    #[inline]
    pub(super) fn is_newest(&self, sent_at: Instant, end: u64) -> bool {
        self.prior_delivered.is_none_or(|(_, at, newest_end)| sent_after(sent_at, end, at, newest_end))
    }
}

impl Connection {
    /// Processes the ACK of a segment.
    pub(super) fn on_ack(&mut self, segment: Incoming<'_>, out: &mut impl Emit) -> Verdict {
        if segment.ack < self.snd_una {
            return self.on_old_ack(segment, out);
        }
        if segment.ack > self.snd_nxt {
            return Verdict::Unsent;
        }
        let (prior_una, una_advanced) = (self.snd_una, segment.ack > self.snd_una);
        if una_advanced {
            self.recovery.timeouts_in_a_row = 0;
        }
        self.note_timestamp(segment);
        let window_updated = self.update_window(segment);
        self.zero_window.probes = 0;
        self.heard_at = self.clock.jiffies();
        let ece = segment.flags.intersects(Flags::ECE | Flags::CWR) && self.heeds_ecn(segment);
        let is_plain = !segment.has_sack() && self.recovery.probe.high_seq.is_none();
        if self.queue.is_empty() && is_plain {
            self.on_window_probe_answer();
            return Verdict::Taken;
        }
        let carries_data = segment.sequence_len() > 0;
        let mut ack = Ack { prior_una, carries_data, window_updated, una_advanced, ece, ..Ack::default() };
        let (delivered, lost) = (self.queue.delivered_total, self.queue.lost_total);
        let is_by_rate = self.congestion.is_by_rate();
        if is_by_rate {
            self.begin_sample();
        }
        let prior_fack = if self.agreed.sack { self.queue.highest_sacked(prior_una) } else { prior_una };
        if segment.has_sack() {
            self.tag_sacked(segment, &mut ack);
        }
        if self.queue.is_empty() {
            self.on_ack_of_nothing(&mut ack, out);
            return Verdict::Taken;
        }
        self.clean_queue(segment, prior_fack, &mut ack);
        self.rack_update_window(&ack);
        self.tlp_on_ack(segment.ack, &ack);
        let resend = self.alert_if_dubious(&mut ack);
        if ack.restart_timer {
            self.set_transmit_timer();
        }
        let newly_delivered = (self.queue.delivered_total - delivered) as u32;
        let newly_lost = (self.queue.lost_total - lost) as u32;
        if is_by_rate {
            self.control_by_rate(newly_delivered, newly_lost, &ack);
        } else {
            self.control_window(newly_delivered, newly_lost, &ack);
            self.follow_pace();
        }
        self.resend(resend, out);
        Verdict::Taken
    }

    /// Takes the peer's word that its window is reduced. True when the segment echoes a mark.
    #[cold]
    fn heeds_ecn(&mut self, segment: Incoming<'_>) -> bool {
        if self.agreed.ecn && segment.flags.contains(Flags::CWR) {
            self.receive.on_cwr(segment.sequence_len() > 0);
        }
        self.agreed.ecn && segment.flags.contains(Flags::ECE) && !segment.flags.contains(Flags::SYN)
    }

    /// An ACK that is behind others may still carry SACK blocks.
    #[cold]
    fn on_old_ack(&mut self, segment: Incoming<'_>, out: &mut impl Emit) -> Verdict {
        let reach = self.max_window.min(self.snd_una);
        if segment.ack < self.snd_una - reach {
            return Verdict::TooOld;
        }
        self.note_timestamp(segment);
        if segment.has_sack() {
            let mut ack = Ack { prior_una: self.snd_una, ..Ack::default() };
            self.tag_sacked(segment, &mut ack);
            let resend = self.alert(0, &mut ack);
            self.resend(resend, out);
        }
        Verdict::Old
    }

    /// Nothing was in flight: the ACK can only move the window, report a duplicate, or answer a probe.
    #[cold]
    fn on_ack_of_nothing(&mut self, ack: &mut Ack, out: &mut impl Emit) {
        if ack.duplicate_reported {
            let resend = self.alert(0, ack);
            self.resend(resend, out);
        }
        self.on_window_probe_answer();
        self.tlp_on_ack(self.snd_una, ack);
    }

    /// Takes the peer's window, and moves `snd_una`. True when the window may have changed.
    fn update_window(&mut self, segment: Incoming<'_>) -> bool {
        let shift = if segment.flags.contains(Flags::SYN) { 0 } else { self.agreed.snd_scale };
        let window = u64::from(segment.window) << shift;
        let may_update = self.may_update_window(segment, window);
        if may_update {
            self.snd_wl1 = segment.seq;
            if self.snd_wnd != window {
                self.snd_wnd = window;
                if self.unsent() > 0 {
                    self.restart_after_idle();
                }
                if window > self.max_window {
                    self.max_window = window;
                    self.bound_mss();
                }
            }
        }
        self.snd_una = segment.ack;
        may_update
    }

    /// True when the window of `segment` is newer than the one that we have.
    pub(super) fn may_update_window(&self, segment: Incoming<'_>, window: u64) -> bool {
        segment.ack > self.snd_una
            || segment.seq > self.snd_wl1
            || (segment.seq == self.snd_wl1 && (window > self.snd_wnd || window == 0))
    }

    /// Takes acknowledged segments off the queue, and learns the round-trip time from them.
    fn clean_queue(&mut self, segment: Incoming<'_>, prior_fack: u64, ack: &mut Ack) {
        let prior_sacked = self.queue.sacked_out;
        let removed = self.take_acknowledged(segment, ack);
        if let Some(front) = self.queue.front() {
            ack.reneging = front.sacked;
        }
        self.measure_rtt(&removed, prior_sacked, segment, ack);
        if ack.acknowledges() {
            ack.restart_timer = true;
            if self.agreed.sack {
                if removed.reordered_from < prior_fack {
                    self.check_reordering(removed.reordered_from);
                }
            } else {
                self.remove_reno_sacks(removed.segments);
                // Without SACK no one can tell which of two copies the ACK is for.
                ack.original_delivered &= !ack.retransmitted_acked;
            }
        } else if self.sack_is_newer_than_front(ack) {
            ack.restart_timer = true;
        }
        let sample = AckSample { rtt: ack.rtt, snd_una: self.snd_una, snd_nxt: self.snd_nxt };
        self.congestion.on_sample(&self.clock, &self.profile, &sample);
    }

    /// Takes segments off the front while `snd_una` is behind them.
    fn take_acknowledged(&mut self, segment: Incoming<'_>, ack: &mut Ack) -> Removed {
        let has_marks = self.queue.rates.is_some();
        let mut removed =
            Removed { segments: 0, first_sent: None, last_sent: None, reordered_from: self.snd_nxt };
        while let Some(sent) = self.queue.pop_acknowledged(self.snd_una) {
            if has_marks {
                let is_newest = sent.delivered.is_some() && ack.is_newest(sent.sent_at, sent.end);
                self.queue.take_mark(sent.sent_at, is_newest);
            }
            ack.note_delivery(sent.delivered, sent.sent_at, sent.end);
            if sent.was_retransmitted() {
                ack.retransmitted_acked = true;
            } else if !sent.sacked {
                removed.first_sent.get_or_insert(sent.sent_at);
                removed.last_sent = Some(sent.sent_at);
                removed.reordered_from = removed.reordered_from.min(sent.seq);
                ack.original_delivered |= sent.end <= self.recovery.high_seq;
            }
            if self.agreed.sack && !sent.sacked {
                self.queue.delivered_total += 1;
                if !self.is_spuriously_retransmitted(&sent, segment) {
                    self.rack_advance(sent.was_retransmitted(), sent.sent_at, sent.end);
                }
            }
            removed.segments += 1;
            if sent.flags.contains(Flags::SYN) {
                ack.syn_acked = true;
                self.recovery.undo.first_retransmit = None;
            } else {
                ack.data_acked = true;
            }
        }
        removed
    }

    /// Samples of the round trip: from segments sent only once, else from the timestamp that comes back.
    fn measure_rtt(&mut self, removed: &Removed, prior_sacked: u32, segment: Incoming<'_>, ack: &mut Ack) {
        let since = |at: Instant| self.clock.now().saturating_since(at);
        let (mut rtt, mut last) = (None, None);
        if !ack.retransmitted_acked {
            (rtt, last) = (removed.first_sent.map(since), removed.last_sent.map(since));
            let is_lone_runt = removed.segments == 1
                && prior_sacked == 0
                && self.snd_una - ack.prior_una < self.mss
                && ack.prior_delivered.is_some_and(|(prior, ..)| prior + 1 == self.queue.delivered_total);
            ack.maybe_delayed = rtt.is_some() && is_lone_runt && !ack.is_alarming() && !ack.syn_acked;
        }
        if let Some((first, newest)) = ack.sacked_sent {
            rtt = rtt.or(Some(since(first)));
            last = Some(since(newest));
        }
        if rtt.is_none()
            && ack.acknowledges()
            && let Some(echoed) = self.echoed_rtt(segment)
        {
            (rtt, last) = (Some(echoed), Some(echoed));
        }
        ack.rtt = last;
        let (Some(rtt), Some(last)) = (rtt, last) else { return };
        let skips_minimum = ack.maybe_delayed && self.rtt.min_rtt().is_some_and(|min| last > min);
        self.rtt.on_sample(rtt, self.snd_una, self.snd_nxt, &self.profile);
        if !skips_minimum {
            self.rtt.on_minimum_sample(self.clock.now(), last, &self.profile);
        }
    }

    /// The round trip as the echoed timestamp has it, in whole milliseconds and at least one.
    pub(super) fn echoed_rtt(&self, segment: Incoming<'_>) -> Option<Duration> {
        let echo = self.echo_in(segment)?;
        let millis = self.clock.timestamp_ms().wrapping_sub(echo);
        (millis < u32::MAX / 2).then(|| Duration::from_millis(u64::from(millis.max(1))))
    }

    /// True when the timer is to be set because SACKed data was sent after the first segment was last sent.
    fn sack_is_newer_than_front(&self, ack: &Ack) -> bool {
        match (ack.sacked_sent, self.queue.front()) {
            (Some((first, _)), Some(front)) => first < front.sent_at,
            _ => false,
        }
    }

    /// Asks recovery about an ACK that is a duplicate, SACKs something, or comes while not all is well.
    fn alert_if_dubious(&mut self, ack: &mut Ack) -> Resend {
        let is_dubious = !ack.is_not_duplicate() || ack.is_alarming() || self.recovery.state != CaState::Open;
        if !is_dubious {
            return Resend::Nothing;
        }
        let is_duplicate = !ack.una_advanced && !ack.is_not_duplicate() && !ack.duplicate_reported;
        self.alert(u32::from(is_duplicate), ack)
    }

    /// Reduces the window where recovery demands it, or lets it grow.
    fn control_window(&mut self, delivered: u32, lost: u32, ack: &Ack) {
        if self.recovery.state.is_reducing() {
            let is_safe = ack.una_advanced && lost == 0;
            self.congestion.on_recovery_ack(delivered, is_safe, self.queue.in_flight());
            return;
        }
        // Where reordering is high every delivery counts, else only what arrives in order (RFC 5681).
        let may_grow = if self.recovery.reordering > self.profile.reordering {
            ack.makes_progress()
        } else {
            ack.data_acked
        };
        if may_grow {
            self.congestion.on_progress(&self.clock, &self.profile, delivered);
        }
    }
}

/// Segments that an ACK has taken off the queue.
#[derive(Debug)]
struct Removed {
    segments: u32,
    /// Transmission of the first and the last of them that was sent only once and not SACKed before.
    first_sent: Option<Instant>,
    last_sent: Option<Instant>,
    /// Lowest number of those.
    reordered_from: u64,
}
