//! Every name that an expansion of `#[cycles]` may use. Not public API and not subject to SemVer.

pub use crate::block::Unmeasured;
#[cfg(feature = "on")]
pub use crate::callsite::{Callsite, Meta, Unit, path_of};
#[cfg(feature = "on")]
pub use crate::clk::Clk;
#[cfg(feature = "on")]
pub use crate::instances::Instances;
#[cfg(feature = "on")]
pub use crate::meta::meta;
#[cfg(feature = "on")]
pub use crate::poll::{Polled, polled};
#[cfg(feature = "on")]
pub use crate::probe::{Probe, Slot};
#[cfg(feature = "on")]
pub use crate::section::Section;
#[cfg(feature = "on")]
pub use crate::tsc::{Bare, Cpuid, Lfence, Mfence, Rdtscp, Serialize, escape, result};
#[cfg(feature = "on")]
pub use crate::units::{Count, Units, add_units};
#[cfg(feature = "on")]
pub use tsc_attr::unknown_fence;

/// Stands where nothing ever gets; tells a block its type, and that it may be left early.
#[cold]
pub fn absurd<T>() -> T {
    unreachable!("this stands behind `if false`")
}

/// What `_function` would give, which is not called.
#[cold]
pub fn result_of<T>(_function: fn() -> T) -> T {
    absurd()
}
