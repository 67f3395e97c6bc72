//! Counts what a thread allocates.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, for tests that ask for [`allocations`].
pub struct Counting;

thread_local!(static ALLOCATIONS: Cell<u64> = const { Cell::new(0) });

/// How often this thread has allocated, if [`Counting`] is the program's allocator.
#[must_use]
pub fn allocations() -> u64 {
    ALLOCATIONS.get()
}

// SAFETY: `System` does the work and meets the requirements.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: guaranteed by the caller: the same requirements apply to `System`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: guaranteed by the caller: the block is from `alloc`, and so from `System`, with this layout.
        unsafe { System.dealloc(block, layout) }
    }
}
