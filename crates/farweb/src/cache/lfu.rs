//! LFU with ageing: gives up the object used least often since it came. Of equal counts the one used least recently goes.
//!
//! Counts cover the stay in the cache, the fetching request included, and are lost with the object. When their mean
//! exceeds 10 all are halved, rounded up: objects popular long ago do not stay for ever. Objects with equal counts
//! after that keep their order.
//!
//! Sources: J. T. Robinson, M. V. Devarakonda, "Data Cache Management Using Frequency-Based Replacement", SIGMETRICS 1990, for
//! the ageing; M. Arlitt, C. Williamson, "Trace-Driven Simulation of Document Caching Strategies for Internet Web Servers",
//! Simulation 68(1), 1997, for it in web caches. Differs: no limit to a single count.

use super::entries::{Entries, Place};
use super::list::List;
use super::{ObjectId, Replace};

/// Largest mean count before all are halved: the classic 10.
const MEAN_MAX: u64 = 10;

/// No bucket.
const NONE: u32 = u32::MAX;

/// The objects with the same count, in the order of their last use.
#[derive(Debug, Clone)]
struct Bucket {
    uses: u64,
    stack: List,
    /// Buckets with the nearest lower and higher count. `higher` leads to the next free bucket where there is none.
    lower: u32,
    higher: u32,
}

/// The buckets by count. An object's bucket is its `count`.
#[derive(Debug, Clone)]
pub(super) struct Lfu {
    buckets: Vec<Bucket>,
    /// The bucket with the lowest count.
    lowest: u32,
    free: u32,
    /// Sum of the counts of all objects.
    uses: u64,
}

impl Lfu {
    pub(super) const fn new() -> Self {
        Self { buckets: Vec::new(), lowest: NONE, free: NONE, uses: 0 }
    }

    /// The bucket for `uses`, next above `lower`. Made if need be.
    fn bucket_above(&mut self, lower: u32, uses: u64) -> u32 {
        let higher = if lower == NONE { self.lowest } else { self.buckets[lower as usize].higher };
        if higher != NONE && self.buckets[higher as usize].uses == uses {
            return higher;
        }
        let bucket = Bucket { uses, stack: List::new(0), lower, higher };
        let made = if self.free == NONE {
            self.buckets.push(bucket);
            self.buckets.len() as u32 - 1
        } else {
            let made = self.free;
            self.free = self.buckets[made as usize].higher;
            self.buckets[made as usize] = bucket;
            made
        };
        self.join(lower, made);
        self.join(made, higher);
        made
    }

    /// Makes two buckets neighbours, with `NONE` below the lowest and above the highest.
    fn join(&mut self, lower: u32, higher: u32) {
        if lower == NONE {
            self.lowest = higher;
        } else {
            self.buckets[lower as usize].higher = higher;
        }
        if higher != NONE {
            self.buckets[higher as usize].lower = lower;
        }
    }

    /// Takes an object out of its bucket, but leaves the bucket.
    fn unlink(&mut self, entries: &mut Entries, place: Place) -> u32 {
        let bucket = entries[place].count;
        self.uses -= self.buckets[bucket as usize].uses;
        self.buckets[bucket as usize].stack.unlink(entries, place);
        bucket
    }

    /// Puts an object into a bucket.
    fn push(&mut self, entries: &mut Entries, place: Place, bucket: u32) {
        entries[place].count = bucket;
        self.buckets[bucket as usize].stack.push(entries, place);
        self.uses += self.buckets[bucket as usize].uses;
    }

    /// Takes a bucket away if nothing is in it.
    fn remove_if_empty(&mut self, bucket: u32) {
        let Bucket { ref stack, lower, higher, .. } = self.buckets[bucket as usize];
        if stack.is_empty() {
            self.join(lower, higher);
            self.buckets[bucket as usize].higher = self.free;
            self.free = bucket;
        }
    }

    /// Halves all counts if their mean is too high.
    fn age(&mut self, entries: &mut Entries) {
        if self.uses <= MEAN_MAX * entries.objects() {
            return;
        }
        let mut old = std::mem::replace(self, Self::new());
        let (mut bucket, mut highest) = (old.lowest, NONE);
        while bucket != NONE {
            let Bucket { uses, stack, higher, .. } = &mut old.buckets[bucket as usize];
            let halved = uses.div_ceil(2);
            if highest == NONE || self.buckets[highest as usize].uses < halved {
                highest = self.bucket_above(highest, halved);
            }
            while let Some(place) = stack.oldest() {
                stack.unlink(entries, place);
                self.push(entries, place, highest);
            }
            bucket = *higher;
        }
    }
}

impl Replace for Lfu {
    fn on_hit(&mut self, entries: &mut Entries, place: Place) {
        let bucket = self.unlink(entries, place);
        let above = self.bucket_above(bucket, self.buckets[bucket as usize].uses + 1);
        self.push(entries, place, above);
        self.remove_if_empty(bucket);
        self.age(entries);
    }

    fn take_in(
        &mut self,
        entries: &mut Entries,
        object: ObjectId,
        bytes: u64,
        _: Option<Place>,
    ) -> Option<Place> {
        while entries.lacks(bytes) {
            let least = self.buckets[self.lowest as usize].stack.oldest();
            self.drop(entries, least.expect("no bucket is empty"));
        }
        let place = entries.insert(object, bytes);
        let bucket = self.bucket_above(NONE, 1);
        self.push(entries, place, bucket);
        self.age(entries);
        Some(place)
    }

    fn drop(&mut self, entries: &mut Entries, place: Place) {
        let bucket = self.unlink(entries, place);
        self.remove_if_empty(bucket);
        entries.remove(place);
    }
}
