//! ARC: two stacks by last use, of objects used once since they came (T1) and more often (T2), and evictions of each
//! (B1, B2).
//!
//! T1 is to have `target` bytes. A new object remembered in B1 shows that T1 was too small: the target grows. One in B2
//! lets it shrink. Both join T2. The paper counts pages. Here every |.| is a sum of bytes, and the target moves by the
//! object's size instead of one page: with equal sizes all is as in the paper.
//!
//! With different sizes, several evictions may replace the paper's one: T1 and B1 together stand for no more than the
//! cache when a new object joins T1, all four for no more than twice the cache.
//!
//! Source: N. Megiddo, D. S. Modha, "ARC: A Self-Tuning, Low Overhead Replacement Cache", FAST 2003, figure 4.

use super::entries::{Entries, Place};
use super::list::List;
use super::{ObjectId, Replace};

/// The four lists.
#[derive(Debug, Clone)]
pub(super) struct Arc {
    once: List,
    often: List,
    once_ghosts: List,
    often_ghosts: List,
    /// Bytes that T1 is to have, 0 to the capacity.
    target: f64,
    capacity: u64,
}

impl Arc {
    pub(super) const fn new(capacity: u64) -> Self {
        Self {
            once: List::new(0),
            often: List::new(1),
            once_ghosts: List::new(2),
            often_ghosts: List::new(3),
            target: 0.0,
            capacity,
        }
    }

    /// Moves the target when the object of a ghost is asked for again. True if the ghost was in B2.
    fn learn(&mut self, entries: &mut Entries, ghost: Place) -> bool {
        let bytes = entries[ghost].bytes as f64;
        let (once, often) = (self.once_ghosts.bytes() as f64, self.often_ghosts.bytes() as f64);
        let of_often = self.often_ghosts.has(entries, ghost);
        if of_often {
            self.target = (self.target - bytes * (once / often).max(1.0)).max(0.0);
            self.often_ghosts.unlink(entries, ghost);
        } else {
            self.target = (self.target + bytes * (often / once).max(1.0)).min(self.capacity as f64);
            self.once_ghosts.unlink(entries, ghost);
        }
        entries.remove(ghost);
        of_often
    }

    /// Forgets ghosts until a new object of `bytes` bytes may join T1.
    fn forget(&mut self, entries: &mut Entries, bytes: u64) {
        while self.once.bytes() + self.once_ghosts.bytes() + bytes > self.capacity
            && !self.once_ghosts.is_empty()
        {
            self.once_ghosts.drop_oldest(entries);
        }
    }

    /// Forgets ghosts of T2 until `bytes` more are within twice the cache.
    fn forget_often(&mut self, entries: &mut Entries, bytes: u64) {
        let ghosts = |arc: &Self| arc.once_ghosts.bytes() + arc.often_ghosts.bytes();
        while entries.bytes() + ghosts(self) + bytes > 2 * self.capacity && !self.often_ghosts.is_empty() {
            self.often_ghosts.drop_oldest(entries);
        }
    }

    /// Gives up the oldest of T1 or T2 and remembers it: REPLACE of the paper.
    fn replace(&mut self, entries: &mut Entries, asked_of_often: bool) {
        let once = self.once.bytes() as f64;
        let above = once > self.target || asked_of_often && once == self.target;
        let from_once = !self.once.is_empty() && above || self.often.is_empty();
        let (stack, ghosts) = if from_once {
            (&mut self.once, &mut self.once_ghosts)
        } else {
            (&mut self.often, &mut self.often_ghosts)
        };
        let place = stack.oldest().expect("one of them holds something");
        stack.unlink(entries, place);
        entries.make_ghost(place);
        ghosts.push(entries, place);
    }
}

impl Replace for Arc {
    fn on_hit(&mut self, entries: &mut Entries, place: Place) {
        if self.often.has(entries, place) {
            self.often.refresh(entries, place);
        } else {
            self.once.unlink(entries, place);
            self.often.push(entries, place);
        }
    }

    fn take_in(
        &mut self,
        entries: &mut Entries,
        object: ObjectId,
        bytes: u64,
        ghost: Option<Place>,
    ) -> Option<Place> {
        if let Some(ghost) = ghost {
            let of_often = self.learn(entries, ghost);
            self.forget_often(entries, bytes);
            while entries.lacks(bytes) {
                self.replace(entries, of_often);
            }
            let place = entries.insert(object, bytes);
            self.often.push(entries, place);
            return Some(place);
        }
        self.forget(entries, bytes);
        self.forget_often(entries, bytes);
        while entries.lacks(bytes) {
            if self.once.bytes() + bytes > self.capacity {
                // T1 alone leaves no room: B1 is empty, and may not grow.
                self.once.drop_oldest(entries);
            } else {
                self.replace(entries, false);
            }
        }
        let place = entries.insert(object, bytes);
        self.once.push(entries, place);
        Some(place)
    }

    fn drop(&mut self, entries: &mut Entries, place: Place) {
        let stack = if self.once.has(entries, place) { &mut self.once } else { &mut self.often };
        stack.unlink(entries, place);
        entries.remove(place);
    }
}
