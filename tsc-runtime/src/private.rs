//! Every name that an expansion of `#[cycles]` may use. Not public API and not subject to SemVer.

pub use crate::callsite::{Callsite, Meta, Unit, path_of};
pub use crate::probe::{Probe, Slot};
pub use crate::tsc::{Bare, Cpuid, Lfence, Mfence, Rdtscp, Serialize, escape, result};

/// Stands where nothing ever gets; tells a block its type, and that it may be left early.
#[cold]
pub fn absurd<T>() -> T {
    unreachable!("this stands behind `if false`")
}
