//! Computes the cells of the table.

/// The median, or NaN if there are no values.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The median, the smallest and the largest of the known values.
pub fn range(values: impl Iterator<Item = f64>) -> String {
    let mut sorted: Vec<f64> = values.filter(|value| value.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    match (sorted.first(), sorted.last()) {
        (Some(least), Some(greatest)) => {
            format!("{:.2} ({least:.2}–{greatest:.2})", median(sorted.clone()))
        }
        _ => "–".to_owned(),
    }
}

/// Spearman's coefficient of rank correlation.
pub fn spearman(pairs: &[(f64, f64)]) -> f64 {
    let one = ranks(pairs.iter().map(|pair| pair.0).collect());
    let other = ranks(pairs.iter().map(|pair| pair.1).collect());
    let n = pairs.len() as f64;
    let mean = (n - 1.0) / 2.0;
    let covariance = |a: &[f64], b: &[f64]| -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - mean) * (b - mean)).sum()
    };
    covariance(&one, &other) / (covariance(&one, &one) * covariance(&other, &other)).sqrt()
}

/// The rank of each value. Equal values have the mean of their ranks.
fn ranks(values: Vec<f64>) -> Vec<f64> {
    let rank = |value: f64| {
        let below = values.iter().filter(|&&other| other < value).count();
        let equal = values.iter().filter(|&&other| other == value).count();
        below as f64 + (equal as f64 - 1.0) / 2.0
    };
    values.iter().map(|&value| rank(value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spearman_is_of_ranks() {
        assert_eq!(spearman(&[(1.0, 10.0), (2.0, 100.0), (3.0, 1e6)]), 1.0);
        assert_eq!(spearman(&[(1.0, 3.0), (2.0, 2.0), (3.0, 1.0)]), -1.0);
        assert_eq!(ranks(vec![5.0, 1.0, 5.0]), [1.5, 0.0, 1.5]);
    }
}
