//! Tests of the endpoint: scripts by stack and subject with an index, two endpoints on a pipe, and properties.

mod bsd;
mod index;
mod invariants;
mod linux;
mod operation;
mod pipe;
mod properties;
mod script;
