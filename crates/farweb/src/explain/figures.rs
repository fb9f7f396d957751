//! Numbers of a scenario, which are set: three significant digits without zeros at the end.

use crate::units::Duration;
use crate::units::words::{self, brief};

/// A rate in bit/s: `34.4 Mbit/s`.
pub(super) fn rate(bps: f64) -> String {
    brief(&words::rate(bps))
}

/// An amount in bytes: `516 kB`.
pub(super) fn bytes(bytes: f64) -> String {
    brief(&words::scaled(bytes, "B"))
}

/// A span: `60 ms`, `0.349 ms`. Milliseconds down to a microsecond, as delays are given.
pub(super) fn span(span: Duration) -> String {
    match span.as_nanos() as f64 {
        0.0 => "0 ms".to_owned(),
        nanos if nanos < 1e3 => format!("{nanos} ns"),
        nanos if nanos < 1e9 => format!("{} ms", brief(&words::digits(nanos / 1e6))),
        nanos => format!("{} s", brief(&words::digits(nanos / 1e9))),
    }
}

/// A share of 1: `49.7 %`.
pub(super) fn percent(share: f64) -> String {
    format!("{} %", brief(&words::digits(share * 100.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_and_the_unit_that_fits() {
        assert_eq!(rate(34_368_000.0), "34.4 Mbit/s");
        assert_eq!(rate(694_099.0), "694 kbit/s");
        assert_eq!(rate(999_999.0), "1 Mbit/s");
        assert_eq!(bytes(515_520.0), "516 kB");
        assert_eq!(span(Duration::from_millis(60)), "60 ms");
        assert_eq!(span(Duration::from_nanos(349_163)), "0.349 ms");
        assert_eq!(span(Duration::from_nanos(9_312)), "0.00931 ms");
        assert_eq!(span(Duration::from_nanos(12)), "12 ns");
        assert_eq!(span(Duration::ZERO), "0 ms");
        assert_eq!(percent(0.4966), "49.7 %");
        assert_eq!(percent(1.0), "100 %");
    }
}
