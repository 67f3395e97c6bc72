//! Mean and spread of the samples.

use crate::record::totals::Totals;

/// Net ticks.
pub(super) struct Statistics {
    pub(super) mean: f64,
    pub(super) stddev: Option<f64>,
    pub(super) std_error: Option<f64>,
}

impl Statistics {
    pub(super) fn new(totals: &Totals, visible: f64) -> Option<Self> {
        let mean = mean(totals.sum, totals.samples)?;
        let variance = variance(totals.samples, totals.sum, totals.squares);
        Some(Self {
            mean: mean - visible,
            stddev: variance.map(f64::sqrt),
            std_error: variance.map(|variance| (variance / totals.samples as f64).sqrt()),
        })
    }
}

pub(super) fn mean(sum: i64, count: u64) -> Option<f64> {
    (count != 0).then(|| sum as f64 / count as f64)
}

/// `(n Σx² − (Σx)²) / n (n − 1)`, exactly where 128 bits hold it: the two terms are all but equal when the spread is small.
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
        let mut of = Totals::default();
        [1_000_000_000_001, 1_000_000_000_003]
            .into_iter()
            .for_each(|sample| of.add_sample(sample));
        assert_eq!(variance(of.samples, of.sum, of.squares), Some(2.0));
        assert_eq!(variance(1, 5, 25), None);
    }
}
