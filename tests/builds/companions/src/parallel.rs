//! rayon's threads, which never end, and crossbeam's, which end with a scope.

use std::hint::black_box;

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use tsc_runtime::cycles;

use crate::made;

const ELEMENTS: u64 = 200_000;
const N: u64 = 18;
const THREADS: u64 = 8;

#[cycles]
fn element(value: u64) -> u64 {
    black_box(value ^ 5)
}

/// rayon decides which thread runs the second half, and whether the thread runs another task in between.
#[cycles]
fn stolen(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (one, other) = rayon::join(|| stolen(n - 1), || stolen(n - 2));
    one + other
}

#[cycles]
fn scoped(value: &mut u64) {
    *value += 1;
}

pub(crate) fn run() {
    let sum: u64 = (0..ELEMENTS).into_par_iter().map(element).sum();
    assert_eq!(sum, (0..ELEMENTS).map(|value| value ^ 5).sum::<u64>());
    made::calls("element", ELEMENTS);

    assert_eq!(stolen(N), 2584);
    // The recursion for fib(n) makes 2 fib(n + 1) - 1 calls.
    made::calls("stolen", 2 * 4181 - 1);

    let mut values = vec![0; THREADS as usize];
    crossbeam_utils::thread::scope(|scope| {
        for value in &mut values {
            scope.spawn(|_| (0..1000).for_each(|_| scoped(value)));
        }
    })
    .expect("no thread panics");
    assert!(values.iter().all(|&value| value == 1000));
    made::calls("scoped", THREADS * 1000);
}
