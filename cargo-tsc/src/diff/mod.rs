//! Compares two sessions: what changed, and whether this is certain.

mod comparable;
mod judge;
mod limits;
mod names;
mod pairs;
mod policy;
mod print;
mod reference;
mod row;
mod sides;
#[cfg(test)]
mod tests;
mod values;

pub use comparable::objections;
pub use judge::compare;
pub use policy::Policy;
pub use print::{NOT_TIMED, print, slower_and_faster};
pub use row::{Comparison, Difference, Row, Verdict, known_change};
pub use sides::WHOLE;
pub use values::values;
