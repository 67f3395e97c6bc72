//! The course of a measurement: first calls, batch, and rounds until the work is constant or the time is up.

use std::time::{Duration, Instant};

use super::attach_thread;
use super::rounds::Run;
use super::verdict::{LEAST_SAMPLES, Verdict};
use super::work::{Calls, Work};
use crate::calibration::reference_chain;
use crate::instruments::bench::distribution::Distribution;
use crate::instruments::bench::progress::Progress;
use crate::tsc::FencePolicy;

/// A sample is batched until it lasts this many ticks, and this many of the counter's steps.
const SAMPLE_TICKS: u64 = 2000;
const SAMPLE_STEPS: u64 = 64;
/// The longest batch.
const LONGEST_BATCH: usize = 4096;
/// Rounds between two looks at the verdict.
const ROUNDS_PER_LOOK: usize = 64;
/// Calls timed one by one before everything else, to show the warm-up.
pub(super) const WARM_UP_CALLS: usize = 8;

/// What a run is to be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    pub(super) precision: f64,
    pub(super) time_limit: Duration,
    pub(super) warm_up: usize,
    pub(super) batch: Option<usize>,
    pub(super) isolated: bool,
    pub(super) step: u64,
    /// Whether the baseline is an empty call between fences, which has a cycle that work does not have.
    pub(super) shadowed: bool,
}

/// What the rounds gave.
pub(super) struct Outcome {
    pub(super) verdict: Verdict,
    pub(super) batch: usize,
    /// Net ticks a call, in the order of the run.
    pub(super) ticks: Vec<f64>,
    /// Net core cycles a call, with their standard error.
    pub(super) core_cycles: Option<(f64, f64)>,
    /// Core cycles per tick: mean, least and greatest of the run.
    pub(super) clock: Option<(f64, f64, f64)>,
    /// Ticks of a whole sample of the baseline.
    pub(super) baseline: f64,
    /// The standard error that its subtraction adds to a call's ticks.
    pub(super) baseline_error: f64,
    pub(super) interrupted: usize,
    /// Whether interruptions could be detected at all.
    pub(super) detected: bool,
    /// Ticks of the first calls, one by one; net of the reads.
    pub(super) first: Vec<f64>,
}

/// Runs `work` against `baseline`.
pub(super) fn run<P: FencePolicy>(
    work: &mut impl Work,
    baseline: &mut impl Work,
    plan: Plan,
    name: &str,
) -> Outcome {
    attach_thread();
    let started = Instant::now();
    let first = first_calls::<P>(work, baseline, plan, started);
    let batch = plan
        .batch
        .unwrap_or_else(|| batch_for::<P>(work, plan, started))
        .clamp(1, LONGEST_BATCH);
    let mut known = Calls::new(reference_chain::forty_additions);
    let mut run = Run::new(batch);
    let mut progress = Progress::new();
    let mut next_look = LEAST_SAMPLES;
    let mut outcome = loop {
        for _ in 0..ROUNDS_PER_LOOK {
            run.round::<P>(work, baseline, &mut known, plan);
            if started.elapsed() >= plan.time_limit {
                break;
            }
        }
        let late = started.elapsed() >= plan.time_limit;
        if !late && run.len() < next_look {
            continue;
        }
        // Looks become rarer as the run becomes longer, or the looking would take the time.
        next_look = run.len() + run.len() / 4;
        let outcome = run.evaluate(plan);
        progress.show(|| format!("{name}: {}", brief(&outcome)));
        if late || matches!(outcome.verdict, Verdict::Constant { .. }) {
            break outcome;
        }
    };
    progress.clear();
    outcome.first = first;
    outcome
}

fn brief(outcome: &Outcome) -> String {
    let median = Distribution::new(&outcome.ticks).median();
    format!(
        "{median:.1} ticks, {} samples, {} interrupted",
        outcome.ticks.len(),
        outcome.interrupted
    )
}

/// The first calls, each timed alone.
fn first_calls<P: FencePolicy>(
    work: &mut impl Work,
    baseline: &mut impl Work,
    plan: Plan,
    started: Instant,
) -> Vec<f64> {
    let mut calls = Vec::with_capacity(WARM_UP_CALLS);
    for _ in 0..WARM_UP_CALLS.max(1) {
        work.prepare(1);
        let ticks = work.sample::<P>(1, plan.isolated);
        let empty = (0..3)
            .map(|_| {
                baseline.prepare(1);
                baseline.sample::<P>(1, plan.isolated)
            })
            .min();
        calls.push((ticks - empty.unwrap_or(0)) as f64);
        if started.elapsed() >= plan.time_limit / 4 {
            return calls;
        }
    }
    for _ in WARM_UP_CALLS..plan.warm_up {
        work.prepare(1);
        work.sample::<P>(1, plan.isolated);
        if started.elapsed() >= plan.time_limit / 4 {
            break;
        }
    }
    calls
}

/// The calls that make a sample long enough.
fn batch_for<P: FencePolicy>(work: &mut impl Work, plan: Plan, started: Instant) -> usize {
    let enough = SAMPLE_TICKS.max(SAMPLE_STEPS * plan.step) as i64;
    let mut batch = 1;
    while batch < LONGEST_BATCH && started.elapsed() < plan.time_limit / 4 {
        let shortest = (0..5)
            .map(|_| {
                work.prepare(batch);
                work.sample::<P>(batch, plan.isolated)
            })
            .min();
        if shortest.is_none_or(|ticks| ticks >= enough) {
            break;
        }
        batch *= 2;
    }
    batch
}
