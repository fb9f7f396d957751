//! Levels in decibels, as a person writes them: `"12 dB"`, `"0.35 dB"`.

use std::fmt;
use std::str::FromStr;

use super::text::{as_text, parse};
use super::{Quantity, QuantityError, write_decimal};

/// A level or an attenuation, in thousandths of a decibel. Never negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Decibels(u32);

impl Decibels {
    /// So many thousandths of a decibel.
    #[must_use]
    pub const fn from_millis(millis: u32) -> Self {
        Self(millis)
    }

    /// In thousandths of a decibel.
    #[must_use]
    pub const fn as_millis(self) -> u32 {
        self.0
    }
}

impl Quantity for Decibels {
    const KIND: &'static str = "level";
    const EXAMPLE: &'static str = "12 dB";
    const UNITS: &'static [(&'static str, u64)] = &[("mdB", 1), ("dB", 1000)];
}

impl FromStr for Decibels {
    type Err = QuantityError;
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let too_large = |_| QuantityError::new::<Self>(format!("\"{text}\" is too large"));
        u32::try_from(parse::<Self>(text)?).map(Self).map_err(too_large)
    }
}

impl fmt::Display for Decibels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_decimal(f, self.0.into(), 1000, "dB")
    }
}

as_text!(Decibels, Self::KIND, { "type": "string", "format": Self::KIND, "examples": [Self::EXAMPLE] });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_reads_back_as_it_is_written() {
        for (text, millis) in [("12 dB", 12_000), ("0.35 dB", 350), ("0 dB", 0)] {
            assert_eq!(text.parse(), Ok(Decibels(millis)));
            assert_eq!(Decibels(millis).to_string(), text);
        }
        for text in ["12", "-1 dB", "3 db", "0.0001 dB", "5000000 dB"] {
            assert!(
                text.parse::<Decibels>().unwrap_err().to_string().ends_with("(units: mdB, dB)"),
                "{text}"
            );
        }
    }
}
