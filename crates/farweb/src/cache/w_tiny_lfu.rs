//! W-TinyLFU: a window by last use, and a main cache with admission by frequency.
//!
//! A new object joins the window, a hundredth of the cache. An object pushed out of the window is a candidate for the
//! main cache: it enters free room, or replaces objects if the [sketch](super::sketch) estimates more recent requests
//! for it than for each of them. Equal estimates favour the one inside. The main cache is a segmented LRU: used objects
//! are protected, up to four fifths, and go after those on probation. An object larger than the window is a candidate
//! at once, and may be declined.
//!
//! Leaves out what Caffeine adds: a window that adapts its size, and random admission against attacks on the hash.
//!
//! Sources: G. Einziger, R. Friedman, B. Manes, "TinyLFU: A Highly Efficient Cache Admission Policy", ACM Transactions
//! on Storage 13(4), 2017. Shares and the treatment of sizes follow Caffeine 3 (`BoundedLocalCache`).

use super::entries::{Entries, Place};
use super::list::List;
use super::sketch::Sketch;
use super::{ObjectId, Replace};

/// The window, the two segments of the main cache, and the sketch.
#[derive(Debug, Clone)]
pub(super) struct WTinyLfu {
    window: List,
    probation: List,
    protected: List,
    sketch: Sketch,
    window_share: u64,
    protected_share: u64,
}

impl WTinyLfu {
    pub(super) fn new(capacity: u64) -> Self {
        let window_share = (capacity / 100).max(1);
        Self {
            window: List::new(0),
            probation: List::new(1),
            protected: List::new(2),
            sketch: Sketch::new(),
            window_share,
            protected_share: capacity.saturating_sub(window_share) / 5 * 4,
        }
    }

    /// The entry that the main cache gives up next.
    fn victim(&self) -> Option<Place> {
        self.probation.oldest().or(self.protected.oldest())
    }

    /// Lets `object` push out others for `bytes` more. True if there is room then. Evictions stand in either case.
    fn contest(&mut self, entries: &mut Entries, object: ObjectId, bytes: u64) -> bool {
        while entries.lacks(bytes) {
            let weaker =
                |victim: &Place| self.sketch.estimate(object) > self.sketch.estimate(entries[*victim].object);
            let Some(victim) = self.victim().filter(weaker) else { return false };
            self.drop(entries, victim);
        }
        true
    }

    /// Moves objects beyond the window's size to the main cache, or out.
    fn shrink_window(&mut self, entries: &mut Entries, bytes: u64) {
        while self.window.bytes() + bytes > self.window_share {
            let Some(candidate) = self.window.oldest() else { return };
            let object = entries[candidate].object;
            self.window.unlink(entries, candidate);
            if self.contest(entries, object, bytes) {
                self.probation.push(entries, candidate);
            } else {
                entries.remove(candidate);
            }
        }
    }

    fn protect(&mut self, entries: &mut Entries, place: Place) {
        self.probation.unlink(entries, place);
        self.protected.push(entries, place);
        while self.protected.bytes() > self.protected_share {
            let Some(oldest) = self.protected.oldest() else { return };
            self.protected.unlink(entries, oldest);
            self.probation.push(entries, oldest);
        }
    }

    fn list_of(&mut self, entries: &Entries, place: Place) -> &mut List {
        let lists = [&mut self.window, &mut self.probation, &mut self.protected];
        lists.into_iter().find(|list| list.has(entries, place)).expect("what is held is on one of them")
    }
}

impl Replace for WTinyLfu {
    fn on_request(&mut self, object: ObjectId) {
        self.sketch.count(object);
    }

    fn on_hit(&mut self, entries: &mut Entries, place: Place) {
        if self.probation.has(entries, place) {
            self.protect(entries, place);
        } else {
            self.list_of(entries, place).refresh(entries, place);
        }
    }

    fn take_in(
        &mut self,
        entries: &mut Entries,
        object: ObjectId,
        bytes: u64,
        _: Option<Place>,
    ) -> Option<Place> {
        self.sketch.fit(entries.objects() + 1);
        let is_candidate = bytes > self.window_share;
        if is_candidate {
            if !self.contest(entries, object, bytes) {
                return None;
            }
        } else {
            self.shrink_window(entries, bytes);
            while entries.lacks(bytes) {
                let victim = self.victim().expect("the window alone does not fill the cache");
                self.drop(entries, victim);
            }
        }
        let place = entries.insert(object, bytes);
        let list = if is_candidate { &mut self.probation } else { &mut self.window };
        list.push(entries, place);
        Some(place)
    }

    fn drop(&mut self, entries: &mut Entries, place: Place) {
        self.list_of(entries, place).unlink(entries, place);
        entries.remove(place);
    }
}
