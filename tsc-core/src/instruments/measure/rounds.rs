//! The rounds of a measurement, each with the baseline, the work and the reference chain, and their evaluation.

use super::fence_hiding;
use super::measurement::{CoreRatio, Measurement, Plan};
use super::verdict::{LEAST_SAMPLES, UnsettledReason, Verdict, judge};
use super::work::Work;
use crate::calibration::reference_chain::{self, LEAST_BLOCKS, LINKS_PER_BLOCK, undisturbed};
use crate::instruments::bench::distribution::{Centre, Distribution, centre_of_run};
use crate::instruments::bench::uninterrupted;
use crate::interruption;
use crate::machine::{Emulator, emulator};
use crate::random::Random;
use crate::tsc::FencePolicy;

/// The core cycles of the reference chain's short run in a round for each tick of the counter's step, so that the step is a small part of
/// the run, which has at least [`LEAST_BLOCKS`]. The long run has twice as many.
const REFERENCE_CYCLES_PER_STEP: u64 = 100;
/// The standard deviation of the chain's own cycles from one run of milliseconds to the next, as a share, which the differences between the
/// rounds of a run do not show: chains of 4000 and of 400 additions, measured 3000 times on an EPYC (Zen 5) whose other thread was busy.
const REFERENCE_ERROR: f64 = 0.0004;

/// So many rounds before and after a round tell its clock, together with its own.
const AROUND: usize = 16;
/// A reference within so many steps of the usual one is no outlier: it is the difference of two runs, of which each is off by up to a step.
const REFERENCE_STEPS: f64 = 4.0;

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
    plan: Plan,
    batch: usize,
    reference_blocks: u64,
    jitter: Random,
}

impl Run {
    /// No rounds, which will have samples of `batch` calls.
    pub(super) fn new(plan: Plan, batch: usize) -> Self {
        Self {
            rounds: Vec::new(),
            interrupted: 0,
            batch,
            reference_blocks: (REFERENCE_CYCLES_PER_STEP * plan.step)
                .div_ceil(LINKS_PER_BLOCK)
                .max(LEAST_BLOCKS),
            plan,
            jitter: Random::for_waits(),
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
    ) {
        let isolated = self.plan.isolated;
        work.prepare(self.batch);
        baseline.prepare(self.batch);
        known.prepare(self.batch);
        let mut ticks = [0; 5];
        let mut order = [0, 1, 2, 3, 4];
        if self.rounds.len() % 2 == 1 {
            order.reverse();
        }
        let done = uninterrupted(|| {
            for part in order {
                self.jitter.wait();
                ticks[part] = match part {
                    0 => reference_chain::additions(self.reference_blocks),
                    1 => baseline.sample::<P>(isolated),
                    2 => work.sample::<P>(isolated),
                    3 if self.plan.baseline_is_empty => known.sample::<P>(isolated),
                    3 => 0,
                    _ => reference_chain::additions(2 * self.reference_blocks),
                };
            }
        });
        if done.is_none() {
            self.interrupted += 1;
            return;
        }
        let [short, baseline, work, known, long] = ticks;
        self.rounds.push(Round {
            work,
            baseline,
            known,
            reference: long - short,
        });
    }

    /// Evaluates the rounds so far.
    pub(super) fn evaluate(&self) -> Measurement {
        let (step, batch) = (self.plan.step as f64, self.batch as f64);
        // Where there is no chain, none of them shows whether it was disturbed.
        let rounds = match reference_chain::AVAILABLE {
            true => undisturbed(&self.rounds, |round| round.reference as f64),
            false => self.rounds.clone(),
        };
        let baselines: Vec<f64> = rounds.iter().map(|round| round.baseline as f64).collect();
        let baseline = Distribution::new(&baselines).centre(2.0 * step);
        let baseline_error = baseline.std_error / batch;
        let net = |of: fn(&Round) -> i64| -> Vec<f64> {
            let net = |round| (of(round) as f64 - baseline.mean) / batch;
            rounds.iter().map(net).collect()
        };
        let mut ticks = net(|round| round.work);
        // The clock around each round converts it, so a slow change of the clock makes no error.
        let clocks = self.clocks(&rounds, step);
        let cycles = clocks.map(|clocks| {
            let known = net(|round| round.known);
            self.in_core_cycles(&mut ticks, &known, &clocks, baseline_error)
        });
        let (clean, interrupted) = (self.rounds.len(), self.interrupted);
        // The core clock may change while the work stays constant in core cycles. Or the work may wait for memory, which has a clock of
        // its own. So the work is constant if it is constant in either unit.
        let by_ticks = judge(&ticks, self.plan.precision, step / batch, self.plan.unit);
        let verdict = match (&cycles, by_ticks) {
            _ if interrupted > clean => Verdict::Unsettled {
                why: UnsettledReason::Interrupted { clean, interrupted },
            },
            (Some((_, Ok(share), _)), _) => Verdict::Constant { share: *share },
            (_, Ok(share)) => Verdict::Constant { share },
            (_, Err(why)) => Verdict::Unsettled { why },
        };
        let measurement = Measurement::of(&self.plan, verdict, &ticks, self.batch);
        let (known, clock) = cycles.map(|(known, _, clock)| (known, clock)).unzip();
        // The ticks of another run are those of another clock, which has moved by so much in this one.
        let moved = clock.map_or(0.0, |it| it.greatest() / it.least() - 1.0);
        let error = measurement.std_error_ticks.hypot(baseline_error);
        Measurement {
            interrupted,
            interruptions_detected: interruption::unavailable().is_none(),
            std_error_ticks: error.hypot(moved * measurement.mean_ticks),
            core_cycles: known.map(|known: Centre| known.mean),
            std_error_core_cycles: known.map(|known| known.std_error),
            clock,
            baseline_ticks: baseline.mean,
            ..measurement
        }
    }

    /// Converts net ticks per call, those of the chain of known length as well, to core cycles. Adds to both what a fence has hidden.
    fn in_core_cycles(
        &self,
        ticks: &mut [f64],
        known: &[f64],
        clocks: &[f64],
        baseline_error: f64,
    ) -> (Centre, Result<f64, UnsettledReason>, CoreRatio) {
        let clock = CoreRatio::of_rounds(clocks);
        let per_tick = clock.cycles_per_tick();
        let step = self.plan.step as f64 / self.batch as f64 * per_tick;
        let converted = |ticks: &[f64]| -> Vec<f64> {
            let rounds = ticks.iter().zip(clocks);
            rounds.map(|(ticks, clock)| ticks * clock).collect()
        };
        let centre = |cycles: &[f64]| centre_of_run(cycles, 2.0 * step);
        let mut cycles = converted(ticks);
        if self.plan.baseline_is_empty {
            let known = centre(&converted(known));
            let hidden = fence_hiding::correction(known.mean, centre(&cycles).mean);
            cycles.iter_mut().for_each(|cycles| *cycles += hidden);
            let hidden = hidden / per_tick;
            ticks.iter_mut().for_each(|ticks| *ticks += hidden);
        }
        let mut centre = centre(&cycles);
        let error = centre.std_error.hypot(baseline_error * per_tick);
        centre.std_error = error.hypot(REFERENCE_ERROR * centre.mean);
        let verdict = judge(&cycles, self.plan.precision, step, 1.0);
        (centre, verdict, clock)
    }

    /// The core cycles per tick during each of these rounds: by the mean reference of the rounds around it, because a single one is off by as
    /// much as the counter's step is of its ticks. Such ratios are few different values, of which the rarer would be left out as outliers.
    fn clocks(&self, rounds: &[Round], step: f64) -> Option<Vec<f64>> {
        let cycles = (self.reference_blocks * LINKS_PER_BLOCK) as f64;
        let references: Vec<f64> = rounds.iter().map(|it| it.reference as f64).collect();
        let clock = |i: usize| {
            let around = i.saturating_sub(AROUND)..(i + AROUND + 1).min(references.len());
            let around = Distribution::new(&references[around]);
            cycles / around.centre(REFERENCE_STEPS * step).mean
        };
        let is_the_cpus = !emulator().is_some_and(Emulator::distorts_times);
        (is_the_cpus && reference_chain::AVAILABLE && rounds.len() >= LEAST_SAMPLES)
            .then(|| (0..rounds.len()).map(clock).collect())
    }
}

// Elsewhere there is no chain of known length, and so there are no core cycles.
#[cfg(all(test, target_arch = "x86_64", not(miri)))]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::instruments::bench::script::Scripted;

    /// The core cycles of the two reads and the fences of a sample.
    const READS: f64 = 85.0;

    /// Rounds of `calls` calls of a chain of `length` additions, read from `counter`.
    fn run(counter: &mut Scripted, calls: usize, length: f64, rounds: usize) -> Run {
        let mut run = Run::new(plan(counter), calls);
        let reference = (run.reference_blocks * LINKS_PER_BLOCK) as f64;
        for _ in 0..rounds {
            run.rounds.push(round(counter, calls, length, reference));
        }
        run
    }

    fn round(counter: &mut Scripted, calls: usize, length: f64, reference: f64) -> Round {
        Round {
            work: counter.ticks(READS + calls as f64 * length),
            baseline: counter.ticks(READS),
            known: counter.ticks(READS + calls as f64 * 40.0),
            reference: counter.ticks(READS + 2.0 * reference) - counter.ticks(READS + reference),
        }
    }

    fn plan(counter: &Scripted) -> Plan {
        Plan {
            precision: 0.01,
            time_limit: Duration::from_secs(1),
            isolated: true,
            step: counter.step(),
            unit: 1.0,
            baseline_is_empty: true,
            ..Plan::default()
        }
    }

    fn core_cycles(measured: &Measurement) -> (f64, f64) {
        let known = measured.core_cycles.zip(measured.std_error_core_cycles);
        known.expect("a chain of known length")
    }

    #[test]
    fn disturbed_rounds_leave_the_core_cycles_known() {
        for mut counter in Scripted::each(7) {
            let mut run = run(&mut counter, 1, 4000.0, 256);
            // A hypervisor that takes the CPU away again and again, for a while.
            for (i, round) in run.rounds[100..130].iter_mut().enumerate() {
                round.reference += if i % 3 == 0 { 30_000 } else { -90_000 };
            }
            let (cycles, error) = core_cycles(&run.evaluate());
            assert!((cycles / 4000.0 - 1.0).abs() < 0.003, "{cycles} ± {error}");
            assert!(error < 0.0015 * 4000.0, "{error}");
        }
    }

    #[test]
    fn error_of_ticks_covers_runs_at_another_clock() {
        for mut counter in Scripted::each(11) {
            let usual = counter.cycles_per_tick;
            let mut measured = Vec::new();
            for i in 0..24 {
                let mut run = run(&mut counter, 64, 43.0, 0);
                let reference = (run.reference_blocks * LINKS_PER_BLOCK) as f64;
                // The clock moves by 0.6 % to either side, and back within four runs.
                run.rounds.extend((0..256).map(|now| {
                    let quarters = f64::from(i) + f64::from(now) / 256.0;
                    let moved = 0.006 * (quarters * std::f64::consts::FRAC_PI_2).sin();
                    counter.cycles_per_tick = usual * (1.0 + moved);
                    round(&mut counter, 64, 43.0, reference)
                }));
                let it = run.evaluate();
                measured.push((it.mean_ticks, it.std_error_ticks));
            }
            let (means, errors): (Vec<f64>, Vec<f64>) = measured.into_iter().unzip();
            let seen = Distribution::new(&means).moments().1;
            let stated = Distribution::new(&errors).median();
            assert!(
                (seen / 1.5..4.0 * seen).contains(&stated),
                "{seen} {stated}"
            );
        }
    }

    #[test]
    fn core_cycles_are_right_whatever_the_counters_step() {
        for seed in 1..30 {
            for mut counter in Scripted::each(seed) {
                let measured = run(&mut counter, 1, 4000.0, 256).evaluate();
                let (cycles, error) = core_cycles(&measured);
                assert!(
                    (cycles / 4000.0 - 1.0).abs() < 0.003,
                    "{cycles} ± {error}, step {}",
                    counter.step()
                );
                assert!(error < 0.0015 * 4000.0, "{error}");
                assert!((cycles - 4000.0).abs() < 4.5 * error, "{cycles} ± {error}");
                assert!(measured.is_constant());
            }
        }
    }
}
