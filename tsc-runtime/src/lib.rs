//! `#[cycles]` above a function makes the program print, when it ends, what the function cost in ticks of the CPU's time-stamp counter
//! (TSC): how often it was called, total and self ticks, mean, quantiles, and how certain these are.
//!
//! ```
//! use tsc_runtime::cycles;
//!
//! #[cycles]
//! fn checksum(bytes: &[u8]) -> u32 {
//!     bytes.iter().fold(0, |sum, byte| sum.rotate_left(1) ^ u32::from(*byte))
//! }
//!
//! println!("{}", checksum(b"some bytes"));
//! ```
//!
//! A release build measures only if it is asked to: `cargo run --release --features tsc-runtime/release-builds`.
//!
//! # What there is
//!
//! | to … | use |
//! |---|---|
//! | measure each call of a function, or of all functions of a block or a module | [`#[cycles]`](macro@cycles) |
//! | count calls of short functions, and learn their time from a clock's ticks | `#[cycles(light)]` |
//! | measure less than a function | [`cycles_block!`], [`start!`] … [`stop!`], [`gclk!`], which prints one line at once |
//! | report before the program ends, or to a file | [`report`], [`session`], [`dump_to`] |
//! | have the report as data | [`snapshot`], [`take`], [`Report`] |
//! | control the recording | [`pause`], [`resume`], [`reset`], [`tree`] |
//! | repeat a piece of code until its cost is constant | `measure`, `compare`, `budget` (feature `instruments`), `instruction!` (`instructions`) |
//! | check whether the counter of this machine can be trusted | `self_test` (feature `on`) |
//! | keep a thread on one CPU | [`affinity`] |
//!
//! Environment variables select the report's form and the functions that are measured. `TSC_REPORT=full` prints everything that is known,
//! `TSC_UNIT=ns` nanoseconds, `TSC_REPORT_FILE=path` writes to a file. The folder `docs` of the repository explains every column, variable
//! and key. The command line, [cargo-tsc](https://docs.rs/cargo-tsc), measures whole programs and compares revisions.
//!
//! # Features, and when functions are measured
//!
//! | features | debug build | release build |
//! |---|---|---|
//! | `debug-builds` (the default) | measures | bare; of the runtime, only empty reports are compiled |
//! | `release-builds` | measures | measures |
//! | neither (`default-features = false`) | bare | bare; the macro is the only dependency |
//!
//! A debug build is one with `debug_assertions`. Bare functions compile to the same machine code as without the attribute; [`report`],
//! [`snapshot`] and the macros still compile, and do nothing. Cargo unites features over the whole build. So a library can use `#[cycles]`
//! with `default-features = false`, and leave the choice to the program that links it. More features:
//!
//! - `on`: the counter itself, calibration and `self_test`, in every build, also where no function is measured
//! - `json`: writes reports as JSON, and reads them
//! - `instruments`: `measure`, `compare` and budgets; `instructions`: also `instruction!` and its catalogue
//! - `pmu`: core cycles from performance counters where Linux allows it, and `TSC_EVENTS=page-faults,…` counted in each function's calls
//!
//! In a debug build the runtime is not optimised either, and a call costs several times as much, unless `Cargo.toml` says
//!
//! ```toml
//! [profile.dev.package.tsc-runtime]
//! opt-level = 3
//! ```

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
mod recorded;

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
    FirstCall, MachineReport, MergeError, MetaMap, Process, RecordedValue, Report, SlowCall,
    SumOfSquares, TextForm, TextOptions, TextSort, TextUnit, ThreadReport, TickClock,
};

/// The README's program is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
