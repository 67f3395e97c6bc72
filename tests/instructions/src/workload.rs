//! What runs under callgrind. Only what happens inside the functions named `counted_…` is counted.

use std::hint::black_box;

use tsc_runtime::cycles;

use crate::rseq;

/// Calls of a hot function.
const CALLS: u64 = 20_000;

/// Calls of each of the report's functions.
const REPORTED_CALLS: u64 = 20;

#[inline(never)]
fn bare(value: u64) -> u64 {
    value
}

#[cycles]
#[inline(never)]
fn fenced(value: u64) -> u64 {
    value
}

#[cycles(fence = "none")]
#[inline(never)]
fn unfenced(value: u64) -> u64 {
    value
}

#[cycles]
#[inline(never)]
fn outer(value: u64) -> u64 {
    fenced(value)
}

/// Callsites from one definition: sixteen for every name.
macro_rules! callsites {
    ($($name:ident)*) => {
        $(mod $name {
            callsites!(@ c0 c1 c2 c3 c4 c5 c6 c7 c8 c9 c10 c11 c12 c13 c14 c15);
        })*

        const CALLSITES: &[&[fn(u64) -> u64]] = &[$($name::CALLSITES),*];
    };
    (@ $($name:ident)*) => {
        $(
            #[tsc_runtime::cycles]
            #[inline(never)]
            fn $name(value: u64) -> u64 {
                value
            }
        )*

        pub(super) const CALLSITES: &[fn(u64) -> u64] = &[$($name),*];
    };
}

callsites!(m0 m1 m2 m3 m4 m5 m6 m7 m8 m9 m10 m11 m12 m13 m14 m15);

/// Runs the part of this name.
pub(crate) fn run(part: &str) {
    rseq::register();
    match part {
        "bare" => calls(bare),
        "fenced" => calls(fenced),
        "unfenced" => calls(unfenced),
        "nested" => calls(outer),
        "report" => report(),
        _ => panic!("no part is named {part}"),
    }
}

fn calls(function: fn(u64) -> u64) {
    // The first calls register, calibrate and make what the later ones find.
    call(function, CALLS);
    counted_calls(function);
    let report = tsc_runtime::snapshot();
    let unknown: u64 = report
        .callsites()
        .iter()
        .map(|callsite| callsite.unknown())
        .sum();
    assert_eq!(
        unknown, 0,
        "not the hot path was counted, but the one for interruptions that cannot be told"
    );
}

fn report() {
    CALLSITES
        .iter()
        .flat_map(|some| *some)
        .for_each(|&function| call(function, REPORTED_CALLS));
    counted_report();
}

/// How many of what is counted the part has.
pub(crate) fn count(part: &str) -> u64 {
    if part == "report" {
        CALLSITES.iter().map(|some| some.len() as u64).sum()
    } else {
        CALLS
    }
}

fn call(function: fn(u64) -> u64, calls: u64) {
    let function = black_box(function);
    let mut value = 7;
    for _ in 0..calls {
        value = function(value);
    }
    black_box(value);
}

#[unsafe(no_mangle)]
#[inline(never)]
fn counted_calls(function: fn(u64) -> u64) {
    call(function, CALLS);
}

#[unsafe(no_mangle)]
#[inline(never)]
fn counted_report() {
    black_box(tsc_runtime::snapshot().to_string());
}
