//! Number of requests for each document: Zipf-like with a given number of one-timers, in whole requests.
//!
//! The document of rank r gets max(2, ⌊c / r^slope⌋) requests, the most popular first, with c chosen to give out all
//! requests. One-timers follow with one each. A ProWGen of 2000 starts from c = (D − O/2)^slope for D documents and O
//! one-timers and scales the rounded numbers once, which misses the wanted total by up to a tenth.

/// Requests of each document, the most popular one first: `documents` of them, the last `onetimers` with one request.
///
/// Their sum is `requests`, which must be at least 2 for each document that is no one-timer. Without such a document it is
/// `onetimers`.
pub(super) fn requests_by_rank(requests: u64, documents: u32, onetimers: u32, slope: f64) -> Vec<u32> {
    let repeated = (documents - onetimers) as usize;
    let wanted = requests - u64::from(onetimers);
    let weights: Vec<f64> = (1..=repeated).map(|rank| libm::pow(rank as f64, -slope)).collect();
    let scale = scale(&weights, wanted);
    let mut by_rank: Vec<u32> = weights.iter().map(|weight| share(scale, *weight) as u32).collect();
    // Documents with numbers that change at the same scale: some of them still get their next request.
    let given: u64 = by_rank.iter().map(|requests| u64::from(*requests)).sum();
    let rest = usize::try_from(wanted - given).expect("fewer than there are documents");
    by_rank.iter_mut().take(rest).for_each(|requests| *requests += 1);
    by_rank.resize(documents as usize, 1);
    by_rank
}

fn share(scale: f64, weight: f64) -> u64 {
    ((scale * weight) as u64).max(2)
}

/// The largest scale that gives out at most `wanted` requests.
fn scale(weights: &[f64], wanted: u64) -> f64 {
    let given = |scale: f64| weights.iter().map(|weight| share(scale, *weight)).sum::<u64>();
    let (mut fits, mut exceeds) = (0.0, wanted as f64 + 1.0);
    loop {
        let middle = f64::midpoint(fits, exceeds);
        if middle <= fits || middle >= exceeds {
            return fits;
        }
        if given(middle) <= wanted {
            fits = middle;
        } else {
            exceeds = middle;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// With the published formula's number of requests, each document has the formula's.
    #[test]
    fn counts_are_those_of_the_formula() {
        for (documents, onetimers, slope) in [(1000_u32, 700_u32, 0.75), (5000, 3600, 0.807), (300, 0, 1.0)] {
            let k = libm::pow(f64::from(documents - onetimers / 2), slope);
            let formula: Vec<u32> = (1..=documents - onetimers)
                .map(|rank| ((k / libm::pow(f64::from(rank), slope)) as u32).max(2))
                .collect();
            let requests = formula.iter().map(|n| u64::from(*n)).sum::<u64>() + u64::from(onetimers);
            let found = requests_by_rank(requests, documents, onetimers, slope);
            assert_eq!(found[..formula.len()], formula);
            assert!(found[formula.len()..].iter().all(|requests| *requests == 1));
        }
    }

    #[test]
    fn equal_weights_give_equal_numbers() {
        assert_eq!(requests_by_rank(17, 6, 1, 0.0), [4, 3, 3, 3, 3, 1]);
        assert_eq!(requests_by_rank(3, 3, 3, 0.8), [1, 1, 1]);
        assert_eq!(requests_by_rank(1_000_000_000, 1, 0, 0.8), [1_000_000_000]);
    }

    proptest! {
        #[test]
        fn every_request_is_given_out(
            (repeated, onetimers) in (1..400_u32, 0..400_u32),
            extra in 0..100_000_u64,
            slope in 0.0..=3.0_f64,
        ) {
            let requests = u64::from(repeated) * 2 + u64::from(onetimers) + extra;
            let found = requests_by_rank(requests, repeated + onetimers, onetimers, slope);
            prop_assert_eq!(found.iter().map(|n| u64::from(*n)).sum::<u64>(), requests);
            prop_assert_eq!(found.iter().filter(|n| **n == 1).count(), onetimers as usize);
            prop_assert!(found.is_sorted_by(|a, b| a >= b));
        }
    }
}
