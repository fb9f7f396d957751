//! The TCP of Linux 6.18: SACK, RACK-TLP, proportional rate reduction, CUBIC, auto-tuning of both buffers.
//!
//! Read [`Connection`] first, then how an ACK is taken in `acknowledge`, how losses are found in `recovery`, and how
//! much may fly in `congestion`. The head of each file lists the parts modelled and left out, and their source.

mod acknowledge;
mod by_rate;
mod clock;
mod congestion;
mod connection;
mod handshake;
mod input;
mod output;
mod pacing;
mod profile;
mod queue;
mod rates;
mod receive;
mod recovery;
mod rtt;
mod sack;
mod send;
mod sent;
mod shared;
mod timers;

pub use congestion::{BbrMode, BbrReport};
pub(super) use connection::Config;
pub use connection::Connection;
pub use profile::{CongestionControl, EcnKind, HystartKind, Overrides, PacingKind, Profile};
pub use shared::SharedProfile;

#[cfg(test)]
mod tests;
