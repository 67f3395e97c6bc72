//! Threads that take work from each other: a thread that waits for its own work runs work of another one. Also threads that end.

use std::hint::black_box;

use rayon::prelude::*;
use tsc_runtime::cycles;

use super::{ALONE, chains, check, expect, leaf};

#[cycles]
fn halves(leaves: u64) -> u64 {
    if leaves == 1 {
        return leaf();
    }
    let (one, other) = rayon::join(|| halves(leaves / 2), || halves(leaves / 2));
    one + other
}

#[cycles]
fn each(value: u64) -> u64 {
    leaf() + value
}

#[test]
fn counts_are_exact_whoever_runs_what() {
    let _alone = ALONE.lock();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build();
    let pool = pool.expect("threads can be started");
    let (chains, report) = chains(|| {
        pool.install(|| {
            halves(1024);
            (0..1000_u64).into_par_iter().map(each).sum::<u64>();
        });
    });
    let of = |name: &str| -> u64 {
        let ends = |chain: &&String| chain.rsplit(" > ").next() == Some(name);
        chains.keys().filter(ends).map(|chain| chains[chain]).sum()
    };
    assert_eq!((of("halves"), of("each"), of("leaf")), (2047, 1000, 2024));
    // The first function that a thread runs is a root. Work that a thread takes while it waits is a callee of the waiting function.
    for chain in chains.keys() {
        let outer: Vec<&str> = chain.split(" > ").collect();
        let callers = &outer[..outer.len() - 1];
        assert!(callers.len() <= 2 && !callers.contains(&"leaf"), "{chain}");
    }
    check(&report);
}

#[cycles]
fn late() {
    black_box(());
}

/// Dropped after the runtime's own state of the thread, because it is created before.
struct Late;

impl Drop for Late {
    fn drop(&mut self) {
        late();
    }
}

thread_local! {
    static LATE: Late = const { Late };
}

#[test]
fn call_from_a_late_destructor_is_a_root() {
    let _alone = ALONE.lock();
    let (chains, report) = chains(|| {
        std::thread::spawn(|| {
            LATE.with(|_| ());
            leaf();
        })
        .join()
        .unwrap();
    });
    expect(&chains, &[("late", 1), ("leaf", 1)]);
    check(&report);
}
