//! Numbers that have arrived ahead of others, as ranges in order and apart from each other.

use std::ops::Range;

/// Adds `range` to `kept`. Ranges that touch or overlap become one.
pub(super) fn insert(kept: &mut Vec<Range<u64>>, mut range: Range<u64>) {
    let first = kept.partition_point(|other| other.end < range.start);
    let after = kept.partition_point(|other| other.start <= range.end);
    if first < after {
        range.start = range.start.min(kept[first].start);
        range.end = range.end.max(kept[after - 1].end);
    }
    kept.splice(first..after, [range]);
}
