//! Samples that took so much longer than the others that the time was probably not the function's.
//!
//! Timer interrupts, and a hypervisor that lets another guest run, stop a thread and leave no trace in it: see
//! [`interruption`](crate::interruption). Only the time shows them, and a rare slow path of the function shows in the same way.
//! So what is found here stays in all figures; it is told beside them, and a mean is known to be too high by no more than that.
//!
//! The rule: interrupts come up to a thousand times a second. So they may hit one call in a hundred, or more of calls that take
//! over 10 µs, up to one in ten. All other calls are the function's own, even the slowest of them; a gap is what exceeds that
//! one by four times as much as it exceeds the median, and by what an interrupt takes at least. Of calls that last longer than
//! about 100 µs most have their share of interrupts, which nothing tells from the function any more.

use crate::record::histogram::{bucket, end, least, middle};
use crate::record::totals::Totals;

/// Timers tick 100 to 1000 times a second, and hypervisors take the CPU away some hundred times.
const INTERRUPTS_PER_SECOND: f64 = 1000.0;
/// The share of calls that may be hit: at least so much, for interrupts come in bursts; at most so much, for where more are hit
/// the others cannot be told to be whole.
const LEAST_HIT: f64 = 0.01;
const MOST_HIT: f64 = 0.1;
/// How much further from the slowest of the others than that is from the median.
const FACTOR: f64 = 4.0;
/// The shortest interrupt: entering the kernel, a handler, leaving it. What the self-test counts as time taken away.
const SHORTEST_SECONDS: f64 = 400e-9;
/// Where the counter's rate is not known.
const USUAL_HZ: f64 = 2.5e9;

#[derive(Debug)]
pub(super) struct Gaps {
    /// Samples of so many gross ticks are gaps.
    pub(super) threshold: f64,
    pub(super) count: u64,
    /// What they took beyond the mean of the other samples.
    pub(super) excess: f64,
}

impl Gaps {
    /// Among samples that have this median and 99th percentile.
    pub(super) fn find(totals: &Totals, median: f64, p99: f64, hz: Option<f64>) -> Self {
        let hz = hz.unwrap_or(USUAL_HZ);
        let hit = (INTERRUPTS_PER_SECOND * median / hz).min(MOST_HIT);
        let slowest = if hit > LEAST_HIT {
            totals.histogram.quantile(1.0 - hit).unwrap_or(p99)
        } else {
            p99
        };
        let bucket_end = end_of_bucket(slowest);
        let threshold = bucket_end
            + (FACTOR * (slowest - median))
                .max(SHORTEST_SECONDS * hz)
                // The next bucket holds samples that are hardly longer.
                .max(bucket_end - slowest);
        let mut gaps = Self {
            threshold,
            count: 0,
            excess: 0.0,
        };
        if totals.max.is_some_and(|max| max as f64 >= threshold) {
            gaps.measure(totals);
        }
        gaps
    }

    fn measure(&mut self, totals: &Totals) {
        let (mut others, mut gap_ticks, mut other_ticks) = (0, 0.0, 0.0);
        for (octave, sub, calls) in totals.histogram.buckets() {
            let ticks = calls as f64 * middle(octave, sub);
            if least(octave, sub) as f64 >= self.threshold {
                self.count += calls;
                gap_ticks += ticks;
            } else {
                others += calls;
                other_ticks += ticks;
            }
        }
        if self.count == 0 || others == 0 {
            return;
        }
        // The sum of all samples is known exactly; that of the gaps, and that of the others, to the width of a bucket: the lesser of
        // the two is less wrong.
        let sum_of_others = if gap_ticks < other_ticks {
            totals.sum as f64 - gap_ticks
        } else {
            other_ticks
        };
        let mean = sum_of_others / others as f64;
        self.excess = (totals.sum as f64 - mean * totals.samples as f64).max(0.0);
    }
}

/// The least ticks that belong to the bucket after that of `ticks`.
fn end_of_bucket(ticks: f64) -> f64 {
    let (octave, sub) = bucket(ticks as u64);
    end(octave, sub) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const HZ: Option<f64> = Some(2.5e9);

    fn totals(samples: impl IntoIterator<Item = i64>) -> Totals {
        let mut totals = Totals::default();
        samples
            .into_iter()
            .for_each(|sample| totals.add_sample(sample));
        totals
    }

    fn find(totals: &Totals, hz: Option<f64>) -> Gaps {
        let quantile = |share| totals.histogram.quantile(share).unwrap();
        Gaps::find(totals, quantile(0.5), quantile(0.99), hz)
    }

    fn of(samples: impl IntoIterator<Item = i64>) -> (u64, f64) {
        let gaps = find(&totals(samples), HZ);
        (gaps.count, gaps.excess)
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
        let totals = totals((0..1000).map(|call| 100 + call % 7));
        let threshold = |hz| find(&totals, hz).threshold;
        assert!((threshold(HZ) - 1108.0).abs() < 8.0, "{}", threshold(HZ));
        assert!(threshold(Some(1e9)) < threshold(HZ));
        assert_eq!(threshold(None), threshold(HZ));
    }
}
