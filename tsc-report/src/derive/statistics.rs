//! Mean and spread of the samples.

use crate::CallsiteSums;

/// The samples' standard deviation.
pub(super) fn stddev(sums: &CallsiteSums) -> Option<f64> {
    variance(sums.samples, sums.sum, sums.squares.get()).map(f64::sqrt)
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
}
