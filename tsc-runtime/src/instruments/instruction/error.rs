//! Why there is no figure.

use std::fmt;
use std::time::Duration;

use crate::tsc::TscUnavailable;

/// The reason why an instruction was not measured, or why its figure is not printed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum InstructionError {
    /// This CPU lacks the feature of that name.
    Missing(&'static str),
    /// The counter cannot be read.
    NoCounter(TscUnavailable),
    /// The listings are x86-64's.
    NotOnThisPlatform,
    /// The chain of multiplications took this many additions where it takes three: ticks cannot be converted to core cycles here.
    Untrustworthy {
        /// Additions per multiplication; NaN if no round was left to say.
        ratio: f64,
    },
    /// The listing did not end within a second.
    Endless,
    /// The listing was ended by this signal: it is no instruction of this CPU (SIGILL), writes memory that it was not granted, divides by
    /// zero.
    Crashed {
        /// The signal's number.
        signal: i32,
    },
    /// The listing's copies take so long that the time allowed is not enough for two rounds.
    TooLong {
        /// What they took once.
        once: Duration,
        /// The time allowed.
        limit: Duration,
    },
    /// Too few rounds were left in the time allowed.
    Disturbed {
        /// Rounds begun.
        rounds: usize,
        /// Rounds left out.
        dropped: usize,
    },
}

impl fmt::Display for InstructionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(feature) => write!(f, "this CPU has no {feature}"),
            Self::NoCounter(reason) => reason.fmt(f),
            Self::NotOnThisPlatform => f.write_str("instructions are measured on x86-64 only"),
            Self::Untrustworthy { ratio } => write!(
                f,
                "imul / add is {ratio:.3} where it is 3 on every core that the reference chain is known for: no core cycles"
            ),
            Self::Endless => f.write_str(
                "the listing did not end within a second: a jump goes back for ever, or to a label outside of it",
            ),
            Self::Crashed { signal } => write!(
                f,
                "the listing was ended by signal {signal}: it is no instruction of this CPU, or uses memory that it was not granted"
            ),
            Self::TooLong { once, limit } => write!(
                f,
                "the listing's copies take {once:?} and {limit:?} are allowed: fewer `copies`, or `measure_within` a longer time"
            ),
            Self::Disturbed { rounds, dropped } => {
                write!(f, "{dropped} of {rounds} rounds were disturbed")
            }
        }
    }
}

impl std::error::Error for InstructionError {}

impl From<TscUnavailable> for InstructionError {
    fn from(reason: TscUnavailable) -> Self {
        Self::NoCounter(reason)
    }
}
