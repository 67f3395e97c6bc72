#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg), doc(auto_cfg(hide(measuring))))]
#![cfg_attr(target_os = "none", no_std)]
#![cfg_attr(not(feature = "on"), allow(rustdoc::private_intra_doc_links))] // to what that feature makes public

// `measuring` is decided in build.rs.

#[cfg(all(measuring, any(target_os = "none", not(target_has_atomic = "64"))))]
mod unsupported;

// What an annotated call runs, from the counter upwards.
#[cfg(measuring)]
mod interruption;
#[cfg(measuring)]
#[cfg_attr(not(feature = "on"), allow(dead_code))] // the rest is for the self-test
mod on_cpu;
#[cfg(measuring)]
mod probe;
#[cfg(measuring)]
mod record;

// What surrounds it: all callsites and threads, what probes cost, what the clock is worth, the process.
#[cfg(measuring)]
mod environment;
#[cfg(measuring)]
mod events;
#[cfg(measuring)]
mod hooks;
#[cfg(measuring)]
mod live;
#[cfg(measuring)]
mod process;
#[cfg(measuring)]
mod registry;
#[cfg(measuring)]
mod sync;
#[cfg(measuring)]
mod tick_clock;

// The same, for programs too that measure themselves. They need the feature `on`: without it, only debug builds would have these modules.
#[cfg(feature = "on")]
pub mod calibration;
#[cfg(all(measuring, not(feature = "on")))]
#[allow(dead_code, unreachable_pub, unused_imports)]
mod calibration;
#[cfg(feature = "on")]
pub mod machine;
#[cfg(all(measuring, not(feature = "on")))]
#[allow(dead_code, unreachable_pub, unused_imports)]
mod machine;
#[cfg(feature = "on")]
pub mod self_test;
#[cfg(all(measuring, not(feature = "on")))]
#[allow(dead_code, unreachable_pub)]
mod self_test;
#[cfg(feature = "on")]
pub mod tsc;
#[cfg(all(measuring, not(feature = "on")))]
#[allow(dead_code, unreachable_pub, unused_imports)]
mod tsc;

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
#[cfg(not(target_os = "none"))]
mod gate;
mod macros;
#[cfg(not(measuring))]
mod off;
#[cfg(not(target_os = "none"))]
mod switch;

#[cfg(feature = "on")]
pub use calibration::{core_clock, resolution};
#[cfg(feature = "instructions")]
pub use instruments::instruction;
#[cfg(feature = "instruments")]
pub use instruments::{
    budget, compare, compare::compare, measure, measure::measure, measure::measure_minus,
};
#[cfg(measuring)]
pub use live::{Session, dump_to, report, reset, session, snapshot, take};
#[cfg(not(measuring))]
pub use off::*;
#[cfg(measuring)]
pub use probe::gclk::gclk_to;
#[cfg(measuring)]
pub use registry::{pause, record_tree as tree, resume};
#[cfg(feature = "on")]
pub use self_test::self_test;
pub use tsc_attr::cycles;
#[cfg(all(feature = "json", not(target_os = "none")))]
#[doc(inline)]
pub use tsc_report::ReadError;
#[cfg(not(target_os = "none"))]
#[doc(inline)]
pub use tsc_report::{
    Bucket, CallsiteReport, CallsiteSums, Clock, Context, Ended, EventCount, FenceOverhead,
    FirstCall, MachineReport, MergeError, MetaMap, Process, Report, SumOfSquares, TextForm,
    TextOptions, TextSort, TextUnit, ThreadReport, TickClock,
};
