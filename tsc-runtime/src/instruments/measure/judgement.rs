//! Decides whether a run of samples is constant, and if not, what is wrong with it: pure functions.

use super::verdict::UnsettledReason;
use crate::instruments::bench::distribution::{
    Distribution, PARTS, centre_of_run, mean, means_of_parts,
};

/// The limits by which a run is judged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tolerance {
    /// The wanted standard error, as a share of the mean.
    pub(crate) precision: f64,
    /// How much correct samples may differ because the counter advances in steps, in the unit of the samples.
    pub(crate) step: f64,
}

/// The smallest number of samples for a verdict.
pub(crate) const LEAST_SAMPLES: usize = 64;
/// Values count as equal if they differ by no more than this share, or by no more than the wanted precision.
const SAME: f64 = 0.01;
/// If the mean is smaller than this many ticks, the error is taken as a share of this many ticks.
const SMALL: f64 = 25.0;
/// A sample is near the mode if it differs from it by at most this many times the difference that counts as equal.
const NEAR: f64 = 3.0;

/// Of a constant run, the share of samples near the mode; or what is wrong with the run.
pub(crate) fn judge(samples: &[f64], demand: Tolerance) -> Result<f64, UnsettledReason> {
    let all = Distribution::new(samples);
    let centre = all.centre(2.0 * demand.step);
    let tolerance = (demand.precision.max(SAME) * centre.mean.abs())
        .max(demand.step)
        .max(0.5);
    // If the mean is near zero, the error cannot be taken as a share of it.
    let good = demand.precision * centre.mean.abs().max(SMALL);
    let limit = |std_error: f64| UnsettledReason::Limit {
        reached: std_error / centre.mean.abs(),
        wanted: demand.precision,
    };
    if samples.len() < LEAST_SAMPLES || centre.std_error.is_nan() || centre.std_error > good {
        return Err(limit(centre.std_error));
    }
    if let Some((a, b, share)) = all.two_modes((3.0 * tolerance).max(2.5 * demand.step)) {
        return Err(UnsettledReason::TwoModes { a, b, share });
    }
    let windows = means_of_parts(samples, 2.0 * demand.step);
    // The first two parts are compared with the last two.
    let (first, last) = (mean(&windows[..2]), mean(&windows[windows.len() - 2..]));
    // A difference that is explained by the scatter inside a window is not a drift.
    let scatter = all.robust_deviation() / (samples.len() as f64 / PARTS as f64).sqrt();
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
    let of_run = centre_of_run(samples, 2.0 * demand.step);
    if of_run.std_error > good {
        return Err(limit(of_run.std_error));
    }
    Ok(share)
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
            "time limit: the mean is not known well enough, ± 1.00 % was asked for"
        );
    }

    #[test]
    fn constant_is_constant() {
        assert!(judge(&noisy(|_| 1019.0), DEMAND).unwrap() > 0.95);
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
    fn parts_that_differ_are_no_constant() {
        // One part in eight is a tenth longer: too few for a second mode, and the ends agree.
        let run = noisy(|i| if i / 50 == 3 { 1100.0 } else { 1000.0 });
        let known_to = |precision| {
            judge(
                &run,
                Tolerance {
                    precision,
                    ..DEMAND
                },
            )
        };
        assert!(matches!(
            known_to(0.005),
            Err(UnsettledReason::Limit { .. })
        ));
        assert!(known_to(0.05).is_ok());
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
        for few in [&[100.0; 10][..], &[]] {
            let why = judge(few, DEMAND).unwrap_err();
            assert!(matches!(why, UnsettledReason::Limit { .. }), "{why}");
        }
        let wild = noisy(|i| 1000.0 + 1000.0 * (i * 7919 % 4001) as f64);
        assert!(judge(&wild, DEMAND).is_err());
    }

    #[test]
    fn work_of_nothing_is_constant() {
        assert!(judge(&noisy(|i| if i % 2 == 0 { 0.5 } else { -0.5 }), DEMAND).is_ok());
    }
}
