//! Mean and spread of the samples.

use super::CallsiteSums;

/// In gross ticks.
pub(super) struct Statistics {
    pub(super) mean: f64,
    pub(super) stddev: Option<f64>,
    pub(super) std_error: Option<f64>,
}

impl Statistics {
    /// `None` if there are no samples.
    pub(super) fn new(sums: &CallsiteSums) -> Option<Self> {
        let mean = mean(sums.sum, sums.samples)?;
        let variance = variance(sums.samples, sums.sum, sums.squares.get());
        Some(Self {
            mean,
            stddev: variance.map(|variance| (variance * weights_correction(sums)).sqrt()),
            std_error: variance.map(|variance| {
                let n = sums.samples as f64;
                let squares = variance * (n - 1.0) + excess_squares(sums, mean);
                (squares * bessel(sums)).sqrt() / n
            }),
        })
    }
}

/// The standard error of the sum of all calls' ticks, if only some calls were timed.
pub(super) fn std_error_of_sum(sums: &CallsiteSums) -> Option<f64> {
    let mean = mean(sums.sum, sums.samples)?;
    sums.timed?;
    // Only if calls were inside others of the same function do these two differ.
    let is_recursive = sums.inner_gross != 0;
    let (variance, missing) = if is_recursive {
        (sums.included_variance.max(0.0), 0.0)
    } else {
        (excess_squares(sums, mean), missing(sums))
    };
    Some((variance * bessel(sums)).sqrt().hypot(missing * mean))
}

/// The number of calls that no timed call stands for, because their group is not complete, or of those that it lacks.
fn missing(sums: &CallsiteSums) -> f64 {
    let calls = sums.counted.wrapping_sub(sums.surplus);
    calls.cast_signed().unsigned_abs() as f64
}

/// The standard error of `own`, the sum of all ticks outside annotated callees, if only some calls were timed.
pub(super) fn std_error_of_self(sums: &CallsiteSums, own: f64) -> Option<f64> {
    sums.timed?;
    let mean = own / sums.probes() as f64;
    let cross = 2.0 * mean * sums.own_excess_sum;
    let squares = (mean * mean).mul_add(sums.excess, sums.own_excess_squares - cross);
    let variance = squares.max(0.0) * bessel(sums) + sums.own_variance;
    let missing = missing(sums) * own / sums.calls().max(1) as f64;
    Some(variance.max(0.0).sqrt().hypot(missing))
}

/// Σ (w² − w)(x − mean)² over the samples, where w is the number of calls that a sample stands for. It is the variance of the weighted sum
/// that comes from timing only some calls.
fn excess_squares(sums: &CallsiteSums, mean: f64) -> f64 {
    let cross = 2.0 * mean * sums.excess_sum;
    (mean * mean)
        .mul_add(sums.excess, sums.excess_squares - cross)
        .max(0.0)
}

/// k / (k − 1), where k is the number of samples of equal weight that would give the same information.
fn bessel(sums: &CallsiteSums) -> f64 {
    let n = sums.samples as f64;
    let equal = n * n / (n + sums.excess);
    equal / (equal - 1.0).max(1.0)
}

/// Converts a variance with the divisor n − 1, where n is the sum of the weights, to one with k − 1.
fn weights_correction(sums: &CallsiteSums) -> f64 {
    let n = sums.samples as f64;
    (n - 1.0) / n * bessel(sums)
}

pub(super) fn mean(sum: i64, count: u64) -> Option<f64> {
    (count != 0).then(|| sum as f64 / count as f64)
}

/// `(n Σx² − (Σx)²) / n (n − 1)`. The difference is exact if it fits into 128 bits, because the two terms are almost equal if the spread
/// is small.
fn variance(count: u64, sum: i64, squares: u128) -> Option<f64> {
    if count < 2 {
        return None;
    }
    let n = u128::from(count);
    let square = u128::from(sum.unsigned_abs()).pow(2);
    let difference = match n.checked_mul(squares) {
        Some(scaled) => scaled.saturating_sub(square) as f64,
        None => (n as f64)
            .mul_add(squares as f64, -(square as f64))
            .max(0.0),
    };
    Some(difference / (n as f64 * (n - 1) as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variance_is_exact_beside_a_large_mean() {
        let samples = [1_000_000_000_001_i64, 1_000_000_000_003];
        let squares = samples
            .iter()
            .map(|&sample| u128::from(sample.unsigned_abs()).pow(2))
            .sum();
        assert_eq!(variance(2, samples.iter().sum(), squares), Some(2.0));
        assert_eq!(variance(1, 5, 25), None);
    }

    /// JSON has no number for an infinite or undefined error.
    #[test]
    fn error_of_no_calls_is_a_number() {
        let none = CallsiteSums {
            timed: Some(0),
            ..CallsiteSums::default()
        };
        assert_eq!(std_error_of_self(&none, 0.0), Some(0.0));
        assert_eq!(std_error_of_sum(&none), None);
    }

    #[test]
    fn calls_of_an_incomplete_group_are_an_error() {
        // Eight calls were timed, each for itself, and four more counted.
        let sums = CallsiteSums {
            timed: Some(8),
            samples: 8,
            sum: 800,
            counted: 4,
            ..CallsiteSums::default()
        };
        assert_eq!(std_error_of_sum(&sums), Some(400.0));
        assert_eq!(std_error_of_self(&sums, 600.0), Some(200.0));
    }
}
