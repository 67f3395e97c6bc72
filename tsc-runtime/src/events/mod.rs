//! Events per callsite: page faults, context switches, instructions, cache misses; what Linux' perf events count for a thread.
//!
//! With the feature `pmu`, and only if `TSC_EVENTS` names some. Then each call reads its thread's group of counters before its first
//! fence and after its second: two system calls, whose time is taken out of the calls around it like the cost of the probe. Without
//! the feature there is nothing of this in a probe; with the feature and without the variable, a load and a branch on either side.
//!
//! Calls of one thread nest, so what was read at their starts stands on a stack. Counts are inclusive; of a recursion the outermost call
//! counts, as it does for ticks. A `start!`/`stop!` section has no events, for sections overlap.

#![cfg(feature = "on")]

#[cfg(all(feature = "pmu", target_os = "linux", not(miri)))]
mod group;
#[cfg(all(feature = "pmu", target_os = "linux", not(miri)))]
mod kinds;
#[cfg(all(feature = "pmu", target_os = "linux", not(miri)))]
mod stack;

#[cfg_attr(
    all(feature = "pmu", target_os = "linux", not(miri)),
    path = "present.rs"
)]
#[cfg_attr(
    not(all(feature = "pmu", target_os = "linux", not(miri))),
    path = "absent.rs"
)]
mod imp;

pub(crate) use imp::*;

/// How often an event happened in the calls of a callsite.
pub(crate) struct Count {
    pub(crate) event: &'static str,
    pub(crate) calls: u64,
    pub(crate) count: i64,
}

#[cfg(all(test, feature = "pmu", target_os = "linux", not(miri)))]
mod tests;
