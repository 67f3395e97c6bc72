//! The report: its data, how it is collected, and how it is printed.

// Where no report can have a callsite, nothing needs what is computed from one.
#[cfg_attr(not(has_callsites), allow(dead_code))]
mod data;
#[cfg(not(has_callsites))]
mod empty;
mod merge_error;
mod nothing;
mod options;
#[cfg_attr(not(has_callsites), allow(dead_code))]
mod order;

// What becomes of the figures, collected here or read from a dump.
#[cfg(has_callsites)]
mod derive;
#[cfg(has_callsites)]
mod merge;
#[cfg(has_callsites)]
mod openmetrics;
#[cfg(has_callsites)]
mod outliers;
#[cfg(feature = "json")]
mod read;
#[cfg(has_callsites)]
mod since;
#[cfg(has_callsites)]
mod statistics;
#[cfg(has_callsites)]
mod text;
#[cfg(has_callsites)]
mod ticked;
#[cfg(has_callsites)]
mod tree;
#[cfg(fuzzing)]
mod understood;

// How they are collected, and where reports go.
#[cfg(measuring)]
mod collect;
#[cfg(measuring)]
mod exit;
#[cfg(measuring)]
mod output;
#[cfg(measuring)]
mod session;
#[cfg(measuring)]
mod settings;
#[cfg(measuring)]
mod snapshot;
#[cfg(measuring)]
mod watch;

#[cfg(measuring)]
pub(crate) use collect::begin;
#[cfg(all(measuring, unix, not(miri)))]
pub(crate) use collect::start_from_zero;
pub use data::{
    Bucket, CallsiteReport, CallsiteSums, Clock, Context, Ended, EventCount, FenceOverhead,
    FirstCall, MachineReport, MetaMap, Process, Report, SumOfSquares, ThreadReport, TickClock,
};
#[cfg(measuring)]
pub(crate) use exit::dump_at_exit;
#[cfg(all(measuring, target_os = "linux", not(miri)))]
pub(crate) use exit::report_late_calls;
pub use merge_error::MergeError;
pub use options::{TextForm, TextOptions, TextSort, TextUnit};
#[cfg(measuring)]
pub use output::dump_to;
#[cfg(feature = "json")]
pub use read::ReadError;
#[cfg(measuring)]
pub use session::{Session, session};
#[cfg(measuring)]
pub use snapshot::{report, reset, snapshot, take};
#[cfg(measuring)]
pub(crate) use text::gclk_column;
#[cfg(fuzzing)]
pub(crate) use understood::understood;
