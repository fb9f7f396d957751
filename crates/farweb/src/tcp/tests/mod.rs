//! Tests of the endpoint that belong to no single stack: the language of scripts, scripts that every stack passes, the index
//! of all, two endpoints on a pipe, and properties.

mod index;
mod invariants;
mod memory;
mod operation;
pub(in crate::tcp) mod pipe;
mod properties;
pub(in crate::tcp) mod script;
mod shared;
