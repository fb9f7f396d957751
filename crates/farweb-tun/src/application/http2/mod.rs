//! HTTP/2 without TLS, with prior knowledge (RFC 9113, section 3.3): an end that fetches files, and one that serves them.

mod client;
mod server;
mod session;

pub(crate) use client::Client;
pub(crate) use server::Server;
pub(crate) use session::SessionReport;
