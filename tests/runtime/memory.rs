//! Recording takes memory only at a callsite's first call on a thread, and from the program's allocator only at the first one of a thread or of
//! a kind of probe. This memory is freed when the thread ends.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicIsize, Ordering::Relaxed};
use std::thread;

use tests::resident_bytes;
use tsc_runtime::{cycles, snapshot};

/// Counts the bytes that this thread allocates, and the bytes that the process has allocated and not freed.
struct Counting;

thread_local! {
    static ALLOCATED: Cell<usize> = const { Cell::new(0) };
}
static LIVE: AtomicIsize = AtomicIsize::new(0);

// SAFETY: `System` does the work and meets the requirements.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.set(ALLOCATED.get() + layout.size());
        LIVE.fetch_add(layout.size() as isize, Relaxed);
        // SAFETY: guaranteed by the caller: the same requirements apply to `System`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size() as isize, Relaxed);
        // SAFETY: guaranteed by the caller: the same requirements apply to `System`.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[cycles(name = "called often")]
fn called_often(value: u64) -> u64 {
    value.wrapping_mul(3)
}

/// The most by which a record may grow if the durations differ widely. The documentation promises 8 KiB per callsite and thread.
const RECORD_BYTES: usize = 8 << 10;

#[test]
fn ten_million_calls_allocate_nothing() {
    called_often(0);
    let before = ALLOCATED.get();
    (0..10_000_000).for_each(|n| _ = called_often(n));
    let allocated = ALLOCATED.get() - before;
    assert!(allocated <= RECORD_BYTES, "{allocated} bytes");
    let before = ALLOCATED.get();
    (0..1_000_000).for_each(|n| _ = called_often(n));
    assert!(ALLOCATED.get() - before <= RECORD_BYTES - allocated);
}

#[cycles(name = "short-lived")]
fn in_short_lived_thread() {}

#[test]
fn hundred_thousand_threads_leave_nothing_behind() {
    const THREADS: u64 = 100_000;
    /// The number of threads that run first, to fill the caches of the allocator and the runtime.
    const WARM: u64 = 1_000;
    let run = |threads| {
        for _ in 0..threads {
            thread::spawn(in_short_lived_thread).join().unwrap();
        }
    };
    run(WARM);
    let (live, resident) = (LIVE.load(Relaxed), resident_bytes());
    run(THREADS - WARM);
    let (grown, resident_grown) = (
        LIVE.load(Relaxed) - live,
        resident_bytes().saturating_sub(resident),
    );
    // Less than one byte per thread. The other test may allocate a little in the meantime.
    assert!(grown < 64 << 10, "{grown} bytes more are allocated");
    assert!(
        resident_grown < 16 << 20,
        "{resident_grown} bytes more are resident"
    );
    let report = snapshot();
    let row = report.callsite("short-lived").unwrap();
    assert_eq!((row.calls(), row.threads()), (THREADS, THREADS));
}
