//! The rounds: the instruction and the reference chain in two lengths, in both orders.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use super::estimate::{self, ADDITION_BLOCKS, Estimate, MULTIPLICATION_BLOCKS, Round};
use super::listing::{Code, Instruction, Kernel};
use super::{InstructionError, Timing};
use crate::calibration::reference_chain;
use crate::calibration::statistics::median;
use crate::instruments::bench::{attach_thread, uninterrupted};
use crate::process;
use crate::random::Random;
use crate::tsc;

/// How long the measured code should take in a round's short run, in ticks: about as long as the reference chain.
const CODE_TICKS: i64 = 1500;
/// The number of rounds before the first evaluation, and between two evaluations.
const ROUNDS_PER_LOOK: usize = 100;
/// A result is good if its standard error is below this share of it, or below [`CYCLES_GOOD`].
const SHARE_GOOD: f64 = 0.0007;
const CYCLES_GOOD: f64 = 0.0007;
/// The smallest number of rounds for a good result.
const ROUNDS_GOOD: usize = 300;
/// The number of runs before the rounds.
const WARM_UP_RUNS: usize = 5;
/// How many short runs take as long as all runs of the code in two rounds, the fewest for an estimate. A long run counts as two.
const LEAST_RUNS: u32 = 2 * 6;
/// The NOPs in a round's short run: as many blocks. A step of Zen 4's counter is a twentieth of their ticks.
const NOP_BLOCKS: u64 = 8;
/// Rounds whose NOPs differ by this factor from the best of times are not used. If they took less, the hypervisor interrupted the additions.
const SHARED: f64 = 1.12;
/// How far the ratio of multiplications to additions may differ from 3.
const CHECK_TOLERANCE: f64 = 0.01;

/// The default time limit for a kernel.
const TIME_LIMIT: Duration = Duration::from_millis(150);

/// Scratch memory for the listings: two pages.
#[repr(align(4096))]
struct Scratch([u8; 8192]);

impl Instruction {
    /// Measures latency and reciprocal throughput, each until its standard error is at most 0.07 % or 0.0007 cycles, or for 150 ms.
    ///
    /// # Errors
    ///
    /// The CPU does not have the instruction, the counter cannot be read, or the reference chain does not take as long as it should: see
    /// [`InstructionError`].
    pub fn measure(&self) -> Result<Timing, InstructionError> {
        self.measure_within(TIME_LIMIT)
    }

    /// Like [`measure`](Self::measure), with another time limit for each of the two figures. When the time is up, the figures are computed
    /// from the rounds so far, and their standard errors show how precise they are.
    ///
    /// # Errors
    ///
    /// Those of [`measure`](Self::measure).
    pub fn measure_within(&self, limit: Duration) -> Result<Timing, InstructionError> {
        tsc::detect()?;
        if !reference_chain::AVAILABLE {
            return Err(InstructionError::NotOnThisPlatform);
        }
        if let Some((feature, _)) = self.requires.filter(|(_, is_met)| !is_met()) {
            return Err(InstructionError::Missing(feature));
        }
        let mut scratch = Box::new(Scratch([0; 8192]));
        let mut measured = |kernel: Kernel| settle(kernel, &mut scratch, limit);
        let latency = self.latency.map(&mut measured).transpose()?;
        let throughput = self.throughput.map(measured).transpose()?;
        let checks = latency.iter().chain(&throughput).map(|(_, check)| *check);
        Ok(Timing {
            instruction: self.name(),
            operands: self.operands(),
            latency: latency.map(|(cycles, _)| cycles),
            throughput: throughput.map(|(cycles, _)| cycles),
            check: checks.min_by(|a, b| a.std_error.total_cmp(&b.std_error)),
        })
    }
}

/// Makes rounds until the result is good or the time is up.
fn settle(
    kernel: Kernel,
    scratch: &mut Scratch,
    limit: Duration,
) -> Result<(Estimate, Estimate), InstructionError> {
    attach_thread();
    let scratch = scratch.0.as_mut_ptr();
    #[cfg(target_os = "linux")]
    super::trial::execute(&kernel, scratch)?;
    let started = Instant::now();
    let bench = Bench::new(kernel, scratch, limit)?;
    let mut rounds = Vec::with_capacity(ROUNDS_PER_LOOK * 8);
    let mut dropped = 0;
    let mut jitter = Random::for_waits();
    loop {
        for _ in 0..ROUNDS_PER_LOOK {
            match uninterrupted(|| bench.round(&mut jitter)) {
                Some(round) => rounds.push(round),
                None => dropped += 1,
            }
            if started.elapsed() >= limit {
                break;
            }
        }
        let late = started.elapsed() >= limit;
        dropped += drop_shared(&mut rounds);
        let estimate = estimate::cycles(&rounds, bench.copies());
        let good = estimate.is_some_and(|it| {
            it.rounds() >= ROUNDS_GOOD
                && it.std_error() <= CYCLES_GOOD.max(SHARE_GOOD * it.cycles().abs())
        });
        if !good && !late {
            continue;
        }
        let check = estimate::check(&rounds);
        let Some((mut estimate, check)) = estimate.zip(check) else {
            return Err(InstructionError::Disturbed {
                rounds: rounds.len() + dropped,
                dropped,
            });
        };
        let ratio = check.cycles();
        if (ratio / 3.0 - 1.0).abs() > CHECK_TOLERANCE {
            return Err(InstructionError::Untrustworthy { ratio });
        }
        estimate.dropped += dropped;
        return Ok((estimate, check));
    }
}

/// The fewest ticks that the NOPs of a round have taken on each CPU, divided by those of its additions. Cores of one machine may differ.
static LEAST_NOPS: [AtomicU64; 256] = [const { AtomicU64::new(f64::MAX.to_bits()) }; 256];

/// Drops the rounds in which the core's other thread was busy, and returns how many these were.
fn drop_shared(rounds: &mut Vec<Round>) -> usize {
    let cpu = process::cpu().unwrap_or_default() as usize;
    let least = &LEAST_NOPS[cpu % LEAST_NOPS.len()];
    let known = f64::from_bits(least.load(Relaxed));
    let before = rounds.len();
    least.store(keep_alone(rounds, known).to_bits(), Relaxed);
    before - rounds.len()
}

/// Keeps the rounds whose NOPs took about `least`, or what they took in half of the latest rounds, and returns the smaller one of these. As
/// long as neither is known, it keeps all.
/// A few rounds do not lower `least`: the hypervisor may have interrupted some, and it holds for all that follow.
fn keep_alone(rounds: &mut Vec<Round>, least: f64) -> f64 {
    let cost = |round: &Round| round.nops / round.additions;
    let latest = rounds.iter().rev().take(ROUNDS_PER_LOOK).map(cost);
    let least = match median(latest.collect()) {
        Some(latest) if rounds.len() >= ROUNDS_PER_LOOK => least.min(latest),
        _ => least,
    };
    rounds.retain(|it| least == f64::MAX || (least / SHARED..=least * SHARED).contains(&cost(it)));
    least
}

/// A kernel, its number of iterations, and its scratch memory.
struct Bench {
    kernel: Kernel,
    iterations: u64,
    scratch: *mut u8,
}

impl Bench {
    fn new(kernel: Kernel, scratch: *mut u8, limit: Duration) -> Result<Self, InstructionError> {
        let mut bench = Self {
            kernel,
            iterations: 1,
            scratch,
        };
        // This is also the warm-up: page faults, caches, branch predictors.
        let once = bench.run_once(limit)?;
        bench.iterations = (CODE_TICKS / once.max(1)).max(1).cast_unsigned();
        Ok(bench)
    }

    /// The copies in a round: those of the long runs minus those of the short ones.
    fn copies(&self) -> f64 {
        (2 * self.iterations) as f64 * f64::from(self.kernel.copies)
    }

    /// Runs one iteration several times, and returns the smallest number of ticks.
    ///
    /// # Errors
    ///
    /// Two rounds of this length would take longer than `limit`.
    fn run_once(&self, limit: Duration) -> Result<i64, InstructionError> {
        let (mut ticks, mut once) = (i64::MAX, Duration::MAX);
        let started = Instant::now();
        for _ in 0..WARM_UP_RUNS {
            let began = Instant::now();
            ticks = ticks.min(self.run(self.kernel.run, 1));
            once = once.min(began.elapsed());
            if started.elapsed() >= limit {
                break;
            }
        }
        if once * LEAST_RUNS > limit {
            return Err(InstructionError::TooLong { once, limit });
        }
        Ok(ticks)
    }

    #[inline]
    fn run(&self, code: Code, iterations: u64) -> i64 {
        let ticks = code(iterations, self.scratch);
        leave_avx();
        ticks
    }

    /// Runs the short lengths and then the long ones, and then all in reverse order, so that a steady change of the core's clock cancels
    /// out.
    fn round(&self, jitter: &mut Random) -> Round {
        // Additions, multiplications, NOPs, the code without the instruction, and the code.
        let mut ticks = [0; 5];
        let mut order = [0, 1, 2, 3, 4];
        for (factor, sign) in [(1, -1), (2, 1), (2, 1), (1, -1)] {
            for part in order {
                jitter.wait();
                ticks[part] += sign * self.part(part, factor);
            }
            order.reverse();
        }
        let [additions, multiplications, nops, without, code] = ticks.map(|ticks| ticks as f64);
        Round {
            additions,
            multiplications,
            nops,
            code,
            without,
        }
    }

    /// The ticks of one of the parts, `factor` times as long as the short one.
    fn part(&self, part: usize, factor: u64) -> i64 {
        let iterations = factor * self.iterations;
        let Kernel { run, without, .. } = self.kernel;
        match part {
            0 => reference_chain::additions(factor * ADDITION_BLOCKS),
            1 => reference_chain::multiplications(factor * MULTIPLICATION_BLOCKS),
            2 => reference_chain::nops(factor * NOP_BLOCKS),
            3 => without.map_or(0, |code| self.run(code, iterations)),
            _ => self.run(run, iterations),
        }
    }
}

/// Clears the upper halves of the vector registers. Otherwise they would slow down the SSE code that follows.
#[inline]
fn leave_avx() {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if std::arch::is_x86_feature_detected!("avx") {
        // SAFETY: the CPU has AVX, and the listings that changed the registers declare them as clobbered.
        unsafe { std::arch::asm!("vzeroupper", clobber_abi("sysv64")) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounds on a core that starts six instructions in a cycle, or on one that is shared.
    fn rounds(nop: f64, number: usize) -> Vec<Round> {
        let round = |i| Round {
            additions: 2800.0,
            nops: 2800.0 * nop + f64::from((i * 7) % 13 - 6),
            ..Round::default()
        };
        (0..).map(round).take(number).collect()
    }

    #[test]
    fn rounds_on_a_shared_core_are_dropped() {
        let mut alone = rounds(0.176, 100);
        let least = keep_alone(&mut alone, f64::MAX);
        assert!((least - 0.176).abs() < 0.001);
        assert_eq!(alone.len(), 100);
        let mut shared = rounds(0.23, 100);
        assert_eq!(keep_alone(&mut shared, least), least);
        assert!(shared.is_empty());
        // At first it is not known that it is shared.
        let mut both = rounds(0.23, 100);
        keep_alone(&mut both, f64::MAX);
        assert_eq!(both.len(), 100);
        both.extend(alone);
        keep_alone(&mut both, f64::MAX);
        assert_eq!(both.len(), 100);
        // Nothing is known yet, and these are too few to tell.
        let mut few = rounds(0.176, 20);
        assert_eq!(keep_alone(&mut few, f64::MAX), f64::MAX);
        assert_eq!(few.len(), 20);
        // Interrupted by the hypervisor, and too few.
        assert_eq!(keep_alone(&mut rounds(0.01, 20), least), least);
    }
}
