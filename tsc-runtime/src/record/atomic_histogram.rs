//! A record's histogram: written by one thread without allocating, read by any.
//!
//! A function's samples fall in a few octaves, so only those that are seen take memory: a record has room for the first of them
//! in itself, and gets more in blocks. Opening an octave is the one thing a probe does that may allocate after a callsite's first
//! call on a thread, at most [`BLOCKS`] times in the record's life.

use core::cell::Cell;
use core::ptr;
use core::sync::atomic::{
    AtomicPtr, AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

use crate::record::histogram::{BucketIndex, Histogram, OCTAVES, SUBS};

/// The counts of one octave.
type Chunk = [AtomicU32; SUBS];

/// Octaves that fit in the record itself.
const OWN_CHUNKS: usize = 5;
/// Octaves that a block adds.
const BLOCK_CHUNKS: usize = 12;
const BLOCKS: usize = (OCTAVES - OWN_CHUNKS).div_ceil(BLOCK_CHUNKS);
type Block = [Chunk; BLOCK_CHUNKS];

const fn chunk() -> Chunk {
    [const { AtomicU32::new(0) }; SUBS]
}

#[derive(Debug)]
pub(crate) struct AtomicHistogram {
    /// Where each octave's counts are; null until a sample falls in it.
    octaves: [AtomicPtr<Chunk>; OCTAVES],
    /// A bit for each octave that has its place, so that a reader need not look at the others.
    opened: AtomicU64,
    own: [Chunk; OWN_CHUNKS],
    blocks: [AtomicPtr<Block>; BLOCKS],
    /// Chunks given away, of `own` first and then of `blocks`.
    used: AtomicU32,
    /// Samples counted since the counts were last moved to `wide`: none of them can have overflowed before this does.
    counted: AtomicU32,
    /// A block is being allocated, perhaps by an annotated allocator whose samples are counted here.
    is_allocating: Cell<bool>,
    /// What would not fit in 32 bits; null until the first 4 billion samples.
    wide: AtomicPtr<Wide>,
}

/// Every bucket, with a count that does not overflow.
type Wide = [[AtomicU64; SUBS]; OCTAVES];

impl AtomicHistogram {
    pub(crate) const fn new() -> Self {
        Self {
            octaves: [const { AtomicPtr::new(ptr::null_mut()) }; OCTAVES],
            opened: AtomicU64::new(0),
            own: [const { chunk() }; OWN_CHUNKS],
            blocks: [const { AtomicPtr::new(ptr::null_mut()) }; BLOCKS],
            used: AtomicU32::new(0),
            counted: AtomicU32::new(0),
            is_allocating: Cell::new(false),
            wide: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// Announces that `samples` calls of [`count`](Self::count) follow.
    #[inline(always)]
    pub(crate) fn expect(&self, samples: u32) {
        match self.counted.load(Relaxed).checked_add(samples) {
            Some(counted) => self.counted.store(counted, Relaxed),
            None => self.widen(samples),
        }
    }

    /// Counts samples in one bucket.
    #[inline(always)]
    pub(crate) fn count(&self, place: BucketIndex, samples: u32) {
        let mut chunk: *const Chunk = self.octaves[place.octave()].load(Relaxed);
        if chunk.is_null() {
            chunk = self.open(place.octave());
        }
        // SAFETY: a chunk lies in this very record or in a block that lives as long as it.
        let counter = unsafe { &(&*chunk)[place.sub()] };
        counter.store(counter.load(Relaxed).wrapping_add(samples), Relaxed);
    }

    /// Counts any number of samples in one bucket.
    pub(crate) fn add(&self, octave: usize, sub: usize, samples: u64) {
        let mut rest = samples;
        while rest != 0 {
            let part = u32::try_from(rest).unwrap_or(u32::MAX);
            self.expect(part);
            self.count(BucketIndex::at(octave, sub), part);
            rest -= u64::from(part);
        }
    }

    #[cold]
    #[inline(never)]
    fn open(&self, octave: usize) -> *const Chunk {
        let used = self.used.load(Relaxed) as usize;
        let chunk: *const Chunk = match used.checked_sub(OWN_CHUNKS) {
            None => &raw const self.own[used],
            Some(further) => {
                if self.is_allocating.replace(true) {
                    return self.nearest(octave);
                }
                let block = self.block(further / BLOCK_CHUNKS);
                self.is_allocating.set(false);
                &raw const block[further % BLOCK_CHUNKS]
            }
        };
        self.used.store(used as u32 + 1, Relaxed);
        self.octaves[octave].store(chunk.cast_mut(), Relaxed);
        self.opened
            .store(self.opened.load(Relaxed) | 1 << octave, Release);
        chunk
    }

    /// For a sample of the very allocator that is about to open an octave, and whose own is not open either: the open one that
    /// is nearest.
    fn nearest(&self, octave: usize) -> *const Chunk {
        let (_, chunk) = self
            .chunks()
            .min_by_key(|(open, _)| open.abs_diff(octave))
            .unwrap_or((0, &self.own[0]));
        chunk
    }

    fn block(&self, index: usize) -> &Block {
        let mut block = self.blocks[index].load(Relaxed);
        if block.is_null() {
            block = Box::into_raw(Box::new([const { chunk() }; BLOCK_CHUNKS]));
            self.blocks[index].store(block, Relaxed);
        }
        // SAFETY: made just above or by an earlier call; freed by `drop` alone.
        unsafe { &*block }
    }

    /// Moves all counts to where they have 64 bits.
    #[cold]
    #[inline(never)]
    fn widen(&self, samples: u32) {
        let mut wide = self.wide.load(Relaxed);
        if wide.is_null() {
            wide = Box::into_raw(Box::new(
                [const { [const { AtomicU64::new(0) }; SUBS] }; OCTAVES],
            ));
            self.wide.store(wide, Release);
        }
        // SAFETY: made just above or by an earlier call; freed by `drop` alone.
        let wide = unsafe { &*wide };
        for (octave, chunk) in self.chunks() {
            for (count, wide) in chunk.iter().zip(&wide[octave]) {
                wide.store(wide.load(Relaxed) + u64::from(count.load(Relaxed)), Relaxed);
                count.store(0, Relaxed);
            }
        }
        self.counted.store(samples, Relaxed);
    }

    /// The octaves that have a place, and the place.
    fn chunks(&self) -> impl Iterator<Item = (usize, &Chunk)> {
        let mut rest = self.opened.load(Acquire);
        core::iter::from_fn(move || {
            let octave = rest.trailing_zeros() as usize;
            rest &= rest.wrapping_sub(1);
            let chunk = self.octaves.get(octave)?.load(Relaxed);
            // SAFETY: as in `count`; it is not null, for its bit was set after it.
            Some((octave, unsafe { &*chunk }))
        })
    }

    fn wide(&self) -> Option<&Wide> {
        // SAFETY: as in `widen`; null gives None.
        unsafe { self.wide.load(Acquire).as_ref() }
    }

    /// Adds what was counted to `histogram`.
    pub(crate) fn read(&self, histogram: &mut Histogram) {
        for (octave, chunk) in self.chunks() {
            histogram.add_octave(octave, |sub| u64::from(chunk[sub].load(Relaxed)));
        }
        for (octave, wide) in self.wide().into_iter().flatten().enumerate() {
            histogram.add_octave(octave, |sub| wide[sub].load(Relaxed));
        }
    }

    /// Forgets all counts; the chunks stay where they are.
    pub(crate) fn clear(&self) {
        for (_, chunk) in self.chunks() {
            chunk.iter().for_each(|count| count.store(0, Relaxed));
        }
        for wide in self.wide().into_iter().flatten() {
            wide.iter().for_each(|count| count.store(0, Relaxed));
        }
        self.counted.store(0, Relaxed);
    }
}

impl Drop for AtomicHistogram {
    fn drop(&mut self) {
        for block in &mut self.blocks {
            let block = *block.get_mut();
            if !block.is_null() {
                // SAFETY: made by `block` from a Box, and nobody else frees it.
                drop(unsafe { Box::from_raw(block) });
            }
        }
        let wide = *self.wide.get_mut();
        if !wide.is_null() {
            // SAFETY: made by `widen` from a Box, and nobody else frees it.
            drop(unsafe { Box::from_raw(wide) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(buckets: &AtomicHistogram) -> Histogram {
        let mut histogram = Histogram::default();
        buckets.read(&mut histogram);
        histogram
    }

    #[test]
    fn every_octave_finds_a_place() {
        let buckets = Box::new(AtomicHistogram::new());
        for bit in 0..64 {
            buckets.count(BucketIndex::of(1 << bit), 1);
            buckets.count(BucketIndex::of((1 << bit) + (1 << bit) / 2), 1);
        }
        assert_eq!(histogram(&buckets).count(), 128);
        assert!(
            buckets
                .blocks
                .iter()
                .all(|block| !block.load(Relaxed).is_null())
        );
        buckets.clear();
        assert_eq!(histogram(&buckets).count(), 0);
    }

    #[test]
    fn narrow_function_allocates_nothing() {
        let buckets = Box::new(AtomicHistogram::new());
        (40..900).for_each(|sample| buckets.count(BucketIndex::of(sample), 1));
        assert!(
            buckets
                .blocks
                .iter()
                .all(|block| block.load(Relaxed).is_null())
        );
    }

    #[test]
    fn counts_pass_32_bits() {
        let buckets = Box::new(AtomicHistogram::new());
        let many = u32::MAX - 1;
        for round in 1..=3 {
            buckets.expect(many);
            buckets.count(BucketIndex::of(7), 1);
            buckets.own[0][BucketIndex::of(7).sub()].store(many, Relaxed);
            assert_eq!(histogram(&buckets).count(), u64::from(many) * round);
        }
        buckets.clear();
        assert_eq!(histogram(&buckets).count(), 0);
    }
}
