//! The instruments, which use only the counter and need no annotated function.

#![cfg(feature = "instruments")]

mod bench;
pub mod budget;
pub mod compare;
#[cfg(feature = "instructions")]
pub mod instruction;
pub mod measure;

pub use {compare::compare, measure::measure, measure::measure_minus};
