//! LRU: gives up the object that was used least recently.
//!
//! Source: the definition.

use super::entries::{Entries, Place};
use super::list::List;
use super::{ObjectId, Replace};

/// The objects in the order of their last use.
#[derive(Debug, Clone)]
pub(super) struct Lru {
    stack: List,
}

impl Default for Lru {
    fn default() -> Self {
        Self { stack: List::new(0) }
    }
}

impl Replace for Lru {
    fn on_hit(&mut self, entries: &mut Entries, place: Place) {
        self.stack.refresh(entries, place);
    }

    fn take_in(
        &mut self,
        entries: &mut Entries,
        object: ObjectId,
        bytes: u64,
        _: Option<Place>,
    ) -> Option<Place> {
        while entries.lacks(bytes) {
            self.stack.drop_oldest(entries);
        }
        let place = entries.insert(object, bytes);
        self.stack.push(entries, place);
        Some(place)
    }

    fn drop(&mut self, entries: &mut Entries, place: Place) {
        self.stack.unlink(entries, place);
        entries.remove(place);
    }
}
