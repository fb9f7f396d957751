//! The largest value of the last rounds, by three candidates.
//!
//! Models K. Nichols' filter as Linux has it: the best, and two later ones that replace it as it ages. Leaves out nothing.
//!
//! Source: Linux 6.18 `lib/win_minmax.c`, `minmax_running_max()`.

/// The filter.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct WindowedMax {
    /// Rounds and values, best first, each later than the one before.
    best: [(u32, u64); 3],
}

impl WindowedMax {
    pub(super) const fn get(&self) -> u64 {
        self.best[0].1
    }

    /// Takes the value of `round`. Values of more than `window` rounds ago no longer count.
    pub(super) fn insert(&mut self, window: u32, round: u32, value: u64) {
        let new = (round, value);
        let age = |(of, _): (u32, u64)| round - of;
        let [first, second, third] = &mut self.best;
        if value >= first.1 || age(*third) > window {
            self.best = [new; 3];
            return;
        }
        if value >= second.1 {
            (*second, *third) = (new, new);
        } else if value >= third.1 {
            *third = new;
        }
        if age(*first) > window {
            // The best is too old, and the one after it may be.
            (*first, *second, *third) = (*second, *third, new);
            if age(*first) > window {
                (*first, *second, *third) = (*second, *third, new);
            }
        } else if second.0 == first.0 && age(*first) > window / 4 {
            // A quarter of the window without a second best: take one of this quarter.
            (*second, *third) = (new, new);
        } else if third.0 == second.0 && age(*first) > window / 2 {
            *third = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_counts_until_it_is_too_old() {
        let mut max = WindowedMax::default();
        max.insert(10, 1, 100);
        for round in 2..=11 {
            max.insert(10, round, 50 - u64::from(round));
            assert_eq!(max.get(), 100, "round {round}");
        }
        max.insert(10, 12, 10);
        assert!(max.get() < 50 && max.get() > 10, "{}", max.get());
        max.insert(10, 13, 70);
        assert_eq!(max.get(), 70);
    }

    #[test]
    fn after_a_silence_longer_than_the_window_only_the_newest_counts() {
        let mut max = WindowedMax::default();
        max.insert(10, 1, 100);
        max.insert(10, 12, 3);
        assert_eq!(max.get(), 3);
    }
}
