//! The sparse histograms of a report, and the limits of their buckets.
//!
//! Every value below 64 has a bucket of its own. From there on, each octave has 32 buckets, so none is wider than 1/32 of its values. A
//! bucket is identified by the smallest value in it. The last bucket contains everything that is longer than 30 hours at 2.6 GHz.

use super::getters::data;

data! {
    /// Calls of about one length.
    #[derive(Copy)]
    pub struct Bucket {
        /// The smallest number of gross ticks in this bucket. Gross ticks include the function's own visible overhead.
        from_ticks: u64,
        /// The number of calls in this bucket.
        calls: u64,
    }
}

impl Bucket {
    /// The smallest number of gross ticks above those of this bucket. The last bucket, which begins at about 30 hours, has no real end.
    #[must_use]
    pub fn end_ticks(&self) -> u64 {
        end(self.from_ticks)
    }

    /// One call of so many ticks.
    #[doc(hidden)]
    #[must_use]
    pub fn of(ticks: u64) -> Self {
        Self {
            from_ticks: beginning(ticks),
            calls: 1,
        }
    }
}

/// The number of buckets in an octave.
const SUBS: u64 = 32;
/// The smallest value of the last bucket, which has no upper limit.
pub(crate) const LAST: u64 = (1 << 48) - (1 << 42);

/// The end of the bucket that begins at `from`: the smallest value above it.
pub(crate) fn end(from: u64) -> u64 {
    from + width(from)
}

/// The number of values in the bucket that contains `value`.
fn width(value: u64) -> u64 {
    let octave = value.max(SUBS).ilog2();
    1 << (octave - SUBS.ilog2())
}

/// The beginning of the bucket that contains `value`.
pub(crate) fn beginning(value: u64) -> u64 {
    let value = value.min(LAST);
    value - value % width(value)
}

/// The middle of a bucket's values.
pub(crate) fn middle(from: u64) -> f64 {
    f64::midpoint(from as f64, (end(from) - 1) as f64)
}

/// The number of calls in all buckets.
pub(crate) fn count(buckets: &[Bucket]) -> u64 {
    saturating_sum(buckets.iter().map(|bucket| bucket.calls))
}

/// Removes calls until at most `most` are left, from the largest bucket first.
pub(crate) fn limit(buckets: &mut Vec<Bucket>, most: u64) {
    let mut excess = count(buckets).saturating_sub(most);
    while excess != 0
        && let Some(largest) = buckets.iter_mut().max_by_key(|bucket| bucket.calls)
    {
        let removed = largest.calls.min(excess);
        largest.calls -= removed;
        excess -= removed;
        buckets.retain(|bucket| bucket.calls != 0);
    }
}

/// The beginning of the bucket with the smallest value that at least `share` of all calls do not exceed. `None` if there are no calls.
pub(crate) fn quantile(buckets: &[Bucket], share: f64) -> Option<u64> {
    let count = count(buckets);
    let rank = ((count as f64 * share).ceil() as u64).clamp(1, count.max(1));
    let mut seen = 0;
    let found = buckets.iter().find(|bucket| {
        seen = saturating_sum([seen, bucket.calls]);
        seen >= rank
    });
    found.map(|bucket| bucket.from_ticks)
}

/// Adds counts up. A report that somebody has changed may have any; what is too much for it is no reason to panic.
pub(crate) fn saturating_sum(counts: impl IntoIterator<Item = u64>) -> u64 {
    counts.into_iter().fold(0, u64::saturating_add)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::data::rules::Combine;

    /// The histogram of these values.
    pub(crate) fn histogram(values: impl IntoIterator<Item = u64>) -> Vec<Bucket> {
        let mut buckets = Vec::new();
        buckets.merge(&values.into_iter().map(Bucket::of).collect());
        buckets
    }

    #[test]
    fn limit_takes_from_the_largest_bucket() {
        let limited = |most| {
            let mut buckets = histogram([1, 5, 5, 5, 9]);
            limit(&mut buckets, most);
            buckets.iter().map(|of| (of.from_ticks, of.calls)).collect()
        };
        let all: Vec<_> = limited(5);
        assert_eq!(all, [(1, 1), (5, 3), (9, 1)]);
        let one_less: Vec<_> = limited(4);
        assert_eq!(one_less, [(1, 1), (5, 2), (9, 1)]);
        let one: Vec<_> = limited(1);
        assert_eq!(one.len(), 1);
        let none: Vec<(u64, u64)> = limited(0);
        assert_eq!(none, []);
    }

    #[test]
    fn buckets_are_contiguous_and_narrow() {
        let mut from = 0;
        while from < 1 << 20 {
            let end = end(from);
            assert_eq!(beginning(from), from);
            assert_eq!(beginning(end - 1), from);
            assert!((end - from) * 32 <= from.max(32), "{from} .. {end}");
            from = end;
        }
        assert_eq!((beginning(u64::MAX), end(LAST)), (LAST, 1 << 48));
    }

    #[test]
    fn quantiles_are_ranks() {
        assert_eq!(quantile(&[], 0.5), None);
        let buckets = histogram(1..=50);
        assert_eq!(
            [0.0, 0.5, 0.99].map(|share| quantile(&buckets, share)),
            [Some(1), Some(25), Some(50)]
        );
    }

    #[test]
    fn merged_histogram_is_that_of_all_values_and_can_be_taken_apart() {
        let (some, others) = (histogram([1, 70, 5000, 70]), histogram([0, 71, 1 << 50]));
        let all = histogram([1, 70, 5000, 70, 0, 71, 1 << 50]);
        let (mut one, mut other) = (some.clone(), others.clone());
        one.merge(&others);
        other.merge(&some);
        assert_eq!((&one, &other), (&all, &all));
        one.since(&some);
        assert_eq!(one, others);
        other.since(&all);
        assert_eq!(other, []);
    }
}
