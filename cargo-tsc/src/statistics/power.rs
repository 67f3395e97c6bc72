//! Computes how many runs are needed.

use super::rank_sum::null_distribution;
use super::shift::rejected_values;

/// If more runs per side than this are needed, no number is suggested.
const MOST: usize = 10_000;

/// The smallest number of runs per side for which an interval with this `confidence` exists.
#[must_use]
pub fn runs_for_an_interval(confidence: f64) -> usize {
    (1..=50)
        .find(|&n| rejected_values(&null_distribution(n, n), confidence) > 0)
        .unwrap_or(50)
}

/// The smallest number of runs per side with which the best of `rows` tests can be significant at `level` after Holm's correction. If two
/// samples do not overlap, their two-sided p-value is 2 / C(2n, n).
#[must_use]
pub fn runs_for_a_test(level: f64, rows: usize) -> usize {
    let mut deals = 1.0;
    let mut runs = 0;
    while 2.0 / deals > level / rows.max(1) as f64 {
        runs += 1;
        let n = runs as f64;
        deals *= (2.0 * n - 1.0) * 2.0 / n; // C(2n, n) from C(2n − 2, n − 1)
    }
    runs
}

/// The number of runs per side that reduces an interval's half `width` to `wanted`, from `runs` on: the width is inversely proportional to
/// the root of the number of runs. `None` if the number would be too great.
#[must_use]
pub fn runs_for_precision(runs: usize, width: f64, wanted: f64) -> Option<usize> {
    let factor = width / wanted;
    let needed = (runs as f64 * factor * factor).ceil();
    (wanted > 0.0 && needed <= MOST as f64).then(|| (needed as usize).max(runs + 1))
}

/// How many of the smallest differences an interval excludes, by the normal approximation of U.
pub(super) fn rejected_by_approximation(first: usize, second: usize, confidence: f64) -> usize {
    let (n, m) = (first as f64, second as f64);
    let deviation = (n * m * (n + m + 1.0) / 12.0).sqrt();
    // Bisection, because `upper_tail` decreases with z.
    let (mut low, mut high) = (0.0_f64, 10.0_f64);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if super::normal::upper_tail(middle) > (1.0 - confidence) / 2.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    (n * m / 2.0 - high * deviation).max(0.0).floor() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_need_four_runs_a_side() {
        assert_eq!(runs_for_an_interval(0.95), 4); // 2 / C(8, 4) = 0.029
        assert_eq!(runs_for_an_interval(0.999), 7); // 2 / C(14, 7) = 0.0006
    }

    #[test]
    fn more_rows_need_more_runs() {
        assert_eq!(runs_for_a_test(0.05, 1), 4);
        assert_eq!(runs_for_a_test(0.05, 10), 6); // 2 / C(12, 6) = 0.0022
        assert_eq!(runs_for_a_test(0.05, 1000), 9);
    }

    #[test]
    fn half_the_width_takes_four_times_the_runs() {
        assert_eq!(runs_for_precision(10, 0.02, 0.01), Some(40));
        assert_eq!(runs_for_precision(10, 0.01, 0.02), Some(11));
        assert_eq!(runs_for_precision(10, 0.01, 0.0), None);
        assert_eq!(runs_for_precision(10, 0.5, 0.0001), None);
    }

    #[test]
    fn approximation_is_near_the_exact_count() {
        let exact = rejected_values(&null_distribution(50, 50), 0.95);
        let approximate = rejected_by_approximation(50, 50, 0.95);
        assert!(exact.abs_diff(approximate) <= 2, "{exact} {approximate}");
    }
}
