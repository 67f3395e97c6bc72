//! When a run of samples is constant, and what is wrong with it when it is not: pure functions.

use std::fmt;

use crate::instruments::bench::distribution::Distribution;
use crate::tsc::TscUnavailable;

/// What came of measuring.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
#[cfg_attr(feature = "json", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Verdict {
    /// The samples agree with one another from the beginning to the end of the run.
    Constant {
        /// TSC ticks a call, net.
        ticks: f64,
        /// Core cycles a call, net, where they are known.
        core_cycles: Option<f64>,
        /// The standard error of the ticks.
        plus_minus: f64,
        /// The share of the samples near the mode.
        share: f64,
        /// The samples it rests on.
        samples: usize,
    },
    /// They do not, or there are too few.
    Unsettled {
        /// The reason.
        why: UnsettledReason,
    },
}

/// UnsettledReason a measurement did not settle.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
#[cfg_attr(feature = "json", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum UnsettledReason {
    /// The samples became slower or faster as the run went on.
    Drifting {
        /// Ticks a call at the beginning.
        from: f64,
        /// Ticks a call at the end.
        to: f64,
    },
    /// The samples gather around two values.
    TwoModes {
        /// The lower one, in ticks a call.
        a: f64,
        /// The upper one.
        b: f64,
        /// The share of the lower one.
        share: f64,
    },
    /// Fewer than half of the samples are near the most frequent value, and they are not two groups either.
    Scattered {
        /// What 10 % of the samples do not exceed, in ticks a call.
        p10: f64,
        /// What 90 % of the samples do not exceed.
        p90: f64,
    },
    /// More samples were interrupted than were not.
    Interrupted {
        /// Samples in which nothing happened.
        clean: usize,
        /// Samples thrown away.
        interrupted: usize,
    },
    /// The time was up before the mean was known as precisely as was asked.
    Limit {
        /// The standard error reached, as a share of the mean.
        reached: f64,
        /// What was asked for.
        wanted: f64,
    },
    /// There is no counter to measure with.
    NoCounter {
        /// The reason.
        #[cfg_attr(feature = "json", serde(serialize_with = "as_text"))]
        reason: TscUnavailable,
    },
    /// There was nothing to call: an empty pool of inputs.
    Nothing,
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
                write!(f, "drifting: {from:.1} ticks at first, {to:.1} at last")
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
                    "scattered: {p10:.1} ticks at the 10 %, {p90:.1} at the 90 % quantile"
                )
            }
            Self::Interrupted { clean, interrupted } => {
                write!(
                    f,
                    "interrupted: {interrupted} of {} samples",
                    clean + interrupted
                )
            }
            // Too few samples, or a mean of nothing, of which no error is a share.
            Self::Limit { reached, wanted } if !reached.is_finite() => write!(
                f,
                "time limit: too little is known of the mean, ± {:.2} % was asked for",
                100.0 * wanted
            ),
            Self::Limit { reached, wanted } => write!(
                f,
                "time limit: the mean is known to ± {:.2} %, ± {:.2} % was asked for",
                100.0 * reached,
                100.0 * wanted
            ),
            Self::NoCounter { reason } => reason.fmt(f),
            Self::Nothing => f.write_str("nothing to call: the pool of inputs is empty"),
        }
    }
}

/// What settling is measured against.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tolerance {
    /// The standard error asked for, as a share of the mean.
    pub(crate) precision: f64,
    /// By how much honest samples may differ for the counter's step alone, in the samples' unit.
    pub(crate) step: f64,
}

/// Parts of the run that are held against each other.
const WINDOWS: usize = 8;
/// The least samples of a verdict.
pub(crate) const LEAST_SAMPLES: usize = 64;
/// What differs by no more than this share, or by no more than the precision, is the same.
const SAME: f64 = 0.01;
/// Work of fewer ticks is known well enough when it is known as well as work of so many would be.
const SMALL: f64 = 25.0;
/// A sample is near the mode if it differs from it by no more than this many times what is the same.
const NEAR: f64 = 3.0;

/// The mean of a constant run and its standard error, the share of samples near the mode; or what is wrong with it.
pub(crate) fn judge(
    samples: &[f64],
    demand: Tolerance,
) -> Result<(f64, f64, f64), UnsettledReason> {
    let all = Distribution::new(samples);
    let centre = all.centre(2.0 * demand.step);
    let tolerance = (demand.precision.max(SAME) * centre.mean.abs())
        .max(demand.step)
        .max(0.5);
    // The error of a mean near zero is no share of it.
    let good = demand.precision * centre.mean.abs().max(SMALL);
    if samples.len() < LEAST_SAMPLES || centre.std_error.is_nan() || centre.std_error > good {
        return Err(UnsettledReason::Limit {
            reached: centre.std_error / centre.mean.abs(),
            wanted: demand.precision,
        });
    }
    if let Some((a, b, share)) = all.two_modes((3.0 * tolerance).max(2.5 * demand.step)) {
        return Err(UnsettledReason::TwoModes { a, b, share });
    }
    let windows: Vec<f64> = samples
        .chunks(samples.len().div_ceil(WINDOWS))
        .map(|window| Distribution::new(window).centre(2.0 * demand.step).mean)
        .collect();
    let (first, last) = (
        mean_of(&windows[..2]),
        mean_of(&windows[windows.len() - 2..]),
    );
    // What a window's own scatter explains is no drift.
    let scatter = all.robust_deviation() / (samples.len() as f64 / WINDOWS as f64).sqrt();
    if (last - first).abs() > (2.0 * tolerance).max(4.0 * scatter) {
        return Err(UnsettledReason::Drifting {
            from: first,
            to: last,
        });
    }
    let share = all.share_near(all.mode(), NEAR * tolerance);
    if share < 0.5 {
        let (p10, p90) = (all.quantile(0.1), all.quantile(0.9));
        return Err(UnsettledReason::Scattered { p10, p90 });
    }
    Ok((centre.mean, centre.std_error, share))
}

fn mean_of(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEMAND: Tolerance = Tolerance {
        precision: 0.01,
        step: 2.0,
    };

    fn noisy(value: impl Fn(usize) -> f64) -> Vec<f64> {
        (0..400)
            .map(|i| value(i) * (1.0 + 0.01 * ((i * 7919 % 101) as f64 / 100.0 - 0.5)))
            .collect()
    }

    #[test]
    fn figures_are_finite_or_not_printed() {
        let nothing = judge(&[], DEMAND).unwrap_err();
        assert!(!nothing.to_string().contains("NaN"), "{nothing}");
        let around_zero = UnsettledReason::Limit {
            reached: f64::INFINITY,
            wanted: 0.01,
        };
        assert_eq!(
            around_zero.to_string(),
            "time limit: too little is known of the mean, ± 1.00 % was asked for"
        );
    }

    #[test]
    fn constant_is_constant() {
        let (mean, std_error, share) = judge(&noisy(|_| 1019.0), DEMAND).unwrap();
        assert!((mean - 1019.0).abs() < 1.0 && std_error < 1.0 && share > 0.95);
    }

    #[test]
    fn rare_outliers_do_not_unsettle() {
        assert!(
            judge(
                &noisy(|i| if i % 40 == 0 { 90_000.0 } else { 1019.0 }),
                DEMAND
            )
            .is_ok()
        );
    }

    #[test]
    fn drift_is_told() {
        let why = judge(&noisy(|i| 1000.0 + i as f64), DEMAND).unwrap_err();
        assert!(
            matches!(why, UnsettledReason::Drifting { from, to } if from < 1100.0 && to > 1300.0),
            "{why}"
        );
    }

    #[test]
    fn two_modes_are_told() {
        let why = judge(
            &noisy(|i| if i * 31 % 100 < 40 { 84.0 } else { 112.0 }),
            DEMAND,
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
        let demand = Tolerance {
            precision: 0.03,
            ..DEMAND
        };
        let why = judge(&three, demand).unwrap_err();
        assert!(
            matches!(why, UnsettledReason::Scattered { p10, p90 } if p10 < 33.0 && p90 > 68.0),
            "{why}"
        );
    }

    #[test]
    fn too_few_or_too_wild_is_a_limit() {
        assert!(matches!(
            judge(&[100.0; 10], DEMAND),
            Err(UnsettledReason::Limit { .. })
        ));
        assert!(matches!(
            judge(&[], DEMAND),
            Err(UnsettledReason::Limit { .. })
        ));
        let wild = noisy(|i| 1000.0 + 1000.0 * (i * 7919 % 4001) as f64);
        assert!(judge(&wild, DEMAND).is_err());
    }

    #[test]
    fn work_of_nothing_is_constant() {
        assert!(judge(&noisy(|i| if i % 2 == 0 { 0.5 } else { -0.5 }), DEMAND).is_ok());
    }
}
