//! The outcome of a measurement: constant, or the reason why not.

use std::fmt;

use crate::tsc::TscUnavailable;

/// The outcome of a measurement.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
#[cfg_attr(feature = "json", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Verdict {
    /// The samples agree with one another from the beginning to the end of the run.
    Constant {
        /// The share of the samples near the mode.
        share: f64,
    },
    /// The samples do not agree, or there are too few.
    Unsettled {
        /// The reason.
        why: UnsettledReason,
    },
}

/// Why a measurement did not settle.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
#[cfg_attr(feature = "json", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum UnsettledReason {
    /// The samples became slower or faster during the run.
    Drifting {
        /// Ticks per call at the beginning.
        from: f64,
        /// Ticks per call at the end.
        to: f64,
    },
    /// The samples gather around two values.
    TwoModes {
        /// The lower value, in ticks per call.
        a: f64,
        /// The upper value.
        b: f64,
        /// The share of the samples around the lower value.
        share: f64,
    },
    /// Less than half of the samples are near the mode, and they do not form two groups either.
    Scattered {
        /// The 10 % quantile, in ticks per call.
        p10: f64,
        /// The 90 % quantile.
        p90: f64,
    },
    /// More samples were interrupted than clean.
    Interrupted {
        /// The samples without an interruption.
        clean: usize,
        /// The samples that were discarded.
        interrupted: usize,
    },
    /// The time was up before the mean reached the wanted precision.
    Limit {
        /// The standard error that was reached, as a share of the mean.
        reached: f64,
        /// The standard error that was wanted.
        wanted: f64,
    },
    /// The counter cannot be read.
    NoCounter {
        /// The reason.
        #[cfg_attr(feature = "json", serde(serialize_with = "as_text"))]
        reason: TscUnavailable,
    },
}

#[cfg(feature = "json")]
fn as_text<S: serde::Serializer>(
    reason: &TscUnavailable,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_str(reason)
}

impl fmt::Display for UnsettledReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Drifting { from, to } => {
                write!(
                    f,
                    "drifting: {from:.1} ticks at the beginning, {to:.1} at the end"
                )
            }
            Self::TwoModes { a, b, share } => {
                write!(
                    f,
                    "two modes: {a:.1} ticks ({:.0} %) and {b:.1} ({:.0} %)",
                    100.0 * share,
                    100.0 * (1.0 - share)
                )
            }
            Self::Scattered { p10, p90 } => {
                write!(
                    f,
                    "scattered: 10 % of the samples take at most {p10:.1} ticks, 90 % at most {p90:.1}"
                )
            }
            Self::Interrupted { clean, interrupted } => {
                write!(
                    f,
                    "interrupted: {interrupted} of {} samples",
                    clean + interrupted
                )
            }
            // There are too few samples, or the mean is 0 and the error cannot be a share of it.
            Self::Limit { reached, wanted } if !reached.is_finite() => write!(
                f,
                "time limit: the mean is not known well enough, ± {:.2} % was asked for",
                100.0 * wanted
            ),
            Self::Limit { reached, wanted } => write!(
                f,
                "time limit: the mean is known to ± {:.2} %, ± {:.2} % was asked for",
                100.0 * reached,
                100.0 * wanted
            ),
            Self::NoCounter { reason } => reason.fmt(f),
        }
    }
}
