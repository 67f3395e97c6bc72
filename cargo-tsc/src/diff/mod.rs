//! Compares two sessions: what changed, and whether this is certain.

mod comparable;
mod judge;
mod pairs;
mod policy;
mod print;
#[cfg(test)]
mod simulation;
mod values;

pub use comparable::objections;
pub use judge::{Comparison, Row, Verdict, compare};
pub use policy::{Policy, share};
pub use print::print;
pub use values::values;
