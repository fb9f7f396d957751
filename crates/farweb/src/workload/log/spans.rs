//! Spans of time as logs write them, with the unit that their format states or leaves open.

use super::values::{self, wrong};

const MICRO: u64 = 1_000;
const MILLI: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;

/// Unit of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// s
    Seconds,
    /// ms
    Millis,
    /// µs
    Micros,
    /// ns
    Nanos,
    /// Open: s in a log with decimals, else ms: `time-taken`, as different writers of one format have it.
    SecondsOrMillis,
    /// Open: s in a log with decimals, else to be stated.
    SecondsOrUnknown,
    /// Open: any that stands behind it, or to be stated.
    Unknown,
    /// Open: µs unless ms are stated: `%D`, as different writers of one directive have it.
    MicrosOrMillis,
    /// ms in a log without decimals.
    WholeMillis,
    /// Any that stands behind it: nobody has stated another one.
    Unstated,
}

/// Spans of the servers behind one that were asked one after the other, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Spans {
    pub sum: u64,
    /// Span of the last one, which gave the response; `None` where the log has none of it.
    pub last: Option<u64>,
}

/// Description of a span without its unit, for messages.
const UNKNOWN_UNIT: &str = "a span whose unit is known; state it: --elapsed-unit s, ms, us or ns";

/// Description of a span with decimals behind others without, for messages.
const WHOLE: &str = "a whole number of ms as in the lines before; state the unit: --elapsed-unit s or ms";

/// The span that `text` writes, called `name` in messages, in ns.
///
/// # Errors
/// What is allowed instead.
pub(super) fn span(name: &str, text: &[u8], unit: Unit) -> Result<u64, String> {
    let has_units = text.last().is_some_and(u8::is_ascii_alphabetic);
    let (unit, called) = match unit {
        Unit::Seconds => (SECOND, "s"),
        Unit::Millis => (MILLI, "ms"),
        Unit::Micros | Unit::MicrosOrMillis => (MICRO, "µs"),
        Unit::Nanos => (1, "ns"),
        Unit::SecondsOrMillis | Unit::SecondsOrUnknown | Unit::Unknown if text.contains(&b'.') => {
            (SECOND, "s")
        }
        Unit::SecondsOrMillis | Unit::SecondsOrUnknown | Unit::Unknown => (MILLI, "ms"),
        // No time at all has any unit.
        Unit::Unstated if has_units || text.iter().all(|byte| b"0.".contains(byte)) => (SECOND, "s"),
        Unit::Unstated => return Err(wrong(name, text, UNKNOWN_UNIT)),
        Unit::WholeMillis if text.contains(&b'.') && !has_units => return Err(wrong(name, text, WHOLE)),
        Unit::WholeMillis => (MILLI, "ms"),
    };
    let nanos = if has_units { with_units(text) } else { values::span(text, unit) };
    nanos.ok_or_else(|| match text.first() {
        Some(b'+') => wrong(name, text, AT_ONCE),
        _ => wrong(name, text, &format!("a number of {called} from 0 to 30 days")),
    })
}

/// Description of a value of HAProxy with a plus, for messages.
pub(super) const AT_ONCE: &str =
    "the whole: HAProxy wrote the line before the response had ended (option logasap)";

/// A span with its units behind its numbers, as Go writes it: `1h2m3.5s`.
fn with_units(text: &[u8]) -> Option<u64> {
    let units: [(&[u8], u64); 8] = [
        (b"ns", 1),
        ("µs".as_bytes(), MICRO),
        ("μs".as_bytes(), MICRO),
        (b"us", MICRO),
        (b"ms", MILLI),
        (b"s", SECOND),
        (b"m", 60 * SECOND),
        (b"h", 3600 * SECOND),
    ];
    let (mut rest, mut sum, mut largest) = (text, 0_u64, u64::MAX);
    while !rest.is_empty() {
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
        let (name, unit) = units.iter().find(|(name, _)| rest[digits..].starts_with(name))?;
        if *unit >= largest {
            return None;
        }
        sum = sum.checked_add(values::span(&rest[..digits], *unit)?)?;
        (rest, largest) = (&rest[digits + name.len()..], *unit);
    }
    values::span(sum.to_string().as_bytes(), 1)
}

/// Spans with `, ` and ` : ` between them, one for each server that was asked; `None` when there is none.
///
/// # Errors
/// What is allowed instead of one.
pub(super) fn spans(text: &[u8], unit: Unit) -> Result<Option<Spans>, String> {
    let mut all: Option<Spans> = None;
    for part in text.split(|byte| matches!(byte, b',' | b':')).map(<[u8]>::trim_ascii) {
        let is_absent = part == b"-" || part.is_empty();
        let last = if is_absent { None } else { Some(span("server time", part, unit)?) };
        let before = all.map(|spans| spans.sum);
        all = match (before, last) {
            (None, None) => None,
            _ => Some(Spans { sum: before.unwrap_or(0).saturating_add(last.unwrap_or(0)), last }),
        };
    }
    Ok(all)
}
