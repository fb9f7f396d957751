//! The retransmission queue: segments that were sent and are not acknowledged, with their marks.
//!
//! Models Linux's `tcp_rtx_queue` with the marks of each segment, the counters that are derived from them, the order by
//! time of transmission that RACK walks, and the count of deliveries at each transmission, with the marks of [`Rates`] beside it.
//! Leaves out merging: Linux collapses small buffers that follow each other when it retransmits (`tcp_retrans_try_collapse()`).
//!
//! The id of a segment is the number of segments that were queued before it. It changes only when one before it is split.
//!
//! Source: Linux 6.18 `tcp_input.c` (`tcp_mark_skb_lost()`, `tcp_sacktag_one()`), `tcp_rate.c`, `tcp_output.c` (`tcp_fragment()`),
//! `include/net/tcp.h` (`tcp_packets_in_flight()`); RFC 6675, section 4, for the marks.

use std::collections::VecDeque;

use super::rates::Rates;
use super::sent::{SegmentId, Sent};
use crate::tcp::segment::Flags;
use crate::units::Instant;

const NONE: SegmentId = SegmentId::MAX;
/// Room for segments at first: a SYN, and later a request. Most clients send no more.
const OPENING: usize = 1;
/// Room for segments when that is not enough: a first flight, and more.
const FIRST_FLIGHT: usize = 12;

/// Segments that were sent and are not acknowledged, in order of sequence numbers.
#[derive(Debug, Clone, Default)]
pub(super) struct Queue {
    segments: VecDeque<Sent>,
    /// Id of the first segment.
    first: SegmentId,
    /// True when the order by time of transmission is kept as a list. Until a segment is sent again, SACKed or lost, it
    /// equals the order of numbers.
    keeps_time_order: bool,
    /// Ends of that list.
    oldest: Option<SegmentId>,
    newest: Option<SegmentId>,
    /// Segments with a SACK mark. Without SACK, duplicate ACKs that stand for one.
    pub(super) sacked_out: u32,
    /// Segments taken to be lost.
    pub(super) lost_out: u32,
    /// Retransmissions in flight.
    pub(super) retrans_out: u32,
    /// Segments with a SACK mark right behind another one: their memory was merged (`tcp_shift_skb_data()`).
    pub(super) merged: u32,
    /// Where the search for a segment to retransmit starts.
    retransmit_hint: Option<SegmentId>,
    /// End of the highest segment with a SACK mark. Meaningless while there is none.
    highest_sacked: u64,
    /// Times that a segment was found lost (`tp->lost`).
    pub(super) lost_total: u64,
    /// Segments delivered, by ACK or SACK (`tp->delivered`).
    pub(super) delivered_total: u64,
    /// Marks of its segments, where the congestion control asks for samples of the rate.
    pub(super) rates: Option<Box<Rates>>,
}

impl Queue {
    /// Segments that are queued (`packets_out`).
    pub(super) fn packets_out(&self) -> u32 {
        self.segments.len() as u32
    }

    pub(super) fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Segments that have left the network, as far as is known.
    pub(super) const fn left_out(&self) -> u32 {
        self.sacked_out + self.lost_out
    }

    /// Segments in the network: all but those that left it, and retransmissions.
    pub(super) fn in_flight(&self) -> u32 {
        (self.packets_out() + self.retrans_out).saturating_sub(self.left_out())
    }

    pub(super) fn front(&self) -> Option<&Sent> {
        self.segments.front()
    }

    /// Id of the first segment, present or future.
    pub(super) const fn first_id(&self) -> SegmentId {
        self.first
    }

    /// Ids of all segments, in order of numbers.
    pub(super) fn ids(&self) -> std::ops::Range<SegmentId> {
        self.first..self.first + self.packets_out()
    }

    pub(super) fn get(&self, id: SegmentId) -> &Sent {
        &self.segments[(id - self.first) as usize]
    }

    fn get_mut(&mut self, id: SegmentId) -> &mut Sent {
        &mut self.segments[(id - self.first) as usize]
    }

    /// The first segment that ends beyond `seq`.
    pub(super) fn find(&self, seq: u64) -> SegmentId {
        self.first + self.segments.partition_point(|sent| sent.end <= seq) as SegmentId
    }

    /// End of the highest segment with a SACK mark. `snd_una` when there is none.
    pub(super) const fn highest_sacked(&self, snd_una: u64) -> u64 {
        if self.sacked_out == 0 { snd_una } else { self.highest_sacked }
    }

    /// Queues new sequence space that leaves at `at`.
    #[inline(always)]
    pub(super) fn push(&mut self, at: Instant, seq: u64, end: u64, flags: Flags) {
        let id = self.ids().end;
        if let Some(rates) = &mut self.rates {
            rates.on_sent(at, self.segments.is_empty());
        }
        if self.segments.len() == self.segments.capacity() {
            self.make_room();
        }
        let mut sent = Sent::new(at, seq, end, flags);
        sent.delivered = Some(self.delivered_total);
        self.segments.push_back(sent);
        if self.keeps_time_order {
            self.append_in_time(id);
        }
    }

    #[cold]
    fn make_room(&mut self) {
        match self.segments.capacity() {
            0 => self.segments.reserve_exact(OPENING),
            _ => self.segments.reserve(FIRST_FLIGHT),
        }
    }

    /// Takes the first segment off if all of it is below `snd_una`. Without SACK, `sacked_out` is left to the caller.
    #[inline(always)]
    pub(super) fn pop_acknowledged(&mut self, snd_una: u64) -> Option<Sent> {
        if self.front()?.end <= snd_una { self.pop_front() } else { None }
    }

    #[inline(always)]
    fn pop_front(&mut self) -> Option<Sent> {
        if self.keeps_time_order {
            self.take_from_time(self.first);
        }
        let sent = self.segments.pop_front()?;
        self.keeps_time_order &= !self.segments.is_empty();
        if self.retransmit_hint == Some(self.first) {
            self.retransmit_hint = None;
        }
        self.first += 1;
        self.merged -= u32::from(sent.sacked && self.is_sacked(self.first));
        self.sacked_out -= u32::from(sent.sacked);
        self.lost_out -= u32::from(sent.lost);
        self.retrans_out -= u32::from(sent.retransmitted);
        Some(sent)
    }

    /// An empty queue, with the room that this one had.
    pub(super) fn renewed(mut self) -> Self {
        self.segments.clear();
        Self { segments: self.segments, ..Self::default() }
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        while let Some(sent) = self.pop_front() {
            self.take_mark(sent.sent_at, false);
        }
        self.sacked_out = 0;
    }

    /// `id` leaves again at `at`. `is_counted` when it is a retransmission in flight and not a probe.
    pub(super) fn on_retransmit(&mut self, id: SegmentId, at: Instant, is_counted: bool) {
        let delivered = self.delivered_total;
        if let Some(rates) = &mut self.rates {
            rates.on_retransmit((id - self.first) as usize);
        }
        let sent = self.get_mut(id);
        sent.sent_at = at;
        sent.delivered = Some(delivered);
        sent.ever_retransmitted = true;
        if is_counted {
            sent.retransmitted = true;
            self.retrans_out += 1;
        }
        self.take_from_time(id);
        self.append_in_time(id);
    }

    /// The peer has the beginning of a segment: only the rest is sent again.
    pub(super) fn trim_front(&mut self, snd_una: u64) {
        if let Some(sent) = self.segments.front_mut() {
            sent.seq = sent.seq.max(snd_una);
        }
    }

    /// Splits `id` behind its first `len` bytes, for a retransmission that has less room than the first transmission had. Both
    /// parts keep the marks. The second one has the flags FIN and PSH, and follows the first in the order by time.
    pub(super) fn split(&mut self, id: SegmentId, len: u64) {
        self.keep_time_order();
        if let Some(rates) = &mut self.rates {
            rates.split((id - self.first) as usize);
        }
        let first = self.get_mut(id);
        let rest = Sent { seq: first.seq + len, ..first.clone() };
        first.end = rest.seq;
        first.flags = Flags::NONE;
        self.sacked_out += u32::from(rest.sacked);
        self.lost_out += u32::from(rest.lost);
        self.retrans_out += u32::from(rest.retransmitted);
        self.merged += u32::from(rest.sacked);
        let behind = |place: SegmentId| place + SegmentId::from(place != NONE && place > id);
        for sent in &mut self.segments {
            (sent.earlier, sent.later) = (behind(sent.earlier), behind(sent.later));
        }
        [&mut self.oldest, &mut self.newest, &mut self.retransmit_hint]
            .into_iter()
            .flatten()
            .for_each(|place| *place = behind(*place));
        self.segments.insert((id + 1 - self.first) as usize, Sent { in_time_order: false, ..rest });
        if self.get(id).in_time_order {
            self.follow_in_time(id, id + 1);
        }
    }

    /// Puts `id` right behind `before` in the order by time of transmission.
    fn follow_in_time(&mut self, before: SegmentId, id: SegmentId) {
        let later = std::mem::replace(&mut self.get_mut(before).later, id);
        let sent = self.get_mut(id);
        (sent.earlier, sent.later, sent.in_time_order) = (before, later, true);
        match later {
            NONE => self.newest = Some(id),
            later => self.get_mut(later).earlier = id,
        }
    }

    /// The SYN that was sent goes out again as a SYN-ACK, because the peer's SYN crossed it.
    pub(super) fn turn_syn_into_syn_ack(&mut self) {
        if let Some(sent) = self.segments.front_mut() {
            sent.flags = sent.flags | Flags::ACK;
        }
    }

    /// Marks `id` as lost. Its retransmission is lost if one is in flight.
    pub(super) fn mark_lost(&mut self, id: SegmentId) {
        let sent = self.get(id);
        if sent.sacked {
            return;
        }
        let (seq, was_lost, was_retransmitted) = (sent.seq, sent.lost, sent.retransmitted);
        let starts_here = match self.retransmit_hint {
            None => self.retrans_out >= self.lost_out,
            Some(hint) => seq < self.get(hint).seq,
        };
        if starts_here {
            self.retransmit_hint = Some(id);
        }
        let sent = self.get_mut(id);
        sent.lost = true;
        if was_lost && was_retransmitted {
            sent.retransmitted = false;
            self.retrans_out -= 1;
        }
        self.lost_out += u32::from(!was_lost);
        self.lost_total += u64::from(!was_lost || was_retransmitted);
    }

    /// A SACK block covers `id`, which had no SACK mark.
    pub(super) fn mark_sacked(&mut self, id: SegmentId) {
        let sent = self.get_mut(id);
        sent.sacked = true;
        let (end, was_lost, was_retransmitted) = (sent.end, sent.lost, sent.retransmitted);
        sent.lost = false;
        // A segment that is not taken to be lost may still have its retransmission in flight.
        sent.retransmitted = was_retransmitted && !was_lost;
        self.retrans_out -= u32::from(was_retransmitted && was_lost);
        self.lost_out -= u32::from(was_lost);
        self.highest_sacked = if self.sacked_out == 0 { end } else { self.highest_sacked.max(end) };
        self.sacked_out += 1;
        self.merged += self.sacked_neighbours(id);
        self.take_from_time(id);
    }

    /// The retransmission of `id` has arrived too.
    pub(super) fn clear_retransmitted(&mut self, id: SegmentId) {
        let sent = self.get_mut(id);
        if sent.retransmitted {
            sent.retransmitted = false;
            self.retrans_out -= 1;
        }
    }

    /// The SACK mark of `id` was wrong: the receiver has thrown the segment away.
    pub(super) fn clear_sacked(&mut self, id: SegmentId) {
        let sent = self.get_mut(id);
        if sent.sacked {
            sent.sacked = false;
            self.sacked_out -= 1;
            self.merged -= self.sacked_neighbours(id);
        }
    }

    fn is_sacked(&self, id: SegmentId) -> bool {
        self.ids().contains(&id) && self.get(id).sacked
    }

    fn sacked_neighbours(&self, id: SegmentId) -> u32 {
        u32::from(self.is_sacked(id + 1)) + u32::from(id > self.first && self.is_sacked(id - 1))
    }

    /// Nothing is lost after all.
    pub(super) fn clear_lost(&mut self) {
        self.segments.iter_mut().for_each(|sent| sent.lost = false);
        self.lost_out = 0;
        self.retransmit_hint = None;
    }

    /// The next search for a segment to retransmit begins at the first one.
    pub(super) const fn forget_retransmit_hint(&mut self) {
        self.retransmit_hint = None;
    }

    /// The next lost segment without a retransmission in flight.
    pub(super) fn next_to_retransmit(&mut self) -> Option<SegmentId> {
        if self.retrans_out >= self.lost_out {
            return None;
        }
        let start = self.retransmit_hint.unwrap_or(self.first);
        let found = (start..self.ids().end).find(|id| {
            let sent = self.get(*id);
            sent.lost && !sent.retransmitted && !sent.sacked
        });
        self.retransmit_hint = found.or(self.retransmit_hint);
        found
    }

    /// The sample that starts from what had been delivered when `id` was last sent, taken once.
    pub(super) fn take_delivered(&mut self, id: SegmentId) -> Option<u64> {
        self.get_mut(id).delivered.take()
    }

    /// The mark of the segment that was just taken off goes too. `is_newest` if that is the most recently sent one that the ACK
    /// shows so far.
    #[cold]
    pub(super) fn take_mark(&mut self, sent_at: Instant, is_newest: bool) {
        if let Some(rates) = &mut self.rates {
            rates.pop();
            if is_newest {
                rates.choose_popped(sent_at);
            }
        }
    }

    /// `id` was delivered, and is the most recently sent segment that the ACK shows so far.
    pub(super) fn choose_newest(&mut self, id: SegmentId) {
        let place = (id - self.first) as usize;
        if let Some(rates) = &mut self.rates {
            rates.choose_at(place, self.segments[place].sent_at);
        }
    }

    /// The segment that was transmitted longest ago, of those neither SACKed nor
    /// taken out of this order.
    pub(super) fn oldest(&self) -> Option<SegmentId> {
        if self.keeps_time_order { self.oldest } else { (!self.is_empty()).then_some(self.first) }
    }

    /// Segment that was transmitted next after `id`.
    pub(super) fn sent_next(&self, id: SegmentId) -> Option<SegmentId> {
        let later = if self.keeps_time_order { self.get(id).later } else { id + 1 };
        (later != NONE && later < self.ids().end).then_some(later)
    }

    /// Starts the list by time of transmission: so far that is the order of the numbers.
    fn keep_time_order(&mut self) {
        if !self.keeps_time_order {
            self.keeps_time_order = true;
            (self.oldest, self.newest) = (None, None);
            self.ids().for_each(|id| self.append_in_time(id));
        }
    }

    fn append_in_time(&mut self, id: SegmentId) {
        let newest = self.newest.replace(id);
        match newest {
            Some(last) => self.get_mut(last).later = id,
            None => self.oldest = Some(id),
        }
        let sent = self.get_mut(id);
        sent.earlier = newest.unwrap_or(NONE);
        sent.later = NONE;
        sent.in_time_order = true;
    }

    /// Takes `id` out of the order by time of transmission, until it is sent again.
    pub(super) fn take_from_time(&mut self, id: SegmentId) {
        self.keep_time_order();
        if !self.ids().contains(&id) || !self.get(id).in_time_order {
            return;
        }
        let sent = self.get_mut(id);
        sent.in_time_order = false;
        let (earlier, later) = (sent.earlier, sent.later);
        if earlier == NONE {
            self.oldest = (later != NONE).then_some(later);
        } else {
            self.get_mut(earlier).later = later;
        }
        if later == NONE {
            self.newest = (earlier != NONE).then_some(earlier);
        } else {
            self.get_mut(later).earlier = earlier;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Instant {
        Instant::from_nanos(micros * 1000)
    }

    /// `count` segments of 100 bytes from number 1 on, sent 10 us apart.
    fn queue(count: u64) -> Queue {
        let mut queue = Queue::default();
        for n in 0..count {
            queue.push(at(10 * n), 1 + 100 * n, 101 + 100 * n, Flags::NONE);
        }
        queue
    }

    fn by_time(queue: &Queue) -> Vec<SegmentId> {
        std::iter::successors(queue.oldest(), |id| queue.sent_next(*id)).collect()
    }

    fn counters(queue: &Queue) -> (u32, u32, u32, u32) {
        (queue.sacked_out, queue.lost_out, queue.retrans_out, queue.in_flight())
    }

    #[test]
    fn what_left_the_network_is_not_in_flight() {
        let mut queue = queue(5);
        assert_eq!(counters(&queue), (0, 0, 0, 5));
        queue.mark_sacked(3);
        queue.mark_lost(0);
        assert_eq!(counters(&queue), (1, 1, 0, 3));
        queue.on_retransmit(0, at(100), true);
        assert_eq!(counters(&queue), (1, 1, 1, 4));
        queue.mark_sacked(0);
        assert_eq!(counters(&queue), (2, 0, 0, 3), "both copies have left");
    }

    #[test]
    fn a_segment_that_is_lost_twice_counts_once_as_lost() {
        let mut queue = queue(2);
        queue.mark_lost(0);
        queue.mark_lost(0);
        assert_eq!((queue.lost_out, queue.lost_total), (1, 1));
        queue.on_retransmit(0, at(50), true);
        queue.mark_lost(0);
        assert_eq!((queue.lost_out, queue.retrans_out, queue.lost_total), (1, 0, 2));
    }

    #[test]
    fn a_retransmission_of_what_was_not_lost_stays_in_flight_when_the_original_is_sacked() {
        let mut queue = queue(2);
        queue.on_retransmit(0, at(50), true);
        queue.mark_sacked(0);
        assert_eq!(counters(&queue), (1, 0, 1, 2));
        queue.clear_retransmitted(0);
        assert_eq!(counters(&queue), (1, 0, 0, 1));
    }

    #[test]
    fn a_retransmission_is_the_last_in_time() {
        let mut queue = queue(4);
        queue.on_retransmit(1, at(100), true);
        assert_eq!(by_time(&queue), [0, 2, 3, 1]);
        queue.mark_sacked(2);
        queue.pop_front();
        assert_eq!(by_time(&queue), [3, 1]);
        queue.take_from_time(1);
        queue.take_from_time(3);
        assert!(by_time(&queue).is_empty());
        queue.on_retransmit(3, at(200), true);
        assert_eq!(by_time(&queue), [3]);
    }

    #[test]
    fn segments_are_retransmitted_in_order_of_numbers() {
        let mut queue = queue(6);
        for lost in [4, 1, 2] {
            queue.mark_lost(lost);
        }
        let mut order = Vec::new();
        while let Some(id) = queue.next_to_retransmit() {
            queue.on_retransmit(id, at(100), true);
            order.push(id);
        }
        assert_eq!(order, [1, 2, 4]);
        queue.mark_lost(2);
        assert_eq!(queue.next_to_retransmit(), Some(2));
    }

    #[test]
    fn the_highest_sacked_end_counts_only_while_something_is_sacked() {
        let mut queue = queue(4);
        assert_eq!(queue.highest_sacked(1), 1);
        queue.mark_sacked(2);
        queue.mark_sacked(1);
        assert_eq!(queue.highest_sacked(1), 301);
        for _ in 0..3 {
            queue.pop_front();
        }
        assert_eq!(queue.highest_sacked(301), 301);
        queue.mark_sacked(3);
        assert_eq!(queue.highest_sacked(301), 401);
    }

    #[test]
    fn neighbours_with_a_sack_mark_are_merged_until_one_goes() {
        let mut queue = queue(6);
        let mut merged = Vec::new();
        for id in [1, 3, 2, 5] {
            queue.mark_sacked(id);
            merged.push(queue.merged);
        }
        assert_eq!(merged, [0, 0, 2, 2]);
        for _ in 0..2 {
            queue.pop_front();
        }
        assert_eq!(queue.merged, 1);
        queue.clear_sacked(2);
        assert_eq!(queue.merged, 0);
    }

    #[test]
    fn both_parts_of_a_split_segment_keep_its_marks_and_its_time() {
        let mut queue = queue(4);
        queue.mark_lost(1);
        queue.on_retransmit(0, at(100), true);
        assert_eq!(by_time(&queue), [1, 2, 3, 0]);
        queue.split(1, 60);
        assert_eq!(by_time(&queue), [1, 2, 3, 4, 0]);
        assert_eq!(counters(&queue), (0, 2, 1, 4));
        assert_eq!((queue.get(1).end, queue.get(2).seq, queue.get(3).seq), (161, 161, 201));
        assert_eq!(queue.next_to_retransmit(), Some(1));
        queue.split(4, 10);
        assert_eq!(by_time(&queue), [1, 2, 3, 4, 5, 0]);
        queue.split(0, 10);
        assert_eq!(by_time(&queue), [2, 3, 4, 5, 6, 0, 1]);
        assert_eq!(counters(&queue), (0, 2, 2, 7), "parts of a retransmission are both in flight");
        for _ in 0..2 {
            queue.pop_front();
        }
        assert_eq!(by_time(&queue), [2, 3, 4, 5, 6]);
    }

    #[test]
    fn the_end_of_a_split_segment_has_its_flags() {
        let mut queue = Queue::default();
        queue.push(at(0), 1, 102, Flags::FIN | Flags::PSH);
        queue.split(0, 60);
        assert_eq!((queue.get(0).flags, queue.get(1).flags), (Flags::NONE, Flags::FIN | Flags::PSH));
        assert_eq!((queue.get(0).end, queue.get(1).end), (61, 102));
    }

    #[test]
    fn a_number_is_found_in_the_segment_that_holds_it() {
        let mut queue = queue(4);
        queue.pop_front();
        assert_eq!(queue.find(101), 1);
        assert_eq!(queue.find(200), 1);
        assert_eq!(queue.find(201), 2);
        assert_eq!(queue.find(401), 4, "none");
    }
}
