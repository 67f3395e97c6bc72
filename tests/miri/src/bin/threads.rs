//! `MIRIFLAGS=-Zmiri-many-seeds=0..4 cargo +nightly miri run --manifest-path tests/miri/Cargo.toml --bin threads`: threads that call and end
//! while another one takes the figures. With each seed Miri switches threads at other places, and lets other loads return values that
//! are no longer the latest, as relaxed orderings allow.

use std::thread;

use tsc_runtime::{Report, cycles, take};

#[cycles]
fn leaf(value: u64) -> u64 {
    value.wrapping_mul(3)
}

/// More than a record buffers.
const CALLS: u64 = 70;
const THREADS: u64 = 2;

fn calls(report: &Report) -> u64 {
    report.callsite("leaf").map_or(0, |row| row.calls())
}

fn main() {
    leaf(1);
    let threads = [(); THREADS as usize].map(|()| {
        thread::spawn(|| {
            (0..CALLS).for_each(|value| _ = leaf(value));
        })
    });
    let taken = calls(&take());
    for thread in threads {
        thread.join().unwrap();
    }
    let made = 1 + THREADS * CALLS;
    assert!((1..=made).contains(&taken), "{taken}");
    assert_eq!(taken + calls(&take()), made);
    println!("every call is accounted for");
}
