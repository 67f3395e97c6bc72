#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg), doc(auto_cfg(hide(feature = "on"))))]

// What an annotated call runs, from the counter upwards.
mod interruption;
mod probe;
mod record;
pub mod tsc;

// What surrounds it: all callsites and threads, what probes cost, what the clock is worth, the process.
pub mod calibration;
pub mod machine;
mod process;
mod registry;
pub mod self_test;

// The instruments, which stand on the counter alone.
mod instruments;

// What exists whether anything measures or not.
#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
pub mod affinity;
mod environment;
mod macros;
mod off;
mod report;

#[cfg(feature = "on")]
pub use calibration::{core_clock, resolution};
#[cfg(feature = "instructions")]
pub use instruments::instruction;
#[cfg(feature = "instruments")]
pub use instruments::{
    budget, compare, compare::compare, measure, measure::measure, measure::measure_minus,
};
#[cfg(not(feature = "on"))]
pub use off::{dump_to, gclk_to, pause, report, reset, resume, snapshot, take};
#[cfg(feature = "on")]
pub use probe::gclk::gclk_to;
#[cfg(feature = "on")]
pub use registry::{pause, resume};
#[cfg(feature = "json")]
pub use report::ReadError;
pub use report::{
    Bucket, CallsiteReport, CallsiteSums, Clock, Context, Ended, FenceOverhead, FirstCall,
    MachineReport, MergeError, MetaMap, Process, Report, SumOfSquares, TextForm, TextOptions,
    TextSort, TextUnit, ThreadReport,
};
#[cfg(feature = "on")]
pub use report::{dump_to, report, reset, snapshot, take};
#[cfg(feature = "on")]
pub use self_test::self_test;
pub use tsc_attr::cycles;
