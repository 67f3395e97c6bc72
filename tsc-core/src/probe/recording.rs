//! `record = …`: a value of the user's beside each slow call.
//!
//! The expression is a closure that the probe holds. It is called after the stop, and only if the call was kept. What it does is overhead for
//! the calls around it, like the probe; calls of annotated functions in it have their own rows, but no values.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::unusual::finish_untimed;
use super::{Guard, Sink, Slot, Started, finish};
use crate::process::Errno;
use crate::record::callsite::Callsite;
use crate::record::thread::{self, Thread};
use crate::recorded::Value;
use crate::tsc::{FencePolicy, Ticks, clock, elapsed};
use crate::{hooks, registry};

/// A [`Probe`](super::Probe) whose call has a value.
pub type RecordingProbe<'a, P, F> = Guard<'a, P, Recording<F>>;

/// Records a call and its value.
#[derive(Debug)]
pub struct Recording<F: Fn() -> Option<Value>>(F);

impl<'a, P: FencePolicy, F: Fn() -> Option<Value>> RecordingProbe<'a, P, F> {
    /// Starts to measure a call.
    #[inline(always)]
    pub fn start(callsite: &'static Callsite, slot: &'a mut Slot, value: F) -> Self {
        Self::begin(callsite, slot, Recording(value))
    }
}

impl<F: Fn() -> Option<Value>> Sink for Recording<F> {
    #[inline(always)]
    fn finish(&mut self, started: &Started, stop: Ticks) {
        finish(started, stop);
        record_if_kept(started, &self.0);
    }

    #[inline(always)]
    fn finish_untimed(&mut self, slot: &Slot) {
        // SAFETY: the start has written the slot, and there is no timed call. After the end of the thread, the record is gone after the stop.
        let lives = unsafe { slot.untimed() }.filter(|(of, _)| !of.thread().has_ended());
        finish_untimed(slot);
        if let Some((started, _)) = lives {
            record_if_kept(started, &self.0);
        }
    }
}

/// Adds the value to the call that has stopped, if that is among the slowest.
#[inline]
fn record_if_kept(started: &Started, value: &dyn Fn() -> Option<Value>) {
    let kept = &started.thread().kept;
    if let Some(end) = kept.last_is(started.record().id, started.start()) {
        record(started, end, value);
    }
}

#[cold]
#[inline(never)]
fn record(started: &Started, end: Ticks, value: &dyn Fn() -> Option<Value>) {
    let (record, begin) = (started.record(), started.start());
    if let Some(value) = evaluate(started.thread(), value) {
        // Calls in the expression may have replaced this one. Then there is no place for its value.
        record.complete_slow(begin, end, value);
    }
}

/// The value of an expression. `None` if it panics, or if it belongs to a call that another expression has made.
fn evaluate(thread: &Thread, value: &dyn Fn() -> Option<Value>) -> Option<Value> {
    if thread.kept.evaluating.replace(true) {
        return None;
    }
    let _errno = Errno::save();
    let value = registry::as_overhead(thread, || catch_unwind(AssertUnwindSafe(value)));
    thread.kept.evaluating.set(false);
    value.ok().flatten()
}

/// The value of an async function's call. It lies in the future's body, so that the expression may use the parameters, and is dropped at the
/// end of the last poll, which is before the call is complete.
#[derive(Debug)]
#[must_use]
pub struct PolledValue<F: Fn() -> Option<Value>> {
    callsite: &'static Callsite,
    since: Ticks,
    value: F,
}

impl<F: Fn() -> Option<Value>> PolledValue<F> {
    /// Called in the first poll.
    pub fn new(callsite: &'static Callsite, value: F) -> Self {
        Self {
            callsite,
            since: clock::now(),
            value,
        }
    }
}

impl<F: Fn() -> Option<Value>> Drop for PolledValue<F> {
    /// A call that is longer by now than one that is kept will be kept. If the future is dropped outside of a poll, the call does not complete.
    fn drop(&mut self) {
        let thread = thread::this();
        let ticks = elapsed(self.since, clock::now());
        registry::with_record(self.callsite, hooks::install, |record| {
            if record.is_running() {
                let is_slow = record.is_slow(ticks);
                let value = is_slow.then(|| evaluate(thread, &self.value)).flatten();
                // For the completion of the call, which follows.
                thread.kept.value.set(value.map(|value| (record.id, value)));
            }
        });
    }
}
