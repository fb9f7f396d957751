//! Reassembly: keeps segments beyond a gap until the gap is filled.
//!
//! Models ranges of sequence numbers, a FIN taking one. Payload has no content, so which of two overlapping copies is kept
//! cannot matter. Says which part of a segment was there before, for the report of duplicates (RFC 2883).
//! Leaves out pruning, and joining of buffers.
//!
//! Source: Linux 6.18 `tcp_input.c`, `tcp_data_queue_ofo()`, `tcp_ofo_queue()`.

use std::ops::Range;

/// Ranges beyond the next number expected. Most connections never have any.
#[derive(Debug, Clone, Default)]
pub(super) struct Early(Option<Box<Kept>>);

#[derive(Debug, Clone, Default)]
struct Kept {
    /// Apart from each other and in order.
    ranges: Vec<Range<u64>>,
    /// Memory of their segments, in bytes.
    memory: u64,
}

/// Data that had been waiting for a gap to be filled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Released {
    /// The next number expected.
    pub(super) rcv_nxt: u64,
    /// Memory that goes with it, in bytes.
    pub(super) memory: u64,
    /// The part that came a second time with what filled the gap.
    pub(super) duplicate: Option<Range<u64>>,
}

impl Early {
    pub(super) fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|kept| kept.ranges.is_empty())
    }

    /// Memory that it takes, in bytes.
    pub(super) fn memory(&self) -> u64 {
        self.0.as_ref().map_or(0, |kept| kept.memory)
    }

    /// The number after the last one that has arrived.
    pub(super) fn end(&self) -> Option<u64> {
        self.0.as_ref()?.ranges.last().map(|range| range.end)
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        if let Some(kept) = &mut self.0 {
            kept.ranges.clear();
            kept.memory = 0;
        }
    }

    /// Keeps `range`, which came in `memory` bytes. Gives the first part that was there before, and true if
    /// all was.
    pub(super) fn insert(&mut self, range: Range<u64>, memory: u64) -> (Option<Range<u64>>, bool) {
        self.0.get_or_insert_default().insert(range, memory)
    }

    /// Takes the bytes in order now that everything before `rcv_nxt` has arrived.
    #[inline]
    pub(super) fn release(&mut self, rcv_nxt: u64) -> Option<Released> {
        self.0.as_mut()?.release(rcv_nxt)
    }
}

impl Kept {
    fn insert(&mut self, mut range: Range<u64>, memory: u64) -> (Option<Range<u64>>, bool) {
        let first = self.ranges.partition_point(|kept| kept.end < range.start);
        let after = self.ranges.partition_point(|kept| kept.start <= range.end);
        let touched = &self.ranges[first..after];
        let duplicate = touched
            .iter()
            .map(|kept| kept.start.max(range.start)..kept.end.min(range.end))
            .find(|part| !part.is_empty());
        if duplicate.as_ref() == Some(&range) {
            return (duplicate, true);
        }
        if let (Some(left), Some(right)) = (touched.first(), touched.last()) {
            range = left.start.min(range.start)..right.end.max(range.end);
        }
        self.memory += memory;
        // The common case, a segment after the last one, moves nothing.
        match &mut self.ranges[first..after] {
            [kept] => *kept = range,
            _ => drop(self.ranges.splice(first..after, [range])),
        }
        (duplicate, false)
    }

    fn release(&mut self, rcv_nxt: u64) -> Option<Released> {
        let count = self.ranges.partition_point(|range| range.start <= rcv_nxt);
        let (first, last) = (self.ranges[..count].first()?, self.ranges[..count].last()?);
        let duplicate = (first.start < rcv_nxt).then(|| first.start..first.end.min(rcv_nxt));
        let rcv_nxt = last.end.max(rcv_nxt);
        let taken: u64 = self.ranges[..count].iter().map(|range| range.end - range.start).sum();
        let all: u64 = self.ranges.iter().map(|range| range.end - range.start).sum();
        // All memory belongs to segments of about one size, so a share of the bytes is that share of it.
        let memory = (u128::from(self.memory) * u128::from(taken) / u128::from(all)) as u64;
        self.memory -= memory;
        self.ranges.drain(..count);
        Some(Released { rcv_nxt, memory, duplicate })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn early(ranges: &[(u64, u64)]) -> Early {
        let mut early = Early::default();
        for (start, end) in ranges {
            early.insert(*start..*end, 100);
        }
        early
    }

    fn kept(early: &Early) -> Vec<(u64, u64)> {
        let ranges = early.0.iter().flat_map(|kept| &kept.ranges);
        ranges.map(|range| (range.start, range.end)).collect()
    }

    #[test]
    fn ranges_stay_in_order_and_apart_and_those_that_touch_become_one() {
        assert_eq!(kept(&early(&[(30, 40), (10, 20), (50, 60)])), [(10, 20), (30, 40), (50, 60)]);
        assert_eq!(kept(&early(&[(10, 20), (20, 30)])), [(10, 30)]);
        assert_eq!(kept(&early(&[(20, 30), (10, 20)])), [(10, 30)]);
        assert_eq!(kept(&early(&[(10, 20), (30, 40), (15, 35)])), [(10, 40)]);
        assert_eq!(kept(&early(&[(20, 30), (60, 70), (40, 50), (10, 65)])), [(10, 70)]);
    }

    #[test]
    fn a_copy_is_reported_and_takes_no_memory() {
        let mut early = early(&[(10, 40)]);
        assert_eq!(early.insert(20..30, 100), (Some(20..30), true));
        assert_eq!((early.memory(), early.end()), (100, Some(40)));
    }

    #[test]
    fn the_first_part_that_was_there_is_reported() {
        assert_eq!(early(&[(10, 20), (30, 40)]).insert(15..50, 100), (Some(15..20), false));
        assert_eq!(early(&[(10, 20)]).insert(20..30, 100), (None, false));
    }

    #[test]
    fn a_filled_gap_releases_what_follows_without_one() {
        let mut early = early(&[(10, 20), (20, 30), (40, 50)]);
        assert_eq!(early.release(9), None);
        assert_eq!(early.release(10), Some(Released { rcv_nxt: 30, memory: 200, duplicate: None }));
        assert_eq!((kept(&early), early.memory()), (vec![(40, 50)], 100));
        assert_eq!(early.release(45), Some(Released { rcv_nxt: 50, memory: 100, duplicate: Some(40..45) }));
        assert!(early.is_empty());
    }
}
