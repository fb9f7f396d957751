//! A radio that sleeps: the first packet after a silence waits until it is awake.
//!
//! It sleeps once nothing has left for a while, and at the start of the run. Packets that come as it wakes
//! wait with the first.
//!
//! Left out: a state that both directions of a link share, steps between awake and asleep, the energy.
//!
//! Source: chosen. LTE has it as the inactivity timer of radio resource control (3GPP TS 36.331). Operators set its
//! value.

use serde::{Deserialize, Serialize};

use crate::units::{Duration, Instant};

/// Sleep of a radio, in one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Wake {
    /// Silence after which it sleeps, from when the last packet left.
    #[cfg_attr(test, schemars(example = &"10 s"))]
    pub after: Duration,
    /// Time that it takes to wake for a packet.
    #[cfg_attr(test, schemars(example = &"80 ms"))]
    pub delay: Duration,
}

/// A radio in a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Radio {
    wake: Wake,
    /// It sleeps from then on.
    sleeps: Instant,
}

impl Radio {
    /// Asleep, at the start of the run.
    pub(super) const fn new(wake: Wake) -> Self {
        Self { wake, sleeps: Instant::ZERO }
    }

    /// When it can send a packet that is there at `now`.
    pub(super) fn awake_for(&self, now: Instant) -> Instant {
        if now < self.sleeps { now } else { now + self.wake.delay }
    }

    /// A packet leaves at `departure`.
    pub(super) fn sent(&mut self, departure: Instant) {
        self.sleeps = departure + self.wake.after;
    }
}
