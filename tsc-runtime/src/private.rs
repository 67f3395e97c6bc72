//! Every name that an expansion of `#[cycles]` may use. Not public API and not subject to SemVer.

pub use crate::count::{Count, check_count};
pub use crate::macros::Unmeasured;
#[cfg(feature = "on")]
pub use measured::*;
pub use tsc_attr::{check_fence, unexpected};

/// What an expansion that measures uses.
#[cfg(feature = "on")]
mod measured {
    pub use crate::probe::future::{Polled, polled};
    pub use crate::probe::gclk::Clk;
    pub use crate::probe::per_type::Instances;
    pub use crate::probe::section::Section;
    pub use crate::probe::units::{Units, add_units};
    pub use crate::probe::{Probe, Slot};
    pub use crate::record::callsite::{Callsite, Meta, Unit, meta, path_of};
    pub use crate::registry::seed_sampling;
    pub use crate::tsc::{
        Cpuid, CpuidStart, Lfence, Mfence, Rdtscp, Serialize, Unfenced, escape, result,
    };
}

/// Never called: gives a block its type, and lets the compiler see that the block may be left early.
#[cold]
pub fn absurd<T>() -> T {
    unreachable!("this stands behind `if false`")
}

/// What `_function` would give, which is not called.
#[cold]
pub fn result_of<T>(_function: fn() -> T) -> T {
    absurd()
}
