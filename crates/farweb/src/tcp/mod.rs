//! The TCP endpoint: state machines without clock, queue or I/O.
//!
//! Read first: [`Connection`]. It has methods of four kinds: getters, `on_*` for arrivals, commands of the application, and
//! [`next_timeout`](Connection::next_timeout). Segments and notices go to an [`Emit`] of the caller: an [`Output`] that
//! keeps them, or a link. The caller calls [`on_timeout`](Connection::on_timeout) at the instant that `next_timeout` names,
//! and asks again after every call.
//!
//! Each stack is a folder of its own: [`bsd`] follows 4.4BSD, [`linux`] Linux. They share segments, states and notices to
//! the application, and none of their differing parts. [`ns2`] has no connections: its two agents, one at each end, are
//! driven in the same way.

pub mod bsd;
mod connection;
mod constants;
mod host;
pub mod linux;
pub mod ns2;
mod profile;
mod ranges;
pub mod segment;
mod state;

#[cfg(test)]
mod tests;

pub use connection::{Config, Connection, Random};
pub use host::HostClock;
pub use profile::{Overrides, Profile, ProfileError, ProfileName};
pub(crate) use segment::FIRST_BYTE;
pub use segment::{Codepoint, Flags, Options, Plain, SackBlocks, Segment, Timestamps};
pub use state::{CloseReason, Emit, Limit, Notice, Output, State, reset_for};
