//! The Mann–Whitney test: whether values of one sample tend to be greater than those of another.

use super::{Tail, normal};

/// Up to this many pairs of values, the distribution is computed exactly.
pub(super) const EXACT_PAIRS: usize = 2500;

/// Mann–Whitney's U of two samples.
#[derive(Clone, Debug)]
pub struct RankSum {
    /// The number of pairs in which the second value is greater. Pairs of equal values count as one half.
    u: f64,
    first: usize,
    second: usize,
    /// The sum of t³ − t over all groups of t equal values.
    ties: f64,
}

impl RankSum {
    /// Compares `second` with `first`.
    #[must_use]
    pub fn new(first: &[f64], second: &[f64]) -> Self {
        let pairs = first
            .iter()
            .flat_map(|a| second.iter().map(move |b| (a, b)));
        let u = pairs
            .map(|(a, b)| match a.total_cmp(b) {
                std::cmp::Ordering::Less => 1.0,
                std::cmp::Ordering::Equal => 0.5,
                std::cmp::Ordering::Greater => 0.0,
            })
            .sum();
        let mut all: Vec<f64> = first.iter().chain(second).copied().collect();
        all.sort_unstable_by(f64::total_cmp);
        let ties = all
            .chunk_by(|a, b| a == b)
            .map(|group| (group.len() as f64).powi(3) - group.len() as f64)
            .sum();
        Self {
            u,
            first: first.len(),
            second: second.len(),
            ties,
        }
    }

    /// The probability of a U at least as far in `tail`, if both samples come from the same distribution.
    #[must_use]
    pub fn p_value(&self, tail: Tail) -> f64 {
        let pairs = self.first * self.second;
        if pairs == 0 {
            return 1.0;
        }
        // The distribution is symmetric, so the lower tail of U is equal to the upper tail of its mirror image.
        let u = match tail {
            Tail::Greater => self.u,
            Tail::Less => pairs as f64 - self.u,
        };
        if self.ties == 0.0 && pairs <= EXACT_PAIRS {
            let distribution = null_distribution(self.first, self.second);
            distribution[u as usize..].iter().sum()
        } else {
            self.approximate(u)
        }
    }

    /// The normal approximation, with corrections for ties and continuity.
    fn approximate(&self, u: f64) -> f64 {
        let pairs = (self.first * self.second) as f64;
        let all = (self.first + self.second) as f64;
        let variance = pairs / 12.0 * (all + 1.0 - self.ties / (all * (all - 1.0)));
        if variance <= 0.0 {
            return 1.0; // all values are equal
        }
        normal::upper_tail((u - pairs / 2.0 - 0.5) / variance.sqrt())
    }
}

/// The probability of each U from 0 to `first * second`, if both samples come from the same distribution.
pub(super) fn null_distribution(first: usize, second: usize) -> Vec<f64> {
    // The greatest value belongs to `second` with probability m / (n + m). Then it is greater than all n values of `first`, and U is
    // greater by n than without it. Otherwise U is the same as without it. This needs only additions, so there is no cancellation.
    let mut shorter: Vec<Vec<f64>> = vec![vec![1.0]; second + 1]; // with n = 0, U is 0
    for n in 1..=first {
        let mut row = vec![vec![1.0]]; // with m = 0, U is 0
        for m in 1..=second {
            let share = m as f64 / (n + m) as f64;
            let mut distribution = vec![0.0; n * m + 1];
            for (u, p) in row[m - 1].iter().enumerate() {
                distribution[u + n] += share * p;
            }
            for (u, p) in shorter[m].iter().enumerate() {
                distribution[u] += (1.0 - share) * p;
            }
            row.push(distribution);
        }
        shorter = row;
    }
    shorter.swap_remove(second)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts all ways to distribute the ranks.
    fn dealt(first: u32, second: u32) -> Vec<f64> {
        let mut counts = vec![0.0; (first * second) as usize + 1];
        let all = first + second;
        for hand in 0_u32..1 << all {
            if hand.count_ones() != second {
                continue;
            }
            let mut u = 0;
            for rank in (0..all).filter(|rank| hand >> rank & 1 == 1) {
                u += (0..rank).filter(|below| hand >> below & 1 == 0).count();
            }
            counts[u] += 1.0;
        }
        let sum: f64 = counts.iter().sum();
        counts.iter().map(|count| count / sum).collect()
    }

    #[test]
    fn distribution_is_that_of_all_deals() {
        for (first, second) in [(1, 1), (1, 4), (3, 3), (4, 6), (5, 2)] {
            let by_hand = dealt(first, second);
            let computed = null_distribution(first as usize, second as usize);
            assert_eq!(by_hand.len(), computed.len());
            for (a, b) in by_hand.iter().zip(&computed) {
                assert!((a - b).abs() < 1e-12, "{first} {second}: {a} {b}");
            }
        }
    }

    #[test]
    fn largest_exact_distribution_keeps_its_precision() {
        let distribution = null_distribution(50, 50);
        assert!(distribution.iter().all(|&p| p > 0.0));
        for (low, high) in distribution.iter().zip(distribution.iter().rev()) {
            assert!((low - high).abs() <= 1e-9 * low, "{low} {high}");
        }
    }

    #[test]
    fn apart_samples_have_the_least_p_value() {
        let test = RankSum::new(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]);
        assert!((test.p_value(Tail::Greater) - 0.05).abs() < 1e-12); // 1 of 20 deals
        assert!((test.p_value(Tail::Less) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn equal_values_are_no_evidence() {
        let test = RankSum::new(&[7.0; 10], &[7.0; 10]);
        assert_eq!(test.p_value(Tail::Greater), 1.0);
        let counts = RankSum::new(&[7.0; 10], &[8.0; 10]);
        assert!(counts.p_value(Tail::Greater) < 1e-4);
    }

    #[test]
    fn approximation_meets_the_exact_distribution() {
        let first: Vec<f64> = (0..50).map(f64::from).collect();
        let second: Vec<f64> = (0..50).map(|x| f64::from(x) + 8.5).collect();
        let test = RankSum::new(&first, &second);
        let exact = test.p_value(Tail::Greater);
        let approximate = test.approximate(test.u);
        assert!(
            (exact / approximate - 1.0).abs() < 0.1,
            "{exact} {approximate}"
        );
    }
}
