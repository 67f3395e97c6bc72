#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![cfg_attr(not(has_callsites), allow(dead_code))]
#![cfg_attr(docsrs, feature(doc_cfg), doc(auto_cfg(hide(has_callsites))))]

// `has_callsites` is decided in build.rs. Where no report can have a callsite, nothing needs what is computed from one.
mod data;
#[cfg(not(has_callsites))]
mod empty;
mod named;
mod nothing;
mod options;
#[cfg(has_callsites)]
mod order;
mod reasons;

mod combine;
#[cfg(has_callsites)]
mod derive;
#[cfg(feature = "json")]
mod json;
#[cfg(has_callsites)]
mod openmetrics;
#[cfg(has_callsites)]
mod text;

pub use combine::MergeError;
pub use data::{
    Bucket, CallsiteReport, CallsiteSums, Clock, Context, Ended, EventCount, FenceOverhead,
    FirstCall, MachineReport, MetaMap, Process, RecordedValue, Report, SlowCall, SumOfSquares,
    ThreadReport, TickClock,
};
#[cfg(feature = "json")]
pub use json::ReadError;
pub use options::{TextForm, TextOptions, TextSort, TextUnit};

/// What tsc-core needs to make reports. Not public API and not subject to SemVer; nor are the fields of the data and the functions that
/// the documentation hides.
#[doc(hidden)]
pub mod __private {
    pub use crate::__data as data;
    pub use crate::__figures as figures;
    pub use crate::__named as named;
    pub use crate::__reasons as reasons;
    pub use crate::data::{LIGHT, OTHER, TIMED, WholeTicks};
    #[cfg(has_callsites)]
    pub use crate::{
        combine::rates_differ,
        data::rules::{Combine, How},
        derive::SQUARES_UNIT,
        order::sorted,
        text::{Rows, count, escaped, gclk_column, time},
    };
}
