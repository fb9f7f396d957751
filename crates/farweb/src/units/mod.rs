//! Quantities as types, `u64` inside, with only the operations that have a meaning.
//!
//! Time is counted in whole nanoseconds since the start of the run: 584 years, no rounding but where a method says so.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Sub, SubAssign};

mod decibels;
pub mod differences;
mod share;
mod text;
mod when;
pub mod words;

pub use decibels::Decibels;
pub use share::Share;
pub use text::{ALIASES, Quantity, QuantityError, UNITS};
pub(crate) use text::{as_text, from_text, quantity_or_word};
pub use when::When;

/// A point of simulated time, in nanoseconds since the start of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Instant(u64);

/// A span of time, in nanoseconds. Never negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Duration(u64);

/// An amount of data, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes(u64);

/// A data rate, in bit/s. Above zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BitRate(u64);

const NANOS_PER_SECOND: u64 = 1_000_000_000;

impl Instant {
    /// The start of the run.
    pub const ZERO: Self = Self(0);

    /// The instant `nanos` after the start of the run.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since the start of the run.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds since the start, for people and plots. Exact to 2^-53.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NANOS_PER_SECOND as f64
    }

    /// Time since `earlier`, zero if that lies in the future.
    #[must_use]
    pub const fn saturating_since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl Duration {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// A span of `nanos` nanoseconds.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// A span of `micros` microseconds.
    #[must_use]
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros * 1_000)
    }

    /// A span of `millis` milliseconds.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis * 1_000_000)
    }

    /// A span of `secs` seconds.
    #[must_use]
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs * NANOS_PER_SECOND)
    }

    /// A span of `secs` seconds, rounded to the nearest nanosecond.
    ///
    /// `None` when `secs` is negative, not a number, or longer than 584 years.
    #[must_use]
    pub fn from_secs_f64(secs: f64) -> Option<Self> {
        let nanos = secs * NANOS_PER_SECOND as f64;
        (nanos >= 0.0 && nanos < u64::MAX as f64).then_some(Self((nanos + 0.5) as u64))
    }

    /// Length in nanoseconds.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Length in seconds, for people and plots.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NANOS_PER_SECOND as f64
    }

    /// Length in seconds, for tables: [`from_secs_f64`](Self::from_secs_f64) makes the same span of it below 2^52 ns
    /// (52 days), and one within a nanosecond below twice that.
    ///
    /// From 48 days on floats are a nanosecond apart, and the nearest one may be read as the next nanosecond. Then it is the
    /// one before.
    #[must_use]
    pub fn to_secs_f64(self) -> f64 {
        let secs = self.as_secs_f64();
        let reads_back = |secs: &f64| Self::from_secs_f64(*secs) == Some(self);
        [secs, secs.next_down()].into_iter().find(reads_back).unwrap_or(secs)
    }

    /// `self * numerator / denominator`, rounded down. The product is taken in 128 bits.
    ///
    /// # Panics
    /// When `denominator` is zero or the result does not fit.
    #[must_use]
    pub fn mul_div(self, numerator: u64, denominator: u64) -> Self {
        let nanos = u128::from(self.0) * u128::from(numerator) / u128::from(denominator);
        Self(u64::try_from(nanos).expect("a span below 584 years"))
    }
}

impl Bytes {
    /// No data.
    pub const ZERO: Self = Self(0);

    /// An amount of `bytes` bytes.
    #[must_use]
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// The number of bytes.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// `self - other`, or zero.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl BitRate {
    /// A rate of `bits` bit/s. `None` for zero: nothing would ever arrive.
    #[must_use]
    pub const fn from_bps(bits: u64) -> Option<Self> {
        if bits == 0 { None } else { Some(Self(bits)) }
    }

    /// The rate in bit/s.
    #[must_use]
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// Time that `size` takes on the wire, rounded up to the next nanosecond.
    ///
    /// ```
    /// use farweb::units::{BitRate, Bytes, Duration};
    /// let e3 = BitRate::from_bps(34_368_000).unwrap();
    /// assert_eq!(e3.time_to_send(Bytes::new(1500)), Duration::from_nanos(349_163));
    /// ```
    #[must_use]
    pub fn time_to_send(self, size: Bytes) -> Duration {
        let bit_nanos = u128::from(size.0) * 8 * u128::from(NANOS_PER_SECOND);
        let nanos = bit_nanos.div_ceil(u128::from(self.0));
        Duration(u64::try_from(nanos).expect("a transmission time below 584 years"))
    }

    /// Data that fits into `span`, rounded down to whole bytes, at most 2^64 − 1: a bandwidth–delay product.
    #[must_use]
    pub fn data_in(self, span: Duration) -> Bytes {
        let bytes = u128::from(self.0) * u128::from(span.0) / (8 * u128::from(NANOS_PER_SECOND));
        Bytes(u64::try_from(bytes).unwrap_or(u64::MAX))
    }
}

impl Add<Duration> for Instant {
    type Output = Self;
    fn add(self, span: Duration) -> Self {
        Self(self.0 + span.0)
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, span: Duration) {
        self.0 += span.0;
    }
}

impl Sub for Instant {
    type Output = Duration;
    /// Time from `earlier` to `self`.
    fn sub(self, earlier: Self) -> Duration {
        debug_assert!(self >= earlier, "time goes back from {earlier} to {self}");
        Duration(self.0 - earlier.0)
    }
}

impl Add for Duration {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Duration {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Duration {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Mul<u64> for Duration {
    type Output = Self;
    fn mul(self, times: u64) -> Self {
        Self(self.0 * times)
    }
}

impl Sum for Duration {
    fn sum<I: Iterator<Item = Self>>(spans: I) -> Self {
        spans.fold(Self::ZERO, Add::add)
    }
}

impl Add for Bytes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Bytes {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl SubAssign for Bytes {
    fn sub_assign(&mut self, other: Self) {
        self.0 -= other.0;
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:09} s", self.0 / NANOS_PER_SECOND, self.0 % NANOS_PER_SECOND)
    }
}

impl fmt::Display for Duration {
    /// In the largest unit that leaves the number whole: `60 ms`, `1500 us`, `7 ns`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_in_largest_unit(f, self.0, &[(NANOS_PER_SECOND, "s"), (1_000_000, "ms"), (1_000, "us")], "ns")
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} B", self.0)
    }
}

impl fmt::Display for BitRate {
    /// In Mbit/s, kbit/s or bit/s, exactly: `34.368 Mbit/s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            bps if bps >= 1_000_000 => write_decimal(f, bps, 1_000_000, "Mbit/s"),
            bps if bps >= 1_000 => write_decimal(f, bps, 1_000, "kbit/s"),
            bps => write!(f, "{bps} bit/s"),
        }
    }
}

fn write_in_largest_unit(
    f: &mut fmt::Formatter<'_>,
    value: u64,
    units: &[(u64, &str)],
    smallest: &str,
) -> fmt::Result {
    match units.iter().find(|(size, _)| value.is_multiple_of(*size)) {
        Some((size, unit)) => write!(f, "{} {unit}", value / size),
        None => write!(f, "{value} {smallest}"),
    }
}

fn write_decimal(f: &mut fmt::Formatter<'_>, value: u64, unit: u64, name: &str) -> fmt::Result {
    let (whole, fraction) = (value / unit, value % unit);
    if fraction == 0 {
        return write!(f, "{whole} {name}");
    }
    let digits = unit.ilog10() as usize;
    let fraction = format!("{fraction:0digits$}");
    write!(f, "{whole}.{} {name}", fraction.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn spans_of_seconds_round_to_the_nearest_nanosecond() {
        let nanos = |secs| Duration::from_secs_f64(secs).map(Duration::as_nanos);
        assert_eq!(nanos(0.0), Some(0));
        assert_eq!(nanos(1.5e-9), Some(2));
        assert_eq!(nanos(1.4e-9), Some(1));
        assert_eq!(nanos(0.1), Some(100_000_000));
        assert_eq!(nanos(86_400.25), Some(86_400_250_000_000));
        for impossible in [-1e-12, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, 18_446_744_073.8] {
            assert_eq!(nanos(impossible), None, "{impossible}");
        }
        assert!(nanos(18_446_744_073.0).is_some());
    }

    #[test]
    fn a_span_is_scaled_without_overflow_and_rounded_down() {
        assert_eq!(Duration::from_nanos(7).mul_div(2, 3), Duration::from_nanos(4));
        let years = Duration::from_nanos(u64::MAX);
        assert_eq!(years.mul_div(u64::MAX, u64::MAX), years);
        assert_eq!(years.mul_div(1, 2), Duration::from_nanos(u64::MAX / 2));
    }

    #[test]
    #[should_panic(expected = "a span below 584 years")]
    fn a_span_that_does_not_fit_is_a_bug() {
        let _ = Duration::from_nanos(u64::MAX).mul_div(2, 1);
    }

    #[test]
    fn transmission_times_round_up() {
        let time = |bps, bytes| BitRate::from_bps(bps).unwrap().time_to_send(Bytes::new(bytes)).as_nanos();
        assert_eq!(time(8_000_000_000, 1500), 1500);
        // 64 B at 100 Gbit/s: 5.12 ns.
        assert_eq!(time(100_000_000_000, 64), 6);
        assert_eq!(time(1_000_000_000, 0), 0);
        assert_eq!(time(1, 1), 8_000_000_000);
        // 4 GiB at 1 kbit/s: the product needs 65 bits.
        assert_eq!(time(1000, 1 << 32), 34_359_738_368_000_000);
    }

    #[test]
    fn data_in_a_span_rounds_down() {
        let e3 = BitRate::from_bps(34_368_000).unwrap();
        assert_eq!(e3.data_in(Duration::from_millis(120)), Bytes::new(515_520));
        assert_eq!(e3.data_in(Duration::from_nanos(232)), Bytes::ZERO);
        assert_eq!(e3.data_in(Duration::from_nanos(233)), Bytes::new(1));
    }

    #[test]
    fn a_rate_of_zero_does_not_exist() {
        assert_eq!(BitRate::from_bps(0), None);
    }

    #[test]
    fn differences_that_may_be_negative_stop_at_zero() {
        let (early, late) = (Instant::from_nanos(3), Instant::from_nanos(10));
        assert_eq!(
            (late - early, late.saturating_since(early)),
            (Duration::from_nanos(7), Duration::from_nanos(7))
        );
        assert_eq!(early.saturating_since(late), Duration::ZERO);
        assert_eq!(Bytes::new(3).saturating_sub(Bytes::new(5)), Bytes::ZERO);
    }

    #[test]
    fn quantities_print_with_their_unit() {
        assert_eq!(Instant::from_nanos(1_000_000_005).to_string(), "1.000000005 s");
        assert_eq!(Duration::from_micros(1500).to_string(), "1500 us");
        assert_eq!(Bytes::new(32767).to_string(), "32767 B");
    }

    proptest! {
        #[test]
        fn a_span_survives_a_table(nanos in prop_oneof![0..1_u64 << 52, (1_u64 << 52) - 1_000_000..1_u64 << 52]) {
            let span = Duration::from_nanos(nanos);
            prop_assert_eq!(Duration::from_secs_f64(span.to_secs_f64()), Some(span));
        }

        #[test]
        fn what_fits_into_a_transmission_time_is_what_was_sent(bps in 1..=400_000_000_000_u64, bytes in 0..10_000_000_u64) {
            let rate = BitRate::from_bps(bps).unwrap();
            let time = rate.time_to_send(Bytes::new(bytes));
            // At most a nanosecond's worth more: 50 B at 400 Gbit/s.
            let spare = rate.data_in(time).get() - bytes;
            prop_assert!(spare <= bps.div_ceil(8_000_000_000), "{}", spare);
            prop_assert!(time == Duration::ZERO || rate.data_in(time - Duration::from_nanos(1)).get() < bytes);
        }
    }
}
