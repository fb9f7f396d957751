//! Events of which each source has at most one pending.
//!
//! A link has one pending event, for its head, and links make most of the events of a simulation. There are few of them, so
//! the earliest of their events is found by looking at all of them, which costs less than any queue.

use super::Due;

/// A source of events, by its place in the queue that it was added to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Channel(u32);

/// The pending events of channels.
#[derive(Debug, Clone)]
pub(super) struct Channels<E> {
    /// When the event of each is due, with its place among events of that instant.
    due: Vec<Due>,
    events: Vec<E>,
    /// The earliest, and whose it is.
    first: Due,
    first_place: usize,
}

impl<E: Copy> Channels<E> {
    pub(super) const fn new() -> Self {
        Self { due: Vec::new(), events: Vec::new(), first: Due::NEVER, first_place: 0 }
    }

    pub(super) fn add(&mut self, event: E) -> Channel {
        self.due.push(Due::NEVER);
        self.events.push(event);
        Channel(u32::try_from(self.due.len() - 1).expect("fewer than 2^32 channels"))
    }

    /// Schedules the event of a channel.
    #[inline]
    pub(super) fn push(&mut self, channel: Channel, due: Due) {
        let place = channel.0 as usize;
        assert!(self.due[place].is_never(), "a channel has one event at a time");
        self.due[place] = due;
        if due < self.first {
            (self.first, self.first_place) = (due, place);
        }
    }

    /// When the earliest event leaves; never, when none is pending.
    #[inline]
    pub(super) const fn first(&self) -> Due {
        self.first
    }

    /// The earliest event, of which there is one.
    #[inline]
    pub(super) fn pop(&mut self) -> E {
        let event = self.events[self.first_place];
        self.due[self.first_place] = Due::NEVER;
        let mut first = (Due::NEVER, self.first_place);
        for (place, due) in self.due.iter().enumerate() {
            if *due < first.0 {
                first = (*due, place);
            }
        }
        (self.first, self.first_place) = first;
        event
    }

    /// Whether nothing is pending.
    pub(super) fn is_empty(&self) -> bool {
        self.first.is_never()
    }

    /// Number of events pending.
    pub(super) fn len(&self) -> usize {
        self.due.iter().filter(|due| !due.is_never()).count()
    }
}
