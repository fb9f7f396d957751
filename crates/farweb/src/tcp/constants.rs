//! Declares the constants of a stack: once, in a list.
//!
//! From the list come the fields of the stack's `Profile`, the optional keys of its `Overrides`, and the value of its
//! first profile. Further profiles of the stack are that value with some constants changed.

/// Makes `Profile` and `Overrides` from a list of constants. The text names their JSON Schema, the word the first profile.
macro_rules! constants {
    (
        $schema:literal $(#[$profile_doc:meta])* $profile:ident
        $( $(#[$doc:meta])* $name:ident: $kind:ty = $value:expr; )+
    ) => {
        /// Every constant of the stack.
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub struct Profile {
            $( $(#[$doc])* pub $name: $kind, )+
        }

        /// Constants that a scenario sets to other values than its profile has.
        #[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        #[serde(deny_unknown_fields, default)]
        #[cfg_attr(test, schemars(rename = $schema))]
        pub struct Overrides {
            $( $(#[$doc])* #[serde(skip_serializing_if = "Option::is_none")] pub $name: Option<$kind>, )+
        }

        impl Profile {
            $(#[$profile_doc])*
            #[must_use]
            pub const fn $profile() -> Self {
                Self { $( $name: $value, )+ }
            }

            /// This profile with the values that `overrides` sets.
            #[must_use]
            pub const fn with(mut self, overrides: &Overrides) -> Self {
                $( if let Some(value) = overrides.$name { self.$name = value; } )+
                self
            }
        }
    };
}

pub(super) use constants;
