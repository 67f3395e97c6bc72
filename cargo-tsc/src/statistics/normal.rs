//! The normal distribution.

/// The probability of a value more than `z` standard deviations above the mean.
pub(super) fn upper_tail(z: f64) -> f64 {
    0.5 * libm::erfc(z / std::f64::consts::SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::upper_tail;

    #[test]
    fn upper_tail_is_the_tables() {
        assert_eq!(upper_tail(0.0), 0.5);
        assert!((upper_tail(1.959_964) - 0.025).abs() < 1e-7);
        assert!((upper_tail(-1.0) - 0.841_344_746).abs() < 1e-9);
    }
}
