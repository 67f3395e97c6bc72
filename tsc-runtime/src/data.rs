//! Results as data: each figure is declared once, with its documentation.

#![cfg(measuring)]

// Input:  data! { /// Docs.  pub struct Row { /// Docs.  name: String => &str, /// Docs.  ticks: f64, } }
// Output: the struct with these fields, which this crate fills in, and a getter for each: by value, or as the reference behind the
// arrow, which the method behind `=` makes, if there is one.
macro_rules! data {
    (
        $(#[$struct_attr:meta])*
        pub struct $name:ident {
            $($(#[doc = $doc:literal])+ $field:ident: $type:ty $(=> $target:ty $(= $method:ident)?)?,)*
        }
    ) => {
        $(#[$struct_attr])*
        #[derive(Clone, Debug, PartialEq)]
        #[cfg_attr(feature = "json", derive(serde::Serialize))]
        pub struct $name {
            $($(#[doc = $doc])+ pub(crate) $field: $type,)*
        }

        impl $name {
            $(
                $(#[doc = $doc])+
                #[must_use]
                pub fn $field(&self) -> data!(@type $type $(, $target)?) {
                    data!(@get self.$field $(, $target $(, $method)?)?)
                }
            )*
        }
    };
    (@type $type:ty) => { $type };
    (@type $type:ty, $target:ty) => { $target };
    (@get $value:expr) => { $value };
    (@get $value:expr, $target:ty) => { &$value };
    (@get $value:expr, $target:ty, $method:ident) => { $value.$method() };
}

pub(crate) use data;
