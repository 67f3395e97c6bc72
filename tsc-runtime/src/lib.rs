#![doc = include_str!("../../README.md")]

// What an annotated call does, from the counter upwards.
#[cfg(feature = "on")]
mod buckets;
#[cfg(feature = "on")]
mod callsite;
#[cfg(feature = "on")]
mod clk;
#[cfg(feature = "on")]
mod cold_costs;
#[cfg(feature = "on")]
mod histogram;
#[cfg(feature = "on")]
mod instances;
#[cfg(feature = "on")]
mod interruption;
#[cfg(feature = "on")]
mod meta;
#[cfg(feature = "on")]
mod poll;
#[cfg(feature = "on")]
mod probe;
#[cfg(feature = "on")]
mod record;
#[cfg(feature = "on")]
mod section;
#[cfg(feature = "on")]
mod table;
#[cfg(feature = "on")]
mod thread;
#[cfg(feature = "on")]
mod totals;
#[cfg(feature = "on")]
pub mod tsc;
#[cfg(feature = "on")]
mod units;

// What surrounds it: all callsites and threads, what probes cost, what the clock is worth.
#[cfg(feature = "on")]
pub mod calibration;
#[cfg(feature = "on")]
mod clock;
#[cfg(feature = "on")]
pub mod core_clock;
#[cfg(feature = "on")]
mod hooks;
#[cfg(feature = "on")]
pub mod machine;
#[cfg(feature = "on")]
mod overhead;
#[cfg(feature = "on")]
mod reference_chain;
#[cfg(feature = "on")]
mod registry;
#[cfg(feature = "on")]
pub mod resolution;
#[cfg(feature = "on")]
pub mod self_test;
#[cfg(feature = "on")]
mod slow_clock;

// The instruments that stand on the counter alone.
#[cfg(feature = "on")]
pub mod budget;
#[cfg(feature = "on")]
pub mod compare;
#[cfg(feature = "on")]
pub mod instruction;
#[cfg(feature = "on")]
pub mod measure;

// What exists whether anything measures or not.
#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
pub mod affinity;
mod block;
#[cfg(not(feature = "on"))]
mod off;
mod report;

#[cfg(feature = "on")]
pub use compare::compare;
#[cfg(feature = "on")]
pub use measure::{measure, measure_minus};
#[cfg(not(feature = "on"))]
pub use off::{pause, report, reset, resume, snapshot};
#[cfg(feature = "on")]
pub use registry::{pause, resume};
pub use report::{Bucket, CallsiteReport, Clock, FenceOverhead, Report};
#[cfg(feature = "on")]
pub use report::{report, reset, snapshot};
#[cfg(feature = "on")]
pub use self_test::self_test;
pub use tsc_attr::cycles;
