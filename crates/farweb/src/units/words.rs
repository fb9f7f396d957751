//! Numbers with units in three significant digits, and times of day, for people.

/// Percent below which digits are noise. Chosen: one request of ten thousand.
const LEAST_PERCENT: f64 = 0.01;

/// Earliest Unix time of a log, 1990. Smaller ones count from the start of the log.
const FIRST_UNIX_S: f64 = 631_152_000.0;

/// A time in s, from µs to hours: `342 ms`, `5.21 s`, `2 h 46 min`.
#[must_use]
pub fn seconds(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        "0 s".to_owned()
    } else if size < 1e-3 {
        format!("{} µs", digits(value * 1e6))
    } else if size < 0.9995 {
        format!("{} ms", digits(value * 1e3))
    } else if size < 600.0 {
        format!("{} s", digits(value))
    } else {
        let minutes = (value / 60.0).round_ties_even();
        match minutes {
            ..120.0 => format!("{minutes} min"),
            _ => format!("{} h {:02} min", (minutes / 60.0).floor(), minutes.rem_euclid(60.0)),
        }
    }
}

/// A time of a run: on the clock of its log, or since the start of the run where it has none.
#[must_use]
pub fn began(time_s: f64, origin_unix_s: Option<f64>) -> String {
    origin_unix_s.map_or_else(|| seconds(time_s), |origin| moment(origin + time_s))
}

/// A time of a log, in s since 1970: its date, or the time since the start of a log that counts from there.
#[must_use]
pub fn moment(unix_s: f64) -> String {
    if unix_s < FIRST_UNIX_S {
        return format!("{} on the log's own clock", seconds(unix_s));
    }
    let second = ((unix_s * 1e6).round_ties_even() / 1e6).floor() as u64;
    let (year, month, day) = date(second / 86_400);
    let [hour, minute, second] = [second / 3600 % 24, second / 60 % 60, second % 60];
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

/// Year, month and day of a day since 1970 in the Gregorian calendar, with years that begin in March.
const fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let is_next = month >= 10;
    (era * 400 + year + is_next as u64, if is_next { month - 9 } else { month + 3 }, day)
}

/// A bit rate: `34.4 Mbit/s`.
#[must_use]
pub fn rate(bps: f64) -> String {
    scaled(bps, "bit/s")
}

/// A number of a unit, which powers of ten stand before: `12.3 kB`.
#[must_use]
pub fn scaled(mut value: f64, unit: &str) -> String {
    for prefix in ["", "k", "M", "G"] {
        if value.abs() < 999.5 {
            return format!("{} {prefix}{unit}", digits(value));
        }
        value /= 1000.0;
    }
    format!("{} T{unit}", digits(value))
}

/// A number as it is set, without separators and zeros at the end of a fraction, whatever follows it: `1.5 Mbit/s` of
/// `1.50 Mbit/s`.
#[must_use]
pub fn brief(text: &str) -> String {
    let (number, unit) = text.split_at(text.find(' ').unwrap_or(text.len()));
    let number = number.replace(',', "");
    match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.').to_owned() + unit,
        false => number + unit,
    }
}

/// A share of 0 to 1, in percent: `87.3 %`, or `< 0.01 %`.
#[must_use]
pub fn share(value: f64) -> String {
    let percent = value * 100.0;
    if percent > 0.0 && percent < LEAST_PERCENT {
        return format!("< {LEAST_PERCENT} %");
    }
    format!("{} %", digits(percent))
}

/// A number with so many significant digits, without zeros at its end.
#[must_use]
pub fn plain(value: f64, digits: i32) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if !value.is_finite() {
        return value.to_string();
    }
    let places = (digits - 1 - magnitude(value)).max(0) as usize;
    let text = format!("{value:.places$}");
    match places {
        0 => text,
        _ => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
    }
}

/// A whole number, by thousands: `117,635`.
#[must_use]
pub fn count(value: f64) -> String {
    by_thousands(&format!("{value:.0}"))
}

/// A number and its noun, in the plural unless it is 1: `3 tunnels`.
#[must_use]
pub fn plural(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(number as f64), if number == 1 { "" } else { "s" })
}

/// Three significant digits, by thousands, whole numbers below 1000 as they are.
#[must_use]
pub fn digits(value: f64) -> String {
    if value == value.round() && value.abs() < 1000.0 {
        return format!("{:.0}", value + 0.0);
    }
    let places = (2 - magnitude(value)).max(0) as usize;
    by_thousands(&format!("{value:.places$}"))
}

/// Power of ten of the first digit.
pub(super) fn magnitude(value: f64) -> i32 {
    libm::log10(value.abs()).floor() as i32
}

pub(super) fn by_thousands(number: &str) -> String {
    let whole = number.find('.').unwrap_or(number.len());
    let mut text = String::new();
    for (place, letter) in number.char_indices() {
        let is_group = place > 0 && place < whole && (whole - place).is_multiple_of(3);
        if is_group && number.as_bytes()[place - 1] != b'-' {
            text.push(',');
        }
        text.push(letter);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_and_the_unit_that_fits() {
        let times = [0.0, 4.567e-5, 0.3416, 1.0, 5.2149, 600.0, 9999.0];
        let said = ["0 s", "45.7 µs", "342 ms", "1 s", "5.21 s", "10 min", "2 h 47 min"];
        assert_eq!(times.map(seconds), said);
        let rates = [0.0, 999.4, 1004.0, 34_368_000.0, 1.5e15];
        assert_eq!(rates.map(|bps| scaled(bps, "B")), ["0 B", "999 B", "1.00 kB", "34.4 MB", "1,500 TB"]);
        assert_eq!(
            [0.0, 0.00009, 0.8727, 1.0, 12.0].map(share),
            ["0 %", "< 0.01 %", "87.3 %", "100 %", "1,200 %"]
        );
        assert_eq!(
            [0.0, 8.0, 1.5048, 1234.6, 0.00012].map(|value| plain(value, 3)),
            ["0", "8", "1.5", "1235", "0.00012"]
        );
        assert_eq!([-1234.5, 0.5, 117_635.0].map(count), ["-1,234", "0", "117,635"]);
        let moments = [867_726_002.519, 951_782_400.0, 4_102_444_799.0, 5.0].map(moment);
        assert_eq!(moments[0], "1997-07-01 03:00:02 UTC");
        assert_eq!(moments[1], "2000-02-29 00:00:00 UTC");
        assert_eq!(moments[2], "2099-12-31 23:59:59 UTC");
        assert_eq!(moments[3], "5 s on the log's own clock");
    }
}
