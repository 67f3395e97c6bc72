//! The shift between two samples, with an interval that assumes no particular distribution.

use super::rank_sum::{EXACT_PAIRS, null_distribution};
use super::sign_test::binomial;
use super::{median_of_sorted, power};

/// A shift and its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shift {
    /// The estimate.
    pub estimate: f64,
    /// The bounds of the interval. `None` if there are too few values for an interval with this confidence.
    pub bounds: Option<(f64, f64)>,
}

/// Hodges and Lehmann's shift from `first` to `second`: the median of all differences. The interval contains the shifts that the
/// Mann–Whitney test at the level `1 - confidence` does not reject. `None` if a sample is empty.
#[must_use]
pub fn independent(first: &[f64], second: &[f64], confidence: f64) -> Option<Shift> {
    let mut differences: Vec<f64> = first
        .iter()
        .flat_map(|a| second.iter().map(move |b| b - a))
        .collect();
    differences.sort_unstable_by(f64::total_cmp);
    let rejected = if differences.len() <= EXACT_PAIRS {
        let distribution = null_distribution(first.len(), second.len());
        rejected_values(&distribution, confidence)
    } else {
        power::rejected_by_approximation(first.len(), second.len(), confidence)
    };
    interval(&differences, rejected)
}

/// The median of the differences of pairs. The interval contains the shifts that the sign test at the level `1 - confidence` does not
/// reject. `None` if there are no pairs.
#[must_use]
pub fn paired(differences: &[f64], confidence: f64) -> Option<Shift> {
    let mut sorted = differences.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    interval(
        &sorted,
        rejected_values(&binomial(sorted.len()), confidence),
    )
}

/// How many of the smallest values of a symmetric statistic a two-sided test rejects.
pub(super) fn rejected_values(distribution: &[f64], confidence: f64) -> usize {
    let allowed = (1.0 - confidence) / 2.0;
    let mut tail = 0.0;
    distribution
        .iter()
        .take_while(|&&p| {
            tail += p;
            tail <= allowed
        })
        .count()
}

/// If k values are rejected at each end, the interval is from the k-th smallest to the k-th greatest value.
fn interval(sorted: &[f64], rejected: usize) -> Option<Shift> {
    let estimate = median_of_sorted(sorted)?;
    let bounds = (rejected > 0).then(|| (sorted[rejected - 1], sorted[sorted.len() - rejected]));
    Some(Shift { estimate, bounds })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shift_of_moved_values_is_the_move() {
        let first: Vec<f64> = (0..10).map(f64::from).collect();
        let second: Vec<f64> = first.iter().map(|x| x + 100.0).collect();
        let shift = independent(&first, &second, 0.95).unwrap();
        assert_eq!(shift.estimate, 100.0);
        let (low, high) = shift.bounds.unwrap();
        assert!(
            low > 94.0 && high < 106.0 && low + high == 200.0,
            "{low} {high}"
        );
    }

    #[test]
    fn six_a_side_is_the_table_s_interval() {
        // For 6 and 6 values, the two-sided critical value of U at 5 % is 5: the values 0 to 5 are rejected, and the interval begins at
        // the sixth.
        assert_eq!(rejected_values(&null_distribution(6, 6), 0.95), 6);
        // For 10 and 10 values it is 23.
        assert_eq!(rejected_values(&null_distribution(10, 10), 0.95), 24);
    }

    #[test]
    fn three_a_side_have_an_estimate_and_no_interval() {
        let shift = independent(&[1.0, 2.0, 3.0], &[2.0, 3.0, 4.0], 0.95).unwrap();
        assert_eq!(
            shift,
            Shift {
                estimate: 1.0,
                bounds: None
            }
        );
        assert_eq!(independent(&[], &[1.0], 0.95), None);
    }

    #[test]
    fn ten_pairs_reach_from_the_second_to_the_ninth() {
        let differences: Vec<f64> = (1..=10).map(f64::from).collect();
        let shift = paired(&differences, 0.95).unwrap();
        assert_eq!(
            shift,
            Shift {
                estimate: 5.5,
                bounds: Some((2.0, 9.0))
            }
        );
    }
}
