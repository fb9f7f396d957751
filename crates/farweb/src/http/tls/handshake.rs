//! Handshakes: the bytes that each end sends, in turn, before the first message.
//!
//! Models the flights of full handshakes, of resumed ones, and of 0-RTT. A client of TLS 1.3 sends its first message
//! behind its last flight. A server sends its own when it has that flight, and two tickets with it. Leaves out servers
//! that send messages before. Sizes of first flights are parameters: given, or sums of [`parts`](super::parts).
//!
//! Sources: RFC 8446, sections 2, 2.2 and 2.3; RFC 5246, section 7.3.

use serde::{Deserialize, Serialize};

/// Version of TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Version {
    /// TLS 1.2 with AES-GCM: two round trips, one when resumed.
    #[serde(rename = "1.2")]
    V12,
    /// TLS 1.3: one round trip.
    #[default]
    #[serde(rename = "1.3")]
    V13,
}

impl Version {
    /// Its number, as a scenario writes it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::V12 => "1.2",
            Self::V13 => "1.3",
        }
    }

    /// Bytes that a record adds to its content.
    ///
    /// Source: RFC 8446, section 5.2: header 5, type 1, tag 16; RFC 5246 and 5288: header 5, nonce 8, tag 16.
    #[must_use]
    pub const fn record_overhead(self) -> u64 {
        match self {
            Self::V12 => 29,
            Self::V13 => 22,
        }
    }
}

/// State that the ends of a connection have from an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// Nothing: the server sends its certificates.
    #[default]
    Full,
    /// A ticket.
    Resumed,
    /// A ticket, and the client sends its first message beside it; TLS 1.3 only.
    #[serde(rename = "0-rtt")]
    EarlyData,
}

impl Start {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Full, Self::Resumed, Self::EarlyData];
}

/// Bytes of the first flights, as the transport carries them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HandshakeBytes {
    /// `ClientHello`.
    pub client: u64,
    /// The server's answer, to the end of its flight.
    pub server: u64,
}

/// Flight: the bytes of one end in its turn of a handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flight {
    /// The end that sends it.
    pub from: usize,
    /// Its bytes.
    pub bytes: u64,
}

/// The flights of a handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handshake {
    pub(super) start: Start,
    flights: [Flight; 4],
    count: usize,
    /// By end: number of flights that it has sent or received when it may send messages.
    pub(super) ready_after: [usize; 2],
}

/// `Finished` of TLS 1.3 with SHA-256 (36 B in a record of 58), behind a `ChangeCipherSpec` for middleboxes (6 B).
const FINISHED_13: u64 = 64;

/// Two tickets of TLS 1.3. Chosen: 250 B each.
const TICKETS: u64 = 500;

/// `ChangeCipherSpec` (6 B) and `Finished` (16 B in a record of 45) of TLS 1.2. Before it, in a full handshake, come the
/// client's key (37 B on the curve X25519, 5 B of record) and the server's ticket (chosen: 210 B).
const FINISHED_12: u64 = 51;
const CLIENT_KEY_12: u64 = 42;
const TICKET_12: u64 = 210;

impl Handshake {
    /// The flights of this version and start.
    #[must_use]
    pub const fn new(version: Version, start: Start, bytes: HandshakeBytes) -> Self {
        let HandshakeBytes { client, server } = bytes;
        let (third, fourth, count, ready_after) = match (version, start) {
            (Version::V13, Start::Full | Start::Resumed) => (FINISHED_13, TICKETS, 4, [3, 3]),
            (Version::V13, Start::EarlyData) => (FINISHED_13, TICKETS, 4, [1, 2]),
            (Version::V12, Start::Full) => (CLIENT_KEY_12 + FINISHED_12, TICKET_12 + FINISHED_12, 4, [4, 4]),
            (Version::V12, Start::Resumed | Start::EarlyData) => (FINISHED_12, 0, 3, [3, 3]),
        };
        let flights = [
            Flight { from: 0, bytes: client },
            Flight { from: 1, bytes: server },
            Flight { from: 0, bytes: third },
            Flight { from: 1, bytes: fourth },
        ];
        Self { start, flights, count, ready_after }
    }

    /// Round trips before the client may send messages.
    #[must_use]
    pub const fn round_trips(&self) -> u64 {
        self.ready_after[0] as u64 / 2
    }

    /// The flights, in turn.
    #[must_use]
    pub fn flights(&self) -> &[Flight] {
        &self.flights[..self.count]
    }

    /// Flights before the client's first message, and behind each its answer.
    pub fn before_messages(&self) -> impl Iterator<Item = &[Flight]> {
        self.flights[..self.ready_after[0] / 2 * 2].chunks(2)
    }
}
