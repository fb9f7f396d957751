//! Start times of requests. ProWGen gives their order alone. This is added.
//!
//! `poisson`: independent of each other. `constant`: at equal intervals. `on-off`: Poisson while on, none while off, both
//! exponentially long (an interrupted Poisson process), with the same mean rate, and it begins on. `none`: all at time 0,
//! for whoever needs the order only.
//!
//! Source: C. Williamson and others ran ProWGen's workloads with Poisson arrivals; the interrupted Poisson process is
//! by A. Kuczura, "The interrupted Poisson process as an overflow process", Bell System Technical Journal 52(3), 1973.

use super::Parameters;
use super::parameters::Arrivals;
use crate::rng::{Exponential, RandomStream};
use crate::units::{Duration, Instant};

#[derive(Debug)]
pub(super) struct Clock {
    process: Process,
    random: RandomStream,
    now: Instant,
}

#[derive(Debug)]
enum Process {
    Poisson { gap: Exponential },
    Constant { rate: f64, started: u64 },
    OnOff { gap: Exponential, on: Exponential, off: Exponential, left: f64 },
    None,
}

impl Clock {
    pub(super) fn new(parameters: &Parameters, mut random: RandomStream) -> Self {
        let rate = parameters.arrival_rate;
        let exponential = |mean: f64| Exponential::new(mean).expect("checked");
        let process = match parameters.arrivals {
            Arrivals::Poisson => Process::Poisson { gap: exponential(1.0 / rate) },
            Arrivals::Constant => Process::Constant { rate, started: 0 },
            Arrivals::OnOff => {
                let (on, off) = (parameters.on_mean.as_secs_f64(), parameters.off_mean.as_secs_f64());
                let gap = exponential(on / (on + off) / rate);
                let (on, off) = (exponential(on), exponential(off));
                Process::OnOff { gap, left: on.sample(&mut random), on, off }
            }
            Arrivals::None => Process::None,
        };
        Self { process, random, now: Instant::ZERO }
    }

    /// Start of the next request. Starts never decrease.
    pub(super) fn next(&mut self) -> Instant {
        let Self { process, random, now } = self;
        match process {
            Process::Poisson { gap } => *now = after(*now, gap.sample(random)),
            Process::Constant { rate, started } => {
                *now = after(Instant::ZERO, *started as f64 / *rate);
                *started += 1;
            }
            Process::OnOff { gap, on, off, left } => {
                let mut wait = gap.sample(random);
                let mut silent = 0.0;
                // The rest of a gap at the off time continues at the next on time.
                let whole = wait;
                while wait > *left {
                    wait -= *left;
                    silent += off.sample(random);
                    *left = on.sample(random);
                }
                *left -= wait;
                *now = after(*now, whole + silent);
            }
            Process::None => {}
        }
        *now
    }
}

fn after(now: Instant, seconds: f64) -> Instant {
    now + Duration::from_secs_f64(seconds).expect("checked: a workload lasts less than time can hold")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::RandomStreams;

    fn starts(arrivals: Arrivals, count: usize) -> Vec<f64> {
        let parameters = Parameters { arrivals, ..Parameters::default() };
        let mut clock = Clock::new(&parameters, RandomStreams::new(1).stream("test", 0));
        (0..count).map(|_| (clock.next() - Instant::ZERO).as_secs_f64()).collect()
    }

    /// Variance of the requests of a second over their mean: 1 for a Poisson process.
    fn dispersion(starts: &[f64]) -> f64 {
        let mut counts = vec![0.0; starts[starts.len() - 1] as usize + 1];
        starts.iter().for_each(|start| counts[*start as usize] += 1.0);
        let mean = counts.iter().sum::<f64>() / counts.len() as f64;
        counts.iter().map(|count| (count - mean) * (count - mean)).sum::<f64>() / counts.len() as f64 / mean
    }

    #[test]
    fn the_mean_rate_is_the_one_asked_for() {
        // 10 a second. On for 1 s of 5 s on average. Bounds are four standard errors.
        let poisson = starts(Arrivals::Poisson, 100_000);
        assert!((poisson[99_999] / 10_000.0 - 1.0).abs() < 4.0 / 100_000_f64.sqrt(), "{}", poisson[99_999]);
        let bursty = starts(Arrivals::OnOff, 100_000);
        assert!((bursty[99_999] / 10_000.0 - 1.0).abs() < 0.15, "{}", bursty[99_999]);
        assert!((dispersion(&poisson) - 1.0).abs() < 0.06, "{}", dispersion(&poisson));
        assert!(dispersion(&bursty) > 5.0, "{}", dispersion(&bursty));
        assert!(poisson.is_sorted() && bursty.is_sorted());
    }

    #[test]
    fn constant_arrivals_are_equally_spaced_and_none_is_at_once() {
        assert_eq!(starts(Arrivals::Constant, 4), [0.0, 0.1, 0.2, 0.3]);
        assert_eq!(starts(Arrivals::None, 3), [0.0; 3]);
    }
}
