//! Declares a struct of plain data with a getter for each field. The getter has the field's documentation.
//!
//! Each such struct implements `PartialEq`, and is written as JSON under the names of its fields. With the feature `json`, serde writes and
//! reads the same.
//!
//! The fields are for tsc-runtime, which fills them. Everyone else reads, so the documentation has the getters alone.
//!
//! The macro parses types as far as this crate needs it, because a `ty` fragment could not be matched by other macros.

// Input:  data! { /// Doc. pub struct Name { /// Doc of a. a: String, /// Doc of b. b: Option<f64> by Greatest, } }
// Output: pub struct Name { /// Doc of a. #[doc(hidden)] pub a: String, /// Doc of b. #[doc(hidden)] pub b: Option<f64> }
//         impl Name { /// Doc of a. pub fn a(&self) -> &str { &self.a }  /// Doc of b. pub fn b(&self) -> Option<f64> { self.b } }
//         impl Json for Name { fn write(&self, out: &mut String) { object(out, [("a", &self.a as _), ("b", &self.b as _)]); } }
//         impl Combine for Name { fn combine(&mut self, other: &Self, how: How) { Greatest(&mut self.b, &other.b, how); } }
macro_rules! data {
    (
        $(#[$struct_attr:meta])*
        pub struct $name:ident {
            $($(#[doc = $doc:literal])+ $field:ident: $type:ident $(< $of:ident >)? $(by $rule:ident)?,)*
        }
    ) => {
        $(#[$struct_attr])*
        #[derive(Clone, Debug, PartialEq)]
        #[cfg_attr(feature = "json", derive(serde::Serialize, serde::Deserialize))]
        pub struct $name {
            $($(#[doc = $doc])+ #[doc(hidden)] pub $field: $type $(< $of >)?,)*
        }

        impl $name {
            $(
                $(#[doc = $doc])+
                #[must_use]
                pub fn $field(&self) -> $crate::data::getters::Getter!($type $(< $of >)?) {
                    $crate::data::getters::get!(self.$field, $type $(< $of >)?)
                }
            )*
        }

        #[cfg(has_callsites)]
        impl $crate::data::json::Json for $name {
            fn write(&self, out: &mut String) {
                $crate::data::json::object(out, [$((stringify!($field), &self.$field as _)),*]);
            }
        }

        /// Fields without a rule stay as they are.
        #[cfg(has_callsites)]
        #[doc(hidden)]
        #[allow(unused_variables)] // there may be no rule
        impl $crate::data::rules::Combine for $name {
            fn combine(&mut self, other: &Self, how: $crate::data::rules::How) {
                $($($crate::data::rules::$rule(&mut self.$field, &other.$field, how);)?)*
            }
        }
    };
}

/// The return type of a getter: numbers by value, everything else by reference.
macro_rules! Getter {
    (String) => { &str };
    (Option<String>) => { Option<&str> };
    (Option<Ended>) => { Option<&Ended> };
    (Option<TickClock>) => { Option<&TickClock> };
    (WholeTicks) => { f64 };
    (Option<WholeTicks>) => { Option<f64> };
    (Option<RecordedValue>) => { Option<&RecordedValue> };
    (Option<$type:ident>) => { Option<$type> };
    (Vec<$type:ident>) => { &[$type] };
    (u32) => { u32 };
    (u64) => { u64 };
    (i64) => { i64 };
    (usize) => { usize };
    (f64) => { f64 };
    (bool) => { bool };
    ($type:ident) => { &$type };
}

macro_rules! get {
    ($value:expr, Option<String>) => {
        $value.as_deref()
    };
    ($value:expr, Option<Ended>) => {
        $value.as_ref()
    };
    ($value:expr, Option<TickClock>) => {
        $value.as_ref()
    };
    ($value:expr, Option<RecordedValue>) => {
        $value.as_ref()
    };
    ($value:expr, WholeTicks) => {
        $value.to_f64()
    };
    ($value:expr, Option<WholeTicks>) => {
        $value.map(|ticks| ticks.to_f64())
    };
    ($value:expr, Option<$type:ident>) => {
        $value
    };
    ($value:expr, u32) => {
        $value
    };
    ($value:expr, u64) => {
        $value
    };
    ($value:expr, i64) => {
        $value
    };
    ($value:expr, usize) => {
        $value
    };
    ($value:expr, f64) => {
        $value
    };
    ($value:expr, bool) => {
        $value
    };
    ($value:expr, $($type:tt)+) => {
        &$value
    };
}

pub(crate) use {Getter, data, get};
