//! Logs of web servers: common and combined log format, and a tab-separated table of the same fields.
//!
//! A line is `host ident user [dd/Mon/yyyy:HH:MM:SS +zzzz] "METHOD URL PROTO" status bytes`; what follows (referer
//! and user agent in the combined format) is not looked at. A quote inside the request is either escaped by a
//! backslash or, in old logs, not at all; the protocol may be missing (HTTP/0.9) and a URL may hold blanks. `bytes`
//! is the size of the body, `-` for none. The table has a header line that names at least `host`, `time` (Unix
//! seconds), `method`, `url`, `response`, `bytes`.
//!
//! Times are whole seconds. Everything that a server answered crossed its link; a 304 and an answer without a body
//! did so as a header only.
//!
//! Source: Apache HTTP Server 2.4, `mod_log_config`; W3C, "Logging in W3C httpd" (1995).

use super::fields::{self, wrong};
use super::{Entry, Keep, LOG_HEADER_BYTES, LogOptions, Reason, Verdict};

/// Fields of the tab-separated table, as its header line names them.
const COLUMNS: [&str; 6] = ["host", "time", "method", "url", "response", "bytes"];

/// Where each of [`COLUMNS`] stands in a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Columns([usize; COLUMNS.len()]);

/// The columns that `line` names, if it is the header line of a tab-separated table.
pub(super) fn columns(line: &[u8]) -> Option<Columns> {
    let mut places = [0; COLUMNS.len()];
    for (place, column) in places.iter_mut().zip(COLUMNS) {
        *place = line.split(|byte| *byte == b'\t').position(|name| name == column.as_bytes())?;
    }
    Some(Columns(places))
}

/// What a line of a tab-separated table says.
///
/// # Errors
/// Why it is no line of the table.
pub(super) fn parse_row<'a>(
    line: &'a [u8],
    columns: Columns,
    options: &'a LogOptions,
) -> Result<Verdict<'a>, String> {
    let mut cells = [&line[..0]; COLUMNS.len()];
    let mut found = 0;
    for (place, cell) in line.split(|byte| *byte == b'\t').enumerate() {
        if let Some(column) = columns.0.iter().position(|column| *column == place) {
            cells[column] = cell;
            found += 1;
        }
    }
    if found < COLUMNS.len() {
        return Err("has fewer fields than the header line".into());
    }
    let [_, time, method, url, response, bytes] = cells;
    let start = fields::unix_time(time).ok_or_else(|| wrong("time", time, "a Unix time since 1990"))?;
    // The batch spreads the requests of a second over it, so a start is a whole one.
    let start = start - start % 1_000_000_000;
    verdict(start, response, bytes, options, || Ok((method, url)))
}

/// What a line of the common or combined log format says.
///
/// # Errors
/// Why it is no such line.
pub(super) fn parse<'a>(line: &'a [u8], options: &'a LogOptions) -> Result<Verdict<'a>, String> {
    let open = line.windows(2).position(|window| window == b" [").ok_or("has no [date]")?;
    let rest = &line[open + 2..];
    let close = rest.iter().position(|byte| *byte == b']').ok_or("has a date without ]")?;
    let start =
        date(&rest[..close]).ok_or_else(|| wrong("date", &rest[..close], "dd/Mon/yyyy:HH:MM:SS +zzzz"))?;
    let quoted = rest[close + 1..].strip_prefix(b" \"").ok_or("has no \"request\" after the date")?;
    let (request, status, bytes) = request(quoted).ok_or("has no status and bytes after the \"request\"")?;
    verdict(start, status, bytes, options, || method_and_url(request))
}

fn verdict<'a>(
    start: i64,
    status: &[u8],
    bytes: &[u8],
    options: &'a LogOptions,
    request: impl FnOnce() -> Result<(&'a [u8], &'a [u8]), String>,
) -> Result<Verdict<'a>, String> {
    let status = fields::number(status)
        .filter(|status| *status < 1000)
        .ok_or_else(|| wrong("status", status, "a number of three digits"))?;
    let body = if bytes == b"-" { Some(0) } else { fields::bytes(bytes) };
    let body = body.ok_or_else(|| wrong("bytes", bytes, "a number of bytes from 0 to 2^53, or -"))?;
    if !(200..400).contains(&status) {
        return Ok(Verdict::Dropped(Reason::NotSuccessful));
    }
    match (body, status) {
        (0, 304) if options.keep == Keep::Misses => return Ok(Verdict::Dropped(Reason::Revalidation)),
        (0, 304) | (1.., _) => {}
        (0, _) => return Ok(Verdict::Dropped(Reason::ZeroBytes)),
    }
    let (method, url) = request()?;
    let host = options.server_name.as_str();
    let estimate = || fields::request_bytes(method, url, host.as_bytes());
    Ok(Verdict::Request(Entry {
        start,
        host: host.into(),
        url,
        request_bytes: options.request_bytes.unwrap_or_else(estimate),
        response_bytes: body + LOG_HEADER_BYTES,
        server: None,
    }))
}

/// Request, status and bytes of `request" status bytes …`.
fn request(quoted: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let mut escaped = false;
    for (at, byte) in quoted.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            // The quote that ends the request is followed by a status; others are part of an old log's URL.
            b'"' => {
                let mut rest = quoted[at + 1..].split(|byte| *byte == b' ');
                let (blank, status, bytes) = (rest.next()?, rest.next(), rest.next());
                if let (b"", Some(status @ [b'0'..=b'9', _, _]), Some(bytes)) = (blank, status, bytes) {
                    return Some((&quoted[..at], status, bytes));
                }
            }
            _ => {}
        }
    }
    None
}

/// Method and URL of `METHOD URL PROTO`; the protocol may be missing.
fn method_and_url(request: &[u8]) -> Result<(&[u8], &[u8]), String> {
    let blank = request.iter().position(|byte| *byte == b' ').unwrap_or(request.len());
    let method = &request[..blank];
    if blank == request.len() || method.is_empty() || !method.iter().all(u8::is_ascii_alphabetic) {
        return Err(wrong("request", request, "a method and a URL"));
    }
    let rest = request[blank..].trim_ascii();
    let last = rest.iter().rposition(|byte| *byte == b' ').unwrap_or(0);
    let has_protocol = last > 0 && rest[last + 1..].starts_with(b"HTTP/");
    let url = if has_protocol { rest[..last].trim_ascii() } else { rest };
    if url.is_empty() { Err(wrong("request", request, "a method and a URL")) } else { Ok((method, url)) }
}

/// `dd/Mon/yyyy:HH:MM:SS +zzzz` as ns since 1970; a missing zone means UTC.
fn date(text: &[u8]) -> Option<i64> {
    const MONTHS: [&[u8]; 12] =
        [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];
    let separators = [(2, b'/'), (6, b'/'), (11, b':'), (14, b':'), (17, b':')];
    if text.len() < 20 || separators.iter().any(|(at, byte)| text[*at] != *byte) {
        return None;
    }
    let number = |from: usize, to: usize, max: u64| fields::number(&text[from..to]).filter(|n| *n <= max);
    let month = MONTHS.iter().position(|name| *name == &text[3..6])? as u64;
    let (day, year) =
        (number(0, 2, 31).filter(|day| *day > 0)?, number(7, 11, 2254).filter(|year| *year >= 1990)?);
    // 60 is a leap second.
    let (hour, minute, second) = (number(12, 14, 23)?, number(15, 17, 59)?, number(18, 20, 60)?);
    let offset = match &text[20..] {
        b"" => 0,
        [b' ', sign @ (b'+' | b'-'), zone @ ..] if zone.len() == 4 => {
            let minutes = fields::number(&zone[..2])? * 60 + fields::number(&zone[2..])?;
            if *sign == b'-' { -(minutes as i64) } else { minutes as i64 }
        }
        _ => return None,
    };
    let seconds = ((days_since_1970(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
    fields::unix_seconds((seconds as i64 - offset * 60).try_into().ok()?)
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

    #[test]
    fn dates_are_those_of_the_calendar() {
        let seconds = |text: &str| date(text.as_bytes()).map(|nanos| nanos / 1_000_000_000);
        // What `date -u -d … +%s` prints.
        assert_eq!(seconds("01/Jul/1995:00:00:01 -0400"), Some(804_571_201));
        assert_eq!(seconds("29/Feb/2000:23:59:59 +0000"), Some(951_868_799));
        assert_eq!(seconds("01/Mar/2000:00:00:00 +0000"), Some(951_868_800));
        assert_eq!(seconds("01/Mar/2100:00:00:00 +0000"), Some(4_107_542_400));
        assert_eq!(seconds("25/Oct/2015:04:11:25 +0100"), Some(1_445_742_685));
        assert_eq!(seconds("31/Dec/1999:00:00:00"), Some(946_598_400));
        for wrong in ["1/Jul/1995:00:00:01 -0400", "01/jul/1995:00:00:01 -0400", "01/Jul/1995:24:00:01 -0400"]
        {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
        for wrong in
            ["00/Jul/1995:00:00:01 -0400", "01/Jul/0095:00:00:01 -0400", "01/Jul/1995:00:00:01 EST", ""]
        {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
    }
}
