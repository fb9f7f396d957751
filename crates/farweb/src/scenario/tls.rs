//! TLS on the connections of a leg: its keys, as types.

use serde::{Deserialize, Serialize};

use crate::http::tls::parts::Part;
use crate::http::tls::{
    Handshake, HandshakeBytes, KeyExchange, Parts, Ramp, RecordSize, Scheme, Settings, Small, SmallRecord,
    Start, Version,
};
use crate::units::{Bytes, Duration, Share};

/// TLS on the connections of a leg.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    /// Most bytes in a record at the start of a connection, or a program to imitate at both ends: "go", "cloudflare",
    /// "h2o", "apache", or "nginx" and "boringssl", which have none; `record` when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub small_record: Option<SmallRecord>,
    /// Bytes that an end sends in small records before its records are `record`, where `small_record` is a size.
    pub small_until: Bytes,
    /// Key exchange. With this key or one of the six below, the first flights are sums of their parts; the default is then
    /// "x25519mlkem768", in TLS 1.2, which has no ML-KEM, "x25519".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_exchange: Option<KeyExchange>,
    /// Signature scheme of the server's certificates, "ecdsa-p256" among parts; post-quantum ones in TLS 1.3 only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificates: Option<Scheme>,
    /// Certificates between the server's and a root, which is not sent; 1 among parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intermediates: Option<u32>,
    /// Signed timestamps of logs in the server's certificate (RFC 6962), at most 546; none among parts.
    #[cfg_attr(test, schemars(range(max = crate::http::tls::SCTS_MAX)))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scts: Option<u32>,
    /// True when the server sends an OCSP response for its certificate; it does not among parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ocsp: Option<bool>,
    /// Size of the compressed Certificate message (RFC 8879) as a share of the plain one, above 0 to 1; left out, it is not compressed.
    #[cfg_attr(test, schemars(with = "Share"))]
    #[serde(deserialize_with = "Share::deserialize_some", skip_serializing_if = "Option::is_none")]
    pub compression: Option<f64>,
    /// True when the client says that it has the intermediates: the server leaves them out. False among parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suppress_intermediates: Option<bool>,
    /// Size of the client's first flight, with its records, whatever its parts; left out, theirs, without parts 300 B (1600 B in TLS
    /// 1.3, with a hybrid key; 250 B more when resumed).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_hello: Option<Bytes>,
    /// Size of the server's first flight, with its records, whatever its parts; left out, theirs, without parts 4500 B with
    /// certificates (1400 B when resumed; 150 B in TLS 1.2).
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
            key_exchange: None,
            certificates: None,
            intermediates: None,
            scts: None,
            ocsp: None,
            compression: None,
            suppress_intermediates: None,
            client_hello: None,
            server_flight: None,
        }
    }
}

impl Tls {
    /// TLS of connections, as these keys ask for it.
    #[must_use]
    pub fn settings(&self) -> Settings {
        let handshakes =
            Start::ALL.map(|start| Handshake::new(self.version, start, self.handshake_bytes(start)));
        let small = match self.small_record {
            None => None,
            Some(SmallRecord::Size(size)) => {
                let ramp = Ramp::Until { size: size.get(), bytes: self.small_until.get() };
                Some(Small { ramp, after_pause: None })
            }
            Some(SmallRecord::Of(writer)) => writer.small(),
        };
        let record = RecordSize { full: self.record.get(), small };
        Settings { version: self.version, record, handshakes }
    }

    /// Parts of the first flights, where a key names them.
    #[must_use]
    pub fn parts(&self) -> Option<Parts> {
        let is_said = self.key_exchange.is_some()
            || self.certificates.is_some()
            || self.intermediates.is_some()
            || self.scts.is_some()
            || self.ocsp.is_some()
            || self.compression.is_some()
            || self.suppress_intermediates.is_some();
        let usual = match self.version {
            Version::V12 => KeyExchange::X25519,
            Version::V13 => KeyExchange::X25519Mlkem768,
        };
        let certificates = self.certificates.unwrap_or(Scheme::EcdsaP256);
        is_said.then(|| Parts {
            key_exchange: self.key_exchange.unwrap_or(usual),
            certificates,
            intermediates: self.intermediates.unwrap_or(certificates.has_chain().into()),
            scts: self.scts.unwrap_or(0),
            ocsp: self.ocsp.unwrap_or(false),
            compression: self.compression,
            suppress_intermediates: self.suppress_intermediates.unwrap_or(false),
        })
    }

    /// Parts of the client's and of the server's first flight. None where a size is given or there are no
    /// parts.
    #[must_use]
    pub fn flight_parts(&self, start: Start) -> [Option<Vec<Part>>; 2] {
        let Some(parts) = self.parts() else { return [None, None] };
        [
            self.client_hello.is_none().then(|| parts.client(self.version, start)),
            self.server_flight.is_none().then(|| parts.server(self.version, start)),
        ]
    }

    /// Sizes of the first flights: given, or the sums of their parts. Without parts chosen of the sizes that RFC 8446's fields have
    /// with a key share of 1,216 B and 1,120 B (X25519MLKEM768), a certificate chain of 3 KB, and a ticket of 250 B.
    #[must_use]
    pub fn handshake_bytes(&self, start: Start) -> HandshakeBytes {
        let usual = match (self.parts(), self.version, start) {
            (Some(parts), version, start) => parts.bytes(version, start),
            (None, Version::V13, Start::Full) => HandshakeBytes { client: 1600, server: 4500 },
            (None, Version::V13, _) => HandshakeBytes { client: 1850, server: 1400 },
            (None, Version::V12, Start::Full) => HandshakeBytes { client: 300, server: 4500 },
            (None, Version::V12, _) => HandshakeBytes { client: 550, server: 150 },
        };
        HandshakeBytes {
            client: self.client_hello.map_or(usual.client, Bytes::get),
            server: self.server_flight.map_or(usual.server, Bytes::get),
        }
    }
}
