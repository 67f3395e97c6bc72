//! What a function costs, in TSC ticks.

pub mod affinity;
mod buckets;
pub mod calibration;
mod callsite;
mod clock;
pub mod core_clock;
mod histogram;
mod hooks;
mod interruption;
mod overhead;
#[cfg(any(feature = "debug-builds", feature = "release-builds"))]
pub mod instruction;
pub mod machine;
#[cfg(any(feature = "debug-builds", feature = "release-builds"))]
pub mod measure;
#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
mod probe;
mod record;
#[cfg(any(feature = "debug-builds", feature = "release-builds"))]
mod reference_chain;
mod registry;
pub mod resolution;
pub mod self_test;
mod slow_clock;
mod thread;
mod totals;
pub mod tsc;
