//! Samples that took so much longer than the others that the time was probably not the function's.
//!
//! Timer interrupts, and a hypervisor that lets another guest run, stop a thread and leave no trace in it: see
//! [`interruption`](crate::interruption). Only the time shows them, and a rare slow path of the function shows in the same way.
//! So what is found here stays in all figures; it is reported beside them, and a mean is known to be too high by no more than that.
//!
//! The rule: interrupts come up to a thousand times a second. So they may hit one call in a hundred, or more of calls that take
//! over 10 µs, up to one in ten. All other calls are the function's own, even the slowest of them; an outlier is what exceeds that
//! one by four times as much as it exceeds the median, and by what an interrupt takes at least. Most calls that last longer than
//! about 100 µs have their share of interrupts, which nothing distinguishes from the function any more.

use super::data::histogram::{beginning, end, middle, quantile};
use super::{Bucket, CallsiteSums};

/// Timers tick 100 to 1000 times a second, and hypervisors take the CPU away some hundred times.
const INTERRUPTS_PER_SECOND: f64 = 1000.0;
/// The share of calls that may be hit: at least so much, for interrupts come in bursts; at most so much, for where more are hit
/// it is not known that the others are whole.
const LEAST_HIT: f64 = 0.01;
const MOST_HIT: f64 = 0.1;
/// How much further from the slowest of the others than that is from the median.
const FACTOR: f64 = 4.0;
/// The shortest interrupt: entering the kernel, a handler, leaving it. What the self-test counts as time taken away.
const SHORTEST_SECONDS: f64 = 400e-9;
/// Where the counter's rate is not known.
const USUAL_HZ: f64 = 2.5e9;

#[derive(Debug)]
pub(super) struct Outliers {
    /// Samples of so many gross ticks are outliers.
    pub(super) threshold: f64,
    pub(super) count: u64,
    /// What they took beyond the mean of the other samples.
    pub(super) excess: f64,
}

impl Outliers {
    /// `None` of no samples.
    pub(super) fn find(sums: &CallsiteSums, buckets: &[Bucket], hz: Option<f64>) -> Option<Self> {
        let quantile = |share| quantile(buckets, share).map(middle);
        let (median, p99) = (quantile(0.5)?, quantile(0.99)?);
        let hz = hz.unwrap_or(USUAL_HZ);
        let hit = (INTERRUPTS_PER_SECOND * median / hz).min(MOST_HIT);
        let slowest = if hit > LEAST_HIT {
            quantile(1.0 - hit)?
        } else {
            p99
        };
        let bucket_end = end(beginning(slowest as u64)) as f64;
        let threshold = bucket_end
            + (FACTOR * (slowest - median))
                .max(SHORTEST_SECONDS * hz)
                // The next bucket holds samples that are hardly longer.
                .max(bucket_end - slowest);
        let mut outliers = Self {
            threshold,
            count: 0,
            excess: 0.0,
        };
        if sums.max.is_some_and(|max| max as f64 >= threshold) {
            outliers.measure(sums, buckets);
        }
        Some(outliers)
    }

    fn measure(&mut self, sums: &CallsiteSums, buckets: &[Bucket]) {
        let (mut others, mut outlier_ticks, mut other_ticks) = (0, 0.0, 0.0);
        for bucket in buckets {
            let ticks = bucket.calls as f64 * middle(bucket.from_ticks);
            if bucket.from_ticks as f64 >= self.threshold {
                self.count += bucket.calls;
                outlier_ticks += ticks;
            } else {
                others += bucket.calls;
                other_ticks += ticks;
            }
        }
        if self.count == 0 || others == 0 {
            return;
        }
        // The sum of all samples is known exactly; that of the outliers, and that of the others, to the width of a bucket: the lesser
        // of the two is less wrong.
        let sum_of_others = if outlier_ticks < other_ticks {
            sums.sum as f64 - outlier_ticks
        } else {
            other_ticks
        };
        let mean = sum_of_others / others as f64;
        self.excess = (sums.sum as f64 - mean * sums.samples as f64).max(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::data::histogram::tests::histogram;
    use super::*;

    const HZ: Option<f64> = Some(2.5e9);

    fn find(samples: impl IntoIterator<Item = i64>, hz: Option<f64>) -> Outliers {
        let samples: Vec<i64> = samples.into_iter().collect();
        let sums = CallsiteSums {
            samples: samples.len() as u64,
            sum: samples.iter().sum(),
            max: samples.iter().max().copied(),
            ..CallsiteSums::default()
        };
        let buckets = histogram(samples.iter().map(|sample| sample.cast_unsigned()));
        Outliers::find(&sums, &buckets, hz).expect("there are samples")
    }

    fn of(samples: impl IntoIterator<Item = i64>) -> (u64, f64) {
        let outliers = find(samples, HZ);
        (outliers.count, outliers.excess)
    }

    /// `calls` calls of some 2000 ticks each, and then `others`.
    fn short_calls(calls: i64, others: &[i64]) -> impl Iterator<Item = i64> {
        let spread = |call: i64| 2000 + call * 7919 % 60;
        (0..calls).map(spread).chain(others.iter().copied())
    }

    #[test]
    fn gaps_are_rare_and_far_away() {
        assert_eq!(of(short_calls(10_000, &[])), (0, 0.0));
        // Less than an interrupt.
        assert_eq!(of(short_calls(10_000, &[2_900])).0, 0);
        let (count, excess) = of(short_calls(10_000, &[5_500, 6_000, 5_700, 60_000]));
        assert_eq!(count, 4);
        assert!((excess / (77_200.0 - 4.0 * 2030.0) - 1.0).abs() < 0.02);
        // A slow path that is taken more often is the function's own.
        assert_eq!(of(short_calls(1_000, &[50_000; 20])).0, 0);
    }

    #[test]
    fn one_gap_that_exceeds_all_calls_leaves_their_mean() {
        let (count, excess) = of(short_calls(5_000, &[1_000_000_000]));
        assert_eq!(count, 1);
        assert!((excess - 1_000_000_000.0).abs() < 5_000.0 * 32.0);
    }

    #[test]
    fn wide_spread_of_the_function_itself_is_no_gap() {
        // Exponential, mean 3000.
        let quantile = |n: i64| (-3000.0 * (1.0 - (n as f64 + 0.5) / 20_000.0).ln()) as i64;
        assert_eq!(of((0..20_000).map(quantile)).0, 0);
    }

    #[test]
    fn more_of_long_calls_are_hit() {
        // 40 µs each, of which interrupts hit 2 %; of short calls that would be too many.
        let calls = |length: i64| {
            (0..5_000).map(move |call| length + if call % 50 == 0 { 20_000 } else { call % 40 })
        };
        let (count, excess) = of(calls(100_000));
        assert_eq!(count, 100);
        assert!((excess / (100.0 * 20_000.0) - 1.0).abs() < 0.05, "{excess}");
        assert_eq!(of(calls(1_000)).0, 0);
    }

    #[test]
    fn few_calls_tell_nothing() {
        assert_eq!(of(short_calls(50, &[1_000_000])).0, 0);
    }

    #[test]
    fn threshold_follows_the_counters_rate() {
        let threshold = |hz| find((0..1000).map(|call| 100 + call % 7), hz).threshold;
        assert!((threshold(HZ) - 1108.0).abs() < 8.0, "{}", threshold(HZ));
        assert!(threshold(Some(1e9)) < threshold(HZ));
        assert_eq!(threshold(None), threshold(HZ));
    }
}
