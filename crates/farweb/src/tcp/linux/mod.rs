//! The TCP of Linux 6.18.

// Until the endpoint is there nothing uses its parts.
#![expect(dead_code, reason = "parts come before the endpoint that uses them")]

mod clock;
mod congestion;
pub mod profile;
mod receive;
mod rtt;
