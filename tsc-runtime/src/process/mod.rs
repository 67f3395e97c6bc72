//! What belongs to a whole process: values that the child of a fork does not share, and libraries that must stay mapped.

#![cfg(feature = "on")]

mod mapped;
mod per_process;

pub(crate) use mapped::keep_mapped;
pub(crate) use per_process::PerProcess;
