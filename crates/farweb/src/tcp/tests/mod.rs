//! Tests of the endpoint: scripts by stack and subject, two endpoints on a pipe, and properties.

mod bsd;
mod invariants;
mod operation;
mod pipe;
mod properties;
mod script;
