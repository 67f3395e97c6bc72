//! What depends on the process as a whole: values of which the child of a fork gets its own, and libraries that must stay mapped.

#![cfg(feature = "on")]

mod mapped;
mod per_process;

pub(crate) use mapped::keep_mapped;
pub(crate) use per_process::PerProcess;
