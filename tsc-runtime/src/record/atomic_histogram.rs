//! A record's histogram. One thread writes it without allocating, and any thread may read it.
//!
//! A function's samples are in a few octaves, and only octaves with samples take memory. A record contains room for the first few of them.
//! If there are more, it maps [`pages`] with room for all the others, once in its life. The allocator is never called.

use core::ptr::{self, NonNull};

use super::pages::{self, Zeroed};
use crate::record::histogram::{BucketIndex, Histogram, OCTAVES, SUBS};
use crate::sync::atomic::{
    AtomicPtr, AtomicU32, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

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

const fn chunk() -> Chunk {
    [const { AtomicU32::new(0) }; SUBS]
}

#[derive(Debug)]
pub(crate) struct AtomicHistogram {
    /// The chunk of each octave. Null until the octave has a sample.
    octaves: [AtomicPtr<Chunk>; OCTAVES],
    /// A bit for each octave that has a chunk, so that a reader can skip the others.
    opened: AtomicU64,
    own: [Chunk; OWN_CHUNKS],
    /// Null until all of `own` is in use.
    further: AtomicPtr<Further>,
    /// The number of chunks in use: first those of `own`, then those of `further`.
    used: AtomicU32,
    /// The samples counted since the counts were last moved to `wide`. No count can overflow before this does.
    counted: AtomicU32,
    /// What does not fit into 32 bits. Null until there are 4 billion samples.
    wide: AtomicPtr<Wide>,
}

impl AtomicHistogram {
    pub(crate) const fn new() -> Self {
        Self {
            octaves: [const { AtomicPtr::new(ptr::null_mut()) }; OCTAVES],
            opened: AtomicU64::new(0),
            own: [const { chunk() }; OWN_CHUNKS],
            further: AtomicPtr::new(ptr::null_mut()),
            used: AtomicU32::new(0),
            counted: AtomicU32::new(0),
            wide: AtomicPtr::new(ptr::null_mut()),
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

    /// Subtracts samples that were counted in one bucket.
    pub(crate) fn take_off(&self, octave: usize, sub: usize, samples: u64) {
        let mut rest = samples;
        let chunk = self.octaves[octave].load(Relaxed);
        // SAFETY: the pointer is null, or valid as in `count`.
        if let Some(chunk) = unsafe { chunk.as_ref() } {
            let count = chunk[sub].load(Relaxed);
            let part = rest.min(u64::from(count)) as u32;
            chunk[sub].store(count - part, Relaxed);
            rest -= u64::from(part);
        }
        if let Some(wide) = self.wide() {
            let wide = &wide[octave][sub];
            wide.store(wide.load(Relaxed).saturating_sub(rest), Relaxed);
        }
    }

    /// The buckets with a 32-bit count above 0, as octave and bucket.
    pub(crate) fn full_buckets(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.chunks().flat_map(|(octave, chunk)| {
            let full = (0..SUBS).filter(|&sub| chunk[sub].load(Relaxed) != 0);
            full.map(move |sub| (octave, sub))
        })
    }

    /// Gives the octave a chunk. A signal handler may interrupt this and do the same; it then takes the next chunk, or the one for this
    /// octave.
    #[cold]
    #[inline(never)]
    fn open(&self, octave: usize) -> *const Chunk {
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
            Some(further) => mapped(&self.further)?.get(further),
        }
    }

    /// The chunk of the nearest octave that has one, for when the system has no more memory.
    fn nearest(&self, octave: usize) -> *const Chunk {
        let (_, chunk) = self
            .chunks()
            .min_by_key(|(open, _)| open.abs_diff(octave))
            .unwrap_or((0, &self.own[0]));
        chunk
    }

    /// Moves all counts to the 64-bit ones. If the system has no memory for these, the 32-bit counts may overflow and start from 0.
    #[cold]
    #[inline(never)]
    fn widen(&self, samples: u32) {
        self.counted.store(samples, Relaxed);
        let Some(wide) = mapped(&self.wide) else {
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

    fn wide(&self) -> Option<&Wide> {
        // SAFETY: the pointer is null or was made by `mapped`, and only `drop` unmaps it.
        unsafe { self.wide.load(Acquire).as_ref() }
    }

    /// Adds the counts to `histogram`.
    pub(crate) fn read(&self, histogram: &mut Histogram) {
        for (octave, chunk) in self.chunks() {
            histogram.add_octave(octave, |sub| u64::from(chunk[sub].load(Relaxed)));
        }
        for (octave, wide) in self.wide().into_iter().flatten().enumerate() {
            histogram.add_octave(octave, |sub| wide[sub].load(Relaxed));
        }
    }
}

/// What `place` points to. If it is null, memory is mapped first.
fn mapped<T: Zeroed>(place: &AtomicPtr<T>) -> Option<&T> {
    let mut known = place.load(Acquire);
    if known.is_null() {
        let fresh = pages::map::<T>()?;
        known = match place.compare_exchange(known, fresh.as_ptr(), AcqRel, Acquire) {
            Ok(_) => fresh.as_ptr(),
            // A signal handler has mapped it in the meantime.
            Err(faster) => {
                // SAFETY: it was mapped just now, and nothing else refers to it.
                unsafe { pages::unmap(fresh) };
                faster
            }
        };
    }
    // SAFETY: this function mapped it, and only `drop` unmaps it, when nothing else uses the histogram.
    Some(unsafe { &*known })
}

impl Drop for AtomicHistogram {
    fn drop(&mut self) {
        if let Some(further) = NonNull::new(*self.further.get_mut()) {
            // SAFETY: `mapped` has made it for this histogram.
            unsafe { pages::unmap(further) };
        }
        if let Some(wide) = NonNull::new(*self.wide.get_mut()) {
            // SAFETY: `mapped` has made it for this histogram.
            unsafe { pages::unmap(wide) };
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

    fn take_all_off(buckets: &AtomicHistogram) {
        for (octave, sub, count) in histogram(buckets).buckets() {
            buckets.take_off(octave, sub, count);
        }
    }

    #[test]
    fn every_octave_finds_a_place() {
        let buckets = Box::new(AtomicHistogram::new());
        for bit in 0..64 {
            buckets.count(BucketIndex::of(1 << bit), 1);
            buckets.count(BucketIndex::of((1 << bit) + (1 << bit) / 2), 1);
        }
        assert_eq!(histogram(&buckets).count(), 128);
        // All octaves except that of 0.
        assert_eq!(buckets.chunks().count(), OCTAVES - 1);
        take_all_off(&buckets);
        assert_eq!(histogram(&buckets).count(), 0);
    }

    #[test]
    fn narrow_function_maps_nothing() {
        let buckets = Box::new(AtomicHistogram::new());
        (40..900).for_each(|sample| buckets.count(BucketIndex::of(sample), 1));
        assert!(buckets.further.load(Relaxed).is_null());
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
        take_all_off(&buckets);
        assert_eq!(histogram(&buckets).count(), 0);
    }
}
