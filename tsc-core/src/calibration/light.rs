//! Measures what a light call costs: at the first one, sometimes at a tick of the clock, and for every report.
//!
//! The least of these measurements is used, because what disturbs one of them makes it longer. Two are not enough for that: where another virtual
//! machine uses the other thread of the core, the cost doubles for tens of milliseconds (EPYC, Zen 1; `studies/transparency/RESULTS.md`), and a
//! program's first and last moment may both lie in such a time.
//!
//! A measurement neither allocates nor takes a lock, because a tick may find the thread in a signal handler or in the allocator.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use once_cell::race::OnceRef;

use super::measurements::per_call;
use super::statistics::median_of_sorted;
use crate::record::callsite::EmptyLightCalls;
use crate::record::light::{self, Row};
use crate::record::thread;

/// The number of rounds in a measurement, and of calls in each loop of a round: more where the counter may be so slow that a short loop takes
/// only some of its steps.
const ROUNDS: usize = if cfg!(miri) { 1 } else { 9 };
const CALLS: u32 = match cfg!(any(target_arch = "x86_64", target_arch = "x86")) {
    _ if cfg!(miri) => 8,
    true => 128,
    false => 512,
};

/// Set before the cost is measured for the first time.
static EMPTY_CALLS: OnceRef<'static, EmptyLightCalls> = OnceRef::new();

/// The least cost that was measured, as the bits of an `f64`: those of numbers that are not negative are in the same order as the numbers.
static LEAST: AtomicU64 = AtomicU64::new(f64::INFINITY.to_bits());

/// Measures the cost, unless it has been measured.
pub(crate) fn calibrate(empty_calls: &'static EmptyLightCalls) {
    if of_a_call().is_none() {
        // Another thread may have set the same.
        let _ = EMPTY_CALLS.set(empty_calls);
        measure_again();
    }
}

/// Measures the cost, if the program has light probes. Not inlined, so that a probe that finds a tick needs no room on the stack for it.
#[inline(never)]
pub(crate) fn measure_again() {
    if let Some(empty_calls) = EMPTY_CALLS.get() {
        // For a report, which is not in the cold path. No check gives this time to a function.
        let _busy = thread::this().enter_cold_path();
        LEAST.fetch_min(measure(empty_calls).to_bits(), Relaxed);
    }
}

/// The ticks that a light call costs its program more than a call without the probe. `None` if there are no light probes.
pub(crate) fn of_a_call() -> Option<f64> {
    let least = f64::from_bits(LEAST.load(Relaxed));
    least.is_finite().then_some(least)
}

/// The ticks that so many light calls cost.
pub(crate) fn of_calls(calls: i64) -> i64 {
    (calls as f64 * of_a_call().unwrap_or(0.0)).round() as i64
}

fn measure(empty_calls: &EmptyLightCalls) -> f64 {
    let rows = [const { Row::new() }; 2];
    let loops = [empty_calls.in_memory, empty_calls.in_register];
    let mut rounds = [[0.0; 2]; ROUNDS];
    light::this().with_rows(&rows, || rounds.fill_with(|| loops.map(difference)));
    cost([0, 1].map(|place| {
        let mut costs = rounds.map(|round| round[place]);
        costs.sort_unstable_by(f64::total_cmp);
        median_of_sorted(&costs).unwrap_or(0.0).max(0.0)
    }))
}

fn difference([annotated, bare]: [fn(u32); 2]) -> f64 {
    per_call(annotated, CALLS) - per_call(bare, CALLS)
}

/// Stores and loads compete with a probe as they do in programs. But if each load waits for the store before it, the probe runs in that time,
/// and seems to cost nothing: so in a program with frame pointers (0.0 ticks in place of 3.0; EPYC, Zen 4), where the CPU does not recognise that
/// both are of the same place.
fn cost([in_memory, in_register]: [f64; 2]) -> f64 {
    if in_memory < in_register / 2.0 {
        in_register
    } else {
        in_memory
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probe_that_is_hidden_by_loads_is_measured_without_them() {
        assert_eq!(cost([3.0, 3.5]), 3.0);
        assert_eq!(cost([0.0, 2.3]), 2.3);
        assert_eq!(cost([0.0, 0.0]), 0.0);
    }
}
