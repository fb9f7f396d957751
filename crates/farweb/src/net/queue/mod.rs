//! The queue in front of a transmitter: what stands in it, and the discipline that lets a packet join or not.
//!
//! Models two sorts of disciplines, a file each. Those that decide **as a packet arrives** stand behind
//! [`Queue::verdict`]: a packet that has joined is sent, first in, first out, so that its departure is known at once. The
//! queue keeps both until it arrives. Such a discipline is asked for every packet that reaches the link and is not lost
//! on the way. It sees the [`Backlog`] as it is at that instant, and may keep a state of its own. Those that decide **as
//! a packet is taken** for transmission keep the packets that wait ([`late`]).
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
    /// Takes every packet.
    #[default]
    Unlimited,
    /// Drops packets beyond its limit.
    DropTail(DropTail),
    /// Keeps its delay short by random drops.
    Pie(Pie),
    /// Drops the oldest packets beyond its limit.
    DropHead(DropHead),
    /// Drops packets that have waited too long.
    Codel(Codel),
    /// Gives each flow its turn, each under CoDel.
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
    /// Drop-tail's limit. None where it is unlimited, or managed.
    limit: Option<DropTail>,
    managed: Option<Box<Managed<P>>>,
}

/// The state of another discipline than drop-tail.
#[derive(Debug, Clone)]
enum Managed<P> {
    Pie(pie::State),
    Late(Late<P>),
}

/// Fate of a packet that reaches a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It joins the backlog at once.
    Joins,
    /// It is dropped.
    Refused(DropReason),
    /// It is dropped, unless [`Queue::mark_or_refuse`] marks it.
    ChosenByPie,
    /// It joins the part that decides later.
    Waits,
}

impl<P: Packet> Queue<P> {
    /// An empty queue, which draws from `random` if it draws at all.
    pub(super) fn new(config: QueueConfig, random: impl FnOnce() -> RandomStream) -> Self {
        let late = |discipline| Some(Managed::Late(Late::new(discipline)));
        let (limit, managed) = match config {
            QueueConfig::Unlimited => (None, None),
            QueueConfig::DropTail(limit) => (Some(limit), None),
            QueueConfig::Pie(pie) => (None, Some(Managed::Pie(pie::State::new(pie, random())))),
            QueueConfig::DropHead(config) => {
                (None, late(late::Discipline::DropHead(drop_head::Queue::new(config))))
            }
            QueueConfig::Codel(config) => (None, late(late::Discipline::Codel(codel::Queue::new(&config)))),
            QueueConfig::FqCodel(config) => {
                (None, late(late::Discipline::FqCodel(fq_codel::Queues::new(config, random()))))
            }
        };
        Self { backlog: Backlog::default(), limit, managed: managed.map(Box::new) }
    }

    /// True for another discipline than drop-tail: [`verdict`](Self::verdict) answers, and not [`fits`](Self::fits).
    pub(super) const fn is_managed(&self) -> bool {
        self.managed.is_some()
    }

    /// True when a packet of `bytes` bytes that arrives at `now` finds room at the tail.
    #[inline]
    pub(super) fn fits(&mut self, now: Instant, bytes: u32) -> bool {
        self.backlog.drain(now);
        self.limit.is_none_or(|limit| limit.admits(bytes, &self.backlog))
    }

    /// Fate of a packet of `bytes` bytes that arrives at `now`, by any discipline.
    pub(super) fn verdict(&mut self, now: Instant, bytes: u32) -> Verdict {
        let fits = self.fits(now, bytes);
        match self.managed.as_deref_mut() {
            None if fits => Verdict::Joins,
            None => Verdict::Refused(DropReason::Full),
            Some(Managed::Pie(pie)) => {
                if pie.admits(now, bytes, &self.backlog) {
                    Verdict::Joins
                } else {
                    Verdict::ChosenByPie
                }
            }
            Some(Managed::Late(_)) => Verdict::Waits,
        }
    }

    /// Marks the packet that PIE has just chosen, or says why it is dropped.
    pub(super) fn mark_or_refuse(&mut self, now: Instant, packet: &mut P) -> Option<DropReason> {
        let Some(Managed::Pie(pie)) = self.managed.as_deref_mut() else { panic!("PIE has chosen") };
        if pie.admits_marked(now, packet, &self.backlog) { None } else { Some(pie.refuses_for()) }
    }

    /// The part that decides as packets are taken, if it does.
    pub(super) fn late(&mut self) -> Option<&mut Late<P>> {
        if let Some(Managed::Late(late)) = self.managed.as_deref_mut() { Some(late) } else { None }
    }

    /// Packets that wait outside the backlog.
    pub(super) fn waiting(&self) -> usize {
        if let Some(Managed::Late(late)) = self.managed.as_deref() { late.packets() as usize } else { 0 }
    }
}
