//! The work that is measured: how a batch of calls is made between two reads of the counter.

use std::mem::needs_drop;

use crate::tsc::{FencePolicy, elapsed, escape};

/// Work that can be called many times between two reads.
pub(crate) trait Work {
    /// Prepares a sample. This is not timed.
    fn prepare(&mut self, batch: usize);

    /// Makes `batch` calls, and returns the ticks from before the first to after the last.
    fn sample<P: FencePolicy>(&mut self, batch: usize, isolated: bool) -> i64;

    /// Both.
    fn prepared_sample<P: FencePolicy>(&mut self, batch: usize, isolated: bool) -> i64 {
        self.prepare(batch);
        self.sample::<P>(batch, isolated)
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

/// Calls of a closure without arguments.
pub(crate) struct Calls<F, R> {
    work: F,
    /// The results are kept here if they must be dropped, so that they are dropped after the sample.
    results: Vec<R>,
}

impl<F: FnMut() -> R, R> Calls<F, R> {
    pub(crate) fn new(work: F) -> Self {
        Self {
            work,
            results: Vec::new(),
        }
    }

    #[inline(always)]
    fn call(&mut self) {
        // Makes the compiler assume that the captured values may change with every call.
        escape(&self.work);
        let result = (self.work)();
        keep(&mut self.results, result);
    }
}

impl<F: FnMut() -> R, R> Work for Calls<F, R> {
    fn prepare(&mut self, batch: usize) {
        make_room(&mut self.results, batch);
    }

    #[inline(never)]
    fn sample<P: FencePolicy>(&mut self, batch: usize, isolated: bool) -> i64 {
        let start = P::start();
        if isolated {
            for _ in 0..batch {
                isolate();
                self.call();
            }
        } else {
            for _ in 0..batch {
                self.call();
            }
        }
        elapsed(start, P::stop())
    }
}

/// Calls of a closure with inputs that are created before each sample.
pub(crate) struct CallsWith<S, F, I, R> {
    setup: S,
    work: F,
    inputs: Vec<I>,
    results: Vec<R>,
}

impl<S: FnMut() -> I, F: FnMut(&mut I) -> R, I, R> CallsWith<S, F, I, R> {
    pub(crate) fn new(setup: S, work: F) -> Self {
        Self {
            setup,
            work,
            inputs: Vec::new(),
            results: Vec::new(),
        }
    }
}

impl<S: FnMut() -> I, F: FnMut(&mut I) -> R, I, R> Work for CallsWith<S, F, I, R> {
    fn prepare(&mut self, batch: usize) {
        make_room(&mut self.results, batch);
        self.inputs.clear();
        self.inputs.extend((0..batch).map(|_| (self.setup)()));
    }

    #[inline(never)]
    fn sample<P: FencePolicy>(&mut self, batch: usize, isolated: bool) -> i64 {
        let start = P::start();
        for input in self.inputs.iter_mut().take(batch) {
            if isolated {
                isolate();
            }
            escape(input);
            let result = (self.work)(input);
            keep(&mut self.results, result);
        }
        elapsed(start, P::stop())
    }
}

fn make_room<R>(results: &mut Vec<R>, batch: usize) {
    results.clear();
    if needs_drop::<R>() {
        results.reserve(batch);
    }
}

#[inline(always)]
fn keep<R>(results: &mut Vec<R>, result: R) {
    escape(&result);
    if needs_drop::<R>() && results.len() < results.capacity() {
        results.push(result);
    }
}
