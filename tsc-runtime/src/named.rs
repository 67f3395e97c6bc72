//! Enums with their texts, each of them beside its variant.

#![cfg(not(target_os = "none"))]

// Input:  named! { /// Docs. pub enum Note { /// Docs. Disturbed = "disturbed", } }
// Output: the enum, and a `Display` that prints these texts; with the feature `json` also `Serialize`, by the variants' names
#[cfg(measuring)]
macro_rules! named {
    (
        $(#[$enum_attr:meta])*
        pub enum $name:ident {
            $($(#[$attr:meta])* $variant:ident = $text:literal,)*
        }
    ) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[cfg_attr(feature = "json", derive(serde::Serialize))]
        $(#[$enum_attr])*
        pub enum $name {
            $($(#[$attr])* $variant,)*
        }

        impl ::core::fmt::Display for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.pad(match self {
                    $(Self::$variant => $text,)*
                })
            }
        }
    };
}

#[cfg(measuring)]
pub(crate) use named;
pub(crate) use tsc_report::__private::reasons;
