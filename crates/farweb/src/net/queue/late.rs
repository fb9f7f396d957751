//! A queue that decides when a packet is taken for transmission: drop-head, CoDel, FQ-CoDel.
//!
//! Who waits lies in the discipline, and joins the [`Backlog`](super::Backlog) as it is taken, when its departure is known.
//! A discipline is a file. This one has their common state: all that waits, drops, and sums for statistics.
//!
//! Left out: disciplines that serve by a clock of their own, such as a shaper: their packets may wait beside a free
//! transmitter.
//!
//! Source: chosen.

use std::collections::VecDeque;

use crate::net::{DropReason, Packet};
use crate::units::Instant;

use super::{codel, drop_head, fq_codel};

/// Packets that wait, each with the time when it joined.
pub(super) type Fifo<P> = VecDeque<(Instant, P)>;

/// A packet that a queue has dropped after it had joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dropped<P> {
    /// When.
    pub at: Instant,
    /// Why.
    pub reason: DropReason,
    /// The packet.
    pub packet: P,
}

/// Sums over what waited since they were last taken.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::net) struct Sums {
    /// Integral of the bytes, in B·ns.
    pub(in crate::net) byte_nanos: u128,
    pub(in crate::net) drops_full: u64,
    pub(in crate::net) drops_aqm: u64,
    pub(in crate::net) marks: u64,
}

/// Totals of what waits, and the packets dropped.
#[derive(Debug, Clone)]
pub(super) struct Account<P> {
    pub(super) packets: u64,
    pub(super) bytes: u64,
    dropped: VecDeque<Dropped<P>>,
    sums: Sums,
    /// Integrated up to then.
    at: Instant,
}

impl<P: Packet> Account<P> {
    fn advance(&mut self, now: Instant) {
        self.sums.byte_nanos += u128::from(self.bytes) * u128::from((now - self.at).as_nanos());
        self.at = now;
    }

    /// Takes out the packet at the head of a queue.
    pub(super) fn pop(&mut self, now: Instant, queue: &mut Fifo<P>) -> Option<(Instant, P)> {
        let (joined, packet) = queue.pop_front()?;
        self.leave(now, &packet);
        Some((joined, packet))
    }

    /// A packet is no longer in a queue.
    pub(super) fn leave(&mut self, now: Instant, packet: &P) {
        self.advance(now);
        self.packets -= 1;
        self.bytes -= u64::from(packet.bytes());
    }

    /// Marks a packet that was taken out, if its sender takes marks. True when marked.
    pub(super) fn mark(&mut self, packet: &mut P) -> bool {
        let is_marked = packet.set_ce();
        self.sums.marks += u64::from(is_marked);
        is_marked
    }

    /// A packet that was taken out is dropped.
    pub(super) fn drop(&mut self, at: Instant, reason: DropReason, packet: P) {
        match reason {
            DropReason::Aqm => self.sums.drops_aqm += 1,
            DropReason::Full | DropReason::Loss => self.sums.drops_full += 1,
        }
        self.dropped.push_back(Dropped { at, reason, packet });
    }
}

/// Such a queue, before the transmitter.
#[derive(Debug, Clone)]
pub(in crate::net) struct Late<P> {
    pub(super) discipline: Discipline<P>,
    account: Account<P>,
    /// Packets at the end of the backlog that were taken, and are to be told.
    pub(in crate::net) untold: Option<usize>,
}

#[derive(Debug, Clone)]
pub(super) enum Discipline<P> {
    DropHead(drop_head::Queue<P>),
    Codel(codel::Queue<P>),
    FqCodel(fq_codel::Queues<P>),
}

impl<P: Packet> Late<P> {
    pub(super) fn new(discipline: Discipline<P>) -> Self {
        let (dropped, sums) = (VecDeque::new(), Sums::default());
        let account = Account { packets: 0, bytes: 0, dropped, sums, at: Instant::ZERO };
        Self { discipline, account, untold: None }
    }

    /// A packet joins. The transmitter may take one at once, before [`shed`](Self::shed).
    pub(in crate::net) fn join(&mut self, now: Instant, packet: P) {
        let Self { discipline, account, .. } = self;
        account.advance(now);
        account.packets += 1;
        account.bytes += u64::from(packet.bytes());
        match discipline {
            Discipline::DropHead(queue) => queue.join(now, packet),
            Discipline::Codel(queue) => queue.join(now, packet),
            Discipline::FqCodel(queues) => queues.join(now, packet),
        }
    }

    /// Drops the excess, beside a packet of so many bytes in transmission.
    pub(in crate::net) fn shed(&mut self, now: Instant, in_transmission: Option<u32>) {
        let Self { discipline, account, .. } = self;
        match discipline {
            Discipline::DropHead(queue) => queue.shed(now, in_transmission, account),
            Discipline::Codel(queue) => queue.shed(now, account),
            Discipline::FqCodel(queues) => queues.shed(now, account),
        }
    }

    /// The transmitter takes the next packet at `now`, with the time when it joined.
    pub(in crate::net) fn take(&mut self, now: Instant) -> Option<(Instant, P)> {
        let Self { discipline, account, untold } = self;
        let taken = match discipline {
            Discipline::DropHead(queue) => queue.take(now, account),
            Discipline::Codel(queue) => queue.take(now, account),
            Discipline::FqCodel(queues) => queues.take(now, account),
        };
        if let (Some(_), Some(untold)) = (&taken, untold) {
            *untold += 1;
        }
        taken
    }

    /// True when taking would change anything.
    pub(in crate::net) fn has_work(&self) -> bool {
        match &self.discipline {
            Discipline::DropHead(_) => self.account.packets > 0,
            Discipline::Codel(queue) => self.account.packets > 0 || queue.is_dropping(),
            Discipline::FqCodel(queues) => queues.has_work(),
        }
    }

    /// A connection has ended, without a packet on the link.
    pub(in crate::net) fn forget(&mut self, flow: u64) {
        if let Discipline::FqCodel(queues) = &mut self.discipline {
            queues.forget(flow);
        }
    }

    /// Packets that wait.
    pub(in crate::net) const fn packets(&self) -> u64 {
        self.account.packets
    }

    /// Bytes that wait.
    pub(in crate::net) const fn bytes(&self) -> u64 {
        self.account.bytes
    }

    /// The sums up to `now`, which begin anew.
    pub(in crate::net) fn take_sums(&mut self, now: Instant) -> Sums {
        self.account.advance(now);
        std::mem::take(&mut self.account.sums)
    }

    /// True when something is to be told.
    pub(in crate::net) fn has_news(&self) -> bool {
        !self.account.dropped.is_empty() || self.untold.is_some_and(|untold| untold > 0)
    }

    /// Packets dropped that have not been taken from here.
    pub(in crate::net) const fn dropped(&mut self) -> &mut VecDeque<Dropped<P>> {
        &mut self.account.dropped
    }
}
