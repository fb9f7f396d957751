//! Typed indices, and the two containers that they index.
//!
//! An [`IdVec`] keeps entities of the whole run (links, hosts), a [`Slab`] those that come and go (connections).
//! Ids of a slab carry a generation: a late event for a closed connection is noticed, never delivered to another.

use std::marker::PhantomData;
use std::num::{NonZeroU32, NonZeroU64};
use std::ops::{Index, IndexMut};

/// A typed index of an [`IdVec`].
pub trait Id: Copy {
    /// The id of position `index`.
    fn new(index: usize) -> Self;
    /// The position.
    fn index(self) -> usize;
}

/// Declares id types: `define_ids! { /// One direction of a link. pub LinkId }`. They count from 1 inside: an optional
/// id takes no more memory than an id.
#[macro_export]
macro_rules! define_ids {
    ($($(#[$doc:meta])* $visibility:vis $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $visibility struct $name(std::num::NonZeroU32);
        impl $crate::id::Id for $name {
            fn new(index: usize) -> Self {
                let number = u32::try_from(index + 1).expect("fewer than 2^32 entities");
                Self(std::num::NonZeroU32::new(number).expect("one at least"))
            }
            #[inline]
            fn index(self) -> usize {
                self.0.get() as usize - 1
            }
        }
    )+};
}

/// A vector indexed by one kind of id.
#[derive(Debug, Clone)]
pub struct IdVec<I, T> {
    items: Vec<T>,
    id: PhantomData<I>,
}

impl<I: Id, T> IdVec<I, T> {
    /// An empty vector.
    #[must_use]
    pub const fn new() -> Self {
        Self { items: Vec::new(), id: PhantomData }
    }

    /// Appends `item` and returns its id.
    pub fn push(&mut self, item: T) -> I {
        self.items.push(item);
        I::new(self.items.len() - 1)
    }

    /// Number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// True when there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Items with their ids, in order.
    pub fn iter(&self) -> impl Iterator<Item = (I, &T)> {
        self.items.iter().enumerate().map(|(index, item)| (I::new(index), item))
    }

    /// Items with their ids, in order, to change.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (I, &mut T)> {
        self.items.iter_mut().enumerate().map(|(index, item)| (I::new(index), item))
    }
}

impl<I: Id, T> Default for IdVec<I, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<I: Id, T> Index<I> for IdVec<I, T> {
    type Output = T;
    fn index(&self, id: I) -> &T {
        &self.items[id.index()]
    }
}

impl<I: Id, T> IndexMut<I> for IdVec<I, T> {
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.items[id.index()]
    }
}

/// Place and generation of an item of a [`Slab`], in one word: the place above, the generation below, counted from 1. An
/// optional id takes no more memory than an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SlabId(NonZeroU64);

impl SlabId {
    #[inline]
    const fn new(place: u32, generation: NonZeroU32) -> Self {
        Self(
            NonZeroU64::new((place as u64) << 32 | generation.get() as u64)
                .expect("a generation is at least 1"),
        )
    }

    /// Place and generation as one number: distinct for all items that a slab ever held.
    #[must_use]
    pub const fn to_u64(self) -> u64 {
        self.0.get()
    }

    /// The place, below the largest number of items alive at once. Those that are gone leave theirs to others.
    #[inline]
    #[must_use]
    pub const fn place(self) -> usize {
        (self.0.get() >> 32) as usize
    }

    /// True of the item that a place with this generation holds.
    #[inline]
    const fn is_of(self, generation: NonZeroU32) -> bool {
        self.0.get() as u32 == generation.get()
    }
}

/// Items that come and go, at places that are used again.
///
/// Takes memory for the most items ever alive at once, in chunks: it grows without moving them, and never takes twice the
/// room it needs.
#[derive(Debug, Clone)]
pub struct Slab<T> {
    chunks: Vec<Box<[Entry<T>; CHUNK]>>,
    /// Places that have been given out so far.
    places: u32,
    free: Vec<u32>,
}

#[derive(Debug, Clone)]
struct Entry<T> {
    generation: NonZeroU32,
    item: Option<T>,
}

/// Items of a chunk. Chosen: a chunk of connections is large enough to be mapped by itself, which keeps the memory freed between
/// chunks in one piece, and well below a megabyte.
const CHUNK: usize = 512;

impl<T> Slab<T> {
    /// An empty slab.
    #[must_use]
    pub const fn new() -> Self {
        Self { chunks: Vec::new(), places: 0, free: Vec::new() }
    }

    /// Stores `item` and returns its id.
    #[inline]
    pub fn insert(&mut self, item: T) -> SlabId {
        let place = self.free.pop().unwrap_or_else(|| self.grow());
        let entry = self.entry_mut(place as usize).expect("a place that was given out");
        entry.item = Some(item);
        SlabId::new(place, entry.generation)
    }

    /// The item, or `None` when it has been removed.
    #[inline]
    #[must_use]
    pub fn get(&self, id: SlabId) -> Option<&T> {
        let entry = &self.chunks.get(id.place() / CHUNK)?[id.place() % CHUNK];
        if id.is_of(entry.generation) { entry.item.as_ref() } else { None }
    }

    /// The item to change, or `None` when it has been removed.
    #[inline]
    pub fn get_mut(&mut self, id: SlabId) -> Option<&mut T> {
        let entry = self.entry_mut(id.place())?;
        if id.is_of(entry.generation) { entry.item.as_mut() } else { None }
    }

    /// Drops the item, in its place, unless it was removed before. Its id is never valid again.
    pub fn remove(&mut self, id: SlabId) {
        let Some(entry) = self.entry_mut(id.place()) else {
            return;
        };
        if id.is_of(entry.generation) && entry.item.is_some() {
            entry.item = None;
            entry.generation = entry.generation.checked_add(1).expect("fewer than 2^32 items at a place");
            self.free.push(id.place() as u32);
        }
    }

    /// Number of items alive.
    #[must_use]
    pub fn len(&self) -> usize {
        self.places as usize - self.free.len()
    }

    /// True when no item is alive.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Items alive with their ids, by place.
    pub fn iter(&self) -> impl Iterator<Item = (SlabId, &T)> {
        self.chunks.iter().flat_map(|chunk| chunk.iter()).zip(0..).filter_map(|(entry, place)| {
            let id = SlabId::new(place, entry.generation);
            entry.item.as_ref().map(|item| (id, item))
        })
    }

    #[inline]
    fn entry_mut(&mut self, place: usize) -> Option<&mut Entry<T>> {
        Some(&mut self.chunks.get_mut(place / CHUNK)?[place % CHUNK])
    }

    /// A place that was never used.
    #[cold]
    fn grow(&mut self) -> u32 {
        let place = self.places;
        self.places = place.checked_add(1).expect("fewer than 2^32 items at once");
        if place as usize == self.chunks.len() * CHUNK {
            let chunk: Vec<_> =
                (0..CHUNK).map(|_| Entry { generation: NonZeroU32::MIN, item: None }).collect();
            self.chunks.push(chunk.into_boxed_slice().try_into().ok().expect("a chunk has its size"));
        }
        place
    }
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    define_ids! {
        /// A thing of these tests.
        pub(super) ThingId
    }

    #[test]
    fn a_vector_is_indexed_by_its_own_ids() {
        let mut things: IdVec<ThingId, &str> = IdVec::new();
        assert!(things.is_empty());
        let (first, second) = (things.push("first"), things.push("second"));
        things[first] = "changed";
        assert_eq!((things[first], things[second], things.len()), ("changed", "second", 2));
        for (id, thing) in things.iter_mut() {
            *thing = if id == second { "last" } else { "not last" };
        }
        assert!(things.iter().eq([(first, &"not last"), (second, &"last")]));
    }

    #[test]
    fn a_place_used_again_does_not_answer_to_the_old_id() {
        let mut slab = Slab::new();
        let old = slab.insert("old");
        slab.remove(old);
        let new = slab.insert("new");
        assert_eq!((old.place(), new.place()), (0, 0));
        assert_ne!(old.to_u64(), new.to_u64());
        assert_eq!(slab.get(old), None);
        assert_eq!(slab.get_mut(old), None);
        slab.remove(old);
        assert_eq!(slab.get(new), Some(&"new"));
        assert_eq!(slab.len(), 1);
    }

    #[test]
    fn an_item_is_removed_once() {
        let mut slab = Slab::default();
        let id = slab.insert(1);
        slab.remove(id);
        slab.remove(id);
        assert_eq!(slab.len(), 0);
        assert_eq!((slab.len(), slab.is_empty()), (0, true));
        // A second removal that put the place on the free list twice would hand it out twice.
        let (first, second) = (slab.insert(2), slab.insert(3));
        assert_ne!(first, second);
        assert_eq!((slab.get(first), slab.get(second)), (Some(&2), Some(&3)));
    }

    #[test]
    fn memory_is_that_of_the_most_items_at_once() {
        let mut slab = Slab::new();
        let mut seen = std::collections::BTreeSet::new();
        for round in 0..1000 {
            let ids: Vec<_> = (0..3).map(|item| slab.insert((round, item))).collect();
            assert!(ids.iter().all(|id| seen.insert(id.to_u64())), "an id was used twice");
            assert!(slab.iter().map(|(_, item)| item.0).all(|r| r == round));
            assert_eq!(slab.iter().count(), 3);
            for id in ids {
                slab.remove(id);
            }
        }
        assert_eq!(slab.places, 3);
    }
}
