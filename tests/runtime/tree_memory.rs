//! The call tree takes memory by what is in it: threads with few contexts take few pages.
#![cfg(all(target_os = "linux", not(miri)))]

use std::sync::{Arc, Barrier};
use std::thread;

use tests::resident_bytes;
use tsc_runtime::{cycles, snapshot, tree};

#[cycles]
fn leaf() {}

#[cycles(per_type)]
fn branch<const N: usize>() {
    leaf();
}

#[cycles]
fn trunk() {
    macro_rules! call {
        ($($n:literal)*) => { $(branch::<$n>();)* };
    }
    call!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16);
}

/// What each of so many threads takes that run `work` and wait for each other.
fn taken_by_a_thread(work: fn()) -> usize {
    const THREADS: usize = 200;
    let barrier = Arc::new(Barrier::new(THREADS + 1));
    let before = resident_bytes();
    let threads: Vec<_> = (0..THREADS)
        .map(|_| {
            let barrier = Arc::clone(&barrier);
            let run = move || {
                work();
                barrier.wait();
                barrier.wait();
            };
            thread::Builder::new()
                .stack_size(128 << 10)
                .spawn(run)
                .unwrap()
        })
        .collect();
    barrier.wait();
    let during = resident_bytes();
    barrier.wait();
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
    during.saturating_sub(before) / THREADS
}

#[test]
fn thread_with_33_contexts_takes_few_pages_for_them() {
    const CONTEXTS: usize = 33;
    /// The most that the records of the functions take.
    const RECORDS: usize = 18 * (4 << 10);
    // Huge pages would be resident as a whole.
    // SAFETY: takes numbers alone.
    unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, 1, 0, 0, 0) };
    assert!(tree(true));
    trunk();
    // The memory of these threads is used again.
    let bare = taken_by_a_thread(|| {});
    let taken = taken_by_a_thread(trunk);
    assert_eq!(snapshot().contexts().len(), CONTEXTS);
    assert!(
        taken <= bare + RECORDS + (32 << 10),
        "{taken} bytes, {bare} without calls"
    );
}
