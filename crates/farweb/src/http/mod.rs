//! State machines of carriers, a file each, and of the origin servers.
//!
//! Both sides of a carrier are state machines that count bytes. They name no connection: the caller reads and writes for
//! them, and reports the bytes to them.

pub mod credit;
mod exchange_bytes;
pub mod h2;
pub mod http11;
pub mod mux;
mod origin;
pub mod stream;
pub mod tls;
mod turns;
pub mod webmux;

pub use exchange_bytes::{ExchangeBytes, NOT_MODIFIED_BYTES};
pub use origin::{Release, ReleasePlan};
pub use turns::Turns;
