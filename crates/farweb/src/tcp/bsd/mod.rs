//! The TCP of 4.4BSD: all its timers are counts of ticks, one routine decides about every segment.
//!
//! Read [`Connection`] first, then how a segment is predicted in `prediction`, and how segments leave in `output`. The
//! head of each file lists the parts modelled and left out, and their source.

mod acknowledgement;
mod congestion;
mod connection;
mod input;
mod negotiation;
mod output;
mod prediction;
mod profile;
mod receive;
mod recovery;
mod rtt;
mod send;
mod shared;
mod timers;

#[cfg(test)]
mod tests;

pub(super) use connection::Config;
pub use connection::Connection;
pub use profile::{HeaderPrediction, IdleRestart, Overrides, Profile};
pub use shared::SharedProfile;
