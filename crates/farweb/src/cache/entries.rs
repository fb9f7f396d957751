//! Entries of a cache: the facts of each object, in a slab, and the one index from objects to their places in it.
//!
//! An entry is a held object or a *ghost*: evicted, but remembered by its policy without bytes. Entries stand in the
//! [lists](super::list) of their policy by links of their own: once the slab has its greatest number of entries,
//! requests allocate nothing.

use std::ops::{Index, IndexMut};

use hashbrown::HashTable;

use crate::units::Instant;
use crate::workload::ObjectId;

/// Place of an entry in the slab.
pub(super) type Place = u32;

/// No place.
pub(super) const NOWHERE: Place = Place::MAX;

/// An object that is held or remembered.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) object: ObjectId,
    /// Its size, at least 1.
    pub(super) bytes: u64,
    /// Until when it is fresh.
    pub(super) fresh_until: Instant,
    /// Neighbours in its list. `older` leads to the next free place where there is no entry.
    pub(super) newer: Place,
    pub(super) older: Place,
    /// A number that its policy keeps with it.
    pub(super) count: u32,
    /// Number of the list of its policy that it stands in.
    pub(super) list: u8,
    is_ghost: bool,
}

impl Entry {
    pub(super) const fn is_ghost(&self) -> bool {
        self.is_ghost
    }
}

/// All entries of a cache.
#[derive(Debug, Clone)]
pub(super) struct Entries {
    slab: Vec<Entry>,
    free: Place,
    index: HashTable<Place>,
    capacity: u64,
    bytes: u64,
    objects: u64,
}

impl Entries {
    pub(super) const fn new(capacity: u64) -> Self {
        let index = HashTable::new();
        Self { slab: Vec::new(), free: NOWHERE, index, capacity, bytes: 0, objects: 0 }
    }

    /// Most bytes that may be held.
    pub(super) const fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Bytes held.
    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Objects held.
    pub(super) const fn objects(&self) -> u64 {
        self.objects
    }

    /// True when something must go before `bytes` more fit. Never in an empty cache.
    pub(super) const fn lacks(&self, bytes: u64) -> bool {
        bytes > self.capacity - self.bytes
    }

    /// The entry of `object`, ghost or not.
    #[inline]
    pub(super) fn find(&self, object: ObjectId) -> Option<Place> {
        let slab = &self.slab;
        self.index.find(spread(object), |place| slab[*place as usize].object == object).copied()
    }

    /// The entry of `object` if it is held.
    #[inline]
    pub(super) fn find_held(&self, object: ObjectId) -> Option<Place> {
        self.find(object).filter(|place| !self[*place].is_ghost)
    }

    /// Holds `object`, which has no entry. It is on no list yet.
    pub(super) fn insert(&mut self, object: ObjectId, bytes: u64) -> Place {
        debug_assert!(!self.lacks(bytes), "{bytes} B do not fit");
        let (newer, older, fresh_until) = (NOWHERE, NOWHERE, Instant::ZERO);
        let entry = Entry { object, bytes, fresh_until, newer, older, count: 0, list: 0, is_ghost: false };
        let place = if self.free == NOWHERE {
            self.slab.push(entry);
            Place::try_from(self.slab.len() - 1).expect("fewer than 2^32 objects")
        } else {
            let place = self.free;
            self.free = self[place].older;
            self[place] = entry;
            place
        };
        let slab = &self.slab;
        self.index.insert_unique(spread(object), place, |place| spread(slab[*place as usize].object));
        self.bytes += bytes;
        self.objects += 1;
        place
    }

    /// Gives up the object at `place`, but remembers it.
    pub(super) fn make_ghost(&mut self, place: Place) {
        self.bytes -= self[place].bytes;
        self.objects -= 1;
        self[place].is_ghost = true;
    }

    /// Drops the entry at `place`, which is on no list any more.
    pub(super) fn remove(&mut self, place: Place) {
        let Entry { object, bytes, is_ghost, .. } = self[place];
        if !is_ghost {
            self.bytes -= bytes;
            self.objects -= 1;
        }
        let found = self.index.find_entry(spread(object), |other| *other == place);
        found.expect("an entry is in the index").remove();
        self[place].older = self.free;
        self.free = place;
    }
}

impl Index<Place> for Entries {
    type Output = Entry;
    #[inline]
    fn index(&self, place: Place) -> &Entry {
        &self.slab[place as usize]
    }
}

impl IndexMut<Place> for Entries {
    #[inline]
    fn index_mut(&mut self, place: Place) -> &mut Entry {
        &mut self.slab[place as usize]
    }
}

/// An object's id spread over 64 bits, since ids of tables are often small successive numbers.
///
/// Both halves of a product with an odd constant (the golden ratio's), folded into one.
#[inline]
pub(super) fn spread(object: ObjectId) -> u64 {
    let product = u128::from(object.get() ^ 0x2545_f491_4f6c_dd1d) * 0x9e37_79b9_7f4a_7c15;
    (product >> 64) as u64 ^ product as u64
}
