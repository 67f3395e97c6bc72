//! Finds samples that took so much longer than the others that the time was probably not the function's own.
//!
//! Timer interrupts stop a thread without leaving a trace in it, and so does a hypervisor that lets another guest run. They are visible only by
//! the time that they take, and a rare slow path of the function looks the same. So outliers stay in all figures. They are reported beside the
//! figures, and bound by how much a mean may be too high.
//!
//! The rule: there are up to a thousand interrupts per second. They may hit one call in a hundred; for calls over 10 µs the share is
//! larger, up to one in ten. The slowest of all other calls is taken to be the function's own time. A sample is an outlier if it exceeds
//! that call by at least four times that call's distance from the median, and by at least the length of the shortest interrupt. Calls that
//! last longer than about 100 µs mostly contain interrupts, which cannot be distinguished from the function's own time any more.

use crate::data::histogram::{beginning, count, end, middle, quantile};
use crate::{Bucket, CallsiteSums};

/// Timers interrupt 100 to 1000 times per second, and hypervisors take the CPU away some hundred times.
const INTERRUPTS_PER_SECOND: f64 = 1000.0;
/// The limits of the share of calls that interrupts may hit. At least the first, because interrupts come in bursts. At most the second,
/// because if more calls are hit, the others may not be free of interrupts either.
const LEAST_HIT: f64 = 0.01;
const MOST_HIT: f64 = 0.1;
/// An outlier exceeds the slowest of the other calls by at least this many times that call's distance from the median.
const FACTOR: f64 = 4.0;
/// The length of the shortest interrupt: entering the kernel, the handler, and leaving it. The self-test counts time taken away from this
/// length on.
const SHORTEST_SECONDS: f64 = 400e-9;
/// The rate that is assumed if the counter's rate is not known.
const USUAL_HZ: f64 = 2.5e9;

#[derive(Debug)]
pub(super) struct Outliers {
    /// Samples with at least this many gross ticks are outliers.
    pub(super) threshold: f64,
    pub(super) count: u64,
    /// The ticks of the outliers in excess of the mean of the other samples.
    pub(super) excess: f64,
}

impl Outliers {
    /// `None` if there are no samples.
    pub(super) fn find(sums: &CallsiteSums, buckets: &[Bucket], hz: Option<f64>) -> Option<Self> {
        let quantile = |share| quantile(buckets, share).map(middle);
        let (median, hz) = (quantile(0.5)?, hz.unwrap_or(USUAL_HZ));
        let hit = (INTERRUPTS_PER_SECOND * median / hz).clamp(LEAST_HIT, MOST_HIT);
        let slowest = quantile(1.0 - hit)?;
        let bucket_end = end(beginning(slowest as u64)) as f64;
        let distance = (FACTOR * (slowest - median)).max(SHORTEST_SECONDS * hz);
        // The samples in the next bucket are hardly longer.
        let threshold = bucket_end + distance.max(bucket_end - slowest);
        // They are in ascending order.
        let is_other = |bucket: &Bucket| (bucket.from_ticks as f64) < threshold;
        let (others, outliers) = buckets.split_at(buckets.partition_point(is_other));
        Some(Self {
            threshold,
            count: count(outliers),
            excess: excess(sums, others, outliers),
        })
    }
}

/// The ticks of the outliers in excess of the mean of the other samples.
fn excess(sums: &CallsiteSums, others: &[Bucket], outliers: &[Bucket]) -> f64 {
    if others.is_empty() || outliers.is_empty() {
        return 0.0;
    }
    let ticks = |bucket: &Bucket| bucket.calls as f64 * middle(bucket.from_ticks);
    let sum = |buckets: &[Bucket]| buckets.iter().map(ticks).sum::<f64>();
    // The sum of all samples is exact. The sums of the outliers and of the others are only known to the width of a bucket, so the
    // smaller of the two has the smaller error.
    let (of_outliers, of_others) = (sum(outliers), sum(others));
    let sum_of_others = if of_outliers < of_others {
        sums.sum as f64 - of_outliers
    } else {
        of_others
    };
    let mean = sum_of_others / count(others) as f64;
    (sums.sum as f64 - mean * sums.samples as f64).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::histogram::tests::histogram;

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

    /// `calls` calls of about 2000 ticks each, followed by `others`.
    fn short_calls(calls: i64, others: &[i64]) -> impl Iterator<Item = i64> {
        let spread = |call: i64| 2000 + call * 7919 % 60;
        (0..calls).map(spread).chain(others.iter().copied())
    }

    #[test]
    fn gaps_are_rare_and_far_away() {
        assert_eq!(of(short_calls(10_000, &[])), (0, 0.0));
        // The excess is shorter than an interrupt.
        assert_eq!(of(short_calls(10_000, &[2_900])).0, 0);
        let (count, excess) = of(short_calls(10_000, &[5_500, 6_000, 5_700, 60_000]));
        assert_eq!(count, 4);
        assert!((excess / (77_200.0 - 4.0 * 2030.0) - 1.0).abs() < 0.02);
        // A slow path that is taken more often counts as the function's own time.
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
        // An exponential distribution with a mean of 3000.
        let quantile = |n: i64| (-3000.0 * (1.0 - (n as f64 + 0.5) / 20_000.0).ln()) as i64;
        assert_eq!(of((0..20_000).map(quantile)).0, 0);
    }

    #[test]
    fn more_of_long_calls_are_hit() {
        // Calls of 40 µs each, of which interrupts hit 2 %. For short calls this would be too many.
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
