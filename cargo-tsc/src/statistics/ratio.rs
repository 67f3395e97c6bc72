//! The ratio of two means of which only the errors are known: one run per side.

use super::normal;

/// The half width of a 95 % interval of a normal distribution, in standard errors.
const Z_95: f64 = 1.959_963_984_540_054;

/// The ratio of two means, and its errors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The second mean divided by the first.
    pub estimate: f64,
    /// The standard error of the natural logarithm of the ratio.
    pub std_error: f64,
    /// The systematic error of the logarithm: an error that all calls have in common.
    pub systematic: f64,
    /// The 95 % interval, widened by the systematic error.
    pub bounds: (f64, f64),
}

/// A mean, its standard error, and a bound of its systematic error, in the same unit.
pub type Mean = (f64, f64, f64);

impl Ratio {
    /// `None` if a mean is not positive or an error is not known.
    #[must_use]
    pub fn new(first: Mean, second: Mean) -> Option<Self> {
        let usable = |(mean, error, systematic): Mean| {
            mean > 0.0
                && error >= 0.0
                && systematic >= 0.0
                && (mean + error + systematic).is_finite()
        };
        if !usable(first) || !usable(second) {
            return None;
        }
        let estimate = second.0 / first.0;
        let std_error = (first.1 / first.0).hypot(second.1 / second.0);
        let systematic = first.2 / first.0 + second.2 / second.0;
        let width = Z_95 * std_error + systematic;
        Some(Self {
            estimate,
            std_error,
            systematic,
            bounds: (estimate * (-width).exp(), estimate * width.exp()),
        })
    }

    /// The probability of such a ratio, if the logarithm of the true ratio is at most `threshold` away from 0.
    #[must_use]
    pub fn p_value(&self, threshold: f64) -> f64 {
        let beyond = self.estimate.ln().abs() - threshold - self.systematic;
        (2.0 * normal::upper_tail(beyond / self.std_error.max(f64::MIN_POSITIVE))).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Ratio;

    #[test]
    fn errors_add_in_squares_and_systematic_ones_plainly() {
        let ratio = Ratio::new((100.0, 3.0, 0.0), (200.0, 8.0, 0.0)).unwrap();
        assert_eq!(ratio.estimate, 2.0);
        assert!((ratio.std_error - 0.05).abs() < 1e-12);
        assert!((ratio.bounds.1 / ratio.estimate).ln() - 0.098 < 1e-4);
        let wider = Ratio::new((100.0, 3.0, 10.0), (200.0, 8.0, 10.0)).unwrap();
        let more = (wider.bounds.1 / ratio.bounds.1).ln();
        assert!((more - 0.15).abs() < 1e-12);
    }

    #[test]
    fn no_ratio_without_positive_means_and_known_errors() {
        assert_eq!(Ratio::new((0.0, 1.0, 0.0), (1.0, 1.0, 0.0)), None);
        assert_eq!(Ratio::new((1.0, f64::NAN, 0.0), (1.0, 1.0, 0.0)), None);
        assert_eq!(Ratio::new((1.0, 0.0, 0.0), (-3.0, 1.0, 0.0)), None);
    }
}
