//! Fast retransmit and fast recovery of 4.4BSD-Lite, by counting duplicate ACKs.
//!
//! Models the counter, its threshold, and the test that decides about deflation: only *more* duplicates than the
//! threshold deflate. There is no memory of what was outstanding when recovery began: any ACK of new data ends it, and a
//! second loss in the window waits for three more duplicates or for the timer. Leaves out everything later: partial ACKs
//! (RFC 6582), limited transmit (RFC 3042), SACK.
//!
//! Source: 4.4BSD-Lite `tcp_input.c` 8.5.

use super::super::profile::Profile;
use super::OnDuplicate;

/// The counter of duplicate ACKs.
#[derive(Debug, Clone)]
pub(in super::super) struct FastRetransmit {
    duplicates: u32,
    threshold: u32,
    deflate_at_threshold: bool,
}

impl FastRetransmit {
    pub(super) const fn new(profile: &Profile) -> Self {
        Self {
            duplicates: 0,
            threshold: profile.duplicate_ack_threshold,
            deflate_at_threshold: profile.deflate_at_threshold,
        }
    }

    pub(super) fn on_duplicate(&mut self) -> OnDuplicate {
        self.duplicates += 1;
        match self.duplicates.cmp(&self.threshold) {
            std::cmp::Ordering::Less => OnDuplicate::Wait,
            std::cmp::Ordering::Equal => OnDuplicate::Retransmit { duplicates: u64::from(self.duplicates) },
            std::cmp::Ordering::Greater => OnDuplicate::Inflate,
        }
    }

    pub(super) const fn reset(&mut self) {
        self.duplicates = 0;
    }

    pub(super) fn on_ack(&mut self) -> bool {
        let duplicates = std::mem::take(&mut self.duplicates);
        duplicates > self.threshold || (self.deflate_at_threshold && duplicates == self.threshold)
    }

    pub(super) const fn is_recovering(&self) -> bool {
        self.duplicates >= self.threshold
    }
}
