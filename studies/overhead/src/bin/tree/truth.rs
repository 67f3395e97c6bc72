//! A program with a known call tree: a fixed number of calls, and a fixed amount of work in each. The time of each context on the CPU is
//! compared with the time of that work alone, in the same thread and in turns with it. Both are sums, so interrupts and the hypervisor are
//! in both.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::thread;

use tsc_runtime::tsc::{FencePolicy, Lfence, elapsed};
use tsc_runtime::{Report, cycles};

#[cfg(target_os = "linux")]
use overhead::kernel::switches;

/// Turns of the chain in a piece of work, which takes some hundred microseconds.
const TURNS: u32 = 100_000;
/// Calls of the program. They alternate with as many pieces of work that are timed alone.
const ROUNDS: u64 = 100;

/// Multiplications of which each needs the result of the one before, so that the code around them does not change their time. The value stays
/// in a register: some cores forward a value through memory in five cycles or in none, by turns of seconds.
#[inline(never)]
fn piece(mut value: u64) -> u64 {
    for turn in 0..TURNS {
        value = (value ^ u64::from(turn)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    value
}

#[cycles]
fn leaf(value: u64) -> u64 {
    piece(value)
}

#[cycles]
fn three(value: u64) -> u64 {
    (0..3).fold(piece(value), |value, _| leaf(value))
}

#[cycles]
fn recursive(depth: u64, value: u64) -> u64 {
    let value = piece(value);
    if depth == 0 {
        leaf(value)
    } else {
        recursive(depth - 1, value)
    }
}

#[cycles]
fn even(depth: u64, value: u64) -> u64 {
    let value = piece(value);
    if depth == 0 {
        value
    } else {
        odd(depth - 1, value)
    }
}

#[cycles]
fn odd(depth: u64, value: u64) -> u64 {
    let value = piece(value);
    if depth == 0 {
        value
    } else {
        even(depth - 1, value)
    }
}

#[cycles]
fn root(value: u64) -> u64 {
    even(5, recursive(3, three(leaf(value))))
}

/// For each context, by its path: the pieces of work in its own code in one call of `root`.
pub(crate) const EXPECTED: [(&str, u64); 7] = [
    ("root;leaf", 1),
    ("root;three", 1),
    ("root;three;leaf", 3),
    ("root;recursive", 4),
    ("root;recursive;leaf", 1),
    ("root;even", 3),
    ("root;even;odd", 3),
];

/// Runs the program on another thread and prints, for each context, its self ticks on the CPU divided by the time of its work.
pub(crate) fn measure() {
    let alone = thread::spawn(rounds)
        .join()
        .expect("the thread does not panic");
    let report = tsc_runtime::snapshot();
    for (path, pieces) in EXPECTED {
        let own = self_ticks(&report, path).unwrap_or(f64::NAN) / ROUNDS as f64;
        println!("{}", own / (pieces as f64 * alone));
    }
}

/// Runs the program and prints a line for each function that works: its name, and the ticks of its work.
pub(crate) fn print_work() {
    let alone = thread::spawn(rounds)
        .join()
        .expect("the thread does not panic");
    for (name, pieces) in pieces_by_function() {
        println!("{name} {}", (pieces * ROUNDS) as f64 * alone);
    }
}

fn pieces_by_function() -> BTreeMap<&'static str, u64> {
    let mut of = BTreeMap::new();
    for (path, pieces) in EXPECTED {
        let name = path.rsplit(';').next().unwrap_or(path);
        *of.entry(name).or_default() += pieces;
    }
    of
}

/// The mean ticks of a piece of work by itself. It is a mean of rounds, because a core is slower at times, also while others want it: if all of
/// a round were left out because a piece in it was interrupted, such times would be missing.
fn rounds() -> f64 {
    let pieces: u64 = EXPECTED.iter().map(|(_, pieces)| pieces).sum();
    let mut rounds = Vec::new();
    for round in 0..ROUNDS {
        black_box(root(black_box(round)));
        let alone: Vec<f64> = (0..pieces).filter_map(undisturbed).collect();
        if !alone.is_empty() {
            rounds.push(mean(&alone));
        }
    }
    mean(&rounds)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The ticks of a piece, if the thread stayed on its CPU.
fn undisturbed(value: u64) -> Option<f64> {
    let before = switches();
    let start = Lfence::start();
    black_box(piece(black_box(value)));
    let ticks = elapsed(start, Lfence::stop());
    (switches() == before).then_some(ticks as f64)
}

/// On systems other than Linux, interrupted calls are not detected either, so none is left out.
#[cfg(not(target_os = "linux"))]
fn switches() -> i64 {
    0
}

/// The self ticks of the context with this path of functions.
fn self_ticks(report: &Report, path: &str) -> Option<f64> {
    let contexts = report.contexts();
    let mut at = None;
    for name in path.split(';') {
        at = Some(contexts.iter().position(|context| {
            context.parent() == at.map(|at: usize| at as u64)
                && report.name_of_context(context) == name
        })?);
    }
    Some(contexts[at?].self_ticks())
}
