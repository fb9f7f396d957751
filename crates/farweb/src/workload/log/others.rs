//! Lines that servers write among the requests: errors, states of servers behind, connections without a request of HTTP.
//!
//! Source: nginx, `ngx_log.c`; Apache HTTP Server 2.4, `ErrorLogFormat`; HAProxy, `server.c`, `proxy.c`, `log.c` (`option tcplog`).

use super::when;

/// Beginnings of lines of HAProxy, of journalctl and of the containers of nginx.
const BEGINNINGS: &[&[u8]] = &[
    b"Server ",
    b"Backup Server ",
    b"Proxy ",
    b"Connect from ",
    b"Health check for ",
    b"backend ",
    b"Stopping ",
    b"Pausing ",
    b"[WARNING]",
    b"[NOTICE]",
    b"[ALERT]",
    b"-- ",
    b"/docker-entrypoint",
];

/// True for a line that is known not to be one of a request.
pub(super) fn is_other(line: &[u8]) -> bool {
    BEGINNINGS.iter().any(|beginning| line.starts_with(beginning))
        || is_error(line)
        || is_connection(line).unwrap_or(false)
}

/// `2024/05/10 10:00:00 [error] …` of nginx, `[Fri May 10 10:00:00.000000 2024] [core:error] …` of Apache.
fn is_error(line: &[u8]) -> bool {
    let of_nginx = || {
        let (time, rest) = line.split_at_checked(19)?;
        Some(time[4] == b'/' && when::parse(time).is_some() && rest.starts_with(b" ["))
    };
    let of_apache = || {
        let end = line.iter().position(|byte| *byte == b']')?;
        let is_named = line.get(1).is_some_and(u8::is_ascii_alphabetic);
        Some(
            line[0] == b'['
                && is_named
                && when::parse(&line[..=end]).is_some()
                && line[end..].starts_with(b"] ["),
        )
    };
    of_nginx().unwrap_or(false) || of_apache().unwrap_or(false)
}

/// `CLIENT [TIME] FRONTEND BACKEND/SERVER Tw/Tc/Tt BYTES …` of HAProxy, or an error instead: `CLIENT [TIME] FRONTEND/1: …`.
fn is_connection(line: &[u8]) -> Option<bool> {
    let begin = line.windows(2).position(|pair| pair == b" [")?;
    let rest = &line[begin + 2..];
    let end = rest.windows(2).position(|pair| pair == b"] ")?;
    when::parse(&rest[..end])?;
    let mut words = rest[end + 2..].split(|byte| *byte == b' ');
    let first = words.next()?;
    if first.ends_with(b":") && first.contains(&b'/') {
        return Some(true);
    }
    let (_, times, bytes) = (words.next()?, words.next()?, words.next()?);
    let is_number = |text: &[u8]| {
        !text.is_empty() && text.iter().all(|byte| byte.is_ascii_digit() || b"+-".contains(byte))
    };
    let spans: Vec<_> = times.split(|byte| *byte == b'/').collect();
    Some(spans.len() == 3 && spans.into_iter().all(is_number) && is_number(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_no_request_are_known() {
        let others = [
            "Server back/srv is DOWN, reason: Layer4 timeout, check duration: 2001ms.",
            "Connect from 192.0.2.1:33317 to 10.0.0.1:80 (http-in/HTTP)",
            "backend back has no server available!",
            "192.0.2.1:5 [14/Feb/2017:00:00:00.049] front back/srv 0/0/5007 212 -- 0/0/0/0/0 0/0",
            "192.0.2.1:5 [14/Feb/2017:00:00:00.049] front/1: SSL handshake failure",
            "2024/05/10 10:00:00 [error] 12#12: *3 open() \"/x\" failed (2: No such file or directory)",
            "[Fri May 10 10:00:00.123456 2024] [core:error] [pid 1] AH00126: Invalid URI",
            "/docker-entrypoint.sh: Configuration complete; ready for start up",
        ];
        for line in others {
            assert!(is_other(line.as_bytes()), "{line}");
        }
        let requests = [
            "",
            "192.0.2.9 - - [10/May/2024:10:00:00 +0000] \"GET /a HTTP/1.1\" 200 5120",
            "192.0.2.1:5 [14/Feb/2017:00:00:00.049] front back/srv 0/0/0/20/25 200 1250 - - ---- 0/0/0/0/0 0/0 \"GET / HTTP/1.1\"",
            "[2016-04-15T20:17:00.310Z] \"POST /api/v1/locations HTTP/2\" 204 - 154 0 226 100",
        ];
        for line in requests {
            assert!(!is_other(line.as_bytes()), "{line}");
        }
    }
}
