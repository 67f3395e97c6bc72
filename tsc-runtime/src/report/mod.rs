//! What was measured: the data, where it comes from, how it is printed.

mod banner;
#[cfg(feature = "on")]
mod callsite;
#[cfg(feature = "on")]
mod clock;
mod data;
#[cfg(feature = "on")]
mod exit;
mod figures;
#[cfg(feature = "on")]
mod gaps;
#[cfg(feature = "on")]
mod name;
mod notes;
#[cfg(feature = "on")]
mod output;
#[cfg(feature = "on")]
mod statistics;
#[cfg(feature = "on")]
mod take;
mod text;

pub use data::{Bucket, CallsiteReport, Clock, FenceOverhead, Report};
#[cfg(feature = "on")]
pub(crate) use exit::dump_at_exit;
#[cfg(feature = "on")]
pub use take::{report, reset, snapshot};
