//! What [tsc-runtime](https://docs.rs/tsc-runtime) consists of, without the attribute and the macros. That crate exports all of it, and is
//! the one to depend on. This one is apart so that it compiles beside the attribute, on which it does not depend.

#![cfg_attr(docsrs, feature(doc_cfg), doc(auto_cfg(hide(measuring))))]
#![cfg_attr(target_os = "none", no_std)]

// Each module begins with the configuration in which it is compiled. `measuring` is decided in build.rs.

mod unsupported;

// What an annotated call runs, from the counter upwards.
mod interruption;
mod on_cpu;
mod probe;
mod record;
mod tick_clock;
pub mod tsc;

// What surrounds it: all callsites and threads, what probes cost, what the clock is worth, the process.
pub mod calibration;
mod environment;
mod events;
mod hooks;
mod live;
pub mod machine;
mod process;
mod random;
mod registry;
pub mod self_test;
mod sync;

// The instruments, which stand on the counter alone.
mod instruments;

// What exists whether anything measures or not.
#[cfg(all(fuzzing, feature = "__fuzzing"))]
#[doc(hidden)]
#[path = "../../fuzz/runtime/mod.rs"]
pub mod __fuzzing;
#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
pub mod affinity;
mod count;
mod gate;
mod off;
mod recorded;
mod switch;

#[cfg(feature = "instructions")]
pub use instruments::instruction;
#[cfg(feature = "instruments")]
pub use instruments::{budget, compare, measure, measure_minus};
#[cfg(not(measuring))]
pub use off::*;
#[cfg(not(target_os = "none"))]
#[doc(inline)]
pub use tsc_report::*;
#[cfg(feature = "on")]
pub use {
    calibration::core_clock::core_clock, calibration::resolution::ticks as resolution,
    self_test::self_test,
};
#[cfg(measuring)]
pub use {
    live::{Session, dump_to, report, reset, session, snapshot, take},
    probe::gclk::gclk_to,
    registry::{pause, record_tree as tree, resume},
};
