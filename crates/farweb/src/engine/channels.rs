//! Events of sources with at most one pending each.
//!
//! A link has one pending event, for its head, and links make most of the events of a simulation. There are few of them, so
//! the earliest of their events is found by looking at all of them, which costs less than any queue.

use super::Due;
use crate::units::Instant;

/// A source of events, by its place in the queue that it was added to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Channel(u32);

/// The pending events of channels, which `C` names.
#[derive(Debug, Clone)]
pub(super) struct Channels<C> {
    /// When the event of each is due, and its number among all events. Both the greatest there are when none is pending. Apart from
    /// the names: the search for the earliest reads few numbers.
    times: Vec<Instant>,
    numbers: Vec<u64>,
    names: Vec<C>,
    /// The earliest, and its place.
    first: Due,
    first_place: usize,
}

impl<C: Copy> Channels<C> {
    pub(super) const fn new() -> Self {
        Self { times: Vec::new(), numbers: Vec::new(), names: Vec::new(), first: Due::NEVER, first_place: 0 }
    }

    pub(super) fn add(&mut self, name: C) -> Channel {
        self.times.push(Due::NEVER.at());
        self.numbers.push(Due::NEVER.number());
        self.names.push(name);
        Channel(u32::try_from(self.names.len() - 1).expect("fewer than 2^32 channels"))
    }

    /// Schedules the event of a channel.
    #[inline]
    pub(super) fn push(&mut self, channel: Channel, due: Due) {
        let place = channel.0 as usize;
        assert!(self.numbers[place] == Due::NEVER.number(), "a channel has one event at a time");
        (self.times[place], self.numbers[place]) = (due.at(), due.number());
        if due < self.first {
            (self.first, self.first_place) = (due, place);
        }
    }

    /// When the earliest event leaves. Never, when none is pending.
    #[inline]
    pub(super) const fn first(&self) -> Due {
        self.first
    }

    /// The channel of the earliest event, where there is one.
    #[inline]
    pub(super) fn name(&self) -> C {
        self.names[self.first_place]
    }

    /// Replaces the earliest event by the next one of its channel, or by none.
    #[inline(always)]
    pub(super) fn replace(&mut self, next: Due) {
        (self.times[self.first_place], self.numbers[self.first_place]) = (next.at(), next.number());
        let (mut earliest, mut first_place) = (Due::NEVER.at(), self.first_place);
        for (place, at) in self.times.iter().enumerate() {
            if *at < earliest || (*at == earliest && self.numbers[place] < self.numbers[first_place]) {
                (earliest, first_place) = (*at, place);
            }
        }
        self.first = Due::new(earliest, self.numbers[first_place]);
        self.first_place = first_place;
    }

    /// True when nothing is pending.
    pub(super) fn is_empty(&self) -> bool {
        self.first.is_never()
    }

    /// Number of events pending.
    pub(super) fn len(&self) -> usize {
        self.numbers.iter().filter(|number| **number != Due::NEVER.number()).count()
    }
}
