//! Why a comparison has no result.

use crate::named::reasons;
use crate::tsc::TscUnavailable;

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
