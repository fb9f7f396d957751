//! Delivery opportunities of a trace: when a link may send, and how often that is.
//!
//! Behind the last opportunity the first one comes again, a period later, which is the time of the last one: an opportunity
//! at 0 then coincides with the last one of the period before.
//!
//! Source: the format of mahimahi's link shell, a line of whole milliseconds for each opportunity.

use crate::units::{Duration, Instant};

/// Span of each rate told of a trace, in ms. Chosen: a page takes several, and a gap of a handover shows.
pub const WINDOW_MS: u32 = 100;

pub(super) const MS: u64 = 1_000_000;

/// Times of delivery opportunities, in ms.
#[derive(Debug, PartialEq, Eq)]
pub struct Opportunities {
    times: Box<[u32]>,
    usual: [u32; 2],
    longest_gap: Duration,
}

impl Opportunities {
    /// Opportunities at `times`. The last one is the period. None when a time goes back, or the last one is 0.
    #[must_use]
    pub fn new(times: Vec<u32>) -> Option<Self> {
        if !times.is_sorted() || *times.last()? == 0 {
            return None;
        }
        let mut found = Self { times: times.into(), usual: [0; 2], longest_gap: Duration::ZERO };
        let mut filled: Vec<u32> = found.filled().map(|(_, count)| count).collect();
        filled.sort_unstable();
        let (whole, empty) = (found.whole_windows(), found.whole_windows() - filled.len());
        let quantile = |share: f64| {
            let place = (share * (whole - 1) as f64).round() as usize;
            place.checked_sub(empty).map_or(0, |place| filled[place])
        };
        found.usual = [quantile(0.025), quantile(0.975)];
        found.longest_gap = found.gaps().map(|(_, gap)| gap).max().unwrap_or_default();
        Some(found)
    }

    /// Their times in ms.
    #[must_use]
    pub fn times(&self) -> &[u32] {
        &self.times
    }

    /// Time until they come again.
    #[must_use]
    pub fn period(&self) -> Duration {
        Duration::from_millis(self.period_ms())
    }

    /// Opportunities in a second, with as many in each window as 2.5 % and 97.5 % of the windows have at most.
    #[must_use]
    pub fn usual_per_s(&self) -> [f64; 2] {
        self.usual.map(|count| f64::from(count) * 1e3 / f64::from(self.window_ms()))
    }

    /// Longest time between two of them.
    #[must_use]
    pub const fn longest_gap(&self) -> Duration {
        self.longest_gap
    }

    /// Times between one and the next in another millisecond, each with its begin. The period is a circle.
    pub fn gaps(&self) -> impl Iterator<Item = (Instant, Duration)> {
        let wait = |from: u32, to: u64| {
            let from = u64::from(from);
            (to > from)
                .then(|| (Instant::ZERO + Duration::from_millis(from), Duration::from_millis(to - from)))
        };
        let first = self.period_ms() + u64::from(self.times[0]);
        let between = self.times.windows(2).filter_map(move |pair| wait(pair[0], pair[1].into()));
        between.chain(wait(self.times[self.times.len() - 1], first))
    }

    /// Opportunities in each whole window, the last millisecond of a window included. One window where the period is
    /// shorter.
    #[must_use]
    pub fn windows(&self) -> Vec<u32> {
        let mut counts = vec![0; self.whole_windows()];
        self.filled().for_each(|(place, count)| counts[place] = count);
        counts
    }

    /// The windows among them that have some: few of many where a line is far from the one before.
    fn filled(&self) -> impl Iterator<Item = (usize, u32)> {
        let (window, whole) = (self.window_ms(), self.whole_windows());
        let place = move |time: u32| (time.saturating_sub(1) / window) as usize;
        let alike = self.times.chunk_by(move |one, next| place(*one) == place(*next));
        alike.map(move |times| (place(times[0]), times.len() as u32)).filter(move |(place, _)| *place < whole)
    }

    fn whole_windows(&self) -> usize {
        self.period_ms() as usize / self.window_ms() as usize
    }

    fn window_ms(&self) -> u32 {
        self.times[self.times.len() - 1].min(WINDOW_MS)
    }

    pub(super) fn period_ms(&self) -> u64 {
        self.times[self.times.len() - 1].into()
    }

    /// Number of them from 0 to `end`, both included.
    pub(super) fn until(&self, end: Duration) -> u64 {
        let end = end.as_nanos() / MS;
        let (passes, rest) = (end / self.period_ms(), end % self.period_ms());
        passes * self.times.len() as u64 + self.times.partition_point(|time| u64::from(*time) <= rest) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_windows_are_those_counted_with_empty_ones() {
        // 101 windows: 97 without, then 1, 2, 5 and 7. At 97.5 % of the way stands the 98th behind the first, of 2.
        let opportunities = |counts: &[(u32, usize)]| {
            let times = counts.iter().flat_map(|(time, count)| std::iter::repeat_n(*time, *count));
            Opportunities::new(times.chain([10_100]).collect()).unwrap()
        };
        let found = opportunities(&[(100, 7), (150, 2), (901, 4), (1000, 1)]);
        assert_eq!(found.windows().iter().filter(|count| **count > 0).collect::<Vec<_>>(), [&7, &2, &5, &1]);
        assert_eq!(found.usual_per_s(), [0.0, 20.0]);
        let far = Opportunities::new(vec![4, u32::MAX]).unwrap();
        assert_eq!(far.usual_per_s(), [0.0, 0.0]);
    }

    #[test]
    fn times_do_not_go_back_and_end_above_0() {
        for wrong in [vec![], vec![0], vec![0, 0], vec![2, 1]] {
            assert_eq!(Opportunities::new(wrong), None);
        }
        assert_eq!(Opportunities::new(vec![0, 0, 1]).unwrap().period(), Duration::from_millis(1));
    }

    #[test]
    fn windows_and_gaps_are_those_of_a_circle() {
        let found = Opportunities::new(vec![1, 100, 100, 101, 350, 350]).unwrap();
        assert_eq!(found.windows(), [3, 1, 0]);
        assert_eq!(found.usual_per_s(), [0.0, 30.0]);
        let gaps: Vec<_> = found
            .gaps()
            .map(|(at, gap)| [(at - Instant::ZERO).as_nanos(), gap.as_nanos()].map(|ns| ns / MS))
            .collect();
        assert_eq!(gaps, [[1, 99], [100, 1], [101, 249], [350, 1]]);
        assert_eq!(found.longest_gap(), Duration::from_millis(249));
        let short = Opportunities::new(vec![2, 4, 4]).unwrap();
        assert_eq!((short.windows(), short.usual_per_s()), (vec![3], [750.0, 750.0]));
    }
}
