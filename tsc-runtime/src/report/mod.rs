//! The report: its data, how it is collected, and how it is printed.

#[cfg(feature = "on")]
mod collect;
mod data;
mod derive;
#[cfg(feature = "on")]
mod exit;
mod merge;
mod openmetrics;
mod order;
mod outliers;
#[cfg(feature = "on")]
mod output;
#[cfg(feature = "json")]
mod read;
#[cfg(feature = "on")]
mod session;
#[cfg(feature = "on")]
mod settings;
mod since;
#[cfg(feature = "on")]
mod snapshot;
mod statistics;
mod text;
mod tree;
#[cfg(fuzzing)]
mod understood;
#[cfg(feature = "on")]
mod watch;

#[cfg(feature = "on")]
pub(crate) use collect::begin;
#[cfg(all(feature = "on", unix, not(miri)))]
pub(crate) use collect::start_from_zero;
pub use data::{
    Bucket, CallsiteReport, CallsiteSums, Clock, Context, Ended, EventCount, FenceOverhead,
    FirstCall, MachineReport, MetaMap, Process, Report, SumOfSquares, ThreadReport,
};
#[cfg(feature = "on")]
pub(crate) use exit::dump_at_exit;
pub use merge::MergeError;
#[cfg(feature = "on")]
pub use output::dump_to;
#[cfg(feature = "json")]
pub use read::ReadError;
#[cfg(feature = "on")]
pub use session::{Session, session};
#[cfg(feature = "on")]
pub use snapshot::{report, reset, snapshot, take};
#[cfg(feature = "on")]
pub(crate) use text::gclk_column;
pub use text::{TextForm, TextOptions, TextSort, TextUnit};
#[cfg(fuzzing)]
pub(crate) use understood::understood;
