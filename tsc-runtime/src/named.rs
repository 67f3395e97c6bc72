//! Enums with their texts, each of them beside its variant.

#![cfg(not(target_os = "none"))]

// Input:  named! { /// Docs. pub enum Note { /// Docs. Disturbed = "disturbed", } }
// Output: the enum, and a `Display` that prints these texts
#[cfg(measuring)]
macro_rules! named {
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

        impl ::core::fmt::Display for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.pad(match self {
                    $(Self::$variant => $text,)*
                })
            }
        }
    };
}

// Input:  reasons! { /// Docs. pub enum Why { /// Docs. Late { /// Docs. by: u64 } = ("{by} ns late"), /// Docs. Other(Cause) = ("{}"), } }
// Output: the enum, and a `Display` that prints these texts. In the braces of a text stand the variant's fields, or values behind the text; a
// field without a name stands in `{}`.
macro_rules! reasons {
    (
        $(#[$enum_attr:meta])*
        pub enum $name:ident {
            $(
                $(#[$attr:meta])* $variant:ident
                $({ $($(#[$field_attr:meta])* $field:ident: $type:ty,)* })?
                $(($inner:ty))?
                = ($text:literal $(, $value:expr)*),
            )*
        }
    ) => {
        $(#[$enum_attr])*
        pub enum $name {
            $($(#[$attr])* $variant $({ $($(#[$field_attr])* $field: $type,)* })? $(($inner))?,)*
        }

        impl ::core::fmt::Display for $name {
            #[allow(unused_variables, reason = "a text need not contain every field")]
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                match self {
                    $($crate::named::reasons!(@pattern $variant inner $({ $($field)* })? $(($inner))?) => {
                        $crate::named::reasons!(@write f, inner, ($text $(, $value)*) $(($inner))?)
                    })*
                }
            }
        }
    };
    (@pattern $variant:ident $inner:ident) => { Self::$variant };
    (@pattern $variant:ident $inner:ident { $($field:ident)* }) => { Self::$variant { $($field),* } };
    (@pattern $variant:ident $inner:ident ($type:ty)) => { Self::$variant($inner) };
    (@write $f:ident, $inner:ident, ($($text:tt)*)) => { write!($f, $($text)*) };
    (@write $f:ident, $inner:ident, ($($text:tt)*) ($type:ty)) => { write!($f, $($text)*, $inner) };
}

#[cfg(measuring)]
pub(crate) use named;
pub(crate) use reasons;
