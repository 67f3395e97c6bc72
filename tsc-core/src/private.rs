//! Every name that an expansion of `#[cycles]` may use. Not public API and not subject to SemVer.

// Not from `::core`, because a dependency of the user's crate may have this name (rust-lang/rust#90960).
pub use core::future::Future;
pub use core::{compile_error, line, module_path, stringify};

pub use crate::__require_runtime as require_runtime;
pub use crate::count::{Count, check_count};
pub use crate::gate::Unmeasured;
pub use crate::recorded::{Recorded, check_recorded};
#[cfg(measuring)]
pub use measured::*;

/// The names that an expansion uses in builds that measure.
#[cfg(measuring)]
mod measured {
    pub use crate::probe::empty_calls::Light;
    pub use crate::probe::future::polled;
    pub use crate::probe::gclk::Clk;
    pub use crate::probe::light::future::light_polled;
    pub use crate::probe::light::{LightBlock, LightProbe, add_light_units};
    pub use crate::probe::per_type::Instances;
    pub use crate::probe::recording::{PolledValue, RecordingProbe};
    pub use crate::probe::section::Section;
    pub use crate::probe::units::{Units, add_units};
    pub use crate::probe::{Guard, Probe, Slot};
    pub use crate::record::callsite::{Callsite, meta, path_of};
    pub use crate::record::light::Frame;
    pub use crate::record::thread::simulate_time;
    pub use crate::recorded::recorded;
    pub use crate::tsc::escape::{escape, result};
    pub use crate::tsc::fence_policy::*;
}

/// Never called. It gives a block its type, and makes the compiler accept that control may leave the block early.
#[cold]
pub fn absurd<T>() -> T {
    unreachable!("this stands behind `if false`")
}

/// A value of the type that `_function` returns. It is never called.
#[cold]
pub fn result_of<T>(_function: fn() -> T) -> T {
    absurd()
}
