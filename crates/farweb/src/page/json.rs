//! JSON as HARs have it, with the place of every value.
//!
//! Differs from RFC 8259: half of a surrogate pair, where a browser cut a text, is read as `?`. Numbers stay texts, so
//! none is out of range. Of equal names in a table the last one counts. `serde_json` refuses the first two, and
//! keeps no places.

use std::borrow::Cow;

/// Deepest nesting that is read. Chosen: DevTools keeps 32 stacks of callers behind a script.
pub(super) const DEPTH_MAX: usize = 256;

/// Most characters of a text that counts, such as a URL. Chosen.
const TEXT_MAX: usize = 4096;

/// A value, and the place in the text where it begins, in bytes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Json<'a> {
    pub at: usize,
    pub value: Value<'a>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value<'a> {
    Null,
    Bool(bool),
    Number(&'a str),
    Text(Cow<'a, str>),
    List(Vec<Json<'a>>),
    Table(Vec<(Cow<'a, str>, Json<'a>)>),
}

/// Why a text is no JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// Something else stands at this place, or nothing.
    Broken(usize),
    /// `NaN`, `Infinity` or `-Infinity`.
    Constant(&'static str),
    /// Lists in lists beyond [`DEPTH_MAX`].
    Deep,
}

static NOTHING: Json<'static> = Json { at: 0, value: Value::Null };

/// The value that `text` has.
pub(super) fn parse(text: &str) -> Result<Json<'_>, Fault> {
    let mut parser = Parser { text, at: 0 };
    let value = parser.value(0)?;
    match parser.next() {
        None => Ok(value),
        Some(_) => Err(parser.broken()),
    }
}

/// The value at a place of a text that was read, as it stands there, in one line.
pub(super) fn as_written(text: &str, at: usize) -> String {
    let mut parser = Parser { text, at };
    let end = parser.value(0).map_or(at, |_| parser.at);
    text[at..end].split_whitespace().collect::<Vec<_>>().join(" ")
}

impl<'a> Json<'a> {
    /// Null, of no file.
    pub(super) fn nothing() -> &'static Self {
        &NOTHING
    }

    /// A member of a table, or null without one.
    pub(super) fn get(&self, name: &str) -> &Self {
        self.member(name).unwrap_or(&NOTHING)
    }

    /// A member of a table.
    pub(super) fn member(&self, name: &str) -> Option<&Self> {
        let Value::Table(members) = &self.value else { return None };
        members.iter().rev().find(|(own, _)| own == name).map(|(_, value)| value)
    }

    /// The members of a list, none of anything else.
    pub(super) fn list(&self) -> &[Self] {
        if let Value::List(members) = &self.value { members } else { &[] }
    }

    pub(super) fn is_table(&self) -> bool {
        matches!(self.value, Value::Table(_))
    }

    pub(super) fn is_null(&self) -> bool {
        self.value == Value::Null
    }

    /// True for all but null, false, 0 and empty values.
    pub(super) fn holds(&self) -> bool {
        match &self.value {
            Value::Null => false,
            Value::Bool(is_so) => *is_so,
            Value::Number(_) => self.number() != Some(0.0),
            Value::Text(text) => !text.is_empty(),
            Value::List(members) => !members.is_empty(),
            Value::Table(members) => !members.is_empty(),
        }
    }

    /// A finite number, also as a text and in ms.
    pub(super) fn number(&self) -> Option<f64> {
        match &self.value {
            Value::Number(text) => number(text),
            Value::Text(text) => number(text),
            _ => None,
        }
    }

    /// The beginning of a text, empty for anything else.
    pub(super) fn text(&self) -> &str {
        let whole = self.whole();
        whole.char_indices().nth(TEXT_MAX).map_or(whole, |(end, _)| &whole[..end])
    }

    /// A whole text, empty for anything else.
    pub(super) fn whole(&self) -> &str {
        if let Value::Text(text) = &self.value { text } else { "" }
    }

    /// An id: a text, or a whole number.
    pub(super) fn identifier(&self) -> &str {
        match self.value {
            Value::Number(digits) if !digits.contains(['.', 'e', 'E']) => digits,
            _ => self.text(),
        }
    }

    /// The value of a header of a request or response, by its name in small letters. Empty without one.
    pub(super) fn header(&self, name: &str) -> &str {
        let rows = self.get("headers").list();
        rows.iter()
            .find(|row| row.get("name").text().eq_ignore_ascii_case(name))
            .map_or("", |row| row.get("value").text())
    }
}

/// The finite number that a text is, with or without `ms` behind it.
pub(super) fn number(text: &str) -> Option<f64> {
    let digits = text.strip_suffix("ms").unwrap_or(text).trim();
    digits.parse().ok().filter(|number: &f64| number.is_finite())
}

/// Reads `text` from a place on.
struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    /// The next byte that is not blank.
    fn next(&mut self) -> Option<u8> {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().take_while(|byte| b" \t\r\n".contains(byte)).count();
        self.peek()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Passes over a byte if it comes next.
    fn takes(&mut self, byte: u8) -> bool {
        let is_there = self.next() == Some(byte);
        self.at += usize::from(is_there);
        is_there
    }

    const fn broken(&self) -> Fault {
        Fault::Broken(self.at)
    }

    fn value(&mut self, depth: usize) -> Result<Json<'a>, Fault> {
        let first = self.next();
        let at = self.at;
        let value = match first {
            Some(b'{' | b'[') if depth == DEPTH_MAX => return Err(Fault::Deep),
            Some(b'{') => self.table(depth + 1)?,
            Some(b'[') => self.list(depth + 1)?,
            Some(b'"') => Value::Text(self.string()?),
            _ => self.word()?,
        };
        Ok(Json { at, value })
    }

    fn table(&mut self, depth: usize) -> Result<Value<'a>, Fault> {
        let mut members = Vec::new();
        self.at += 1;
        if self.takes(b'}') {
            return Ok(Value::Table(members));
        }
        loop {
            if self.next() != Some(b'"') {
                return Err(self.broken());
            }
            let name = self.string()?;
            if !self.takes(b':') {
                return Err(self.broken());
            }
            members.push((name, self.value(depth)?));
            if self.takes(b'}') {
                return Ok(Value::Table(members));
            }
            if !self.takes(b',') {
                return Err(self.broken());
            }
        }
    }

    fn list(&mut self, depth: usize) -> Result<Value<'a>, Fault> {
        let mut members = Vec::new();
        self.at += 1;
        if self.takes(b']') {
            return Ok(Value::List(members));
        }
        loop {
            members.push(self.value(depth)?);
            if self.takes(b']') {
                return Ok(Value::List(members));
            }
            if !self.takes(b',') {
                return Err(self.broken());
            }
        }
    }

    /// A number, or a word without quotes.
    fn word(&mut self) -> Result<Value<'a>, Fault> {
        let rest = &self.text[self.at..];
        for (word, value) in
            [("null", Value::Null), ("true", Value::Bool(true)), ("false", Value::Bool(false))]
        {
            if rest.starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        if let Some(word) = ["NaN", "Infinity", "-Infinity"].into_iter().find(|word| rest.starts_with(word)) {
            return Err(Fault::Constant(word));
        }
        let length = number_length(rest.as_bytes()).ok_or(self.broken())?;
        self.at += length;
        Ok(Value::Number(&rest[..length]))
    }

    /// A text, from its first quote on.
    fn string(&mut self) -> Result<Cow<'a, str>, Fault> {
        self.at += 1;
        let mut text = Cow::Borrowed("");
        loop {
            let rest = &self.text.as_bytes()[self.at..];
            let length = rest.iter().take_while(|byte| !matches!(byte, b'"' | b'\\' | ..b' ')).count();
            let part = &self.text[self.at..self.at + length];
            if text.is_empty() {
                text = Cow::Borrowed(part);
            } else {
                text.to_mut().push_str(part);
            }
            self.at += length;
            match rest.get(length) {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => text.to_mut().push(self.escaped()?),
                _ => return Err(self.broken()),
            }
        }
    }

    /// The character that an escape stands for, `?` for half of one.
    fn escaped(&mut self) -> Result<char, Fault> {
        let rest = &self.text.as_bytes()[self.at..];
        let found = match rest.get(1) {
            Some(sign @ (b'"' | b'\\' | b'/')) => char::from(*sign),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unit(),
            Some(_) => return Err(self.broken()),
            None => return Err(Fault::Broken(self.text.len())),
        };
        self.at += 2;
        Ok(found)
    }

    /// The character of one or two escapes of four digits.
    fn unit(&mut self) -> Result<char, Fault> {
        let bytes = self.text.as_bytes();
        let unit = |at: usize| {
            let digits = bytes.get(at + 2..at + 6).filter(|_| bytes[at..].starts_with(b"\\u"))?;
            let is_unit = digits.iter().all(u8::is_ascii_hexdigit);
            is_unit.then(|| u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok())?
        };
        let first = unit(self.at).ok_or(self.broken())?;
        self.at += 6;
        let second = unit(self.at).filter(|_| first & 0xFC00 == 0xD800);
        if let Some(Ok(found)) = second.and_then(|second| char::decode_utf16([first, second]).next()) {
            self.at += 6;
            return Ok(found);
        }
        Ok(char::from_u32(u32::from(first)).unwrap_or('?'))
    }
}

/// Length of the number that a text begins with.
fn number_length(text: &[u8]) -> Option<usize> {
    let digits = |from: usize| text[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let whole = usize::from(text.first() == Some(&b'-'));
    let mut end = whole
        + match text.get(whole)? {
            b'0' => 1,
            b'1'..=b'9' => digits(whole),
            _ => return None,
        };
    if text.get(end) == Some(&b'.') && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
    }
    if matches!(text.get(end), Some(b'e' | b'E')) {
        let power = end + 1 + usize::from(matches!(text.get(end + 1), Some(b'+' | b'-')));
        if power < text.len() && digits(power) > 0 {
            end = power + digits(power);
        }
    }
    Some(end)
}
