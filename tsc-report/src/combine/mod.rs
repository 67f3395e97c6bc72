//! Adds reports, and subtracts an earlier report from a later one.

#[cfg(has_callsites)]
mod callsite;
mod error;
#[cfg(has_callsites)]
mod merge;
#[cfg(has_callsites)]
mod since;
#[cfg(all(test, has_callsites))]
mod tests;

pub use error::MergeError;
#[cfg(has_callsites)]
pub use merge::rates_differ;
