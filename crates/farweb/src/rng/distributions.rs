//! Distributions of workloads: exponential, lognormal, Pareto, Zipf.
//!
//! All are computed by `libm`, which gives the same bits on every machine. A sample of the continuous ones
//! takes one draw, lognormal two. One of Zipf takes a draw for each trial, mostly one.

use super::RandomStream;

/// Why a distribution cannot have the given parameters.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{parameter} is {value}; it must be {allowed}")]
pub struct DistributionError {
    parameter: &'static str,
    value: f64,
    allowed: &'static str,
}

/// Gives `value` back if it is finite and above zero.
fn positive(parameter: &'static str, value: f64) -> Result<f64, DistributionError> {
    let allowed = "finite and above 0";
    if value > 0.0 && value.is_finite() {
        Ok(value)
    } else {
        Err(DistributionError { parameter, value, allowed })
    }
}

/// The exponential distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exponential {
    mean: f64,
}

impl Exponential {
    /// Distribution with the given mean.
    ///
    /// # Errors
    /// When `mean` is not finite and above zero.
    pub fn new(mean: f64) -> Result<Self, DistributionError> {
        Ok(Self { mean: positive("the mean", mean)? })
    }

    /// A number from 0 to 36.8 means: the smallest draw of a uniform number above 0 is 2^-53.
    pub fn sample(&self, random: &mut RandomStream) -> f64 {
        -self.mean * libm::log(1.0 - random.uniform())
    }
}

/// A number with a normal natural logarithm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogNormal {
    mu: f64,
    sigma: f64,
}

impl LogNormal {
    /// Distribution with mean `mu` and standard deviation `sigma` of the logarithm.
    ///
    /// # Errors
    /// When `mu` is not finite, or `sigma` not finite or below zero.
    pub fn from_mu_sigma(mu: f64, sigma: f64) -> Result<Self, DistributionError> {
        if !mu.is_finite() {
            return Err(DistributionError { parameter: "mu", value: mu, allowed: "finite" });
        }
        if !(sigma >= 0.0 && sigma.is_finite()) {
            let allowed = "finite and at least 0";
            return Err(DistributionError { parameter: "sigma", value: sigma, allowed });
        }
        Ok(Self { mu, sigma })
    }

    /// Distribution with the given mean and standard deviation of the number itself.
    ///
    /// # Errors
    /// When `mean` is not finite and above zero, or `deviation` not finite or below zero.
    pub fn from_mean_deviation(mean: f64, deviation: f64) -> Result<Self, DistributionError> {
        let mean = positive("the mean", mean)?;
        if !(deviation >= 0.0 && deviation.is_finite()) {
            let (parameter, allowed) = ("the standard deviation", "finite and at least 0");
            return Err(DistributionError { parameter, value: deviation, allowed });
        }
        let ratio = deviation / mean;
        let variance = libm::log1p(ratio * ratio);
        Self::from_mu_sigma(libm::log(mean) - variance / 2.0, variance.sqrt())
    }

    /// A number above 0.
    pub fn sample(&self, random: &mut RandomStream) -> f64 {
        libm::exp(self.mu + self.sigma * random.normal())
    }
}

/// The Pareto distribution, `P(X > x) = (minimum / x)^shape`, cut off at an upper bound if there is one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pareto {
    minimum: f64,
    shape: f64,
    /// Share of the distribution above the bound, 0 without a bound.
    cut_off: f64,
}

impl Pareto {
    /// Without an upper bound. The mean is infinite for `shape` ≤ 1, the variance for `shape` ≤ 2.
    ///
    /// # Errors
    /// When `minimum` or `shape` is not finite and above zero.
    pub fn new(minimum: f64, shape: f64) -> Result<Self, DistributionError> {
        let (minimum, shape) = (positive("the minimum", minimum)?, positive("the shape", shape)?);
        Ok(Self { minimum, shape, cut_off: 0.0 })
    }

    /// Truncated: distributed as the numbers of [`Pareto::new`] that are not above `maximum`.
    ///
    /// # Errors
    /// When `minimum` or `shape` is not finite and above zero, or `maximum` not finite and above `minimum`.
    pub fn bounded(minimum: f64, shape: f64, maximum: f64) -> Result<Self, DistributionError> {
        let unbounded = Self::new(minimum, shape)?;
        if !(maximum > minimum && maximum.is_finite()) {
            let (parameter, allowed) = ("the maximum", "finite and above the minimum");
            return Err(DistributionError { parameter, value: maximum, allowed });
        }
        Ok(Self { cut_off: libm::pow(minimum / maximum, shape), ..unbounded })
    }

    /// A number from the minimum to the maximum, by inversion. Without a maximum, up to the minimum times 2^(53 /
    /// shape).
    pub fn sample(&self, random: &mut RandomStream) -> f64 {
        let above = 1.0 - random.uniform() * (1.0 - self.cut_off);
        self.minimum * libm::pow(above, -1.0 / self.shape)
    }
}

/// Zipf's distribution over the ranks 1 to n: `P(k)` in proportion to `k^-exponent`.
///
/// By rejection-inversion: a sample of the continuous density `x^-exponent` by inversion is rounded to a rank and
/// rejected where the histogram lies below the density. Exact but for rounding in 53 bits. Set-up and memory do not
/// grow with n.
///
/// Source: W. Hörmann, G. Derflinger, "Rejection-inversion to generate variates from monotone discrete
/// distributions", ACM TOMACS 6(3), 1996, algorithm RI.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Zipf {
    ranks: u64,
    exponent: f64,
    /// Integral of the density up to 1.5, less the probability weight 1 of rank 1: where the inversion starts.
    area_start: f64,
    /// Integral of the density up to n + 0.5.
    area_end: f64,
    /// A sample at most this far below its rank is accepted without a look at the density.
    squeeze: f64,
}

impl Zipf {
    /// Over the ranks 1 to `ranks`. An exponent of 0 makes all equally likely.
    ///
    /// # Errors
    /// When `ranks` is 0 or above 2^53, or `exponent` not finite or below zero.
    pub fn new(ranks: u64, exponent: f64) -> Result<Self, DistributionError> {
        if !(1..=1 << 53).contains(&ranks) {
            let (parameter, allowed) = ("the number of ranks", "1 to 2^53");
            return Err(DistributionError { parameter, value: ranks as f64, allowed });
        }
        if !(exponent >= 0.0 && exponent.is_finite()) {
            let (parameter, allowed) = ("the exponent", "finite and at least 0");
            return Err(DistributionError { parameter, value: exponent, allowed });
        }
        let mut zipf = Self { ranks, exponent, area_start: 0.0, area_end: 0.0, squeeze: 0.0 };
        zipf.area_start = zipf.area(1.5) - 1.0;
        zipf.area_end = zipf.area(ranks as f64 + 0.5);
        zipf.squeeze = 2.0 - zipf.inverse_area(zipf.area(2.5) - zipf.weight(2.0));
        Ok(zipf)
    }

    /// A rank from 1 to n.
    pub fn sample(&self, random: &mut RandomStream) -> u64 {
        loop {
            let area = self.area_start + random.uniform() * (self.area_end - self.area_start);
            let x = self.inverse_area(area);
            let rank = libm::round(x).clamp(1.0, self.ranks as f64);
            if rank - x <= self.squeeze || area >= self.area(rank + 0.5) - self.weight(rank) {
                return rank as u64;
            }
        }
    }

    /// The density `x^-exponent`.
    fn weight(&self, x: f64) -> f64 {
        libm::pow(x, -self.exponent)
    }

    /// Integral of the density from 1 to `x`: `(x^(1 - exponent) - 1) / (1 - exponent)`, or its limit `ln x` at
    /// exponent 1.
    fn area(&self, x: f64) -> f64 {
        let (power, log) = (1.0 - self.exponent, libm::log(x));
        // Written with expm1, it keeps its digits where the exponent is close to 1.
        if power == 0.0 { log } else { libm::expm1(power * log) / power }
    }

    /// The `x` that has this `area`.
    fn inverse_area(&self, area: f64) -> f64 {
        let power = 1.0 - self.exponent;
        if power == 0.0 { libm::exp(area) } else { libm::exp(libm::log1p((power * area).max(-1.0)) / power) }
    }
}
