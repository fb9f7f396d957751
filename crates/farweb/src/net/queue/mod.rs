//! The queue in front of a transmitter: what stands in it, and the discipline that lets a packet join or not.
//!
//! Models disciplines that decide **as a packet arrives**, a file each, behind the one match of [`Queue::admits`]. A
//! packet that has joined is sent, first in, first out, so that its departure is known at once; the queue keeps it with
//! that, until it arrives. A discipline is asked for every packet that reaches the link and is not lost on the way; it
//! sees the [`Backlog`] as it is at that instant, and may keep a state of its own, such as an average.
//!
//! Left out: disciplines that decide when a packet is taken out (CoDel, FQ), for which see [`Link`](super::Link); marking
//! instead of dropping (ECN, RFC 3168).

mod backlog;
mod drop_tail;

use super::Packet;
use crate::units::Instant;

pub(super) use backlog::Backlog;
pub use drop_tail::DropTail;

/// Configuration of the queue in front of a transmitter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum QueueConfig {
    /// One that takes every packet.
    #[default]
    Unlimited,
    /// One that drops what does not fit.
    DropTail(DropTail),
}

/// The queue of one link direction.
#[derive(Debug, Clone)]
pub(super) struct Queue<P> {
    pub(super) backlog: Backlog<P>,
    discipline: Discipline,
}

/// The state of a [`QueueConfig`] on one link direction.
#[derive(Debug, Clone)]
enum Discipline {
    Unlimited,
    DropTail(DropTail),
}

impl<P: Packet> Queue<P> {
    /// An empty queue.
    pub(super) fn new(config: &QueueConfig) -> Self {
        let discipline = match *config {
            QueueConfig::Unlimited => Discipline::Unlimited,
            QueueConfig::DropTail(limit) => Discipline::DropTail(limit),
        };
        Self { backlog: Backlog::default(), discipline }
    }

    /// True when a packet of `bytes` bytes that arrives at `now` may join.
    #[inline]
    pub(super) fn admits(&mut self, now: Instant, bytes: u32) -> bool {
        self.backlog.drain(now);
        match &self.discipline {
            Discipline::Unlimited => true,
            Discipline::DropTail(limit) => limit.admits(bytes, &self.backlog),
        }
    }
}
