//! Cumulated sums of a sequence of whole numbers that changes: a Fenwick tree.
//!
//! A change, a sum and a search take a step for each binary digit of the length.
//!
//! Source: P. M. Fenwick, "A New Data Structure for Cumulative Frequency Tables", Software: Practice and Experience 24(3),
//! 1994.

/// Sums of a sequence of fixed length, all zero at first.
#[derive(Debug, Clone)]
pub(super) struct Fenwick {
    /// At place i, counted from 1, the sum of as many entries up to i as the lowest set bit of i says.
    sums: Vec<u64>,
    total: u64,
}

impl Fenwick {
    pub(super) fn new(length: usize) -> Self {
        Self { sums: vec![0; length + 1], total: 0 }
    }

    /// Number of entries.
    pub(super) const fn len(&self) -> usize {
        self.sums.len() - 1
    }

    /// Sum of all entries.
    pub(super) const fn total(&self) -> u64 {
        self.total
    }

    /// Adds to an entry.
    pub(super) fn add(&mut self, entry: usize, amount: u64) {
        self.total += amount;
        let mut place = entry + 1;
        while let Some(sum) = self.sums.get_mut(place) {
            *sum += amount;
            place += place & place.wrapping_neg();
        }
    }

    /// Takes from an entry, which must have as much.
    pub(super) fn subtract(&mut self, entry: usize, amount: u64) {
        self.total -= amount;
        let mut place = entry + 1;
        while let Some(sum) = self.sums.get_mut(place) {
            *sum -= amount;
            place += place & place.wrapping_neg();
        }
    }

    /// Sum of the entries up to this one.
    pub(super) fn up_to(&self, entry: usize) -> u64 {
        let (mut place, mut sum) = (entry + 1, 0);
        while place > 0 {
            sum += self.sums[place];
            place &= place - 1;
        }
        sum
    }

    /// The entry that holds unit `unit` of the total, counted from 0: the first with `up_to(entry) > unit`.
    pub(super) fn find(&self, unit: u64) -> usize {
        debug_assert!(unit < self.total, "a unit of the total");
        let (mut place, mut rest) = (0, unit);
        let mut step = (self.sums.len() - 1).checked_ilog2().map_or(0, |digits| 1 << digits);
        while step > 0 {
            if let Some(sum) = self.sums.get(place + step)
                && *sum <= rest
            {
                place += step;
                rest -= sum;
            }
            step /= 2;
        }
        place
    }

    /// Makes every entry zero.
    pub(super) fn clear(&mut self) {
        self.sums.fill(0);
        self.total = 0;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn sums_and_searches_are_those_of_the_sequence(
            values in prop::collection::vec(0..50_u64, 1..70),
            changes in prop::collection::vec((0..70_usize, 0..50_u64), 0..20),
        ) {
            let mut values = values;
            let mut tree = Fenwick::new(values.len());
            for (entry, value) in values.iter().enumerate() {
                tree.add(entry, *value);
            }
            for (entry, value) in changes {
                let entry = entry % values.len();
                tree.subtract(entry, values[entry]);
                tree.add(entry, value);
                values[entry] = value;
            }
            let mut sum = 0;
            for (entry, value) in values.iter().enumerate() {
                for unit in [sum, (sum + value).saturating_sub(1)] {
                    if *value > 0 {
                        prop_assert_eq!(tree.find(unit), entry);
                    }
                }
                sum += value;
                prop_assert_eq!(tree.up_to(entry), sum);
            }
            prop_assert_eq!(tree.total(), sum);
            tree.clear();
            prop_assert_eq!((tree.total(), tree.up_to(values.len() - 1)), (0, 0));
        }
    }
}
