//! Errors, each variant of them beside its text.

// Input:  reasons! { /// Docs. pub enum Why { /// Docs. Late { /// Docs. by: u64, } = ("{by} ns late"), /// Docs. Io(why: io::Error) = ("{why}") from, } }
// Output: the enum, a `Display` that prints these texts, and `Error`, whose source is a field of that name or a value that stands before
//         `from`; from such a value the error is made with `?`.
#[doc(hidden)]
#[macro_export]
macro_rules! __reasons {
    (
        $(#[$enum_attr:meta])*
        pub enum $name:ident {
            $(
                $(#[$attr:meta])* $variant:ident
                $({ $($(#[$field_attr:meta])* $field:ident: $type:ty,)* })?
                $(($inner:ident: $inner_type:ty))?
                = ($text:literal $(, $value:expr)*) $($from:ident)?,
            )*
        }
    ) => {
        $(#[$enum_attr])*
        pub enum $name {
            $($(#[$attr])* $variant $({ $($(#[$field_attr])* $field: $type,)* })? $(($inner_type))?,)*
        }

        impl ::core::fmt::Display for $name {
            #[allow(unused_variables, reason = "a text need not contain every field")]
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                match self {
                    $(Self::$variant $({ $($field),* })? $(($inner))? => write!(f, $text $(, $value)*),)*
                }
            }
        }

        impl ::core::error::Error for $name {
            #[allow(unused_variables, reason = "few fields are errors")]
            fn source(&self) -> Option<&(dyn ::core::error::Error + 'static)> {
                match self {
                    $(Self::$variant $({ $($field),* })? $(($inner))? => {
                        $crate::__reasons!(@source $({ $($field = $field)* })? $(($inner))? $($from)?)
                    })*
                }
            }
        }

        $($crate::__reasons! { @from $name $variant $(($inner_type))? $($from)? })*
    };
    (@source ($inner:ident) from) => { Some($inner) };
    (@source { source = $source:ident $($others:tt)* }) => { Some($source) };
    (@source { $other:ident = $its:ident $($others:tt)* }) => { $crate::__reasons!(@source { $($others)* }) };
    (@source $($none:tt)*) => { None };
    (@from $name:ident $variant:ident ($type:ty) from) => {
        impl From<$type> for $name {
            fn from(source: $type) -> Self {
                Self::$variant(source)
            }
        }
    };
    (@from $($none:tt)*) => {};
}
