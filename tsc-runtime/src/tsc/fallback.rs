//! The reads on platforms without a counter, and under Miri: the operating system's monotonic clock, in nanoseconds.

use super::{Fence, TscUnavailable, os_clock};

pub(super) use os_clock::now as read_bare;
pub(super) use read_bare as start_lfence;
pub(super) use read_bare as stop_lfence;
pub(super) use read_bare as stop_rdtscp;
pub(super) use read_bare as start_mfence;
pub(super) use read_bare as stop_mfence;
pub(super) use read_bare as start_serialize;
pub(super) use read_bare as stop_serialize;
pub(super) use read_bare as start_cpuid;
pub(super) use read_bare as stop_cpuid;
pub(super) use read_bare as start_cpuid_start;
pub(super) use read_bare as stop_cpuid_start;

pub(super) fn supports(fence: Fence) -> bool {
    matches!(fence, Fence::Lfence | Fence::Unfenced)
}

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
