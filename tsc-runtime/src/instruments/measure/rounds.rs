//! The rounds of a measurement, each with the baseline, the work and the reference chain, and their evaluation.

use super::engine::{Outcome, Plan};
use super::fence_hiding;
use super::verdict::{self, LEAST_SAMPLES, Tolerance, UnsettledReason, Verdict};
use super::work::Work;
use super::{arm, interruption_since};
use crate::calibration::reference_chain::{self, LINKS_PER_BLOCK};
use crate::instruments::bench::distribution::{Centre, Distribution};
use crate::instruments::bench::random::Random;
use crate::interruption::Interruption;
use crate::tsc::FencePolicy;

/// The blocks of the reference chain's short run in a round. The long run has twice as many.
const REFERENCE_BLOCKS: u64 = 8;
/// The number of consecutive rounds during which the core clock is taken to be the same.
const ROUNDS_PER_CLOCK: usize = 16;

/// The ticks of one round. `reference` is the difference between the long and the short run of the reference chain.
#[derive(Clone, Copy, Debug)]
struct Round {
    work: i64,
    baseline: i64,
    /// Calls of the chain of known length. 0 if the round does not contain it.
    known: i64,
    reference: i64,
}

/// The rounds so far.
pub(super) struct Run {
    rounds: Vec<Round>,
    interrupted: usize,
    detected: bool,
    batch: usize,
    jitter: Random,
}

impl Run {
    pub(super) fn new(batch: usize) -> Self {
        Self {
            rounds: Vec::new(),
            interrupted: 0,
            detected: false,
            batch,
            jitter: Random::new(0x9e37_79b9_7f4a_7c15),
        }
    }

    /// The number of rounds without a known interruption.
    pub(super) fn len(&self) -> usize {
        self.rounds.len()
    }

    /// Makes a round, in the reverse order of the previous one, so that a steady change of the core's clock cancels out.
    pub(super) fn round<P: FencePolicy>(
        &mut self,
        work: &mut impl Work,
        baseline: &mut impl Work,
        known: &mut impl Work,
        plan: Plan,
    ) {
        work.prepare(self.batch);
        baseline.prepare(self.batch);
        known.prepare(self.batch);
        let mirrored = self.rounds.len() % 2 == 1;
        let mut ticks = [0; 3];
        let armed = arm();
        let before = reference_chain::additions(if mirrored { 2 } else { 1 } * REFERENCE_BLOCKS);
        for i in 0..3 {
            let which = if mirrored { 2 - i } else { i };
            self.jitter.wait();
            ticks[which] = match which {
                0 => baseline.sample::<P>(self.batch, plan.isolated),
                1 => work.sample::<P>(self.batch, plan.isolated),
                _ if plan.baseline_is_empty => known.sample::<P>(self.batch, plan.isolated),
                _ => 0,
            };
        }
        let after = reference_chain::additions(if mirrored { 1 } else { 2 } * REFERENCE_BLOCKS);
        match interruption_since(armed) {
            Interruption::Interrupted => {
                self.interrupted += 1;
                self.detected = true;
                return;
            }
            Interruption::Clean => self.detected = true,
            Interruption::Unknown => {}
        }
        let reference = if mirrored {
            before - after
        } else {
            after - before
        };
        let [baseline, work, known] = ticks;
        self.rounds.push(Round {
            work,
            baseline,
            known,
            reference,
        });
    }

    /// Evaluates the rounds so far.
    pub(super) fn evaluate(&self, plan: Plan) -> Outcome {
        let step = plan.step as f64;
        let demand = Tolerance {
            precision: plan.precision,
            step: step / self.batch as f64,
        };
        let (mut ticks, baseline) = self.net(|round| round.work, |ticks, _| ticks, 2.0 * step);
        let baseline_error = baseline.std_error / self.batch as f64;
        let clocks = self.clocks();
        let clock = clocks.as_ref().map(|clocks| Distribution::new(clocks));
        let cycles = clocks.as_ref().zip(clock.as_ref()).map(|(clocks, clock)| {
            let greatest = clock.quantile(1.0);
            let floor = 2.0 * step * greatest;
            let net = |get| {
                self.net(get, |ticks, i| ticks * clocks[i / ROUNDS_PER_CLOCK], floor)
                    .0
            };
            let centre =
                |cycles: &[f64]| Distribution::new(cycles).centre(floor / self.batch as f64);
            let mut cycles = net(|round| round.work);
            if plan.baseline_is_empty {
                let fence_hiding = fence_hiding::cycles(centre(&net(|round| round.known)).mean);
                let hidden = fence_hiding::correction(fence_hiding, centre(&cycles).mean);
                cycles.iter_mut().for_each(|cycles| *cycles += hidden);
                ticks
                    .iter_mut()
                    .for_each(|ticks| *ticks += hidden / clock.median());
            }
            let demand = Tolerance {
                step: demand.step * greatest,
                ..demand
            };
            let mut known = centre(&cycles);
            known.std_error = known.std_error.hypot(baseline_error * clock.median());
            (known, verdict::judge(&cycles, demand))
        });
        let in_ticks = verdict::judge(&ticks, demand);
        let in_cycles = cycles
            .as_ref()
            .and_then(|(_, verdict)| verdict.as_ref().ok());
        // The core clock may change while the work stays constant in core cycles. Or the work may wait for memory, which has a clock of
        // its own. So the work is constant if it is constant in either unit.
        let constant = in_cycles
            .or(in_ticks.as_ref().ok())
            .map(|(_, _, share)| *share);
        let verdict = match (constant, in_ticks) {
            _ if self.interrupted > self.rounds.len() => {
                let why = UnsettledReason::Interrupted {
                    clean: self.rounds.len(),
                    interrupted: self.interrupted,
                };
                Verdict::Unsettled { why }
            }
            (None, Err(why)) => Verdict::Unsettled { why },
            (share, _) => {
                let centre = Distribution::new(&ticks).centre(2.0 * demand.step);
                Verdict::Constant {
                    ticks: centre.mean,
                    core_cycles: cycles.as_ref().map(|(cycles, _)| cycles.mean),
                    plus_minus: centre.std_error.hypot(baseline_error),
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
            baseline: baseline.mean,
            baseline_error,
            interrupted: self.interrupted,
            detected: self.detected,
            first: Vec::new(),
        }
    }

    /// The values that `get` takes from the rounds, minus the mean baseline, per call; and the mean baseline of a sample. `convert`
    /// converts the ticks of a round, given its number, to the unit of the result.
    fn net(
        &self,
        get: fn(&Round) -> i64,
        convert: impl Fn(f64, usize) -> f64,
        floor: f64,
    ) -> (Vec<f64>, Centre) {
        let converted = |get: fn(&Round) -> i64| -> Vec<f64> {
            self.rounds
                .iter()
                .enumerate()
                .map(|(i, round)| convert(get(round) as f64, i))
                .collect()
        };
        let baseline = Distribution::new(&converted(|round| round.baseline)).centre(floor);
        let net = converted(get)
            .iter()
            .map(|ticks| (ticks - baseline.mean) / self.batch as f64)
            .collect();
        (net, baseline)
    }

    /// The core cycles per tick of every [`ROUNDS_PER_CLOCK`] consecutive rounds. They come from a mean without outliers, because a single
    /// disturbed round would spoil a sum.
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
        clocks
            .iter()
            .all(|clock| clock.is_finite() && *clock > 0.0)
            .then_some(clocks)
    }
}
