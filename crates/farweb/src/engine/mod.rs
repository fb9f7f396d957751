//! The clock and the event queue. Knows nothing of networks.
//!
//! Events leave in order of time, and at the same instant **in the order they entered** (first in, first out).
//! Nothing is ever cancelled: an owner that no longer wants its event ignores it when it comes. An event with an owner that is
//! gone may be left out before ([`EventQueue::begin_slice`]).
//!
//! # How it works
//!
//! A simulation of the web has a few events in the next milliseconds (the heads of links) and tens of thousands of
//! timers in the next minute. In one binary heap every near event would sift through all the timers. So time is cut
//! into slices, and only the events of the **current slice** are kept in order. Later ones lie unsorted in the slots
//! of a hierarchical timing wheel: write slice numbers in base 64. An event that differs from the current slice
//! first in digit `level` lies in the slot `(level, its digit)`. That digit is above the current one's, as the event
//! is later. So the earliest slot is the lowest occupied one of the lowest occupied level. A bitmap a level finds
//! it. When the current slice has no more events, that slot is emptied: its earliest slice becomes the current one
//! and is sorted, the rest moves to lower levels. An event moves at most once a level, so its cost does not grow
//! with the number of timers.
//!
//! Events pushed for the current slice while it empties go into a binary heap beside it. The earlier of
//! the two heads leaves first. The heads of links stand beside all this in [`channels`].
//!
//! Source of the wheel: G. Varghese, A. Lauck, "Hashed and Hierarchical Timing Wheels", SOSP 1987, scheme 7. Differs:
//! slices are wider than the unit of time, with the exact order restored within one.

mod channels;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use channels::Channels;

use crate::units::Instant;

pub use channels::Channel;

/// Pending events of type `E`, pending channels by their names `C`, and the time of the last event that left.
#[derive(Debug, Clone)]
pub struct EventQueue<E, C = E> {
    /// Events of the current slice that were in the wheel, latest first.
    sorted: Vec<Pending<E>>,
    /// Events pushed for the current slice or earlier.
    near: BinaryHeap<Pending<E>>,
    /// Number of the current slice. Every event in `wheel` is in a later one.
    slice: u64,
    wheel: Wheel<E>,
    channels: Channels<C>,
    /// No event but a channel's leaves before this: when the earliest other one is due, or, while all of them lie in the wheel,
    /// the end of the current slice.
    others_from: Due,
    now: Instant,
    pushed: u64,
    /// Events pending, without channels.
    pending: usize,
    /// When the last event that was left out would have left.
    left_out_until: Instant,
}

#[derive(Debug, Clone)]
struct Pending<E> {
    due: Due,
    event: E,
}

/// When an event leaves: its time, then its number among all ever scheduled, in one integer that one comparison orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Due(u128);

/// Events after the current slice, by level and slot.
///
/// They lie in blocks of one size, which slots pass on to each other: memory grows with the most events pending at once, not with
/// the most that each slot ever had.
#[derive(Debug, Clone)]
struct Wheel<E> {
    slots: Vec<Slot<E>>,
    /// Slots of a level that hold events, as bits.
    occupied: [u64; LEVELS],
    /// Blocks without events, for any slot.
    spare: Vec<Block<E>>,
}

/// The events of a slot, unsorted.
#[derive(Debug, Clone)]
struct Slot<E> {
    /// The block that events are added to. Without room before the first one.
    open: Block<E>,
    full: Vec<Block<E>>,
}

/// Room for [`BLOCK`] events, or for none.
type Block<E> = Vec<Pending<E>>;

/// Events of a block. Chosen: 1 kB. Until a block is full, the blocks of all slots take half a megabyte at
/// most.
const BLOCK: usize = 32;

/// A slice is 2^this ns long, 65.5 µs. Chosen: of 16, 18 and 20 the fastest in `benches/engine.rs` over all
/// mixtures.
const SLICE_BITS: u32 = 16;
/// Binary digits of a slot number: 64 slots a level, as many as a bitmap of one word has.
const SLOT_BITS: u32 = 6;
const SLOTS: usize = 1 << SLOT_BITS;
/// Levels for slice numbers of `64 - SLICE_BITS` binary digits.
const LEVELS: usize = (u64::BITS - SLICE_BITS).div_ceil(SLOT_BITS) as usize;

impl<E: Copy, C: Copy> EventQueue<E, C> {
    /// An empty queue at the start of time.
    #[must_use]
    pub fn new() -> Self {
        Self {
            sorted: Vec::new(),
            near: BinaryHeap::new(),
            slice: 0,
            wheel: Wheel::new(),
            channels: Channels::new(),
            others_from: Due::NEVER,
            now: Instant::ZERO,
            pushed: 0,
            pending: 0,
            left_out_until: Instant::ZERO,
        }
    }

    /// The current time: when the last event left.
    #[must_use]
    pub const fn now(&self) -> Instant {
        self.now
    }

    /// Schedules `event`.
    ///
    /// # Panics
    /// When `at` lies in the past.
    #[inline(never)]
    pub fn push(&mut self, at: Instant, event: E) {
        self.check(at);
        let pending = Pending { due: Due::new(at, self.pushed), event };
        self.pushed += 1;
        self.pending += 1;
        if pending.slice() <= self.slice {
            self.others_from = self.others_from.min(pending.due);
            self.near.push(pending);
        } else {
            self.wheel.push(self.slice, pending);
            if self.others_from.is_never() {
                self.others_from = self.end_of_slice();
            }
        }
    }

    /// Panics when `at` lies in the past.
    #[inline]
    fn check(&self, at: Instant) {
        #[cold]
        fn refuse(at: Instant, now: Instant) -> ! {
            panic!("an event for {at} was scheduled at {now}")
        }
        if at < self.now {
            refuse(at, self.now);
        }
    }

    /// Adds a source of events, which has one pending at most.
    pub fn add_channel(&mut self, name: C) -> Channel {
        self.channels.add(name)
    }

    /// Schedules the event of a channel, which has none pending.
    ///
    /// # Panics
    /// When it has, or `at` lies in the past.
    #[inline]
    pub fn push_on(&mut self, channel: Channel, at: Instant) {
        self.check(at);
        self.channels.push(channel, Due::new(at, self.pushed));
        self.pushed += 1;
    }

    /// The channel of the next event, with the clock moved to it, if it is known to be of one and due by `end`. It stays pending
    /// until [`rearm`](Self::rearm) follows. `None` also before a new slice of time: [`next_at`](Self::next_at) begins that.
    #[inline]
    pub fn next_on_channel(&mut self, end: Option<Instant>) -> Option<(Instant, C)> {
        let first = self.channels.first();
        if first >= self.others_from || end.is_some_and(|end| first.at() > end) {
            return None;
        }
        self.now = first.at();
        Some((self.now, self.channels.name()))
    }

    /// Replaces the event of the channel that came first by its next one.
    ///
    /// # Panics
    /// When `at` lies in the past.
    #[inline]
    pub fn rearm(&mut self, at: Option<Instant>) {
        let next = at.map_or(Due::NEVER, |at| {
            self.check(at);
            self.pushed += 1;
            Due::new(at, self.pushed - 1)
        });
        self.channels.replace(next);
    }

    /// The next event, with the clock moved to it, unless it is of a channel.
    pub fn pop(&mut self) -> Option<(Instant, E)> {
        self.begin_slice(|_| true);
        if self.channels.first() < self.others_from {
            return None;
        }
        let next = if self.near_is_next() { self.near.pop() } else { self.sorted.pop() };
        let Some(Pending { due, event }) = next else {
            self.now = self.now.max(self.left_out_until);
            return None;
        };
        self.pending -= 1;
        self.now = due.at();
        self.others_from = match (self.near.peek(), self.sorted.last()) {
            (Some(near), Some(sorted)) => near.due.min(sorted.due),
            (Some(only), None) | (None, Some(only)) => only.due,
            (None, None) if self.pending > 0 => self.end_of_slice(),
            (None, None) => Due::NEVER,
        };
        Some((self.now, event))
    }

    /// When the next event is due. Takes `&mut self` because it may sort events, which changes nothing that can be
    /// seen.
    #[must_use]
    pub fn next_at(&mut self) -> Option<Instant> {
        if self.channels.first() >= self.others_from {
            self.begin_slice(|_| true);
        }
        let first = self.channels.first().min(self.others_from);
        (!first.is_never()).then(|| first.at())
    }

    /// True when it is known that nothing else is due at the current time.
    #[inline]
    #[must_use]
    pub fn is_alone(&self) -> bool {
        self.channels.first().min(self.others_from).at() > self.now
    }

    /// Number of events pending.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pending + self.channels.len()
    }

    /// True when nothing is pending, and all that was left out would have left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pending == 0 && self.channels.is_empty() && self.left_out_until <= self.now
    }

    /// Moves on to the next slice with events in the wheel once the current one is empty, and leaves out dead events
    /// on the way.
    ///
    /// Only as late as this, when the owner has pushed all that it wants to push now: an event pushed for a slice
    /// before the current one leaves in its order all the same, but by way of the heap.
    #[inline]
    pub fn begin_slice(&mut self, lives: impl Fn(E) -> bool) {
        while self.sorted.is_empty() && self.near.is_empty() && self.pending > 0 {
            let mut left_out = 0;
            let slice = self.wheel.take_earliest_slice(&mut self.sorted, |pending| {
                let lives = lives(pending.event);
                if !lives {
                    left_out += 1;
                    self.left_out_until = self.left_out_until.max(pending.due.at());
                }
                lives
            });
            self.pending -= left_out;
            self.slice = slice.unwrap_or(self.slice);
            self.others_from = self.sorted.last().map_or(Due::NEVER, |last| last.due);
        }
    }

    /// Before every event in the wheel.
    #[inline]
    const fn end_of_slice(&self) -> Due {
        Due::new(Instant::from_nanos((self.slice + 1).saturating_mul(1 << SLICE_BITS)), 0)
    }

    /// True when the next event that is not of a channel is in `near` and not in `sorted`.
    #[inline]
    fn near_is_next(&self) -> bool {
        match (self.near.peek(), self.sorted.last()) {
            (Some(near), Some(sorted)) => near > sorted,
            (near, _) => near.is_some(),
        }
    }
}

impl Due {
    /// Behind every event.
    const NEVER: Self = Self(u128::MAX);

    /// True when it is behind every event: no event has its number.
    #[inline]
    const fn is_never(self) -> bool {
        self.number() == Self::NEVER.number()
    }

    #[inline]
    const fn new(at: Instant, number: u64) -> Self {
        Self((at.as_nanos() as u128) << 64 | number as u128)
    }

    #[inline]
    const fn at(self) -> Instant {
        Instant::from_nanos((self.0 >> 64) as u64)
    }

    #[inline]
    const fn number(self) -> u64 {
        self.0 as u64
    }
}

impl<E: Copy, C: Copy> Default for EventQueue<E, C> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E: Copy> Wheel<E> {
    fn new() -> Self {
        let slots = (0..LEVELS * SLOTS).map(|_| Slot { open: Vec::new(), full: Vec::new() }).collect();
        Self { slots, occupied: [0; LEVELS], spare: Vec::new() }
    }

    /// Stores an event of a slice after `current`.
    #[inline]
    fn push(&mut self, current: u64, pending: Pending<E>) {
        let slice = pending.slice();
        let level = (slice ^ current).ilog2() / SLOT_BITS;
        let slot = (slice >> (level * SLOT_BITS)) as usize % SLOTS;
        self.occupied[level as usize] |= 1 << slot;
        let slot = &mut self.slots[level as usize * SLOTS + slot];
        if slot.open.len() == slot.open.capacity() {
            slot.open_next(&mut self.spare);
        }
        slot.open.push(pending);
    }

    /// Moves the events of the earliest slice into `sorted`, which is empty, and returns the slice's number. None where the earliest
    /// slot has no event that is to be kept.
    ///
    /// # Panics
    /// When there are no events.
    fn take_earliest_slice(
        &mut self,
        sorted: &mut Vec<Pending<E>>,
        mut keeps: impl FnMut(&Pending<E>) -> bool,
    ) -> Option<u64> {
        let level = self.occupied.iter().position(|slots| *slots != 0).expect("a slot with events");
        let slot = self.occupied[level].trailing_zeros() as usize;
        self.occupied[level] &= self.occupied[level] - 1;
        let Slot { open, full } = &mut self.slots[level * SLOTS + slot];
        if let ([only], true) = (open.as_slice(), full.is_empty()) {
            let slice = keeps(only).then(|| only.slice());
            if slice.is_some() {
                sorted.append(open);
            }
            open.clear();
            return slice;
        }
        full.push(std::mem::take(open));
        let mut blocks = std::mem::take(full);
        blocks.iter_mut().for_each(|block| block.retain(&mut keeps));
        let earliest = blocks.iter().flatten().map(Pending::slice).min();
        for mut block in blocks.drain(..) {
            for pending in block.drain(..) {
                let earliest = earliest.expect("there is this one");
                if pending.slice() == earliest {
                    sorted.push(pending);
                } else {
                    self.push(earliest, pending);
                }
            }
            self.spare.push(block);
        }
        sorted.sort_unstable();
        // The list serves the slot's next turn: none of its events went back to the same slot.
        self.slots[level * SLOTS + slot].full = blocks;
        earliest
    }
}

impl<E> Slot<E> {
    /// Goes on with an empty block.
    #[cold]
    fn open_next(&mut self, spare: &mut Vec<Block<E>>) {
        let next = spare.pop().unwrap_or_else(|| Vec::with_capacity(BLOCK));
        let last = std::mem::replace(&mut self.open, next);
        if !last.is_empty() {
            self.full.push(last);
        }
    }
}

impl<E> Pending<E> {
    /// Number of the slice of time that the event is in.
    #[inline]
    const fn slice(&self) -> u64 {
        slice(self.due.at())
    }
}

/// Number of the slice of time that an instant is in.
#[inline]
const fn slice(at: Instant) -> u64 {
    at.as_nanos() >> SLICE_BITS
}

/// Reversed, because `BinaryHeap` gives the largest first.
impl<E> Ord for Pending<E> {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        other.due.cmp(&self.due)
    }
}

impl<E> PartialOrd for Pending<E> {
    #[inline]
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
