//! References to documents: how often each is asked for, how large it is, and how many others were since the last time.
//!
//! The stack distance of a request is its document's place on a list of all documents, the one asked for last on top: 0 when
//! the same document was asked for just before. An LRU cache with room for n documents of equal size answers exactly the
//! requests with a distance below n.
//!
//! A request costs O(log documents), memory is some 80 B a document, whatever the number of requests.
//!
//! Source: R. L. Mattson, J. Gecsei, D. R. Slutz, I. L. Traiger, "Evaluation techniques for storage hierarchies", IBM Systems
//! Journal 9(2), 1970.

use rustc_hash::FxHashMap;

use super::lru_stack::LruStack;

/// Requests of a workload, counted.
#[derive(Debug, Default)]
pub struct References {
    numbers: FxHashMap<u64, u32>,
    /// By document, in the order of their first requests.
    counts: Vec<u64>,
    bytes: Vec<u64>,
    resized: u64,
    stack: LruStack,
    /// Requests by stack distance. Those for a new document have none.
    distances: Vec<u64>,
}

impl References {
    /// Counts a request for the document `object` that brought `bytes`, 0 for an unknown size. Returns its stack distance,
    /// if it was asked for before.
    pub fn add(&mut self, object: u64, bytes: u64) -> Option<usize> {
        let next = self.counts.len() as u32;
        let document = *self.numbers.entry(object).or_insert(next);
        let Some(depth) = self.stack.use_again(document, 1) else {
            self.counts.push(1);
            self.bytes.push(bytes);
            return None;
        };
        self.counts[document as usize] += 1;
        self.keep_size(document as usize, bytes);
        let distance = depth as usize - 1;
        if self.distances.len() <= distance {
            self.distances.resize(distance + 1, 0);
        }
        self.distances[distance] += 1;
        Some(distance)
    }

    /// The size of a document is the largest that was seen: transfers that were broken off are smaller.
    fn keep_size(&mut self, document: usize, bytes: u64) {
        let known = &mut self.bytes[document];
        if bytes > 0 && *known > 0 && bytes != *known {
            self.resized += 1;
        }
        *known = bytes.max(*known);
    }

    /// Requests of each document, in the order of their first requests.
    #[must_use]
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Size of each document, the largest seen, 0 where unknown.
    #[must_use]
    pub fn bytes(&self) -> &[u64] {
        &self.bytes
    }

    /// Requests by stack distance.
    #[must_use]
    pub fn distances(&self) -> &[u64] {
        &self.distances
    }

    /// Requests that brought another size than the largest before.
    #[must_use]
    pub const fn resized(&self) -> u64 {
        self.resized
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn distances_count_the_others_since_the_last_time() {
        let mut references = References::default();
        let distances: Vec<_> = [7, 8, 7, 7, 9, 8, 7].map(|object| references.add(object, object)).to_vec();
        assert_eq!(distances, [None, None, Some(1), Some(0), None, Some(2), Some(2)]);
        assert_eq!(references.counts(), [4, 2, 1]);
        assert_eq!(references.bytes(), [7, 8, 9]);
        assert_eq!(references.distances(), [1, 1, 2]);
    }

    #[test]
    fn a_document_is_as_large_as_the_largest_transfer() {
        let mut references = References::default();
        for bytes in [0, 300, 0, 500, 500, 100] {
            references.add(1, bytes);
        }
        assert_eq!((references.bytes(), references.resized()), (&[500][..], 2));
    }

    #[test]
    fn a_loop_over_many_documents_has_one_distance() {
        let mut references = References::default();
        let last = (0..20_000).map(|request| references.add(request % 3000, 0)).last();
        assert_eq!(last, Some(Some(2999)));
        assert_eq!(references.distances()[2999], 17_000);
        assert_eq!(references.distances().iter().sum::<u64>(), 17_000);
    }

    proptest! {
        #[test]
        fn it_does_what_a_list_does(objects in prop::collection::vec(0..60_u64, 0..3000)) {
            let (mut references, mut list) = (References::default(), Vec::new());
            for object in objects {
                let place = list.iter().position(|other| *other == object);
                if let Some(place) = place {
                    list.remove(place);
                }
                list.insert(0, object);
                prop_assert_eq!(references.add(object, 1), place);
            }
        }
    }
}
