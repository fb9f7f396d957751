//! The description of a run: read from TOML, overridden by key, checked once.

mod model;

pub use model::*;
