//! Capture points, where packets are seen: the items of `record.points`, such as `ends` or `link 0 up`.

use std::fmt;
use std::str::FromStr;

use crate::units::as_text;

/// A place where packets are recorded.
///
/// A tap on a link sees what a splitter on the wire sees at the link's end nearer to the clients: packets that go up when
/// their last bit leaves the transmitter, behind the queue. It sees packets that go down when they arrive.
///
/// ```
/// use farweb::scenario::CapturePoint;
/// assert_eq!("link 0 up".parse(), Ok(CapturePoint::Link { link: 0, up: true, down: false }));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CapturePoint {
    /// Both ends of every leg.
    Ends,
    /// A link.
    Link {
        /// Its number, from 0 at the clients.
        link: u32,
        /// True when packets towards the servers are seen.
        up: bool,
        /// True when packets towards the clients are seen.
        down: bool,
    },
}

/// Why a text is not a point.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{text}\" is not a capture point; write \"ends\", \"link 0\", \"link 0 up\" or \"link 0 down\"")]
pub struct CapturePointError {
    text: String,
}

impl CapturePoint {
    /// Value of `format` in the JSON Schema for such a text.
    pub const KIND: &'static str = "capture-point";

    /// Points that `text` may have been meant for: the ends, and the link with the number that is in it.
    pub(crate) fn like(text: &str) -> [String; 4] {
        let digits: String = text.chars().filter(char::is_ascii_digit).collect();
        let link = digits.parse().unwrap_or(0);
        let seen = |up, down| Self::Link { link, up, down }.to_string();
        [Self::Ends.to_string(), seen(true, true), seen(true, false), seen(false, true)]
    }
}

impl FromStr for CapturePoint {
    type Err = CapturePointError;

    fn from_str(text: &str) -> Result<Self, CapturePointError> {
        let problem = || CapturePointError { text: text.to_owned() };
        let words: Vec<&str> = text.split_whitespace().collect();
        let (number, up, down) = match words[..] {
            ["ends"] => return Ok(Self::Ends),
            ["link", number] => (number, true, true),
            ["link", number, "up"] => (number, true, false),
            ["link", number, "down"] => (number, false, true),
            _ => return Err(problem()),
        };
        if !number.chars().all(|digit| digit.is_ascii_digit()) {
            return Err(problem());
        }
        let link = number.parse().map_err(|_| problem())?;
        Ok(Self::Link { link, up, down })
    }
}

impl fmt::Display for CapturePoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ends => f.write_str("ends"),
            Self::Link { link, up: true, down: false } => write!(f, "link {link} up"),
            Self::Link { link, up: false, down: true } => write!(f, "link {link} down"),
            Self::Link { link, .. } => write!(f, "link {link}"),
        }
    }
}

as_text!(CapturePoint, "CapturePoint", {
    "type": "string",
    "format": Self::KIND,
    "examples": ["ends", "link 0", "link 0 up", "link 0 down"]
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_reads_back() {
        for text in ["ends", "link 0", "link 12 up", "link 3 down"] {
            assert_eq!(text.parse::<CapturePoint>().unwrap().to_string(), text);
        }
        assert_eq!(" link  07 up ".parse::<CapturePoint>().unwrap().to_string(), "link 7 up");
    }

    #[test]
    fn what_is_no_point_is_refused() {
        for text in [
            "",
            "end",
            "link",
            "link x",
            "link -1",
            "link +1",
            "link 0 both",
            "link 0 up down",
            "link 99999999999",
        ] {
            let message = text.parse::<CapturePoint>().unwrap_err().to_string();
            assert!(
                message.starts_with(&format!("\"{text}\" is not a capture point; write \"ends\"")),
                "{message}"
            );
        }
    }

    #[test]
    fn a_point_like_another_names_the_same_link() {
        assert_eq!(CapturePoint::like("lnk 3 down"), ["ends", "link 3", "link 3 up", "link 3 down"]);
    }
}
