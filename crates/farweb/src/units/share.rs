//! Shares: numbers from 0 to 1, which scenarios may also write in percent, "1 %".

use serde::{Deserialize, Deserializer, de};

/// Schema of a share, for fields that hold the number.
pub struct Share;

impl Share {
    /// Its format in a schema.
    pub const KIND: &'static str = "share";

    /// The number for a text in percent.
    ///
    /// # Errors
    /// When it is none, in words.
    pub fn parse(text: &str) -> Result<f64, String> {
        let number = text.trim().strip_suffix('%').and_then(|number| number.trim_end().parse::<f64>().ok());
        let share = number.filter(|percent| percent.is_finite()).map(|percent| percent / 100.0);
        share.ok_or_else(|| {
            format!("found \"{text}\"; write a number from 0 to 1, or a share such as \"1 %\"")
        })
    }

    /// Reads a number, or a text in percent.
    ///
    /// # Errors
    /// When it is neither.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Number(f64),
            Text(String),
        }
        match Written::deserialize(deserializer)? {
            Written::Number(number) => Ok(number),
            Written::Text(text) => Self::parse(&text).map_err(de::Error::custom),
        }
    }

    /// The same for a key that may be left out.
    ///
    /// # Errors
    /// When it is neither.
    pub fn deserialize_some<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
        Self::deserialize(deserializer).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_is_a_hundredth() {
        assert_eq!(
            [Share::parse("1 %"), Share::parse("0.5%"), Share::parse(" 100 % ")],
            [Ok(0.01), Ok(0.005), Ok(1.0)]
        );
        for text in ["1", "%", "one %", "inf %"] {
            assert!(Share::parse(text).unwrap_err().contains("\"1 %\""), "{text}");
        }
    }
}
