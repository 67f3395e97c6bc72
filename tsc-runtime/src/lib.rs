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
//! `TSC_UNIT=ticks` ticks, `TSC_REPORT_FILE=path` writes to a file. The folder `docs` of the repository explains every column, variable
//! and key. The command line, [cargo-tsc](https://docs.rs/cargo-tsc), measures whole programs and compares revisions.
//!
//! # Features, and when functions are measured
//!
//! | features | debug build | release build |
//! |---|---|---|
//! | `debug-builds` (the default) | measures | bare; of the runtime, only empty reports are compiled |
//! | `release-builds` | measures | measures |
//! | neither (`default-features = false`) | bare | bare; the macro and empty reports are the only dependencies |
//!
//! A debug build is one with `debug_assertions`. Bare functions compile to the same machine code as without the attribute. Where nothing is
//! measured, the macros run their code bare, [`snapshot`] returns an empty report with the reason, and [`report`] prints that reason once.
//! Cargo unites features over the whole build. So a library can use `#[cycles]` with `default-features = false`, and leave the choice to
//! the program that links it. More features:
//!
//! - `on`: the counter itself, calibration and `self_test`, in every build, also where no function is measured
//! - `json`: reads reports from JSON, and `Serialize`; `TSC_REPORT=json` writes them without it
//! - `instruments`: `measure`, `compare` and budgets; `instructions`: also `instruction!`
//! - `pmu`: core cycles from performance counters where Linux allows it, and `TSC_EVENTS=page-faults,…` counted in each function's calls
//!
//! In a debug build the runtime is not optimised either, and a call costs several times as much, unless `Cargo.toml` says
//!
//! ```toml
//! [profile.dev.package.tsc-core]
//! opt-level = 3
//! ```

#![cfg_attr(docsrs, feature(doc_cfg), doc(auto_cfg(hide(measuring))))]
#![cfg_attr(target_os = "none", no_std)]

mod macros;

pub use tsc_attr::cycles;
#[doc(inline)]
pub use tsc_core::*;

// By their names, so that the compiler's error names the feature where it is missing.
#[cfg(feature = "instructions")]
#[doc(inline)]
pub use tsc_core::instruction;
#[cfg(feature = "instruments")]
#[doc(inline)]
pub use tsc_core::{
    aligned, assert_core_cycles, assert_ticks, budget, compare, measure, measure_minus,
};
#[cfg(feature = "on")]
#[doc(inline)]
pub use tsc_core::{core_clock, resolution, self_test};

/// Every name that an expansion of `#[cycles]` may use. Not public API and not subject to SemVer.
#[doc(hidden)]
pub mod __private {
    pub use tsc_attr::{check_block, check_fence, unexpected};
    pub use tsc_core::__private::*;
}

/// The README's program is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
