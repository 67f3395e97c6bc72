//! One of the compared implementations, of any type.

use crate::instruments::measure::isolate;
use crate::tsc::{FencePolicy, Lfence, elapsed, escape};

pub(super) trait Candidate<I, R> {
    fn call(&mut self, input: &I) -> R;

    /// Makes `passes` passes over all inputs, and returns the ticks. No call begins before the one before it has ended.
    fn sample(&mut self, inputs: &[I], passes: usize) -> i64;
}

impl<F: FnMut(&I) -> R, I, R> Candidate<I, R> for F {
    fn call(&mut self, input: &I) -> R {
        self(input)
    }

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
