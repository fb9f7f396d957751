//! JSON objects, a line each: which keys have the values that are of use.

use std::borrow::Cow;

use serde_json::Value;

use super::field::Field;
use super::json;
use super::names::{CADDYS, CADDYS_TLS, DURATION, JSON_SOFTWARE, NEEDED, own};
use super::record::Record;
use super::rules::is_given_up;
use super::spans::Unit;
use super::units::Units;
use super::values::wrong;
use super::wrapped;

/// Most keys of a line of JSON that a message names. Chosen: as nginx and Caddy have.
const KEYS_NAMED: usize = 40;

/// Keys of a JSON object, a point for each level, with the meaning of their values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Keys {
    keys: Vec<(String, Field)>,
    /// An object without a URL or a size cannot be read.
    strict: bool,
    /// Nor can one without this key.
    sign: Option<&'static str>,
    pub(super) units: Units,
}

/// Program that writes lines of JSON like `line`.
pub(super) fn software(line: &[u8]) -> Option<&'static str> {
    let object: Value = json::value(&wrapped::message(line)).ok()?;
    let found = JSON_SOFTWARE.iter().find(|(key, _)| at(&object, key).is_some());
    found.map(|(_, software)| *software)
}

/// Value of the key `key`, which has a point for each level or in itself.
fn at<'a>(object: &'a Value, key: &str) -> Option<&'a Value> {
    let nested = key.split('.').try_fold(object, |value, key| value.get(key));
    nested.or_else(|| object.get(key))
}

impl Keys {
    /// The keys of a format with a name.
    pub(super) fn new(keys: &[(&str, Field)], strict: bool, sign: Option<&'static str>) -> Self {
        Self {
            keys: keys.iter().map(|(key, field)| ((*key).to_owned(), *field)).collect(),
            strict,
            sign,
            units: Units::Open,
        }
    }

    /// Keys from `NAME=KEY`, a name of farweb's own and the key of its value, with the unit of a span behind a colon.
    ///
    /// # Errors
    /// When a name is not known, or nothing says when a request was, what for, or how large the response.
    pub(super) fn named(pairs: &[String]) -> Result<Self, String> {
        let parse = |pair: &String| {
            let (name, key) = pair.split_once('=').filter(|(_, key)| !key.is_empty()).ok_or_else(|| {
                wrong("--field", pair.as_bytes(), "NAME=KEY, such as start=ts or elapsed=took:ms")
            })?;
            let meaning = own(name).map_err(|why| format!("--field: {why}"))?;
            match key.rsplit_once(':').filter(|_| meaning.is_span()) {
                Some((key, unit)) => {
                    let meaning = own(&format!("{name}:{unit}")).map_err(|why| format!("--field: {why}"))?;
                    Ok((key.to_owned(), meaning))
                }
                None => Ok((key.to_owned(), meaning)),
            }
        };
        let keys: Vec<_> = pairs.iter().map(parse).collect::<Result<_, String>>()?;
        let has_field = |wanted: Field| keys.iter().any(|(_, field)| *field == wanted);
        if has_field(Field::Clock) && !has_field(Field::Date) {
            return Err(
                "--field: time is the time of a day and needs date=KEY; a whole time is start=KEY or end=KEY"
                    .into(),
            );
        }
        let ways = [
            "start=KEY, end=KEY or date=KEY and time=KEY",
            "url=KEY, path=KEY or request=KEY",
            "bytes=KEY or body=KEY",
        ];
        let has = |fields: &[Field]| keys.iter().any(|(_, field)| fields.contains(field));
        match NEEDED.iter().zip(ways).find(|((_, fields), _)| !has(fields)) {
            Some(((what, _), write)) => Err(format!("--field: none says {what}; write {write}")),
            None => Ok(Self { keys, strict: true, sign: None, units: Units::Open }),
        }
    }

    /// True if both have the same keys, whatever the units of their spans.
    pub(super) fn are_those_of(&self, other: &Self) -> bool {
        (&self.keys, self.strict, self.sign) == (&other.keys, other.strict, other.sign)
    }

    /// Keys of such a field.
    pub(super) fn of(&self, is_it: impl Fn(Field) -> bool) -> impl Iterator<Item = &str> {
        self.keys.iter().filter(move |(_, field)| is_it(*field)).map(|(key, _)| key.as_str())
    }

    /// Record of a line.
    ///
    /// # Errors
    /// The problem with the line.
    pub(super) fn read<'a>(&self, line: &[u8]) -> Result<Record<'a>, String> {
        let object: Value = json::value(line).map_err(|error| broken(&error))?;
        self.record(&object)
    }

    /// True for an error of Caddy, and for an object with a message, or of the program, without the URL and the size that every request has.
    pub(super) fn is_message(&self, line: &[u8]) -> bool {
        let Ok(object) = json::value(line) else { return false };
        let has = |fields: &[Field]| {
            self.keys.iter().any(|(key, field)| fields.contains(field) && at(&object, key).is_some())
        };
        let is_own = self.sign.is_some_and(|sign| at(&object, sign).is_some());
        let has_message = is_own || object.get("msg").or_else(|| object.get("message")).is_some();
        is_error_of_caddy(&object)
            || self.strict && has_message && NEEDED[1..].iter().all(|(_, fields)| !has(fields))
    }

    /// Number of right values of a line, and the faults of the others, or `None` for anything but an object with a
    /// request and the size of its response.
    pub(super) fn faults(&self, line: &[u8]) -> Option<(usize, Vec<String>)> {
        let object: Value = json::value(line).ok()?;
        self.check(&object, false).ok()?;
        let (mut right, mut wrong) = (0, Vec::new());
        let mut record = Record::default();
        self.set(&object, &mut record, |result| {
            match result {
                Ok(()) => right += 1,
                Err(why) => wrong.push(why),
            }
            Ok(())
        })
        .ok()?;
        Some((right, wrong))
    }

    /// True if an object in `head` has one of some keys; and the keys of the first object.
    pub(super) fn shown(&self, head: &[u8], is_it: impl Fn(Field) -> bool) -> (bool, String) {
        let lines = head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        let objects: Vec<Value> = lines
            .filter_map(|line| json::value(&wrapped::message(line)).ok())
            .filter(Value::is_object)
            .collect();
        let is_there = |key: &str| objects.iter().any(|object| at(object, key).is_some());
        let mut there = Vec::new();
        objects.first().into_iter().for_each(|object| keys_of(object, "", &mut there));
        there.truncate(KEYS_NAMED);
        (self.of(is_it).any(is_there), there.join(", "))
    }

    /// Record of a JSON object.
    fn record<'a>(&self, object: &Value) -> Result<Record<'a>, String> {
        if !object.is_object() {
            return Err("is no JSON object".into());
        }
        if is_error_of_caddy(object) {
            return Err("is an error of Caddy, whose request has a line of its own".into());
        }
        let mut record = Record::default();
        self.set(object, &mut record, |result| result)?;
        if self.strict {
            self.check(object, is_given_up(&record))?;
        }
        record.complete()
    }

    /// Takes the values of an object into `record`, and gives `take` each result.
    fn set(
        &self,
        object: &Value,
        record: &mut Record<'_>,
        mut take: impl FnMut(Result<(), String>) -> Result<(), String>,
    ) -> Result<(), String> {
        for (key, field) in &self.keys {
            let field = match field {
                Field::Elapsed(Unit::Unknown) if key == DURATION && at(object, CADDYS).is_some() => {
                    Field::Elapsed(Unit::SecondsOrUnknown)
                }
                field => *field,
            };
            // Caddy describes TLS where there is some.
            let is_clear = key == CADDYS_TLS && at(object, CADDYS).is_some();
            let text = at(object, key).and_then(|value| text_of(value, field));
            let Some(text) = text.or(is_clear.then(|| b"off".to_vec())) else { continue };
            take(record.set(field.by(self.units), Cow::Owned(text)))?;
        }
        Ok(())
    }

    /// Checks that an object has the keys of every request. One `given_up` before its response has no size.
    fn check(&self, object: &Value, given_up: bool) -> Result<(), String> {
        if let Some(sign) = self.sign.filter(|sign| at(object, sign).is_none()) {
            return Err(format!("has no key {sign}"));
        }
        for (what, fields) in &NEEDED[1..NEEDED.len() - usize::from(given_up)] {
            let keys =
                || self.keys.iter().filter(|(_, field)| fields.contains(field)).map(|(key, _)| key.as_str());
            if !keys().any(|key| at(object, key).is_some()) {
                return Err(format!(
                    "does not say {what}: has no key {}",
                    keys().collect::<Vec<_>>().join(" or ")
                ));
            }
        }
        Ok(())
    }
}

/// True for a line that may be a piece of JSON.
pub(super) fn is_of_json(line: &[u8]) -> bool {
    matches!(line.trim_ascii_start().first(), Some(b'{' | b'}' | b'[' | b']' | b'"'))
}

/// Fault of a line that cannot be read as JSON.
pub(super) fn broken(error: &serde_json::Error) -> String {
    match error.is_eof() {
        true => "is cut off: the end of its JSON object is missing".to_owned(),
        false => format!("is no JSON object: byte {} does not belong there", error.column()),
    }
}

/// Text of a value of `field`; `None` where it is of no use.
fn text_of(value: &Value, field: Field) -> Option<Vec<u8>> {
    match value {
        Value::String(text) => Some(text.as_bytes().to_vec()),
        // A header is a list of its lines, the times of several servers are a list of numbers.
        Value::Array(values) => {
            let values: Vec<_> = values.iter().filter_map(|value| text_of(value, field)).collect();
            (!values.is_empty()).then(|| values.join(&b", "[..]))
        }
        // Without an exponent, as fields are read. A span keeps its point: decimals tell its unit.
        Value::Number(number) => {
            let decimal = number.as_f64().unwrap_or(f64::NAN);
            let has_point = field.is_span() && number.is_f64() && decimal.fract() == 0.0;
            let whole = number.as_u64().map(|whole| whole.to_string());
            let text = whole.unwrap_or_else(|| decimal.to_string());
            Some(if has_point { text + ".0" } else { text }.into_bytes())
        }
        // An object that describes TLS is there with TLS alone.
        Value::Object(_) if field == Field::Tls => Some(b"on".to_vec()),
        Value::Bool(flag)
            if matches!(
                field,
                Field::Tls | Field::Scheme | Field::Edge | Field::Inner | Field::EdgeIs(_)
            ) =>
        {
            Some(flag.to_string().into_bytes())
        }
        _ => None,
    }
}

/// True for a line of Caddy's logger of errors. Source: Caddy 2, `caddyhttp/server.go`.
fn is_error_of_caddy(object: &Value) -> bool {
    object.get("logger").and_then(Value::as_str).is_some_and(|name| name.starts_with("http.log.error"))
}

/// Keys of a JSON object, a point for each level.
fn keys_of(object: &Value, above: &str, keys: &mut Vec<String>) {
    for (key, value) in object.as_object().into_iter().flatten() {
        let key = format!("{above}{key}");
        match value {
            Value::Object(_) => keys_of(value, &format!("{key}."), keys),
            _ => keys.push(key),
        }
    }
}
