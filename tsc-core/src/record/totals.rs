//! The figures of a callsite, of one thread's record or of several.

use super::side_histograms::{SIDES, Side};
use super::slowest::{self, KeptCall};
use super::{not_below_zero, square};
use crate::record::counters::ContextSums;
use tsc_report::__private::{Combine, How};
use tsc_report::{Bucket, CallsiteSums};

/// As in the report, ticks are gross, and the histograms are those of its data. Until a report is made of it, the number of the
/// registration stands in `sums.first` for the time at which the process started.
#[derive(Clone, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) sums: CallsiteSums,
    /// The samples.
    pub(crate) histogram: Vec<Bucket>,
    /// By [`Side`].
    pub(crate) sides: [Vec<Bucket>; SIDES],
    /// The slowest calls, the longest first once they are merged.
    pub(crate) slowest: Vec<KeptCall>,
}

impl Totals {
    /// The figures of a call tree's root, if all calls were made outside any annotated function.
    pub(crate) fn as_root(&self) -> ContextSums {
        let sums = &self.sums;
        let net = sums.gross().wrapping_sub(sums.visible_milliticks / 1000);
        let inner_visible = sums.inner_visible_milliticks / 1000;
        let inner = sums.inner_gross.wrapping_sub(inner_visible);
        ContextSums {
            calls: sums.calls(),
            on_cpu: net.wrapping_sub(inner),
            own: net.wrapping_sub(sums.callees),
            blocked: sums.off.wrapping_sub(sums.waiting),
            unclean: sums.unknown + sums.firsts_interrupted + sums.repaired + sums.excluded,
        }
    }

    pub(crate) const fn side(&self, side: Side) -> &Vec<Bucket> {
        &self.sides[side as usize]
    }

    /// The wall times of the calls, without each thread's first. Empty if they do not differ from the times on the CPU.
    pub(crate) fn wall_histogram(&self) -> Vec<Bucket> {
        let mut histogram = self.side(Side::Wall).clone();
        if !histogram.is_empty() && self.sums.polls == 0 {
            histogram.merge(&self.histogram);
            histogram.since(self.side(Side::Repaired));
        }
        histogram
    }

    /// Adds samples, with the same result as folding them into a record.
    pub(crate) fn add_samples(&mut self, samples: impl Iterator<Item = i64>) {
        let sums = &mut self.sums;
        let buckets = samples.map(|sample| {
            sums.samples += 1;
            sums.sum = sums.sum.wrapping_add(sample);
            sums.squares.0 = sums.squares.0.wrapping_add(square(sample));
            sums.min = Some(sums.min.map_or(sample, |min| min.min(sample)));
            sums.max = sums.max.max(Some(sample));
            Bucket::of(not_below_zero(sample))
        });
        self.histogram.merge(&buckets.collect());
    }

    /// Whether these figures of one thread are from calls.
    pub(super) fn count_thread(&mut self) {
        self.sums.threads = u64::from(self.sums.calls() + self.sums.polls != 0);
    }
}

/// Another thread's figures, or earlier ones of the same record.
impl Combine for Totals {
    fn combine(&mut self, other: &Self, how: How) {
        self.histogram.combine(&other.histogram, how);
        for (side, other) in self.sides.iter_mut().zip(&other.sides) {
            side.combine(other, how);
        }
        if how == How::Merge {
            self.sums.merge(&other.sums);
            slowest::merge(&mut self.slowest, &other.slowest);
        } else {
            let [.., wall] = &self.sides;
            self.sums.subtract(&other.sums, &mut self.histogram, wall);
            slowest::subtract(&mut self.slowest, &other.slowest);
            self.count_thread();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_since_are_exact_if_new_and_otherwise_known_to_their_bucket() {
        let add = |totals: &mut Totals, samples: &[i64]| {
            totals.add_samples(samples.iter().copied());
        };
        let mut earlier = Totals::default();
        add(&mut earlier, &[100, 9_000]);
        let since = |samples: &[i64]| {
            let mut now = earlier.clone();
            add(&mut now, samples);
            now.since(&earlier);
            (now.sums.samples, now.sums.min, now.sums.max)
        };
        assert_eq!(since(&[]), (0, None, None));
        assert_eq!(since(&[1_000]), (1, Some(1_000), Some(1_000)));
        // Buckets of 16 and 32 ticks.
        assert_eq!(since(&[1_000, 2_000]), (2, Some(992), Some(2_015)));
        assert_eq!(since(&[50, 20_000]), (2, Some(50), Some(20_000)));
    }

    #[test]
    fn samples_of_a_torn_read_do_not_count_again() {
        let mut now = Totals::default();
        now.add_samples([100; 65].into_iter());
        // It was read while the thread added 64 samples, which are in the sums but not yet in the histogram.
        let mut earlier = Totals::default();
        earlier.add_samples([100; 64].into_iter());
        earlier.histogram.clear();
        now.since(&earlier);
        assert_eq!((now.sums.samples, now.histogram[0].calls), (1, 1));
    }
}
