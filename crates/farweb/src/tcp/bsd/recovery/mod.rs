//! Loss recovery: what is lost and has to be sent again. How much may fly is the matter of
//! [`congestion`](super::congestion).

mod fast_retransmit;

pub(super) use fast_retransmit::FastRetransmit;

use super::profile::Profile;

/// The loss recovery of a connection, beside the retransmission timer.
#[derive(Debug, Clone)]
pub(super) enum Recovery {
    /// Fast retransmit and fast recovery as 4.4BSD has them.
    FastRetransmit(FastRetransmit),
}

/// What a duplicate ACK calls for.
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
    pub(super) const fn new(profile: &Profile) -> Self {
        Self::FastRetransmit(FastRetransmit::new(profile))
    }

    const fn inner(&self) -> &FastRetransmit {
        let Self::FastRetransmit(recovery) = self;
        recovery
    }

    const fn inner_mut(&mut self) -> &mut FastRetransmit {
        let Self::FastRetransmit(recovery) = self;
        recovery
    }

    /// A duplicate ACK arrived.
    pub(super) fn on_duplicate(&mut self) -> OnDuplicate {
        self.inner_mut().on_duplicate()
    }

    /// Something else than a duplicate arrived, or the retransmission timer expired.
    pub(super) const fn reset(&mut self) {
        self.inner_mut().reset();
    }

    /// New data was acknowledged. Whether that ends a recovery whose window has to be deflated.
    pub(super) fn on_ack(&mut self) -> bool {
        self.inner_mut().on_ack()
    }

    /// Whether the threshold is reached, and no ACK of new data was counted since.
    pub(super) const fn is_recovering(&self) -> bool {
        self.inner().is_recovering()
    }
}
