//! Survey of a trace: how many bytes of objects it asks for, and whether their sizes stay the same.

use rustc_hash::FxHashMap;

use crate::workload::ObjectId;

/// Sums over the requests of a trace; memory grows with the objects, by some 20 bytes each.
#[derive(Debug, Clone, Default)]
pub struct Survey {
    /// Requests.
    pub requests: u64,
    /// Sum of their sizes, in bytes.
    pub bytes: u64,
    /// Sum of the sizes of all objects, each as it was first asked for: what a cache holds in the end that never gives up any.
    pub footprint: u64,
    /// Largest size of a request, in bytes.
    pub largest: u64,
    /// Requests with another size than the first one for their object had.
    pub resized: u64,
    first: FxHashMap<ObjectId, u64>,
}

impl Survey {
    /// Counts a request; an object takes at least a byte, as in a [`Cache`](super::Cache).
    pub fn request(&mut self, object: ObjectId, bytes: u64) {
        let bytes = bytes.max(1);
        self.requests += 1;
        self.bytes += bytes;
        self.largest = self.largest.max(bytes);
        let footprint = &mut self.footprint;
        let first = *self.first.entry(object).or_insert_with(|| {
            *footprint += bytes;
            bytes
        });
        self.resized += u64::from(first != bytes);
    }

    /// Different objects.
    #[must_use]
    pub fn objects(&self) -> u64 {
        self.first.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_object_counts_once_with_its_first_size() {
        let mut survey = Survey::default();
        for (object, bytes) in [(1, 100), (2, 50), (1, 100), (1, 120), (3, 0), (2, 50), (1, 100)] {
            survey.request(ObjectId::new(object).unwrap(), bytes);
        }
        assert_eq!((survey.requests, survey.bytes, survey.objects()), (7, 521, 3));
        assert_eq!((survey.footprint, survey.largest, survey.resized), (151, 120, 1));
    }
}
