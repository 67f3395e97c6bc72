//! The process's own reports: how they are collected from the registry, and where they go.

mod collect;
mod exit;
mod output;
mod session;
mod settings;
mod snapshot;
#[cfg(fuzzing)]
mod understood;
mod watch;

pub(crate) use collect::begin;
#[cfg(all(unix, not(miri)))]
pub(crate) use collect::start_from_zero;
pub(crate) use exit::dump_at_exit;
pub use output::dump_to;
pub use session::{Session, session};
pub use snapshot::{report, reset, snapshot, take};
#[cfg(fuzzing)]
pub(crate) use understood::understood;
