//! The options of a comparison, and how it runs.

use std::fmt;
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use super::result::{Block, Comparison};
use super::{CompareError, LEAST_BLOCKS};
use crate::calibration::resolution;
use crate::instruments::bench::{attach_thread, uninterrupted};
use crate::instruments::measure::isolate;
use crate::random::Random;
use crate::tsc::{self, FencePolicy, Lfence, Ticks, elapsed, escape};

/// The number of passes is doubled until a sample lasts at least this many ticks, and so many steps of the counter that one is less than the
/// least effect: samples are whole numbers of steps, and so is the median of their ratios.
const SAMPLE_TICKS: f64 = 4000.0;
const SAMPLE_STEPS: RangeInclusive<f64> = 128.0..=4096.0;
const MOST_PASSES: usize = 1 << 16;
/// The greatest number of blocks. More would resolve differences that are too small to matter.
const MOST_BLOCKS: usize = 301;
/// The number of blocks that are made first and discarded.
const WARM_UP_BLOCKS: usize = 3;

/// A comparison with its options. [`run`](Self::run) performs it.
///
/// ```no_run
/// use tsc_runtime::compare::Compare;
///
/// let inputs = ["short", "and one that is somewhat longer"];
/// let comparison = Compare::new("letters", &inputs)
///     .add("bytes", |text| text.bytes().filter(u8::is_ascii_alphabetic).count())
///     .add("chars", |text| text.chars().filter(char::is_ascii_alphabetic).count())
///     .check()
///     .run()?;
/// println!("{comparison}");
/// # Ok::<(), tsc_runtime::compare::CompareError>(())
/// ```
#[must_use = "nothing is compared before `run`"]
pub struct Compare<'a, I, R> {
    name: String,
    inputs: &'a [I],
    candidates: Vec<(String, Box<dyn Candidate<I, R> + 'a>)>,
    same: Option<fn(&R, &R) -> bool>,
    time_limit: Duration,
    least_effect: f64,
}

impl<I, R> fmt::Debug for Compare<'_, I, R> {
    /// The names: neither inputs nor candidates need implement it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let candidates: Vec<&str> = self.candidates.iter().map(|(name, _)| &**name).collect();
        f.debug_struct("Compare")
            .field("name", &self.name)
            .field("candidates", &candidates)
            .finish_non_exhaustive()
    }
}

impl<'a, I: 'a, R: 'a> Compare<'a, I, R> {
    /// A comparison of candidates over `inputs`, with the default options: for at most a second.
    pub fn new(name: impl Into<String>, inputs: &'a [I]) -> Self {
        Self {
            name: name.into(),
            inputs,
            candidates: Vec::new(),
            same: None,
            time_limit: Duration::from_secs(1),
            least_effect: 0.001,
        }
    }

    /// Adds a candidate. Ratios are relative to the first one.
    pub fn add(mut self, name: impl Into<String>, candidate: impl FnMut(&I) -> R + 'a) -> Self {
        self.candidates.push((name.into(), Box::new(candidate)));
        self
    }

    /// Verifies, before anything is timed, that all candidates return the same result for every input.
    pub fn check(mut self) -> Self
    where
        R: PartialEq,
    {
        self.same = Some(R::eq);
        self
    }

    /// The time after which the comparison ends.
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = limit;
        self
    }

    /// The smallest relative difference that counts; the default is 0.001. If an interval overlaps 1 ± this share, no difference is
    /// resolved. Two copies of the same code can differ by as much, because of the addresses that the linker chooses for them.
    pub fn least_effect(mut self, share: f64) -> Self {
        // If it is not a number, `max` returns the other one.
        self.least_effect = share.max(0.0);
        self
    }

    /// Compares.
    ///
    /// # Errors
    ///
    /// There are fewer than two candidates, no inputs, different results, no counter, or too little time: see [`CompareError`].
    pub fn run(mut self) -> Result<Comparison, CompareError> {
        tsc::detect()?;
        if self.candidates.len() < 2 {
            return Err(CompareError::TooFew);
        }
        if self.inputs.is_empty() {
            return Err(CompareError::NoInputs);
        }
        let started = Instant::now();
        self.check_results()?;
        attach_thread();
        let passes = self.passes(started);
        let (blocks, interrupted) = self.blocks(passes, started);
        if blocks.len() < LEAST_BLOCKS {
            return Err(CompareError::Limit {
                blocks: blocks.len(),
                interrupted,
            });
        }
        let names = self.candidates.into_iter().map(|(name, _)| name).collect();
        let calls = passes * self.inputs.len();
        Ok(Comparison {
            name: self.name,
            interrupted,
            ..Comparison::of(names, &blocks, calls, self.least_effect)
        })
    }

    fn check_results(&mut self) -> Result<(), CompareError> {
        let Some(same) = self.same else { return Ok(()) };
        for (index, input) in self.inputs.iter().enumerate() {
            let candidates = self.candidates.iter_mut();
            let mut results = candidates.map(|(name, candidate)| (name, candidate(input)));
            if let Some((first, expected)) = results.next()
                && let Some((other, _)) = results.find(|(_, result)| !same(&expected, result))
            {
                return Err(CompareError::Differ {
                    first: first.clone(),
                    other: other.clone(),
                    input: index,
                });
            }
        }
        Ok(())
    }

    /// How many passes over the inputs make a sample of the fastest candidate long enough.
    fn passes(&mut self, started: Instant) -> usize {
        let enough = sample_ticks(resolution::ticks(), self.least_effect) as i64;
        let (inputs, limit) = (self.inputs, self.time_limit / 4);
        let mut is_too_short = |passes| {
            let mut candidates = self.candidates.iter_mut().map(|(_, candidate)| candidate);
            candidates.any(|it| (0..3).any(|_| it.sample(inputs, passes) < enough))
        };
        let mut passes = 1;
        while passes < MOST_PASSES && started.elapsed() < limit && is_too_short(passes) {
            passes *= 2;
        }
        passes
    }

    /// Makes blocks, and returns how many others were interrupted. In each, every candidate and an empty candidate have one sample, in a new
    /// random order.
    fn blocks(&mut self, passes: usize, started: Instant) -> (Vec<Block>, usize) {
        let mut random = Random::new(0x2545_f491_4f6c_dd1d);
        let mut order: Vec<usize> = (0..=self.candidates.len()).collect();
        let mut nothing = |_: &I| ();
        let (mut blocks, mut interrupted, mut warm_up) = (Vec::new(), 0, WARM_UP_BLOCKS);
        while blocks.len() < MOST_BLOCKS && started.elapsed() < self.time_limit {
            random.shuffle(&mut order);
            let mut block = vec![0; order.len()];
            let done = uninterrupted(|| {
                for &index in &order {
                    random.wait();
                    block[index] = match self.candidates.get_mut(index) {
                        Some((_, candidate)) => candidate.sample(self.inputs, passes),
                        None => Candidate::<I, ()>::sample(&mut nothing, self.inputs, passes),
                    };
                }
            });
            match done {
                None => interrupted += 1,
                Some(()) if warm_up > 0 => warm_up -= 1,
                Some(()) => blocks.push(block),
            }
        }
        (blocks, interrupted)
    }
}

/// How long a sample is at least, with a counter of this step.
fn sample_ticks(step: Ticks, least_effect: f64) -> f64 {
    let steps = (1.0 / least_effect).clamp(*SAMPLE_STEPS.start(), *SAMPLE_STEPS.end());
    SAMPLE_TICKS.max(steps * step as f64)
}

/// One of the compared implementations, of any type.
trait Candidate<I, R>: FnMut(&I) -> R {
    /// Makes `passes` passes over all inputs, and returns the ticks. No call begins before the one before it has ended.
    fn sample(&mut self, inputs: &[I], passes: usize) -> i64;
}

impl<F: FnMut(&I) -> R, I, R> Candidate<I, R> for F {
    #[inline(never)]
    fn sample(&mut self, inputs: &[I], passes: usize) -> i64 {
        let start = Lfence::start();
        for _ in 0..passes {
            for input in inputs {
                isolate();
                escape(input);
                escape(self);
                escape(&self(input));
            }
        }
        elapsed(start, Lfence::stop())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn step_of_the_counter_is_no_effect() {
        for least_effect in [0.02, 0.001] {
            assert!(26.0 / sample_ticks(26, least_effect) <= least_effect);
        }
        assert_eq!(sample_ticks(1, 0.001), SAMPLE_TICKS);
        assert_eq!(sample_ticks(26, 0.0), 26.0 * SAMPLE_STEPS.end());
    }
}
