//! The clock of a peer that uses timestamps, and its echoes.

use crate::tcp::{Segment, Timestamps};
use crate::units::Instant;

/// Value of the peer's clock at the start of a script. Chosen: unlike the endpoint's.
const START: u32 = 5000;

/// A peer by RFC 7323, section 4.3. It has received the segments that it acknowledges, and of two copies the later one.
#[derive(Debug, Default)]
pub(super) struct PeerClock {
    sent: Vec<Segment>,
    /// Its last acknowledgement.
    last_ack: u64,
}

impl PeerClock {
    /// The endpoint sent `segment`.
    pub(super) fn on_sent(&mut self, segment: Segment) {
        self.sent.push(segment);
    }

    /// The timestamps of `segment`, which the peer sends at `now`.
    pub(super) fn stamp(&mut self, now: Instant, segment: &Segment) -> Timestamps {
        let edge = self.last_ack;
        let updates = |sent: &&Segment| sent.seq <= edge && sent.end() <= segment.ack;
        let recent = self.sent.iter().rev().find(updates).and_then(|sent| sent.options.timestamps);
        self.last_ack = edge.max(segment.ack);
        let value = START + (now.as_nanos() / 1_000_000) as u32;
        Timestamps { value, echo: recent.map_or(0, |stamps| stamps.value) }
    }
}
