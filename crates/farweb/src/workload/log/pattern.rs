//! Lines described by a format string: Squid's `logformat`, nginx's `log_format`, Apache's `LogFormat`, one of [`programs`](super::programs), or
//! one with farweb's own names in braces.
//!
//! A string is literals and fields in turn. A field ends where the literal after it begins, a blank of a literal stands for
//! one or more, a tab for itself, and the rest of the line behind the last field of use is ignored. In quotes a backslash takes the
//! meaning from the byte after it, and a quote that no number follows where one should is part of the text: old logs have URLs
//! with quotes that are not escaped. A list of addresses or of times goes on behind its commas. Hosts, clients and users that do not
//! stand in quotes are tested, since anything before them on a line would take their places. A line is read once, whatever it
//! contains.

use std::borrow::Cow;

use super::directives::{directive, in_apaches, is_foreign, is_nginx, is_squid, mixed};
use super::field::Field;
use super::names::{self, APACHE, NEEDED, NGINX, Names, SQUID, field};
use super::programs::Program;
use super::record::Record;
use super::units::Units;
use super::values::{self, wrong};
use super::{clients, strftime};

/// A format string, compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    /// The format string itself.
    text: String,
    /// Literal at the beginning of a line.
    lead: Vec<u8>,
    parts: Vec<Part>,
    /// True if its fields have farweb's own names. Such a string describes whole lines; strings of servers also read
    /// lines that servers have cut off.
    own: bool,
}

/// A field with the literal after it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Part {
    field: Field,
    literal: Vec<u8>,
    /// Format of strftime, of a time that is written in one.
    time: Option<Vec<u8>>,
}

impl Pattern {
    /// Compiles a format string. Fields that are not known are passed over.
    ///
    /// # Errors
    /// When it names no field, or lacks the time, object or size of a request, when a name in braces or a conversion of
    /// strftime is unknown, when one field cannot be told from the next, or when styles are mixed.
    pub(super) fn compile(text: &str) -> Result<Self, String> {
        // Configurations have a backslash before quotes, for a tab, and in HAProxy before blanks.
        let plain = text.trim().replace("\\\"", "\"").replace("\\t", "\t").replace("\\ ", " ");
        let plain = in_apaches(&plain).unwrap_or(plain);
        let mut rest = plain.as_bytes();
        let program = Program::of(&plain);
        let squid = program.is_none() && is_squid(rest);
        let own = program.is_none() && !is_foreign(rest);
        let mut quoted = false;
        if let Some(styles) = mixed(rest, squid) {
            return Err(wrong(
                "--log-format",
                text.as_bytes(),
                &format!("a format in one style: {styles} do not mix"),
            ));
        }
        let mut pattern = Self { text: text.trim().to_owned(), lead: Vec::new(), parts: Vec::new(), own };
        while let Some(byte) = rest.first() {
            let taken = match (byte, program) {
                (byte, Some(program)) if *byte == program.sign() => {
                    pattern.program(rest, program, &mut quoted)?
                }
                (b'$', _) => pattern.nginx(rest),
                (b'%', None) => pattern.percent(rest, squid)?,
                (b'{', _) if own => pattern.own(rest)?,
                _ => 0,
            };
            if taken == 0 {
                pattern.literal(&rest[..1]);
            }
            rest = &rest[taken.max(1)..];
        }
        let last =
            pattern.parts.iter().rposition(|part| !matches!(part.field, Field::Ignored | Field::Servers));
        pattern.parts.truncate(last.map_or(0, |last| last + 1));
        pattern.join(text)?;
        pattern.check(text)?;
        Ok(pattern)
    }

    /// The format string.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Server that names fields so. Others use Apache's names as well.
    pub(super) fn software(&self) -> Option<&'static str> {
        let text = self.text.as_bytes();
        match Program::of(&self.text) {
            Some(program) => Some(program.name()),
            None if is_nginx(text) => Some("nginx"),
            None => is_squid(text).then_some("Squid"),
        }
    }

    /// True if its fields have farweb's own names.
    pub(super) const fn is_own(&self) -> bool {
        self.own
    }

    /// Reads spans from here on as `units` has it.
    pub(super) fn decide(&mut self, units: Units) {
        for part in &mut self.parts {
            part.field = part.field.by(units);
        }
    }

    /// True if referrer and agent may follow its last field, and what a server adds: the common log format, in names of servers.
    fn ends_with_size(&self) -> bool {
        let is_size =
            |part: &Part| matches!(part.field, Field::Body | Field::Total) && part.literal.is_empty();
        !self.own && self.parts.last().is_some_and(is_size)
    }

    pub(super) fn has(&self, is_it: impl Fn(Field) -> bool) -> bool {
        self.parts.iter().any(|part| is_it(part.field))
    }

    fn push(&mut self, field: Field) {
        self.parts.push(Part { field, literal: Vec::new(), time: None });
    }

    fn literal(&mut self, bytes: &[u8]) {
        let literal = self.parts.last_mut().map_or(&mut self.lead, |part| &mut part.literal);
        for byte in bytes {
            match (literal.last(), byte) {
                (Some(b' ' | b'\t'), b' ') => {}
                (Some(b' '), b'\t') => *literal.last_mut().expect("it has just been seen") = b'\t',
                _ => literal.push(*byte),
            }
        }
    }

    /// Joins fields with nothing between them that make one, host and URL, path and query, and a client with its port: an address
    /// may have colons of its own.
    ///
    /// # Errors
    /// The first two indistinguishable fields.
    fn join(&mut self, text: &str) -> Result<(), String> {
        let mut joined: Vec<Part> = Vec::new();
        for part in std::mem::take(&mut self.parts) {
            if let Some(client) = joined.last_mut()
                && (client.field, &*client.literal, part.field) == (Field::Client, b":", Field::Ignored)
            {
                *client = Part { field: Field::ClientPort, ..part };
                continue;
            }
            let Some(before) =
                joined.last_mut().filter(|before| before.literal.is_empty() && before.time.is_none())
            else {
                joined.push(part);
                continue;
            };
            let Some(field) = before.field.joined(part.field) else {
                let (one, other) = (before.field.name(), part.field.name());
                let allowed = format!("a format with text between two fields ({one} and {other})");
                return Err(wrong("--log-format", text.as_bytes(), &allowed));
            };
            *before = Part { field, ..part };
        }
        self.parts = joined;
        let is_open = |part: &&Part| {
            let is_kept = !matches!(part.field, Field::Ignored | Field::Client);
            part.field.is_list() && is_kept && matches!(&*part.literal, b", " | b" : ")
        };
        match self.parts.iter().find(is_open) {
            Some(part) => {
                let name = part.field.name();
                let allowed =
                    format!("a format with other text behind the {name}, a list with commas of its own");
                Err(wrong("--log-format", text.as_bytes(), &allowed))
            }
            None => Ok(()),
        }
    }

    /// Takes `$name` or `${name}`; its length.
    fn nginx(&mut self, text: &[u8]) -> usize {
        let braced = text.get(1) == Some(&b'{');
        let from = if braced { 2 } else { 1 };
        let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
        let end = from + text[from..].iter().take_while(is_name).count();
        if end > from {
            let name = &text[from..end];
            let known = field(NGINX, name);
            let is_list = known == Field::Ignored && name.starts_with(b"upstream_");
            self.push(if is_list { Field::Servers } else { known });
        }
        if end > from { end + usize::from(braced && text.get(end) == Some(&b'}')) } else { 0 }
    }

    /// Takes a directive of a program; its length.
    ///
    /// # Errors
    /// When it has a format of strftime that cannot be read.
    fn program(&mut self, text: &[u8], program: Program, quoted: &mut bool) -> Result<usize, String> {
        let found = program.directive(text, quoted).map_err(|why| format!("--log-format: {why}"))?;
        let Some(directive) = found else { return Ok(0) };
        let quote: &[u8] = if directive.quoted { b"\"" } else { b"" };
        // The field before, of no use either, then takes it in.
        let is_taken_in =
            directive.optional && self.parts.last().is_some_and(|part| part.field == Field::Ignored);
        if let Some(field) = directive.field.filter(|_| !is_taken_in) {
            self.literal(quote);
            self.parts.push(Part { field, literal: quote.to_vec(), time: directive.time });
        }
        Ok(directive.length)
    }

    /// Takes a directive of Squid or of Apache; its length.
    ///
    /// # Errors
    /// When it has a format of strftime that cannot be read.
    fn percent(&mut self, text: &[u8], squid: bool) -> Result<usize, String> {
        let Some((name, length)) = directive(text, squid) else { return Ok(0) };
        let names: &Names = if squid { SQUID } else { APACHE };
        let field = field(names, &name);
        let padded = text[..length].contains(&b'0');
        match (squid, &*name) {
            (_, b"%") => self.literal(b"%"),
            // The ms of a time belong to its seconds.
            (true, b"tu") => match self.parts.last_mut() {
                Some(Part { field: Field::End, literal, .. }) if literal == b"." && padded => literal.clear(),
                _ => self.push(Field::EndMillis),
            },
            (false, b"t") => {
                self.literal(b"[");
                self.parts.push(Part { field, literal: b"]".to_vec(), time: None });
            }
            _ if field == Field::Ignored
                && matches!(name.split_last(), Some((b't' | b'l' | b'g', [b'{', ..]))) =>
            {
                self.strftime(&name).map_err(|why| {
                    format!("--log-format: {}: {why}", String::from_utf8_lossy(&text[..length]))
                })?;
            }
            _ => self.push(field),
        }
        Ok(length)
    }

    /// Takes the time of `{format}t`, or of Squid's `{format}tl` and `{format}tg`; a time that follows another one is part of it.
    fn strftime(&mut self, name: &[u8]) -> Result<(), String> {
        let end = name.iter().rposition(|byte| *byte == b'}').unwrap_or_default();
        let inner = &name[1..end];
        let of_apache = name.ends_with(b"}t");
        if !of_apache && !name.ends_with(b"}tl") && !name.ends_with(b"}tg") {
            self.push(Field::Ignored);
            return Ok(());
        }
        let at_end = inner.strip_prefix(b"end:");
        let inner = at_end.or_else(|| inner.strip_prefix(b"begin:")).unwrap_or(inner);
        let field = if at_end.is_some() || !of_apache { Field::End } else { Field::Start };
        let mut format = match inner {
            b"sec" => b"%s".to_vec(),
            b"msec_frac" | b"usec_frac" => b"%f".to_vec(),
            b"msec" | b"usec" => {
                self.push(field);
                return Ok(());
            }
            format => strftime::expanded(format)?,
        };
        match self.parts.last_mut() {
            Some(Part { field: before, literal, time: Some(begun) }) if *before == field => {
                begun.append(literal);
                begun.append(&mut format);
            }
            _ => self.parts.push(Part { field, literal: Vec::new(), time: Some(format) }),
        }
        Ok(())
    }

    /// Takes `{name}`; its length.
    fn own(&mut self, text: &[u8]) -> Result<usize, String> {
        let Some(end) = text.iter().position(|byte| *byte == b'}') else {
            return Err(wrong("--log-format", text, "a name in braces, such as {start}"));
        };
        let name = String::from_utf8_lossy(&text[1..end]);
        let field = if name.is_empty() { Ok(Field::Ignored) } else { names::own(&name) };
        self.push(field.map_err(|why| format!("--log-format: {why}"))?);
        Ok(end + 1)
    }

    fn check(&self, text: &str) -> Result<(), String> {
        let lacking = |part: &Part| part.time.as_deref().and_then(strftime::lacks);
        if let Some(what) = self.parts.iter().find_map(lacking) {
            return Err(wrong("--log-format", text.as_bytes(), &format!("a format whose time has {what}")));
        }
        let has = |fields: &[Field]| self.parts.iter().any(|part| fields.contains(&part.field));
        let ways = [
            "$msec, $time_local, %ts.%03tu, %t or {start}",
            "$request, $request_uri, %ru, %r or {request}",
            "$body_bytes_sent, $bytes_sent, %<st, %b or {bytes}",
        ];
        match NEEDED.iter().zip(ways).find(|((_, fields), _)| !has(fields)) {
            Some(((what, _), write)) => {
                Err(wrong("--log-format", text.as_bytes(), &format!("a format that says {what} ({write})")))
            }
            None => Ok(()),
        }
    }

    /// Record of `line`.
    ///
    /// # Errors
    /// The place that violates the format, or the wrong value.
    pub(super) fn read<'a>(&self, line: &'a [u8]) -> Result<Record<'a>, String> {
        let mut record = Record::default();
        let end = self.divide(line, |part, value| part.set(&mut record, value))?;
        if self.ends_with_size() {
            record.rest = &line[end..];
        }
        record.complete()
    }

    /// Number of values of `line` that are right, and the faults of the others.
    ///
    /// # Errors
    /// The place where the line does not divide by the format.
    pub(super) fn faults(&self, line: &[u8]) -> Result<(usize, Vec<String>), String> {
        let mut record = Record::default();
        let (mut right, mut wrong) = (0, Vec::new());
        self.divide(line, |part, value| {
            match part.set(&mut record, value) {
                Ok(()) => right += usize::from(part.field != Field::Ignored),
                Err(why) => wrong.push(why),
            }
            Ok(())
        })?;
        Ok((right, wrong))
    }

    /// Gives `take` each value of `line` with its part of the format, and returns where the last one ends.
    fn divide<'a>(
        &self,
        line: &'a [u8],
        mut take: impl FnMut(&Part, &'a [u8]) -> Result<(), String>,
    ) -> Result<usize, String> {
        let mut at = length_of(&self.lead, line).ok_or_else(|| {
            format!("does not begin with \"{}\"", String::from_utf8_lossy(&self.lead).escape_debug())
        })?;
        let has_tabs = self.parts.iter().any(|part| part.literal.contains(&b'\t'));
        let blank = if has_tabs { b'\t' } else { b' ' };
        // Agents are cut off, or have quotes of their own; a line without one is a request too.
        let needed = self.parts.iter().rposition(|part| !matches!(part.field, Field::Ignored | Field::Agent));
        for (index, part) in self.parts.iter().enumerate() {
            let next = self.parts.get(index + 1).map(|part| part.field);
            let written = part.time.as_ref().and_then(|format| strftime::read(format, &line[at..]));
            let end = match written {
                Some((_, length)) if length_of(&part.literal, &line[at + length..]).is_some() => Some(length),
                _ => end_of(&line[at..], part, next, blank),
            };
            let end = match end {
                Some(end) => at + end,
                None if next.is_none() && !self.own => line.len(),
                None if !self.own && Some(index) > needed => return Ok(at),
                None if !self.own && Some(index) == needed => line.len(),
                None => {
                    let literal = String::from_utf8_lossy(&part.literal);
                    return Err(format!(
                        "has no \"{}\" after the {}",
                        literal.escape_debug(),
                        part.field.name()
                    ));
                }
            };
            take(part, &line[at..end])?;
            at = end + length_of(&part.literal, &line[end..]).unwrap_or(0);
        }
        Ok(at)
    }
}

impl Part {
    /// Takes a value into `record`.
    fn set<'a>(&self, record: &mut Record<'a>, value: &'a [u8]) -> Result<(), String> {
        if let Some(format) = &self.time {
            let read = strftime::read(format, value).filter(|(_, length)| *length == value.len());
            let allowed = || format!("a time like {}", String::from_utf8_lossy(format));
            let (at, _) = read.ok_or_else(|| wrong("time", value, &allowed()))?;
            record.set_time(self.field, at);
            return Ok(());
        }
        if self.literal.first() != Some(&b'"') && !matches!(value, b"" | b"-") {
            self.test(value)?;
        }
        record.set(self.field, Cow::Borrowed(value))
    }

    /// Tests an unquoted value: does it fit its place, or is it text before the line?
    fn test(&self, value: &[u8]) -> Result<(), String> {
        match self.field {
            Field::Host if !values::is_host(value) => Err(wrong("host", value, "a name or an address")),
            Field::Client if !clients::is_client(value) => {
                Err(wrong("client", value, "an address or a name"))
            }
            Field::ClientPort if value.contains(&b' ') => {
                Err(wrong("client", value, "an address and a port"))
            }
            Field::User if clients::is_no_user(value) => Err(wrong("user", value, "the name of one")),
            _ => Ok(()),
        }
    }
}

/// End of the field at the beginning of `text`: at its literal, or for the last field of a line at `blank` or at its
/// end.
fn end_of(text: &[u8], part: &Part, next: Option<Field>, blank: u8) -> Option<usize> {
    let literal = &part.literal;
    let Some(first) = literal.first() else {
        let is_end = |at: &usize| text[*at] == blank && !goes_on(text, *at, part);
        return Some((0..text.len()).find(is_end).unwrap_or(text.len()));
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
        // Only the first blank of a run begins a literal: a line of blanks is gone through once.
        let inside = *first == b' ' && at > 0 && text[at - 1] == b' ';
        if byte != first || inside || goes_on(text, at, part) {
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

/// True if the value at the beginning of `text` is a list that goes on at `at`: at a comma before a blank, or around a
/// colon between blanks.
fn goes_on(text: &[u8], at: usize, part: &Part) -> bool {
    if !part.field.is_list() || part.literal.starts_with(b", ") || part.literal.starts_with(b" : ") {
        return false;
    }
    let (before, behind) = (&text[..at], &text[at + 1..]);
    match text[at] {
        b' ' => before.ends_with(b",") || behind.starts_with(b": ") || before.ends_with(b" :"),
        b',' => behind.starts_with(b" "),
        _ => false,
    }
}

/// True when `text` may begin with a value of `field`.
fn fits(field: Field, text: &[u8]) -> bool {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match field {
        // Envoy writes 0 where nothing was answered.
        Field::Status => {
            let is_code = digits == 3 || text[..digits] == *b"0";
            text.first() == Some(&b'-') || is_code && !text.get(digits).is_some_and(u8::is_ascii_alphanumeric)
        }
        field => !field.is_number() || digits > 0 || text.first() == Some(&b'-'),
    }
}

/// Length of the literal at the beginning of `text`; `None` when it is not there.
fn length_of(literal: &[u8], text: &[u8]) -> Option<usize> {
    let mut at = 0;
    for byte in literal {
        // A tab stands for itself, a blank for any number of both.
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
        let part = |part: Part| (part.field, String::from_utf8(part.literal).unwrap());
        pattern.parts.into_iter().map(part).collect()
    }

    #[test]
    fn three_kinds_of_format_strings_are_understood() {
        use crate::workload::log::spans::Unit;
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
        let spaces =
            fields("%ts.%03tu %http::>rm %ru %err_code/%err_detail %ssl::>sni %ssl::bump_mode %http::<st");
        assert_eq!(spaces[1], (Field::Method, " ".into()));
        assert_eq!(spaces[3..5], [(Field::Ignored, "/".into()), (Field::Ignored, " ".into())]);
        assert_eq!(spaces.last().unwrap(), &(Field::Total, String::new()));
    }

    #[test]
    fn a_format_that_lacks_what_a_request_needs_is_refused() {
        let wrong = |text: &str| Pattern::compile(text).unwrap_err();
        let message = "--log-format: found \"$request $bytes_sent\", not a format that says when a request was ($msec, \
                       $time_local, %ts.%03tu, %t or {start})";
        assert_eq!(wrong("$request $bytes_sent"), message);
        assert!(wrong("$msec $bytes_sent").contains("what was asked for"));
        assert!(wrong("%t \"%r\" %>s").contains("how large a response is"));
        assert!(wrong("").contains("when a request was"));
        assert_eq!(
            wrong("{start} {url} {bytes"),
            "--log-format: found \"{bytes\", not a name in braces, such as {start}"
        );
        let unknown = wrong("{start} {urll} {bytes}");
        assert!(unknown.starts_with(
            "--log-format: unknown field \"urll\" (did you mean url?); the fields are start, end"
        ));
        assert_eq!(wrong("{end:ms}"), "--log-format: end: found \"end:ms\"; only spans have a unit");
        let unit = "--log-format: elapsed: found the unit \"min\"; write one of: s, ms, us, ns";
        assert_eq!(wrong("{elapsed:min}"), unit);
    }

    #[test]
    fn own_names_stand_in_braces_which_are_text_elsewhere() {
        use crate::workload::log::spans::Unit;
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
