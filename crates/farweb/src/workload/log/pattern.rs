//! Lines described by a format string: Squid's `logformat`, nginx's `log_format` or Apache's `LogFormat`, or one with
//! farweb's own names in braces.
//!
//! A string is literals and fields in turn. A field ends where the literal after it begins, a blank of a literal stands for
//! one or more, and the rest of the line behind the last field of use is ignored. In quotes a backslash takes the meaning from the
//! byte after it, and a quote that no number follows where one should is part of the text: old logs have URLs with quotes
//! that are not escaped. A line is read once, whatever it contains.

use std::borrow::Cow;

use super::fields::wrong;
use super::names::{self, APACHE, NEEDED, NGINX, Names, SQUID, field};
use super::record::{Field, Record};

/// A format string, compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    /// The format string itself.
    text: String,
    /// Literal with which a line begins.
    lead: Vec<u8>,
    /// Fields, each with the literal after it.
    parts: Vec<(Field, Vec<u8>)>,
    /// True if its fields have farweb's own names. Such a string describes whole lines; strings of servers also read
    /// lines that servers have cut off.
    own: bool,
}

impl Pattern {
    /// Compiles a format string. Fields that are not known are passed over.
    ///
    /// # Errors
    /// When it names no field, or none that says when a request was, what for, or how large the response; when a name in
    /// braces is not known.
    pub(super) fn compile(text: &str) -> Result<Self, String> {
        // Apache's configuration has a backslash before each quote.
        let plain = text.trim().replace("\\\"", "\"");
        let mut rest = plain.as_bytes();
        let squid = is_squid(rest);
        let own = !is_foreign(rest);
        let mut pattern = Self { text: text.trim().to_owned(), lead: Vec::new(), parts: Vec::new(), own };
        while let Some(byte) = rest.first() {
            let taken = match byte {
                b'$' => pattern.nginx(rest),
                b'%' => pattern.percent(rest, squid),
                b'{' if own => pattern.own(rest)?,
                _ => 0,
            };
            if taken == 0 {
                pattern.literal(&rest[..1]);
            }
            rest = &rest[taken.max(1)..];
        }
        pattern.check(text)?;
        let last = pattern.parts.iter().rposition(|(field, _)| *field != Field::Ignored);
        pattern.parts.truncate(last.map_or(0, |last| last + 1));
        Ok(pattern)
    }

    /// The format string.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Server whose names of fields it has; Apache's are others' as well.
    pub(super) fn software(&self) -> Option<&'static str> {
        let text = self.text.as_bytes();
        if is_nginx(text) { Some("nginx") } else { is_squid(text).then_some("Squid") }
    }

    pub(super) fn has(&self, wanted: Field) -> bool {
        self.parts.iter().any(|(field, _)| *field == wanted)
    }

    fn literal(&mut self, bytes: &[u8]) {
        let literal = self.parts.last_mut().map_or(&mut self.lead, |(_, literal)| literal);
        for byte in bytes {
            let blank = matches!(byte, b' ' | b'\t');
            if !blank || literal.last() != Some(&b' ') {
                literal.push(if blank { b' ' } else { *byte });
            }
        }
    }

    /// Takes `$name` or `${name}`; its length.
    fn nginx(&mut self, text: &[u8]) -> usize {
        let braced = text.get(1) == Some(&b'{');
        let from = if braced { 2 } else { 1 };
        let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
        let end = from + text[from..].iter().take_while(is_name).count();
        if end > from {
            self.parts.push((field(NGINX, &text[from..end]), Vec::new()));
        }
        if end > from { end + usize::from(braced && text.get(end) == Some(&b'}')) } else { 0 }
    }

    /// Takes a directive of Squid or of Apache; its length.
    fn percent(&mut self, text: &[u8], squid: bool) -> usize {
        let Some((name, length)) = directive(text, squid) else { return 0 };
        let names: &Names = if squid { SQUID } else { APACHE };
        let field = field(names, &name);
        match (squid, &*name) {
            (_, b"%") => self.literal(b"%"),
            // The ms of a time belong to its seconds.
            (true, b"tu") if matches!(self.parts.last(), Some((Field::End, point)) if point == b".") => {
                self.parts.last_mut().expect("it has just been seen").1.clear();
            }
            (false, b"t") => {
                self.literal(b"[");
                self.parts.push((field, b"]".to_vec()));
            }
            _ => self.parts.push((field, Vec::new())),
        }
        length
    }

    /// Takes `{name}`; its length.
    fn own(&mut self, text: &[u8]) -> Result<usize, String> {
        let Some(end) = text.iter().position(|byte| *byte == b'}') else {
            return Err(wrong("log_format", text, "a name in braces, such as {start}"));
        };
        let name = String::from_utf8_lossy(&text[1..end]);
        let field = if name.is_empty() { Ok(Field::Ignored) } else { names::own(&name) };
        self.parts.push((field.map_err(|why| format!("log_format: {why}"))?, Vec::new()));
        Ok(end + 1)
    }

    fn check(&self, text: &str) -> Result<(), String> {
        let has = |fields: &[Field]| self.parts.iter().any(|(field, _)| fields.contains(field));
        let ways = [
            "$msec, $time_local, %ts.%03tu, %t or {start}",
            "$request, $request_uri, %ru, %r or {request}",
            "$body_bytes_sent, $bytes_sent, %<st, %b or {bytes}",
        ];
        match NEEDED.iter().zip(ways).find(|((_, fields), _)| !has(fields)) {
            Some(((what, _), write)) => {
                Err(wrong("log_format", text.as_bytes(), &format!("a format that says {what} ({write})")))
            }
            None => Ok(()),
        }
    }

    /// Record of `line`.
    ///
    /// # Errors
    /// The place at which it is not as the format says, or the wrong value.
    pub(super) fn read<'a>(&self, line: &'a [u8]) -> Result<Record<'a>, String> {
        let mut record = Record::default();
        let mut at = length_of(&self.lead, line).ok_or_else(|| {
            format!("does not begin with \"{}\"", String::from_utf8_lossy(&self.lead).escape_debug())
        })?;
        for (index, (field, literal)) in self.parts.iter().enumerate() {
            let next = self.parts.get(index + 1).map(|(field, _)| *field);
            let end = match end_of(&line[at..], literal, next) {
                Some(end) => at + end,
                None if next.is_none() && !self.own => line.len(),
                None => {
                    let literal = String::from_utf8_lossy(literal);
                    return Err(format!("has no \"{}\" after the {}", literal.escape_debug(), field.name()));
                }
            };
            record.set(*field, Cow::Borrowed(&line[at..end]))?;
            at = end + length_of(literal, &line[end..]).unwrap_or(0);
        }
        record.complete()
    }
}

/// True when a format string is one of Squid, whose codes have two letters and more.
fn is_squid(text: &[u8]) -> bool {
    let percents = text.iter().enumerate().filter(|(_, byte)| **byte == b'%');
    percents.filter_map(|(at, _)| directive(&text[at..], true)).any(|(name, _)| {
        name.iter().filter(|byte| byte.is_ascii_alphabetic()).count() > 1
            && names::field(SQUID, &name) != Field::Ignored
    })
}

/// True if a format string names variables of nginx.
fn is_nginx(text: &[u8]) -> bool {
    text.windows(2).any(|pair| pair[0] == b'$' && (pair[1] == b'{' || pair[1].is_ascii_alphabetic()))
}

/// True for a format string of nginx, Squid or Apache, where braces are text.
fn is_foreign(text: &[u8]) -> bool {
    let mut percents = text.iter().enumerate().filter(|(_, byte)| **byte == b'%');
    is_nginx(text) || percents.any(|(at, _)| directive(&text[at..], false).is_some())
}

/// The directive that `text` begins with, as tables of names have it, and its length.
fn directive(text: &[u8], squid: bool) -> Option<(Vec<u8>, usize)> {
    let mut at = 1;
    if text.get(1) == Some(&b'%') {
        return Some((b"%".to_vec(), 2));
    }
    let mut name = Vec::new();
    // Encodings and widths of Squid, statuses of Apache.
    let flags: &[u8] = if squid { b"\"'#/[-.0123456789" } else { b"!,0123456789" };
    at += text[at..].iter().take_while(|byte| flags.contains(byte)).count();
    let mut ways = |at: &mut usize| {
        while let Some(way @ (b'<' | b'>')) = text.get(*at) {
            if squid {
                name.push(*way);
            }
            *at += 1;
        }
    };
    ways(&mut at);
    let mut braced: &[u8] = &[];
    if text.get(at) == Some(&b'{') {
        let end = at + text[at..].iter().position(|byte| *byte == b'}')? + 1;
        braced = &text[at..end];
        at = end;
        // Squid has the way of a header behind its name: `%{Referer}>h`.
        ways(&mut at);
    }
    let is_letter = |at: usize| text.get(at).is_some_and(u8::is_ascii_alphabetic);
    let letters = match squid {
        true => text[at..].iter().take_while(|byte| byte.is_ascii_alphabetic() || **byte == b':').count(),
        // Directives of two letters begin with `^`.
        false if text.get(at) == Some(&b'^') && is_letter(at + 1) && is_letter(at + 2) => 3,
        false => usize::from(is_letter(at)),
    };
    // A colon at the end is a literal: `%Ss:%Sh`.
    let colons = text[at..at + letters].iter().rev().take_while(|byte| **byte == b':').count();
    let end = at + letters - colons;
    name.extend(&text[at..end]);
    if !squid || matches!(&*name, b">h" | b"<h") {
        name.splice(..0, braced.iter().copied());
    }
    (end > at).then_some((name, end))
}

/// End of the field with which `text` begins: at `literal`; for the last field of a line at a blank or at its end.
fn end_of(text: &[u8], literal: &[u8], next: Option<Field>) -> Option<usize> {
    let Some(first) = literal.first() else {
        return Some(text.iter().position(|byte| *byte == b' ').unwrap_or(text.len()));
    };
    let is_quote = *first == b'"';
    let mut escaped = false;
    for (at, byte) in text.iter().enumerate() {
        if std::mem::take(&mut escaped) {
            continue;
        }
        if is_quote && *byte == b'\\' {
            escaped = true;
            continue;
        }
        // Only the first blank of a run begins a literal, so that a line of blanks is gone through once.
        let inside = *first == b' ' && at > 0 && text[at - 1] == b' ';
        if byte != first || inside {
            continue;
        }
        if let Some(length) = length_of(literal, &text[at..])
            && (!is_quote || next.is_none_or(|next| fits(next, &text[at + length..])))
        {
            return Some(at);
        }
    }
    None
}

/// True when `text` may begin with a value of `field`.
fn fits(field: Field, text: &[u8]) -> bool {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match field {
        Field::Status => {
            text.first() == Some(&b'-') || digits == 3 && !text.get(3).is_some_and(u8::is_ascii_alphanumeric)
        }
        field => !field.is_number() || digits > 0 || text.first() == Some(&b'-'),
    }
}

/// Length of the literal at the beginning of `text`; `None` when it is not there.
fn length_of(literal: &[u8], text: &[u8]) -> Option<usize> {
    let mut at = 0;
    for byte in literal {
        if *byte == b' ' {
            let blanks = text[at..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            at += if blanks > 0 { blanks } else { return None };
        } else if text.get(at) == Some(byte) {
            at += 1;
        } else {
            return None;
        }
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(text: &str) -> Vec<(Field, String)> {
        let pattern = Pattern::compile(text).unwrap();
        let part = |(field, literal): (Field, Vec<u8>)| (field, String::from_utf8(literal).unwrap());
        pattern.parts.into_iter().map(part).collect()
    }

    #[test]
    fn three_kinds_of_format_strings_are_understood() {
        use crate::workload::log::record::Unit;
        let squid = fields("%ts.%03tu %6tr %>a %Ss/%03>Hs %<st %rm %ru %[un %Sh/%<a %mt");
        assert_eq!(squid[0], (Field::End, " ".into()));
        assert_eq!(squid[1], (Field::Elapsed(Unit::Millis), " ".into()));
        assert_eq!(squid[3], (Field::Code, "/".into()));
        assert_eq!(squid[4], (Field::Status, " ".into()));
        assert_eq!(squid.last().unwrap(), &(Field::Hierarchy, "/".into()), "what follows is of no use");
        let nginx = fields(
            "${remote_addr} - $remote_user [$time_local] \"$request\" $status $body_bytes_sent $request_time $x",
        );
        assert_eq!(nginx[1], (Field::User, " [".into()));
        assert_eq!(nginx[2], (Field::End, "] \"".into()));
        assert_eq!(nginx.last().unwrap(), &(Field::Elapsed(Unit::Seconds), " ".into()));
        let apache = fields("%v:%p %h %l %u %t \"%r\" %>s %O %!200,304{ms}T 100%% %{Host}i");
        assert_eq!(apache[0], (Field::Host, ":".into()));
        assert_eq!(apache[4], (Field::User, " [".into()));
        assert_eq!(apache[5], (Field::Start, "] \"".into()));
        assert_eq!(apache[8], (Field::Total, " ".into()));
        assert_eq!(apache[9], (Field::Elapsed(Unit::Millis), " 100% ".into()));
        assert_eq!(fields("%tl %ru %<st %Ss:%Sh")[3], (Field::Code, ":".into()));
    }

    #[test]
    fn a_format_that_lacks_what_a_request_needs_is_refused() {
        let wrong = |text: &str| Pattern::compile(text).unwrap_err();
        let message = "log_format: found \"$request $bytes_sent\", not a format that says when a request was ($msec, \
                       $time_local, %ts.%03tu, %t or {start})";
        assert_eq!(wrong("$request $bytes_sent"), message);
        assert!(wrong("$msec $bytes_sent").contains("what was asked for"));
        assert!(wrong("%t \"%r\" %>s").contains("how large a response is"));
        assert!(wrong("").contains("when a request was"));
        assert_eq!(
            wrong("{start} {url} {bytes"),
            "log_format: found \"{bytes\", not a name in braces, such as {start}"
        );
        let unknown = wrong("{start} {urll} {bytes}");
        assert!(unknown.starts_with(
            "log_format: unknown field \"urll\" (did you mean url?); the fields are start, end"
        ));
        assert_eq!(wrong("{start:ms}"), "log_format: start: found \"start:ms\"; only spans have a unit");
        let unit = "log_format: elapsed: found the unit \"min\"; write one of: s, ms, us, ns";
        assert_eq!(wrong("{elapsed:min}"), unit);
    }

    #[test]
    fn own_names_stand_in_braces_which_are_text_elsewhere() {
        use crate::workload::log::record::Unit;
        let own = fields("{client:port} [{start}] {} \"{request}\" {status} {bytes} {elapsed:ms} {wait}");
        let names =
            [Field::ClientPort, Field::Start, Field::Ignored, Field::Request, Field::Status, Field::Total];
        assert_eq!(own.iter().map(|(field, _)| *field).collect::<Vec<_>>()[..6], names);
        assert_eq!(own[6].0, Field::Elapsed(Unit::Millis));
        assert_eq!(own[7].0, Field::ServerHeader(Unit::Seconds));
        let braces = fields("{\"t\":$msec,\"r\":\"$request\",\"b\":$bytes_sent}");
        assert_eq!(braces.last().unwrap(), &(Field::Total, "}".into()));
    }

    #[test]
    fn hostile_lines_are_gone_through_once() {
        let pattern = Pattern::compile("%h %l %u %t \"%r\" %>s %b").unwrap();
        let blanks = " ".repeat(1 << 20);
        let quotes = "\" 1".repeat(300_000);
        for line in
            [blanks.clone(), format!("a b {blanks}"), format!("a b c [01/Jan/2000:00:00:00] \"{quotes}")]
        {
            assert!(pattern.read(line.as_bytes()).is_err());
        }
    }
}
