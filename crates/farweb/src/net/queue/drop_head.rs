//! Drop-head: a packet too many takes the oldest out.
//!
//! The packet in transmission stays, whatever the limit counts, and a packet that finds the transmitter free is sent.
//!
//! Left out: nothing.
//!
//! Source: the access queue of Starlink, found to drop from its front (arXiv 2605.27717).

use std::collections::VecDeque;

use crate::net::config::{QueueCounts, QueueLimit};
use crate::net::{DropReason, Packet};
use crate::units::Instant;

use super::late::{Account, Fifo};

/// Limit of a drop-head queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DropHead {
    /// Its limit.
    pub limit: QueueLimit,
    /// Packets that count against the limit.
    pub counts: QueueCounts,
}

/// Packets that wait.
#[derive(Debug, Clone)]
pub(super) struct Queue<P> {
    config: DropHead,
    waiting: Fifo<P>,
}

impl<P: Packet> Queue<P> {
    pub(super) const fn new(config: DropHead) -> Self {
        Self { config, waiting: VecDeque::new() }
    }

    pub(super) fn join(&mut self, now: Instant, packet: P) {
        self.waiting.push_back((now, packet));
    }

    pub(super) fn shed(&mut self, now: Instant, in_transmission: Option<u32>, account: &mut Account<P>) {
        let counted = in_transmission.filter(|_| self.config.counts == QueueCounts::All);
        let (packets, bytes) = counted.map_or((0, 0), |bytes| (1, u64::from(bytes)));
        while !self.config.limit.holds(packets + account.packets, bytes + account.bytes) {
            let Some((_, packet)) = account.pop(now, &mut self.waiting) else { return };
            account.drop(now, DropReason::Full, packet);
        }
    }

    pub(super) fn take(&mut self, now: Instant, account: &mut Account<P>) -> Option<(Instant, P)> {
        account.pop(now, &mut self.waiting)
    }
}
