//! A list that grows by a page at a time, so that it takes memory by what is in it. Its values never move. The thread that owns it adds to
//! it, also in a signal handler; other threads may read it.

use super::pages::{Pages, Zeroed};
use crate::sync::atomic::AtomicU32;
use crate::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};

/// Values in a segment.
const LEN: usize = 64;
/// The largest number of segments.
const SEGMENTS: usize = 256;

type Segment<T> = [T; LEN];

#[derive(Debug)]
pub(crate) struct Segments<T: Zeroed> {
    segments: [Pages<Segment<T>>; SEGMENTS],
    used: AtomicU32,
}

impl<T: Zeroed> Segments<T> {
    /// The largest number of values.
    pub(crate) const CAPACITY: usize = LEN * SEGMENTS;

    pub(crate) const fn new() -> Self {
        const { assert!(size_of::<Segment<T>>() == 4096, "a segment is a page") }
        Self {
            segments: [const { Pages::new() }; SEGMENTS],
            used: AtomicU32::new(0),
        }
    }

    /// The number of values. Who reads it sees what was written before the last one was added.
    pub(crate) fn used(&self) -> u32 {
        self.used.load(Acquire)
    }

    /// A value that was added. Panics if its segment does not exist.
    #[inline(always)]
    pub(crate) fn get(&self, index: u32) -> &T {
        let index = index as usize;
        let segment = self.segments[index / LEN % SEGMENTS].known();
        &segment.expect("it was added")[index % LEN]
    }

    /// Adds a value whose bytes are zero. `None` if there is no more room, or the system has no more memory.
    pub(crate) fn add(&self) -> Option<u32> {
        let used = &self.used;
        loop {
            let index = used.load(Relaxed);
            self.segments.get(index as usize / LEN)?.mapped()?;
            // A signal handler may have added one.
            let added = used.compare_exchange(index, index + 1, AcqRel, Relaxed);
            if added.is_ok() {
                return Some(index);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[repr(align(64))]
    struct Value(AtomicU32);

    // SAFETY: zero is a value of an integer, and there is no destructor.
    unsafe impl Zeroed for Value {}

    #[test]
    fn values_are_zero_and_stay_until_there_is_no_room() {
        let list = Segments::<Value>::new();
        assert_eq!((list.used(), list.add(), list.add()), (0, Some(0), Some(1)));
        let first: *const Value = list.get(0);
        while let Some(index) = list.add() {
            assert_eq!(list.get(index).0.swap(index, Relaxed), 0);
        }
        assert_eq!(list.used() as usize, Segments::<Value>::CAPACITY);
        assert!(core::ptr::eq(first, list.get(0)));
        assert_eq!(list.get(list.used() - 1).0.load(Relaxed), list.used() - 1);
    }

    #[test]
    fn memory_is_mapped_by_what_is_used() {
        let list = Segments::<Value>::new();
        let mapped = || list.segments.iter().filter(|one| one.known().is_some());
        assert_eq!(mapped().count(), 0);
        (0..65).for_each(|_| _ = list.add());
        assert_eq!(mapped().count(), 2);
    }
}
