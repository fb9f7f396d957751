//! Packets named by kind and number: the items of a loss list, such as `data 8` or `data 13..15`.

use std::fmt;
use std::str::FromStr;

use super::PacketKind;
use crate::units::as_text;

/// The `first`-th to `last`-th packets of a kind of each connection, counted from 1 as they reach the link.
/// Retransmissions count.
///
/// ```
/// use farweb::net::{ListedPackets, PacketKind};
/// let burst: ListedPackets = "data 13..15".parse().unwrap();
/// assert_eq!((burst.kind(), burst.first(), burst.last()), (Some(PacketKind::Data), 13, 15));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListedPackets {
    kind: Option<PacketKind>,
    first: u32,
    last: u32,
}

/// Why a text does not name packets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{problem}; write a kind ({}) and a number from 1 or a range, for example \"data 8\" or \"data 13..15\"",
    kinds()
)]
pub struct ListedPacketsError {
    problem: String,
}

/// Name of each kind. `None` is a packet of any kind.
const KINDS: [(&str, Option<PacketKind>); 7] = [
    ("any", None),
    ("syn", Some(PacketKind::Syn)),
    ("synack", Some(PacketKind::SynAck)),
    ("data", Some(PacketKind::Data)),
    ("ack", Some(PacketKind::Ack)),
    ("fin", Some(PacketKind::Fin)),
    ("rst", Some(PacketKind::Reset)),
];

fn kinds() -> String {
    KINDS.map(|(name, _)| name).join(", ")
}

impl ListedPackets {
    /// Value of `format` in the JSON Schema for such a text.
    pub const KIND: &'static str = "packets";

    /// Kind of the packets. `None` counts packets of every kind together.
    #[must_use]
    pub const fn kind(&self) -> Option<PacketKind> {
        self.kind
    }

    /// Number of the first one, at least 1.
    #[must_use]
    pub const fn first(&self) -> u32 {
        self.first
    }

    /// Number of the last one, not below the first.
    #[must_use]
    pub const fn last(&self) -> u32 {
        self.last
    }

    /// True when it names packet `number` of its kind.
    #[must_use]
    pub const fn contains(&self, number: u32) -> bool {
        self.first <= number && number <= self.last
    }
}

impl FromStr for ListedPackets {
    type Err = ListedPacketsError;

    fn from_str(text: &str) -> Result<Self, ListedPacketsError> {
        let fail = |problem: String| Err(ListedPacketsError { problem });
        let Some((name, numbers)) = text.trim().split_once(char::is_whitespace) else {
            return fail(format!("\"{text}\" has no number"));
        };
        let Some((_, kind)) = KINDS.iter().find(|(known, _)| *known == name) else {
            return fail(format!("\"{text}\" has the unknown kind \"{name}\""));
        };
        let (first, last) = numbers.split_once("..").unwrap_or((numbers, numbers));
        let (Some(first), Some(last)) = (packet_number(first), packet_number(last)) else {
            return fail(format!("\"{text}\" has no whole number from 1 to {} after the kind", u32::MAX));
        };
        if first > last {
            return fail(format!("\"{text}\" is a range that ends before it starts"));
        }
        Ok(Self { kind: *kind, first, last })
    }
}

/// A number without sign, at least 1.
fn packet_number(text: &str) -> Option<u32> {
    let text = text.trim();
    let number = text.parse().ok()?;
    (number > 0 && !text.starts_with('+')).then_some(number)
}

impl fmt::Display for ListedPackets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = KINDS.iter().find(|(_, kind)| *kind == self.kind).map_or("any", |(name, _)| name);
        if self.first == self.last {
            write!(f, "{name} {}", self.first)
        } else {
            write!(f, "{name} {}..{}", self.first, self.last)
        }
    }
}

as_text!(ListedPackets, "ListedPackets", {
    "type": "string",
    "format": Self::KIND,
    "examples": ["data 8", "syn 1", "synack 1", "data 13..15", "ack 2", "fin 1", "any 4"]
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_reads_back() {
        for text in ["any 4", "syn 1", "synack 1", "data 13..15", "ack 2", "fin 1", "rst 1"] {
            assert_eq!(text.parse::<ListedPackets>().unwrap().to_string(), text);
        }
        assert_eq!(" data  7 .. 7 ".parse::<ListedPackets>().unwrap().to_string(), "data 7");
    }

    #[test]
    fn errors_say_what_to_write_instead() {
        let message = |text: &str| text.parse::<ListedPackets>().unwrap_err().to_string();
        assert_eq!(
            message("date 8"),
            "\"date 8\" has the unknown kind \"date\"; write a kind (any, syn, synack, data, ack, fin, rst) and a number \
             from 1 or a range, for example \"data 8\" or \"data 13..15\""
        );
        assert!(message("data").starts_with("\"data\" has no number;"));
        assert!(message("").starts_with("\"\" has no number;"));
        assert!(message("data 15..13").starts_with("\"data 15..13\" is a range that ends before it starts;"));
        for text in
            ["data 0", "data 0..3", "data -1", "data +1", "data 1.5", "data x", "data 1..", "data 4294967296"]
        {
            assert!(message(text).contains("has no whole number from 1 to 4294967295"), "{text}");
        }
    }

    #[test]
    fn a_range_includes_both_ends() {
        let burst: ListedPackets = "data 13..15".parse().unwrap();
        let named: Vec<_> = (1..20).filter(|number| burst.contains(*number)).collect();
        assert_eq!(named, [13, 14, 15]);
    }
}
