//! What keeping the slowest calls costs functions whose calls are all long enough to be compared.
//!
//! `cargo run --release -p overhead --bin slowest`. Runs itself in turns with `TSC_SLOWEST=0`, 5 and 64, and compares the least times of a
//! call: other programs only make them longer.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::process::Command;
use std::time::{Duration, Instant};

use tsc_runtime::cycles;

const ROUNDS: usize = 15;
/// What is kept; the first one is what the others are compared with.
const KEPT: [&str; 3] = ["0", "5", "64"];

/// Turns of the work in a call, and calls in a batch.
const SHAPES: [(&str, u64, u32); 4] = [
    ("0.3 µs", 1_200, 20_000),
    ("3 µs", 12_000, 2_000),
    ("30 µs", 120_000, 200),
    ("5 ms", 20_000_000, 1),
];
const BATCHES: usize = 60;

#[cycles]
#[inline(never)]
fn work(turns: u64) -> u64 {
    (0..turns).fold(turns, |sum, turn| black_box(sum.wrapping_add(turn)))
}

/// Each call is longer than all before it, so each of them is kept.
#[cycles]
#[inline(never)]
fn growing(turns: u64) -> u64 {
    (0..turns).fold(turns, |sum, turn| black_box(sum.wrapping_add(turn)))
}

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("child") => child(),
        _ => compare(),
    }
}

/// Prints the least time of a call of each shape, in nanoseconds.
fn child() {
    for (name, turns, calls) in SHAPES {
        println!("{name}\t{}", least(calls, || work(turns)));
    }
    let mut turns = 1_000;
    let grow = || {
        turns += 5;
        growing(turns)
    };
    println!("each the longest yet\t{}", least(1_000, grow));
}

fn least(calls: u32, mut call: impl FnMut() -> u64) -> f64 {
    let batch = |_| {
        let begin = Instant::now();
        for _ in 0..calls {
            black_box(call());
        }
        begin.elapsed()
    };
    let least = (0..BATCHES).map(batch).min().unwrap_or(Duration::MAX);
    least.as_secs_f64() * 1e9 / f64::from(calls)
}

fn compare() {
    let program = std::env::current_exe().expect("this program has a path");
    let mut times: BTreeMap<String, [f64; KEPT.len()]> = BTreeMap::new();
    for _ in 0..ROUNDS {
        for (at, kept) in KEPT.into_iter().enumerate() {
            let mut child = Command::new(&program);
            child
                .arg("child")
                .env("TSC_SLOWEST", kept)
                .env("TSC_REPORT", "off");
            let output = child.output().expect("this program can be started");
            for line in String::from_utf8_lossy(&output.stdout).lines() {
                let (name, time) = line.split_once('\t').expect("a name and a time");
                let least = &mut times
                    .entry(name.to_owned())
                    .or_insert([f64::MAX; KEPT.len()])[at];
                *least = least.min(time.parse().expect("a number"));
            }
        }
    }
    println!("| calls of some | ns, none kept | 5 kept | 64 kept |\n|---|---|---|---|");
    for (name, [none, five, most]) in times {
        let more = |time: f64| format!("{:+.2} %", (time / none - 1.0) * 100.0);
        println!("| {name} | {none:.1} | {} | {} |", more(five), more(most));
    }
}
