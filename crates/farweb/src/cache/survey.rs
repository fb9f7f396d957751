//! Survey of a trace: requests by their treatment, bytes of the objects that a cache may store, and changes of their sizes.

use rustc_hash::FxHashMap;

use crate::workload::{Caching, ObjectId};

/// Sums over the requests of a trace. Memory grows with the objects, by some 30 bytes each.
#[derive(Debug, Clone, Default)]
pub struct Survey {
    /// Requests.
    pub requests: u64,
    /// Sum of their sizes, in bytes.
    pub bytes: u64,
    /// Sum of the sizes of all objects that may be stored, each at its first size: the final contents of an infinite
    /// cache.
    pub footprint: u64,
    /// These objects.
    pub storable_objects: u64,
    /// Largest size of a response that may be stored, in bytes.
    pub largest: u64,
    /// Storable responses with another size than the first one of their object had.
    pub resized: u64,
    /// Requests with a storable response, for objects with several sizes.
    pub of_several_sizes: u64,
    /// Objects with several sizes.
    pub objects_of_several_sizes: u64,
    /// Requests that a copy may serve but with a response that is not stored.
    pub served_only: u64,
    /// Requests that no copy may serve.
    pub bypassing: u64,
    /// Bypassing ones that make a cache give up its copy.
    pub invalidating: u64,
    seen: FxHashMap<ObjectId, Seen>,
}

/// An object of the trace.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    /// Size of the first storable response, 0 before there is one.
    first_bytes: u64,
    /// Requests with a storable response.
    requests: u64,
    has_several_sizes: bool,
    /// A cache without limit holds a copy.
    is_held: bool,
}

impl Survey {
    /// Counts a request. An object takes at least a byte, as in a [`Cache`](super::Cache). True if a cache without limit has a copy that
    /// serves it.
    pub fn request(&mut self, object: ObjectId, bytes: u64, caching: Caching) -> bool {
        let bytes = bytes.max(1);
        self.requests += 1;
        self.bytes += bytes;
        let seen = self.seen.entry(object).or_default();
        self.served_only += u64::from(caching == Caching::Serve);
        self.bypassing += u64::from(!caching.may_be_served());
        self.invalidating += u64::from(caching == Caching::Invalidate);
        let is_served = caching.may_be_served() && seen.is_held;
        seen.is_held = caching == Caching::Store || seen.is_held && caching != Caching::Invalidate;
        if caching != Caching::Store {
            return is_served;
        }
        self.largest = self.largest.max(bytes);
        if seen.requests == 0 {
            seen.first_bytes = bytes;
            self.footprint += bytes;
            self.storable_objects += 1;
        }
        seen.requests += 1;
        let is_resized = seen.first_bytes != bytes;
        self.resized += u64::from(is_resized);
        if seen.has_several_sizes {
            self.of_several_sizes += 1;
        } else if is_resized {
            seen.has_several_sizes = true;
            self.of_several_sizes += seen.requests;
            self.objects_of_several_sizes += 1;
        }
        is_served
    }

    /// Different objects.
    #[must_use]
    pub fn objects(&self) -> u64 {
        self.seen.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_object_counts_once_with_its_first_size() {
        let mut survey = Survey::default();
        for (object, bytes) in [(1, 100), (2, 50), (1, 100), (1, 120), (3, 0), (2, 50), (1, 100)] {
            survey.request(ObjectId::new(object).unwrap(), bytes, Caching::Store);
        }
        assert_eq!((survey.requests, survey.bytes, survey.objects()), (7, 521, 3));
        assert_eq!((survey.footprint, survey.largest, survey.resized), (151, 120, 1));
        assert_eq!(survey.of_several_sizes, 4, "all of the first object");
        assert_eq!(survey.objects_of_several_sizes, 1);
    }

    #[test]
    fn sizes_are_those_of_responses_that_may_be_stored() {
        let mut survey = Survey::default();
        let requests = [
            (1, 30, Caching::Serve),
            (1, 100, Caching::Store),
            (1, 40, Caching::Invalidate),
            (1, 100, Caching::Store),
            (2, 900, Caching::Bypass),
        ];
        let served = requests
            .map(|(object, bytes, caching)| survey.request(ObjectId::new(object).unwrap(), bytes, caching));
        assert_eq!(served, [false, false, false, false, false]);
        assert!(survey.request(ObjectId::new(1).unwrap(), 30, Caching::Serve), "the copy of the fourth");
        assert!(!survey.request(ObjectId::new(1).unwrap(), 30, Caching::Bypass));
        survey = Survey::default();
        for (object, bytes, caching) in requests {
            survey.request(ObjectId::new(object).unwrap(), bytes, caching);
        }
        assert_eq!((survey.requests, survey.bytes, survey.objects()), (5, 1170, 2));
        assert_eq!(survey.storable_objects, 1, "the second one's only response bypasses caches");
        assert_eq!((survey.footprint, survey.largest, survey.resized), (100, 100, 0));
        assert_eq!((survey.served_only, survey.bypassing, survey.invalidating), (1, 2, 1));
    }
}
