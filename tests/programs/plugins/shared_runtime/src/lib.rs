//! The runtime, to be linked dynamically.

pub use tsc_runtime::*;
