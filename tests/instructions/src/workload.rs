//! The program that runs under callgrind. Only the functions named `counted_…` are counted.

use std::hint::black_box;

use tsc_runtime::cycles;

use crate::{rseq, scripted};

/// Calls of a hot function.
const CALLS: u64 = 20_000;

/// Callsites of the report, and the calls of each.
const CALLSITES: u64 = 256;
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

#[cycles(light)]
#[inline(never)]
fn light(value: u64) -> u64 {
    value
}

#[cycles]
#[inline(never)]
fn outer(value: u64) -> u64 {
    fenced(work(value))
}

#[inline(never)]
fn bare_outer(value: u64) -> u64 {
    bare(work(value))
}

/// So much that the outer call takes longer than what is taken out of it for the inner probe: less than nothing is recorded elsewhere.
#[inline(never)]
fn work(value: u64) -> u64 {
    (0..1000).fold(value, |value, _| black_box(value))
}

/// The compiler must know that writing to one slice changes neither the other nor where they are: it computes with vectors then.
#[cycles]
fn add(sums: &mut [u32], values: &[u32], factor: u32) {
    for at in 0..sums.len().min(values.len()) {
        sums[at] += values[at] * factor;
    }
}

#[inline(never)]
fn bare_add(sums: &mut [u32], values: &[u32], factor: u32) {
    for at in 0..sums.len().min(values.len()) {
        sums[at] += values[at] * factor;
    }
}

#[inline(never)]
fn looping(value: u64) -> u64 {
    let mut sums = [0; 256];
    add(&mut sums, &[3; 256], value as u32);
    u64::from(sums[255])
}

#[inline(never)]
fn bare_looping(value: u64) -> u64 {
    let mut sums = [0; 256];
    bare_add(&mut sums, &[3; 256], value as u32);
    u64::from(sums[255])
}

/// Runs the part of this name.
pub(crate) fn run(part: &str) {
    rseq::register();
    match part {
        "bare" => calls(bare),
        "fenced" => calls(fenced),
        "unfenced" => calls(unfenced),
        "light" => calls(light),
        "nested" => calls(outer),
        "bare nested" => calls(bare_outer),
        "loop" => calls(looping),
        "bare loop" => calls(bare_looping),
        "scripted" => calls(scripted::call_one),
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
    for number in 0..CALLSITES {
        let callsite = scripted::callsite(format!("module{}::c{}", number / 16, number % 16));
        (0..REPORTED_CALLS).for_each(|_| scripted::call(callsite));
    }
    counted_report();
}

/// How many of what is counted the part has.
pub(crate) fn count(part: &str) -> u64 {
    if part == "report" { CALLSITES } else { CALLS }
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
