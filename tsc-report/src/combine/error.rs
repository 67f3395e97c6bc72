//! The error of merging.

use std::fmt;

/// Why two reports cannot be merged.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum MergeError {
    /// Their ticks come from different clocks.
    Source {
        /// The clock of the one report.
        one: String,
        /// The clock of the other report.
        other: String,
    },
    /// Their ticks have different lengths.
    Rate {
        /// Ticks per second of the one report.
        one: f64,
        /// Ticks per second of the other report.
        other: f64,
    },
}

impl fmt::Display for MergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Source { one, other } => {
                write!(f, "ticks of {one} and ticks of {other} cannot be added")
            }
            Self::Rate { one, other } => write!(
                f,
                "ticks at {:.3} MHz and ticks at {:.3} MHz cannot be added: compare the reports in seconds instead",
                one / 1e6,
                other / 1e6
            ),
        }
    }
}

impl std::error::Error for MergeError {}
