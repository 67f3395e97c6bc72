//! The hot path: what one annotated call does. Read it from top to bottom; there is no more to it.
//!
//! A call is `prepare`, the start's read, the function's body, the stop's read, `finish`. The reads are inlined into the
//! annotated function, since they are what measures; `prepare` and `finish` run outside the fences and are shared, which keeps
//! an annotated function small. Neither locks, allocates, formats or knows of time units.
//!
//! Both are `extern "C"`, so that the annotated function need not provide for their unwinding, and leave for what is unusual by
//! a call in tail position, so that what is usual needs no stack frame.

#![cfg(feature = "on")]

use core::marker::PhantomData;
use core::mem::MaybeUninit;

#[cfg(all(feature = "pmu", target_os = "linux", not(miri)))]
use crate::events;
use crate::record::callsite::Callsite;
use crate::record::thread::{self, Thread};
use crate::record::{Record, is_long};
use crate::tsc::{FencePolicy, Ticks, elapsed};

mod empty_calls;
pub(crate) mod future;
pub(crate) mod gclk;
mod off_cpu;
pub(crate) mod per_type;
pub(crate) mod polls;
mod sampled;
pub(crate) mod section;
mod tree;
pub(crate) mod units;
mod unusual;

use sampled::{finish_sampled, prepare_sampled};
use unusual::{finish_unusual, prepare_first, prepare_rearmed};

/// Room on the annotated function's stack for what a stop must know of its start. A probe only borrows it: if it held it, every
/// start would copy it once.
#[derive(Debug)]
pub struct Slot(MaybeUninit<Started>);

impl Slot {
    /// Costs nothing: it is written by [`Probe::start`].
    #[inline(always)]
    #[must_use]
    #[allow(clippy::new_without_default)] // made by expansions alone
    pub const fn new() -> Self {
        Self(MaybeUninit::uninit())
    }

    /// The start of a call or of a poll.
    #[inline(always)]
    fn start<P: FencePolicy>(&mut self, callsite: &'static Callsite) {
        #[cfg(all(feature = "pmu", target_os = "linux", not(miri)))]
        events::before_start(callsite);
        let started = self.0.as_mut_ptr();
        // SAFETY: `started` may be written, since it is borrowed mutably, and `prepare` writes what `finish` reads.
        unsafe {
            // Asked by a flag: to read the record back from where it was just written takes longer.
            if prepare(callsite, started) {
                (*started).start = P::start();
            }
        }
    }

    /// The stop: what was written at the start, and the time now if the counter may be read. `None` if the call is not timed.
    ///
    /// # Safety
    ///
    /// [`start`](Self::start) was called.
    #[inline(always)]
    unsafe fn stop<P: FencePolicy>(&self) -> Option<(*const Started, Ticks)> {
        let started = self.0.as_ptr();
        // SAFETY: the caller's; `prepare` has written `record`.
        let stopped = if unsafe { (*started).record }.addr() > ELSEWHERE.addr() {
            Some((started, P::stop()))
        } else {
            cold_path();
            // SAFETY: as above. Read again, so that the usual case need not keep it.
            let record = unsafe { (&raw const (*started).record).read_volatile() };
            (record == ELSEWHERE).then_some((started, 0))
        };
        #[cfg(all(feature = "pmu", target_os = "linux", not(miri)))]
        events::after_stop();
        stopped
    }
}

/// Marks the branch that calls it as unlikely: `core::hint::cold_path`, which needs Rust 1.95.
#[cold]
#[inline]
const fn cold_path() {}

/// In the place of a record: nothing measures the call.
const NOTHING: *const Record = core::ptr::null();
/// In the place of a record: the call was counted, and is not timed.
const COUNTED: *const Record = core::ptr::without_provenance(1);
/// In the place of a record: the call is measured without the inlined reads, as its [`Unmeasured`] says.
const ELSEWHERE: *const Record = core::ptr::without_provenance(2);

/// The live measurement of one call: it stops when it is dropped, on every way out of the function.
///
/// Not `Send`: what it has saved is this thread's.
#[derive(Debug)]
#[must_use]
pub struct Probe<'a, P: FencePolicy> {
    slot: &'a mut Slot,
    pair: PhantomData<(P, *const ())>,
}

/// What a stop must know of its start.
#[derive(Debug)]
#[repr(C)]
struct Started {
    /// What measures the call, or [`NOTHING`], [`COUNTED`], [`ELSEWHERE`].
    record: *const Record,
    /// This thread's running sums at the start. Apart from each other, here and in [`Thread`]: were they neighbours, they would be
    /// copied by one load of 16 bytes, and a load that spans two recent stores stalls. The overhead of a sampled call is marked.
    overhead: u64,
    start: Ticks,
    work: u64,
    /// Saved, because finding it is a function call in position-independent code.
    thread: *const Thread,
    /// Written and read only where `record` is [`ELSEWHERE`].
    unmeasured: Unmeasured,
    /// The node of the call tree that the call was made from; written and read only where trees are recorded.
    outer: u32,
    /// Written and read only where `overhead` is marked.
    sampled: sampled::Start,
}

/// What is done with a call that the cold path starts.
#[derive(Clone, Copy, Debug)]
enum Unmeasured {
    /// The counter may not be read: the clock in its place measures.
    OsClock(*const Record),
    /// The thread is ending: a record for this call alone takes it.
    Orphan(*const Record),
    /// It is counted and not timed, and has a place in the call tree.
    Counted(*const Record),
}

impl<'a, P: FencePolicy> Probe<'a, P> {
    /// Starts to measure a call.
    #[inline(always)]
    pub fn start(callsite: &'static Callsite, slot: &'a mut Slot) -> Self {
        slot.start::<P>(callsite);
        Self {
            slot,
            pair: PhantomData,
        }
    }
}

impl<P: FencePolicy> Drop for Probe<'_, P> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: a probe exists only with its slot written by `start`.
        unsafe {
            if let Some((started, stop)) = self.slot.stop::<P>() {
                finish(started, stop);
            }
        }
    }
}

/// Finds this thread's record and saves what the stop will need. Whether the start is to be read: if not, `record` says why.
///
/// What follows is a fence, which waits for all of this: so it is arranged for few loads one after the other.
///
/// # Safety
///
/// `started` may be written. Afterwards all of it is but `start` if true is returned and, if not, `unmeasured`.
#[inline(never)]
unsafe extern "C" fn prepare(callsite: &'static Callsite, started: *mut Started) -> bool {
    let thread = thread::this();
    let position = callsite.position();
    if !thread.has(position) {
        // SAFETY: the caller's.
        return unsafe { prepare_first(callsite, started) };
    }
    // SAFETY: just asked.
    let entry = unsafe { thread.entry(position) };
    if !entry.times_every_call() {
        // SAFETY: the caller's.
        return unsafe { prepare_sampled(callsite, entry, thread, started) };
    }
    // SAFETY: an entry that times every call has a record, which lives as long.
    let record = unsafe { &*entry.record() };
    entry.enter();
    // SAFETY: the caller's.
    unsafe { start_with(record, thread, started) };
    if !thread.detector.is_armed() {
        // SAFETY: the caller's.
        return unsafe { prepare_rearmed(thread, started) };
    }
    true
}

/// # Safety
///
/// As for [`prepare`].
#[inline(always)]
unsafe fn start_with(record: &Record, thread: &Thread, started: *mut Started) {
    // SAFETY: the caller's. Field by field, for the rest is written later or not at all.
    unsafe {
        (&raw mut (*started).record).write(record);
        (&raw mut (*started).overhead).write(thread.overhead.get());
        (&raw mut (*started).work).write(thread.work.get());
        (&raw mut (*started).thread).write(thread);
    }
}

/// Records the call. What most calls are is recorded right here: neither interrupted nor long, and without probes in them.
///
/// # Safety
///
/// `started` was written by [`prepare`] on this thread, and its `start` if its `record` is one; else that is [`ELSEWHERE`] and `stop` 0.
#[inline(never)]
unsafe extern "C" fn finish(started: *const Started, stop: Ticks) {
    // SAFETY: the caller's.
    let start = unsafe { (*started).start };
    let raw = elapsed(start, stop).cast_unsigned();
    // SAFETY: the caller's; what is not measured is long, and of all else record and thread are there and outlive the activation.
    if is_long(raw) || unsafe { !(*(*started).thread).detector.is_clean_since(start) } {
        // SAFETY: the caller's.
        return unsafe { finish_unusual(started, stop) };
    }
    // SAFETY: as above.
    let (record, thread) = unsafe { (&*(*started).record, &*(*started).thread) };
    // SAFETY: as above.
    let (overhead_then, work_then) = unsafe { ((*started).overhead, (*started).work) };
    let overhead = thread.overhead.get();
    if overhead != overhead_then {
        // SAFETY: as above.
        return unsafe { finish_nesting(started, raw) };
    }
    thread
        .overhead
        .set(overhead.wrapping_add(record.cost.get()));
    thread.work.set(
        work_then
            .wrapping_add(raw)
            .wrapping_sub(record.visible.get()),
    );
    record.leave(raw, 0);
}

/// A call that had other probes in it, or is sampled.
///
/// # Safety
///
/// As for [`finish`], and the `record` is one.
#[inline(never)]
unsafe extern "C" fn finish_nesting(started: *const Started, raw: u64) {
    // SAFETY: the caller's.
    unsafe {
        // Volatile, for compared where it lies it needs no register.
        if sampled::is_marked((&raw const (*started).overhead).read_volatile()) {
            return finish_sampled(started, raw);
        }
        // SAFETY: `finish` has seen that they differ.
        core::hint::assert_unchecked((*(*started).thread).overhead.get() != (*started).overhead);
        let record = &*(*started).record;
        let (gross, nested) = settle(record, &*(*started).thread, started, raw, 0);
        record.leave(gross, nested);
    }
}

/// Carries this thread's running sums on; returns the call's gross ticks and what nested probes cost it. `off` ticks of the overhead
/// were none, but time off the CPU.
///
/// # Safety
///
/// As for [`finish`], and the `record` is one.
#[inline(always)]
unsafe fn settle(
    record: &Record,
    thread: &Thread,
    started: *const Started,
    raw: u64,
    off: i64,
) -> (u64, u64) {
    // SAFETY: the caller's.
    let (overhead_then, work_then) = unsafe { ((*started).overhead, (*started).work) };
    let mut overhead = thread.overhead.get();
    let added = overhead.wrapping_sub(overhead_then);
    let nested = added.wrapping_sub(off.cast_unsigned());
    overhead = overhead.wrapping_add(record.cost.get());
    if added != 0 {
        if nested != 0 {
            overhead = overhead.wrapping_add(record.nesting.get());
        }
        record.add_nested(nested, thread.work.get().wrapping_sub(work_then));
    }
    thread.overhead.set(overhead);
    let gross = raw.wrapping_sub(added);
    let net = gross.wrapping_sub(record.visible.get());
    thread.work.set(work_then.wrapping_add(net));
    (gross, nested)
}
