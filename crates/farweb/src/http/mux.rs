//! Multiplexing: many exchanges at once on a few connections that stay open, with framing between their pieces.
//!
//! Models the choice of a connection between two proxies for a message: at its start, the one with the fewest
//! unacknowledged bytes, waiting or in flight. And the cost of framing. A message stays on its connection. Leaves out
//! the text of frames, credits of single exchanges (flow control is the transport's), priorities, and removal of queued
//! bytes of failed exchanges. Sources: the NZ–US studies (Proc. SPIE 3529, 1998, doi 10.1117/12.333730; CNDS 2001, pp.
//! 97–102), sections on the US proxy: the choice of a connection, and 20 bytes for each segment of a response from its
//! server.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::units::{Bytes, Quantity, QuantityError, as_text};

/// Rule that selects the connection of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Assign {
    /// The one with the fewest bytes unsent or unacknowledged in the direction of the message.
    #[default]
    LeastOutstanding,
    /// One connection after the other, in turn.
    RoundRobin,
}

/// Rule that selects among several connections with equally few bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Ties {
    /// The one with the lowest number.
    #[default]
    First,
    /// The first one behind the last choice.
    Next,
}

/// The connections of a multiplexing leg, and their turn. They are numbered from 0 and keep their numbers.
#[derive(Debug, Clone)]
pub struct Bundle {
    connections: usize,
    assign: Assign,
    ties: Ties,
    /// The connection behind the last choice.
    next: usize,
}

impl Bundle {
    /// A bundle of `connections`, at least 1.
    ///
    /// # Panics
    /// When there are none.
    #[must_use]
    pub const fn new(connections: usize, assign: Assign, ties: Ties) -> Self {
        assert!(connections > 0, "a bundle has connections");
        Self { connections, assign, ties, next: 0 }
    }

    /// Number of connections, open or not.
    #[must_use]
    pub const fn connections(&self) -> usize {
        self.connections
    }

    /// The connection for a message that starts now.
    ///
    /// `outstanding` gives a connection's waiting and unacknowledged bytes in the direction of the message, or none
    /// without a connection. `is_established` says if it can carry data now. Both are called on demand.
    ///
    /// An established one goes first. [`Assign::LeastOutstanding`] takes one with the fewest outstanding bytes, by
    /// [`Ties`] among equal ones, [`Assign::RoundRobin`] the first one behind the last choice. The turn of both goes on
    /// with every choice, and each direction of a leg has a bundle, and so a turn, of its own.
    pub fn choose(
        &mut self,
        outstanding: impl Fn(usize) -> u64,
        is_established: impl Fn(usize) -> bool,
    ) -> usize {
        let first = match (self.assign, self.ties) {
            (Assign::LeastOutstanding, Ties::First) => 0,
            (Assign::LeastOutstanding, Ties::Next) | (Assign::RoundRobin, _) => self.next,
        };
        let (mut least, mut chosen) = (u64::MAX, first);
        'found: for some in [first..self.connections, 0..first] {
            for connection in some {
                let counted = match self.assign {
                    Assign::LeastOutstanding => outstanding(connection),
                    Assign::RoundRobin => 0,
                };
                if counted >= least {
                    continue;
                }
                let rank = u64::from(!is_established(connection)) << 63 | counted;
                if rank < least {
                    (least, chosen) = (rank, connection);
                }
                if rank == 0 {
                    break 'found; // None behind it can be better.
                }
            }
        }
        self.next = (chosen + 1) % self.connections;
        chosen
    }
}

/// Bytes added to a response to tell its pieces apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overhead {
    /// Nothing.
    None,
    /// Bytes for each segment of the response that arrives from the next leg.
    PerSegment(Bytes),
    /// A share of the bytes of the response, in millionths.
    Share(u32),
}

/// Millionths in a percent.
const MILLIONTHS_PER_PERCENT: u64 = 10_000;

impl Overhead {
    /// Most bytes for a segment. Chosen: the largest packet's, to catch a slip in the unit.
    pub const PER_SEGMENT_MAX: Bytes = Bytes::new(65_535);
}

impl Default for Overhead {
    /// 20 bytes a segment, as the NZ–US studies have it.
    fn default() -> Self {
        Self::PerSegment(Bytes::new(20))
    }
}

/// The framing of a leg: its overhead, and what of a share is not a whole byte yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Framing {
    overhead: Overhead,
    /// Millionths of a byte that are due.
    due: u64,
}

impl Framing {
    /// Framing with this overhead.
    #[must_use]
    pub const fn new(overhead: Overhead) -> Self {
        Self { overhead, due: 0 }
    }

    /// Bytes of framing before `payload` bytes of a response, which arrived in `segments` segments.
    ///
    /// A share is rounded down and the rest carried over: after any number of calls their sum is the share of all
    /// payload so far, rounded down.
    pub fn before(&mut self, payload: u64, segments: u64) -> u64 {
        match self.overhead {
            Overhead::None => 0,
            Overhead::PerSegment(bytes) => segments * bytes.get(),
            Overhead::Share(millionths) => {
                self.due += payload * u64::from(millionths);
                let whole = self.due / 1_000_000;
                self.due %= 1_000_000;
                whole
            }
        }
    }
}

impl Quantity for Overhead {
    const KIND: &'static str = "mux-overhead";
    const EXAMPLE: &'static str = "20 B";
    const UNITS: &'static [(&'static str, u64)] = &[("B", 1), ("%", MILLIONTHS_PER_PERCENT)];
}

impl FromStr for Overhead {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let trimmed = text.trim();
        if trimmed == "none" {
            return Ok(Self::None);
        }
        if let Some(number) = trimmed.strip_suffix('%') {
            let share =
                millionths(number.trim_end()).filter(|share| *share <= 1_000_000).ok_or_else(|| {
                    QuantityError::new::<Self>(format!(
                        "\"{text}\" is not a share from 0 to 100 % in steps of 0.0001 %"
                    ))
                })?;
            return Ok(Self::Share(share));
        }
        match trimmed.parse::<Bytes>() {
            Ok(bytes) if bytes <= Self::PER_SEGMENT_MAX => Ok(Self::PerSegment(bytes)),
            Ok(_) => Err(QuantityError::new::<Self>(format!(
                "\"{text}\" is more than {} a segment",
                Self::PER_SEGMENT_MAX
            ))),
            Err(_) => Err(QuantityError::new::<Self>(format!("\"{text}\" is not an overhead"))),
        }
    }
}

/// A number of percent in millionths, exactly. `None` when it is none, or has more than four decimals.
fn millionths(percent: &str) -> Option<u32> {
    let (whole, fraction) = percent.split_once('.').unwrap_or((percent, ""));
    let fraction = fraction.trim_end_matches('0');
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || fraction.len() > 4 || !is_number(whole) || !is_number(fraction) {
        return None;
    }
    format!("{whole}{fraction:0<4}").parse().ok()
}

impl fmt::Display for Overhead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::PerSegment(bytes) => write!(f, "{bytes}"),
            Self::Share(millionths) => {
                let per_percent = MILLIONTHS_PER_PERCENT as u32;
                let decimals = format!("{:04}", millionths % per_percent);
                let text = format!("{}.{decimals}", millionths / per_percent);
                write!(f, "{} %", text.trim_end_matches('0').trim_end_matches('.'))
            }
        }
    }
}

as_text!(Overhead, "Overhead", {
    "type": "string",
    "format": Self::KIND,
    "x-words": ["none"],
    "examples": [Self::EXAMPLE, "2 %", "none"]
});

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Chooses among connections given as outstanding bytes, negative ones not established: -1 has none waiting for it.
    fn choose(bundle: &mut Bundle, loads: &[i64]) -> usize {
        bundle.choose(|connection| outstanding(loads[connection]), |connection| loads[connection] >= 0)
    }

    fn outstanding(of: i64) -> u64 {
        if of >= 0 { of as u64 } else { (-1 - of) as u64 }
    }

    #[test]
    fn the_connection_with_the_fewest_outstanding_bytes_is_chosen() {
        let mut bundle = Bundle::new(4, Assign::LeastOutstanding, Ties::First);
        assert_eq!(choose(&mut bundle, &[900, 300, 200, 201]), 2);
        assert_eq!(choose(&mut bundle, &[900, 300, 300, 301]), 1, "ties: the lowest number");
        assert_eq!(choose(&mut bundle, &[0, 0, 0, 0]), 0);
        assert_eq!(choose(&mut bundle, &[0, 0, 0, 0]), 0);
    }

    #[test]
    fn ties_may_take_turns() {
        let mut bundle = Bundle::new(3, Assign::LeastOutstanding, Ties::Next);
        let chosen: Vec<_> = (0..5).map(|_| choose(&mut bundle, &[7, 7, 7])).collect();
        assert_eq!(chosen, [0, 1, 2, 0, 1]);
        assert_eq!(choose(&mut bundle, &[6, 7, 7]), 0, "fewer bytes go before a turn");
        assert_eq!(choose(&mut bundle, &[7, 8, 7]), 2);
    }

    #[test]
    fn turns_are_kept_whatever_is_outstanding() {
        let mut bundle = Bundle::new(3, Assign::RoundRobin, Ties::First);
        let chosen: Vec<_> = (0..5).map(|_| choose(&mut bundle, &[900, 0, 300])).collect();
        assert_eq!(chosen, [0, 1, 2, 0, 1]);
        assert_eq!(choose(&mut bundle, &[900, 0, -1]), 0, "a connection that is not there is left out");
        assert_eq!(choose(&mut bundle, &[-1, -9, -1]), 1, "unless none is");
    }

    #[test]
    fn before_one_is_established_the_shortest_queue_is_joined() {
        let mut bundle = Bundle::new(3, Assign::LeastOutstanding, Ties::First);
        assert_eq!(choose(&mut bundle, &[-301, -1, -1]), 1);
        assert_eq!(choose(&mut bundle, &[-301, -301, -1]), 2);
        assert_eq!(choose(&mut bundle, &[-301, 99_999, -1]), 1);
    }

    proptest! {
        #[test]
        fn a_choice_is_a_true_minimum_and_ties_go_by_rule(
            rounds in prop::collection::vec(prop::collection::vec(-4..4_i64, 5), 1..20),
            take_turns: bool,
            connections in 1..=5_usize,
        ) {
            let ties = if take_turns { Ties::Next } else { Ties::First };
            let mut bundle = Bundle::new(connections, Assign::LeastOutstanding, ties);
            let mut last = connections - 1;
            for loads in rounds {
                let loads = &loads[..connections];
                let chosen = choose(&mut bundle, loads);
                let rank = |connection: usize| (loads[connection] < 0, outstanding(loads[connection]));
                let least = (0..connections).map(rank).min().unwrap();
                prop_assert_eq!(rank(chosen), least);
                // Nothing as good stands between the beginning of the rule and the choice.
                let from = if take_turns { last + 1 } else { 0 };
                let passed = (from..from + connections).map(|place| place % connections);
                for other in passed.take_while(|other| *other != chosen) {
                    prop_assert!(rank(other) > least);
                }
                last = chosen;
            }
        }

        #[test]
        fn a_share_is_exact_over_time(
            share in 0..=1_000_000_u32, payloads in prop::collection::vec(0..100_000_u64, 0..50),
        ) {
            let mut framing = Framing::new(Overhead::Share(share));
            let (mut payload, mut framed) = (0, 0);
            for bytes in payloads {
                payload += bytes;
                framed += framing.before(bytes, 1);
                prop_assert_eq!(framed, payload * u64::from(share) / 1_000_000);
            }
        }

        #[test]
        fn an_overhead_reads_back_as_it_is_written(share in 0..=1_000_000_u32, bytes in 0..=65_535_u64) {
            for overhead in [Overhead::Share(share), Overhead::PerSegment(Bytes::new(bytes)), Overhead::None] {
                prop_assert_eq!(overhead.to_string().parse(), Ok(overhead));
            }
        }
    }

    #[test]
    fn framing_is_counted_by_segments_or_by_bytes() {
        let before = |overhead| {
            let mut framing = Framing::new(overhead);
            [(1460, 1), (4000, 3), (10, 1), (40, 1)]
                .map(|(payload, segments)| framing.before(payload, segments))
        };
        assert_eq!(before(Overhead::None), [0, 0, 0, 0]);
        assert_eq!(before(Overhead::default()), [20, 60, 20, 20]);
        assert_eq!(before(Overhead::Share(20_000)), [29, 80, 0, 1], "29.2, 109.2, 109.4, 110.2 so far");
    }

    #[test]
    fn an_overhead_is_a_size_a_share_or_none() {
        for (text, overhead, written) in [
            ("20 B", Overhead::PerSegment(Bytes::new(20)), "20 B"),
            (" 1kB", Overhead::PerSegment(Bytes::new(1000)), "1000 B"),
            ("2 %", Overhead::Share(20_000), "2 %"),
            ("0.0050%", Overhead::Share(50), "0.005 %"),
            ("100 %", Overhead::Share(1_000_000), "100 %"),
            ("none", Overhead::None, "none"),
        ] {
            assert_eq!(serde_json::from_value::<Overhead>(text.into()).unwrap(), overhead);
            assert_eq!(serde_json::to_value(overhead).unwrap(), written);
        }
    }

    #[test]
    fn what_is_no_overhead_is_refused_with_what_to_write() {
        let message = |text: &str| text.parse::<Overhead>().unwrap_err().to_string();
        assert_eq!(
            message("20"),
            "\"20\" is not an overhead; write a mux-overhead as a number and a unit, for example \"20 B\" (units: B, %)"
        );
        for text in ["100.1 %", "-1 %", "0.00001 %", "%", "1.2.3 %", ". %", "1e1 %", "99999999999 %"] {
            assert!(message(text).contains("is not a share from 0 to 100 %"), "{text}");
        }
        assert!(message("64 KiB").starts_with("\"64 KiB\" is more than 65535 B a segment"));
        assert!(message("nothing").starts_with("\"nothing\" is not an overhead"));
    }
}
