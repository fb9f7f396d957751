//! How requests ride connections: the carriers, a file each, and the origin servers.
//!
//! Both sides of a carrier are state machines that count bytes. They name no connection: the caller reads and writes for
//! them, and tells them how much.

pub mod http10;
pub mod http11;
pub mod mux;
mod origin;
pub mod stream;
pub mod transfer;

pub use origin::{Release, ReleasePlan};
