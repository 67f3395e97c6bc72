//! The outcome of a measurement: constant, or the reason why not.

use crate::named::reasons;
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

reasons! {
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
        } = ("drifting: {from:.1} ticks at the beginning, {to:.1} at the end"),
        /// The samples gather around two values.
        TwoModes {
            /// The lower value, in ticks per call.
            a: f64,
            /// The upper value.
            b: f64,
            /// The share of the samples around the lower value.
            share: f64,
        } = ("two modes: {a:.1} ticks ({:.0} %) and {b:.1} ({:.0} %)", 100.0 * share, 100.0 * (1.0 - share)),
        /// Less than half of the samples are near the mode, and they do not form two groups either.
        Scattered {
            /// The 10 % quantile, in ticks per call.
            p10: f64,
            /// The 90 % quantile.
            p90: f64,
        } = ("scattered: 10 % of the samples take at most {p10:.1} ticks, 90 % at most {p90:.1}"),
        /// More samples were interrupted than clean.
        Interrupted {
            /// The samples without an interruption.
            clean: usize,
            /// The samples that were discarded.
            interrupted: usize,
        } = ("interrupted: {interrupted} of {} samples", clean + interrupted),
        /// The time was up before the mean reached the wanted precision.
        Limit {
            /// The standard error that was reached, as a share of the mean.
            reached: f64,
            /// The standard error that was wanted.
            wanted: f64,
        } = ("time limit: the mean is {}, ± {:.2} % was asked for", how_well_known(*reached), 100.0 * wanted),
        /// The counter cannot be read.
        NoCounter {
            /// The reason.
            #[cfg_attr(feature = "json", serde(serialize_with = "as_text"))]
            reason: TscUnavailable,
        } = ("{reason}"),
    }
}

/// If there are too few samples, or if the mean is 0, the error cannot be a share of it.
fn how_well_known(error: f64) -> String {
    if error.is_finite() {
        format!("known to ± {:.2} %", 100.0 * error)
    } else {
        "not known well enough".to_owned()
    }
}

#[cfg(feature = "json")]
fn as_text<S: serde::Serializer>(
    reason: &TscUnavailable,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_str(reason)
}
