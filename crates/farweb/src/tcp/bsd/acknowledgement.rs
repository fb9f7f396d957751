//! ACKs on the slow path: duplicates, and ACKs of new data.
//!
//! Models 4.4BSD-Lite. A duplicate has no data, the same window and the same number, while the retransmission timer
//! runs. Anything else that acknowledges nothing new starts the count again, a window update too.
//! Leaves out what a route remembers of earlier connections.
//!
//! Source: 4.4BSD-Lite `tcp_input.c` 8.5; RFC 2001.

use super::connection::Connection;
use super::input::Rejection;
use super::recovery::OnDuplicate;
use super::timers::Timer;
use crate::tcp::segment::{FIRST_BYTE, Plain, WINDOW_FIELD_MAX};
use crate::tcp::state::{CloseReason, Emit, State};

impl Connection {
    /// An ACK of nothing new.
    pub(super) fn process_old_ack(
        &mut self,
        segment: &Plain,
        window: u64,
        out: &mut impl Emit,
    ) -> Result<(), Rejection> {
        let repeats = segment.len == 0 && window == self.snd_wnd;
        if !repeats || !self.timers.is_set(Timer::Retransmit) || segment.ack != self.snd_una {
            self.recovery.reset();
            return Ok(());
        }
        match self.recovery.on_duplicate(&self.profile) {
            OnDuplicate::Wait => return Ok(()),
            OnDuplicate::Retransmit { duplicates } => self.fast_retransmit(duplicates, out),
            OnDuplicate::Inflate => {
                self.congestion.on_further_duplicate(self.mss);
                self.output(out);
            }
        }
        Err(Rejection::Silent)
    }

    /// Sends the segment at `snd_una` again, and only that, by a window of one segment for the time of the call.
    fn fast_retransmit(&mut self, duplicates: u64, out: &mut impl Emit) {
        let resume = self.snd_nxt;
        self.congestion.on_fast_retransmit(self.snd_wnd.min(self.congestion.cwnd()), self.mss);
        self.timers.cancel(Timer::Retransmit);
        self.rtt.on_retransmit();
        self.snd_nxt = self.snd_una;
        self.output(out);
        self.congestion.on_recovery_started(duplicates, self.mss);
        self.snd_nxt = self.snd_nxt.max(resume);
    }

    /// An ACK of new data, a SYN or a FIN. True when there may be something to send.
    pub(super) fn process_new_ack(
        &mut self,
        segment: &Plain,
        out: &mut impl Emit,
    ) -> Result<bool, Rejection> {
        if self.recovery.on_ack(&self.profile) {
            self.congestion.on_recovered();
        }
        if segment.ack > self.snd_max {
            return Err(Rejection::Acknowledge);
        }
        self.measure_rtt(segment);
        let all_acknowledged = segment.ack == self.snd_max;
        let queued = self.send.queued(self.snd_una);
        let acknowledged = segment.ack - self.snd_una;
        // The window is counted from `snd_una`. The segment's own window, if it is newer, replaces it in a moment.
        self.snd_wnd = self.snd_wnd.saturating_sub(acknowledged.min(queued));
        self.snd_una = segment.ack;
        self.snd_nxt = self.snd_nxt.max(self.snd_una);
        self.restart_retransmit();
        let largest = WINDOW_FIELD_MAX << self.negotiated.snd_scale;
        if self.snd_una > FIRST_BYTE || self.profile.syn_ack_opens_cwnd {
            self.congestion.on_ack(self.mss, largest, &self.profile);
        }
        self.wake_writer(out);
        if self.sent_fin && self.snd_una > self.send.end {
            self.process_ack_of_fin(out)?;
        }
        Ok(all_acknowledged)
    }

    /// All of the stream is acknowledged, and the FIN if one was sent.
    fn process_ack_of_fin(&mut self, out: &mut impl Emit) -> Result<(), Rejection> {
        match self.state {
            State::FinWait1 => {
                self.state = State::FinWait2;
                if self.detached {
                    // Nobody would notice if the peer never finished. RFC 793 would wait for ever.
                    let patience = self.profile.ticks.fin_wait_2_timeout;
                    self.set_timer(Timer::TwoMsl, patience);
                }
            }
            State::Closing => self.enter_time_wait(),
            State::LastAck => {
                self.finish(CloseReason::Finished, out);
                return Err(Rejection::Silent);
            }
            _ => {}
        }
        Ok(())
    }
}
