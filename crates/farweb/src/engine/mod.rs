//! The clock and the event queue. Knows nothing of networks.
//!
//! Events leave in order of time; those of the same instant leave **in the order they entered** (first in, first out).
//! Nothing is ever cancelled: an owner that no longer wants its event ignores it when it comes.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::units::Instant;

/// Pending events of type `E`, and the time of the one that left last.
#[derive(Debug, Clone)]
pub struct EventQueue<E> {
    heap: BinaryHeap<Pending<E>>,
    now: Instant,
    pushed: u64,
}

#[derive(Debug, Clone)]
struct Pending<E> {
    at: Instant,
    order: u64,
    event: E,
}

impl<E> EventQueue<E> {
    /// An empty queue at the start of time.
    #[must_use]
    pub fn new() -> Self {
        Self { heap: BinaryHeap::new(), now: Instant::ZERO, pushed: 0 }
    }

    /// The current time: that of the event that left last.
    #[must_use]
    pub const fn now(&self) -> Instant {
        self.now
    }

    /// Schedules `event`.
    ///
    /// # Panics
    /// When `at` lies in the past.
    pub fn push(&mut self, at: Instant, event: E) {
        assert!(at >= self.now, "an event for {at} was scheduled at {}", self.now);
        self.heap.push(Pending { at, order: self.pushed, event });
        self.pushed += 1;
    }

    /// The next event, with the clock moved to it.
    pub fn pop(&mut self) -> Option<(Instant, E)> {
        let Pending { at, event, .. } = self.heap.pop()?;
        self.now = at;
        Some((at, event))
    }

    /// When the next event is due.
    #[must_use]
    pub fn next_at(&self) -> Option<Instant> {
        self.heap.peek().map(|pending| pending.at)
    }

    /// Number of events pending.
    #[must_use]
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether nothing is pending.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }
}

impl<E> Default for EventQueue<E> {
    fn default() -> Self {
        Self::new()
    }
}

/// Reversed, because `BinaryHeap` gives the largest first.
impl<E> Ord for Pending<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.order).cmp(&(self.at, self.order))
    }
}

impl<E> PartialOrd for Pending<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> PartialEq for Pending<E> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<E> Eq for Pending<E> {}
