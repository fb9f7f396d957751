//! A count-min sketch of how often objects were asked for lately: some bits for each object that the cache holds.
//!
//! Counters have 4 bits. An object has four, chosen by its id. Its estimate is the least of them, at least its requests
//! since the last halving, up to 15. After ten requests for each object of its capacity all counters are halved, to
//! follow present popularity.
//!
//! Source: G. Einziger, R. Friedman, B. Manes, "TinyLFU: A Highly Efficient Cache Admission Policy", ACM Transactions on
//! Storage 13(4), 2017; the sample of ten requests an object and the four counters are Caffeine's. Differs: which counters an
//! object has, and no doorkeeper.

use super::entries::spread;
use crate::workload::ObjectId;

/// Counters of an object.
const ROWS: u32 = 4;

/// Requests between halvings, for each object that the sketch is made for.
const SAMPLE: u64 = 10;

/// Objects that the smallest sketch is made for.
const OBJECTS_MIN: usize = 16;

/// The sketch: 16 counters to a word, four of each row, a word for each object that it is made for.
#[derive(Debug, Clone)]
pub(super) struct Sketch {
    words: Vec<u64>,
    /// Requests since the last halving, without those that found all counters full.
    requests: u64,
}

impl Sketch {
    pub(super) fn new() -> Self {
        Self { words: vec![0; OBJECTS_MIN], requests: 0 }
    }

    /// Makes it large enough for `objects` objects. No estimate changes: a counter becomes two that start with its count.
    pub(super) fn fit(&mut self, objects: u64) {
        while (self.words.len() as u64) < objects {
            self.words.extend_from_within(..);
        }
    }

    /// Counts a request.
    pub(super) fn count(&mut self, object: ObjectId) {
        let mut counted = false;
        for row in 0..ROWS {
            let (word, shift) = self.counter(object, row);
            if self.words[word] >> shift & 0xf < 0xf {
                self.words[word] += 1 << shift;
                counted = true;
            }
        }
        self.requests += u64::from(counted);
        if self.requests >= SAMPLE * self.words.len() as u64 {
            self.halve();
        }
    }

    /// Estimated number of recent requests for `object`, 0 to 15.
    pub(super) fn estimate(&self, object: ObjectId) -> u64 {
        let count = |row| {
            let (word, shift) = self.counter(object, row);
            self.words[word] >> shift & 0xf
        };
        (0..ROWS).map(count).min().unwrap_or_default()
    }

    fn halve(&mut self) {
        for word in &mut self.words {
            *word = *word >> 1 & 0x7777_7777_7777_7777;
        }
        self.requests /= 2;
    }

    /// Word and first bit of an object's counter in a row. The low bits of each row's hash choose the word: a sketch of
    /// twice the words has the counter in the same word or in its copy.
    fn counter(&self, object: ObjectId, row: u32) -> (usize, u32) {
        let hash =
            (spread(object).rotate_left(row * 16) ^ u64::from(row)).wrapping_mul(0xd134_2543_de82_ef95);
        let word = (hash >> 20) as usize & (self.words.len() - 1);
        let quarter = (hash >> 62) as u32;
        (word, 16 * row + 4 * quarter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(id: u64) -> ObjectId {
        ObjectId::new(id).unwrap()
    }

    #[test]
    fn an_estimate_is_never_less_than_the_requests_and_seldom_more() {
        let mut sketch = Sketch::new();
        sketch.fit(1024);
        for id in 0..1000 {
            for _ in 0..id % 8 {
                sketch.count(object(id));
            }
        }
        let too_high = (0..1000).filter(|id| {
            let estimate = sketch.estimate(object(*id));
            assert!(estimate >= id % 8, "object {id} was asked for {} times, not {estimate}", id % 8);
            estimate > id % 8
        });
        let too_high = too_high.count();
        assert!(too_high < 50, "{too_high} of 1000 estimates are too high");
    }

    #[test]
    fn counts_stop_at_15_and_are_halved_after_ten_requests_an_object() {
        let mut sketch = Sketch::new();
        (0..40).for_each(|_| sketch.count(object(7)));
        assert_eq!(sketch.estimate(object(7)), 15);
        // 15 of 160 requests were counted.
        for id in 100..100 + 145 {
            sketch.count(object(id));
        }
        assert_eq!(sketch.estimate(object(7)), 7);
        // Half of the requests are taken to be left: 80 more halve the counters again.
        for id in 200..280 {
            sketch.count(object(id / 14));
        }
        assert_eq!(sketch.estimate(object(7)), 3);
    }

    #[test]
    fn growing_changes_no_estimate() {
        let mut sketch = Sketch::new();
        (0..100).for_each(|id| sketch.count(object(id % 40)));
        let estimates = |sketch: &Sketch| (0..100).map(|id| sketch.estimate(object(id))).collect::<Vec<_>>();
        let before = estimates(&sketch);
        sketch.fit(1000);
        assert_eq!(sketch.words.len(), 1024);
        assert_eq!(estimates(&sketch), before);
    }
}
