//! Differences, intervals and margins in words, for people.

use super::words::{by_thousands, count, digits, magnitude, plain, scaled, seconds, share};

/// Percent below which digits are noise: one request of ten thousand. Chosen.
const LEAST_PERCENT: f64 = 0.01;

/// Percent below which a difference is none. Chosen.
const NO_PERCENT: f64 = 0.005;

/// Digits of an estimate beside its margin, at most. Chosen.
const MOST_DIGITS: i32 = 6;

/// A time that failed requests reach, where the slowest that ended is not at hand.
const ENDLESS: &str = "more than any that ended";

/// A time in s: as [`seconds`], or in words if infinite.
#[must_use]
pub fn time(value: f64) -> String {
    match value {
        f64::INFINITY => ENDLESS.into(),
        f64::NEG_INFINITY => format!("−({ENDLESS})"),
        _ => seconds(value),
    }
}

/// A number without a unit: `0.123`, `12.3`, `117,635`.
#[must_use]
pub fn number(value: f64) -> String {
    if value.abs() < 999.5 { digits(value) } else { count(value) }
}

/// A number with its unit: `s`, `bit/s`, `B`, `1` (in percent), or any other, which is left away. Infinite means an infinite time,
/// whatever the unit.
#[must_use]
pub fn quantity(value: f64, unit: &str) -> String {
    let size = value.abs();
    let text = match unit {
        _ if value.is_infinite() => return time(value),
        "s" => seconds(size),
        "bit/s" | "B" => scaled(size, unit),
        "1" => share(size),
        _ => number(size),
    };
    if value < 0.0 { format!("−{text}") } else { text }
}

/// A difference with its sign: `+12.3 ms`, `+∞`, in percentage points for shares.
#[must_use]
pub fn difference(value: f64, unit: &str) -> String {
    let size = if value.is_infinite() { "∞".into() } else { quantity(value.abs(), unit) };
    let sign = sign(value);
    match unit {
        "1" => format!("{sign}{} points", size.trim_end_matches(" %")),
        _ => format!("{sign}{size}"),
    }
}

/// A relative difference in percent: `+8.74 %`, `+(< 0.01 %)`, and from ten times the base on `+78.4 ×`.
#[must_use]
pub fn relative(percent: f64) -> String {
    let (size, sign) = (percent.abs(), sign(percent));
    if 0.0 < size && size < LEAST_PERCENT {
        format!("{sign}(< {LEAST_PERCENT} %)")
    } else if size >= 1000.0 {
        format!("{sign}{} ×", digits(size / 100.0))
    } else {
        format!("{sign}{} %", plain(size, if size >= 0.1 { 3 } else { 1 }))
    }
}

/// A relative difference in percent without its unit: `24.1`, `<0.1`, and with a sign where it is `signed`, `+121`. 0.01 is a percent.
#[must_use]
pub fn percents(value: f64, signed: bool) -> String {
    let size = (100.0 * value).abs();
    let text = match size {
        f64::INFINITY => "∞".into(),
        ..NO_PERCENT => return "0".into(),
        ..0.05 => return if signed && value < 0.0 { ">−0.1".into() } else { "<0.1".into() },
        ..99.95 => format!("{size:.1}"),
        _ => count(size),
    };
    if signed { format!("{}{text}", sign(value)) } else { text }
}

/// An interval in one unit: `305 … 319 ms`, `−0.400 … +1.31 s`. `of` is the estimate, which sets the unit of the ends unless it is far
/// smaller than one. Only a `signed` one, of a difference, goes below zero.
#[must_use]
pub fn interval(low: f64, high: f64, unit: &str, of: Option<f64>, signed: bool) -> String {
    let low = if signed { low } else { low.max(0.0) };
    if low == 0.0 && high == 0.0 {
        return "0".into();
    }
    let larger = low.abs().max(high.abs());
    let sets = of.filter(|of| *of != 0.0 && 10.0 * of.abs() >= larger).unwrap_or(larger);
    let (scale, name) = match (unit, sets.abs()) {
        ("s", 600.0..f64::INFINITY) => (60.0, "min"),
        (_, size) => scale_of(unit, |least| size >= 0.9995 * least),
    };
    let is_scaled = matches!(unit, "s" | "bit/s" | "B") && low.is_finite() && high.is_finite();
    let written = |end: f64| match (is_scaled, signed) {
        (true, true) => format!("{}{} {name}", sign(end), short(end.abs() / scale)),
        (true, false) => format!("{} {name}", short(end.abs() / scale)),
        (false, true) => difference(end, unit),
        (false, false) => quantity(end, unit),
    };
    let (first, last) = (written(low), written(high));
    let alone = first.rsplit_once(' ').filter(|(_, name)| low == 0.0 || last.ends_with(&format!(" {name}")));
    format!("{} … {last}", alone.map_or(&*first, |(number, _)| number))
}

/// An estimate and its margin in one unit, `473.0 ± 9.8 ms`, the margin with two significant digits. `signed` is a difference. Any other
/// quantity does not go below zero, and an interval that would ends there: `21 s (0 … 52 s)`.
#[must_use]
pub fn with_margin(value: f64, margin: f64, unit: &str, signed: bool) -> String {
    if !signed && margin > value {
        let ends = interval(value - margin, value + margin, unit, None, false);
        return format!("{} ({ends})", quantity(value, unit));
    }
    let largest = value.abs().max(margin);
    let (scale, name) = scale_of(unit, |least| largest >= least);
    let name = if signed && unit == "1" { "points" } else { name };
    let (value, margin, largest) = (value / scale, margin / scale, largest / scale);
    let finest = MOST_DIGITS - 1 - if largest > 0.0 { magnitude(largest) } else { 0 };
    let wanted = match (margin > 0.0, value == 0.0) {
        (true, _) => 1 - magnitude(margin),
        (false, false) => 2 - magnitude(value),
        (false, true) => 0,
    };
    let places = wanted.min(finest).max(0) as usize;
    let mut width = by_thousands(&format!("{margin:.places$}"));
    if width.bytes().all(|digit| matches!(digit, b'0' | b'.')) {
        width = plain(margin, 1); // none, or narrower than the digits that are shown
    }
    let plus = if signed && !value.is_sign_negative() { "+" } else { "" };
    let text = by_thousands(&format!("{value:.places$}")).replace('-', "−");
    format!("{plus}{text} ± {width} {name}").trim_end().to_owned()
}

/// The largest unit whose size `suits`, or the smallest, and its size.
fn scale_of(unit: &str, suits: impl Fn(f64) -> bool) -> (f64, &'static str) {
    let scales: &[(f64, &str)] = match unit {
        "s" => &[(1e-6, "µs"), (1e-3, "ms"), (1.0, "s")],
        "1" => &[(1e-2, "%")],
        "bit/s" => &[(1.0, "bit/s"), (1e3, "kbit/s"), (1e6, "Mbit/s"), (1e9, "Gbit/s")],
        "B" => &[(1.0, "B"), (1e3, "kB"), (1e6, "MB"), (1e9, "GB")],
        _ => &[(1.0, "")],
    };
    scales.iter().rev().find(|(least, _)| suits(*least)).copied().unwrap_or(scales[0])
}

/// A number of an interval: three significant digits, one below a hundredth.
fn short(value: f64) -> String {
    if value >= 0.01 || value == 0.0 { number(value) } else { plain(value, 1) }
}

const fn sign(value: f64) -> &'static str {
    if value > 0.0 {
        "+"
    } else if value < 0.0 {
        "−"
    } else {
        ""
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_have_a_sign_and_shares_points() {
        assert_eq!(difference(0.0123, "s"), "+12.3 ms");
        assert_eq!(difference(-0.25, "1"), "−25 points");
        assert_eq!(difference(f64::INFINITY, "s"), "+∞");
        assert_eq!([8.74, -0.001, 7840.0, 0.0].map(relative), ["+8.74 %", "−(< 0.01 %)", "+78.4 ×", "0 %"]);
        let said = [0.241, -0.0004, 0.00001, 1.21].map(|value| percents(value, true));
        assert_eq!(said, ["+24.1", ">−0.1", "0", "+121"]);
    }

    #[test]
    fn both_ends_of_an_interval_and_a_margin_have_the_unit_of_the_estimate() {
        assert_eq!(interval(0.305, 0.319, "s", None, false), "305 … 319 ms");
        assert_eq!(interval(-0.4, 1.31, "s", None, true), "−0.400 … +1.31 s");
        assert_eq!(interval(-1.0, 4e3, "s", Some(900.0), false), "0 … 66.7 min");
        assert_eq!(interval(0.1, f64::INFINITY, "s", None, false), "100 ms … more than any that ended");
        assert_eq!(with_margin(0.473, 0.0098, "s", false), "473.0 ± 9.8 ms");
        assert_eq!(with_margin(21.0, 31.0, "s", false), "21 s (0 … 52 s)");
        assert_eq!(with_margin(-0.02, 0.001, "1", true), "−2.00 ± 0.10 points");
    }
}
