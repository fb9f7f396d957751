//! Latin hypercube samples: the range of each factor is cut into as many strata of equal probability as there are samples,
//! and each stratum has one sample, at random within it. Strata of two factors meet at random.
//!
//! A drawn quantity is a whole number of its smallest unit and has four significant digits, more only where a stratum is
//! too narrow for them. A key that takes whole numbers, and a queue in packets, has each whole number of the range
//! with equal probability (equal probability by ratio on a logarithmic scale). Narrow ranges repeat values.
//!
//! Source: M. McKay, R. Beckman, W. Conover, "A Comparison of Three Methods for Selecting Values of Input Variables in
//! the Analysis of Output from a Computer Code", Technometrics 21(2), 1979. Left out: samples that avoid correlation
//! between factors.

use serde_json::{Number, Value};

use crate::rng::RandomStream;
use crate::scenario::document::quote;
use crate::scenario::key::Kind;
use crate::scenario::{Range, Scale};
use crate::units::{BitRate, Bytes, Duration, Quantity};

/// Greatest end of a range, in whole smallest units: beyond it not every whole number is a float.
const LARGEST: f64 = (1_u64 << 53) as f64;

/// Significant digits of a drawn value. Chosen: 0.1 % is finer than any result distinguishes, and short enough to read.
const DIGITS: usize = 4;

/// Significant digits that distinguish any two floats.
const MOST_DIGITS: usize = 17;

/// Positions in [0, 1), one in each of `samples` strata, in random order.
pub(super) fn positions(samples: u32, random: &mut RandomStream) -> Vec<f64> {
    let mut strata: Vec<u32> = (0..samples).collect();
    for last in (1..strata.len()).rev() {
        strata.swap(last, random.below(last as u64 + 1) as usize);
    }
    strata.iter().map(|stratum| (f64::from(*stratum) + random.uniform()) / f64::from(samples)).collect()
}

/// A range that values can be drawn from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ruler {
    kind: Kind,
    /// Of a queue: `B`, `packets` or `s`.
    unit: &'static str,
    /// In smallest units.
    from: f64,
    to: f64,
    scale: Scale,
}

impl Ruler {
    /// The range `range` of a key that takes values of `kind`.
    ///
    /// # Errors
    /// The problem with its ends.
    pub(super) fn new(range: &Range, kind: Kind) -> Result<Self, String> {
        if kind == Kind::Other {
            return Err("the key takes neither numbers nor quantities; write a list of levels".to_owned());
        }
        let ((from, unit), (to, other)) = (end(&range.from, kind)?, end(&range.to, kind)?);
        let (low, high) = (text(&range.from), text(&range.to));
        if unit != other {
            return Err(format!(
                "found {low} to {high}; both ends of a range have the same unit, bytes, packets or a time"
            ));
        }
        if from >= to {
            return Err(format!("found {low} to {high}; a range ends above its beginning"));
        }
        if range.scale == Scale::Log && from <= 0.0 {
            return Err(format!("found {low} to {high}; a range on a logarithmic scale begins above 0"));
        }
        if to > LARGEST {
            return Err(format!("found {low} to {high}; a range ends at 2^53 of the smallest unit at most"));
        }
        Ok(Self { kind, unit, from, to, scale: range.scale })
    }

    /// The value at `position`, 0 to 1, of a range cut into `samples` strata.
    pub(super) fn value(&self, position: f64, samples: u32) -> Value {
        if self.is_counted() {
            let number = self.count(position);
            return if self.kind == Kind::Whole { number.into() } else { format!("{number} packets").into() };
        }
        let exact = self.at(position);
        let stratum = self.stratum(exact, samples);
        let digits = DIGITS..=MOST_DIGITS;
        let rounded =
            digits.map(|digits| self.rounded(exact, digits)).find(|x| self.stratum(*x, samples) == stratum);
        let value = rounded.unwrap_or_else(|| self.rounded(exact, MOST_DIGITS)).clamp(self.from, self.to);
        match self.kind {
            Kind::Number => Number::from_f64(value).map_or(Value::Null, Value::Number),
            Kind::Rate => written::<BitRate>(value as u64),
            _ if self.unit == "s" => written::<Duration>(value as u64),
            _ => written::<Bytes>(value as u64),
        }
    }

    /// True when each whole number is a value of its own and not a point on a line.
    fn is_counted(&self) -> bool {
        self.kind == Kind::Whole || self.unit == "packets"
    }

    /// The stratum that `x` lies in.
    fn stratum(&self, x: f64, samples: u32) -> u64 {
        let part = match self.scale {
            Scale::Linear => (x - self.from) / (self.to - self.from),
            Scale::Log => libm::log(x / self.from) / libm::log(self.to / self.from),
        };
        ((part * f64::from(samples)) as u64).min(u64::from(samples) - 1)
    }

    fn at(&self, position: f64) -> f64 {
        between(self.from, self.to, self.scale, position)
    }

    /// The whole number at `position`, where each has the part up to the next one.
    fn count(&self, position: f64) -> u64 {
        between(self.from, self.to + 1.0, self.scale, position).floor().clamp(self.from, self.to) as u64
    }

    /// `x` with some significant digits. A quantity as a whole number of its smallest unit.
    fn rounded(&self, x: f64, digits: usize) -> f64 {
        let x: f64 = format!("{x:.*e}", digits - 1).parse().expect("what was printed is a number");
        if self.kind == Kind::Number { x } else { x.round() }
    }
}

fn between(from: f64, to: f64, scale: Scale, position: f64) -> f64 {
    match scale {
        Scale::Linear => from + position * (to - from),
        Scale::Log => from * libm::exp(position * libm::log(to / from)),
    }
}

/// An end of a range in smallest units, and, for a queue, the unit it counts.
fn end(value: &Value, kind: Kind) -> Result<(f64, &'static str), String> {
    match (kind, value) {
        (Kind::Whole | Kind::Number, value) => value.as_f64().map(|number| (number, "")),
        (_, Value::String(text)) => kind.amount(text).map(|amount| (amount.smallest as f64, amount.unit)),
        _ => None,
    }
    .ok_or_else(|| format!("found {}; a range goes from a number or quantity to another", text(value)))
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), quote)
}

/// A quantity in the largest decimal unit that is not larger, exactly: `12.34 ms`.
fn written<Q: Quantity>(smallest: u64) -> Value {
    let is_decimal = |size: u64| 10_u64.pow(size.ilog10()) == size;
    let units = Q::UNITS.iter().filter(|(_, size)| is_decimal(*size) && *size <= smallest.max(1));
    let (unit, size) = units.max_by_key(|(_, size)| *size).expect("every quantity has a smallest unit");
    let (whole, fraction) = (smallest / size, smallest % size);
    let digits = size.ilog10() as usize;
    let decimals = format!("{fraction:0digits$}");
    let decimals = decimals.trim_end_matches('0');
    let point = if fraction == 0 { "" } else { "." };
    let decimals = if fraction == 0 { "" } else { decimals };
    format!("{whole}{point}{decimals} {unit}").into()
}
