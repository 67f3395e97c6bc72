#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg), doc(auto_cfg(hide(feature = "on"))))]
#![cfg_attr(target_os = "none", no_std)]

#[cfg(all(feature = "on", any(target_os = "none", not(target_has_atomic = "64"))))]
mod unsupported;

// What an annotated call runs, from the counter upwards.
mod interruption;
mod on_cpu;
mod probe;
mod record;
pub mod tsc;

// What surrounds it: all callsites and threads, what probes cost, what the clock is worth, the process.
pub mod calibration;
mod hooks;
pub mod machine;
mod process;
mod registry;
pub mod self_test;
mod sync;

// The instruments, which stand on the counter alone.
mod instruments;

// What exists whether anything measures or not.
#[cfg(all(fuzzing, feature = "pmu"))]
#[doc(hidden)]
#[path = "fuzzing.rs"]
pub mod __fuzzing;
#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
#[cfg(not(target_os = "none"))]
pub mod affinity;
mod count;
mod environment;
mod events;
mod macros;
mod off;
mod off_without_std;
#[cfg(not(target_os = "none"))]
mod report;

#[cfg(feature = "on")]
pub use calibration::{core_clock, resolution};
#[cfg(feature = "instructions")]
pub use instruments::instruction;
#[cfg(feature = "instruments")]
pub use instruments::{
    budget, compare, compare::compare, measure, measure::measure, measure::measure_minus,
};
#[cfg(all(not(feature = "on"), not(target_os = "none")))]
pub use off::{
    Session, dump_to, gclk_to, pause, report, reset, resume, session, snapshot, take, tree,
};
#[cfg(all(not(feature = "on"), target_os = "none"))]
pub use off_without_std::{pause, report, reset, resume, tree};
#[cfg(feature = "on")]
pub use probe::gclk::gclk_to;
#[cfg(feature = "on")]
pub use registry::{pause, record_tree as tree, resume};
#[cfg(all(feature = "json", not(target_os = "none")))]
pub use report::ReadError;
#[cfg(not(target_os = "none"))]
pub use report::{
    Bucket, CallsiteReport, CallsiteSums, Clock, Context, Ended, EventCount, FenceOverhead,
    FirstCall, MachineReport, MergeError, MetaMap, Process, Report, SumOfSquares, TextForm,
    TextOptions, TextSort, TextUnit, ThreadReport,
};
#[cfg(feature = "on")]
pub use report::{Session, dump_to, report, reset, session, snapshot, take};
#[cfg(feature = "on")]
pub use self_test::self_test;
pub use tsc_attr::cycles;
