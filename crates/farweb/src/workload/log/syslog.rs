//! Prefix of a line that came through syslog.
//!
//! Source: RFC 3164, section 4.1; RFC 5424, section 6; rsyslog's `RSYSLOG_FileFormat`, which has the time of RFC 3339 in the form
//! of RFC 3164.

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

/// Message behind `TIME HOST TAG:`, as RFC 3164 has it.
fn traditional(line: &[u8]) -> Option<&[u8]> {
    let (host, rest) = word(behind_time(line)?)?;
    let (tag, message) = word(rest)?;
    let name = tag.strip_suffix(b":")?;
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_./()[]".contains(byte);
    (!host.is_empty() && !name.is_empty() && name.iter().all(is_name)).then_some(message)
}

/// The rest behind `Mmm dd HH:MM:SS ` or a time of RFC 3339.
fn behind_time(line: &[u8]) -> Option<&[u8]> {
    const MONTHS: &[u8] = b"JanFebMarAprMayJunJulAugSepOctNovDec";
    let is_month = |name: &[u8]| MONTHS.chunks(3).any(|month| month == name);
    match line {
        [a, b, c, b' ', rest @ ..] if is_month(&[*a, *b, *c]) => {
            let (_, rest) = word(rest.trim_ascii_start())?;
            let (clock, rest) = word(rest)?;
            (clock.len() == 8 && clock[2] == b':' && clock[5] == b':').then_some(rest)
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
            "2015-05-13T23:39:43.945958Z my-loadbalancer 192.168.131.39:2817 10.0.0.1:80 0.000073",
            "2019-12-04\t21:02:31\tLAX1\t392",
            "c.example - - [25/Oct/2015:04:11:25 +0100] \"GET / HTTP/1.0\" 200 5",
        ];
        for line in lines {
            assert_eq!(message(line.as_bytes()), line.as_bytes(), "{line}");
        }
    }
}
