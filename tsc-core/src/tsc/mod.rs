//! The time-stamp counter (TSC) and the fences around its reads at start and stop. On aarch64, the generic timer takes its place.
//!
//! Nothing in this module allocates, locks, formats or uses time units.

#![cfg(measuring)]
#![cfg_attr(not(feature = "on"), doc(hidden))]

#[cfg_attr(
    all(any(target_arch = "x86_64", target_arch = "x86"), not(miri)),
    path = "x86.rs"
)]
#[cfg_attr(all(target_arch = "aarch64", not(miri)), path = "aarch64.rs")]
#[cfg_attr(
    any(
        miri,
        not(any(target_arch = "x86_64", target_arch = "x86", target_arch = "aarch64"))
    ),
    path = "fallback.rs"
)]
mod arch;
pub(crate) mod clock;
pub(crate) mod escape;
pub(crate) mod fence_policy;
pub(crate) mod os_clock;
mod unavailable;

pub use arch::detect;
pub(crate) use arch::{cpuid, reads};
pub use escape::escape;
pub use fence_policy::*;
pub use unavailable::TscUnavailable;

/// A value of the time-stamp counter, or a difference of two. Ticks are reference ticks, not core cycles.
pub type Ticks = u64;

/// `stop - start`, with a sign: the result is negative if the counter was reset, or if the two reads were on CPUs whose counters differ.
///
/// ```
/// assert_eq!(tsc_runtime::tsc::elapsed(100, 90), -10);
/// ```
#[inline(always)]
#[must_use]
pub const fn elapsed(start: Ticks, stop: Ticks) -> i64 {
    stop.wrapping_sub(start).cast_signed()
}

/// Whether a difference cannot be a measurement: the counter went backwards, or forwards by 56 years at 2.6 GHz.
#[inline(always)]
#[must_use]
pub(crate) const fn is_anomalous(elapsed: i64) -> bool {
    elapsed.cast_unsigned() >> 62 != 0
}
