//! SACK blocks that come in: which segments they mark, duplicates that they report, and reordering that they show.
//!
//! Models the marks of each segment and the detection of reordering. Leaves out the splitting of segments: those that a
//! block covers in part stay unmarked. What the previous ACK reported is not looked at again, so a block costs as much as
//! it has grown.
//!
//! Source: Linux 6.18 `tcp_input.c`, `tcp_sacktag_write_queue()`, `tcp_sacktag_one()`, `tcp_check_dsack()`,
//! `tcp_is_sackblock_valid()`, `tcp_check_sack_reordering()`; RFC 2018; RFC 2883.

use std::ops::Range;

use super::acknowledge::Ack;
use super::connection::Connection;
use super::input::Incoming;
use super::recovery::CaState;
use super::sent::SegmentId;

/// Most blocks that fit into a header.
const BLOCKS_MAX: usize = 4;

/// Blocks of an ACK, in order of numbers.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Blocks {
    ranges: [(u64, u64); BLOCKS_MAX],
    len: usize,
}

impl Blocks {
    fn insert(&mut self, block: &Range<u64>) {
        let at = self.ranges[..self.len].partition_point(|(start, _)| *start <= block.start);
        self.ranges.copy_within(at..self.len, at + 1);
        self.ranges[at] = (block.start, block.end);
        self.len += 1;
    }

    fn iter(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.ranges[..self.len].iter().map(|(start, end)| *start..*end)
    }

    /// End of the block that holds `seq`.
    fn end_around(&self, seq: u64) -> Option<u64> {
        self.iter().find(|block| block.contains(&seq)).map(|block| block.end)
    }
}

impl Connection {
    /// Marks what the SACK blocks of `segment` report. It has at least one.
    pub(super) fn tag_sacked(&mut self, segment: Incoming<'_>, ack: &mut Ack) {
        if !self.agreed.sack {
            return;
        }
        ack.reordered_from = self.snd_nxt;
        let duplicate = self.reported_duplicate(segment, ack);
        if segment.ack + self.max_window < ack.prior_una || self.queue.is_empty() {
            self.queue.delivered_total += u64::from(ack.sack_delivered);
            return;
        }
        let mut known = Blocks::default();
        if let Some(blocks) = self.recovery.known_blocks.as_deref().filter(|_| self.queue.sacked_out > 0) {
            known = *blocks;
        }
        let blocks = self.valid_blocks(segment, duplicate.as_ref(), ack.prior_una);
        for block in blocks.iter() {
            self.walk(&block, &known, duplicate.as_ref(), ack);
        }
        **self.recovery.known_blocks.get_or_insert_default() = blocks;
        if self.recovery.state != CaState::Loss || self.recovery.undo.marker.is_some() {
            self.check_reordering(ack.reordered_from);
        }
        self.queue.delivered_total += u64::from(ack.sack_delivered);
    }

    /// The first block, if it reports a duplicate: it lies below the ACK, or inside the second one (RFC 2883, section 4).
    fn reported_duplicate(&mut self, segment: Incoming<'_>, ack: &mut Ack) -> Option<Range<u64>> {
        let mut blocks = segment.segment().sack_blocks();
        let first = blocks.next()?;
        let is_duplicate = first.start < segment.ack
            || blocks.next().is_some_and(|second| second.start <= first.start && first.end <= second.end);
        if !is_duplicate {
            return None;
        }
        let count = self.count_duplicates(&first, ack)?;
        let undo = &mut self.recovery.undo;
        if let Some(marker) = undo.marker
            && first.end <= ack.prior_una
            && first.end > marker
        {
            undo.count_down(count);
        }
        Some(first)
    }

    /// Segments in a reported duplicate. `None` when we cannot have sent it twice.
    fn count_duplicates(&mut self, block: &Range<u64>, ack: &mut Ack) -> Option<u32> {
        let len = block.end.checked_sub(block.start).filter(|len| *len > 0 && *len <= self.max_window)?;
        let count = len.div_ceil(self.mss) as u32;
        let is_probe =
            count == 1 && self.recovery.probe.high_seq.is_some_and(|high_seq| high_seq.get() == block.end);
        ack.probe_duplicated |= is_probe;
        self.recovery.duplicates_reported += u64::from(count);
        if self.recovery.duplicates_reported > self.retransmits {
            return None;
        }
        // A duplicate without reordering, or of a probe, does not come from a window that was too small.
        if self.recovery.reordering_seen && !is_probe {
            self.recovery.rack.on_duplicate();
        }
        ack.duplicate_reported = true;
        ack.sack_delivered += count;
        Some(count)
    }

    /// The blocks that may be used, in order of numbers.
    fn valid_blocks(&self, segment: Incoming<'_>, duplicate: Option<&Range<u64>>, prior_una: u64) -> Blocks {
        let mut blocks = Blocks::default();
        for (n, block) in segment.segment().sack_blocks().enumerate().take(BLOCKS_MAX) {
            let reports_duplicate = n == 0 && duplicate.is_some();
            if self.is_valid(&block, reports_duplicate) && block.end > prior_una {
                blocks.insert(&block);
            }
        }
        blocks
    }

    fn is_valid(&self, block: &Range<u64>, reports_duplicate: bool) -> bool {
        if block.end > self.snd_nxt || block.is_empty() {
            return false;
        }
        if block.start > self.snd_una {
            return true;
        }
        match self.recovery.undo.marker {
            Some(marker) if reports_duplicate && block.end <= self.snd_una => {
                block.start >= marker || (block.end > marker && block.end - block.start <= self.max_window)
            }
            _ => false,
        }
    }

    /// Marks the segments of a block that are in no `known` one.
    fn walk(&mut self, block: &Range<u64>, known: &Blocks, duplicate: Option<&Range<u64>>, ack: &mut Ack) {
        let mut id = self.queue.find(block.start);
        while id < self.queue.ids().end {
            let (seq, end) = (self.queue.get(id).seq, self.queue.get(id).end);
            if seq >= block.end {
                return;
            }
            let is_duplicate = duplicate.is_some_and(|range| range.start <= seq && end <= range.end);
            if !is_duplicate && let Some(known_end) = known.end_around(seq) {
                id = self.queue.find(known_end).max(id + 1);
                continue;
            }
            if block.start <= seq && end <= block.end {
                self.tag(id, is_duplicate, ack);
            }
            id += 1;
        }
    }

    /// One segment is covered by a block.
    fn tag(&mut self, id: SegmentId, is_duplicate: bool, ack: &mut Ack) {
        let sent = self.queue.get(id).clone();
        if is_duplicate && sent.was_retransmitted() {
            let undo = &mut self.recovery.undo;
            if undo.marker.is_some_and(|marker| sent.end > marker) {
                undo.count_down(1);
            }
            if sent.sacked {
                ack.reordered_from = ack.reordered_from.min(sent.seq);
            }
        }
        if sent.end <= self.snd_una {
            return;
        }
        if !sent.sacked {
            self.rack_advance(sent.was_retransmitted(), sent.sent_at, sent.end);
            if !sent.was_retransmitted() {
                if sent.seq < self.queue.highest_sacked(self.snd_una) {
                    ack.reordered_from = ack.reordered_from.min(sent.seq);
                }
                ack.original_delivered |= sent.end <= self.recovery.high_seq;
                let first = ack.sacked_sent.map_or(sent.sent_at, |(first, _)| first);
                ack.sacked_sent = Some((first, sent.sent_at));
            }
            let delivered = self.queue.take_delivered(id);
            if self.queue.rates.is_some() && delivered.is_some() && ack.is_newest(sent.sent_at, sent.end) {
                self.queue.choose_newest(id);
            }
            ack.note_delivery(delivered, sent.sent_at, sent.end);
            self.queue.mark_sacked(id);
            ack.data_sacked = true;
            ack.sack_delivered += 1;
        }
        if is_duplicate {
            self.queue.clear_retransmitted(id);
        }
    }

    /// Something below `fack` that was sent only once has just arrived at `low`: it was overtaken by that distance.
    pub(super) fn check_reordering(&mut self, low: u64) {
        let highest = self.queue.highest_sacked(self.snd_una);
        if low >= highest {
            return;
        }
        let distance = highest - low;
        if distance > u64::from(self.recovery.reordering) * self.mss {
            let segments = distance.div_ceil(self.mss) as u32;
            self.recovery.reordering = segments.min(self.profile.reordering_max);
        }
        self.recovery.reordering_seen = true;
    }
}
