//! Finds which of several implementations is faster, or that no difference is resolved.
//!
//! Two measurements made one after the other differ by what happened in between: another clock, a warmer cache, a busier
//! neighbour. Here all candidates have a sample in each *block*, over the same inputs and in an order drawn anew, and what
//! counts are the ratios within the blocks. Their median comes with an interval that supposes nothing about how times are
//! distributed: it lies between two order statistics, as the sign test has it. If the interval, widened to hold for all pairs of
//! candidates at once (Bonferroni), does not hold one, there is a difference; else the answer is "no difference resolved".
//!
//! ```no_run
//! use tsc_runtime::compare;
//!
//! fn by_two(x: &u64) -> u64 { x / 2 }
//! fn by_seven(x: &u64) -> u64 { x / 7 }
//!
//! let inputs: Vec<u64> = (0..100).collect();
//! println!("{}", compare("division", &inputs, [("/ 2", by_two as fn(&u64) -> u64), ("/ 7", by_seven)])?);
//! # Ok::<(), tsc_runtime::compare::CompareError>(())
//! ```

mod builder;
mod candidate;
mod display;
mod error;
mod result;
mod statistics;

pub use builder::Compare;
pub use error::CompareError;
pub use result::{Comparison, ComparisonRow, Relation};
pub use statistics::Ratio;

/// The least blocks that a comparison rests on.
const LEAST_BLOCKS: usize = 21;

/// Compares `candidates`, named functions of one type, over `inputs`; for closures of different types see [`Compare::add`].
///
/// # Errors
///
/// As [`Compare::run`].
pub fn compare<'a, I: 'a, R: 'a, F: FnMut(&I) -> R + 'a>(
    name: impl Into<String>,
    inputs: &'a [I],
    candidates: impl IntoIterator<Item = (&'a str, F)>,
) -> Result<Comparison, CompareError> {
    let comparison = Compare::new(name, inputs);
    candidates
        .into_iter()
        .fold(comparison, |comparison, (name, candidate)| {
            comparison.add(name, candidate)
        })
        .run()
}
