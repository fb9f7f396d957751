//! CoDel: packets are dropped as they are taken, once all have waited too long for an interval (RFC 8289).
//!
//! A packet that has waited for less than the target, or that leaves a full packet at most behind it, ends
//! it. Above for an interval, a packet is dropped, and another an interval over the root of their number
//! after the one before, until a packet is below. Begun again soon, dropping goes on at the rate it had
//! reached.
//!
//! Two variants share this. Linux counts time in units of 1024 ns, and keeps the inverse root in 16 bits, improved by one
//! Newton step a drop: its intervals begin 100, 50, 56 ms. RFC 8289 takes the root.
//!
//! With ECN a packet is marked in place of being dropped, one a take.
//!
//! Left out: marks above a fixed wait (`ce_threshold`). From the pseudocode of RFC 8289 the second variant differs at an instant: an interval above has passed
//! behind its end, not at it, as in Linux.
//!
//! Source: RFC 8289; Linux 6.18, `include/net/codel_impl.h`, `net/sched/sch_codel.c`.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::net::config::QueueLimit;
use crate::net::{DropReason, Packet};
use crate::units::{Duration, Instant};

use super::late::{Account, Fifo};

/// Parameters of CoDel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Codel {
    /// Wait that is good.
    pub target: Duration,
    /// Time above it before the first drop.
    pub interval: Duration,
    /// Most that waits, the packet in transmission left out. A packet that does not fit is dropped as it
    /// comes.
    pub limit: QueueLimit,
    /// Clock and root.
    pub variant: CodelVariant,
    /// True when it marks packets whose senders take marks.
    pub ecn: bool,
}

/// Clock and root of CoDel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CodelVariant {
    /// Units of 1024 ns, and a root by Newton steps in 16 bits.
    #[default]
    Linux,
    /// Nanoseconds, and the root.
    Rfc8289,
}

/// Most bytes that are left behind a packet that is good however long it has waited: a full packet.
const FULL_PACKET: u64 = 1500;

/// Intervals after the last planned drop: dropping begun within them goes on at its rate.
const SOON: u64 = 16;

/// The parameters in units of the variant's clock.
#[derive(Debug, Clone, Copy)]
pub(super) struct Law {
    target: u64,
    interval: u64,
    variant: CodelVariant,
    ecn: bool,
}

/// State of the control of one queue.
#[derive(Debug, Clone)]
pub(super) struct Control {
    /// When the interval above the target ends.
    first_above: Option<u64>,
    drop_next: u64,
    /// Drops since dropping began, which set its rate.
    count: u32,
    /// Their number as it began.
    last_count: u32,
    is_dropping: bool,
    /// 1 / √count in 2⁻¹⁶, of Linux.
    inverse_root: u16,
}

/// A queue with that control.
#[derive(Debug, Clone)]
pub(super) struct Queue<P> {
    limit: QueueLimit,
    law: Law,
    control: Control,
    waiting: Fifo<P>,
}

impl Law {
    pub(super) const fn new(target: Duration, interval: Duration, variant: CodelVariant, ecn: bool) -> Self {
        let (target, interval) = (target.as_nanos(), interval.as_nanos());
        Self { target: Self::units(variant, target), interval: Self::units(variant, interval), variant, ecn }
    }

    const fn units(variant: CodelVariant, nanos: u64) -> u64 {
        match variant {
            CodelVariant::Linux => nanos >> 10,
            CodelVariant::Rfc8289 => nanos,
        }
    }

    fn time(&self, now: Instant) -> u64 {
        Self::units(self.variant, now.as_nanos())
    }
}

impl Control {
    pub(super) const fn new() -> Self {
        Self {
            first_above: None,
            drop_next: 0,
            count: 0,
            last_count: 0,
            is_dropping: false,
            inverse_root: u16::MAX,
        }
    }

    /// Takes the next packet of a queue that is good. `account` covers all queues beside it as well.
    pub(super) fn take<P: Packet>(
        &mut self,
        law: &Law,
        now: Instant,
        queue: &mut Fifo<P>,
        account: &mut Account<P>,
    ) -> Option<(Instant, P)> {
        let time = law.time(now);
        let mut next = account.pop(now, queue);
        if next.is_none() {
            self.is_dropping = false;
            return None;
        }
        let is_late = self.is_late(law, time, next.as_ref(), account.bytes);
        let marks = |account: &mut Account<P>, next: &mut Option<(Instant, P)>| {
            law.ecn && next.as_mut().is_some_and(|(_, packet)| account.mark(packet))
        };
        let mut drop_for = |account: &mut Account<P>, next: &mut Option<(Instant, P)>| {
            if let Some((_, packet)) = next.take() {
                account.drop(now, DropReason::Aqm, packet);
            }
            *next = account.pop(now, queue);
            account.bytes
        };
        if self.is_dropping {
            self.is_dropping = is_late;
            while self.is_dropping && time >= self.drop_next {
                self.count_to(law, self.count.wrapping_add(1));
                if marks(account, &mut next) {
                    self.drop_next = self.after(law, self.drop_next);
                    break;
                }
                let left = drop_for(account, &mut next);
                self.is_dropping = self.is_late(law, time, next.as_ref(), left);
                if self.is_dropping {
                    self.drop_next = self.after(law, self.drop_next);
                }
            }
        } else if is_late {
            if !marks(account, &mut next) {
                let left = drop_for(account, &mut next);
                let _ = self.is_late(law, time, next.as_ref(), left);
            }
            self.is_dropping = true;
            let fresh = self.count - self.last_count;
            if fresh > 1 && time < self.drop_next + SOON * law.interval {
                self.count_to(law, fresh);
            } else {
                (self.count, self.inverse_root) = (1, u16::MAX);
            }
            self.last_count = self.count;
            self.drop_next = self.after(law, time);
        }
        next
    }

    /// True when all have waited too long for an interval, with this packet, which leaves so many bytes
    /// behind it.
    fn is_late<P>(&mut self, law: &Law, time: u64, next: Option<&(Instant, P)>, left: u64) -> bool {
        let is_above =
            |(joined, _): &(Instant, P)| time - law.time(*joined) >= law.target && left > FULL_PACKET;
        if !next.is_some_and(is_above) {
            self.first_above = None;
            return false;
        }
        time > *self.first_above.get_or_insert(time + law.interval)
    }

    /// When the next drop is due behind one at `time`.
    fn after(&self, law: &Law, time: u64) -> u64 {
        time + match law.variant {
            CodelVariant::Linux => (law.interval * u64::from(self.inverse_root)) >> 16,
            CodelVariant::Rfc8289 => (law.interval as f64 / f64::from(self.count).sqrt()) as u64,
        }
    }

    fn count_to(&mut self, law: &Law, count: u32) {
        self.count = count;
        if law.variant == CodelVariant::Linux {
            // A Newton step, x (3 − n x²) / 2, in 2⁻³². It wraps as there where overflows have raised n.
            let root = u64::from(self.inverse_root) << 16;
            let square = (root * root) >> 32;
            let rest = (3_u64 << 32).wrapping_sub(u64::from(count).wrapping_mul(square));
            self.inverse_root = ((rest >> 2).wrapping_mul(root) >> 31 >> 16) as u16;
        }
    }

    /// Raises the rate of drops, where packets of the queue were dropped for want of room.
    pub(super) const fn raise(&mut self, drops: u32) {
        self.count = self.count.wrapping_add(drops);
    }
}

impl<P: Packet> Queue<P> {
    pub(super) const fn new(config: &Codel) -> Self {
        let law = Law::new(config.target, config.interval, config.variant, config.ecn);
        Self { limit: config.limit, law, control: Control::new(), waiting: VecDeque::new() }
    }

    pub(super) fn join(&mut self, now: Instant, packet: P) {
        self.waiting.push_back((now, packet));
    }

    /// Drops the newest packet where it does not fit.
    pub(super) fn shed(&mut self, now: Instant, account: &mut Account<P>) {
        if !self.limit.holds(account.packets, account.bytes)
            && let Some((_, packet)) = self.waiting.pop_back()
        {
            account.leave(now, &packet);
            account.drop(now, DropReason::Full, packet);
        }
    }

    pub(super) fn take(&mut self, now: Instant, account: &mut Account<P>) -> Option<(Instant, P)> {
        self.control.take(&self.law, now, &mut self.waiting, account)
    }

    pub(super) const fn is_dropping(&self) -> bool {
        self.control.is_dropping
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::queue::late::{Discipline, Late};
    use crate::net::tests::{at, data};

    const MS: u64 = 1_000_000;

    const fn law(variant: CodelVariant) -> Law {
        Law::new(Duration::from_millis(5), Duration::from_millis(100), variant, false)
    }

    /// In nanoseconds.
    const LAW: Law = law(CodelVariant::Rfc8289);

    /// The control after a take at `time`, from full packets that joined at these times.
    fn taken(law: Law, control: Control, joined: &[u64], time: u64) -> Control {
        let queue = Queue { limit: QueueLimit::Packets(1000), law, control, waiting: VecDeque::new() };
        let mut late = Late::new(Discipline::Codel(queue));
        joined.iter().for_each(|joined| late.join(at(*joined), data(0, 1500)));
        late.take(at(time));
        let Discipline::Codel(queue) = late.discipline else { panic!("it is CoDel") };
        queue.control
    }

    #[test]
    fn a_wait_is_late_from_the_target_on_for_an_interval_with_more_than_a_full_packet_behind_it() {
        let first = (at(0), data(0, 1500));
        let mut control = Control::new();
        assert!(!control.is_late(&LAW, 5 * MS - 1, Some(&first), 1501));
        assert_eq!(control.first_above, None);
        assert!(!control.is_late(&LAW, 5 * MS, Some(&first), 1501));
        assert_eq!(control.first_above, Some(105 * MS));
        assert!(!control.is_late(&LAW, 105 * MS, Some(&first), 1501));
        assert!(control.is_late(&LAW, 105 * MS + 1, Some(&first), 1501));
        assert!(!control.is_late(&LAW, 105 * MS + 1, Some(&first), 1500));
        assert_eq!(control.first_above, None);
    }

    /// As dropping begins, with drops planned up to 1 s: the state after it.
    fn begun(law: Law, [count, last_count]: [u32; 2], time: u64) -> Control {
        let (drop_next, inverse_root) = (law.time(at(1000 * MS)), 29_309);
        let before =
            Control { first_above: Some(0), drop_next, count, last_count, inverse_root, ..Control::new() };
        let control = taken(law, before, &[0; 4], time);
        assert!(control.is_dropping);
        control
    }

    #[test]
    fn dropping_within_16_intervals_goes_on_at_the_rate_of_its_last_drops() {
        let counts = |control: Control| [control.count, control.last_count];
        let soon = begun(LAW, [9, 3], 2600 * MS - 1);
        assert_eq!(counts(soon.clone()), [6, 6]);
        assert_eq!(soon.drop_next, 2600 * MS - 1 + 40_824_829); // 100 ms / √6
        assert_eq!(counts(begun(LAW, [5, 3], 2000 * MS)), [2, 2]);
        let later = begun(LAW, [9, 3], 2600 * MS);
        assert_eq!((counts(later.clone()), later.drop_next), ([1, 1], 2700 * MS));
        // Behind a single drop the root is 1 again, less 2⁻¹⁶.
        let linux = begun(law(CodelVariant::Linux), [5, 4], 1536 * MS);
        assert_eq!((counts(linux.clone()), linux.drop_next), ([1, 1], 1_500_000 + 97_654));
    }

    #[test]
    fn a_good_packet_behind_a_drop_ends_the_interval_and_later_drops() {
        // The packet behind has waited a millisecond.
        let joined = [0, 199 * MS, 199 * MS, 199 * MS];
        let first = Control { first_above: Some(0), ..Control::new() };
        let control = taken(LAW, first, &joined, 200 * MS);
        assert_eq!((control.first_above, control.drop_next), (None, 300 * MS));
        let more = Control { is_dropping: true, count: 3, drop_next: 190 * MS, ..control };
        let control = taken(LAW, Control { first_above: Some(0), ..more.clone() }, &joined, 200 * MS);
        assert_eq!((control.is_dropping, control.count, control.drop_next), (false, 4, 190 * MS));
        assert!(!taken(LAW, more, &[], 200 * MS).is_dropping);
    }

    #[test]
    fn drops_for_want_of_room_raise_the_rate_at_which_dropping_begins() {
        let mut full = Control { first_above: Some(0), ..Control::new() };
        full.raise(4);
        assert_eq!(taken(LAW, full, &[0; 4], 200 * MS).drop_next, 250 * MS); // 100 ms / √4
    }
}
