//! Belady's MIN: gives up the object that is asked for last in the future, or never again.
//!
//! A bound that needs the future, from [`Cache::foresee`](super::Cache::foresee). With objects of equal size no cache
//! that keeps everything fetched has more hits, and no cache that may bypass objects has more than this one with room
//! for one more. With different sizes the optimum is NP-hard to find, and another policy may have more hits. Objects
//! never requested again go first: their order changes no hit.
//!
//! Source: L. A. Belady, "A study of replacement algorithms for a virtual-storage computer", IBM Systems Journal 5(2), 1966.

use super::entries::{Entries, Place};
use super::heap::{Heap, Key};
use super::{ObjectId, Replace};

/// The objects by when they are asked for again, the latest first.
#[derive(Debug, Clone)]
pub(super) struct Belady {
    by_next: Heap,
    next: u64,
    /// Uses so far: orders objects that are never asked for again.
    uses: u64,
}

impl Belady {
    pub(super) fn new() -> Self {
        Self { by_next: Heap::default(), next: u64::MAX, uses: 0 }
    }

    /// Next request of the object that is looked up next, and then perhaps stored. `None`: never.
    pub(super) fn foresee(&mut self, next: Option<u64>) {
        self.next = next.unwrap_or(u64::MAX);
    }

    fn key(&mut self) -> Key {
        self.uses += 1;
        (u64::MAX - self.next, self.uses)
    }
}

impl Replace for Belady {
    fn on_hit(&mut self, _entries: &mut Entries, place: Place) {
        let key = self.key();
        self.by_next.change(key, place);
    }

    fn take_in(
        &mut self,
        entries: &mut Entries,
        object: ObjectId,
        bytes: u64,
        _: Option<Place>,
    ) -> Option<Place> {
        while entries.lacks(bytes) {
            let (_, last) = self.by_next.first().expect("an empty cache lacks nothing");
            self.drop(entries, last);
        }
        let place = entries.insert(object, bytes);
        let key = self.key();
        self.by_next.push(key, place);
        Some(place)
    }

    fn drop(&mut self, entries: &mut Entries, place: Place) {
        self.by_next.remove(place);
        entries.remove(place);
    }
}
