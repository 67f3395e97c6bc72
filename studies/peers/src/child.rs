//! The process of a contestant: it runs one scenario once, and prints its figures as lines `@ key value`.

mod burst;
mod recursion;
mod sustained;
mod threads;

use std::env;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use crate::pair::{Kept, Standard};
use crate::{Contestant, Functions, clock, work};

/// Calls in a stretch: the second argument. A thousand, but for contestants so slow that nobody would wait for them.
static STRETCH: AtomicU64 = AtomicU64::new(0);

/// The fence floor, measured in every process beside what is measured there.
const FLOOR: Functions = Kept::<Standard>::FUNCTIONS;

/// No annotation at all.
const BARE: Functions = Functions {
    empty: bare_empty,
    chain: bare_chain,
    fib: bare_fib,
};

/// What every contestant's `main` calls.
pub fn run<C: Contestant>(functions: &Functions) {
    clock::start();
    let scenario = env::args().nth(1).unwrap_or_default();
    let calls = env::args().nth(2).and_then(|calls| calls.parse().ok());
    STRETCH.store(calls.unwrap_or(1000), Relaxed);
    match scenario.as_str() {
        "burst" => burst::run::<C>(functions),
        "sustained" => sustained::run::<C>(functions),
        "threads" => threads::run::<C>(functions),
        "recursion" => recursion::run::<C>(functions),
        _ => panic!("a contestant is run by the command `peers`, with a scenario"),
    }
}

fn stretch() -> u64 {
    STRETCH.load(Relaxed)
}

fn print(key: &str, value: Option<f64>) {
    if let Some(value) = value {
        println!("@ {key} {value}");
    }
}

/// One stretch, each call on the one before's result. Not inlined, nor is the function known to it, so that all contestants run
/// the same loop.
#[inline(never)]
fn call(function: fn(u64) -> u64, calls: u64) {
    let function = black_box(function);
    let mut value = black_box(7);
    for _ in 0..calls {
        value = function(value);
    }
    black_box(value);
}

/// ns a call.
fn time(function: fn(u64) -> u64) -> f64 {
    let began = Instant::now();
    call(function, stretch());
    began.elapsed().as_nanos() as f64 / stretch() as f64
}

/// [`time`] within a stretch of the contestant: what it does at the stretch's ends is not in it.
fn time_in<C: Contestant>(function: fn(u64) -> u64) -> f64 {
    let mut ns = 0.0;
    C::stretch(&mut || ns = time(function));
    ns
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[inline(never)]
fn bare_empty(value: u64) -> u64 {
    value
}

#[inline(never)]
fn bare_chain(value: u64) -> u64 {
    work::chain(value)
}

#[inline(never)]
fn bare_fib(value: u64) -> u64 {
    if value < 2 {
        value
    } else {
        bare_fib(value - 1) + bare_fib(value - 2)
    }
}
