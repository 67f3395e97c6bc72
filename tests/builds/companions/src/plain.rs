//! The part that only needs the standard library.

use std::hint::black_box;
use std::thread;

use tsc_runtime::{cycles, start, stop};

use crate::made;

const THREADS: u64 = 6;
const CALLS: u64 = 10_000;
const DEPTH: u64 = 30;

#[cycles]
fn leaf(value: u64) -> u64 {
    black_box(value.wrapping_mul(3))
}

#[cycles(name = "never inlined")]
#[inline(never)]
fn never_inlined(value: u64) -> u64 {
    leaf(value) + 1
}

#[cycles(name = "always inlined")]
#[inline(always)]
fn always_inlined(value: u64) -> u64 {
    black_box(value + 2)
}

#[cycles]
fn recursive(depth: u64) -> u64 {
    if depth == 0 {
        0
    } else {
        recursive(depth - 1) + 1
    }
}

#[cycles(name = "generic", per_type)]
fn generic<T: Default>() -> T {
    black_box(T::default())
}

#[cycles]
fn panics() {
    panic!("on purpose");
}

pub(crate) fn run() {
    let threads: Vec<_> = (0..THREADS).map(|_| thread::spawn(work)).collect();
    for thread in threads {
        thread.join().expect("a thread that only makes calls");
    }
    made::calls("leaf", THREADS * CALLS);
    made::calls("never inlined", THREADS * CALLS);
    made::calls("always inlined", THREADS * CALLS);
    made::calls("recursive", THREADS * (DEPTH + 1));
    made::calls("generic", 2 * THREADS);
    made::calls("section", THREADS);
    if cfg!(panic = "unwind") {
        std::panic::set_hook(Box::new(|_| {}));
        for _ in 0..10 {
            assert!(std::panic::catch_unwind(panics).is_err());
        }
        made::calls("panics", 10);
    } else {
        // This code never calls the function, but the compiler does not know that.
        let never = black_box(false);
        (0..u64::from(never)).for_each(|_| panics());
    }
}

fn work() {
    let section = start!("section");
    for value in 0..CALLS {
        never_inlined(value);
        always_inlined(value);
    }
    recursive(DEPTH);
    generic::<u64>();
    generic::<String>();
    stop!(section);
}
