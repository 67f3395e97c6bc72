//! The histograms that only some records need: of interrupted calls, and of futures.
//!
//! They share one of the [`pages`], which is mapped when the first such call stops.

use core::ptr::{self, NonNull};

use super::histogram::{BucketIndex, Histogram, OCTAVES, SUBS};
use super::pages::{self, Zeroed};
use crate::sync::atomic::{
    AtomicPtr, AtomicU8, AtomicU32,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

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

const SIDES: usize = 3;
const CHUNKS: usize = 30;

type Chunk = [AtomicU32; SUBS];

/// If all of it is zero, it is valid and empty.
#[repr(C)]
struct Page {
    /// For each side and octave, the number of its chunk plus one, or 0 if it has none.
    chunk_of: [[AtomicU8; OCTAVES]; SIDES],
    used: AtomicU8,
    chunks: [Chunk; CHUNKS],
}

const _: () = assert!(size_of::<Page>() <= 4096, "it is one page of memory");
// SAFETY: it consists of atomics, which may be 0.
unsafe impl Zeroed for Page {}

#[derive(Debug)]
pub(super) struct SideHistograms(AtomicPtr<Page>);

impl SideHistograms {
    pub(super) const fn new() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    /// Counts one call. If no page can be mapped, the call is only in the sums.
    pub(super) fn count(&self, side: Side, place: BucketIndex) {
        if let Some(page) = self.page().or_else(|| self.map()) {
            let count = &page.chunk(side, place.octave())[place.sub()];
            count.store(count.load(Relaxed).saturating_add(1), Relaxed);
        }
    }

    /// Subtracts calls that were counted in one bucket.
    pub(super) fn take_off(&self, side: Side, octave: usize, sub: usize, calls: u64) {
        let Some(page) = self.page() else { return };
        if let Some(chunk) = page.chunk_numbered(&page.chunk_of[side as usize][octave]) {
            let left = u64::from(chunk[sub].load(Relaxed)).saturating_sub(calls);
            chunk[sub].store(left as u32, Relaxed);
        }
    }

    /// The buckets with a count above 0, as octave and bucket.
    pub(super) fn full_buckets(&self, side: Side) -> impl Iterator<Item = (usize, usize)> + '_ {
        let numbers = self.page().into_iter().flat_map(move |page| {
            let numbers = page.chunk_of[side as usize].iter().enumerate();
            numbers.filter_map(|(octave, number)| Some((octave, page.chunk_numbered(number)?)))
        });
        numbers.flat_map(|(octave, chunk)| {
            let full = (0..SUBS).filter(|&sub| chunk[sub].load(Relaxed) != 0);
            full.map(move |sub| (octave, sub))
        })
    }

    /// Adds the counts to `histogram`.
    pub(super) fn read(&self, side: Side, histogram: &mut Histogram) {
        let Some(page) = self.page() else { return };
        for (octave, number) in page.chunk_of[side as usize].iter().enumerate() {
            if let Some(chunk) = page.chunk_numbered(number) {
                histogram.add_octave(octave, |sub| u64::from(chunk[sub].load(Relaxed)));
            }
        }
    }

    fn page(&self) -> Option<&Page> {
        // SAFETY: the pointer is null or was made by `map`, and only `drop` unmaps it.
        unsafe { self.0.load(Acquire).as_ref() }
    }

    #[cold]
    fn map(&self) -> Option<&Page> {
        let page = pages::map::<Page>()?;
        // A signal handler may have mapped a page in the meantime.
        if self
            .0
            .compare_exchange(ptr::null_mut(), page.as_ptr(), AcqRel, Acquire)
            .is_err()
        {
            // SAFETY: it was mapped just now, and nothing else refers to it.
            unsafe { pages::unmap(page) };
        }
        self.page()
    }
}

impl Drop for SideHistograms {
    fn drop(&mut self) {
        if let Some(page) = NonNull::new(*self.0.get_mut()) {
            // SAFETY: `map` made it for these histograms.
            unsafe { pages::unmap(page) };
        }
    }
}

impl Page {
    fn chunk_numbered(&self, number: &AtomicU8) -> Option<&Chunk> {
        self.chunks
            .get(usize::from(number.load(Acquire).checked_sub(1)?))
    }

    /// The octave's chunk, which is assigned now if there is room. Otherwise the nearest chunk of this side, or any chunk.
    fn chunk(&self, side: Side, octave: usize) -> &Chunk {
        let numbers = &self.chunk_of[side as usize];
        if let Some(chunk) = self.chunk_numbered(&numbers[octave]) {
            return chunk;
        }
        let used = self.used.load(Relaxed);
        if let Some(chunk) = self.chunks.get(usize::from(used)) {
            self.used.store(used + 1, Relaxed);
            numbers[octave].store(used + 1, Release);
            return chunk;
        }
        let open = |&(other, _): &(usize, &Chunk)| octave.abs_diff(other);
        numbers
            .iter()
            .enumerate()
            .filter_map(|(octave, number)| Some((octave, self.chunk_numbered(number)?)))
            .min_by_key(open)
            .map_or(&self.chunks[0], |(_, chunk)| chunk)
    }
}

#[cfg(test)]
mod tests {
    use super::super::histogram::bucket;
    use super::*;

    fn counts(histograms: &SideHistograms, side: Side) -> u64 {
        let mut histogram = Histogram::default();
        histograms.read(side, &mut histogram);
        histogram.count()
    }

    #[test]
    fn sides_are_counted_apart() {
        let histograms = SideHistograms::new();
        assert_eq!(counts(&histograms, Side::Wall), 0);
        for ticks in [5, 1_000, 1_000_000] {
            histograms.count(Side::Wall, BucketIndex::of(ticks));
        }
        histograms.count(Side::Excluded, BucketIndex::of(5));
        assert_eq!(
            [Side::Repaired, Side::Excluded, Side::Wall].map(|side| counts(&histograms, side)),
            [0, 1, 3]
        );
        let mut histogram = Histogram::default();
        histograms.read(Side::Wall, &mut histogram);
        let places = [5, 1_000, 1_000_000].map(bucket);
        assert!(
            histogram
                .buckets()
                .eq(places.map(|(octave, sub)| (octave, sub, 1)))
        );
        for (octave, sub) in histograms.full_buckets(Side::Wall).collect::<Vec<_>>() {
            histograms.take_off(Side::Wall, octave, sub, 1);
        }
        assert_eq!(counts(&histograms, Side::Wall), 0);
    }

    #[test]
    fn page_that_is_full_loses_no_count() {
        let histograms = SideHistograms::new();
        for side in [Side::Repaired, Side::Excluded, Side::Wall] {
            (0..OCTAVES).for_each(|bit| histograms.count(side, BucketIndex::of((1 << bit) >> 1)));
        }
        let all =
            [Side::Repaired, Side::Excluded, Side::Wall].map(|side| counts(&histograms, side));
        assert_eq!(all.iter().sum::<u64>(), 3 * OCTAVES as u64);
    }
}
