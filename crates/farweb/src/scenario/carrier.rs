//! Carriers of legs: their keys, as types, and how each uses connections.

use serde::{Deserialize, Serialize};

use super::http2::Http2;
use crate::http::mux::{Assign, Overhead, Ties};
use crate::http::webmux::Layout;
use crate::pool::{ClosedBy, OpenRule};
use crate::units::{Bytes, Duration};

/// Carrier of a leg: how requests ride connections.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "kind", deny_unknown_fields)]
pub enum Carrier {
    /// A connection for each request.
    #[serde(rename = "http/1.0")]
    Http10 {
        /// End that closes a connection: the server behind the response, or the client when it has read it.
        #[serde(default = "by_server")]
        closed_by: ClosedBy,
    },
    /// Persistent connections: a request takes an idle one, on the last leg to the same host, and opens one when there is none. One
    /// request at a time, no pipelining.
    #[serde(rename = "http/1.1")]
    Http11 {
        /// Time that a connection is idle before it is closed.
        #[serde(default = "default_idle_timeout")]
        idle_timeout: Duration,
        /// End that closes an idle connection.
        #[serde(default)]
        closed_by: ClosedBy,
        /// Most connections to one host, or on an inner leg to the next proxy; any number when left out.
        #[cfg_attr(test, schemars(range(min = 1)))]
        #[serde(default, skip_serializing_if = "Option::is_none")]
        per_host: Option<u32>,
        /// Most connections to all hosts together; any number when left out.
        #[cfg_attr(test, schemars(range(min = 1)))]
        #[serde(default, skip_serializing_if = "Option::is_none")]
        total: Option<u32>,
        /// Most requests on a connection, which its server closes behind the last response; any number when left out.
        #[cfg_attr(test, schemars(range(min = 1), example = 1000))]
        #[serde(default, skip_serializing_if = "Option::is_none")]
        per_connection: Option<u32>,
    },
    /// A bundle of connections between two proxies, opened once; each request and each response goes over one of them, a response
    /// from its first segment on, interleaved with others.
    #[serde(rename = "mux")]
    Mux {
        /// Number of connections, 1 to 1000.
        #[cfg_attr(test, schemars(range(min = 1, max = CONNECTIONS_MAX), example = 50))]
        connections: u32,
        /// Framing added to responses: bytes for each segment that arrives from the next leg ("20 B"), a share of the bytes ("2 %"),
        /// or "none".
        #[serde(default)]
        overhead: Overhead,
        /// Rule that selects the connection of a message.
        #[serde(default)]
        assign: Assign,
        /// Rule that selects among connections with equally few bytes outstanding.
        #[serde(default)]
        ties: Ties,
    },
    /// A connection to each server, on an inner leg one to the next proxy, on which requests and responses go side by side as
    /// sessions of W3C MUX: in fragments, each direction of a session with a credit of its own.
    #[serde(rename = "webmux")]
    WebMux {
        /// Credit: bytes of payload that a session may send before the receiver grants more, which it does when more than half is taken.
        #[serde(default = "default_credit")]
        credit: Bytes,
        /// Size of the write buffer of each end. It gathers fragments of all sessions for the transport.
        #[serde(default = "default_write_buffer")]
        write_buffer: Bytes,
        /// Most bytes that each end reads from its transport at once.
        #[serde(default = "default_read_buffer")]
        read_buffer: Bytes,
        /// Most bytes of payload in a fragment.
        #[serde(default = "default_fragment")]
        fragment: Bytes,
        /// Layout of header words and control messages: of the experiment of 1997 ("1996") or of the last draft ("1998").
        #[serde(default)]
        layout: Layout,
    },
    /// HTTP/2: many requests at once on each connection, with credits of their own. The keys of an end (`preset` to `nodelay`) are
    /// for both ends; those in `client` or `server` are for one, and go before them.
    #[serde(rename = "http/2")]
    Http2(Box<Http2>),
    /// The response alone, sent by ns-2's one-way TCP from the node in the request table's column `source` (else the leg's last),
    /// without request, handshake or close; only with the profile ns2-reno, which needs it.
    #[serde(rename = "transfer")]
    Transfer {},
}

/// Use of connections by a carrier: what one has to know of it to read results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ConnectionUse {
    /// Requests ride connections; else responses come alone, one-way, without handshake and close.
    pub requests: bool,
    /// A connection may carry one request after another; else it goes with its request.
    pub reused: bool,
    /// A connection may carry many requests at once; else one at a time.
    pub shared: bool,
    /// Connections are open whether requests need them or not; else a request opens the one that it lacks.
    pub standing: bool,
}

impl ConnectionUse {
    /// True when each request has a connection of its own.
    #[must_use]
    pub const fn is_alone(self) -> bool {
        !(self.reused || self.shared || self.standing)
    }
}

impl Carrier {
    /// Use of connections.
    #[must_use]
    pub const fn connection_use(&self) -> ConnectionUse {
        let alone = ConnectionUse { requests: true, reused: false, shared: false, standing: false };
        match self {
            Self::Http10 { .. } => alone,
            Self::Http11 { .. } => ConnectionUse { reused: true, ..alone },
            Self::Mux { .. } => ConnectionUse { reused: true, shared: true, standing: true, ..alone },
            Self::WebMux { .. } => ConnectionUse { reused: true, shared: true, ..alone },
            Self::Http2(http2) => {
                let standing = matches!(http2.open_rule, OpenRule::Fixed);
                ConnectionUse { reused: true, shared: true, standing, ..alone }
            }
            Self::Transfer {} => ConnectionUse { requests: false, ..alone },
        }
    }
}

/// RFC 1945, section 1.3.
const fn by_server() -> ClosedBy {
    ClosedBy::Server
}

/// The idle timeout of the NZ–US studies.
const fn default_idle_timeout() -> Duration {
    Duration::from_secs(15)
}

/// Values of the experiment of 1997, its first run.
const fn default_credit() -> Bytes {
    Bytes::new(4096)
}

const fn default_write_buffer() -> Bytes {
    Bytes::new(8192)
}

const fn default_read_buffer() -> Bytes {
    Bytes::new(4096)
}

const fn default_fragment() -> Bytes {
    Bytes::new(512)
}

/// Most connections of a mux. Chosen: twenty times the largest number of the NZ–US studies.
#[cfg(test)] // only the schema asks
pub(super) const CONNECTIONS_MAX: u32 = 1000;
