//! Common rules for fields of all logs: numbers, times, URLs, and the estimated size of a request.

use std::net::Ipv6Addr;

use super::when::is_time;
use super::{BYTES_MAX, SECOND};
use crate::workload::lines::quoted;

/// Earliest and latest time that a log may hold, in s since 1970: 1990-01-01, before the first web server, and 2255,
/// when int64 ns end soon. Chosen: anything outside is not the time of a request.
const UNIX_SECONDS: std::ops::Range<u64> = 631_152_000..9_000_000_000;

/// Headers of a request besides its first line and `Host`, in bytes: User-Agent, the Accept lists, Referer. Chosen for
/// a median request of a proxy log near 270 B (three logs of 2006 to 2010 gave 271, 272 and 285 B), the middle of
/// browsers of 1997 (190 to 350 B).
pub(super) const OTHER_HEADERS: usize = 205;

/// Error for a line with the value `found` of `field`.
pub(super) fn wrong(field: &str, found: &[u8], allowed: &str) -> String {
    format!("{field}: found {}, not {allowed}", quoted(found))
}

/// A number of digits only, below 2^63.
pub(super) fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || digits.len() > 18 {
        return None;
    }
    digits.iter().try_fold(0, |number, byte| {
        let digit = byte.wrapping_sub(b'0');
        (digit < 10).then(|| number * 10 + u64::from(digit))
    })
}

/// A number of bytes, up to 2^53.
pub(super) fn bytes(digits: &[u8]) -> Option<u64> {
    number(digits).filter(|bytes| *bytes <= BYTES_MAX)
}

/// A Unix time with up to nine decimals, in ns since 1970.
pub(super) fn unix_time(text: &[u8]) -> Option<i64> {
    let (seconds, nanos) = seconds_and_nanos(text)?;
    in_range(seconds).map(|seconds| seconds * SECOND + nanos)
}

/// Seconds since the start of a log with up to nine decimals, fewer than any Unix time has, in ns.
pub(super) fn since_start(text: &[u8]) -> Option<i64> {
    let (seconds, nanos) = seconds_and_nanos(text)?;
    (seconds < UNIX_SECONDS.start).then(|| seconds as i64 * SECOND + nanos)
}

/// True for such a time, in ns, and false for one since 1970.
pub(super) const fn is_since_start(nanos: i64) -> bool {
    nanos < UNIX_SECONDS.start as i64 * SECOND
}

fn seconds_and_nanos(text: &[u8]) -> Option<(u64, i64)> {
    let point = text.iter().position(|byte| *byte == b'.').unwrap_or(text.len());
    let (whole, fraction) = (&text[..point], text.get(point + 1..).unwrap_or(b"0"));
    let scale = 10_i64.checked_pow(9_u32.checked_sub(fraction.len() as u32)?)?;
    Some((number(whole)?, number(fraction)? as i64 * scale))
}

/// `seconds` since 1970 as ns, when a request may have that time.
pub(super) fn unix_seconds(seconds: u64) -> Option<i64> {
    in_range(seconds).map(|seconds| seconds * SECOND)
}

fn in_range(seconds: u64) -> Option<i64> {
    UNIX_SECONDS.contains(&seconds).then_some(seconds as i64)
}

/// Host and path of an absolute URL; the host without user and port, the path at least `/`. A path may have another URL in its query.
pub(super) fn host_and_path(url: &[u8]) -> Option<(&[u8], &[u8])> {
    let is_of_scheme = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+-._".contains(byte);
    let scheme = url.iter().take_while(is_of_scheme).count();
    if scheme == 0 || !url[scheme..].starts_with(b"://") {
        return None;
    }
    let rest = &url[scheme + 3..];
    let end = rest.iter().position(|byte| matches!(byte, b'/' | b'?' | b'#')).unwrap_or(rest.len());
    let path = if end < rest.len() { &rest[end..] } else { b"/" };
    host(&rest[..end]).map(|host| (host, path))
}

/// Host of `user@host:port`.
pub(super) fn host(authority: &[u8]) -> Option<&[u8]> {
    let from = authority.iter().rposition(|byte| *byte == b'@').map_or(0, |at| at + 1);
    let host_port = &authority[from..];
    let end = match host_port.first()? {
        // An IPv6 address stands in brackets and has colons of its own.
        b'[' => host_port.iter().position(|byte| *byte == b']')? + 1,
        _ => host_port.iter().position(|byte| *byte == b':').unwrap_or(host_port.len()),
    };
    let host = &host_port[..end];
    // 255 bytes is the longest domain name (RFC 1035, 2.3.4).
    let sound = (1..=255).contains(&host.len()) && host.iter().all(u8::is_ascii_graphic);
    sound.then_some(host)
}

/// True if a word between blanks is a host: a name or an address, maybe with a port.
pub(super) fn is_host(word: &[u8]) -> bool {
    let Some(name) = host(word) else { return false };
    let port = word.get(name.len()..).unwrap_or_default();
    let is_port = port.is_empty() || port[0] == b':' && number(&port[1..]).is_some_and(|port| port < 1 << 16);
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.*".contains(byte);
    let address = name.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]"));
    let is_address =
        |text: &[u8]| std::str::from_utf8(text).is_ok_and(|text| text.parse::<Ipv6Addr>().is_ok());
    // `server_name` of nginx may be a regular expression.
    word.starts_with(b"~")
        || is_port && (name.iter().all(is_name) || address.is_some_and(is_address)) && !is_time(word)
}

/// Estimated size of a request without body: its first line, `Host`, and [`OTHER_HEADERS`].
pub(super) const fn request_bytes(method: &[u8], path: &[u8], host: &[u8]) -> u64 {
    let first_line = method.len() + 1 + path.len() + 1 + "HTTP/1.0\r\n".len();
    let host_line = "Host: \r\n".len() + host.len();
    (first_line + host_line + OTHER_HEADERS + "\r\n".len()) as u64
}

/// A span in units of `unit` ns, with or without decimals, up to 30 days (chosen: a longer one is a clock that was set), in ns.
pub(super) fn span(text: &[u8], unit: u64) -> Option<u64> {
    const LONGEST: u64 = 30 * 24 * 3600 * 1_000_000_000;
    let point = text.iter().position(|byte| *byte == b'.').unwrap_or(text.len());
    let mut nanos = number(&text[..point])?.checked_mul(unit)?;
    let mut worth = unit;
    for byte in text.get(point + 1..).unwrap_or_default() {
        worth /= 10;
        nanos = nanos.checked_add(number(std::slice::from_ref(byte))? * worth)?;
    }
    (nanos <= LONGEST).then_some(nanos)
}

/// True when a page is made for each request, by its URL: it has a query, or is a CGI program.
pub(super) fn is_dynamic(url: &[u8]) -> bool {
    let has = |part: &[u8]| url.windows(part.len()).any(|window| window == part);
    has(b"?") || has(b"cgi-bin") || has(b".cgi")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_exactly() {
        assert_eq!(unix_time(b"1157689312.049"), Some(1_157_689_312_049_000_000));
        assert_eq!(unix_time(b"1157689312"), Some(1_157_689_312_000_000_000));
        assert_eq!(unix_time(b"1157689312.000000001"), Some(1_157_689_312_000_000_001));
        for wrong in ["", "-1157689312.049", "631151999", "9000000000", "1e9", "nan", "1157689312.0000000001"]
        {
            assert_eq!(unix_time(wrong.as_bytes()), None, "{wrong}");
        }
        for wrong in ["1157689312.", "1157689312.0x9", "1157689312.1.2"] {
            assert_eq!(unix_time(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn numbers_are_digits() {
        assert_eq!(number(b"000"), Some(0));
        assert_eq!(number(b"999999999999999999"), Some(999_999_999_999_999_999));
        for wrong in ["", "-1", "+1", "1.5", "1000000000000000000"] {
            assert_eq!(number(wrong.as_bytes()), None, "{wrong}");
        }
        assert_eq!(bytes(b"9007199254740992"), Some(1 << 53));
        assert_eq!(bytes(b"9007199254740993"), None);
    }

    #[test]
    fn spans_have_their_unit() {
        assert_eq!(span(b"250", 1_000_000), Some(250_000_000));
        assert_eq!(span(b"0.2503", 1_000_000_000), Some(250_300_000));
        assert_eq!(span(b"1.0000000009", 1_000_000_000), Some(1_000_000_000));
        assert_eq!(span(b"2592000", 1_000_000_000), Some(2_592_000_000_000_000));
        for wrong in ["", "-1", "1.x", "2592001", ".5", "99999999999999999"] {
            assert_eq!(span(wrong.as_bytes(), 1_000_000_000), None, "{wrong}");
        }
    }

    #[test]
    fn hosts_stand_without_user_and_port() {
        let split = |url: &'static str| {
            host_and_path(url.as_bytes()).map(|(h, p)| [h, p].map(|b| std::str::from_utf8(b).unwrap()))
        };
        assert_eq!(split("http://a.example/x?y"), Some(["a.example", "/x?y"]));
        assert_eq!(split("http://a.example"), Some(["a.example", "/"]));
        assert_eq!(split("http://a.example?y"), Some(["a.example", "?y"]));
        assert_eq!(split("ftp://me:pass@a.example:21/x"), Some(["a.example", "/x"]));
        assert_eq!(split("http://[2001:db8::1]:80/"), Some(["[2001:db8::1]", "/"]));
        for wrong in
            ["a.example/x", "http:///x", "http://:80/", "http://[::1/", "http://a\u{1}b/", "error:invalid"]
        {
            assert_eq!(split(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_word_is_a_host_or_is_none() {
        for yes in [
            "a.example",
            "a.example:80",
            "A_b-c.example.",
            "192.0.2.1:8080",
            "[2001:db8::1]:80",
            "*.a.example",
            "_",
            "~^(www\\.)?(.+)$",
        ] {
            assert!(is_host(yes.as_bytes()), "{yes}");
        }
        for no in [
            "",
            ":80",
            "a.example:http",
            "2024-05-10T10",
            "2024-05-10T10:00:00Z",
            "[HTTP-187]",
            "192.0.2.9,",
            "|",
            "a|b",
            "10:00:00",
        ] {
            assert!(!is_host(no.as_bytes()), "{no}");
        }
    }

    #[test]
    fn pages_with_a_query_or_of_a_program_are_dynamic() {
        let dynamic =
            ["/a?b", "/cgi-bin/imagemap/countdown", "http://a.example/count.cgi", "http://a.example/?"];
        assert!(dynamic.iter().all(|url| is_dynamic(url.as_bytes())));
        assert!(["/a.html", "/cgifs/a.gif", ""].iter().all(|url| !is_dynamic(url.as_bytes())));
    }

    #[test]
    fn a_request_is_its_first_line_its_host_line_and_other_headers() {
        let (host, path) = host_and_path(b"http://www.example.com/images/pictures/logo.gif").unwrap();
        assert_eq!(request_bytes(b"GET", path, host), 3 + 1 + 25 + 1 + 10 + 8 + 15 + 205 + 2);
    }
}
