//! GreedyDual-Size, and with frequency: gives up the object that is worth least a byte.
//!
//! An object's worth is H = L + F · 1,000,000 / size: hits a megabyte, on top of the inflation L at its last use. L is
//! the worth of the last evicted object: unused objects lose to later ones. F is 1 in GreedyDual-Size (its cost 1, for
//! hits rather than bytes). With frequency it counts uses since the object came, the fetching request included. Of
//! equal worth the one used less recently goes.
//!
//! GreedyDual-Size computes the worth of a new object after room has been made for it, with frequency before that. There the new
//! object may be worth least, and is then declined. Objects worth less are gone already, and L is their worth.
//!
//! Sources: P. Cao, S. Irani, "Cost-Aware WWW Proxy Caching Algorithms", USITS 1997; L. Cherkasova, "Improving WWW Proxies
//! Performance with Greedy-Dual-Size-Frequency Caching Policy", HPL-98-69R1, 1998.

use super::entries::{Entries, Place};
use super::heap::{Heap, Key};
use super::{ObjectId, Replace};

/// Worth of an object for one use, times its bytes. Chosen: worth is then in hits a megabyte. No order depends on it.
const WORTH: f64 = 1e6;

/// The objects by their worth. An object's uses are its `count`.
#[derive(Debug, Clone)]
pub(super) struct GreedyDual {
    by_worth: Heap,
    /// L.
    inflation: f64,
    /// Uses so far: orders objects of equal worth.
    uses: u64,
    counts_uses: bool,
}

impl GreedyDual {
    /// GreedyDual-Size.
    pub(super) fn by_size() -> Self {
        Self { by_worth: Heap::default(), inflation: 0.0, uses: 0, counts_uses: false }
    }

    /// GreedyDual-Size with frequency.
    pub(super) fn by_size_and_frequency() -> Self {
        Self { counts_uses: true, ..Self::by_size() }
    }

    /// The key of an object of `bytes` bytes with its use now, one of `uses` since it came.
    fn key(&mut self, bytes: u64, uses: u32) -> Key {
        let frequency = if self.counts_uses { f64::from(uses) } else { 1.0 };
        let worth = self.inflation + frequency * WORTH / bytes as f64;
        self.uses += 1;
        // Floats that are not negative have the order of their bits.
        (worth.to_bits(), self.uses)
    }
}

impl Replace for GreedyDual {
    fn on_hit(&mut self, entries: &mut Entries, place: Place) {
        let entry = &mut entries[place];
        entry.count = entry.count.saturating_add(1);
        let key = self.key(entry.bytes, entry.count);
        self.by_worth.change(key, place);
    }

    fn take_in(
        &mut self,
        entries: &mut Entries,
        object: ObjectId,
        bytes: u64,
        _: Option<Place>,
    ) -> Option<Place> {
        let mut key = self.key(bytes, 1);
        while entries.lacks(bytes) {
            let (least, place) = self.by_worth.first().expect("an empty cache lacks nothing");
            if self.counts_uses && key < least {
                self.inflation = f64::from_bits(key.0);
                return None;
            }
            self.inflation = f64::from_bits(least.0);
            self.drop(entries, place);
        }
        if !self.counts_uses {
            key = self.key(bytes, 1);
        }
        let place = entries.insert(object, bytes);
        entries[place].count = 1;
        self.by_worth.push(key, place);
        Some(place)
    }

    fn drop(&mut self, entries: &mut Entries, place: Place) {
        self.by_worth.remove(place);
        entries.remove(place);
    }
}
