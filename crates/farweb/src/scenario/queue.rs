//! The queue of a link as a scenario writes it: a limit, or a discipline with its parameters.
//!
//! A limit is in bytes, packets, or the time that the link takes to send what stands in the queue.

use std::fmt;
use std::str::FromStr;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use crate::net::{self, Codel, CodelVariant, DropHead, DropTail, FqCodel, Pie, QueueConfig, QueueCounts};
use crate::units::{BitRate, Bytes, Duration, Quantity, QuantityError, as_text};

/// Queue in front of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Queue {
    /// Drop-tail, by its limit.
    Limit(QueueLimit),
    /// A discipline with its parameters.
    Table(QueueTable),
}

/// Discipline of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum QueueTable {
    /// Drops a packet that does not fit.
    DropTail {
        /// Most that it holds, such as "256000 B", "100 packets" or "250 ms"; unlimited when left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<QueueLimit>,
        /// Packets that the limit counts: the one in transmission as well ("all") or only those that wait ("waiting").
        #[serde(default)]
        counts: QueueCounts,
    },
    /// Drops the oldest packets that wait for one that does not fit.
    DropHead {
        /// Most that it holds, such as "256000 B", "100 packets" or "250 ms".
        limit: QueueLimit,
        /// Packets that the limit counts: the one in transmission as well ("all") or only those that wait ("waiting").
        #[serde(default)]
        counts: QueueCounts,
    },
    /// Drops packets that have waited too long, once all have for an interval (RFC 8289).
    Codel {
        /// Wait that is good.
        #[serde(default = "codel::target")]
        target: Duration,
        /// Time above it before the first drop.
        #[serde(default = "codel::interval")]
        interval: Duration,
        /// Most that waits, such as "1000 packets".
        #[serde(default = "codel::limit")]
        limit: QueueLimit,
        /// Clock and root: of Linux ("linux") or exact ("rfc8289").
        #[serde(default)]
        variant: CodelVariant,
        /// True when it marks packets in place of dropping them, where their senders use ECN.
        #[serde(default)]
        ecn: bool,
    },
    /// A turn for each connection, each under CoDel (RFC 8290).
    FqCodel {
        /// Wait that is good.
        #[serde(default = "codel::target")]
        target: Duration,
        /// Time above it before the first drop.
        #[serde(default = "codel::interval")]
        interval: Duration,
        /// Most that waits in all, such as "10240 packets"; beyond it the longest queue drops from its head.
        #[serde(default = "fq_codel::limit")]
        limit: QueueLimit,
        /// Bytes of a turn, 256 B to 1 MiB.
        #[serde(default = "fq_codel::quantum")]
        quantum: Bytes,
        /// Queues: one for each connection ("exact"), or so many that connections share by a hash, 1 to 65536; Linux has 1024.
        #[serde(default)]
        flows: Flows,
        /// Clock and root of CoDel: of Linux ("linux") or exact ("rfc8289").
        #[serde(default)]
        variant: CodelVariant,
        /// True when it marks packets in place of dropping them, where their senders use ECN.
        #[serde(default = "fq_codel::ecn")]
        ecn: bool,
    },
    /// Drops packets at random as they arrive, to hold the delay of the queue at a target (RFC 8033).
    Pie {
        /// Delay that it holds.
        #[serde(default = "pie::target")]
        target: Duration,
        /// Time between two updates of the probability.
        #[serde(default = "pie::update")]
        update: Duration,
        /// Most that waits, such as "1000 packets".
        #[serde(default = "pie::limit")]
        limit: QueueLimit,
        /// How long a burst from an empty queue passes.
        #[serde(default = "pie::burst")]
        burst: Duration,
        /// True when it marks packets in place of dropping them, where their senders use ECN and the probability is at most a tenth.
        #[serde(default)]
        ecn: bool,
    },
}

/// Values of Linux and RFC 8289.
mod codel {
    use super::{Duration, QueueLimit};

    pub(super) const fn target() -> Duration {
        Duration::from_millis(5)
    }

    pub(super) const fn interval() -> Duration {
        Duration::from_millis(100)
    }

    pub(super) const fn limit() -> QueueLimit {
        QueueLimit::Packets(1000)
    }
}

/// Values of Linux. The quantum is a full packet without framing.
mod fq_codel {
    use super::{Bytes, QueueLimit};

    pub(super) const fn limit() -> QueueLimit {
        QueueLimit::Packets(10_240)
    }

    pub(super) const fn quantum() -> Bytes {
        Bytes::new(1500)
    }

    pub(super) const fn ecn() -> bool {
        true
    }
}

/// Values of Linux. The update every 15 ms takes 4 ticks of 250 Hz.
mod pie {
    use super::{Duration, QueueLimit};

    pub(super) const fn target() -> Duration {
        Duration::from_millis(15)
    }

    pub(super) const fn update() -> Duration {
        Duration::from_millis(16)
    }

    pub(super) const fn limit() -> QueueLimit {
        QueueLimit::Packets(1000)
    }

    pub(super) const fn burst() -> Duration {
        Duration::from_millis(150)
    }
}

/// Queues among which connections are divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Flows {
    /// One for each connection.
    #[default]
    Exact,
    /// So many, by a hash.
    Hashed(u32),
}

impl Flows {
    /// The word for one queue a connection.
    pub(super) const EXACT: &str = "exact";

    /// Most queues, as in Linux.
    #[cfg(test)] // only the schema asks
    pub(super) const MAX: u32 = 1 << 16;
}

impl Serialize for Flows {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Exact => serializer.serialize_str(Self::EXACT),
            Self::Hashed(queues) => serializer.serialize_u32(*queues),
        }
    }
}

impl<'de> Deserialize<'de> for Flows {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(word) if word == Self::EXACT => Ok(Self::Exact),
            number => serde_json::from_value(number).map(Self::Hashed).map_err(D::Error::custom),
        }
    }
}

impl Queue {
    /// Kinds of a table that need no further keys, and alone stand for it.
    pub(super) const KINDS: &[&str] = &["drop-tail", "codel", "fq-codel", "pie"];

    /// Most that it holds. None when unlimited.
    #[must_use]
    pub const fn limit(&self) -> Option<QueueLimit> {
        match *self {
            Self::Limit(limit)
            | Self::Table(
                QueueTable::DropHead { limit, .. }
                | QueueTable::Codel { limit, .. }
                | QueueTable::FqCodel { limit, .. }
                | QueueTable::Pie { limit, .. },
            ) => Some(limit),
            Self::Table(QueueTable::DropTail { limit, .. }) => limit,
        }
    }

    /// True for active queue management: it drops packets before the queue is full.
    #[must_use]
    pub const fn is_aqm(&self) -> bool {
        matches!(
            self,
            Self::Table(QueueTable::Codel { .. } | QueueTable::FqCodel { .. } | QueueTable::Pie { .. })
        )
    }

    /// True where it decides as packets are taken for transmission.
    pub(super) const fn is_late(&self) -> bool {
        matches!(
            self,
            Self::Table(QueueTable::DropHead { .. } | QueueTable::Codel { .. } | QueueTable::FqCodel { .. })
        )
    }

    /// Its discipline, where that marks packets by ECN.
    #[must_use]
    pub const fn marking(&self) -> Option<&'static str> {
        match self {
            Self::Table(QueueTable::Codel { ecn: true, .. }) => Some("codel"),
            Self::Table(QueueTable::FqCodel { ecn: true, .. }) => Some("fq-codel"),
            Self::Table(QueueTable::Pie { ecn: true, .. }) => Some("pie"),
            Self::Limit(_) | Self::Table(_) => None,
        }
    }

    /// The queue in front of a link of `rate`, its rate at the start where that changes. `counts` stands
    /// beside a plain limit.
    pub(super) fn config(self, rate: Option<BitRate>, counts: QueueCounts) -> QueueConfig {
        let at_rate = |limit: QueueLimit| limit.at(rate);
        let drop_tail = |limit: Option<QueueLimit>, counts| {
            let limit = limit.and_then(at_rate);
            limit.map_or(QueueConfig::Unlimited, |limit| QueueConfig::DropTail(DropTail { limit, counts }))
        };
        match self {
            Self::Limit(limit) => drop_tail(Some(limit), counts),
            Self::Table(QueueTable::DropTail { limit, counts }) => drop_tail(limit, counts),
            Self::Table(QueueTable::DropHead { limit, counts }) => {
                let drop_head = |limit| QueueConfig::DropHead(DropHead { limit, counts });
                at_rate(limit).map_or(QueueConfig::Unlimited, drop_head)
            }
            Self::Table(QueueTable::Codel { target, interval, limit, variant, ecn }) => {
                let codel = |limit| QueueConfig::Codel(Codel { target, interval, limit, variant, ecn });
                at_rate(limit).map_or(QueueConfig::Unlimited, codel)
            }
            Self::Table(QueueTable::FqCodel { target, interval, limit, quantum, flows, variant, ecn }) => {
                let queues = if let Flows::Hashed(queues) = flows { Some(queues) } else { None };
                let of = |limit| FqCodel { target, interval, limit, quantum, queues, variant, ecn };
                at_rate(limit).map_or(QueueConfig::Unlimited, |limit| QueueConfig::FqCodel(of(limit)))
            }
            Self::Table(QueueTable::Pie { target, update, limit, burst, ecn }) => {
                let pie = |limit| QueueConfig::Pie(Pie { target, update, limit, burst, ecn });
                at_rate(limit).map_or(QueueConfig::Unlimited, pie)
            }
        }
    }
}

impl<'de> Deserialize<'de> for Queue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let table = match Value::deserialize(deserializer)? {
            Value::String(text) if Self::KINDS.contains(&&*text) => json!({ "kind": text }),
            Value::String(text) => return text.parse().map(Self::Limit).map_err(D::Error::custom),
            table => table,
        };
        serde_json::from_value(table).map(Self::Table).map_err(D::Error::custom)
    }
}

/// Limit of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueLimit {
    /// IP bytes.
    Bytes(Bytes),
    /// Packets of any size.
    Packets(u64),
    /// Bytes that the link sends in this time.
    Time(Duration),
}

impl QueueLimit {
    /// The limit in front of a link of `rate`, its rate at the start where that changes. A time has none at
    /// an unlimited one.
    ///
    /// ```
    /// use farweb::scenario::QueueLimit;
    /// use farweb::units::{BitRate, Bytes};
    /// let limit: QueueLimit = "250 ms".parse().unwrap();
    /// let of_2_megabits = farweb::net::QueueLimit::Bytes(Bytes::new(62_500));
    /// assert_eq!(limit.at(BitRate::from_bps(2_000_000)), Some(of_2_megabits));
    /// assert_eq!(limit.at(None), None);
    /// ```
    #[must_use]
    pub fn at(self, rate: Option<BitRate>) -> Option<net::QueueLimit> {
        match self {
            Self::Bytes(bytes) => Some(net::QueueLimit::Bytes(bytes)),
            Self::Packets(packets) => Some(net::QueueLimit::Packets(packets)),
            Self::Time(time) => rate.map(|rate| net::QueueLimit::Bytes(rate.data_in(time))),
        }
    }
}

impl Quantity for QueueLimit {
    const KIND: &'static str = "queue";
    const EXAMPLE: &'static str = "256000 B";
    const UNITS: &'static [(&'static str, u64)] = Bytes::UNITS;

    fn unit_names() -> Vec<&'static str> {
        [Bytes::unit_names(), vec!["packets"], Duration::unit_names()].concat()
    }
}

impl FromStr for QueueLimit {
    type Err = QuantityError;
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let problem = || QuantityError::new::<Self>(format!("\"{text}\" is not a queue limit"));
        let words = ["packets", "packet", "pkts", "pkt"];
        if let Some(number) = words.iter().find_map(|word| text.trim().strip_suffix(word)) {
            return number.trim().parse().map(Self::Packets).map_err(|_| problem());
        }
        let bytes = text.parse().map(Self::Bytes);
        bytes.or_else(|_| text.parse().map(Self::Time)).map_err(|_| problem())
    }
}

impl fmt::Display for QueueLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => write!(f, "{bytes}"),
            Self::Packets(packets) => write!(f, "{packets} packets"),
            Self::Time(time) => write!(f, "{time}"),
        }
    }
}

as_text!(QueueLimit, "QueueLimit", {
    "type": "string", "format": Self::KIND, "examples": ["256000 B", "100 packets", "250 ms"]
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_reads_back_as_it_is_written() {
        for (text, limit) in [
            ("256000 B", QueueLimit::Bytes(Bytes::new(256_000))),
            ("100 packets", QueueLimit::Packets(100)),
            ("0 packets", QueueLimit::Packets(0)),
            ("250 ms", QueueLimit::Time(Duration::from_millis(250))),
        ] {
            assert_eq!(text.parse(), Ok(limit));
            assert_eq!(serde_json::to_value(limit).unwrap(), text);
            assert_eq!(serde_json::from_value::<QueueLimit>(text.into()).unwrap(), limit);
        }
        assert_eq!("64 KiB".parse(), Ok(QueueLimit::Bytes(Bytes::new(65_536))));
        assert_eq!("1.5s".parse(), Ok(QueueLimit::Time(Duration::from_millis(1500))));
    }

    #[test]
    fn an_impossible_limit_is_refused_for_its_value() {
        for text in ["100", "1.5 packets", "-1 packets", "packets", "10 pakets", "60 m", "2 Mbit/s"] {
            let message = text.parse::<QueueLimit>().unwrap_err().to_string();
            assert!(message.starts_with(&format!("\"{text}\" is not a queue limit;")), "{message}");
            assert!(message.contains("\"256000 B\"") && message.contains("GiB, packets, ns"), "{message}");
        }
    }

    #[test]
    fn a_time_is_the_bytes_that_the_link_sends_in_it() {
        let in_bytes = |text: &str, bps| text.parse::<QueueLimit>().unwrap().at(BitRate::from_bps(bps));
        let bytes = |bytes| Some(net::QueueLimit::Bytes(Bytes::new(bytes)));
        assert_eq!(in_bytes("250 ms", 2_000_000), bytes(62_500));
        assert_eq!(in_bytes("250 ms", 49_000_000), bytes(1_531_250));
        assert_eq!(in_bytes("24 h", u64::MAX), bytes(u64::MAX));
        assert_eq!(in_bytes("9 kB", 2_000_000), bytes(9000));
        assert_eq!(in_bytes("9 packets", 2_000_000), Some(net::QueueLimit::Packets(9)));
    }
}
