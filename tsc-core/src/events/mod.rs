//! Events per callsite: page faults, context switches, instructions, cache misses, and whatever else Linux' perf events count for a
//! thread.
//!
//! This needs the feature `pmu` and a list of events in `TSC_EVENTS`. Then each call reads its thread's group of perf counters before its
//! first fence and after its last, and has the first values in its slot. These are two system calls, and four to make sure that the program
//! has not closed the counters. Their time is subtracted from the surrounding calls like the cost of the probe. Without the feature, a probe
//! contains no code for events. With the feature but without the variable, a probe executes one load and one branch at each end, and a store.
//!
//! Counts are inclusive; in a recursion only the outermost call counts, as for ticks. A `start!`/`stop!` section has no events, because
//! sections may overlap.

#![cfg(measuring)]

#[cfg_attr(
    not(all(feature = "pmu", target_os = "linux", not(miri))),
    path = "absent.rs"
)]
mod present;

pub(crate) use present::*;
