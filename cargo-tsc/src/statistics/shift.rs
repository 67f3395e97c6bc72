//! The shift between two sides, with its error.

use super::{mean, student};

/// The probability with which a change that is called visible would be found if its error was known. As it is estimated, it is 9 of 10.
const POWER: f64 = 0.975;

/// A shift and its error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shift {
    /// The estimate.
    pub estimate: f64,
    /// Its standard error.
    pub std_error: f64,
    /// The degrees of freedom of the standard error.
    pub freedom: f64,
    /// What is known to have changed beside the code, at most.
    pub doubt: f64,
}

impl Shift {
    /// The shift of pairs, of which only the differences are given. `None` if there are too few pairs for an error.
    #[must_use]
    pub fn paired(differences: Vec<f64>) -> Option<Self> {
        let (trimmed, winsorised) = without_ends(differences);
        let kept = trimmed.len() as f64;
        let freedom = kept - 1.0;
        (freedom > 0.0).then(|| Self {
            estimate: mean(&trimmed),
            std_error: (squares(&winsorised) / freedom / kept).sqrt(),
            freedom,
            doubt: 0.0,
        })
    }

    /// The shift from `first` to `second`, whose spreads may differ (Welch). `None` if there are too few values for an error.
    #[must_use]
    pub fn independent(first: &[f64], second: &[f64], doubt: f64) -> Option<Self> {
        let part = |values: &[f64]| {
            let freedom = values.len() as f64 - 1.0;
            (freedom > 0.0).then(|| (squares(values) / freedom / values.len() as f64, freedom))
        };
        let ((a, n), (b, m)) = (part(first)?, part(second)?);
        Some(Self {
            estimate: mean(second) - mean(first),
            std_error: (a + b).sqrt(),
            freedom: ((a + b).powi(2) / (a * a / n + b * b / m)).max(n.min(m)),
            doubt,
        })
    }

    /// The probability of such a shift by chance.
    #[must_use]
    pub fn p_value(&self) -> f64 {
        let beyond = (self.estimate.abs() - self.doubt).max(0.0);
        if beyond == 0.0 {
            return 1.0;
        }
        student::both_tails(beyond / self.std_error.max(f64::MIN_POSITIVE), self.freedom)
    }

    /// The interval that contains the true shift with probability 1 − `level`.
    #[must_use]
    pub fn bounds(&self, level: f64) -> (f64, f64) {
        let width = student::quantile(level, self.freedom) * self.std_error + self.doubt;
        (self.estimate - width, self.estimate + width)
    }

    /// The smallest true shift that a test at `level` would have found in 9 of 10 cases, if the estimate must also be at least `least`.
    #[must_use]
    pub fn visible(&self, level: f64, least: f64) -> f64 {
        let found = student::quantile(level, self.freedom) * self.std_error + self.doubt;
        let beyond = student::quantile(2.0 * (1.0 - POWER), self.freedom) * self.std_error;
        found.max(least) + beyond
    }
}

/// The sum of the squares of the values' distances from their mean.
fn squares(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

/// The values without a tenth at each end, and with the values at the new ends in place of these: a single run may be far off. Mean and error
/// are those of Yuen's test.
fn without_ends(mut values: Vec<f64>) -> (Vec<f64>, Vec<f64>) {
    values.sort_unstable_by(f64::total_cmp);
    let end = (values.len() + 2) / 10;
    let trimmed = values[end..values.len() - end].to_vec();
    if let (Some(&low), Some(&high)) = (trimmed.first(), trimmed.last()) {
        values
            .iter_mut()
            .for_each(|value| *value = value.clamp(low, high));
    }
    (trimmed, values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_pairs_have_the_table_s_interval() {
        let differences: Vec<f64> = (1..=6).map(f64::from).collect();
        let shift = Shift::paired(differences.clone()).unwrap();
        assert_eq!((shift.estimate, shift.freedom), (3.5, 5.0));
        // The standard deviation is 1.8708, and the quantile 2.5706.
        let (low, high) = shift.bounds(0.05);
        assert!(
            (low - 1.537).abs() < 1e-3 && (high - 5.463).abs() < 1e-3,
            "{low} {high}"
        );
        assert!((shift.p_value() - 0.0059).abs() < 1e-4, "{shift:?}");
        assert!(Shift::paired(vec![1.0]).is_none());
    }

    #[test]
    fn one_run_that_is_far_off_does_not_hide_the_others() {
        let mut differences: Vec<f64> = (0..10).map(|run| 0.03 + f64::from(run) * 1e-4).collect();
        let without = Shift::paired(differences.clone()).unwrap();
        differences[6] = -1.0;
        let shift = Shift::paired(differences.clone()).unwrap();
        assert!(
            (shift.estimate - without.estimate).abs() < 1e-3,
            "{shift:?}"
        );
        assert!(shift.std_error < 2.0 * without.std_error && shift.freedom == 7.0);
    }

    #[test]
    fn samples_with_equal_spreads_are_as_in_the_t_test() {
        let first: Vec<f64> = (0..10).map(f64::from).collect();
        let second: Vec<f64> = first.iter().map(|x| x + 4.0).collect();
        let shift = Shift::independent(&first, &second, 0.0).unwrap();
        assert_eq!(shift.estimate, 4.0);
        assert!((shift.freedom - 18.0).abs() < 1e-9);
        assert!((shift.std_error - 1.354).abs() < 1e-3);
        assert!(shift.p_value() < 0.01);
        let doubtful = Shift {
            doubt: 4.0,
            ..shift
        };
        assert_eq!(doubtful.p_value(), 1.0);
        assert!(doubtful.visible(0.05, 0.0) > shift.visible(0.05, 0.0) + 3.9);
    }
}
