//! The queue in front of a transmitter: what stands in it, and the discipline that lets a packet join or not.
//!
//! Models two sorts of disciplines, a file each. Those that decide **as a packet arrives** stand behind the one match of
//! [`Queue::admits`]: a packet that has joined is sent, first in, first out, so that its departure is known at once; the
//! queue keeps it with that, until it arrives. Such a discipline is asked for every packet that reaches the link and is
//! not lost on the way; it sees the [`Backlog`] as it is at that instant, and may keep a state of its own. Those that
//! decide **as a packet is taken** for transmission keep the packets that wait ([`late`]).
//!
//! Queue management with ECN marks a packet in place of dropping it, where its sender takes marks (RFC 3168). A queue that is
//! full drops.

mod backlog;
mod codel;
mod drop_head;
mod drop_tail;
mod fq_codel;
mod late;
mod pie;
#[cfg(test)]
mod tests;

use super::{DropReason, Packet};
use crate::rng::RandomStream;
use crate::units::Instant;

pub(super) use backlog::Backlog;
pub use codel::{Codel, CodelVariant};
pub use drop_head::DropHead;
pub use drop_tail::DropTail;
pub use fq_codel::FqCodel;
pub use late::Dropped;
pub(super) use late::{Late, Sums};
pub use pie::Pie;

/// Configuration of the queue in front of a transmitter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum QueueConfig {
    /// One that takes every packet.
    #[default]
    Unlimited,
    /// One that drops what does not fit.
    DropTail(DropTail),
    /// One that keeps its delay short by random drops.
    Pie(Pie),
    /// One that drops the oldest for what does not fit.
    DropHead(DropHead),
    /// One that drops packets that have waited too long.
    Codel(Codel),
    /// One with a turn for each flow, each under CoDel.
    FqCodel(FqCodel),
}

impl QueueConfig {
    /// True when it decides as packets are taken.
    pub(super) const fn is_late(&self) -> bool {
        matches!(self, Self::DropHead(_) | Self::Codel(_) | Self::FqCodel(_))
    }
}

/// The queue of one link direction.
#[derive(Debug, Clone)]
pub(super) struct Queue<P> {
    pub(super) backlog: Backlog<P>,
    discipline: Discipline<P>,
}

/// The state of a [`QueueConfig`] on one link direction.
#[derive(Debug, Clone)]
enum Discipline<P> {
    Unlimited,
    DropTail(DropTail),
    Pie(Box<pie::State>),
    Late(Box<Late<P>>),
}

impl<P: Packet> Queue<P> {
    /// An empty queue, which draws from `random` if it draws at all.
    pub(super) fn new(config: QueueConfig, random: impl FnOnce() -> RandomStream) -> Self {
        let late = |discipline| Discipline::Late(Box::new(Late::new(discipline)));
        let discipline = match config {
            QueueConfig::Unlimited => Discipline::Unlimited,
            QueueConfig::DropTail(limit) => Discipline::DropTail(limit),
            QueueConfig::Pie(pie) => Discipline::Pie(Box::new(pie::State::new(pie, random()))),
            QueueConfig::DropHead(config) => late(late::Discipline::DropHead(drop_head::Queue::new(config))),
            QueueConfig::Codel(config) => late(late::Discipline::Codel(codel::Queue::new(&config))),
            QueueConfig::FqCodel(config) => {
                late(late::Discipline::FqCodel(fq_codel::Queues::new(config, random())))
            }
        };
        Self { backlog: Backlog::default(), discipline }
    }

    /// True when a packet of `bytes` bytes that arrives at `now` may join the backlog at once.
    #[inline]
    pub(super) fn admits(&mut self, now: Instant, bytes: u32) -> bool {
        self.backlog.drain(now);
        match &mut self.discipline {
            Discipline::Unlimited => true,
            Discipline::DropTail(limit) => limit.admits(bytes, &self.backlog),
            Discipline::Pie(_) | Discipline::Late(_) => self.is_admitted(now, bytes),
        }
    }

    /// The same by other disciplines than drop-tail.
    #[cold]
    fn is_admitted(&mut self, now: Instant, bytes: u32) -> bool {
        if let Discipline::Pie(pie) = &mut self.discipline {
            pie.admits(now, bytes, &self.backlog)
        } else {
            false
        }
    }

    /// True when the packet that [`admits`](Self::admits) has just refused joins all the same, marked.
    pub(super) fn admits_marked(&mut self, now: Instant, packet: &mut P) -> bool {
        match &mut self.discipline {
            Discipline::Pie(pie) => pie.admits_marked(now, packet, &self.backlog),
            Discipline::Unlimited | Discipline::DropTail(_) | Discipline::Late(_) => false,
        }
    }

    /// The part that decides as packets are taken, if it does.
    pub(super) fn late(&mut self) -> Option<&mut Late<P>> {
        if let Discipline::Late(late) = &mut self.discipline { Some(late) } else { None }
    }

    /// Packets that wait outside the backlog.
    pub(super) fn waiting(&self) -> usize {
        if let Discipline::Late(late) = &self.discipline { late.packets() as usize } else { 0 }
    }

    /// Why the packet was refused that [`admits`](Self::admits) was asked for last.
    pub(super) fn refuses_for(&self) -> DropReason {
        match &self.discipline {
            Discipline::Unlimited | Discipline::DropTail(_) | Discipline::Late(_) => DropReason::Full,
            Discipline::Pie(pie) => pie.refuses_for(),
        }
    }
}
