//! The TCP endpoint: a state machine without clock, queue or I/O.
//!
//! Read first: [`Connection`], whose methods are of four kinds: getters, `on_*` for what came in, commands of the
//! application, and [`next_timeout`](Connection::next_timeout). Segments and notices go into an [`Output`] that the caller
//! lends. The caller calls [`on_timeout`](Connection::on_timeout) at the instant that `next_timeout` names, and asks again
//! after every call.

mod acknowledgement;
mod congestion;
mod connection;
mod input;
pub mod linux;
mod negotiation;
mod output;
mod prediction;
pub mod profile;
mod receive;
mod recovery;
mod rtt;
pub mod segment;
mod send;
mod state;
mod timers;

#[cfg(test)]
mod tests;

pub use connection::{Config, Connection};
pub use negotiation::rounded_buffer;
pub use profile::{Overrides, Profile, ProfileName};
pub use segment::{Flags, Options, Segment, Timestamps};
pub use state::{CloseReason, Notice, Output, State, reset_for};
pub use timers::HostClock;
