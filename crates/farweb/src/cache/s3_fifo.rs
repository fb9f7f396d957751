//! S3-FIFO: three queues in the order of joining: small, main, and ghosts.
//!
//! A new object joins the small queue, or the main one when a ghost remembers it. As long as nothing has had to go it joins the
//! main queue as well once the small one has its share, a tenth of the cache. So does the authors' program, unlike their paper.
//! When something must go and the main queue is within its share, the rest, the oldest of the small queue leaves it: for the main queue when it was used
//! twice or more there, else for the ghosts. Otherwise the oldest of the main queue goes, unless it was used: then it joins again
//! with one use less, of at most three that count. Ghosts stand for nine tenths of the cache in bytes.
//!
//! The queues share one room: the small one may fill the rest of the main one. Objects larger than a tenth of the cache
//! are taken as well.
//!
//! Source: J. Yang et al., "FIFO Queues are All You Need for Cache Eviction", SOSP 2023; the numbers are its defaults.

use super::entries::{Entries, Place};
use super::list::List;
use super::{ObjectId, Replace};

/// Uses in the small queue that lead to the main one.
const USES_TO_MAIN: u32 = 2;

/// Uses that count.
const USES_MAX: u32 = 3;

/// The queues. An object's uses since it joined its queue are its `count`.
#[derive(Debug, Clone)]
pub(super) struct S3Fifo {
    small: List,
    main: List,
    ghosts: List,
    /// Bytes that fill the small queue until the first eviction.
    small_share: u64,
    /// Most bytes of the main queue before it gives way first.
    main_share: u64,
    /// Most bytes that ghosts stand for.
    ghost_share: u64,
    /// True when something has had to go.
    was_full: bool,
}

impl S3Fifo {
    pub(super) const fn new(capacity: u64) -> Self {
        Self {
            small: List::new(0),
            main: List::new(1),
            ghosts: List::new(2),
            small_share: capacity / 10,
            main_share: capacity - capacity / 10,
            ghost_share: (capacity as u128 * 9 / 10) as u64,
            was_full: false,
        }
    }

    /// Gives up one object, or promotes all of the small queue.
    fn evict(&mut self, entries: &mut Entries) {
        if self.main.bytes() > self.main_share || self.small.is_empty() {
            self.evict_from_main(entries);
        } else {
            self.evict_from_small(entries);
        }
    }

    fn evict_from_small(&mut self, entries: &mut Entries) {
        while let Some(place) = self.small.oldest() {
            self.small.unlink(entries, place);
            if entries[place].count < USES_TO_MAIN {
                return self.remember(entries, place);
            }
            entries[place].count = 0;
            self.main.push(entries, place);
        }
    }

    fn evict_from_main(&mut self, entries: &mut Entries) {
        while let Some(place) = self.main.oldest().filter(|place| entries[*place].count > 0) {
            entries[place].count -= 1;
            self.main.refresh(entries, place);
        }
        self.main.drop_oldest(entries);
    }

    fn remember(&mut self, entries: &mut Entries, place: Place) {
        let bytes = entries[place].bytes;
        if bytes > self.ghost_share {
            return entries.remove(place);
        }
        while self.ghosts.bytes() + bytes > self.ghost_share {
            self.ghosts.drop_oldest(entries);
        }
        entries.make_ghost(place);
        self.ghosts.push(entries, place);
    }
}

impl Replace for S3Fifo {
    fn on_hit(&mut self, entries: &mut Entries, place: Place) {
        let uses = &mut entries[place].count;
        *uses = (*uses + 1).min(USES_MAX);
    }

    fn take_in(
        &mut self,
        entries: &mut Entries,
        object: ObjectId,
        bytes: u64,
        ghost: Option<Place>,
    ) -> Option<Place> {
        if let Some(ghost) = ghost {
            self.ghosts.unlink(entries, ghost);
            entries.remove(ghost);
        }
        while entries.lacks(bytes) {
            self.evict(entries);
            self.was_full = true;
        }
        let place = entries.insert(object, bytes);
        let small_is_full = !self.was_full && self.small.bytes() >= self.small_share;
        let queue = if ghost.is_some() || small_is_full { &mut self.main } else { &mut self.small };
        queue.push(entries, place);
        Some(place)
    }

    fn drop(&mut self, entries: &mut Entries, place: Place) {
        let queue = if self.small.has(entries, place) { &mut self.small } else { &mut self.main };
        queue.unlink(entries, place);
        entries.remove(place);
    }
}
