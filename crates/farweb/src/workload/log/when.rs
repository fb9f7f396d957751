//! Times as logs write them: of the common log format, of ISO 8601, and Unix times.

use super::fields::{self, number};

const SECOND: i64 = 1_000_000_000;

/// A time of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct When {
    /// In ns since 1970, UTC; of a time without a zone as if its zone were UTC.
    pub nanos: i64,
    /// Offset of its zone from UTC, in s, positive to the east; `None` where none is written.
    pub zone_s: Option<i64>,
    /// True when no part of a second is written.
    pub whole: bool,
}

/// Time from which on, or until which, requests are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bound(When);

impl Bound {
    /// A date, a date and a time, or a time as a log writes it; without a zone in the zone of the log.
    ///
    /// `None` when `text` is no such time.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let whole = match text.len() {
            10 if text.as_bytes()[4] == b'-' => format!("{text}T00:00:00"),
            16 => format!("{text}:00"),
            _ => text.to_owned(),
        };
        parse(whole.as_bytes()).map(Self)
    }

    /// True when a request that starts at `start` (ns since 1970) does so before this, in a log whose zone is `zone_s`.
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
        [_, _, _, _, b'-', ..] => iso(text),
        _ => unix(text),
    }
}

/// Unix time in s, or in ms, µs or ns when its whole part has 13, 16 or 19 digits.
fn unix(text: &[u8]) -> Option<When> {
    let point = text.iter().position(|byte| *byte == b'.').unwrap_or(text.len());
    let places = match point {
        13 => 3,
        16 => 6,
        19 => 9,
        _ => return fields::unix_time(text).map(|nanos| utc(nanos, point == text.len())),
    };
    let (seconds, part) = text[..point].split_at(point - places);
    let below = text.get(point + 1..).map_or(Some(0), |below| decimals(below, 9 - places))?;
    let part = number(part)? as i64 * 10_i64.pow(9 - places as u32);
    Some(utc(fields::unix_seconds(number(seconds)?)? + part + below, false))
}

const fn utc(nanos: i64, whole: bool) -> When {
    When { nanos, zone_s: Some(0), whole }
}

/// `dd/Mon/yyyy:HH:MM:SS.fff +zzzz`; fraction and zone may be missing.
fn common(text: &[u8]) -> Option<When> {
    const MONTHS: [&[u8]; 12] =
        [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];
    if text.len() < 20 || text[6] != b'/' || text[11] != b':' {
        return None;
    }
    let month = MONTHS.iter().position(|name| *name == &text[3..6])? as u64 + 1;
    let seconds = day(&text[7..11], month, &text[..2])? + clock(&text[12..20])?;
    let (nanos, rest) = fraction(&text[20..])?;
    let zone_s = match rest {
        b"" => None,
        [b' ', zone @ ..] => Some(zone_seconds(zone)?),
        _ => return None,
    };
    when(seconds, nanos.unwrap_or(0), zone_s, nanos.is_none())
}

/// The part of a second with which `text` begins, in ns, and what follows; `None` without one.
fn fraction(text: &[u8]) -> Option<(Option<i64>, &[u8])> {
    let [b'.' | b',', rest @ ..] = text else { return Some((None, text)) };
    let end = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    Some((Some(decimals(&rest[..end], 9)?), &rest[end..]))
}

/// `yyyy-mm-ddTHH:MM:SS.fffZ`; a blank may stand for the T, fraction and zone may be missing.
fn iso(text: &[u8]) -> Option<When> {
    if text.len() < 19 || text[7] != b'-' || !matches!(text[10], b'T' | b't' | b' ' | b'_') {
        return None;
    }
    let seconds = day(&text[..4], number(&text[5..7])?, &text[8..10])? + clock(&text[11..19])?;
    let (nanos, rest) = fraction(&text[19..])?;
    let zone_s = match rest.trim_ascii_start() {
        b"" => None,
        b"Z" | b"z" => Some(0),
        zone => Some(zone_seconds(zone)?),
    };
    when(seconds, nanos.unwrap_or(0), zone_s, nanos.is_none())
}

fn when(seconds: u64, nanos: i64, zone_s: Option<i64>, whole: bool) -> Option<When> {
    let utc = u64::try_from(seconds as i64 - zone_s.unwrap_or(0)).ok()?;
    Some(When { nanos: fields::unix_seconds(utc)? + nanos, zone_s, whole })
}

/// Seconds from 1970 to a day of the Gregorian calendar from 1990 to 2254.
fn day(year: &[u8], month: u64, day: &[u8]) -> Option<u64> {
    let year = number(year).filter(|year| (1990..=2254).contains(year))?;
    let day = number(day).filter(|day| (1..=31).contains(day))?;
    (1..=12).contains(&month).then(|| days_since_1970(year, month - 1, day) * 86_400)
}

/// `HH:MM:SS` in s; 60 is a leap second.
fn clock(text: &[u8]) -> Option<u64> {
    if text[2] != b':' || text[5] != b':' {
        return None;
    }
    let part = |from: usize, max: u64| number(&text[from..from + 2]).filter(|value| *value <= max);
    Some((part(0, 23)? * 60 + part(3, 59)?) * 60 + part(6, 60)?)
}

/// `+zzzz` or `+zz:zz` in s.
fn zone_seconds(text: &[u8]) -> Option<i64> {
    let (sign, hours, minutes) = match text {
        [sign, a, b, c, d] | [sign, a, b, b':', c, d] => (sign, [*a, *b], [*c, *d]),
        _ => return None,
    };
    let seconds = (number(&hours)? * 60 + number(&minutes)?) as i64 * 60;
    match sign {
        b'+' => Some(seconds),
        b'-' => Some(-seconds),
        _ => None,
    }
}

/// Digits after a point as a whole number of 10^-`places`; digits beyond those are left out.
fn decimals(digits: &[u8], places: usize) -> Option<i64> {
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
        assert_eq!(seconds("31/Dec/1999:00:00:00"), Some(946_598_400));
        assert_eq!(seconds("[31/Dec/1999:00:00:00 +0000]"), Some(946_598_400));
        for wrong in [
            "1/Jul/1995:00:00:01 -0400",
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
        for text in ["2015-10-25T03:11:25Z", "2015-10-25 03:11:25", "2015-10-25T04:11:25+01:00", "1445742685"]
        {
            assert_eq!(nanos(text), Some((1_445_742_685 * SECOND, true)), "{text}");
        }
        for text in
            ["2015-10-25T03:11:25.25Z", "2015-10-25T04:11:25,250+0100", "1445742685.25", "1445742685250"]
        {
            assert_eq!(nanos(text), Some((1_445_742_685 * SECOND + 250_000_000, false)), "{text}");
        }
        assert_eq!(nanos("1445742685250.5").unwrap().0 % SECOND, 250_500_000);
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
        assert!(Bound::parse("yesterday").is_none() && Bound::parse("10:00").is_none());
    }
}
