//! Adds reports, and subtracts an earlier report from a later one.

mod error;
#[cfg(has_callsites)]
mod merge;
#[cfg(has_callsites)]
mod since;
#[cfg(has_callsites)]
mod slowest;

pub use error::MergeError;
