//! Tests of the endpoint: scripts by stack and subject with an index, two endpoints on a pipe, and properties.

mod index;
mod invariants;
mod operation;
pub(in crate::tcp) mod pipe;
mod properties;
pub(in crate::tcp) mod script;
