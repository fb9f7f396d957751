//! RAND: gives up any object, each with the same probability, until the new one fits.
//!
//! Source: the definition.

use super::entries::{Entries, Place};
use super::{ObjectId, Replace};
use crate::rng::RandomStream;

/// The objects in no order. Each knows its position as its `count`.
#[derive(Debug, Clone)]
pub(super) struct Rand {
    places: Vec<Place>,
    random: RandomStream,
}

impl Rand {
    pub(super) const fn new(random: RandomStream) -> Self {
        Self { places: Vec::new(), random }
    }
}

impl Replace for Rand {
    fn on_hit(&mut self, _entries: &mut Entries, _place: Place) {}

    fn take_in(
        &mut self,
        entries: &mut Entries,
        object: ObjectId,
        bytes: u64,
        _: Option<Place>,
    ) -> Option<Place> {
        while entries.lacks(bytes) {
            let position = self.random.below(self.places.len() as u64);
            self.drop(entries, self.places[position as usize]);
        }
        let place = entries.insert(object, bytes);
        entries[place].count = self.places.len() as u32;
        self.places.push(place);
        Some(place)
    }

    fn drop(&mut self, entries: &mut Entries, place: Place) {
        let position = entries[place].count;
        self.places.swap_remove(position as usize);
        if let Some(moved) = self.places.get(position as usize) {
            entries[*moved].count = position;
        }
        entries.remove(place);
    }
}
