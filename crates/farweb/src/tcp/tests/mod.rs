//! Tests of the endpoint: scripts by subject, two endpoints on a pipe, and properties.

mod pipe;
mod script;

mod acknowledging;
mod closing;
mod handshake;
mod loss;
mod options;
mod properties;
mod reassembly;
mod sending;
mod transfer;
