//! The histograms that only some records need: of interrupted calls, and of futures.
//!
//! They share one page of memory, which is mapped when the first such call stops.

use super::atomic_histogram::AtomicHistogram;
use super::histogram::BucketIndex;
use super::pages::Pages;
use tsc_report::Bucket;

/// Which calls a histogram counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// The gross ticks, on the CPU and blocked, of interrupted calls that are samples.
    Repaired,
    /// The same of interrupted calls that are not samples.
    Excluded,
    /// The gross wall ticks of all interrupted calls. For async functions, of all calls.
    Wall,
}

pub(super) const SIDES: usize = 3;
type Sides = [AtomicHistogram; SIDES];
const _: () = assert!(size_of::<Sides>() <= 4096, "it is one page of memory");

#[derive(Debug)]
pub(super) struct SideHistograms(Pages<Sides>);

impl SideHistograms {
    pub(super) const fn new() -> Self {
        Self(Pages::new())
    }

    /// Counts one call. If no page can be mapped, the call is only in the sums.
    pub(super) fn count(&self, side: Side, place: BucketIndex) {
        if let Some(sides) = self.0.mapped() {
            sides[side as usize].count_one(place);
        }
    }

    /// Of each side, the buckets with a count above 0, in ascending order.
    pub(super) fn read(&self) -> [Vec<Bucket>; SIDES] {
        let read = |sides: &Sides| sides.each_ref().map(AtomicHistogram::read);
        self.0.known().map(read).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(histograms: &SideHistograms) -> [u64; SIDES] {
        let count = |buckets: Vec<Bucket>| buckets.iter().map(|bucket| bucket.calls).sum();
        histograms.read().map(count)
    }

    #[test]
    fn sides_are_counted_apart() {
        let histograms = SideHistograms::new();
        assert_eq!(counts(&histograms), [0; SIDES]);
        for ticks in [5, 1_000, 1_000_000] {
            histograms.count(Side::Wall, BucketIndex::of(ticks));
        }
        histograms.count(Side::Excluded, BucketIndex::of(5));
        assert_eq!(counts(&histograms), [0, 1, 3]);
        let buckets = [5, 1_000, 1_000_000].map(Bucket::of);
        assert_eq!(histograms.read()[Side::Wall as usize], buckets);
    }
}
