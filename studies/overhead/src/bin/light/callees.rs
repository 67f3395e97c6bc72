//! A timed function that calls a light one a hundred times, and the same without the light probe.

use std::hint::black_box;

use tsc_runtime::{cycles, reset, snapshot};

use crate::row;
use overhead::table::quartiles;
use overhead::target::print;

const CALLEES: u64 = 100;
const CALLS: u32 = 1000;
const ROUNDS: usize = 41;

/// About 20 ns of work: steps of four cycles, one after the other, and twice as many that do not depend on them.
fn steps(value: u64) -> u64 {
    let step = |value: u64| value.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(7);
    let mut values = [value, value ^ 1, value ^ 2];
    for _ in 0..20 {
        values = values.map(|value| black_box(step(value)));
    }
    values[0] ^ values[1] ^ values[2]
}

#[cycles(light)]
#[inline(never)]
fn light(value: u64) -> u64 {
    steps(black_box(value))
}

#[inline(never)]
fn bare(value: u64) -> u64 {
    steps(black_box(value))
}

#[cycles(name = "calls light functions")]
#[inline(never)]
fn calls_light(value: u64) -> u64 {
    (0..CALLEES).fold(value, |value, _| light(value))
}

#[cycles(name = "calls bare functions")]
#[inline(never)]
fn calls_bare(value: u64) -> u64 {
    (0..CALLEES).fold(value, |value, _| bare(value))
}

pub(crate) fn run() {
    let mut errors = Vec::new();
    let mut ns = 0.0;
    for _ in 0..ROUNDS {
        reset();
        for call in 0..CALLS {
            black_box(calls_light(call.into()));
            black_box(calls_bare(call.into()));
        }
        let report = snapshot();
        let mean = |name| row(&report, name).mean_ticks().unwrap_or(f64::NAN);
        let (with, without) = (mean("calls light functions"), mean("calls bare functions"));
        errors.push(100.0 * (with / without - 1.0));
        ns = 1e9 * without / CALLEES as f64 / report.clock().hz().unwrap_or(f64::NAN);
    }
    let [low, middle, high] = quartiles(errors);
    print(
        &format!("mean of a timed function with 100 light callees of {ns:.0} ns, error"),
        "≤ 5 %",
        format!("{middle:+.1} % (quartiles {low:+.1} to {high:+.1} %)"),
        middle.abs() <= 5.0,
    );
}
