//! Enums with their names, each of them beside its variant.

// Input:  named! { /// Docs. pub enum Note { /// Docs. Disturbed = "disturbed", } }
// Output: the enum, all variants with their names, and a `Display` that prints these
#[doc(hidden)]
#[macro_export]
macro_rules! __named {
    (
        $(#[$enum_attr:meta])*
        pub enum $name:ident {
            $($(#[$attr:meta])* $variant:ident = $text:literal,)*
        }
    ) => {
        $(#[$enum_attr])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[$attr])* $variant,)*
        }

        impl $name {
            /// All of them with their names.
            pub const NAMES: &'static [(&'static str, Self)] = &[$(($text, Self::$variant)),*];
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
