//! A record's histogram: written by one thread without allocating, read by any.
//!
//! A function's samples fall in a few octaves, so only those that are seen take memory: a record has room for the first of them
//! in itself, and when there is one more it maps [`pages`] for all there are, once in its life. The allocator is never called.

use core::ptr::{self, NonNull};

use super::pages::{self, Zeroed};
use crate::record::histogram::{BucketIndex, Histogram, OCTAVES, SUBS};
use crate::sync::atomic::{
    AtomicPtr, AtomicU32, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

/// The counts of one octave.
type Chunk = [AtomicU32; SUBS];

/// Octaves that fit in the record itself.
const OWN_CHUNKS: usize = 5;
/// Room for the others.
type Further = [Chunk; OCTAVES - OWN_CHUNKS];
/// Every bucket, with a count that does not overflow.
type Wide = [[AtomicU64; SUBS]; OCTAVES];

// SAFETY: atomics of 0.
unsafe impl Zeroed for Further {}
// SAFETY: atomics of 0.
unsafe impl Zeroed for Wide {}

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
    /// Null until `own` is full.
    further: AtomicPtr<Further>,
    /// Chunks given away, of `own` first and then of `further`.
    used: AtomicU32,
    /// Samples counted since the counts were last moved to `wide`: none of them can have overflowed before this does.
    counted: AtomicU32,
    /// What would not fit in 32 bits; null until the first 4 billion samples.
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

    /// Takes samples out again that were counted in one bucket.
    pub(crate) fn take_off(&self, octave: usize, sub: usize, samples: u64) {
        let mut rest = samples;
        let chunk = self.octaves[octave].load(Relaxed);
        // SAFETY: null, or as in `count`.
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

    /// The buckets that hold something, octave and bucket; of those that were counted in 32 bits.
    pub(crate) fn full_buckets(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.chunks().flat_map(|(octave, chunk)| {
            let full = (0..SUBS).filter(|&sub| chunk[sub].load(Relaxed) != 0);
            full.map(move |sub| (octave, sub))
        })
    }

    /// Finds a place for an octave. A signal handler may do the same in between, and so takes the next, or this octave.
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

    /// The place that is given away as such a one, if there is memory for it.
    fn chunk_numbered(&self, number: usize) -> Option<&Chunk> {
        match number.checked_sub(OWN_CHUNKS) {
            None => Some(&self.own[number]),
            Some(further) => mapped(&self.further)?.get(further),
        }
    }

    /// Where the system has no memory: the open octave that is nearest.
    fn nearest(&self, octave: usize) -> *const Chunk {
        let (_, chunk) = self
            .chunks()
            .min_by_key(|(open, _)| open.abs_diff(octave))
            .unwrap_or((0, &self.own[0]));
        chunk
    }

    /// Moves all counts to where they have 64 bits. Where the system has no memory for that, counts may pass 32 bits and begin anew.
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
        // SAFETY: null, or what `mapped` has made, which only `drop` unmaps.
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
}

/// What a place points to, mapped now if it is null.
fn mapped<T: Zeroed>(place: &AtomicPtr<T>) -> Option<&T> {
    let mut known = place.load(Acquire);
    if known.is_null() {
        let fresh = pages::map::<T>()?;
        known = match place.compare_exchange(known, fresh.as_ptr(), AcqRel, Acquire) {
            Ok(_) => fresh.as_ptr(),
            // A signal handler was here meanwhile.
            Err(faster) => {
                // SAFETY: mapped just now, and nobody has seen it.
                unsafe { pages::unmap(fresh) };
                faster
            }
        };
    }
    // SAFETY: mapped by this function; only `drop` unmaps it, which has the histogram for itself.
    Some(unsafe { &*known })
}

impl Drop for AtomicHistogram {
    fn drop(&mut self) {
        if let Some(further) = NonNull::new(*self.further.get_mut()) {
            // SAFETY: made by `mapped`, for this histogram alone.
            unsafe { pages::unmap(further) };
        }
        if let Some(wide) = NonNull::new(*self.wide.get_mut()) {
            // SAFETY: as above.
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
        // All but that of 0.
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
