//! Quantities as a person writes them: a decimal number and a unit, read exactly.
//!
//! `"34.368 Mbit/s"`, `"60 ms"`, `"256000 B"`. The number is decimal, without sign or exponent. The value must be a whole
//! number of ns, B or bit/s. Prefixes are decimal (1 kB = 1000 B). KiB and MiB are binary.

use std::borrow::Cow;
use std::fmt::Display;
use std::str::FromStr;

use serde::{Deserialize, Deserializer};

use super::{BitRate, Bytes, Duration};

/// A quantity that is written with a unit.
pub trait Quantity: FromStr<Err = QuantityError> {
    /// Name of the quantity, for messages and for `format` in the JSON Schema: `duration`, `size`, `rate`.
    const KIND: &'static str;
    /// An example of one.
    const EXAMPLE: &'static str;
    /// Unit names with their size in the smallest unit, smallest first.
    const UNITS: &'static [(&'static str, u64)];
    /// Other ways to write them, each with the unit that it stands for. None of them has a second meaning.
    const ALIASES: &'static [(&'static str, &'static str)] = &[];

    /// Names of all units, for messages.
    #[must_use]
    fn unit_names() -> Vec<&'static str> {
        Self::UNITS.iter().map(|(name, _)| *name).collect()
    }
}

/// Units by kind of quantity, each with its size in the smallest one, smallest first.
pub const UNITS: [&[(&str, u64)]; 3] = [Duration::UNITS, Bytes::UNITS, BitRate::UNITS];

/// Other ways to write them, by kind likewise.
pub const ALIASES: [&[(&str, &str)]; 3] = [Duration::ALIASES, Bytes::ALIASES, BitRate::ALIASES];

/// Why a text is not the quantity that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}; write a {kind} as a number and a unit, for example \"{example}\" (units: {units})")]
pub struct QuantityError {
    problem: Cow<'static, str>,
    kind: &'static str,
    example: &'static str,
    units: String,
}

impl QuantityError {
    /// An error about a quantity of type `Q`.
    pub fn new<Q: Quantity>(problem: impl Into<Cow<'static, str>>) -> Self {
        Self {
            problem: problem.into(),
            kind: Q::KIND,
            example: Q::EXAMPLE,
            units: Q::unit_names().join(", "),
        }
    }
}

impl Quantity for Duration {
    const KIND: &'static str = "duration";
    const EXAMPLE: &'static str = "60 ms";
    const UNITS: &'static [(&'static str, u64)] = &[
        ("ns", 1),
        ("us", 1_000),
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
        ("min", 60_000_000_000),
        ("h", 3_600_000_000_000),
    ];
    const ALIASES: &'static [(&'static str, &'static str)] = &[
        ("µs", "us"),
        ("μs", "us"),
        ("msec", "ms"),
        ("sec", "s"),
        ("seconds", "s"),
        ("minutes", "min"),
        ("hours", "h"),
    ];
}

impl Quantity for Bytes {
    const KIND: &'static str = "size";
    const EXAMPLE: &'static str = "32767 B";
    const UNITS: &'static [(&'static str, u64)] = &[
        ("B", 1),
        ("kB", 1_000),
        ("KiB", 1 << 10),
        ("MB", 1_000_000),
        ("MiB", 1 << 20),
        ("GB", 1_000_000_000),
        ("GiB", 1 << 30),
    ];
    const ALIASES: &'static [(&'static str, &'static str)] =
        &[("byte", "B"), ("bytes", "B"), ("KB", "kB"), ("Bytes", "B")];
}

impl Quantity for BitRate {
    const KIND: &'static str = "rate";
    const EXAMPLE: &'static str = "34.368 Mbit/s";
    const UNITS: &'static [(&'static str, u64)] =
        &[("bit/s", 1), ("kbit/s", 1_000), ("Mbit/s", 1_000_000), ("Gbit/s", 1_000_000_000)];
    const ALIASES: &'static [(&'static str, &'static str)] = &[
        ("bps", "bit/s"),
        ("b/s", "bit/s"),
        ("kbps", "kbit/s"),
        ("Kbps", "kbit/s"),
        ("kb/s", "kbit/s"),
        ("kbit", "kbit/s"),
        ("Mbps", "Mbit/s"),
        ("mbps", "Mbit/s"),
        ("Mb/s", "Mbit/s"),
        ("Mbit", "Mbit/s"),
        ("mbit", "Mbit/s"),
        ("Gbps", "Gbit/s"),
        ("gbps", "Gbit/s"),
        ("Gb/s", "Gbit/s"),
        ("Gbit", "Gbit/s"),
    ];
}

/// Reads `text` as a whole number of the smallest unit of `Q`.
pub(super) fn parse<Q: Quantity>(text: &str) -> Result<u64, QuantityError> {
    let trimmed = text.trim();
    let split = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(trimmed.len());
    let (number, unit) = (&trimmed[..split], trimmed[split..].trim_start());
    if number.is_empty() {
        return Err(QuantityError::new::<Q>(format!("\"{text}\" does not start with a number")));
    }
    if unit.is_empty() {
        return Err(QuantityError::new::<Q>(format!("\"{text}\" has no unit")));
    }
    let alias = Q::ALIASES.iter().find(|(name, _)| *name == unit);
    let known = alias.map_or(unit, |(_, known)| *known);
    let Some((_, scale)) = Q::UNITS.iter().find(|(name, _)| *name == known) else {
        return Err(QuantityError::new::<Q>(format!("\"{text}\" has the unknown unit \"{unit}\"")));
    };
    scaled(number, *scale).ok_or_else(|| {
        QuantityError::new::<Q>(format!("\"{text}\" is not a whole number of {}", Q::UNITS[0].0))
    })
}

/// `number * scale` exactly, or `None` when that is no whole number below 2^63.
fn scaled(number: &str, scale: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let fraction = fraction.trim_end_matches('0');
    if fraction.len() > 18 || fraction.contains('.') {
        return None;
    }
    let digits: u128 = format!("{whole}{fraction}").parse().ok()?;
    let denominator = 10_u128.pow(fraction.len() as u32);
    let product = digits.checked_mul(u128::from(scale))?;
    let value = u64::try_from(product / denominator).ok()?;
    (product.is_multiple_of(denominator) && value < 1 << 63).then_some(value)
}

impl FromStr for Duration {
    type Err = QuantityError;
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        parse::<Self>(text).map(Self::from_nanos)
    }
}

impl FromStr for Bytes {
    type Err = QuantityError;
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        parse::<Self>(text).map(Self::new)
    }
}

impl FromStr for BitRate {
    type Err = QuantityError;
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        Self::from_bps(parse::<Self>(text)?).ok_or_else(|| {
            QuantityError::new::<Self>(format!("\"{text}\" is zero, a rate at which nothing arrives"))
        })
    }
}

/// Deserialises a value written as text, with a reader of its own.
///
/// # Errors
/// When it is no text, or the reader refuses it.
pub(crate) fn from_text<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: Display>,
{
    let text = Cow::<str>::deserialize(deserializer)?;
    text.parse().map_err(serde::de::Error::custom)
}

/// Text in scenario files and manifests: written by `Display`, read by `FromStr`. Takes a type, its name and its JSON Schema
/// with a `format` that names the readable texts.
macro_rules! as_text {
    ($type:ty, $name:expr, $schema:tt) => {
        impl ::serde::Serialize for $type {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        impl<'de> ::serde::Deserialize<'de> for $type {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::units::from_text(deserializer)
            }
        }
        #[cfg(test)]
        impl ::schemars::JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                $name.into()
            }
            fn json_schema(_: &mut ::schemars::SchemaGenerator) -> ::schemars::Schema {
                ::schemars::json_schema!($schema)
            }
        }
    };
}
pub(crate) use as_text;

/// A value that is a quantity or a word that stands for something else.
macro_rules! quantity_or_word {
    ($type:ty, $word:literal, $quantity:ty, $from_word:expr, $from_quantity:expr, $to_quantity:expr) => {
        impl ::std::str::FromStr for $type {
            type Err = $crate::units::QuantityError;
            fn from_str(text: &str) -> Result<Self, $crate::units::QuantityError> {
                if text == $word { Ok($from_word) } else { text.parse().map($from_quantity) }
            }
        }
        impl ::std::fmt::Display for $type {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                let quantity: fn(&Self) -> Option<$quantity> = $to_quantity;
                match quantity(self) {
                    Some(quantity) => quantity.fmt(f),
                    None => f.write_str($word),
                }
            }
        }
        $crate::units::as_text!($type, stringify!($type), {
            "type": "string",
            "format": <$quantity as crate::units::Quantity>::KIND,
            "x-words": [$word],
            "examples": [<$quantity as crate::units::Quantity>::EXAMPLE, $word]
        });
    };
}
pub(crate) use quantity_or_word;

as_text!(Duration, Self::KIND, { "type": "string", "format": Self::KIND, "examples": [Self::EXAMPLE] });
as_text!(Bytes, Self::KIND, { "type": "string", "format": Self::KIND, "examples": [Self::EXAMPLE] });
as_text!(BitRate, Self::KIND, { "type": "string", "format": Self::KIND, "examples": [Self::EXAMPLE] });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read_as_people_write_them() {
        let rate = Ok(BitRate::from_bps(10_000_000).unwrap());
        for text in ["10 Mbit/s", "10Mbps", "10 Mb/s", "10mbit", "10 mbps"] {
            assert_eq!(text.parse(), rate, "{text}");
        }
        assert_eq!(
            ("5 msec".parse(), "5 µs".parse()),
            (Ok(Duration::from_millis(5)), Ok(Duration::from_nanos(5000)))
        );
        assert_eq!("64KB".parse(), Ok(Bytes::new(64_000)));
        for (text, kind) in [("10 MB/s", "a rate in bytes"), ("10 mb", "bits or bytes")] {
            assert!(text.parse::<BitRate>().is_err(), "{text}: {kind}");
        }
    }

    #[test]
    fn each_alias_stands_for_a_unit_and_is_none_itself() {
        fn check<Q: Quantity>() {
            for (alias, unit) in Q::ALIASES {
                let is_unit = |name: &str| Q::UNITS.iter().any(|(known, _)| *known == name);
                assert!(is_unit(unit) && !is_unit(alias), "{alias}");
            }
        }
        check::<Duration>();
        check::<Bytes>();
        check::<BitRate>();
    }

    #[test]
    fn decimals_are_read_exactly() {
        assert_eq!("34.368 Mbit/s".parse(), Ok(BitRate::from_bps(34_368_000).unwrap()));
        assert_eq!("0.1ms".parse(), Ok(Duration::from_nanos(100_000)));
        assert_eq!("1.5 KiB".parse(), Ok(Bytes::new(1536)));
        assert_eq!("0 ms".parse(), Ok(Duration::ZERO));
    }

    #[test]
    fn what_is_printed_reads_back() {
        for text in ["60 ms", "1500 us", "7 ns", "2 s"] {
            assert_eq!(text.parse::<Duration>().unwrap().to_string(), text);
        }
        for text in ["34.368 Mbit/s", "1.5 kbit/s", "1000 Mbit/s", "12 bit/s"] {
            assert_eq!(text.parse::<BitRate>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn errors_say_what_to_write_instead() {
        let message = |text: &str| text.parse::<Duration>().unwrap_err().to_string();
        assert_eq!(
            message("60"),
            "\"60\" has no unit; write a duration as a number and a unit, for example \"60 ms\" (units: ns, us, ms, s, min, h)"
        );
        assert!(message("60 mins").starts_with("\"60 mins\" has the unknown unit \"mins\""));
        assert!(message("-1 ms").starts_with("\"-1 ms\" does not start with a number"));
        assert!(message("0.5 ns").starts_with("\"0.5 ns\" is not a whole number of ns"));
        assert!(message("1.2.3 s").contains("not a whole number"));
        assert!("0 bit/s".parse::<BitRate>().unwrap_err().to_string().contains("is zero"));
    }
}
