//! The table `[sweep]`: its keys, as types, and the shapes that a factor may have.
//!
//! A *factor* is a key with its levels, or a name for several keys that change together. A *point* is a combination of
//! levels, one of each factor. Factors and levels keep the order of the file.

mod shape;

use std::fmt;

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

pub(super) use shape::problems;

/// The design of a sweep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Sweep {
    /// Design: the combinations of levels that are run.
    pub design: DesignKind,
    /// Number of runs with different seeds for each combination of levels.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub replications: u32,
    /// Seeds of the combinations: the same for all ("common"), or others for each ("independent").
    pub random_numbers: RandomNumbers,
    /// Number of points of a Latin hypercube, the only design with this key.
    #[cfg_attr(test, schemars(range(min = 1)))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples: Option<u32>,
    /// Levels by dotted key, such as "leg.0.tcp.buffer", or by the name of keys that change together.
    pub factors: Factors,
}

/// Design of a sweep: the combinations of levels that it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum DesignKind {
    /// Each level of each factor with all of the others; the last factor varies fastest.
    #[default]
    FullFactorial,
    /// The first levels of all factors, then each other level of each factor alone.
    OneAtATime,
    /// Samples, each factor's spread evenly over its range or levels (M. McKay, R. Beckman, W. Conover, "A Comparison of
    /// Three Methods for Selecting Values of Input Variables …", Technometrics 21(2), 1979).
    LatinHypercube,
}

/// Rule for the seeds of a sweep's runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RandomNumbers {
    /// Replication r has the seed `run.seed` + r at every point: differences between points have less noise.
    #[default]
    Common,
    /// Every run has a seed of its own.
    Independent,
}

/// The factors of a sweep, in the order of the file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Factors(pub Vec<Factor>);

/// Factor: a key, or several together, that a sweep varies.
#[derive(Debug, Clone, PartialEq)]
pub struct Factor {
    /// A dotted key of the scenario, or the name of several that change together.
    pub name: String,
    /// Its levels.
    pub levels: Levels,
}

/// The levels of a factor.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Levels {
    /// Several keys that change together.
    Named(#[cfg_attr(test, schemars(length(min = 1)))] Vec<NamedLevel>),
    /// All values from one to another; for a Latin hypercube.
    Range(Range),
    /// Values of a key.
    List(#[cfg_attr(test, schemars(length(min = 1)))] Vec<Value>),
}

/// A level of a factor that sets several keys.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NamedLevel {
    /// Its label.
    #[cfg_attr(test, schemars(example = &"cable"))]
    pub level: Label,
    /// Values by dotted key; a key that only other levels set stays as the scenario has it.
    #[cfg_attr(test, schemars(example = serde_json::json!({ "path.link.0.down.delay": "60 ms" })))]
    #[serde(default)]
    pub set: Map<String, Value>,
}

/// Label of a level: text or a number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Label {
    /// A word or more.
    Text(String),
    /// A number, which has a place on an axis.
    Number(serde_json::Number),
}

/// All values from one to another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// Least value: a number, or text with a unit.
    #[cfg_attr(test, schemars(with = "Label", example = &"10 ms"))]
    pub from: Value,
    /// Greatest value: a number, or text with a unit.
    #[cfg_attr(test, schemars(with = "Label", example = &"600 ms"))]
    pub to: Value,
    /// Scale on which values are spread between them.
    #[serde(default)]
    pub scale: Scale,
}

/// Scale on which the values of a range are spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// Equal differences are equally likely.
    #[default]
    Linear,
    /// Equal ratios are equally likely.
    Log,
}

impl Default for Sweep {
    fn default() -> Self {
        Self {
            design: DesignKind::default(),
            replications: 1,
            random_numbers: RandomNumbers::default(),
            samples: None,
            factors: Factors::default(),
        }
    }
}

impl DesignKind {
    /// As a scenario writes it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::FullFactorial => "full-factorial",
            Self::OneAtATime => "one-at-a-time",
            Self::LatinHypercube => "latin-hypercube",
        }
    }
}

impl Levels {
    /// Number of levels, unless it is a range.
    pub(crate) fn count(&self) -> Option<usize> {
        match self {
            Self::Named(levels) => Some(levels.len()),
            Self::List(levels) => Some(levels.len()),
            Self::Range(_) => None,
        }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Number(number) => write!(f, "{number}"),
        }
    }
}

impl Serialize for Factors {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|factor| (&factor.name, &factor.levels)))
    }
}

impl<'de> Deserialize<'de> for Factors {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Factors;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table of factors")
            }
            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Factors, M::Error> {
                let mut factors = Vec::new();
                while let Some((name, levels)) = map.next_entry()? {
                    factors.push(Factor { name, levels });
                }
                Ok(Factors(factors))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

impl<'de> Deserialize<'de> for Levels {
    /// By shape: serde's own choice would take a list of two values for a range.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let levels = match &value {
            Value::Array(list) if shape::has_names(list) => serde_json::from_value(value).map(Self::Named),
            Value::Array(_) => serde_json::from_value(value).map(Self::List),
            _ => serde_json::from_value(value).map(Self::Range),
        };
        levels.map_err(D::Error::custom)
    }
}
