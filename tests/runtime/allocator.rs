//! An allocator with annotated functions: recording must neither call itself endlessly nor miscount the calls that it leaves out.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::thread;

use tsc_runtime::{cycles, snapshot};

struct Annotated;

thread_local!(static ALLOCATIONS: Cell<u64> = const { Cell::new(0) });

// SAFETY: `System` does the work and meets the requirements.
unsafe impl GlobalAlloc for Annotated {
    #[cycles(name = "alloc")]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        per_type::<u8>();
        // SAFETY: guaranteed by the caller: the same requirements apply to `System`.
        unsafe { System.alloc(layout) }
    }

    #[cycles(name = "dealloc")]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: guaranteed by the caller: the block is from `alloc`, and so from `System`, with this layout.
        unsafe { System.dealloc(block, layout) }
    }
}

/// The first call of an instantiation allocates, and so calls the annotated allocator again.
#[cycles(per_type)]
fn per_type<T: Default>() {
    std::hint::black_box(T::default());
}

#[global_allocator]
static ALLOCATOR: Annotated = Annotated;

#[cycles(name = "allocating")]
fn allocating(entries: u64) -> usize {
    let map: BTreeMap<_, _> = (0..entries).map(|n| (n, vec![n; 10])).collect();
    map.len()
}

#[test]
fn annotated_allocator_is_measured() {
    drop(snapshot());
    let calls = || snapshot().callsite("alloc").unwrap().calls();
    let before = (calls(), ALLOCATIONS.get());
    for _ in 0..10 {
        allocating(100);
    }
    let made = ALLOCATIONS.get() - before.1;
    assert!(made >= 1000);
    // Making the report allocates, too, so there may be more calls.
    assert!(calls() - before.0 >= made);
    let report = snapshot();
    assert!(report.callsite("per_type<u8>").unwrap().calls() >= made);
    let outer = report.callsite("allocating").unwrap();
    assert_eq!(outer.calls(), 10);
    // The allocator is a callee. Its net ticks can be below zero.
    assert!(outer.self_ticks() != outer.total_ticks());

    let threads: Vec<_> = (0..8)
        .map(|_| thread::spawn(|| (0..10).map(|_| allocating(100)).sum::<usize>()))
        .collect();
    for thread in threads {
        assert_eq!(thread.join().unwrap(), 1000);
    }
    assert_eq!(snapshot().callsite("allocating").unwrap().calls(), 90);
}
