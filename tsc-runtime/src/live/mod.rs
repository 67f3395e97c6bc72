//! The process's own reports: how they are collected from the registry, and where they go.

#![cfg(measuring)]

mod collect;
mod exit;
mod output;
mod session;
mod settings;
mod snapshot;
#[cfg(all(fuzzing, feature = "__fuzzing"))]
#[path = "../../../fuzz/runtime/live.rs"]
mod understood;
mod watch;

pub(crate) use collect::process::begin;
#[cfg(all(unix, not(miri)))]
pub(crate) use collect::process::start_from_zero;
pub(crate) use exit::dump_at_exit;
#[cfg(all(target_os = "linux", not(miri)))]
pub(crate) use exit::report_late_calls;
pub use session::{Session, session};
pub use snapshot::{dump_to, report, reset, snapshot, take};
#[cfg(all(fuzzing, feature = "__fuzzing"))]
pub(crate) use understood::understood;
