//! How a measurement runs: the first calls, the choice of the batch, and rounds until the work is constant or the time is up.

use std::iter;
use std::time::Instant;

use super::measurement::{Measurement, Plan};
use super::rounds::Run;
use super::verdict::LEAST_SAMPLES;
use super::work::{Calls, Work};
use crate::calibration::reference_chain;
use crate::instruments::bench::attach_thread;
use crate::instruments::bench::distribution::Distribution;
use crate::tsc::FencePolicy;

/// The batch is increased until a sample lasts at least this many ticks, and this many steps of the counter.
const SAMPLE_TICKS: u64 = 2000;
const SAMPLE_STEPS: u64 = 64;
/// The longest batch that is chosen.
const LONGEST_BATCH: usize = 4096;
/// The least number of rounds between two evaluations of the run.
const ROUNDS_PER_LOOK: usize = 64;
/// The number of calls before the first sample.
const WARM_UP_CALLS: usize = 64;
/// The first of them are timed one by one, to show the warm-up.
const TIMED_CALLS: usize = 8;
/// The number of empty calls that are timed after each of these.
const EMPTY_CALLS: usize = 3;

/// A run goes on until the standard error of the core cycles is at most this share of them, or this many. But for that it goes on only
/// until an eighth of the time limit, because the work itself may vary by more.
const CYCLES_PRECISION: f64 = 0.0006;
const CYCLES_KNOWN: f64 = 0.04;

/// Measures `work` minus `baseline`.
pub(super) fn run<P: FencePolicy>(
    mut work: impl Work,
    mut baseline: impl Work,
    plan: Plan,
) -> Measurement {
    attach_thread();
    let started = Instant::now();
    let first = first_calls::<P>(&mut work, &mut baseline, &plan, started);
    let usual = || batch_for::<P>(&mut work, &plan, started);
    let batch = plan.batch.unwrap_or_else(usual);
    let mut known = Calls::new(|| (), |()| reference_chain::forty_additions());
    let limit = plan.time_limit;
    let mut run = Run::new(plan, batch);
    let mut next_look = LEAST_SAMPLES;
    let mut measurement = loop {
        run.round::<P>(&mut work, &mut baseline, &mut known);
        let late = started.elapsed() >= limit;
        if !late && run.len() < next_look {
            continue;
        }
        // The longer the run, the rarer the evaluations; otherwise they would take most of the time.
        next_look = run.len() + ROUNDS_PER_LOOK.max(run.len() / 4);
        let measurement = run.evaluate();
        let is_known = || started.elapsed() >= limit / 8 || knows_cycles(&measurement);
        if late || measurement.is_constant() && is_known() {
            break measurement;
        }
    };
    measurement.begin_with(&first);
    measurement
}

/// Whether the core cycles are known as well as they should be. Where they cannot be known, nothing is missing.
fn knows_cycles(measurement: &Measurement) -> bool {
    match (measurement.core_cycles, measurement.std_error_core_cycles) {
        (Some(mean), Some(error)) => error <= (CYCLES_PRECISION * mean).max(CYCLES_KNOWN),
        _ => !reference_chain::AVAILABLE,
    }
}

/// Times each of the first calls alone. From each, the mean of the empty calls is subtracted, so that a call is off by less than a step.
fn first_calls<P: FencePolicy>(
    work: &mut impl Work,
    baseline: &mut impl Work,
    plan: &Plan,
    started: Instant,
) -> Vec<f64> {
    let mut calls = Vec::with_capacity(TIMED_CALLS);
    let mut empty = Vec::with_capacity(EMPTY_CALLS * TIMED_CALLS);
    for call in 0..WARM_UP_CALLS {
        let ticks = work.prepared_sample::<P>(1, plan.isolated);
        if call < TIMED_CALLS {
            calls.push(ticks as f64);
            let nothing = || baseline.prepared_sample::<P>(1, plan.isolated) as f64;
            empty.extend(iter::repeat_with(nothing).take(EMPTY_CALLS));
        }
        if started.elapsed() >= plan.time_limit / 4 {
            break;
        }
    }
    let empty = Distribution::new(&empty).centre(plan.step as f64 + 1.0);
    calls.iter_mut().for_each(|ticks| *ticks -= empty.mean);
    calls
}

/// How many calls make a sample long enough.
fn batch_for<P: FencePolicy>(work: &mut impl Work, plan: &Plan, started: Instant) -> usize {
    let enough = SAMPLE_TICKS.max(SAMPLE_STEPS * plan.step) as i64;
    let mut sample = |batch| work.prepared_sample::<P>(batch, plan.isolated);
    let mut is_too_short = |batch| (0..5).any(|_| sample(batch) < enough);
    let limit = plan.time_limit / 4;
    let mut batch = 1;
    while batch < LONGEST_BATCH && started.elapsed() < limit && is_too_short(batch) {
        batch *= 2;
    }
    batch
}
