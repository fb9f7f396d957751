//! Times in a format of strftime(3), as Apache's and Squid's `%{…}t` take one, or of Java's `SimpleDateFormat`, as Tomcat's and
//! Jetty's do.
//!
//! A time ends where its format does, whatever stands behind it: `%T` holds no blank, `%d %b` one.

use std::borrow::Cow;

use super::values::number;
use super::when::{self, When};

const MONTHS: [&[u8]; 12] = [
    b"January",
    b"February",
    b"March",
    b"April",
    b"May",
    b"June",
    b"July",
    b"August",
    b"September",
    b"October",
    b"November",
    b"December",
];

const DAYS: [&[u8]; 7] =
    [b"Sunday", b"Monday", b"Tuesday", b"Wednesday", b"Thursday", b"Friday", b"Saturday"];

/// Parts of a time, as far as they have been read.
#[derive(Debug, Default)]
struct Parts {
    unix_s: Option<u64>,
    year: Option<u64>,
    month: Option<u64>,
    day: Option<u64>,
    hour: Option<u64>,
    afternoon: Option<bool>,
    minute: u64,
    second: u64,
    nanos: Option<i64>,
    zone_s: Option<i64>,
    /// A zone has a name that does not say its offset.
    is_zone_unknown: bool,
}

/// `format` with conversions that stand for several written out.
///
/// # Errors
/// The unknown conversion, or the missing part of a time.
pub(super) fn expanded(format: &[u8]) -> Result<Vec<u8>, String> {
    let mut all = Vec::new();
    let format = of_java(format);
    let mut rest = &*format;
    while let Some((byte, behind)) = rest.split_first() {
        rest = behind;
        if *byte != b'%' {
            all.push(*byte);
            continue;
        }
        // Flags and widths say how a number is padded.
        let flags = rest.iter().take_while(|byte| b"-_0^#EO123456789".contains(byte)).count();
        let conversion = rest.get(flags).copied().unwrap_or_default();
        rest = rest.get(flags + 1..).unwrap_or_default();
        match conversion {
            b'T' => all.extend(b"%H:%M:%S"),
            b'R' => all.extend(b"%H:%M"),
            b'r' => all.extend(b"%I:%M:%S %p"),
            b'F' => all.extend(b"%Y-%m-%d"),
            b'D' => all.extend(b"%m/%d/%y"),
            b'c' => all.extend(b"%a %b %e %H:%M:%S %Y"),
            b'P' => all.extend(b"%p"),
            b'n' | b't' => all.push(b' '),
            b'h' | b'B' => all.extend(b"%b"),
            b'A' => all.extend(b"%a"),
            b'e' | b'k' | b'l' => all.extend([b'%', conversion]),
            b'N' => all.extend(b"%f"),
            b'a' | b'b' | b'd' | b'm' | b'y' | b'Y' | b'H' | b'I' | b'p' | b'M' | b'S' | b's' | b'f'
            | b'z' | b'Z' | b'%' => all.extend([b'%', conversion]),
            _ => {
                let conversion = String::from_utf8_lossy(&[conversion]).into_owned();
                return Err(format!("strftime's %{conversion} is not read"));
            }
        }
    }
    Ok(all)
}

/// A format of Java in conversions of strftime, without Jetty's zone behind a bar; any other as it is.
fn of_java(format: &[u8]) -> Cow<'_, [u8]> {
    const LETTERS: [(&[u8], &[u8]); 15] = [
        (b"yyyy", b"%Y"),
        (b"MMM", b"%b"),
        (b"MM", b"%m"),
        (b"EEE", b"%a"),
        (b"dd", b"%d"),
        (b"HH", b"%H"),
        (b"hh", b"%I"),
        (b"a", b"%p"),
        (b"mm", b"%M"),
        (b"ss", b"%S"),
        (b"SSS", b"%f"),
        (b"Z", b"%z"),
        (b"ZZZ", b"%z"),
        (b"XXX", b"%z"),
        (b"z", b"%Z"),
    ];
    if format.contains(&b'%') || !format.windows(4).any(|year| year == b"yyyy") {
        return Cow::Borrowed(format);
    }
    let format = format.split(|byte| *byte == b'|').next().unwrap_or_default();
    let written = |letters: &[u8]| match LETTERS.iter().find(|(known, _)| *known == letters) {
        Some((_, conversion)) => conversion.to_vec(),
        None => letters.iter().copied().filter(|byte| *byte != b'\'').collect(),
    };
    Cow::Owned(format.chunk_by(|one, other| one == other).flat_map(written).collect())
}

/// The part of a time missing in an expanded format.
pub(super) fn lacks(format: &[u8]) -> Option<&'static str> {
    let has = |conversions: &[u8]| {
        conversions.iter().any(|wanted| format.windows(2).any(|pair| pair == [b'%', *wanted]))
    };
    let needs: [(&[u8], _); 5] = [
        (b"yY", "the year"),
        (b"bm", "the month"),
        (b"de", "the day"),
        (b"HIkl", "the hour"),
        (b"M", "the minute"),
    ];
    let lacking = || needs.iter().find(|(conversions, _)| !has(conversions)).map(|(_, what)| *what);
    if has(b"s") { None } else { lacking() }
}

/// The time at the beginning of `text` in an expanded format, and its length.
pub(super) fn read(format: &[u8], text: &[u8]) -> Option<(When, usize)> {
    let mut parts = Parts::default();
    let mut rest = text;
    let mut at = 0;
    while let Some(byte) = format.get(at) {
        at += 1;
        rest = match (byte, format.get(at)) {
            (b'%', Some(conversion)) => {
                at += 1;
                // A fraction may follow seconds unless the format goes on with one itself.
                let open = !matches!(format.get(at), Some(b'.' | b','));
                parts.take(*conversion, open, rest)?
            }
            (b' ', _) => {
                let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
                rest.get(blanks..).filter(|_| blanks > 0)?
            }
            (byte, _) => rest.strip_prefix(&[*byte])?,
        };
    }
    Some((parts.when()?, text.len() - rest.len()))
}

impl Parts {
    /// Takes the value of a conversion from the beginning of `text` and returns the rest.
    fn take<'a>(&mut self, conversion: u8, open: bool, text: &'a [u8]) -> Option<&'a [u8]> {
        let (value, rest) = match conversion {
            b'Y' => digits(text, 4, 4)?,
            b's' => digits(text, 9, 10)?,
            b'd' | b'm' | b'y' | b'H' | b'I' | b'M' | b'S' => digits(text, 2, 2)?,
            b'e' | b'k' | b'l' => digits(text.trim_ascii_start(), 1, 2)?,
            _ => (0, text),
        };
        match conversion {
            b'Y' => self.year = Some(value),
            b'y' => self.year = Some(if value < 69 { 2000 + value } else { 1900 + value }),
            b'm' => self.month = Some(value),
            b'd' | b'e' => self.day = Some(value),
            b'H' | b'k' => self.hour = Some(value).filter(|hour| *hour < 24),
            b'I' | b'l' => self.hour = Some(value % 12).filter(|_| (1..=12).contains(&value)),
            b'M' => self.minute = Some(value).filter(|minute| *minute < 60)?,
            b's' => self.unix_s = Some(value),
            b'S' => {
                self.second = Some(value).filter(|second| *second <= 60)?;
                if open && matches!(rest.first(), Some(b'.' | b',')) {
                    return self.take(b'f', false, &rest[1..]);
                }
            }
            b'f' => {
                let end = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
                self.nanos = Some(when::decimals(text.get(..end).filter(|digits| !digits.is_empty())?, 9)?);
                return Some(&text[end..]);
            }
            b'a' => return named(&DAYS, text).map(|(_, rest)| rest),
            b'b' => {
                let (month, rest) = named(&MONTHS, text)?;
                self.month = Some(month as u64 + 1);
                return Some(rest);
            }
            b'p' => {
                let (half, rest) = text.split_at_checked(2)?;
                self.afternoon = Some(half.eq_ignore_ascii_case(b"pm"));
                return (self.afternoon == Some(true) || half.eq_ignore_ascii_case(b"am")).then_some(rest);
            }
            b'z' => {
                let length = match text {
                    [b'Z' | b'z', ..] => 1,
                    [_, _, _, b':', ..] => 6,
                    _ => 5,
                };
                let (zone, rest) = text.split_at_checked(length)?;
                self.zone_s = Some(if length == 1 { 0 } else { when::zone_seconds(zone)? });
                return Some(rest);
            }
            b'Z' => {
                let length = text.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
                match &text[..length] {
                    b"" => return None,
                    b"UTC" | b"GMT" | b"Z" => self.zone_s = self.zone_s.or(Some(0)),
                    _ => self.is_zone_unknown = true,
                }
                return Some(&text[length..]);
            }
            _ => return text.strip_prefix(b"%"),
        }
        Some(rest)
    }

    fn when(&self) -> Option<When> {
        let (nanos, whole) = (self.nanos.unwrap_or(0), self.nanos.is_none());
        if let Some(seconds) = self.unix_s {
            return when::of_seconds(seconds, nanos, Some(0), whole);
        }
        if self.is_zone_unknown && self.zone_s.is_none() {
            return None;
        }
        let hour = self.hour? + if self.afternoon == Some(true) { 12 } else { 0 };
        let seconds = when::day(self.year?, self.month?, self.day?)?;
        let clock = (hour * 60 + self.minute) * 60 + self.second;
        when::of_seconds(seconds + clock, nanos, self.zone_s, whole)
    }
}

/// The number at the beginning of `text`, of `least` to `most` digits, and the rest.
fn digits(text: &[u8], least: usize, most: usize) -> Option<(u64, &[u8])> {
    let end = text.iter().take(most).take_while(|byte| byte.is_ascii_digit()).count();
    (end >= least).then(|| number(&text[..end]).map(|value| (value, &text[end..])))?
}

/// Place of the name, whole or of three letters, at the beginning of `text`, and the rest.
fn named<'a>(names: &[&[u8]], text: &'a [u8]) -> Option<(usize, &'a [u8])> {
    let begins = |name: &[u8]| {
        text.get(..name.len()).filter(|start| start.eq_ignore_ascii_case(name)).map(|_| &text[name.len()..])
    };
    let mut found = names.iter().enumerate();
    found.find_map(|(at, name)| begins(name).or_else(|| begins(&name[..3])).map(|rest| (at, rest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(format: &str, text: &str) -> Option<(i64, Option<i64>, usize)> {
        let format = expanded(format.as_bytes()).unwrap();
        read(&format, text.as_bytes()).map(|(when, length)| (when.nanos, when.zone_s, length))
    }

    #[test]
    fn one_time_in_many_formats() {
        // `date -u -d '2024-10-10 13:55:36' +%s`.
        const S: i64 = 1_728_568_536 * 1_000_000_000;
        let rows = [
            ("%Y-%m-%d %T", "2024-10-10 13:55:36", S, None),
            ("%FT%T%z", "2024-10-10T15:55:36+02:00", S, Some(7200)),
            ("%d/%m/%Y:%H:%M:%S %z", "10/10/2024:13:55:36 +0000", S, Some(0)),
            ("%a %b %e %T.%f %Y", "Thu Oct 10 13:55:36.123456 2024", S + 123_456_000, None),
            ("%c", "Thu Oct 10 13:55:36 2024", S, None),
            ("%D %I:%M:%S %p", "10/10/24 01:55:36 PM", S, None),
            ("%d %B %Y %R", "10 October 2024 13:55", S - 36_000_000_000, None),
            ("%s.%f", "1728568536.250", S + 250_000_000, Some(0)),
            ("%a, %d %b %Y %T %Z", "Thu, 10 Oct 2024 13:55:36 GMT", S, Some(0)),
            ("%F %T %z %Z", "2024-10-10 15:55:36.5 +0200 CEST", S + 500_000_000, Some(7200)),
            ("%m/%d/%Y %l:%M:%S %P", "10/10/2024  1:55:36 pm", S, None),
            ("[dd/MM/yyyy:HH:mm:ss.SSS Z]", "[10/10/2024:13:55:36.250 +0000]", S + 250_000_000, Some(0)),
            ("dd/MMM/yyyy:HH:mm:ss ZZZ|GMT", "10/Oct/2024:15:55:36 +0200", S, Some(7200)),
            ("yyyy-MM-dd'T'HH:mm:ssXXX", "2024-10-10T15:55:36+02:00", S, Some(7200)),
            ("EEE MMM dd yyyy hh:mm:ss a z", "Thu Oct 10 2024 01:55:36 PM UTC", S, Some(0)),
        ];
        for (format, text, nanos, zone) in rows {
            assert_eq!(at(format, text), Some((nanos, zone, text.len())), "{format} of {text}");
            assert_eq!(at(format, &format!("{text}] x")).unwrap().2, text.len(), "it ends with its format");
        }
    }

    #[test]
    fn what_is_no_time_is_refused() {
        let rows = [
            ("%F %T", "2024-13-10 13:55:36"),
            ("%F %T", "2024-10-10 25:55:36"),
            ("%F %T", "2024-10-10"),
            ("%F %I:%M %p", "2024-10-10 13:55 PM"),
            ("%F %T %Z", "2024-10-10 13:55:36 CEST"),
            ("%b", "Oct"),
        ];
        for (format, text) in rows {
            assert_eq!(at(format, text), None, "{format} of {text}");
        }
        assert_eq!(expanded(b"%Q").unwrap_err(), "strftime's %Q is not read");
        assert_eq!(lacks(b"%H:%M:%S"), Some("the year"));
        assert_eq!(lacks(b"%s"), None);
    }
}
