//! Reports of the receiver: selective acknowledgements, and duplicates.
//!
//! Models Linux's four blocks, the one touched last by a segment first. One duplicate goes before them and is reported
//! once. Leaves out which ACKs are held back. That is decided where ACKs are.
//!
//! Source: Linux 6.18 `tcp_input.c`, `tcp_sack_new_ofo_skb()`, `tcp_sack_maybe_coalesce()`, `tcp_sack_remove()`,
//! `tcp_dsack_set()`, `tcp_dsack_extend()`; RFC 2018, section 4; RFC 2883, section 4.

use std::ops::Range;

/// Blocks that are remembered (`TCP_NUM_SACKS`).
const BLOCKS_MAX: usize = 4;
/// Blocks that a header with timestamps holds beside a duplicate (`TCP_SACK_BLOCKS_EXPECTED`).
const BLOCKS_EXPECTED: usize = 2;

/// Report to send. Most connections never have one.
#[derive(Debug, Clone, Default)]
pub(super) struct SackReport(Option<Box<Report>>);

#[derive(Debug, Clone, Default)]
struct Report {
    /// Newest first.
    blocks: [Range<u64>; BLOCKS_MAX],
    len: usize,
    duplicate: Option<Range<u64>>,
}

/// True when `a` and `b` overlap or touch. Then `a` becomes both.
fn joins(a: &mut Range<u64>, b: &Range<u64>) -> bool {
    let touches = b.start <= a.end && a.start <= b.end;
    if touches {
        *a = a.start.min(b.start)..a.end.max(b.end);
    }
    touches
}

impl SackReport {
    /// The duplicate, if one is to be reported, then the blocks.
    #[inline]
    pub(super) fn blocks(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        let (duplicate, blocks) = self
            .0
            .as_ref()
            .map_or((None, &[][..]), |report| (report.duplicate.as_ref(), &report.blocks[..report.len]));
        duplicate.into_iter().chain(blocks).cloned()
    }

    /// Number of [`blocks`](Self::blocks).
    pub(super) fn count(&self) -> usize {
        self.0.as_ref().map_or(0, |report| report.len + usize::from(report.duplicate.is_some()))
    }

    /// The duplicate has been reported, or is no longer news.
    pub(super) fn forget_duplicate(&mut self) {
        if let Some(report) = &mut self.0 {
            report.duplicate = None;
        }
    }

    /// `range` came twice. It is reported with what touches it.
    pub(super) fn add_duplicate(&mut self, range: Range<u64>) {
        match &mut self.0.get_or_insert_default().duplicate {
            Some(known) => {
                joins(known, &range);
            }
            duplicate => *duplicate = Some(range),
        }
    }

    /// `range` arrived beyond a gap. True when a block is touched, or pushed out, that ACKs which are held back have not reported.
    pub(super) fn add(&mut self, range: Range<u64>) -> bool {
        self.0.get_or_insert_default().add(range)
    }

    /// Everything before `rcv_nxt` has arrived.
    pub(super) fn acknowledge(&mut self, rcv_nxt: u64) {
        if let Some(report) = &mut self.0 {
            report.acknowledge(rcv_nxt);
        }
    }
}

impl Report {
    fn add(&mut self, range: Range<u64>) -> bool {
        let touched = self.blocks[..self.len].iter_mut().position(|block| joins(block, &range));
        let place = touched.unwrap_or_else(|| {
            let place = self.len.min(BLOCKS_MAX - 1);
            self.len = place + 1;
            self.blocks[place] = range;
            place
        });
        self.blocks[..=place].rotate_right(1);
        if touched.is_some() {
            self.join_with_first();
        }
        place >= BLOCKS_EXPECTED
    }

    /// The first block may have grown into others.
    fn join_with_first(&mut self) {
        let [first, rest @ ..] = &mut self.blocks;
        let mut kept = 0;
        for index in 0..self.len - 1 {
            if !joins(first, &rest[index].clone()) {
                rest.swap(kept, index);
                kept += 1;
            }
        }
        self.len = kept + 1;
    }

    fn acknowledge(&mut self, rcv_nxt: u64) {
        let mut kept = 0;
        for index in 0..self.len {
            if self.blocks[index].start > rcv_nxt {
                self.blocks.swap(kept, index);
                kept += 1;
            }
        }
        self.len = kept;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(ranges: &[(u64, u64)]) -> SackReport {
        let mut report = SackReport::default();
        for (start, end) in ranges {
            report.add(*start..*end);
        }
        report
    }

    fn blocks(report: &SackReport) -> Vec<(u64, u64)> {
        report.blocks().map(|block| (block.start, block.end)).collect()
    }

    #[test]
    fn the_newest_block_comes_first() {
        assert_eq!(blocks(&report(&[(10, 20), (30, 40), (50, 60)])), [(50, 60), (30, 40), (10, 20)]);
        assert_eq!(blocks(&report(&[(10, 20), (30, 40), (20, 25)])), [(10, 25), (30, 40)]);
    }

    #[test]
    fn a_fifth_block_pushes_out_the_oldest() {
        let five = report(&[(10, 11), (20, 21), (30, 31), (40, 41), (50, 51)]);
        assert_eq!(blocks(&five), [(50, 51), (40, 41), (30, 31), (20, 21)]);
    }

    #[test]
    fn a_segment_between_two_blocks_makes_them_one() {
        assert_eq!(blocks(&report(&[(10, 20), (50, 60), (30, 40), (20, 30)])), [(10, 40), (50, 60)]);
    }

    #[test]
    fn what_is_acknowledged_is_not_reported() {
        let mut report = report(&[(10, 20), (30, 40), (50, 60)]);
        report.acknowledge(40);
        assert_eq!(blocks(&report), [(50, 60)]);
    }

    #[test]
    fn a_duplicate_is_reported_first_and_once() {
        let mut report = report(&[(30, 40)]);
        report.add_duplicate(10..20);
        report.add_duplicate(20..22);
        assert_eq!(blocks(&report), [(10, 22), (30, 40)]);
        report.forget_duplicate();
        assert_eq!(blocks(&report), [(30, 40)]);
    }

    #[test]
    fn news_of_a_third_block_cannot_be_held_back() {
        let mut report = report(&[(10, 20), (30, 40)]);
        assert!(report.add(50..60));
        assert!(!report.add(60..70));
    }
}
