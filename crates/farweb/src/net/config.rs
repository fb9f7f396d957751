//! What a link direction is made of, as plain values: queue limit, losses, rate and delay.

use std::borrow::Cow;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::units::{BitRate, Bytes, Duration, Quantity, QuantityError};

use super::listed::ListedPackets;

/// One direction of a link.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkConfig {
    /// Rate of the transmitter; `None` sends a packet in no time, so that none ever waits.
    pub rate: Option<BitRate>,
    /// Propagation delay, from the last bit sent to the packet's arrival.
    pub delay: Duration,
    /// Limit of the drop-tail queue; `None` is unlimited.
    pub limit: Option<QueueLimit>,
    /// Which packets count against the limit.
    pub counts: QueueCounts,
    /// Losses besides those of a full queue.
    pub loss: Loss,
}

/// Limit of a drop-tail queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueLimit {
    /// IP bytes.
    Bytes(Bytes),
    /// Packets of any size.
    Packets(u64),
}

/// Which packets count against the limit of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum QueueCounts {
    /// Those that wait and the one in transmission.
    #[default]
    All,
    /// Only those that wait.
    Waiting,
}

/// A loss process, applied to packets as they reach the link, before the queue.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Loss {
    /// No losses.
    #[default]
    None,
    /// The n-th packets of a kind of each connection, retransmissions counted.
    List {
        /// Such as "data 8", "syn 1", "synack 1", "data 13..15", "ack 2", "fin 1", "any 4"; counting from 1.
        drop: Vec<ListedPackets>,
    },
    /// Each packet alone.
    Bernoulli {
        /// Probability that a packet is lost, 0 to 1.
        probability: f64,
    },
    /// Two states with a loss probability each; the state may change before each packet. Starts in the good state.
    GilbertElliott {
        /// Probability to go from the good state to the bad one, a packet.
        good_to_bad: f64,
        /// Probability to go from the bad state to the good one, a packet.
        bad_to_good: f64,
        /// Loss probability in the good state.
        #[serde(default)]
        loss_good: f64,
        /// Loss probability in the bad state.
        #[serde(default = "certain")]
        loss_bad: f64,
    },
}

/// The default of `loss_bad`: Gilbert's original model, in which the bad state loses every packet.
const fn certain() -> f64 {
    1.0
}

impl Quantity for QueueLimit {
    const KIND: &'static str = "queue";
    const EXAMPLE: &'static str = "256000 B";
    const UNITS: &'static [(&'static str, u64)] =
        &[("B", 1), ("kB", 1_000), ("KiB", 1 << 10), ("MB", 1_000_000), ("MiB", 1 << 20), ("packets", 1)];
}

impl FromStr for QueueLimit {
    type Err = QuantityError;
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let problem = || QuantityError::new::<Self>(format!("\"{text}\" is not a queue limit"));
        match text.trim().strip_suffix("packets") {
            Some(number) => number.trim().parse().map(Self::Packets).map_err(|_| problem()),
            None => text.parse().map(Self::Bytes).map_err(|_| problem()),
        }
    }
}

impl Serialize for QueueLimit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Bytes(bytes) => bytes.serialize(serializer),
            Self::Packets(packets) => serializer.collect_str(&format_args!("{packets} packets")),
        }
    }
}

impl<'de> Deserialize<'de> for QueueLimit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for QueueLimit {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "QueueLimit".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": Self::KIND, "examples": ["256000 B", "100 packets"] })
    }
}
