//! Tests of the endpoint: scripts by subject, two endpoints on a pipe, and properties.

mod pipe;
mod script;

mod handshake;
mod properties;
mod transfer;
