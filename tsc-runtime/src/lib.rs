//! What a function costs, in TSC ticks.

pub mod affinity;
#[cfg(any(feature = "debug-builds", feature = "release-builds"))]
pub mod budget;
mod buckets;
pub mod calibration;
#[cfg(any(feature = "debug-builds", feature = "release-builds"))]
pub mod compare;
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
mod report;
pub mod resolution;
pub mod self_test;
mod slow_clock;
mod thread;
mod totals;
pub mod tsc;

#[cfg(any(feature = "debug-builds", feature = "release-builds"))]
pub use compare::compare;
#[cfg(any(feature = "debug-builds", feature = "release-builds"))]
pub use measure::{measure, measure_minus};

pub use registry::{pause, reset, resume};
pub use report::{CallsiteReport, Clock, FenceOverhead, Report, report, snapshot};
pub use tsc_attr::cycles;
