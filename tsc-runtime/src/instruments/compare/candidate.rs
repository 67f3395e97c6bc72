//! One of the implementations that are compared, whatever its type.

use crate::instruments::measure::isolate;
use crate::tsc::{FencePolicy, Lfence, elapsed, escape};

pub(super) trait Candidate<I, R> {
    fn call(&mut self, input: &I) -> R;

    /// Ticks for `passes` over all inputs.
    fn sample(&mut self, inputs: &[I], passes: usize, isolated: bool) -> i64;
}

impl<F: FnMut(&I) -> R, I, R> Candidate<I, R> for F {
    fn call(&mut self, input: &I) -> R {
        self(input)
    }

    #[inline(never)]
    fn sample(&mut self, inputs: &[I], passes: usize, isolated: bool) -> i64 {
        let start = Lfence::start();
        for _ in 0..passes {
            for input in inputs {
                if isolated {
                    isolate();
                }
                escape(input);
                escape(self);
                escape(&self(input));
            }
        }
        elapsed(start, Lfence::stop())
    }
}
