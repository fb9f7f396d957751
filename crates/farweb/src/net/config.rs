//! Configuration of one direction of a link, as plain values: queue limit, losses, rate and delay.

use serde::{Deserialize, Serialize};

use crate::units::{BitRate, Bytes, Duration, Share};

use super::listed::ListedPackets;
use super::queue::QueueConfig;
use super::timeline::Timeline;

/// One direction of a link.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkConfig {
    /// Rate of the transmitter. `None` sends a packet in no time: none ever waits.
    pub rate: Option<BitRate>,
    /// Propagation delay, from the last bit sent to the packet's arrival.
    pub delay: Duration,
    /// The queue in front of the transmitter.
    pub queue: QueueConfig,
    /// Losses besides a full queue's.
    pub loss: Loss,
    /// Changes with time.
    pub timeline: Timeline,
}

impl LinkConfig {
    /// True when each packet that reaches the link has arrived at its far end at once.
    pub(super) fn takes_no_time(&self) -> bool {
        self.rate.is_none()
            && self.delay == Duration::ZERO
            && self.loss == Loss::None
            && self.timeline.is_constant()
    }
}

/// Limit of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueLimit {
    /// IP bytes.
    Bytes(Bytes),
    /// Packets of any size.
    Packets(u64),
}

impl QueueLimit {
    /// True when so many packets, with so many bytes together, stay within it.
    #[inline]
    pub(super) const fn holds(self, packets: u64, bytes: u64) -> bool {
        match self {
            Self::Bytes(limit) => bytes <= limit.get(),
            Self::Packets(limit) => packets <= limit,
        }
    }
}

/// Packets that count against the limit of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum QueueCounts {
    /// Those that wait and the one in transmission.
    #[default]
    All,
    /// Only those that wait.
    Waiting,
}

/// A loss process, applied to packets as they reach the link, before the queue.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Loss {
    /// No losses.
    #[default]
    None,
    /// The n-th packets of a kind of each connection, retransmissions counted.
    List {
        /// Such as "data 8", "syn 1", "synack 1", "data 13..15", "ack 2", "fin 1", "any 4"; counting from 1.
        #[serde(default)]
        drop: Vec<ListedPackets>,
        /// Packets marked by ECN, such as "data 8"; one whose sender takes no marks is dropped in its place.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        mark: Vec<ListedPackets>,
        /// Scope of the count: each connection by itself ("connection"), or all that the link carries ("link").
        #[serde(default, skip_serializing_if = "CountedOver::is_connection")]
        of: CountedOver,
    },
    /// Each packet alone.
    Bernoulli {
        /// Probability that a packet is lost, 0 to 1.
        #[serde(deserialize_with = "Share::deserialize")]
        #[cfg_attr(test, schemars(with = "Share"))]
        probability: f64,
    },
    /// Two states with a loss probability each; the state may change before each packet. Starts in the good state.
    GilbertElliott {
        /// Probability to go from the good state to the bad one, a packet.
        #[serde(deserialize_with = "Share::deserialize")]
        #[cfg_attr(test, schemars(with = "Share"))]
        good_to_bad: f64,
        /// Probability to go from the bad state to the good one, a packet.
        #[serde(deserialize_with = "Share::deserialize")]
        #[cfg_attr(test, schemars(with = "Share"))]
        bad_to_good: f64,
        /// Loss probability in the good state.
        #[serde(default, deserialize_with = "Share::deserialize")]
        #[cfg_attr(test, schemars(with = "Share"))]
        loss_good: f64,
        /// Loss probability in the bad state.
        #[serde(default = "certain", deserialize_with = "Share::deserialize")]
        #[cfg_attr(test, schemars(with = "Share"))]
        loss_bad: f64,
    },
}

/// Scope over which the packets of a list are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CountedOver {
    /// Each connection.
    #[default]
    Connection,
    /// All connections of the link.
    Link,
}

impl CountedOver {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    const fn is_connection(&self) -> bool {
        matches!(self, Self::Connection)
    }
}

/// The default of `loss_bad`, as in Gilbert's original model: the bad state loses every packet.
const fn certain() -> f64 {
    1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_process_is_chosen_by_its_kind() {
        let read = |json: &str| serde_json::from_str::<Loss>(json);
        let listed = vec!["data 8".parse().unwrap(), "data 13..15".parse().unwrap()];
        assert_eq!(
            read(r#"{"kind": "list", "drop": ["data 8", "data 13..15"]}"#).unwrap(),
            Loss::List { drop: listed, mark: vec![], of: CountedOver::Connection }
        );
        assert_eq!(
            read(r#"{"kind": "gilbert-elliott", "good_to_bad": 0.01, "bad_to_good": 0.25}"#).unwrap(),
            Loss::GilbertElliott { good_to_bad: 0.01, bad_to_good: 0.25, loss_good: 0.0, loss_bad: 1.0 }
        );
        assert!(
            read(r#"{"kind": "list", "drop": ["date 8"]}"#).unwrap_err().to_string().contains("unknown kind")
        );
    }
}
