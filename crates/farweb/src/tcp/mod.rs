//! The TCP endpoint: a state machine without clock, queue or I/O.
//!
//! Read first: [`connection::Connection`], whose methods are of four kinds: getters, `on_*` for what came in, commands
//! of the application, and [`next_timeout`](connection::Connection::next_timeout). Segments and notices go into an
//! [`Output`] that the caller lends.

pub mod profile;
pub mod segment;

pub use segment::{Flags, Options, Segment};
