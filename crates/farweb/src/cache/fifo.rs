//! FIFO: gives up the object stored first. Accesses change nothing.
//!
//! Source: the definition.

use super::entries::{Entries, Place};
use super::list::List;
use super::{ObjectId, Replace};

/// The objects in the order of storing.
#[derive(Debug, Clone)]
pub(super) struct Fifo {
    queue: List,
}

impl Default for Fifo {
    fn default() -> Self {
        Self { queue: List::new(0) }
    }
}

impl Replace for Fifo {
    fn on_hit(&mut self, _entries: &mut Entries, _place: Place) {}

    fn take_in(
        &mut self,
        entries: &mut Entries,
        object: ObjectId,
        bytes: u64,
        _: Option<Place>,
    ) -> Option<Place> {
        while entries.lacks(bytes) {
            self.queue.drop_oldest(entries);
        }
        let place = entries.insert(object, bytes);
        self.queue.push(entries, place);
        Some(place)
    }

    fn drop(&mut self, entries: &mut Entries, place: Place) {
        self.queue.unlink(entries, place);
        entries.remove(place);
    }
}
