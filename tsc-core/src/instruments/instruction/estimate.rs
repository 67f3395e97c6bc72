//! Computes core cycles from the ticks of rounds: pure functions.

use crate::calibration::reference_chain::{LINKS_PER_BLOCK, undisturbed};
use crate::instruments::bench::distribution::{DEVIATIONS, Distribution};
use std::fmt;
use tsc_report::__private::data;

/// The results of one round, in ticks. Each is the ticks of the long runs minus those of the short runs, which are half as long.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Round {
    /// The reference chain of additions.
    pub(super) additions: f64,
    /// The chain of multiplications, which checks the reference chain.
    pub(super) multiplications: f64,
    /// The NOPs, which show whether the core's other thread was busy.
    pub(super) nops: f64,
    /// The measured code.
    pub(super) code: f64,
    /// The code without the instruction.
    pub(super) without: f64,
}

/// The blocks of the reference chain in a round's short run; the long run has twice as many. The short run takes 2000 core cycles, which
/// is long compared with the step of a coarse counter, and short compared with the time between two timer interrupts.
pub(super) const ADDITION_BLOCKS: u64 = 2;
/// The blocks of the multiplications in a round's short run.
pub(super) const MULTIPLICATION_BLOCKS: u64 = 1;

/// The core cycles of a [`Round`]'s additions, and the links of its multiplications. A round runs everything in both orders, so it contains
/// the difference of the two lengths twice.
const ADDITIONS: f64 = (2 * ADDITION_BLOCKS * LINKS_PER_BLOCK) as f64;
const MULTIPLICATIONS: f64 = (2 * MULTIPLICATION_BLOCKS * LINKS_PER_BLOCK) as f64;

data! {
    /// A number of core cycles, and how well it is known.
    #[derive(Copy)]
    pub struct Estimate {
        /// Core cycles per instruction.
        cycles: f64,
        /// TSC ticks per instruction. They depend on the core's clock: if it changes, a tick is more or fewer core cycles.
        ticks: f64,
        /// The standard error of [`cycles`](Self::cycles), from the differences between rounds.
        std_error: f64,
        /// The number of rounds that were used.
        rounds: usize,
        /// The number of rounds that were not used, because they were interrupted or are outliers, or because the core's other
        /// thread was busy.
        dropped: usize,
    }
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{:.3} ± {:.4}", self.cycles, self.std_error))
    }
}

data! {
    /// What an instruction costs, in core cycles.
    pub struct Timing {
        /// The mnemonic.
        instruction: &'static str,
        /// The operands.
        operands: &'static str,
        /// Core cycles from the instruction's start until a dependent instruction can use its result.
        latency: Option<Estimate>,
        /// Core cycles between the starts of two independent copies of the instruction (reciprocal throughput).
        throughput: Option<Estimate>,
        /// How many additions took as long as a multiplication in the same rounds. There are figures only if this is 3, ± 1 %.
        check: Option<Estimate>,
    }
}

impl fmt::Display for Timing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = format!("{} {}", self.instruction, self.operands);
        let figure = |it: Option<Estimate>| it.map_or_else(|| "-".to_owned(), |it| it.to_string());
        let [latency, throughput] = [self.latency, self.throughput].map(figure);
        write!(
            f,
            "{name:<44} latency {latency:>18}   per instruction {throughput:>18}"
        )
    }
}

/// Core cycles per copy: the ratio of the sums over the rounds that are used, each of which has so many `copies` of the code.
pub(super) fn cycles(rounds: &[Round], copies: f64) -> Option<Estimate> {
    ratio(rounds, copies, |round| round.code - round.without)
}

/// How many additions take as long as a multiplication. If it is not 3, the reference chain cannot be used.
pub(super) fn check(rounds: &[Round]) -> Option<Estimate> {
    ratio(rounds, MULTIPLICATIONS, |round| round.multiplications)
}

/// The core cycles of one copy. In a round, `numerator` gives the ticks of `copies` copies.
fn ratio(rounds: &[Round], copies: f64, numerator: fn(&Round) -> f64) -> Option<Estimate> {
    let undisturbed = undisturbed(rounds, |round| round.additions);
    let part = |round: &Round| (numerator(round), round.additions);
    let mut kept: Vec<(f64, f64)> = undisturbed.iter().map(part).collect();
    let ratio = |(code, additions): &(f64, f64)| code / additions;
    let ratios = Distribution::new(&kept.iter().map(ratio).collect::<Vec<_>>());
    let (centre, spread) = (ratios.median(), ratios.robust_deviation());
    // If the counter is coarse, most ratios may be equal, so that `spread` is 0. Ratios that differ a little are not outliers then.
    let limit = (DEVIATIONS * spread).max(0.01 * centre.abs()).max(0.001);
    kept.retain(|part| (ratio(part) - centre).abs() <= limit);
    if kept.len() < 2 {
        return None;
    }
    let n = kept.len() as f64;
    let code: f64 = kept.iter().map(|(code, _)| code).sum();
    let additions: f64 = kept.iter().map(|(_, additions)| additions).sum();
    let value = code / additions;
    // The delta method: the residuals of the ratio, divided by the mean of the denominator.
    let square = |(code, additions): &(f64, f64)| (code - value * additions).powi(2);
    let squares: f64 = kept.iter().map(square).sum();
    let std_error = (squares / (n - 1.0)).sqrt() / (additions / n) / n.sqrt();
    let scale = ADDITIONS / copies;
    let estimate = Estimate {
        cycles: value * scale,
        ticks: code / n / copies,
        std_error: std_error * scale,
        rounds: kept.len(),
        dropped: rounds.len() - kept.len(),
    };
    let figures = [estimate.cycles, estimate.ticks, estimate.std_error];
    let is_known = figures.iter().all(|figure| figure.is_finite());
    is_known.then_some(estimate)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COPIES: f64 = 1000.0;

    /// Rounds of a machine whose clock varies by 10 %, with an instruction of `cycles`.
    fn wandering(cycles: f64) -> Vec<Round> {
        (0..1000)
            .map(|i| {
                let ticks_per_cycle = 0.7 + 0.07 * (f64::from(i) / 100.0).sin();
                let noise = f64::from((i * 7919) % 13 - 6);
                Round {
                    additions: ADDITIONS * ticks_per_cycle + noise,
                    multiplications: 3.0 * MULTIPLICATIONS * ticks_per_cycle,
                    nops: 2800.0 * ticks_per_cycle,
                    code: COPIES * cycles * ticks_per_cycle - noise,
                    without: 0.0,
                }
            })
            .collect()
    }

    #[test]
    fn wandering_clock_cancels() {
        let estimate = cycles(&wandering(13.0), COPIES).unwrap();
        assert!((estimate.cycles() - 13.0).abs() < 0.005, "{estimate}");
        assert!((check(&wandering(13.0)).unwrap().cycles() - 3.0).abs() < 0.005);
    }

    #[test]
    fn ticks_are_those_of_the_rounds() {
        // A cycle takes 0.7 ticks on average; the clock varies around this.
        let ticks = cycles(&wandering(13.0), COPIES).unwrap().ticks();
        assert!((ticks / (13.0 * 0.7) - 1.0).abs() < 0.1, "{ticks}");
    }

    #[test]
    fn torn_rounds_are_left_out() {
        let mut rounds = wandering(3.0);
        for (i, round) in rounds.iter_mut().enumerate() {
            match i % 20 {
                3 => round.code += 50_000.0,
                7 => round.additions += 90_000.0,
                11 => round.code = -round.code,
                _ => {}
            }
        }
        let estimate = cycles(&rounds, COPIES).unwrap();
        assert!((estimate.cycles() - 3.0).abs() < 0.005, "{estimate}");
        assert_eq!(estimate.dropped(), 150);
    }

    #[test]
    fn baseline_is_subtracted() {
        let rounds: Vec<Round> = wandering(14.0)
            .into_iter()
            .map(|round| Round {
                without: round.additions / 2.0,
                ..round
            })
            .collect();
        assert!((cycles(&rounds, COPIES).unwrap().cycles() - 12.0).abs() < 0.01);
    }

    #[test]
    fn nothing_comes_of_nothing() {
        assert_eq!(cycles(&[], COPIES), None);
        assert_eq!(cycles(&[Round::default(); 5], COPIES), None);
        assert_eq!(cycles(&wandering(3.0), 0.0), None);
    }
}
