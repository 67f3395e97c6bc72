//! Finds which of several implementations is the fastest, or that no difference is resolved.
//!
//! Two measurements that are made one after the other differ because of what changed in between: the core clock, the caches, other
//! programs. Here each *block* contains one sample of every candidate, over the same inputs and in a new random order, and the result
//! comes from the ratios within the blocks. The confidence interval of their median assumes nothing about the distribution of times: it
//! lies between two order statistics, as in the sign test. It is widened so that it holds for all pairs of candidates at once (Bonferroni).
//! If it lies outside 1 ± [`Compare::least_effect`], the candidates differ; otherwise the result is "no difference resolved".
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
mod result;

pub use builder::Compare;
pub use result::{Comparison, ComparisonRow, Ratio, Relation};

use crate::tsc::TscUnavailable;
use tsc_report::__private::reasons;

/// The smallest number of blocks for a result.
const LEAST_BLOCKS: usize = 21;

/// Compares `candidates` over `inputs`. All candidates have one type, such as `fn`; for closures of different types, use [`Compare::add`].
///
/// # Errors
///
/// Those of [`Compare::run`].
pub fn compare<'a, I: 'a, R: 'a, F: FnMut(&I) -> R + 'a>(
    name: impl Into<String>,
    inputs: &'a [I],
    candidates: impl IntoIterator<Item = (&'a str, F)>,
) -> Result<Comparison, CompareError> {
    let mut comparison = Compare::new(name, inputs);
    for (name, candidate) in candidates {
        comparison = comparison.add(name, candidate);
    }
    comparison.run()
}

reasons! {
    /// The reason why nothing was compared.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum CompareError {
        /// There are fewer than two candidates.
        TooFew = ("a comparison needs two candidates"),
        /// There are no inputs.
        NoInputs = ("a comparison needs an input"),
        /// Two candidates return different results for the same input.
        Differ {
            /// The first candidate.
            first: String,
            /// The candidate that returned something else.
            other: String,
            /// The index of the input, from 0.
            input: usize,
        } = ("{other} and {first} return different results for input {input}"),
        /// The counter cannot be read.
        NoCounter(reason: TscUnavailable) = ("{reason}") from,
        /// The time was up before there were enough blocks for a result.
        Limit {
            /// The blocks without an interruption.
            blocks: usize,
            /// The blocks that were discarded.
            interrupted: usize,
        } = ("time limit: only {blocks} blocks were made, {interrupted} were interrupted"),
    }
}
