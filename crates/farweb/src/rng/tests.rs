//! RandomStreams against golden values, samplers against closed-form moments and against `rand_distr`.

use rand_distr::Distribution;

use super::*;

fn stream() -> RandomStream {
    RandomStreams::new(1).stream("test", 0)
}

/// Worked out outside this crate, from the definitions of FNV-1a, SplitMix64 and PCG64-DXSM in integers of any size.
/// They must never change: every published result depends on them.
#[test]
fn named_streams_have_their_golden_numbers() {
    let first_three = |seed, name, index| {
        let mut stream = RandomStreams::new(seed).stream(name, index);
        [stream.next_u64(), stream.next_u64(), stream.next_u64()]
    };
    assert_eq!(first_three(0, "", 0), [0x0e83_5812_1167_52f1, 0x4d32_3fc0_9c5b_e5cc, 0xebdd_74e5_be0a_1f3c]);
    assert_eq!(
        first_three(1, "loss", 0),
        [0x5022_113d_c70f_da59, 0xab75_32b6_f34f_23df, 0xa323_acce_8394_6b15]
    );
    assert_eq!(
        first_three(1, "loss", 1),
        [0x928e_10cb_c87a_b30a, 0xd053_2f4e_64bd_6353, 0x9645_7f5b_d958_adbe]
    );
    assert_eq!(
        first_three(2, "loss", 0),
        [0x873b_c36d_1dcc_2625, 0xa9ed_c942_fb2f_aae5, 0xd3e6_01f9_4ba6_beb7]
    );
    assert_eq!(
        first_three(1, "phase", 0),
        [0x90fc_7dd9_3d2b_6020, 0x0a29_0513_b5da_5bf0, 0x1dab_bc68_3729_6078]
    );
}

/// Checked against the formulas in Python, to the last digit but one. A change of `libm` or of a formula is a change of
/// results and has to be seen.
#[test]
fn samplers_have_their_golden_numbers() {
    let mut random = stream();
    let drawn = [
        Exponential::new(10.0).unwrap().sample(&mut random),
        LogNormal::from_mu_sigma(8.0, 1.5).unwrap().sample(&mut random),
        Pareto::new(1000.0, 1.2).unwrap().sample(&mut random),
        Pareto::bounded(1000.0, 1.2, 1e6).unwrap().sample(&mut random),
        Zipf::new(1_000_000, 0.8).unwrap().sample(&mut random) as f64,
    ];
    assert_eq!(
        drawn,
        [2.175702122829235, 11211.513076591731, 1699.7710466563983, 1024.227092513136, 117437.0]
    );
}

#[test]
fn fnv1a_has_its_published_test_vectors() {
    let hash = |text: &str| fnv1a(FNV_OFFSET_BASIS, text.as_bytes());
    assert_eq!(hash(""), 0xcbf2_9ce4_8422_2325);
    assert_eq!(hash("a"), 0xaf63_dc4c_8601_ec8c);
    assert_eq!(hash("foobar"), 0x8594_4171_f739_67e8);
}

/// Mean and its standard error, by sample.
fn mean(samples: &[f64]) -> (f64, f64) {
    let count = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / count;
    let variance = samples.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (count - 1.0);
    (mean, (variance / count).sqrt())
}

fn assert_mean(samples: &[f64], expected: f64) {
    let (mean, standard_error) = mean(samples);
    assert!((mean - expected).abs() < 4.0 * standard_error, "{mean} ± {standard_error}, not {expected}");
}

fn draw(count: usize, mut sample: impl FnMut(&mut RandomStream) -> f64) -> Vec<f64> {
    let mut random = stream();
    (0..count).map(|_| sample(&mut random)).collect()
}

/// The largest distance of two empirical distributions stays below the critical value of the two-sample
/// Kolmogorov–Smirnov test at 0.1 %: 1.95 √(2 / n) for n samples each.
fn assert_same_distribution(mut ours: Vec<f64>, mut theirs: Vec<f64>) {
    assert_eq!(ours.len(), theirs.len());
    let count = ours.len() as f64;
    ours.sort_by(f64::total_cmp);
    theirs.sort_by(f64::total_cmp);
    let (mut i, mut j, mut distance) = (0, 0, 0.0_f64);
    while i < ours.len() && j < theirs.len() {
        let value = ours[i].min(theirs[j]);
        i += ours[i..].iter().take_while(|x| **x <= value).count();
        j += theirs[j..].iter().take_while(|x| **x <= value).count();
        distance = distance.max((i as f64 - j as f64).abs() / count);
    }
    assert!(distance < 1.95 * (2.0 / count).sqrt(), "distance {distance}");
}

const COUNT: usize = 200_000;

/// As many samples of a distribution of `rand_distr`, from another stream.
fn reference<T: Into<f64>>(distribution: impl Distribution<T>) -> Vec<f64> {
    let mut random = RandomStreams::new(1).stream("reference", 0);
    (0..COUNT).map(|_| distribution.sample(&mut random).into()).collect()
}

#[test]
fn uniform_numbers_fill_the_interval() {
    let samples = draw(COUNT, RandomStream::uniform);
    assert!(samples.iter().all(|x| (0.0..1.0).contains(x)));
    assert_mean(&samples, 0.5);
    assert_mean(&samples.iter().map(|x| x * x).collect::<Vec<_>>(), 1.0 / 3.0);
    let successive: Vec<_> = samples.windows(2).map(|pair| pair[0] * pair[1]).collect();
    assert_mean(&successive, 0.25);
}

#[test]
fn streams_of_neighbouring_names_and_seeds_are_uncorrelated() {
    let of = |seed, name, index| {
        let mut random = RandomStreams::new(seed).stream(name, index);
        (0..COUNT).map(|_| random.uniform()).collect::<Vec<_>>()
    };
    let base = of(1, "loss", 0);
    for other in [of(2, "loss", 0), of(1, "loss", 1), of(1, "lost", 0)] {
        let products: Vec<_> = base.iter().zip(&other).map(|(a, b)| a * b).collect();
        assert_mean(&products, 0.25);
    }
}

#[test]
fn whole_numbers_below_a_limit_are_equally_likely() {
    let mut random = stream();
    let mut counts = [0_u32; 7];
    for _ in 0..COUNT {
        counts[random.below(7) as usize] += 1;
    }
    // Chi squared with 6 degrees of freedom exceeds 22.46 once in 1000.
    let expected = COUNT as f64 / 7.0;
    let chi_squared: f64 = counts.iter().map(|count| (f64::from(*count) - expected).powi(2) / expected).sum();
    assert!(chi_squared < 22.46, "{counts:?}");
    // Without rejection, two of four draws would give a multiple of three.
    let limit = 3 << 62;
    let of_three = draw(COUNT, |random| f64::from(u8::from(random.below(limit).is_multiple_of(3))));
    assert_mean(&of_three, 1.0 / 3.0);
    assert_eq!(random.below(1), 0);
}

#[test]
fn spans_lie_between_their_bounds() {
    let mut random = stream();
    let (low, high) = (Duration::from_nanos(100), Duration::from_nanos(103));
    let mut seen: Vec<_> = (0..100).map(|_| random.duration_between(low, high).as_nanos()).collect();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen, [100, 101, 102]);
}

#[test]
fn exponential_has_its_moments_and_shape() {
    let exponential = Exponential::new(10.0).unwrap();
    let samples = draw(COUNT, |random| exponential.sample(random));
    assert_mean(&samples, 10.0);
    assert_mean(&samples.iter().map(|x| x * x).collect::<Vec<_>>(), 200.0);
    assert_same_distribution(samples, reference(rand_distr::Exp::new(0.1).unwrap()));
}

#[test]
fn lognormal_has_its_moments_and_shape() {
    let (mean, deviation) = (12_000.0, 20_000.0);
    let lognormal = LogNormal::from_mean_deviation(mean, deviation).unwrap();
    let samples = draw(COUNT, |random| lognormal.sample(random));
    assert_mean(&samples, mean);
    let logs: Vec<_> = samples.iter().map(|x| libm::log(*x)).collect();
    // mean = exp(mu + sigma² / 2) and mean² + deviation² = exp(2 mu + 2 sigma²), solved for mu and sigma².
    let second_moment = mean * mean + deviation * deviation;
    let mu = 2.0 * libm::log(mean) - libm::log(second_moment) / 2.0;
    assert_mean(&logs, mu);
    let squares: Vec<_> = logs.iter().map(|x| (x - mu).powi(2)).collect();
    assert_mean(&squares, libm::log(second_moment) - 2.0 * libm::log(mean));
    let theirs = rand_distr::LogNormal::from_mean_cv(mean, deviation / mean).unwrap();
    assert_same_distribution(samples, reference(theirs));
}

#[test]
fn lognormal_without_spread_is_its_mean() {
    let lognormal = LogNormal::from_mean_deviation(5.0, 0.0).unwrap();
    assert!(draw(100, |random| lognormal.sample(random)).iter().all(|x| (x - 5.0).abs() < 1e-12));
}

#[test]
fn pareto_has_its_moments_and_shape() {
    let pareto = Pareto::new(1000.0, 3.5).unwrap();
    let samples = draw(COUNT, |random| pareto.sample(random));
    assert!(samples.iter().all(|x| *x >= 1000.0));
    assert_mean(&samples, 1000.0 * 3.5 / 2.5);
    assert_same_distribution(samples, reference(rand_distr::Pareto::new(1000.0, 3.5).unwrap()));
}

#[test]
fn bounded_pareto_is_pareto_without_its_tail() {
    let (low, high, shape) = (1000.0_f64, 1e5_f64, 1.2);
    let pareto = Pareto::bounded(low, shape, high).unwrap();
    let samples = draw(COUNT, |random| pareto.sample(random));
    assert!(samples.iter().all(|x| (low..=high * (1.0 + 1e-12)).contains(x)));
    let kept = 1.0 - libm::pow(low / high, shape);
    let expected = low * shape / (shape - 1.0) * (1.0 - libm::pow(low / high, shape - 1.0)) / kept;
    assert_mean(&samples, expected);
    let mut random = RandomStreams::new(1).stream("reference", 0);
    let theirs = rand_distr::Pareto::new(low, shape).unwrap();
    let theirs = std::iter::repeat_with(|| theirs.sample(&mut random)).filter(|x| *x <= high).take(COUNT);
    assert_same_distribution(samples, theirs.collect());
}

#[test]
fn zipf_has_the_probability_of_every_rank() {
    for exponent in [0.0, 0.7, 1.0, 1.0 + 1e-9, 2.5] {
        let ranks = 50;
        let zipf = Zipf::new(ranks, exponent).unwrap();
        let mut random = stream();
        let mut counts = vec![0_u32; ranks as usize + 1];
        for _ in 0..COUNT {
            counts[zipf.sample(&mut random) as usize] += 1;
        }
        let weights: Vec<_> = (1..=ranks).map(|rank| libm::pow(rank as f64, -exponent)).collect();
        let total: f64 = weights.iter().sum();
        for (count, weight) in counts[1..].iter().zip(&weights) {
            let expected = COUNT as f64 * weight / total;
            // 250 comparisons: beyond 4.5 standard errors one in 600 runs of this test would lie by chance.
            assert!(
                (f64::from(*count) - expected).abs() < 4.5 * expected.sqrt() + 1.0,
                "exponent {exponent}: {counts:?}"
            );
        }
    }
}

#[test]
fn zipf_has_the_shape_of_the_reference_over_many_ranks() {
    let zipf = Zipf::new(1_000_000, 0.8).unwrap();
    let samples = draw(COUNT, |random| zipf.sample(random) as f64);
    assert_same_distribution(samples, reference(rand_distr::Zipf::new(1e6, 0.8).unwrap()));
}

#[test]
fn zipf_of_one_rank_is_that_rank() {
    for exponent in [0.0, 1.0, 3.0, 700.0] {
        let zipf = Zipf::new(1, exponent).unwrap();
        assert!(draw(100, |random| zipf.sample(random) as f64).iter().all(|rank| *rank == 1.0));
    }
}

#[test]
fn impossible_parameters_are_refused() {
    let message = Exponential::new(-1.0).unwrap_err().to_string();
    assert_eq!(message, "the mean is -1; it must be finite and above 0");
    assert!(Exponential::new(f64::NAN).is_err());
    assert!(LogNormal::from_mu_sigma(f64::INFINITY, 1.0).is_err());
    assert!(LogNormal::from_mean_deviation(1.0, -1.0).is_err());
    assert!(Pareto::new(0.0, 1.0).is_err());
    assert!(Pareto::bounded(10.0, 1.0, 10.0).is_err());
    assert!(Zipf::new(0, 1.0).is_err());
    assert!(Zipf::new(10, -0.5).is_err());
}
