//! The rounds of a measurement: baseline, work and reference chain side by side until the work is constant or the time is up.

use std::time::{Duration, Instant};

use super::distribution::Distribution;
use super::shadow;
use super::verdict::{self, Demand, LEAST_SAMPLES, Verdict, Why};
use super::work::Work;
use super::{Progress, arm, attach_thread, interruption_since};
use crate::interruption::Verdict as Interruption;
use crate::reference_chain::{self, LINKS_PER_BLOCK};
use crate::tsc::Pair;

/// Blocks of the reference chain's short run in a round; the long one has twice as many.
const REFERENCE_BLOCKS: u64 = 8;
/// A sample is batched until it lasts this many ticks, and this many of the counter's steps.
const SAMPLE_TICKS: u64 = 2000;
const SAMPLE_STEPS: u64 = 64;
/// The longest batch.
const LONGEST_BATCH: usize = 4096;
/// Rounds between two looks at the verdict.
const ROUNDS_PER_LOOK: usize = 64;
/// Consecutive rounds whose clock is taken to be one.
const ROUNDS_PER_CLOCK: usize = 16;
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
    /// Core cycles that the fences hide of the work.
    pub(super) shadow: f64,
}

/// One round, in ticks; the reference is the difference of its two lengths.
#[derive(Clone, Copy, Debug)]
struct Round {
    work: i64,
    baseline: i64,
    reference: i64,
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
    pub(super) interrupted: usize,
    /// Whether interruptions could be told at all.
    pub(super) told: bool,
    /// Ticks of the first calls, one by one; net of the reads.
    pub(super) first: Vec<f64>,
}

/// Runs `work` against `baseline`.
pub(super) fn run<P: Pair>(work: &mut impl Work, baseline: &mut impl Work, plan: Plan, name: &str) -> Outcome {
    attach_thread();
    let started = Instant::now();
    let first = first_calls::<P>(work, baseline, plan, started);
    let batch = plan.batch.unwrap_or_else(|| batch_for::<P>(work, plan, started)).clamp(1, LONGEST_BATCH);
    let mut run = Run { rounds: Vec::new(), interrupted: 0, told: false, batch, jitter: Jitter(0x9e37_79b9_7f4a_7c15) };
    let mut progress = Progress::new();
    let mut next_look = LEAST_SAMPLES;
    let mut outcome = loop {
        for _ in 0..ROUNDS_PER_LOOK {
            run.round::<P>(work, baseline, plan.isolated);
            if started.elapsed() >= plan.time_limit {
                break;
            }
        }
        let late = started.elapsed() >= plan.time_limit;
        if !late && run.rounds.len() < next_look {
            continue;
        }
        // Looks become rarer as the run becomes longer, or the looking would take the time.
        next_look = run.rounds.len() + run.rounds.len() / 4;
        let outcome = run.look(plan);
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
    format!("{median:.1} ticks, {} samples, {} interrupted", outcome.ticks.len(), outcome.interrupted)
}

/// The first calls, each timed alone.
fn first_calls<P: Pair>(work: &mut impl Work, baseline: &mut impl Work, plan: Plan, started: Instant) -> Vec<f64> {
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
fn batch_for<P: Pair>(work: &mut impl Work, plan: Plan, started: Instant) -> usize {
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

struct Run {
    rounds: Vec<Round>,
    interrupted: usize,
    told: bool,
    batch: usize,
    jitter: Jitter,
}

impl Run {
    /// Makes a round, and the mirror image of its predecessor, so that a clock that changes steadily changes nothing.
    fn round<P: Pair>(&mut self, work: &mut impl Work, baseline: &mut impl Work, isolated: bool) {
        work.prepare(self.batch);
        baseline.prepare(self.batch);
        let mirrored = self.rounds.len() % 2 == 1;
        let armed = arm();
        let before = reference_chain::additions(if mirrored { 2 } else { 1 } * REFERENCE_BLOCKS);
        self.jitter.spin();
        let (work, baseline) = if mirrored {
            let work = work.sample::<P>(self.batch, isolated);
            self.jitter.spin();
            (work, baseline.sample::<P>(self.batch, isolated))
        } else {
            let baseline = baseline.sample::<P>(self.batch, isolated);
            self.jitter.spin();
            (work.sample::<P>(self.batch, isolated), baseline)
        };
        let after = reference_chain::additions(if mirrored { 1 } else { 2 } * REFERENCE_BLOCKS);
        match interruption_since(armed) {
            Interruption::Interrupted => {
                self.interrupted += 1;
                self.told = true;
                return;
            }
            Interruption::Clean => self.told = true,
            Interruption::Unknown => {}
        }
        let reference = if mirrored { before - after } else { after - before };
        self.rounds.push(Round { work, baseline, reference });
    }

    fn look(&self, plan: Plan) -> Outcome {
        let step = plan.step as f64;
        let demand = Demand { precision: plan.precision, step: step / self.batch as f64 };
        let (mut ticks, baseline) = self.net(|ticks, _| ticks, 2.0 * step);
        let clocks = self.clocks();
        let clock = clocks.as_ref().map(|clocks| Distribution::new(clocks));
        let cycles = clocks.as_ref().zip(clock.as_ref()).map(|(clocks, clock)| {
            let greatest = clock.quantile(1.0);
            let (mut cycles, _) = self.net(|ticks, i| ticks * clocks[i / ROUNDS_PER_CLOCK], 2.0 * step * greatest);
            let demand = Demand { step: demand.step * greatest, ..demand };
            let hidden = shadow::correction(plan.shadow, Distribution::new(&cycles).centre(2.0 * demand.step).mean);
            cycles.iter_mut().for_each(|cycles| *cycles += hidden);
            ticks.iter_mut().for_each(|ticks| *ticks += hidden / clock.median());
            (Distribution::new(&cycles).centre(2.0 * demand.step), verdict::judge(&cycles, demand))
        });
        let in_ticks = verdict::judge(&ticks, demand);
        let in_cycles = cycles.as_ref().and_then(|(_, verdict)| verdict.as_ref().ok());
        // The core's clock may wander under constant work, and the work may wait for memory, which has a clock of its own: it is
        // constant if it is in either unit.
        let constant = in_cycles.or(in_ticks.as_ref().ok()).map(|(_, _, share)| *share);
        let verdict = match (constant, in_ticks) {
            _ if self.interrupted > self.rounds.len() => {
                let why = Why::Interrupted { clean: self.rounds.len(), interrupted: self.interrupted };
                Verdict::Unsettled { why }
            }
            (None, Err(why)) => Verdict::Unsettled { why },
            (share, _) => {
                let centre = Distribution::new(&ticks).centre(2.0 * demand.step);
                Verdict::Constant {
                    ticks: centre.mean,
                    core_cycles: cycles.as_ref().map(|(cycles, _)| cycles.mean),
                    plus_minus: centre.std_error,
                    share: share.unwrap_or(f64::NAN),
                    samples: ticks.len(),
                }
            }
        };
        Outcome {
            verdict,
            batch: self.batch,
            ticks,
            core_cycles: cycles.map(|(cycles, _)| (cycles.mean, cycles.std_error)),
            clock: clock.map(|clock| (clock.median(), clock.quantile(0.0), clock.quantile(1.0))),
            baseline,
            interrupted: self.interrupted,
            told: self.told,
            first: Vec::new(),
        }
    }

    /// Each round's work a call without the typical baseline, and that baseline, in the unit that `convert` gives for ticks of a
    /// round of that number.
    fn net(&self, convert: impl Fn(f64, usize) -> f64, floor: f64) -> (Vec<f64>, f64) {
        let converted = |get: fn(&Round) -> i64| -> Vec<f64> {
            self.rounds.iter().enumerate().map(|(i, round)| convert(get(round) as f64, i)).collect()
        };
        let baseline = Distribution::new(&converted(|round| round.baseline)).centre(floor).mean;
        let work = converted(|round| round.work);
        (work.iter().map(|work| (work - baseline) / self.batch as f64).collect(), baseline)
    }

    /// Core cycles per tick in each [`ROUNDS_PER_CLOCK`] rounds: the typical round's, for a torn one would spoil a sum.
    fn clocks(&self) -> Option<Vec<f64>> {
        if !reference_chain::AVAILABLE || self.rounds.len() < LEAST_SAMPLES {
            return None;
        }
        let cycles = (REFERENCE_BLOCKS * LINKS_PER_BLOCK) as f64;
        let clocks: Vec<f64> = self
            .rounds
            .chunks(ROUNDS_PER_CLOCK)
            .map(|rounds| {
                let ticks: Vec<f64> = rounds.iter().map(|round| round.reference as f64).collect();
                cycles / Distribution::new(&ticks).centre(0.0).mean
            })
            .collect();
        clocks.iter().all(|clock| clock.is_finite() && *clock > 0.0).then_some(clocks)
    }
}

/// A pseudo-random wait of up to 63 cycles, so that samples begin anywhere in the counter's step. Without it work of just the
/// right length keeps in step with a counter whose clock is a fraction of the core's, and its mean is off by up to a step.
struct Jitter(u64);

impl Jitter {
    #[inline]
    fn spin(&mut self) {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        for turn in 0..self.0 & 63 {
            std::hint::black_box(turn);
        }
    }
}
