//! Handshakes of a leg with TLS: parts of their first flights, and the round trips that the server's flight takes.
//!
//! The server's flight leaves without a loss, from the first window on, in slow start. Left out: transmission, ACKs that wait for a
//! timer, Nagle's rule, other traffic.

use serde::Serialize;

use super::figures;
use super::leg::WindowLimit;
use super::text::Text;
use crate::http::tls::Start;
use crate::http::tls::parts::Part;
use crate::scenario::{ClientShare, Leg, Scenario};

/// First flights of one kind of handshake on a leg.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HandshakeReport {
    /// Kind of handshake: `full`, `resumed`, `0-rtt`.
    pub start: Start,
    /// The client's first flight.
    pub up: FlightReport,
    /// The server's first flight.
    pub down: FlightReport,
    /// Bytes that the server may send before an ACK: segments of its first window.
    pub first_window_bytes: u64,
    /// Round trips to send the server's flight: 1 if it fits the first window.
    pub rounds: u32,
}

/// A flight, with its parts if the scenario gives them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FlightReport {
    /// Bytes on the connection.
    pub bytes: u64,
    /// Parts, which add up to `bytes`. Empty if a size is given.
    pub parts: Vec<PartReport>,
}

/// A part of a flight.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PartReport {
    /// Name.
    pub name: &'static str,
    /// Bytes added. Below zero for the savings of compression.
    pub bytes: i64,
}

/// Kinds of handshake on the leg, the full one first. Empty without TLS.
pub(super) fn handshakes(
    index: usize,
    leg: &Leg,
    scenario: &Scenario,
    limit: &WindowLimit,
) -> Vec<HandshakeReport> {
    let Some(tls) = &leg.tls else { return Vec::new() };
    let profile = leg.tcp.profile();
    let (payload, window) = (limit.payload_bytes, limit.window_segments);
    let report = |start| {
        let bytes = tls.handshake_bytes(start);
        let [up, down] = tls.flight_parts(start);
        HandshakeReport {
            start,
            up: FlightReport::new(bytes.client, up),
            down: FlightReport::new(bytes.server, down),
            first_window_bytes: profile.first_window().min(window.max(1)) * payload,
            rounds: profile.rounds(bytes.server.div_ceil(payload), window),
        }
    };
    // Clients with connections of their own get a ticket by a full handshake.
    let is_told_apart =
        index == 0 && scenario.clients.share == ClientShare::Each && !leg.carrier.connection_use().standing;
    match tls.start {
        Start::Full => vec![report(Start::Full)],
        start if is_told_apart => vec![report(Start::Full), report(start)],
        start => vec![report(start)],
    }
}

impl FlightReport {
    fn new(bytes: u64, parts: Option<Vec<Part>>) -> Self {
        let parts = parts.into_iter().flatten();
        Self { bytes, parts: parts.map(|Part { name, bytes }| PartReport { name, bytes }).collect() }
    }
}

impl HandshakeReport {
    const fn name(&self) -> &'static str {
        match self.start {
            Start::Full => "full",
            Start::Resumed => "resumed",
            Start::EarlyData => "0-RTT",
        }
    }

    /// The sentence about a server's flight that does not fit its first window.
    fn sentence(&self) -> Option<String> {
        let more = self.rounds.checked_sub(1).filter(|more| *more > 0)?;
        let trips = if more == 1 { "one round trip".to_owned() } else { format!("{more} round trips") };
        Some(format!(
            "the server's flight of {} needs {} flights from its first window ({} B) on:\n  each {} handshake takes {trips} more",
            figures::bytes(self.down.bytes as f64),
            self.rounds,
            self.first_window_bytes,
            self.name(),
        ))
    }

    /// Adds lines about it.
    pub(super) fn say(&self, text: &mut Text) {
        for (direction, flight) in [("up", &self.up), ("down", &self.down)] {
            if flight.parts.is_empty() {
                continue;
            }
            text.row(&format!("{} handshake {direction}", self.name()), format!("{} B", flight.bytes));
            for part in &flight.parts {
                text.say(&format!("    {:<22} {:>6} B", part.name, part.bytes));
            }
        }
        if let Some(sentence) = self.sentence() {
            text.say(&format!("  {sentence}"));
        }
    }
}
