//! Prefix of a line that came through syslog or from journalctl.
//!
//! Source: RFC 3164, section 4.1; RFC 5424, section 6; rsyslog's `RSYSLOG_FileFormat`, which has the time of RFC 3339 in the form
//! of RFC 3164; nginx, `ngx_syslog.c` (`nohostname`); systemd, `logs-show.c` (`short`, `-precise`, `-iso`, `-unix`, `-full`).

use super::when;

/// The message of a line of syslog; any other line as it is.
pub(super) fn message(line: &[u8]) -> &[u8] {
    let (priority, rest) = priority(line);
    let prefixed = rest.strip_prefix(b"1 ").filter(|_| priority).and_then(version_1);
    prefixed.or_else(|| traditional(rest)).unwrap_or(line)
}

/// The rest of a line behind `<PRI>`, if it begins so.
fn priority(line: &[u8]) -> (bool, &[u8]) {
    let inside = || {
        let rest = line.strip_prefix(b"<")?;
        let end = rest.iter().take(4).position(|byte| *byte == b'>')?;
        rest[..end].iter().all(u8::is_ascii_digit).then(|| &rest[end + 1..])
    };
    inside().map_or((false, line), |rest| (true, rest))
}

/// Message behind `TIME HOST APP PROCID MSGID DATA`, as RFC 5424 has it.
fn version_1(rest: &[u8]) -> Option<&[u8]> {
    let mut rest = rest;
    for _ in 0..5 {
        rest = word(rest)?.1;
    }
    let message = match rest.strip_prefix(b"-") {
        Some(message) => message,
        None => &rest[rest.windows(2).position(|pair| pair == b"] ")? + 1..],
    };
    let message = message.strip_prefix(b" ")?;
    Some(message.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(message))
}

/// Message behind `TIME HOST TAG:`, as RFC 3164 has it; the host may be missing.
fn traditional(line: &[u8]) -> Option<&[u8]> {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_./()[]".contains(byte);
    let is_tag = |word: &[u8]| {
        word.strip_suffix(b":").is_some_and(|name| !name.is_empty() && name.iter().all(is_name))
    };
    let (first, rest) = word(behind_time(line)?)?;
    if is_tag(first) {
        return Some(rest);
    }
    let (tag, message) = word(rest)?;
    (!first.is_empty() && is_tag(tag)).then_some(message)
}

/// The rest behind `Mmm dd HH:MM:SS `, a time of RFC 3339, a Unix time with decimals, or `Www yyyy-mm-dd HH:MM:SS ZONE`.
fn behind_time(line: &[u8]) -> Option<&[u8]> {
    const MONTHS: &[u8] = b"JanFebMarAprMayJunJulAugSepOctNovDec";
    let is_month = |name: &[u8]| MONTHS.chunks(3).any(|month| month == name);
    match line {
        [a, b, c, b' ', rest @ ..] if is_month(&[*a, *b, *c]) => {
            let (_, rest) = word(rest.trim_ascii_start())?;
            let (clock, rest) = word(rest)?;
            (clock.len() >= 8 && when::is_time(clock)).then_some(rest)
        }
        [_, _, _, b' ', rest @ ..] if rest.get(4) == Some(&b'-') => {
            let (date, rest) = word(rest)?;
            let (clock, rest) = word(rest)?;
            (when::is_time(date) && when::is_time(clock)).then_some(word(rest)?.1)
        }
        [b'0'..=b'9', ..] if line.get(10) == Some(&b'.') => {
            let (time, rest) = word(line)?;
            when::is_time(time).then_some(rest)
        }
        [b'1' | b'2', _, _, _, b'-', _, _, b'-', _, _, b'T', ..] => Some(word(line)?.1),
        _ => None,
    }
}

/// The text before the first blank, and behind it.
fn word(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = text.iter().position(|byte| *byte == b' ')?;
    Some((&text[..end], &text[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_stands_behind_the_prefix() {
        let lines = [
            "Feb  6 12:14:14 localhost haproxy[14389]: x y",
            "<190>Feb 16 12:14:14 localhost nginx: x y",
            "2009-02-06T12:14:14.003+01:00 proxy (squid-1)[77]: x y",
            "Feb  6 12:14:14.003123 localhost haproxy[14389]: x y",
            "Fri 2009-02-06 12:14:14 CET localhost haproxy[14389]: x y",
            "1233918854.003123 localhost haproxy[14389]: x y",
            "<190>Feb 16 12:14:14 nginx: x y",
            "2009-02-06T12:14:14.003+01:00 app[web.1]: x y",
            "<34>1 2003-10-11T22:14:15.003Z host app 88 ID47 - x y",
            "<34>1 2003-10-11T22:14:15.003Z host app - - [a@1 b=\"c\"][d@1 e=\"f\"] \u{FEFF}x y",
        ];
        for line in lines {
            assert_eq!(message(line.as_bytes()), b"x y", "{line}");
        }
    }

    #[test]
    fn other_lines_stay_as_they_are() {
        let lines = [
            "",
            "<",
            "<34>",
            "<34>1 a b c",
            "Feb 6 12:14:14 localhost",
            "Feb 6 x localhost a: b",
            "Fri 2009-02-06 x CET localhost a: b",
            "1233918854.003    250 10.0.0.1 TCP_MISS/200 1000 GET http://a.example/",
            "2015-05-13T23:39:43.945958Z my-loadbalancer 192.168.131.39:2817 10.0.0.1:80 0.000073",
            "2019-12-04\t21:02:31\tLAX1\t392",
            "c.example - - [25/Oct/2015:04:11:25 +0100] \"GET / HTTP/1.0\" 200 5",
        ];
        for line in lines {
            assert_eq!(message(line.as_bytes()), line.as_bytes(), "{line}");
        }
    }
}
