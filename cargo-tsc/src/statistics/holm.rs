//! Holm's correction: it keeps the probability of any false alarm among many tests at the level of one test.

/// Adjusts p-values for the number of tests. Each result can be compared with the level of a single test. NaN counts as 1.
#[must_use]
pub fn adjust(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut greatest = 0.0_f64;
    for (rank, &at) in order.iter().enumerate() {
        let left = (p_values.len() - rank) as f64;
        let p = p_values[at];
        greatest = greatest.max(if p.is_nan() { 1.0 } else { p * left });
        adjusted[at] = greatest.min(1.0);
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::adjust;

    #[test]
    fn adjusted_as_in_holm_s_procedure() {
        let adjusted = adjust(&[0.01, 0.04, 0.03, 0.005]);
        let expected = [0.03, 0.06, 0.06, 0.02];
        for (got, wanted) in adjusted.iter().zip(expected) {
            assert!((got - wanted).abs() < 1e-12, "{adjusted:?}");
        }
    }

    #[test]
    fn one_test_is_left_alone_and_nothing_exceeds_one() {
        assert_eq!(adjust(&[0.2]), [0.2]);
        assert_eq!(adjust(&[0.9, 0.8]), [1.0, 1.0]);
        assert_eq!(adjust(&[f64::NAN]), [1.0]);
        assert!(adjust(&[]).is_empty());
    }
}
