//! A struct of figures, each with a getter: the field's documentation is the getter's.
//!
//! Types are taken apart as far as this file needs it, since a `ty` fragment is opaque to the macros it is handed to.

macro_rules! figures {
    (
        $(#[$struct_attr:meta])*
        pub struct $name:ident {
            $($(#[doc = $doc:literal])+ $field:ident: $(& $lifetime:lifetime)? $type:ident $(< $of:ident >)?,)*
        }
    ) => {
        $(#[$struct_attr])*
        pub struct $name {
            $($(#[doc = $doc])+ pub(crate) $field: $(& $lifetime)? $type $(< $of >)?,)*
        }

        impl $name {
            $(
                $(#[doc = $doc])+
                #[must_use]
                pub fn $field(&self) -> $crate::report::figures::Getter!($(& $lifetime)? $type $(< $of >)?) {
                    $crate::report::figures::get!(self.$field, $(& $lifetime)? $type $(< $of >)?)
                }
            )*
        }
    };
}

/// What a getter returns: numbers as they are, the rest by reference.
macro_rules! Getter {
    (& $lifetime:lifetime str) => { & $lifetime str };
    (String) => { &str };
    (Option<String>) => { Option<&str> };
    (Option<$type:ident>) => { Option<$type> };
    (Vec<$type:ident>) => { &[$type] };
    (Clock) => { &Clock };
    ($type:ident) => { $type };
}

macro_rules! get {
    ($value:expr, String) => {
        &$value
    };
    ($value:expr, Option<String>) => {
        $value.as_deref()
    };
    ($value:expr, Vec<$type:ident>) => {
        &$value
    };
    ($value:expr, Clock) => {
        &$value
    };
    ($value:expr, $($type:tt)+) => {
        $value
    };
}

pub(crate) use {Getter, figures, get};
