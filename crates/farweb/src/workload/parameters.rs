//! Parameters of a family: declared once, with their defaults, set by scenarios, and checked.

use std::borrow::Cow;

/// A parameter with a value that no trace can be made with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{parameter}` must be {allowed}")]
pub struct ParameterError {
    /// Name of the parameter, as a scenario writes it.
    pub parameter: &'static str,
    allowed: Cow<'static, str>,
}

/// A parameter, true if it is in range, and the range.
pub(super) type Rule = (&'static str, bool, &'static str);

impl ParameterError {
    /// `parameter` must be `allowed`.
    pub(super) fn new(parameter: &'static str, allowed: impl Into<Cow<'static, str>>) -> Self {
        Self { parameter, allowed: allowed.into() }
    }
}

/// The first rule that does not hold, as an error.
pub(super) fn first_broken(rules: impl IntoIterator<Item = Rule>) -> Result<(), ParameterError> {
    match rules.into_iter().find(|(_, holds, _)| !holds) {
        Some((parameter, _, allowed)) => Err(ParameterError::new(parameter, allowed)),
        None => Ok(()),
    }
}

/// Makes `Parameters` and `Overrides`, with a schema of the given name, from a list of parameters.
macro_rules! parameters {
    ($schema:literal; $( $(#[$doc:meta])* $name:ident: $kind:ty = $value:expr; )+) => {
        /// Every parameter of the family.
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub struct Parameters {
            $( $(#[$doc])* pub $name: $kind, )+
        }

        /// Parameters that a scenario sets to other values.
        #[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        #[serde(deny_unknown_fields, default)]
        #[cfg_attr(test, schemars(rename = $schema))]
        pub struct Overrides {
            $( $(#[$doc])* #[serde(skip_serializing_if = "Option::is_none")] pub $name: Option<$kind>, )+
        }

        impl Default for Parameters {
            fn default() -> Self {
                Self { $( $name: $value, )+ }
            }
        }

        impl Parameters {
            /// These parameters with the values that `overrides` sets.
            #[must_use]
            pub fn with(mut self, overrides: &Overrides) -> Self {
                $( if let Some(value) = overrides.$name { self.$name = value; } )+
                self
            }

            /// All of them as a scenario would set them.
            #[cfg(test)]
            pub(super) fn spelled_out(&self) -> Overrides {
                Overrides { $( $name: Some(self.$name), )+ }
            }
        }
    };
}

pub(super) use parameters;
