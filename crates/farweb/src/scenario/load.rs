//! Amount of a workload that runs: `load`, counted by its `scale`.

use serde::{Deserialize, Serialize, Serializer};

/// Scale of the load: the unit it counts in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LoadScale {
    /// A whole number of days that run at the same time, and of copies of them.
    #[default]
    Copies,
    /// A factor on the number of requests: some, chosen at random, are left out or repeated.
    Rate,
}

impl LoadScale {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// A load: a whole number of copies, or a rate.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct LoadLevel(f64);

impl LoadLevel {
    /// A load of so many copies, or of such a factor.
    #[must_use]
    pub const fn new(load: f64) -> Self {
        Self(load)
    }

    /// The load as a number.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl Default for LoadLevel {
    fn default() -> Self {
        Self(1.0)
    }
}

/// A whole number is written as one.
impl Serialize for LoadLevel {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.fract() == 0.0 {
            serializer.serialize_u64(self.0 as u64)
        } else {
            serializer.serialize_f64(self.0)
        }
    }
}
