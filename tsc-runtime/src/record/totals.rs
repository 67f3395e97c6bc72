//! The sums of all threads' records of one callsite.

use super::counters::{ContextSums, merge_option};
use super::histogram::{Histogram, least};
use super::{not_below_zero, square};

pub(crate) use super::counters::Totals;

impl Totals {
    /// All calls that have returned.
    pub(crate) fn calls(&self) -> u64 {
        self.samples + self.firsts + self.excluded + self.anomalies
    }

    /// How many times a probe's visible overhead is contained in the gross ticks: once for each call or poll.
    pub(crate) fn probes(&self) -> u64 {
        match self.polls {
            0 => self.samples + self.firsts + self.excluded,
            polls => polls,
        }
    }

    /// The gross ticks on the CPU of all calls. For futures, of all polls: futures that are suspended or were dropped have used time, too.
    pub(crate) fn gross(&self) -> i64 {
        if self.polls != 0 {
            return self.polls_gross;
        }
        self.sum
            .wrapping_add(self.first_sum)
            .wrapping_add(self.excluded_sum)
            .wrapping_sub(self.calls_blocked)
    }

    /// The figures of a call tree's root, if all calls were made outside any annotated function.
    pub(crate) fn as_root(&self) -> ContextSums {
        let net = self.gross().wrapping_sub(self.visible);
        let inner = self.inner_gross.wrapping_sub(self.inner_visible);
        ContextSums {
            calls: self.calls(),
            on_cpu: net.wrapping_sub(inner),
            own: net.wrapping_sub(self.callees),
            blocked: self.off.wrapping_sub(self.waiting),
            unclean: self.unknown + self.firsts_interrupted + self.repaired + self.excluded,
        }
    }

    /// The wall times of the calls, without each thread's first. `None` if they do not differ from the times on the CPU.
    pub(crate) fn wall_histogram(&self) -> Option<Histogram> {
        self.side_wall_histogram.buckets().next()?;
        let mut histogram = self.side_wall_histogram.clone();
        if self.polls == 0 {
            histogram.merge(&self.histogram);
            histogram.remove(&self.repaired_histogram);
        }
        Some(histogram)
    }

    /// Adds one sample, with the same result as folding it into a record.
    pub(crate) fn add_sample(&mut self, sample: i64) {
        self.samples += 1;
        self.sum = self.sum.wrapping_add(sample);
        self.squares = self.squares.wrapping_add(square(sample));
        self.min = merge_option(self.min, Some(sample), i64::min);
        self.max = merge_option(self.max, Some(sample), i64::max);
        self.histogram.add_value(not_below_zero(sample));
    }

    /// The calls since `earlier`, earlier totals of the same record. Usually there is at most one. If there are several, extremes that are
    /// not new are only known to their bucket.
    pub(crate) fn since(&self, earlier: &Self) -> Self {
        let mut since = self.clone();
        since.subtract(earlier);
        since.threads = u64::from(since.calls() + since.polls != 0);
        since.first = self.first.filter(|_| since.firsts != 0);
        let in_bucket = |(octave, sub, _)| least(octave, sub).cast_signed();
        let buckets = || since.histogram.buckets().map(in_bucket);
        let new = |now, then| Some(now).filter(|_| now != then);
        since.wall_max = new(self.wall_max, earlier.wall_max)
            .unwrap_or_else(|| since.side_wall_histogram.buckets().map(in_bucket).last());
        (since.min, since.max) = match since.samples {
            0 => (None, None),
            1 => (Some(since.sum), Some(since.sum)),
            _ => (
                new(self.min, earlier.min).unwrap_or_else(|| buckets().next()),
                new(self.max, earlier.max).unwrap_or_else(|| buckets().last()),
            ),
        };
        since
    }
}
