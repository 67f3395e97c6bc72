//! Confidence intervals of ratios that assume nothing about their distribution: pure functions.

use crate::calibration::statistics::median_of_sorted;
use crate::data::data;

data! {
    /// A ratio, and the interval that contains the true median with the wanted confidence.
    #[derive(Copy)]
    pub struct Ratio {
        /// The median of the blocks' ratios.
        median: f64,
        /// The lower end of the confidence interval.
        low: f64,
        /// The upper end of the confidence interval.
        high: f64,
    }
}

/// The median of `ratios` and its sign-test interval. The interval lies between two order statistics, chosen so that the true median is
/// outside with a probability of at most `alpha`, whatever the distribution. If there are too few ratios for that, the interval is
/// unbounded.
pub(super) fn median_ratio(mut ratios: Vec<f64>, alpha: f64) -> Option<Ratio> {
    ratios.retain(|ratio| ratio.is_finite());
    ratios.sort_unstable_by(f64::total_cmp);
    let n = ratios.len();
    let median = median_of_sorted(&ratios)?;
    let (low, high) = match outer_ranks(n, alpha) {
        Some(rank) => (ratios[rank], ratios[n - 1 - rank]),
        None => (0.0, f64::INFINITY),
    };
    Some(Ratio { median, low, high })
}

/// The greatest rank r, from 0, such that the true median is below the r-th or above the (n-1-r)-th of n sorted values with a probability
/// of at most `alpha`: the cumulative binomial distribution, for n and a probability of one half, is at most alpha/2 at r.
fn outer_ranks(n: usize, alpha: f64) -> Option<usize> {
    let mut log_term = -(n as f64) * std::f64::consts::LN_2;
    let mut cumulative = log_term.exp();
    let mut rank = None;
    for k in 0..n / 2 {
        if cumulative > alpha / 2.0 {
            break;
        }
        rank = Some(k);
        log_term += ((n - k) as f64 / (k + 1) as f64).ln();
        cumulative += log_term.exp();
    }
    rank
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// A ratio around one. The numerator and the denominator have a heavy upper tail.
    fn ratio(random: &mut Random) -> f64 {
        let mut part = || {
            let tail = if random.share() < 0.05 {
                random.share()
            } else {
                0.0
            };
            1.0 + 0.01 * random.share() + tail
        };
        part() / part()
    }

    #[test]
    fn ranks_are_those_of_the_sign_test() {
        // From tables of the sign test at 5 %: for n = 10 the interval is from the 2nd to the 9th value, for n = 20 from the 6th to the
        // 15th.
        assert_eq!(outer_ranks(10, 0.05), Some(1));
        assert_eq!(outer_ranks(20, 0.05), Some(5));
        assert_eq!(outer_ranks(5, 0.05), None);
        assert_eq!(outer_ranks(100, 0.05), Some(39));
    }

    #[test]
    fn interval_misses_the_truth_as_rarely_as_it_says() {
        let mut random = Random::new(88_172_645_463_325_252);
        let missed = (0..2000)
            .filter(|_| {
                let ratio =
                    median_ratio((0..101).map(|_| ratio(&mut random)).collect(), 0.05).unwrap();
                ratio.low > 1.0 || ratio.high < 1.0
            })
            .count();
        assert!(missed < 2000 / 15, "{missed} of 2000");
    }

    #[test]
    fn one_percent_is_told_apart() {
        let mut random = Random::new(1234);
        let ratio =
            median_ratio((0..200).map(|_| 1.01 * ratio(&mut random)).collect(), 0.05).unwrap();
        assert!(
            ratio.low > 1.0 && ratio.low < 1.01 && ratio.high > 1.01,
            "{ratio:?}"
        );
    }

    #[test]
    fn few_ratios_bound_nothing() {
        assert_eq!(median_ratio(vec![f64::NAN], 0.05), None);
        assert_eq!(
            median_ratio(vec![1.1, 1.2], 0.05).unwrap().high,
            f64::INFINITY
        );
    }
}
