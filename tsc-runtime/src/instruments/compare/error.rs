//! Why there is no comparison.

use std::fmt;

use crate::tsc::TscUnavailable;

/// The reason why nothing was compared.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CompareError {
    /// Fewer than two candidates.
    TooFew,
    /// No inputs to compare them over.
    NoInputs,
    /// Two candidates that should return the same do not.
    Differ {
        /// The first candidate.
        first: String,
        /// The one that returned something else.
        other: String,
        /// The number of the input, from 0.
        input: usize,
    },
    /// The counter cannot be read.
    NoCounter(TscUnavailable),
    /// The time was up before enough blocks were made to say anything.
    Limit {
        /// Blocks in which nothing happened to the thread.
        blocks: usize,
        /// Blocks thrown away.
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
