//! Named, frozen sets of constants.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Name of a profile, as a scenario writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub enum ProfileName {
    /// The TCP of 4.4BSD-Lite (1994).
    #[default]
    #[serde(rename = "bsd44-lite")]
    Bsd44Lite,
}

/// Constants that a scenario sets to other values than its profile has.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Overrides {}
