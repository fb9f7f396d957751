//! Loss recovery beside the retransmission timer: fast retransmit and fast recovery of 4.4BSD-Lite, by counting duplicate
//! ACKs. [`congestion`](super::congestion) limits how much may fly.
//!
//! Models the counter, its threshold, and the test that decides about deflation: only *more* duplicates than the
//! threshold deflate. It does not remember the data outstanding when recovery began: any ACK of new data ends it, and a
//! second loss in the window waits for three more duplicates or for the timer. Leaves out everything later: partial ACKs
//! (RFC 6582), limited transmit (RFC 3042), SACK.
//!
//! Source: 4.4BSD-Lite `tcp_input.c` 8.5.

use std::cmp::Ordering;

use super::profile::Profile;

/// The counter of duplicate ACKs.
#[derive(Debug, Clone)]
pub(super) struct Recovery {
    duplicates: u32,
}

/// Response to a duplicate ACK.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnDuplicate {
    /// Nothing yet.
    Wait,
    /// The segment at `snd_una` is lost: send it again.
    Retransmit {
        /// Duplicates counted.
        duplicates: u64,
    },
    /// In recovery: one more segment has left the network.
    Inflate,
}

impl Recovery {
    pub(super) const fn new() -> Self {
        Self { duplicates: 0 }
    }

    /// A duplicate ACK arrived.
    pub(super) fn on_duplicate(&mut self, profile: &Profile) -> OnDuplicate {
        self.duplicates += 1;
        match self.duplicates.cmp(&profile.duplicate_ack_threshold) {
            Ordering::Less => OnDuplicate::Wait,
            Ordering::Equal => OnDuplicate::Retransmit { duplicates: u64::from(self.duplicates) },
            Ordering::Greater => OnDuplicate::Inflate,
        }
    }

    /// Something else than a duplicate arrived, or the retransmission timer expired.
    pub(super) const fn reset(&mut self) {
        self.duplicates = 0;
    }

    /// New data was acknowledged. True when that ends a recovery and the window has to be deflated.
    pub(super) fn on_ack(&mut self, profile: &Profile) -> bool {
        let duplicates = std::mem::take(&mut self.duplicates);
        let threshold = profile.duplicate_ack_threshold;
        duplicates > threshold || (profile.deflate_at_threshold && duplicates == threshold)
    }

    /// True when the threshold is reached, and no ACK of new data was counted since.
    pub(super) const fn is_recovering(&self, profile: &Profile) -> bool {
        self.duplicates >= profile.duplicate_ack_threshold
    }
}
