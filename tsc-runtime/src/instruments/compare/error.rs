//! Why a comparison has no result.

use std::fmt;

use crate::tsc::TscUnavailable;

/// The reason why nothing was compared.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CompareError {
    /// There are fewer than two candidates.
    TooFew,
    /// There are no inputs.
    NoInputs,
    /// Two candidates return different results for the same input.
    Differ {
        /// The first candidate.
        first: String,
        /// The candidate that returned something else.
        other: String,
        /// The index of the input, from 0.
        input: usize,
    },
    /// The counter cannot be read.
    NoCounter(TscUnavailable),
    /// The time was up before there were enough blocks for a result.
    Limit {
        /// The blocks without an interruption.
        blocks: usize,
        /// The blocks that were discarded.
        interrupted: usize,
    },
}

impl fmt::Display for CompareError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFew => f.write_str("a comparison needs two candidates"),
            Self::NoInputs => f.write_str("a comparison needs an input"),
            Self::Differ {
                first,
                other,
                input,
            } => write!(
                f,
                "{other} and {first} return different results for input {input}"
            ),
            Self::NoCounter(reason) => reason.fmt(f),
            Self::Limit {
                blocks,
                interrupted,
            } => {
                write!(
                    f,
                    "time limit: only {blocks} blocks were made, {interrupted} were interrupted"
                )
            }
        }
    }
}

impl std::error::Error for CompareError {}

impl From<TscUnavailable> for CompareError {
    fn from(reason: TscUnavailable) -> Self {
        Self::NoCounter(reason)
    }
}
