//! Recovery after a timeout, and detection of a spurious one.
//!
//! Models the SACK-enhanced F-RTO, which Linux uses without SACK too: after the first ACK that moves, new
//! data is sent instead of retransmissions, and its fate shows a spurious timeout. Leaves out its use with
//! Fast Open.
//!
//! Source: Linux 6.18 `tcp_input.c`, `tcp_process_loss()`; RFC 5682, section 3.

use super::{Connection, Resend};
use crate::tcp::linux::acknowledge::Ack;

impl Connection {
    /// An ACK in state Loss.
    pub(super) fn process_loss(&mut self, duplicates: u32, ack: &Ack) -> Resend {
        let is_recovered = self.snd_una >= self.recovery.high_seq;
        if ack.una_advanced && self.try_undo_loss(false) {
            return Resend::Nothing;
        }
        if self.recovery.frto {
            // Step 3.b: data that was not sent again has arrived.
            if ack.original_delivered && self.try_undo_loss(true) {
                return Resend::Nothing;
            }
            if self.snd_nxt > self.recovery.high_seq {
                if ack.data_sacked || duplicates > 0 {
                    self.recovery.frto = false; // Step 3.a: the loss was real.
                }
            } else if ack.una_advanced && !is_recovered {
                self.recovery.high_seq = self.snd_nxt;
                // Step 2.b: new data is tried, if there is some and the peer's window takes it.
                if self.unsent_segment_waits() && self.snd_una + self.snd_wnd > self.snd_nxt {
                    return Resend::New;
                }
                self.recovery.frto = false;
            }
        }
        if is_recovered {
            self.try_undo_recovery();
            return Resend::Nothing;
        }
        if !self.agreed.sack {
            // A duplicate ACK shows that new data of step 2.b has arrived.
            if self.snd_nxt > self.recovery.high_seq && duplicates > 0 {
                self.add_reno_sacks(duplicates);
            } else if ack.una_advanced {
                self.queue.sacked_out = 0;
            }
        }
        Resend::Lost
    }
}
