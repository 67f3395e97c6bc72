//! The work that is measured: how a batch of calls is made between two reads of the counter.

use std::iter;
use std::mem::needs_drop;

use crate::tsc::{FencePolicy, elapsed, escape};

/// Work that can be called many times between two reads.
pub(super) trait Work {
    /// Prepares a sample of `batch` calls. This is not timed.
    fn prepare(&mut self, batch: usize);

    /// Makes the calls, and returns the ticks from before the first to after the last.
    fn sample<P: FencePolicy>(&mut self, isolated: bool) -> i64;

    /// Both.
    fn prepared_sample<P: FencePolicy>(&mut self, batch: usize, isolated: bool) -> i64 {
        self.prepare(batch);
        self.sample::<P>(isolated)
    }
}

/// Waits for all earlier instructions to complete, before later ones begin.
#[inline(always)]
pub(crate) fn isolate() {
    #[cfg(all(any(target_arch = "x86_64", target_arch = "x86"), not(miri)))]
    // SAFETY: the instruction only orders others. It is part of SSE2, which the fenced reads need, too.
    unsafe {
        core::arch::asm!("lfence", options(nostack, preserves_flags));
    }
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    // SAFETY: the instruction only orders others.
    unsafe {
        core::arch::asm!("isb", options(nostack, preserves_flags));
    }
}

/// Calls of a closure with inputs that are made before each sample. Inputs without a size cause no memory traffic.
pub(super) struct Calls<S, F, I, R> {
    setup: S,
    work: F,
    inputs: Vec<I>,
    /// The results are kept here if they must be dropped, so that they are dropped after the sample.
    results: Vec<R>,
}

impl<S: FnMut() -> I, F: FnMut(&mut I) -> R, I, R> Calls<S, F, I, R> {
    pub(super) fn new(setup: S, work: F) -> Self {
        Self {
            setup,
            work,
            inputs: Vec::new(),
            results: Vec::new(),
        }
    }
}

impl<S: FnMut() -> I, F: FnMut(&mut I) -> R, I, R> Work for Calls<S, F, I, R> {
    fn prepare(&mut self, batch: usize) {
        self.results.clear();
        if needs_drop::<R>() {
            self.results.reserve(batch);
        }
        self.inputs.clear();
        let inputs = iter::repeat_with(&mut self.setup).take(batch);
        self.inputs.extend(inputs);
    }

    #[inline(never)]
    fn sample<P: FencePolicy>(&mut self, isolated: bool) -> i64 {
        let start = P::start();
        for input in &mut self.inputs {
            if isolated {
                isolate();
            }
            // Makes the compiler assume that the captured values may change with every call.
            escape(&self.work);
            escape(input);
            let result = (self.work)(input);
            escape(&result);
            if needs_drop::<R>() && self.results.len() < self.results.capacity() {
                self.results.push(result);
            }
        }
        elapsed(start, P::stop())
    }
}
