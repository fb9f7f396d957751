//! Lines that servers write among the requests: errors with their traces, states of servers behind, connections without a request of
//! HTTP, and names of files that `tail` puts between.
//!
//! Source: nginx, `ngx_log.c`; Apache HTTP Server 2.4, `ErrorLogFormat`; HAProxy, `server.c`, `proxy.c`, `log.c` (`option tcplog`);
//! Squid, `debug.cc`; gunicorn, `glogging.py`; Envoy, `logger.cc`.

use super::when;

/// Beginnings of lines of HAProxy, of journalctl, tail, Compose and the containers of nginx, of comments and of traces.
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
    b"==> ",
    b"Attaching to ",
    b"last message repeated ",
    b"message repeated ",
    b"nginx: [",
    b"AH0",
    b"/docker-entrypoint",
    b"#",
    b"Traceback (",
    b"Caused by: ",
    b"PHP ",
];

/// Endings of the first word of other such lines: scripts of those containers, and errors of Python and Java.
const ENDINGS: &[&[u8]] = &[b".sh:", b".envsh:", b"Error:", b"Exception:", b"Error", b"Exception"];

/// True for a line that is known not to be one of a request.
pub(super) fn is_other(line: &[u8]) -> bool {
    let word = line.split(|byte| *byte == b' ').next().unwrap_or_default();
    // Lines of a trace are set in. A number there is one of a line, or an address.
    let is_set_in = || line[0].is_ascii_whitespace() && !line.trim_ascii_start()[0].is_ascii_digit();
    BEGINNINGS.iter().any(|beginning| line.starts_with(beginning))
        || ENDINGS.iter().any(|ending| word.ends_with(ending))
        || !line.trim_ascii().is_empty() && is_set_in()
        || is_error(line)
        || is_connection(line).unwrap_or(false)
}

/// `2024/05/10 10:00:00 [error] …` of nginx, `2024/05/10 10:00:00 kid1| …` of Squid, `[Fri May 10 10:00:00.000000 2024] [core:error] …`
/// of Apache, and the like of gunicorn and Envoy.
fn is_error(line: &[u8]) -> bool {
    let begins = |rest: &[u8], all: &[&[u8]]| all.iter().any(|beginning| rest.starts_with(beginning));
    let of_date = || {
        let (time, rest) = line.split_at_checked(19)?;
        Some(time[4] == b'/' && when::parse(time).is_some() && begins(rest, &[b" [", b"| ", b" kid"]))
    };
    let in_brackets = || {
        let end = line.iter().position(|byte| *byte == b']')?;
        let is_time = line[0] == b'[' && when::parse(&line[..=end]).is_some();
        Some(is_time && begins(&line[end..], &[b"] [", b"]["]))
    };
    of_date().unwrap_or(false) || in_brackets().unwrap_or(false)
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
            "10-listen-on-ipv6-by-default.sh: info: Enabled listen on IPv6",
            "==> access.log <==",
            "Traceback (most recent call last):",
            "  File \"/app/x.py\", line 3, in f",
            "ValueError: x",
            "java.lang.IllegalStateException: x",
            "\tat com.example.Foo.bar(Foo.java:12)",
            "2024/05/10 10:00:00 kid1| Starting Squid Cache",
            "[2024-05-10 10:00:00 +0000] [12] [INFO] Booting worker with pid: 12",
            "[2024-05-10 10:00:00.123][1][info][main] initializing epoch 0",
        ];
        for line in others {
            assert!(is_other(line.as_bytes()), "{line}");
        }
        let requests = [
            "",
            "     1\t192.0.2.9 - - [10/May/2024:10:00:00 +0000] \"GET /a HTTP/1.1\" 200 5120",
            "192.0.2.9 - - [10/May/2024:10:00:00 +0000] \"GET /a HTTP/1.1\" 200 5120",
            "192.0.2.1:5 [14/Feb/2017:00:00:00.049] front back/srv 0/0/0/20/25 200 1250 - - ---- 0/0/0/0/0 0/0 \"GET / HTTP/1.1\"",
            "[2016-04-15T20:17:00.310Z] \"POST /api/v1/locations HTTP/2\" 204 - 154 0 226 100",
        ];
        for line in requests {
            assert!(!is_other(line.as_bytes()), "{line}");
        }
    }
}
