//! TLS on the connections of a leg: its keys, as types.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::tls::{Handshake, HandshakeBytes, Layer, RecordSize, Start, Version};
use crate::units::{Bytes, Duration};

/// TLS on the connections of a leg.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Tls {
    /// Version: "1.2" (a handshake of two round trips, one when resumed) or "1.3" (one).
    pub version: Version,
    /// Kind of handshake: "full", "resumed" from an earlier connection, or "0-rtt", where a request goes with the first flight. A client
    /// with connections of its own has to have a ticket for the last two, and begins with "full".
    pub start: Start,
    /// Time for which such a client may resume with a ticket, at most 7 days.
    pub ticket_lifetime: Duration,
    /// Most bytes in a record, 1 B to 16384 B; none of them can be read before the last one is there.
    pub record: Bytes,
    /// Most bytes in a record at the start of a connection; `record` when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub small_record: Option<Bytes>,
    /// Bytes that an end sends in small records before its records are `record`, where there is a `small_record`.
    pub small_until: Bytes,
    /// Size of the client's first flight, with its records; left out, 300 B (1600 B in TLS 1.3, with a hybrid key; 250 B more when resumed).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_hello: Option<Bytes>,
    /// Size of the server's first flight, with its records; left out, 4500 B with certificates (1400 B when resumed; 150 B in TLS 1.2).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_flight: Option<Bytes>,
}

/// Source: OpenSSL 3, `ssl/t1_lib.c` (`tls1_default_timeout`), 2 h.
const TICKET_LIFETIME: Duration = Duration::from_secs(7200);

/// Source: RFC 8446, section 4.6.1.
pub(super) const TICKET_LIFETIME_MAX: Duration = Duration::from_secs(7 * 86_400);

impl Default for Tls {
    fn default() -> Self {
        Self {
            version: Version::default(),
            start: Start::default(),
            ticket_lifetime: TICKET_LIFETIME,
            record: Bytes::new(16_384),
            small_record: None,
            small_until: Bytes::new(65_536),
            client_hello: None,
            server_flight: None,
        }
    }
}

impl Tls {
    /// TLS at both ends of a connection that begins in this way, the client's first.
    #[must_use]
    pub fn layers(&self, start: Start) -> [Layer; 2] {
        let handshake = Handshake::new(self.version, start, self.handshake_bytes(start));
        let record = match self.small_record {
            None => RecordSize::Fixed(self.record.get()),
            Some(small) => RecordSize::Growing {
                small: small.get(),
                until: self.small_until.get(),
                full: self.record.get(),
            },
        };
        Layer::pair(self.version, handshake, record)
    }

    /// Sizes of the first flights. Chosen of the sizes that RFC 8446's fields have with a key share of 1,216 B and 1,120 B
    /// (X25519MLKEM768), a certificate chain of 3 KB, and a ticket of 250 B.
    fn handshake_bytes(&self, start: Start) -> HandshakeBytes {
        let (client, server) = match (self.version, start) {
            (Version::V13, Start::Full) => (1600, 4500),
            (Version::V13, _) => (1850, 1400),
            (Version::V12, Start::Full) => (300, 4500),
            (Version::V12, _) => (550, 150),
        };
        HandshakeBytes {
            client: self.client_hello.map_or(client, Bytes::get),
            server: self.server_flight.map_or(server, Bytes::get),
        }
    }
}
