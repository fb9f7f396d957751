//! SIEVE: a queue in the order of storing, and a hand that goes from old to new over it.
//!
//! A use marks an object. To give one up, the hand passes marked objects, takes their mark, and stops at the first
//! without one. That goes, and the hand stays beside the gap. From the newest object it goes back to the oldest. Spared
//! objects keep their place in the queue.
//!
//! Source: Y. Zhang et al., "SIEVE is Simpler than LRU: an Efficient Turn-Key Eviction Algorithm for Web Caches", NSDI 2024.

use super::entries::{Entries, NOWHERE, Place};
use super::list::List;
use super::{ObjectId, Replace};

/// The queue and its hand. An object's mark is its `count`.
#[derive(Debug, Clone)]
pub(super) struct Sieve {
    queue: List,
    /// The next object to look at. `NOWHERE`: the oldest.
    hand: Place,
}

impl Sieve {
    pub(super) const fn new() -> Self {
        Self { queue: List::new(0), hand: NOWHERE }
    }

    fn evict(&mut self, entries: &mut Entries) {
        let oldest = self.queue.oldest().expect("nothing is evicted from an empty cache");
        let from_oldest = |place: Place| if place == NOWHERE { oldest } else { place };
        let mut place = from_oldest(self.hand);
        while entries[place].count > 0 {
            entries[place].count = 0;
            place = from_oldest(entries[place].newer);
        }
        self.hand = place;
        self.drop(entries, place);
    }
}

impl Replace for Sieve {
    fn on_hit(&mut self, entries: &mut Entries, place: Place) {
        entries[place].count = 1;
    }

    fn take_in(
        &mut self,
        entries: &mut Entries,
        object: ObjectId,
        bytes: u64,
        _: Option<Place>,
    ) -> Option<Place> {
        while entries.lacks(bytes) {
            self.evict(entries);
        }
        let place = entries.insert(object, bytes);
        self.queue.push(entries, place);
        Some(place)
    }

    fn drop(&mut self, entries: &mut Entries, place: Place) {
        if self.hand == place {
            self.hand = entries[place].newer;
        }
        self.queue.unlink(entries, place);
        entries.remove(place);
    }
}
