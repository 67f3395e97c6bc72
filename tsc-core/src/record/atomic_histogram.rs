//! A record's histogram. One thread writes it without allocating, and any thread may read it.
//!
//! A function's samples are in a few octaves, and only octaves with samples take memory. A record contains room for the first few of them.
//! If there are more, it maps [`Pages`] with room for all the others, once in its life. The allocator is never called.

use core::ptr;

use super::pages::{Pages, Zeroed};
use crate::record::histogram::{BucketIndex, OCTAVES, SUBS};
use crate::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use crate::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64};
use tsc_report::__private::Combine;
use tsc_report::Bucket;

/// The counts of one octave, called a chunk.
type Chunk = [AtomicU32; SUBS];

/// The number of chunks in the record itself.
const OWN_CHUNKS: usize = 5;
/// The other chunks.
type Further = [Chunk; OCTAVES - OWN_CHUNKS];
/// All buckets, with counts that do not overflow.
type Wide = [[AtomicU64; SUBS]; OCTAVES];

// SAFETY: it consists of atomics, which may be 0.
unsafe impl Zeroed for Further {}
// SAFETY: it consists of atomics, which may be 0.
unsafe impl Zeroed for Wide {}
// SAFETY: it consists of atomics, which may be 0, and of pages, which need not be mapped.
unsafe impl Zeroed for AtomicHistogram {}

#[derive(Debug)]
pub(crate) struct AtomicHistogram {
    /// The chunk of each octave. Null until the octave has a sample.
    octaves: [AtomicPtr<Chunk>; OCTAVES],
    /// A bit for each octave that has a chunk, so that a reader can skip the others.
    opened: AtomicU64,
    own: [Chunk; OWN_CHUNKS],
    /// Null until all of `own` is in use.
    further: Pages<Further>,
    /// The number of chunks in use: first those of `own`, then those of `further`.
    used: AtomicU32,
    /// The samples counted since the counts were last moved to `wide`. No count can overflow before this does.
    counted: AtomicU32,
    /// What does not fit into 32 bits. Null until there are 4 billion samples.
    wide: Pages<Wide>,
}

impl AtomicHistogram {
    pub(crate) const fn new() -> Self {
        Self {
            octaves: [const { AtomicPtr::new(ptr::null_mut()) }; OCTAVES],
            opened: AtomicU64::new(0),
            own: [const { [const { AtomicU32::new(0) }; SUBS] }; OWN_CHUNKS],
            further: Pages::new(),
            used: AtomicU32::new(0),
            counted: AtomicU32::new(0),
            wide: Pages::new(),
        }
    }

    /// Must be called before [`count`](Self::count), with the number of samples that will be counted.
    #[inline(always)]
    pub(crate) fn expect(&self, samples: u32) {
        match self.counted.load(Relaxed).checked_add(samples) {
            Some(counted) => self.counted.store(counted, Relaxed),
            None => self.widen(samples),
        }
    }

    /// Counts one sample.
    pub(crate) fn count_one(&self, place: BucketIndex) {
        self.expect(1);
        self.count(place, 1);
    }

    /// Counts samples in one bucket.
    #[inline(always)]
    pub(crate) fn count(&self, place: BucketIndex, samples: u32) {
        let mut chunk: *const Chunk = self.octaves[place.octave()].load(Relaxed);
        if chunk.is_null() {
            chunk = self.open(place.octave());
        }
        // SAFETY: a chunk is in this record or in a block that lives as long as the record.
        let counter = unsafe { &(&*chunk)[place.sub()] };
        counter.store(counter.load(Relaxed).wrapping_add(samples), Relaxed);
    }

    /// Gives the octave a chunk. A signal handler may interrupt this and do the same; it then takes the next chunk, or the one for this
    /// octave. `extern "C"`, so that no caller needs a frame for unwinding.
    #[cold]
    #[inline(never)]
    extern "C" fn open(&self, octave: usize) -> *const Chunk {
        let mut used = self.used.load(Relaxed);
        let chunk = loop {
            let Some(chunk) = self.chunk_numbered(used as usize) else {
                return self.nearest(octave);
            };
            match self.used.compare_exchange(used, used + 1, Relaxed, Relaxed) {
                Ok(_) => break ptr::from_ref(chunk).cast_mut(),
                Err(now) => used = now,
            }
        };
        let place = &self.octaves[octave];
        match place.compare_exchange(ptr::null_mut(), chunk, Relaxed, Relaxed) {
            Ok(_) => {
                self.opened.fetch_or(1 << octave, Release);
                chunk
            }
            Err(faster) => faster,
        }
    }

    /// The chunk with this number, if there is memory for it.
    fn chunk_numbered(&self, number: usize) -> Option<&Chunk> {
        match number.checked_sub(OWN_CHUNKS) {
            None => Some(&self.own[number]),
            Some(further) => self.further.mapped()?.get(further),
        }
    }

    /// The chunk of the nearest octave that has one, for when the system has no more memory.
    fn nearest(&self, octave: usize) -> *const Chunk {
        let nearest = self.chunks().min_by_key(|(open, _)| open.abs_diff(octave));
        nearest.map_or(&self.own[0], |(_, chunk)| chunk)
    }

    /// Moves all counts to the 64-bit ones. If the system has no memory for these, the 32-bit counts may overflow and start from 0.
    #[cold]
    #[inline(never)]
    extern "C" fn widen(&self, samples: u32) {
        self.counted.store(samples, Relaxed);
        let Some(wide) = self.wide.mapped() else {
            return;
        };
        for (octave, chunk) in self.chunks() {
            for (count, wide) in chunk.iter().zip(&wide[octave]) {
                wide.store(wide.load(Relaxed) + u64::from(count.load(Relaxed)), Relaxed);
                count.store(0, Relaxed);
            }
        }
    }

    /// The octaves that have a chunk, with the chunk.
    fn chunks(&self) -> impl Iterator<Item = (usize, &Chunk)> {
        let mut rest = self.opened.load(Acquire);
        core::iter::from_fn(move || {
            let octave = rest.trailing_zeros() as usize;
            rest &= rest.wrapping_sub(1);
            let chunk = self.octaves.get(octave)?.load(Relaxed);
            // SAFETY: as in `count`. The pointer is not null, because the octave's bit was set after it.
            Some((octave, unsafe { &*chunk }))
        })
    }

    /// The buckets with a count above 0, in ascending order.
    pub(crate) fn read(&self) -> Vec<Bucket> {
        let chunks = self.chunks();
        let buckets = chunks.flat_map(|(octave, chunk)| full(octave, chunk, |of| of.load(Relaxed)));
        let mut histogram: Vec<Bucket> = buckets.collect();
        for (octave, wide) in self.wide.known().into_iter().flatten().enumerate() {
            histogram.merge(&full(octave, wide, |of| of.load(Relaxed)).collect());
        }
        histogram
    }
}

/// The buckets of an octave that have a count above 0.
fn full<C, N: Into<u64>>(
    octave: usize,
    counts: &[C; SUBS],
    read: fn(&C) -> N,
) -> impl Iterator<Item = Bucket> {
    let buckets = counts.iter().enumerate().map(move |(sub, count)| Bucket {
        from_ticks: BucketIndex::at(octave, sub).least(),
        calls: read(count).into(),
    });
    buckets.filter(|bucket| bucket.calls != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(buckets: &AtomicHistogram) -> u64 {
        buckets.read().iter().map(|bucket| bucket.calls).sum()
    }

    #[test]
    fn every_octave_finds_a_place() {
        let buckets = Box::new(AtomicHistogram::new());
        for bit in 0..64 {
            buckets.count(BucketIndex::of(1 << bit), 1);
            buckets.count(BucketIndex::of((1 << bit) + (1 << bit) / 2), 1);
        }
        assert_eq!(count(&buckets), 128);
        // All octaves except that of 0.
        assert_eq!(buckets.chunks().count(), OCTAVES - 1);
    }

    #[test]
    fn narrow_function_maps_nothing() {
        let buckets = Box::new(AtomicHistogram::new());
        (40..900).for_each(|sample| buckets.count(BucketIndex::of(sample), 1));
        assert!(buckets.further.known().is_none());
    }

    #[test]
    fn counts_pass_32_bits() {
        let buckets = Box::new(AtomicHistogram::new());
        let many = u32::MAX - 1;
        for round in 1..=3 {
            buckets.expect(many);
            buckets.count(BucketIndex::of(7), 1);
            buckets.own[0][BucketIndex::of(7).sub()].store(many, Relaxed);
            assert_eq!(count(&buckets), u64::from(many) * round);
        }
    }
}
