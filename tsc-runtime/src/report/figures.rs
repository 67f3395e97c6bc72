//! A struct of figures, each with a getter: the field's documentation is the getter's.

macro_rules! figures {
    (
        $(#[$struct_attr:meta])*
        pub struct $name:ident {
            $($(#[doc = $doc:literal])+ $field:ident: $type:ty,)*
        }
    ) => {
        $(#[$struct_attr])*
        pub struct $name {
            $($(#[doc = $doc])+ pub(crate) $field: $type,)*
        }

        impl $name {
            $(
                $(#[doc = $doc])+
                #[must_use]
                pub fn $field(&self) -> $crate::report::figures::Getter!($type) {
                    $crate::report::figures::get!(self.$field, $type)
                }
            )*
        }
    };
}

/// What a getter returns: numbers as they are, the rest by reference.
macro_rules! Getter {
    (u32) => { u32 };
    (u64) => { u64 };
    (f64) => { f64 };
    (bool) => { bool };
    (Option<u64>) => { Option<u64> };
    (Option<f64>) => { Option<f64> };
    (Option<bool>) => { Option<bool> };
    (Option<usize>) => { Option<usize> };
    (&'static str) => { &'static str };
    (String) => { &str };
    (Option<String>) => { Option<&str> };
    (Vec<$type:ty>) => { &[$type] };
    ($type:ty) => { &$type };
}

macro_rules! get {
    ($value:expr, u32) => { $value };
    ($value:expr, u64) => { $value };
    ($value:expr, f64) => { $value };
    ($value:expr, bool) => { $value };
    ($value:expr, Option<String>) => { $value.as_deref() };
    ($value:expr, Option<$type:ty>) => { $value };
    ($value:expr, &'static str) => { $value };
    ($value:expr, $type:ty) => { &$value };
}

pub(crate) use {Getter, figures, get};
