//! Recording must not allocate after a callsite's first call on a thread: it may have interrupted the allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr;
use std::time::{Duration, Instant};

use tsc_runtime::{cycles, snapshot};

use super::forks;

/// The system's allocator, and a note of each allocation on a thread that must not make any. It refuses those of a thread that is to have no memory.
pub(crate) struct Watched;

thread_local! {
    pub(crate) static REFUSED: Cell<bool> = const { Cell::new(false) };
    static FORBIDDEN: Cell<bool> = const { Cell::new(false) };
    static SEEN: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: `System` does the work and meets the requirements.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if FORBIDDEN.get() {
            SEEN.set(SEEN.get() + 1);
        }
        if REFUSED.get() {
            return ptr::null_mut();
        }
        forks::at_allocation();
        // SAFETY: guaranteed by the caller: the same requirements apply to `System`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: guaranteed by the caller: the block is from `alloc`, and so from `System`, with this layout.
        unsafe { System.dealloc(block, layout) }
    }
}

#[cycles(name = "wide")]
fn wide(nanoseconds: u64) {
    let began = Instant::now();
    while began.elapsed() < Duration::from_nanos(nanoseconds) {
        std::hint::spin_loop();
    }
}

/// Pauses and resumes before there is anything to pause, and makes calls that take from 1 ns to 4 ms. Prints how often they allocated and how many of them were recorded.
pub(crate) fn wide_samples() {
    const CALLS: u64 = 23 * 12;
    FORBIDDEN.set(true);
    tsc_runtime::pause();
    tsc_runtime::resume();
    FORBIDDEN.set(false);
    wide(0);
    FORBIDDEN.set(true);
    for call in 0..CALLS {
        wide(1 << (call % 23));
    }
    FORBIDDEN.set(false);
    let report = snapshot();
    let row = report.callsite("wide").expect("the callsite was called");
    println!(
        "{} allocations, {} of {CALLS} calls",
        SEEN.get(),
        row.calls() - 1
    );
}
