//! Declares a struct of plain data with a getter for each field. The getter has the field's documentation.
//!
//! The fields are for who fills them. Everyone else reads, so the documentation has the getters alone.

// Input:  data! { /// Doc. pub struct Name { /// Doc of a. a: Option<f64>, /// Doc of b. b: String => &str, /// Doc of c. c: Option<String> => Option<&str> = as_deref(), } }
// Output: pub struct Name { /// Doc of a. #[doc(hidden)] pub a: Option<f64>, … }
//         impl Name { /// Doc of a. pub fn a(&self) -> Option<f64> { self.a }  /// Doc of b. pub fn b(&self) -> &str { &self.b }
//                     /// Doc of c. pub fn c(&self) -> Option<&str> { self.c.as_deref() } }
#[doc(hidden)]
#[macro_export]
macro_rules! __data {
    (
        $(#[$struct_attr:meta])*
        pub struct $name:ident {
            $($(#[doc = $doc:literal])+ $field:ident: $type:ty $(=> $target:ty $(= $method:ident $arguments:tt)?)?,)*
        }
    ) => {
        $(#[$struct_attr])*
        #[derive(Clone, Debug, PartialEq)]
        #[cfg_attr(feature = "json", derive(serde::Serialize))]
        pub struct $name {
            $($(#[doc = $doc])+ #[doc(hidden)] pub $field: $type,)*
        }

        impl $name {
            $(
                $(#[doc = $doc])+
                #[must_use]
                pub fn $field(&self) -> $crate::__data!(@type $type $(, $target)?) {
                    $crate::__data!(@get self.$field $(, $target $(, $method $arguments)?)?)
                }
            )*
        }
    };
    (@type $type:ty) => { $type };
    (@type $type:ty, $target:ty) => { $target };
    (@get $value:expr) => { $value };
    (@get $value:expr, $target:ty) => { &$value };
    (@get $value:expr, $target:ty, $method:ident $arguments:tt) => { $value.$method $arguments };
}

/// The same for the data of a report: it is written as JSON under the names of its fields, and read with the feature `json`. Of each field
/// the [rule](super::rules) by which two become one may stand after `by`; without one, the field stays as it is. Its default may stand after
/// `or`; without one, it is that of its type.
// Input:  data! { pub struct Name { /// Doc. a: u64 or 1, /// Doc. b: Option<f64> by Greatest, } }
// Output: the above
//         impl Default for Name { fn default() -> Self { Self { a: 1, b: Default::default() } } }
//         impl Json for Name { fn write(&self, out: &mut String) { object(out, [("b", &self.b as _)]); } }
//         impl Combine for Name { fn combine(&mut self, other: &Self, how: How) { Greatest(&mut self.b, &other.b, how); } }
macro_rules! data {
    (
        $(#[$struct_attr:meta])*
        pub struct $name:ident {
            $(
                $(#[doc = $doc:literal])+
                $field:ident: $type:ident $(< $of:ident >)? $(by $rule:ident)? $(or $default:tt)?
                    $(=> $target:ty $(= $method:ident $arguments:tt)?)?,
            )*
        }
    ) => {
        $crate::__data! {
            $(#[$struct_attr])*
            #[cfg_attr(feature = "json", derive(serde::Deserialize), serde(default))]
            pub struct $name {
                $($(#[doc = $doc])+ $field: $type $(< $of >)? $(=> $target $(= $method $arguments)?)?,)*
            }
        }

        impl Default for $name {
            #[inline] // as if it were derived
            fn default() -> Self {
                Self { $($field: $crate::data::getters::data!(@default $($default)?),)* }
            }
        }

        #[cfg(has_callsites)]
        impl $crate::data::json::Json for $name {
            fn write(&self, out: &mut String) {
                $crate::data::json::object(out, [$((stringify!($field), &self.$field as _)),*]);
            }
        }

        #[cfg(has_callsites)]
        #[doc(hidden)]
        #[allow(unused_variables)] // there may be no rule
        impl $crate::data::rules::Combine for $name {
            fn combine(&mut self, other: &Self, how: $crate::data::rules::How) {
                $($($crate::data::rules::$rule(&mut self.$field, &other.$field, how);)?)*
            }
        }
    };
    (@default) => { Default::default() };
    (@default $default:tt) => { $default };
}

pub(crate) use data;
