//! The memory of a thread's records.
//!
//! A record is made when a function is called for the first time, in the middle of the program's work, and stays. It must not lie on the
//! program's heap. An allocator returns the end of its heap to the system when nothing is left there, and reuses blocks in the order in which
//! they were freed. So one block of six bytes that was used for a moment may change what a program's memory costs from then on: one that
//! parses documents and frees them took 320 000 page faults and a second of CPU time for them, and 51 000 with such a block (`getrusage` of
//! the program of `by_crate query`, in the studies; glibc 2.36).

use core::ptr::NonNull;
use core::slice;

use super::pages::Zeroed;
use super::slices::Slices;

/// A line of the cache, which is the unit of the arena.
#[derive(Debug)]
#[repr(align(64))]
struct Line {
    _bytes: [u8; 64],
}

// SAFETY: zero is a byte.
unsafe impl Zeroed for Line {}

/// Memory for values that are freed together with it. Their destructors are not run. Pages that are never used take no memory.
#[derive(Debug)]
pub(crate) struct Arena {
    chunks: Slices<Line, 256>,
    /// Lines of the last chunk.
    used: usize,
}

impl Arena {
    pub(crate) const fn new() -> Self {
        Self {
            chunks: Slices::new(),
            used: 0,
        }
    }

    /// Places for so many values, which stay until the arena ends or is cleared. `None` if the system has no more memory.
    pub(crate) fn places<T>(&mut self, len: usize) -> Option<NonNull<T>> {
        const { assert!(align_of::<T>() <= align_of::<Line>()) }
        let lines = size_of::<T>().checked_mul(len)?.div_ceil(size_of::<Line>());
        // Not as a slice: a reference to a chunk would cover values that others refer to.
        let chunk = loop {
            match self.chunks.last_place() {
                Some(chunk) if chunk.len() - self.used >= lines => break chunk.cast::<Line>(),
                _ => self.chunks.grow()?,
            }
            self.used = 0;
        };
        // SAFETY: the chunk has so many lines.
        let place = unsafe { chunk.add(self.used) };
        self.used += lines;
        Some(place.cast())
    }

    /// Copies of a value. `None` if the system has no more memory.
    ///
    /// # Safety
    ///
    /// They are not used after the arena ends or is cleared.
    pub(crate) unsafe fn copies<T: Copy>(
        &mut self,
        value: T,
        len: usize,
    ) -> Option<&'static mut [T]> {
        let first = self.places::<T>(len)?;
        for index in 0..len {
            // SAFETY: there is room for so many, and nobody else has it.
            unsafe { first.add(index).write(value) };
        }
        // SAFETY: they have just been written, and live for as long as the caller uses them.
        Some(unsafe { slice::from_raw_parts_mut(first.as_ptr(), len) })
    }

    pub(super) fn has_one_chunk(&self) -> bool {
        self.chunks.count() == 1
    }

    /// Gives the places of the last chunk to other values.
    pub(super) fn clear(&mut self) {
        self.used = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_places_of_their_own() {
        let mut arena = Arena::new();
        let places: Vec<NonNull<[u64; 9]>> = (0..500).map(|_| arena.places(1).unwrap()).collect();
        for (place, value) in places.iter().zip(0..) {
            assert!(place.is_aligned());
            // SAFETY: the place is for this type.
            unsafe { place.write([value; 9]) };
        }
        // SAFETY: the arena lives longer.
        let copies = unsafe { arena.copies(7_u16, 40_000) }.unwrap();
        assert!(copies.len() == 40_000 && copies.iter().all(|&copy| copy == 7));
        for (place, value) in places.iter().zip(0..) {
            // SAFETY: it was written above.
            assert_eq!(unsafe { place.read() }, [value; 9]);
        }
    }
}
