//! The reads on platforms without a counter, and under Miri: the operating system's monotonic clock, in nanoseconds.

use super::{TscUnavailable, os_clock};

#[path = "one_fence.rs"]
mod one_fence;

pub(crate) use one_fence::*;
pub(super) use os_clock::now as read_bare;
pub(super) use read_bare as start_lfence;
pub(super) use read_bare as stop_lfence;

/// How the counter is read, for people.
pub(crate) fn reads() -> &'static str {
    "not read"
}

/// Determines whether this thread may read the counter. Here it never may; the reads above still work, and return nanoseconds.
///
/// # Errors
///
/// [`TscUnavailable::NotOnThisPlatform`].
pub fn detect() -> Result<(), TscUnavailable> {
    Err(TscUnavailable::NotOnThisPlatform)
}
