//! How long packets waited in front of a transmitter, by interval.
//!
//! A packet counts in the interval when its transmission begins. Number, sum and longest wait are exact. A
//! quantile comes from a histogram whose steps are at most a 128th of the wait.
//!
//! Left out: waits of packets that were dropped.
//!
//! Source: chosen. Histograms of this form are HdrHistogram's.

use std::collections::{BTreeMap, VecDeque};

use crate::units::{Duration, Instant};

/// Bits of a wait that tell steps apart: 2⁷ steps to each doubling.
const BITS: u32 = 7;

/// Waits of the packets of an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waits {
    /// Packets.
    pub packets: u64,
    /// Sum of their waits, in ns.
    pub sum: u128,
    /// Waits that half, 95 and 99 % of them do not exceed.
    pub quantiles: [Duration; 3],
    /// The longest.
    pub longest: Duration,
}

/// Percentiles of the waits.
const SHARES: [u64; 3] = [50, 95, 99];

/// Waits, by their number of steps.
#[derive(Debug, Clone, Default)]
pub(super) struct Histogram {
    packets: u64,
    sum: u128,
    longest: u64,
    steps: BTreeMap<u32, u64>,
}

/// Accepted packets, by the begin of their transmissions.
#[derive(Debug, Clone, Default)]
pub(super) struct Sojourn {
    /// Packets ahead: begin of transmission, and wait until then.
    ahead: VecDeque<(Instant, Duration)>,
}

impl Sojourn {
    /// A packet is taken for transmission at `taken`, behind all others, after it has waited.
    pub(super) fn note(&mut self, taken: Instant, waited: Duration) {
        self.ahead.push_back((taken, waited));
    }

    /// Waits of those taken by `now` that were not told yet.
    pub(super) fn until(&mut self, now: Instant) -> Histogram {
        let mut told = Histogram::default();
        while let Some(&(taken, waited)) = self.ahead.front()
            && taken <= now
        {
            self.ahead.pop_front();
            told.add(waited);
        }
        told
    }
}

impl Histogram {
    fn add(&mut self, waited: Duration) {
        let nanos = waited.as_nanos();
        self.packets += 1;
        self.sum += u128::from(nanos);
        self.longest = self.longest.max(nanos);
        *self.steps.entry(step_of(nanos)).or_default() += 1;
    }

    /// Adds the waits of `other`.
    pub(super) fn join(&mut self, other: &Self) {
        self.packets += other.packets;
        self.sum += other.sum;
        self.longest = self.longest.max(other.longest);
        for (step, packets) in &other.steps {
            *self.steps.entry(*step).or_default() += packets;
        }
    }

    /// In numbers. None without a packet.
    pub(super) fn waits(&self) -> Option<Waits> {
        let quantile = |share: u64| {
            let rank = (self.packets * share).div_ceil(100);
            let mut passed = 0;
            let mut of_step = self.steps.iter().filter(|(_, packets)| {
                passed += **packets;
                passed >= rank
            });
            Duration::from_nanos(of_step.next().map_or(0, |(step, _)| end_of(*step)).min(self.longest))
        };
        (self.packets > 0).then(|| Waits {
            packets: self.packets,
            sum: self.sum,
            quantiles: SHARES.map(quantile),
            longest: Duration::from_nanos(self.longest),
        })
    }
}

/// The step of a wait: exact below 2⁸ ns, then 128 to each doubling.
const fn step_of(nanos: u64) -> u32 {
    let shift = (u64::BITS - nanos.leading_zeros()).saturating_sub(BITS + 1);
    (shift << BITS) + (nanos >> shift) as u32
}

/// The longest wait of a step.
const fn end_of(step: u32) -> u64 {
    if step < 1 << (BITS + 1) {
        return step as u64;
    }
    let shift = (step >> BITS) - 1;
    let first = (step - (shift << BITS)) as u64;
    (first << shift) + (1 << shift) - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn waits_count_where_their_transmission_begins() {
        let mut sojourn = Sojourn::default();
        for place in 1..=100 {
            sojourn.note(Instant::from_nanos(1000 * place), Duration::from_nanos(place));
        }
        let first = sojourn.until(Instant::from_nanos(50_000)).waits().unwrap();
        assert_eq!((first.packets, first.sum, first.longest.as_nanos()), (50, 1275, 50));
        assert_eq!(first.quantiles.map(Duration::as_nanos), [25, 48, 50]);
        assert_eq!(sojourn.until(Instant::from_nanos(50_999)).waits(), None);
        assert_eq!(sojourn.until(Instant::from_nanos(100_000)).waits().unwrap().packets, 50);
    }

    proptest! {
        #[test]
        fn a_step_ends_within_a_128th_and_before_the_next(nanos in 0..u64::MAX / 2) {
            let (step, end) = (step_of(nanos), end_of(step_of(nanos)));
            prop_assert!(nanos <= end && end - nanos <= nanos / 128);
            prop_assert_eq!(step_of(end), step);
            prop_assert_eq!(step_of(end + 1), step + 1);
        }
    }
}
