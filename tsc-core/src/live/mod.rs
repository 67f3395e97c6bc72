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

pub(crate) use exit::dump_at_exit;
#[cfg(all(target_os = "linux", not(miri)))]
pub(crate) use exit::report_late_calls;
pub use session::{Session, session};
pub use snapshot::{dump_to, report, reset, snapshot, take};
#[cfg(all(fuzzing, feature = "__fuzzing"))]
pub(crate) use understood::understood;

/// Called when the process begins to measure.
pub(crate) fn begin() {
    settings::settings();
    collect::process::begin();
    watch::begin();
}

/// Called in the child of a fork, which is another process and has not begun to measure.
#[cfg(all(unix, not(miri)))] // no process is forked elsewhere
pub(crate) fn start_from_zero() {
    // First, because it asks when the parent began.
    output::start_from_zero();
    collect::process::start_from_zero();
    exit::IS_DUMPED.store(false, std::sync::atomic::Ordering::Relaxed);
    snapshot::REPORTED.store(0, std::sync::atomic::Ordering::Relaxed);
    watch::start_from_zero();
}
