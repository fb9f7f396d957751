//! Families of generated traces, which take the place of a workload's tables: their names and their parameters.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::units::Duration;
use crate::workload::{ParameterError, Prepared, nzix, prowgen};

/// A family of traces that the core generates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// Web traffic of the New Zealand Internet Exchange in July 1997: ten minutes a day.
    Nzix,
    /// Requests of a web proxy's clients, by the model ProWGen.
    Prowgen,
}

/// Other values for parameters of a family, as a scenario has them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FamilyParameters(Map<String, Value>);

impl Family {
    /// True when its requests say which object they ask for.
    pub(super) const fn has_objects(self) -> bool {
        match self {
            Self::Nzix => false,
            Self::Prowgen => true,
        }
    }

    /// Time that its copies wrap around in. `None`: they are only shifted.
    pub(super) fn period(self) -> Option<Duration> {
        match self {
            Self::Nzix => Some(nzix::PERIOD),
            Self::Prowgen => None,
        }
    }
}

impl FamilyParameters {
    /// These parameters, each with its value as JSON.
    #[must_use]
    pub const fn new(values: Map<String, Value>) -> Self {
        Self(values)
    }

    /// True when no parameter is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Checks that `family` can generate something with them.
    pub(super) fn check(&self, family: Family) -> Result<(), ParameterError> {
        match family {
            Family::Nzix => nzix::Parameters::default().with(&self.of_family()).check(),
            Family::Prowgen => prowgen::Parameters::default().with(&self.of_family()).check(),
        }
    }

    pub(super) fn generate(&self, family: Family, days: u32, seed: u64) -> Prepared {
        match family {
            Family::Nzix => {
                let parameters = nzix::Parameters::default().with(&self.of_family());
                Prepared::of_days(nzix::trace(&parameters, days, seed))
            }
            Family::Prowgen => {
                let parameters = prowgen::Parameters::default().with(&self.of_family());
                Prepared::of_trace(prowgen::Trace::new(&parameters, seed))
            }
        }
    }

    fn of_family<T: DeserializeOwned>(&self) -> T {
        serde_json::from_value(Value::Object(self.0.clone()))
            .expect("a checked scenario sets parameters of its family")
    }
}
