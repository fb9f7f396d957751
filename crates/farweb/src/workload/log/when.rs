//! Times as logs write them: of the common log format, of ISO 8601 and RFC 9110, of ctime(3), and Unix times.

use super::values::{self, number};
use super::{SECOND, strftime};

/// A time of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct When {
    /// In ns since 1970, UTC, also of a time without a zone.
    pub nanos: i64,
    /// Offset of its zone from UTC, in s, positive to the east; `None` where none is written.
    pub zone_s: Option<i64>,
    /// True when no part of a second is written.
    pub whole: bool,
}

/// Start or end of the time to keep requests of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bound(When);

impl Bound {
    /// A date, a date and a time, or a time as a log writes it, without a zone by the clock of each line; seconds since the start of
    /// a log as `60s`.
    ///
    /// `None` when `text` is no such time.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let whole = match text.len() {
            10 if text.as_bytes()[4] == b'-' => format!("{text}T00:00:00"),
            16 if text.as_bytes()[4] == b'-' => format!("{text}:00"),
            _ => text.to_owned(),
        };
        let relative = || since_start(text.strip_suffix('s')?.as_bytes());
        parse(whole.as_bytes()).or_else(relative).map(Self)
    }

    pub(super) const fn is_since_start(&self) -> bool {
        values::is_since_start(self.0.nanos)
    }

    /// True when this comes before another bound, as far as both have a zone or none.
    pub(super) fn is_before(&self, other: &Self) -> bool {
        self.0.zone_s.is_some() != other.0.zone_s.is_some() || self.0.nanos < other.0.nanos
    }

    /// True when a request at `start` (ns since 1970) comes before this, in a log of the zone `zone_s`.
    pub(super) fn is_after(&self, start: i64, zone_s: Option<i64>) -> bool {
        match self.0.zone_s {
            Some(_) => start < self.0.nanos,
            None => start + zone_s.unwrap_or(0) * SECOND < self.0.nanos,
        }
    }
}

/// The time that `text` writes; brackets may stand around it.
pub(super) fn parse(text: &[u8]) -> Option<When> {
    let text = text.strip_prefix(b"[").unwrap_or(text);
    let text = text.strip_suffix(b"]").unwrap_or(text);
    match text {
        [_, _, b'/', ..] => common(text),
        [_, _, _, _, b'-' | b'/', ..] => iso(text),
        [first, ..] if first.is_ascii_alphabetic() => spelled(text),
        _ => unix(text),
    }
}

/// Seconds since the start of a log, in place of a time.
pub(super) fn since_start(text: &[u8]) -> Option<When> {
    values::since_start(text).map(|nanos| utc(nanos, !text.contains(&b'.')))
}

/// The time `nanos` after the start of a log.
pub(super) const fn since_start_by(nanos: u64) -> When {
    utc(nanos as i64, false)
}

/// True for `dd/mm/yyyy` or `mm/dd/yyyy` with a time: nothing says which.
pub(super) fn is_of_numbers_alone(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"[").unwrap_or(text);
    let shape =
        |(byte, shape): (&u8, &u8)| if *shape == b'0' { byte.is_ascii_digit() } else { byte == shape };
    text.len() > 10 && text.iter().zip(b"00/00/0000").all(shape)
}

/// True if a word is a date, the time of a day, a date with its time, or a Unix time with decimals: no name and no address.
pub(super) fn is_time(word: &[u8]) -> bool {
    const SHAPES: [&[u8]; 4] = [b"0000-00-00", b"0000/00/00", b"00/aaa/0000", b"00:00:00"];
    let fits = |shape: &&[u8]| {
        let one = |(byte, shape): (&u8, &u8)| match shape {
            b'0' => byte.is_ascii_digit(),
            b'a' => byte.is_ascii_alphabetic(),
            _ => byte == shape,
        };
        let behind = word.get(shape.len());
        word.len() >= shape.len()
            && word.iter().zip(*shape).all(one)
            && !behind.is_some_and(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'a'..=b'z'))
    };
    SHAPES.iter().any(fits) || word.contains(&b'.') && unix(word).is_some()
}

/// A time with the name of its month, as RFC 9110 and ctime(3) have it.
fn spelled(text: &[u8]) -> Option<When> {
    const FORMATS: [&[u8]; 5] = [
        b"%a, %d %b %Y %H:%M:%S %Z",
        b"%a, %d %b %Y %H:%M:%S %z",
        b"%a %b %e %H:%M:%S %Y",
        b"%a %b %e %H:%M:%S %Z %Y",
        b"%a %b %e %H:%M:%S %z %Y",
    ];
    let whole = |format: &&[u8]| strftime::read(format, text).filter(|(_, length)| *length == text.len());
    FORMATS.iter().find_map(whole).map(|(when, _)| when)
}

/// Unix time in s, or in ms, µs or ns when its whole part has 13, 16 or 19 digits.
fn unix(text: &[u8]) -> Option<When> {
    let point = text.iter().position(|byte| *byte == b'.').unwrap_or(text.len());
    let places = match point {
        13 => 3,
        16 => 6,
        19 => 9,
        _ => return values::unix_time(text).map(|nanos| utc(nanos, point == text.len())),
    };
    let (seconds, part) = text[..point].split_at(point - places);
    let below = text.get(point + 1..).map_or(Some(0), |below| decimals(below, 9 - places))?;
    let part = number(part)? as i64 * 10_i64.pow(9 - places as u32);
    Some(utc(values::unix_seconds(number(seconds)?)? + part + below, false))
}

const fn utc(nanos: i64, whole: bool) -> When {
    When { nanos, zone_s: Some(0), whole }
}

/// `dd/Mon/yyyy:HH:MM:SS.fff +zzzz`; fraction and zone may be missing.
fn common(text: &[u8]) -> Option<When> {
    const MONTHS: [&[u8]; 12] =
        [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];
    if text.len() < 20 || text[6] != b'/' || !matches!(text[11], b':' | b' ') {
        return None;
    }
    let month = MONTHS.iter().position(|name| *name == &text[3..6])? as u64 + 1;
    let seconds = day(number(&text[7..11])?, month, number(&text[..2])?)? + clock(&text[12..20])?;
    let (nanos, rest) = fraction(&text[20..])?;
    let zone_s = match rest {
        b"" => None,
        [b' ', zone @ ..] => Some(zone_seconds(zone)?),
        _ => return None,
    };
    of_seconds(seconds, nanos.unwrap_or(0), zone_s, nanos.is_none())
}

/// The part of a second at the beginning of `text`, in ns, and the rest, or `None` without one.
fn fraction(text: &[u8]) -> Option<(Option<i64>, &[u8])> {
    let [b'.' | b',', rest @ ..] = text else { return Some((None, text)) };
    let end = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    Some((Some(decimals(&rest[..end], 9)?), &rest[end..]))
}

/// `yyyy-mm-ddTHH:MM:SS.fffZ`; a blank may stand for the T, slashes for the hyphens, fraction and zone may be missing. Behind its
/// offset a zone may have its name, as Go writes it.
fn iso(text: &[u8]) -> Option<When> {
    let (seconds, nanos, zone_s) = iso_parts(text)?;
    of_seconds(seconds, nanos.unwrap_or(0), zone_s, nanos.is_none())
}

/// A time of ISO 8601 as [`iso`] reads it, from 1970 on, in µs of Unix time, UTC where it names no zone.
pub(crate) fn unix_us(text: &str) -> Option<i64> {
    let (seconds, nanos, zone_s) = iso_parts(text.as_bytes())?;
    Some((seconds as i64 - zone_s.unwrap_or(0)) * 1_000_000 + nanos.unwrap_or(0) / 1000)
}

/// Seconds from 1970 to a time of ISO 8601 in its zone, its part of a second in ns, and the zone.
fn iso_parts(text: &[u8]) -> Option<(u64, Option<i64>, Option<i64>)> {
    if text.len() < 19 || text[7] != text[4] || !matches!(text[10], b'T' | b't' | b' ' | b'_') {
        return None;
    }
    let date = any_day(number(&text[..4])?, number(&text[5..7])?, number(&text[8..10])?)?;
    let seconds = date + clock(&text[11..19])?;
    let (nanos, rest) = fraction(&text[19..])?;
    let mut words = rest.trim_ascii_start().splitn(2, |byte| *byte == b' ');
    let (zone, name) = (words.next().unwrap_or_default(), words.next());
    let zone_s = match zone {
        b"" => None,
        b"Z" | b"z" | b"UTC" | b"GMT" => Some(0),
        zone => Some(zone_seconds(zone)?),
    };
    if name.is_some_and(|name| name.is_empty() || !name.iter().all(u8::is_ascii_uppercase)) {
        return None;
    }
    Some((seconds, nanos, zone_s))
}

/// A time of `seconds` since 1970 in its zone and `nanos`.
pub(super) fn of_seconds(seconds: u64, nanos: i64, zone_s: Option<i64>, whole: bool) -> Option<When> {
    let utc = u64::try_from(seconds as i64 - zone_s.unwrap_or(0)).ok()?;
    Some(When { nanos: values::unix_seconds(utc)? + nanos, zone_s, whole })
}

/// Seconds from 1970 to a day of the Gregorian calendar from 1990 to 2254.
pub(super) fn day(year: u64, month: u64, day: u64) -> Option<u64> {
    any_day(year, month, day).filter(|_| (1990..=2254).contains(&year))
}

/// Seconds from 1970 to a day of the Gregorian calendar.
fn any_day(year: u64, month: u64, day: u64) -> Option<u64> {
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let days = days_since_1970(year, month - 1, day);
    let next = if month == 12 { (year + 1, 0) } else { (year, month) };
    (days < days_since_1970(next.0, next.1, 1)).then_some(days * 86_400)
}

/// `HH:MM:SS` in s; 60 is a leap second.
fn clock(text: &[u8]) -> Option<u64> {
    if text[2] != b':' || text[5] != b':' {
        return None;
    }
    let part = |from: usize, max: u64| number(&text[from..from + 2]).filter(|value| *value <= max);
    Some((part(0, 23)? * 60 + part(3, 59)?) * 60 + part(6, 60)?)
}

/// `+zzzz`, `+zz:zz` or `+zz` in s, at most 15 hours.
pub(super) fn zone_seconds(text: &[u8]) -> Option<i64> {
    let (sign, hours, minutes) = match text {
        [sign, a, b, c, d] | [sign, a, b, b':', c, d] => (sign, [*a, *b], [*c, *d]),
        [sign, a, b] => (sign, [*a, *b], *b"00"),
        _ => return None,
    };
    let minutes = number(&minutes).filter(|minutes| *minutes < 60)?;
    let seconds = (number(&hours).filter(|hours| *hours < 15)? * 60 + minutes) as i64 * 60;
    match sign {
        b'+' => Some(seconds),
        b'-' => Some(-seconds),
        _ => None,
    }
}

/// Digits after a point as a whole number of 10^-`places`; digits beyond those are left out.
pub(super) fn decimals(digits: &[u8], places: usize) -> Option<i64> {
    let digits = &digits[..digits.len().min(places)];
    let value = if digits.is_empty() { 0 } else { number(digits)? };
    Some((value * 10_u64.pow((places - digits.len()) as u32)) as i64)
}

/// Days from 1970-01-01 to a day of the Gregorian calendar; `month` from 0, `year` from 1970.
const fn days_since_1970(year: u64, month: u64, day: u64) -> u64 {
    const BEFORE_MONTH: [u64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    let leap = (year.is_multiple_of(4) && !year.is_multiple_of(100)) || year.is_multiple_of(400);
    let past = year - 1;
    let leap_days = past / 4 - past / 100 + past / 400 - 477;
    (year - 1970) * 365 + leap_days + BEFORE_MONTH[month as usize] + (leap && month > 1) as u64 + day - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(text: &str) -> Option<i64> {
        parse(text.as_bytes()).map(|when| when.nanos / SECOND)
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        // What `date -u -d … +%s` prints.
        assert_eq!(seconds("01/Jul/1995:00:00:01 -0400"), Some(804_571_201));
        assert_eq!(seconds("29/Feb/2000:23:59:59 +0000"), Some(951_868_799));
        assert_eq!(seconds("01/Mar/2000:00:00:00 +0000"), Some(951_868_800));
        assert_eq!(seconds("01/Mar/2100:00:00:00 +0000"), Some(4_107_542_400));
        assert_eq!(seconds("25/Oct/2015:04:11:25 +0100"), Some(1_445_742_685));
        assert_eq!(seconds("2016-12-31T23:59:60Z"), seconds("2017-01-01T00:00:00Z"), "a leap second");
        assert_eq!(seconds("31/Dec/1999:00:00:00"), Some(946_598_400));
        assert_eq!(seconds("[31/Dec/1999:00:00:00 +0000]"), Some(946_598_400));
        for wrong in [
            "1/Jul/1995:00:00:01 -0400",
            "31/Apr/1995:00:00:01 -0400",
            "29/Feb/1995:00:00:01 -0400",
            "2000-02-30T00:00:00Z",
            "2000-01-01T00:00:00+99:00",
            "2000-01-01T00:00:00+02:60",
            "01/jul/1995:00:00:01 -0400",
            "01/Jul/1995:24:00:01 -0400",
            "00/Jul/1995:00:00:01 -0400",
            "01/Jul/0095:00:00:01 -0400",
            "01/Jul/1995:00:00:01 EST",
            "",
            "2000-13-01T00:00:00Z",
            "2000-01-01T00:00:00+1",
            "2000-01-01X00:00:00",
            "2000-01-01",
        ] {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn one_time_in_all_its_forms() {
        let nanos = |text: &str| parse(text.as_bytes()).map(|when| (when.nanos, when.whole));
        for text in ["2015-10-25T03:11:25Z", "2015-10-25 03:11:25", "2015-10-25T04:11:25+01", "1445742685"] {
            assert_eq!(nanos(text), Some((1_445_742_685 * SECOND, true)), "{text}");
        }
        for text in
            ["2015-10-25T03:11:25.25Z", "2015-10-25T04:11:25,250+0100", "1445742685.25", "1445742685250"]
        {
            assert_eq!(nanos(text), Some((1_445_742_685 * SECOND + 250_000_000, false)), "{text}");
        }
        assert_eq!(nanos("1445742685250.5").unwrap().0 % SECOND, 250_500_000);
        for text in [
            "2015/10/25 03:11:25",
            "25/Oct/2015 03:11:25",
            "2015-10-25 05:11:25 +0200 CEST",
            "2015-10-25 03:11:25 UTC",
            "Sun, 25 Oct 2015 03:11:25 GMT",
            "Sun, 25 Oct 2015 05:11:25 +0200",
            "Sun Oct 25 03:11:25 2015",
            "[Sun Oct 25 03:11:25 UTC 2015]",
        ] {
            assert_eq!(nanos(text), Some((1_445_742_685 * SECOND, true)), "{text}");
        }
        let fine = ["2015/10/25 03:11:25.25", "Sun Oct 25 03:11:25.250000 2015"];
        assert_eq!(fine.map(|text| nanos(text).unwrap().0 % SECOND), [250_000_000; 2]);
        for wrong in ["2015-10/25 03:11:25", "2015-10-25 03:11:25 +0200 x", "Sun Oct 25 03:11:25 CET 2015"] {
            assert_eq!(nanos(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn times_of_iso_8601_are_read_from_1970_on() {
        let rows = [
            ("2015-10-25T04:11:25.2501239+01:00", Some(1_445_742_685_250_123)),
            ("2015-10-25T03:11:25", Some(1_445_742_685_000_000)),
            ("1970-01-01T00:00:00.000Z", Some(0)),
            ("1970-01-01T00:00:00+01:00", Some(-3_600_000_000)),
            ("9999-12-31T23:59:59Z", Some(253_402_300_799_000_000)),
            ("0001-01-01T00:00:00Z", None),
            ("1445742685", None),
            ("soon", None),
        ];
        for (text, us) in rows {
            assert_eq!(unix_us(text), us, "{text}");
        }
    }

    #[test]
    fn a_word_is_a_time_or_a_name() {
        for time in [
            "2024-05-10T10:00:00Z",
            "2024-05-10",
            "10:00:00.5",
            "10/May/2024",
            "1715335200.123",
            "2024/05/10",
        ] {
            assert!(is_time(time.as_bytes()), "{time}");
        }
        for name in ["192.0.2.9", "2001:db8::1", "2024-05-10-web", "web-1", "1715335200", "10:00", "12.5", ""]
        {
            assert!(!is_time(name.as_bytes()), "{name}");
        }
        assert!(
            is_of_numbers_alone(b"[10/05/2024:10:00:00 +0000")
                && !is_of_numbers_alone(b"10/May/2024:10:00:00")
        );
    }

    #[test]
    fn fractions_of_long_times_are_exact() {
        let nanos = |text: &str| parse(text.as_bytes()).map(|when| (when.nanos, when.whole));
        for text in [
            "25/Oct/2015:04:11:25.250 +0100",
            "25/Oct/2015:03:11:25.25",
            "1445742685250000",
            "1445742685250000000",
        ] {
            assert_eq!(nanos(text), Some((1_445_742_685 * SECOND + 250_000_000, false)), "{text}");
        }
        assert_eq!(nanos("1445742685250000001").unwrap().0 % SECOND, 250_000_001);
    }

    #[test]
    fn a_bound_without_a_zone_is_in_that_of_the_log() {
        let before = |bound: &str, zone_h: i64| {
            let start = parse(b"25/Oct/2015:04:11:25 +0100").unwrap().nanos;
            Bound::parse(bound).unwrap().is_after(start, Some(zone_h * 3600))
        };
        assert!(before("2015-10-25T04:11:26", 1) && !before("2015-10-25T04:11:25", 1));
        assert!(before("2015-10-25T03:11:26Z", 1) && !before("2015-10-25T03:11:25Z", 1));
        assert!(before("2015-10-26", 1) && !before("2015-10-25", 1) && before("2015-10-25 04:12", 1));
        assert!(Bound::parse("851000000.000000").is_some(), "as long as a date with hours and minutes");
        assert!(Bound::parse("yesterday").is_none() && Bound::parse("10:00").is_none());
    }
}
