//! Limit of a queue as a scenario writes it: bytes, packets, or the time that the link takes to send what stands in it.

use std::fmt;
use std::str::FromStr;

use crate::net;
use crate::units::{BitRate, Bytes, Duration, Quantity, QuantityError, as_text};

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
    /// The limit in front of a link of `rate`, its rate at the start where that changes; a time has none at an unlimited one.
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
