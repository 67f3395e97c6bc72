//! The hot path: what one annotated and timed call does. What a usual call does is here from top to bottom, and there is no more to it: its slot
//! has what the start leaves for the stop, its thread's table has its record, and that buffers the sample. Of the other files, `unusual`, `stop`
//! and `slowest` are for unusual calls, `empty_calls` is for the calibration, and the rest is for what is no timed call, or more than one.
//!
//! A call consists of `prepare`, the read at the start, the function's body, the read at the stop, and `finish`. The two reads are inlined
//! into the annotated function, because they are what measures. `prepare` and `finish` run outside the fences and are not inlined, which
//! keeps the annotated function small. Neither of them locks, allocates, formats, or deals with units of time.
//!
//! Both are `extern "C"`, so that the annotated function needs no landing pad for them. Both handle unusual cases with a call in tail
//! position, so that the usual case needs no stack frame.

#![cfg(measuring)]

use core::marker::PhantomData;

use crate::events::are_counted;
use crate::record::Record;
use crate::record::callsite::Callsite;
use crate::record::slowest::LEAST;
use crate::record::thread;
use crate::tsc::{FencePolicy, Ticks};

pub(crate) mod empty_calls;
mod events;
pub(crate) mod future;
pub(crate) mod gclk;
pub(crate) mod light;
pub(crate) mod per_type;
pub(crate) mod polls;
pub(crate) mod recording;
pub(crate) mod section;
mod slot;
mod slowest;
mod stop;
pub(crate) mod units;
mod unusual;

pub use slot::Slot;
use slot::Started;
use unusual::{finish_untimed, finish_unusual, prepare_rearmed, prepare_unusual};

/// Marks the branch that calls it as unlikely: `core::hint::cold_path`, which needs Rust 1.95.
#[cold]
#[inline]
const fn cold_path() {}

/// The measurement of one running call or poll. It stops when it is dropped, whichever way the function is left.
///
/// Not `Send`, because the saved values belong to this thread.
#[derive(Debug)]
#[must_use]
pub struct Guard<'a, P: FencePolicy, S: Sink> {
    slot: &'a mut Slot,
    sink: S,
    pair: PhantomData<(P, *const ())>,
}

/// What records a measurement when it has stopped.
pub trait Sink {
    /// Records it, if the counter was read at its start, and at `stop`.
    fn finish(&mut self, started: &Started, stop: Ticks);

    /// Records it, if anything else measures it.
    fn finish_untimed(&mut self, slot: &Slot);
}

impl<'a, P: FencePolicy, S: Sink> Guard<'a, P, S> {
    /// Starts to measure a call or a poll.
    #[inline(always)]
    pub(crate) fn begin(callsite: &'static Callsite, slot: &'a mut Slot, sink: S) -> Self {
        // `prepare` returns whether to read the counter, because loading the record that it has just stored would take longer.
        if prepare(callsite, slot) {
            if are_counted() {
                events::read_at_start(slot);
            }
            slot.set_start(P::start());
        }
        Self {
            slot,
            sink,
            pair: PhantomData,
        }
    }
}

impl<P: FencePolicy, S: Sink> Drop for Guard<'_, P, S> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: `begin` has written the slot.
        if let Some(started) = unsafe { self.slot.timed() } {
            let stop = P::stop();
            if are_counted() {
                events::read_at_stop(started);
            }
            self.sink.finish(started, stop);
        } else {
            cold_path();
            self.sink.finish_untimed(self.slot);
        }
    }
}

/// The measurement of a call.
pub type Probe<'a, P> = Guard<'a, P, Call>;

/// Records a call.
#[derive(Debug)]
pub struct Call;

impl<'a, P: FencePolicy> Probe<'a, P> {
    /// Starts to measure a call.
    #[inline(always)]
    pub fn start(callsite: &'static Callsite, slot: &'a mut Slot) -> Self {
        Self::begin(callsite, slot, Call)
    }
}

impl Sink for Call {
    #[inline(always)]
    fn finish(&mut self, started: &Started, stop: Ticks) {
        finish(started, stop);
    }

    #[inline(always)]
    fn finish_untimed(&mut self, slot: &Slot) {
        finish_untimed(slot);
    }
}

/// Finds this thread's record and saves what the stop needs. Returns whether the start is to be read and written to the slot.
///
/// The fence that follows waits until all of this is done. So the loads are arranged to depend on each other as little as possible.
#[inline(never)]
extern "C" fn prepare(callsite: &'static Callsite, slot: &mut Slot) -> bool {
    let thread = thread::this();
    let Some((entry, record)) = thread.find_usual(callsite.position()) else {
        return prepare_unusual(callsite, thread, slot);
    };
    entry.enter();
    slot.set_timed(record, thread);
    if !thread.detector.is_armed() {
        return prepare_rearmed(thread, slot);
    }
    true
}

/// Records the call. This function itself handles the usual short call, which is neither interrupted nor contains other probes.
#[inline(never)]
extern "C" fn finish(started: &Started, stop: Ticks) {
    let start = started.start();
    let raw = stop.wrapping_sub(start);
    if raw >= LEAST {
        return finish_longer(started, raw);
    }
    if !started.thread().detector.is_clean_since(start) {
        return finish_unusual(started, raw);
    }
    finish_clean(started, raw);
}

/// Records a call that is not short: one that a panic ends, too.
#[inline(never)]
extern "C" fn finish_longer(started: &Started, raw: u64) {
    started.note_panic();
    // SAFETY: `finish` is called with timed calls only.
    let record = unsafe { started.timed_record() };
    if record.is_notable(raw) || !started.thread().detector.is_clean_since(started.start()) {
        return finish_unusual(started, raw);
    }
    finish_clean(started, raw);
}

/// Records a call that was neither interrupted nor long.
#[inline(always)]
fn finish_clean(started: &Started, raw: u64) {
    // SAFETY: `finish` is called with timed calls only.
    let (record, thread) = (unsafe { started.timed_record() }, started.thread());
    let before = started.sums();
    let overhead = thread.overhead.get();
    if overhead != before.overhead {
        return finish_nesting(started, raw, record);
    }
    thread
        .overhead
        .set(overhead.wrapping_add(record.cost.get()));
    thread.work.set(
        before
            .work
            .wrapping_add(raw)
            .wrapping_sub(record.visible.get()),
    );
    record.leave(raw, 0);
}

/// Records a call that contains other probes. Its caller has loaded the record.
#[inline(never)]
extern "C" fn finish_nesting(started: &Started, raw: u64, record: &Record) {
    let (thread, before) = (started.thread(), started.sums());
    // SAFETY: `finish_clean` has found them to be different.
    unsafe { core::hint::assert_unchecked(thread.overhead.get() != before.overhead) };
    record.leave_nesting(thread, before, raw);
}
