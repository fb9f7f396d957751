//! Numbers as a person reads them: three significant digits and a unit.

use crate::units::Duration;

/// A rate in bit/s: `34.4 Mbit/s`.
pub(super) fn rate(bps: f64) -> String {
    scaled(bps, &[(1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")], "bit/s")
}

/// An amount in bytes: `516 kB`.
pub(super) fn bytes(bytes: f64) -> String {
    scaled(bytes, &[(1e9, "GB"), (1e6, "MB"), (1e3, "kB")], "B")
}

/// A span: `60 ms`, `0.349 ms`. Milliseconds down to a microsecond, as delays are given.
pub(super) fn span(span: Duration) -> String {
    match span.as_nanos() as f64 {
        0.0 => "0 ms".to_owned(),
        nanos if nanos < 1e3 => format!("{nanos} ns"),
        nanos if nanos < 1e9 => format!("{} ms", digits(nanos / 1e6)),
        nanos => format!("{} s", digits(nanos / 1e9)),
    }
}

/// A share of 1: `49.7 %`.
pub(super) fn percent(share: f64) -> String {
    format!("{} %", digits(share * 100.0))
}

/// A sentence as indented lines of at most 98 columns, the second one on further in.
pub(super) fn wrapped(sentence: &str) -> String {
    let (mut text, mut line) = (String::new(), String::from(" "));
    for word in sentence.split(' ') {
        if line.chars().count() + 1 + word.chars().count() > 98 {
            text.push_str(&line);
            text.push('\n');
            line = String::from("   ");
        }
        line.push(' ');
        line.push_str(word);
    }
    text + &line + "\n"
}

fn scaled(value: f64, units: &[(f64, &str)], smallest: &str) -> String {
    match units.iter().find(|(size, _)| value >= *size) {
        Some((size, unit)) => format!("{} {unit}", digits(value / size)),
        None => format!("{} {smallest}", digits(value)),
    }
}

/// Three significant digits, trailing zeros of a fraction left out.
fn digits(value: f64) -> String {
    let decimals = match value {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        v if v >= 0.9995 => 2,
        v if v >= 0.09995 => 3,
        _ => 4,
    };
    let text = format!("{value:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_and_the_unit_that_fits() {
        assert_eq!(rate(34_368_000.0), "34.4 Mbit/s");
        assert_eq!(rate(694_099.0), "694 kbit/s");
        assert_eq!(rate(999_999.0), "1000 kbit/s");
        assert_eq!(bytes(515_520.0), "516 kB");
        assert_eq!(span(Duration::from_millis(60)), "60 ms");
        assert_eq!(span(Duration::from_nanos(349_163)), "0.349 ms");
        assert_eq!(span(Duration::from_nanos(9_312)), "0.0093 ms");
        assert_eq!(span(Duration::from_nanos(12)), "12 ns");
        assert_eq!(span(Duration::ZERO), "0 ms");
        assert_eq!(percent(0.4966), "49.7 %");
        assert_eq!(percent(1.0), "100 %");
    }
}
