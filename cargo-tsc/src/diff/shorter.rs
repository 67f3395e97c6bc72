//! The mean of a function's shorter calls.
//!
//! Interrupts, the hypervisor's other guests and cold caches mostly make the longest calls longer still. So the mean without these differs
//! less between runs than the mean of all calls, and shows smaller changes. It says nothing about the longest calls.

use tsc_report::CallsiteReport;

/// The share of the calls that are the shorter ones.
pub const SHARE: f64 = 0.9;
/// The fewest calls of which some are left out.
const LEAST: u64 = 200;

/// The mean of the shorter calls, in ticks. `None` if there are few calls, if most were excluded, or if some of the time is that of
/// annotated callees, whose long calls would be left out instead.
pub fn mean_of_shorter_calls(row: &CallsiteReport) -> Option<f64> {
    let samples = row.samples();
    let is_of_all_calls = row.excluded().unwrap_or(0) * 2 < row.calls();
    if samples < LEAST || !is_of_all_calls || row.self_ticks() < row.total_ticks() {
        return None;
    }
    let visible = row.visible_overhead_ticks() / row.calls() as f64;
    let longest_first = row.histogram().iter().rev().map(|bucket| {
        let middle = f64::midpoint(bucket.from_ticks() as f64, bucket.end_ticks() as f64);
        (bucket.calls() as f64, middle - visible)
    });
    let mean = without_longest(row.mean_ticks()?, samples as f64, longest_first);
    (mean > 0.0).then_some(mean)
}

/// Takes the longest calls off the mean of all. Their ticks are those of their buckets, the longest first, each with its calls and its
/// middle. The others' ticks are exact, so a function all of whose calls are of one length does not jump from one bucket to the next.
fn without_longest(mean: f64, calls: f64, buckets: impl Iterator<Item = (f64, f64)>) -> f64 {
    let longest = calls * (1.0 - SHARE);
    let (mut left_out, mut ticks) = (0.0, 0.0);
    for (calls, middle) in buckets {
        let some = calls.min(longest - left_out);
        left_out += some;
        ticks += some * middle;
    }
    (mean * calls - ticks) / (calls - left_out)
}

#[cfg(test)]
mod tests {
    use super::without_longest;

    fn mean_of(buckets: &[(f64, f64)]) -> f64 {
        let calls: f64 = buckets.iter().map(|(calls, _)| calls).sum();
        let ticks: f64 = buckets.iter().map(|(calls, middle)| calls * middle).sum();
        without_longest(ticks / calls, calls, buckets.iter().copied())
    }

    #[test]
    fn longest_tenth_is_left_out() {
        let half_remain = (100.0 * 9000.0 + 800.0 * 70.0) / 900.0;
        for (long, expected) in [(100.0, 70.0), (50.0, 70.0), (200.0, half_remain)] {
            let mean = mean_of(&[(long, 9000.0), (1000.0 - long, 70.0)]);
            assert!((mean - expected).abs() < 1e-9, "{long}: {mean}");
        }
    }

    #[test]
    fn bucket_of_one_tenth_hardly_matters() {
        // All calls take 70.9 ticks, in a bucket whose middle is 71.5.
        let mean = without_longest(70.9, 1000.0, [(1000.0, 71.5)].into_iter());
        assert!((70.8..70.9).contains(&mean), "{mean}");
    }
}
