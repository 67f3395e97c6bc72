//! `MIRIFLAGS=-Zmiri-many-seeds=0..4 cargo +nightly miri run --manifest-path tests/miri/Cargo.toml --bin threads`: threads that call and end
//! while another one takes the figures. With each seed Miri switches threads at other places, and lets other loads return values that
//! are no longer the latest, as relaxed orderings allow.

use std::thread;

use tsc_runtime::{Report, cycles, take};

#[cycles]
fn leaf(value: u64) -> u64 {
    value.wrapping_mul(3)
}

#[cycles(light)]
fn light_leaf(value: u64) -> u64 {
    value.wrapping_mul(3)
}

/// Called first by other threads, which need more rows then.
#[cycles(light, per_type)]
fn light_generic<const NUMBER: usize>() {}

/// More than a record buffers.
const CALLS: u64 = 70;
const THREADS: u64 = 2;

fn calls(report: &Report) -> [u64; 2] {
    ["leaf", "light_leaf"].map(|name| report.callsite(name).map_or(0, |row| row.calls()))
}

macro_rules! call_all {
    ($($number:literal)*) => { $(light_generic::<$number>();)* };
}

fn main() {
    leaf(1);
    light_leaf(1);
    let threads = [(); THREADS as usize].map(|()| {
        thread::spawn(|| {
            (0..CALLS).for_each(|value| _ = leaf(value) + light_leaf(value));
            call_all!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
            light_leaf(1);
        })
    });
    let taken = calls(&take());
    for thread in threads {
        thread.join().unwrap();
    }
    let made = [1 + THREADS * CALLS, 1 + THREADS * (CALLS + 1)];
    let rest = calls(&take());
    for index in 0..2 {
        assert!((1..=made[index]).contains(&taken[index]), "{taken:?}");
        assert_eq!(taken[index] + rest[index], made[index]);
    }
    println!("every call is accounted for");
}
