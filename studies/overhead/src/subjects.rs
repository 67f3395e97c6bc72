//! The functions that are timed. Each does nothing, between different kinds of reads.

use std::hint::black_box;

use tsc_runtime::__private::result;
use tsc_runtime::cycles;
use tsc_runtime::tsc::{FencePolicy, Lfence, Rdtscp, Ticks, Unfenced, elapsed};

/// No reads.
#[inline(never)]
pub(crate) fn bare(value: u64) -> u64 {
    result(value)
}

/// Reads of one kind that record nothing, around the same body.
#[inline(always)]
fn pair<P: FencePolicy>(value: u64) -> u64 {
    let start = P::start();
    let value = result(value);
    black_box(elapsed(start, P::stop()));
    value
}

/// `lfence; rdtsc; lfence` … `rdtscp; lfence`: the pair that every other figure is a ratio to.
#[inline(never)]
pub(crate) fn standard_pair(value: u64) -> u64 {
    pair::<Rdtscp>(value)
}

/// `lfence; rdtsc; lfence` … `lfence; rdtsc`.
#[inline(never)]
pub(crate) fn lfence_pair(value: u64) -> u64 {
    pair::<Lfence>(value)
}

/// `rdtsc` … `rdtsc`.
#[inline(never)]
pub(crate) fn rdtsc_pair(value: u64) -> u64 {
    pair::<Unfenced>(value)
}

/// The default.
#[cycles]
#[inline(never)]
pub(crate) fn annotated(value: u64) -> u64 {
    value
}

/// Unfenced.
#[cycles(fence = "none")]
#[inline(never)]
pub(crate) fn annotated_none(value: u64) -> u64 {
    value
}

/// Ticks per call, over `calls` calls one after the other.
pub(crate) fn ticks_per_call(function: fn(u64) -> u64, calls: u32) -> f64 {
    let function = black_box(function);
    let start: Ticks = Lfence::start();
    let mut value = 1;
    for _ in 0..calls {
        value = function(value);
    }
    black_box(value);
    elapsed(start, Lfence::stop()) as f64 / f64::from(calls)
}
