//! The outcome of a measurement: constant, or the reason why not; and how a run of samples is judged.

use crate::instruments::bench::distribution::{
    Distribution, PARTS, centre_of_run, mean, means_of_parts,
};
use crate::tsc::TscUnavailable;
use tsc_report::__private::reasons;

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
    #[cfg_attr(feature = "json", derive(serde::Serialize), serde(rename_all = "snake_case"))]
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
fn as_text<S: serde::Serializer>(reason: &TscUnavailable, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(reason)
}

/// The smallest number of samples for a verdict.
pub(super) const LEAST_SAMPLES: usize = 64;
/// Values count as equal if they differ by no more than this share, or by no more than the wanted precision.
const SAME: f64 = 0.01;
/// If the mean is smaller than this many units, the error is taken as a share of this many units.
const SMALL: f64 = 25.0;
/// Values also count as equal if they differ by no more than this many units.
const SAME_UNITS: f64 = 0.5;
/// A sample is near the mode if it differs from it by at most this many times the difference that counts as equal.
const NEAR: f64 = 3.0;

/// Of a constant run, the share of samples near the mode; or what is wrong with the run. `precision` is the wanted standard error, as a share
/// of the mean; `step` is how much correct samples may differ because the counter advances in steps; `unit` is about a core cycle.
pub(super) fn judge(
    samples: &[f64],
    precision: f64,
    step: f64,
    unit: f64,
) -> Result<f64, UnsettledReason> {
    let all = Distribution::new(samples);
    let centre = all.centre(2.0 * step);
    let same = precision.max(SAME) * centre.mean.abs();
    let tolerance = same.max(step).max(SAME_UNITS * unit);
    // If the mean is near zero, the error cannot be taken as a share of it.
    let good = precision * centre.mean.abs().max(SMALL * unit);
    let limit = |std_error: f64| UnsettledReason::Limit {
        reached: std_error / centre.mean.abs(),
        wanted: precision,
    };
    if samples.len() < LEAST_SAMPLES || centre.std_error.is_nan() {
        return Err(limit(centre.std_error));
    }
    let drifts = drift(samples, &all, tolerance, step);
    if centre.std_error > good {
        // More time does not help against a drift.
        return Err(drifts.unwrap_or(limit(centre.std_error)));
    }
    if let Some((a, b, share)) = all.two_modes((3.0 * tolerance).max(2.5 * step)) {
        return Err(UnsettledReason::TwoModes { a, b, share });
    }
    if let Some(drift) = drifts {
        return Err(drift);
    }
    let share = all.share_near(all.mode(), NEAR * tolerance);
    if share < 0.5 {
        let (p10, p90) = (all.quantile(0.1), all.quantile(0.9));
        return Err(UnsettledReason::Scattered { p10, p90 });
    }
    let of_run = centre_of_run(samples, 2.0 * step);
    if of_run.std_error > good {
        return Err(limit(of_run.std_error));
    }
    Ok(share)
}

/// Whether the samples became slower or faster during the run.
fn drift(
    samples: &[f64],
    all: &Distribution,
    tolerance: f64,
    step: f64,
) -> Option<UnsettledReason> {
    let windows = means_of_parts(samples, 2.0 * step);
    // The first two parts are compared with the last two.
    let (from, to) = (mean(&windows[..2]), mean(&windows[windows.len() - 2..]));
    // A difference that is explained by the scatter inside a window is not a drift.
    let scatter = all.robust_deviation() / (samples.len() as f64 / PARTS as f64).sqrt();
    let is_one = (to - from).abs() > (2.0 * tolerance).max(4.0 * scatter);
    is_one.then_some(UnsettledReason::Drifting { from, to })
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: f64 = 2.0;

    fn judge(samples: &[f64], precision: f64, step: f64) -> Result<f64, UnsettledReason> {
        super::judge(samples, precision, step, 1.0)
    }

    fn noisy(value: impl Fn(usize) -> f64) -> Vec<f64> {
        (0..400)
            .map(|i| value(i) * (1.0 + 0.01 * ((i * 7919 % 101) as f64 / 100.0 - 0.5)))
            .collect()
    }

    #[test]
    fn figures_are_finite_or_not_printed() {
        let nothing = judge(&[], 0.01, STEP).unwrap_err();
        assert!(!nothing.to_string().contains("NaN"), "{nothing}");
        let around_zero = UnsettledReason::Limit {
            reached: f64::INFINITY,
            wanted: 0.01,
        };
        assert_eq!(
            around_zero.to_string(),
            "time limit: the mean is not known well enough, ± 1.00 % was asked for"
        );
    }

    #[test]
    fn constant_is_constant() {
        assert!(judge(&noisy(|_| 1019.0), 0.01, STEP).unwrap() > 0.95);
    }

    #[test]
    fn rare_outliers_do_not_unsettle() {
        assert!(
            judge(
                &noisy(|i| if i % 40 == 0 { 90_000.0 } else { 1019.0 }),
                0.01,
                STEP
            )
            .is_ok()
        );
    }

    #[test]
    fn drift_is_told() {
        let why = judge(&noisy(|i| 1000.0 + i as f64), 0.01, STEP).unwrap_err();
        assert!(
            matches!(why, UnsettledReason::Drifting { from, to } if from < 1100.0 && to > 1300.0),
            "{why}"
        );
    }

    #[test]
    fn drift_is_told_where_the_mean_is_not_known() {
        let why = judge(&noisy(|i| 1000.0 + 100.0 * i as f64), 0.01, STEP).unwrap_err();
        assert!(matches!(why, UnsettledReason::Drifting { .. }), "{why}");
    }

    #[test]
    fn parts_that_differ_are_no_constant() {
        // One part in eight is a tenth longer: too few for a second mode, and the ends agree.
        let run = noisy(|i| if i / 50 == 3 { 1100.0 } else { 1000.0 });
        assert!(matches!(
            judge(&run, 0.005, STEP),
            Err(UnsettledReason::Limit { .. })
        ));
        assert!(judge(&run, 0.05, STEP).is_ok());
    }

    #[test]
    fn two_modes_are_told() {
        let why = judge(
            &noisy(|i| if i * 31 % 100 < 40 { 84.0 } else { 112.0 }),
            0.01,
            STEP,
        )
        .unwrap_err();
        assert!(
            matches!(why, UnsettledReason::TwoModes { a, b, .. } if (a - 84.0).abs() < 1.0 && (b - 112.0).abs() < 1.0),
            "{why}"
        );
    }

    #[test]
    fn three_modes_are_scattered() {
        let three = noisy(|i| [32.0, 48.0, 69.0][i * 31 % 100 % 3]);
        let why = judge(&three, 0.03, STEP).unwrap_err();
        assert!(
            matches!(why, UnsettledReason::Scattered { p10, p90 } if p10 < 33.0 && p90 > 68.0),
            "{why}"
        );
    }

    #[test]
    fn too_few_or_too_wild_is_a_limit() {
        assert!(matches!(
            judge(&[100.0; 10], 0.01, STEP),
            Err(UnsettledReason::Limit { .. })
        ));
        assert!(matches!(
            judge(&[], 0.01, STEP),
            Err(UnsettledReason::Limit { .. })
        ));
        let wild = noisy(|i| 1000.0 + 1000.0 * (i * 7919 % 4001) as f64);
        assert!(judge(&wild, 0.01, STEP).is_err());
    }

    #[test]
    fn work_of_nothing_is_constant() {
        assert!(judge(&noisy(|i| if i % 2 == 0 { 0.5 } else { -0.5 }), 0.01, STEP).is_ok());
    }

    #[test]
    fn drift_is_told_by_a_slow_counter() {
        // A function that takes 100 ns at first and 140 ns in the end, by a counter of 24 MHz.
        let run = noisy(|i| 2.4 + i as f64 / 400.0);
        let why = super::judge(&run, 0.1, 0.001, 0.024).unwrap_err();
        assert!(matches!(why, UnsettledReason::Drifting { .. }), "{why}");
    }
}
