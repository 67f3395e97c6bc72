//! The hot path: what one annotated call does. Read it from top to bottom; there is no more to it.
//!
//! A call is `prepare`, the start's read, the function's body, the stop's read, `finish`. The reads are inlined into the
//! annotated function, since they are what measures; `prepare` and `finish` run outside the fences and are shared, which keeps
//! an annotated function small. Neither locks, formats or knows of time units, and neither allocates but where
//! [`buckets`](crate::buckets) says so.
//!
//! Both are `extern "C"`, so that the annotated function need not provide for their unwinding, and leave for what is unusual by
//! a call in tail position, so that what is usual needs no stack frame.

use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ptr;

use crate::callsite::Callsite;
use crate::clock;
use crate::interruption::Verdict;
use crate::record::{Record, Unusual};
use crate::registry::{self, Found};
use crate::thread::{self, Thread};
use crate::tsc::{Pair, Ticks, elapsed, is_absurd};

pub(crate) mod polls;

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
    fn start<P: Pair>(&mut self, callsite: &'static Callsite) {
        let started = self.0.as_mut_ptr();
        // SAFETY: `started` may be written, since it is borrowed mutably, and `prepare` writes what `finish` reads.
        unsafe {
            prepare(callsite, started);
            if !(*started).record.is_null() {
                (*started).start = P::start();
            }
        }
    }

    /// The stop: what was written at the start, and the time now if the counter may be read.
    ///
    /// # Safety
    ///
    /// [`start`](Self::start) was called.
    #[inline(always)]
    unsafe fn stop<P: Pair>(&self) -> (*const Started, Ticks) {
        let started = self.0.as_ptr();
        // SAFETY: the caller's; `prepare` has written `record`.
        let is_measured = unsafe { !(*started).record.is_null() };
        (started, if is_measured { P::stop() } else { 0 })
    }
}

/// The live measurement of one call: it stops when it is dropped, on every way out of the function.
///
/// Not `Send`: what it has saved is this thread's.
#[derive(Debug)]
#[must_use]
pub struct Probe<'a, P: Pair> {
    slot: &'a mut Slot,
    pair: PhantomData<(P, *const ())>,
}

/// What a stop must know of its start.
#[derive(Debug)]
#[repr(C)]
struct Started {
    /// What measures the call; null if nothing does, or the slow clock.
    record: *const Record,
    /// This thread's running sums at the start. Apart from each other, here and in [`Thread`]: were they neighbours, they would be
    /// copied by one load of 16 bytes, and a load that spans two recent stores stalls.
    overhead: u64,
    start: Ticks,
    work: u64,
    /// Saved, because finding it is a function call in position-independent code.
    thread: *const Thread,
    /// Written and read only where `record` is null.
    unmeasured: Unmeasured,
}

/// What is done with a call that the cold path starts.
#[derive(Clone, Copy, Debug)]
enum Unmeasured {
    /// Nothing.
    Ignored,
    /// The counter may not be read: the clock in its place measures.
    Slow(*const Record),
    /// The thread is ending: a record for this call alone takes it.
    Late(*const Record),
}

impl<'a, P: Pair> Probe<'a, P> {
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

impl<P: Pair> Drop for Probe<'_, P> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: a probe exists only with its slot written by `start`.
        unsafe {
            let (started, stop) = self.slot.stop::<P>();
            finish(started, stop);
        }
    }
}

/// Finds this thread's record and saves what the stop will need.
///
/// # Safety
///
/// `started` may be written. Afterwards all of it is but `start` and, if `record` is not null, `unmeasured`.
#[inline(never)]
unsafe extern "C" fn prepare(callsite: &'static Callsite, started: *mut Started) {
    let thread = thread::this();
    let Some(record) = thread.record(callsite.id()) else {
        // SAFETY: the caller's.
        return unsafe { prepare_first(callsite, started) };
    };
    // SAFETY: the caller's.
    unsafe { start_with(record, thread, started) };
    if !thread.detector.is_armed() {
        thread.detector.arm();
    }
}

/// # Safety
///
/// As for [`prepare`].
#[inline(always)]
unsafe fn start_with(record: &Record, thread: &Thread, started: *mut Started) {
    record.enter();
    // SAFETY: the caller's. Field by field, for the rest is written later or not at all.
    unsafe {
        (&raw mut (*started).record).write(record);
        (&raw mut (*started).overhead).write(thread.overhead.get());
        (&raw mut (*started).work).write(thread.work.get());
        (&raw mut (*started).thread).write(thread);
    }
}

/// Records the call.
///
/// # Safety
///
/// `started` was written by [`prepare`] on this thread, and its `start` if its `record` is not null.
#[inline(never)]
unsafe extern "C" fn finish(started: *const Started, stop: Ticks) {
    // SAFETY: the caller's; null gives None, and a record outlives the activations on its thread.
    let Some(record) = (unsafe { (*started).record.as_ref() }) else {
        // SAFETY: the caller's.
        return unsafe { finish_unmeasured(started) };
    };
    // SAFETY: the caller's.
    let (thread, start) = unsafe { (&*(*started).thread, (*started).start) };
    let raw = elapsed(start, stop);
    if is_absurd(raw) || !thread.detector.is_clean_since(start) {
        // SAFETY: the caller's.
        return unsafe { finish_unusual(started, stop) };
    }
    // SAFETY: the caller's.
    let (gross, nested) = unsafe { settle(record, thread, started, raw) };
    record.leave(gross, nested);
}

/// Carries this thread's running sums on; returns the call's gross ticks and what nested probes cost it.
///
/// # Safety
///
/// As for [`finish`], and the `record` is not null.
#[inline(always)]
unsafe fn settle(
    record: &Record,
    thread: &Thread,
    started: *const Started,
    raw: i64,
) -> (u64, u64) {
    // SAFETY: the caller's.
    let (overhead_then, work_then) = unsafe { ((*started).overhead, (*started).work) };
    let mut gross = raw.cast_unsigned();
    let overhead = thread.overhead.get();
    thread
        .overhead
        .set(overhead.wrapping_add(record.cost.get()));
    let nested = overhead.wrapping_sub(overhead_then);
    if nested != 0 {
        gross = gross.wrapping_sub(nested);
        thread
            .overhead
            .set(thread.overhead.get().wrapping_add(record.nesting.get()));
        record.add_nested(nested, thread.work.get().wrapping_sub(work_then));
    }
    let net = gross.wrapping_sub(record.visible.get());
    thread.work.set(work_then.wrapping_add(net));
    (gross, nested)
}

/// As [`settle`], for a call whose ticks are not known: its callers see its overhead and no work.
///
/// # Safety
///
/// As for [`settle`].
unsafe fn settle_anomaly(record: &Record, thread: &Thread, started: *const Started) {
    thread
        .overhead
        .set(thread.overhead.get().wrapping_add(record.cost.get()));
    // SAFETY: the caller's.
    thread.work.set(unsafe { (*started).work });
}

/// A call that was interrupted, or may have been, or during which the counter went backwards.
///
/// # Safety
///
/// As for [`finish`], and the `record` is not null.
#[cold]
#[inline(never)]
unsafe extern "C" fn finish_unusual(started: *const Started, stop: Ticks) {
    // SAFETY: the caller's.
    let (record, thread, start) =
        unsafe { (&*(*started).record, &*(*started).thread, (*started).start) };
    let raw = elapsed(start, stop);
    if is_absurd(raw) {
        // SAFETY: the caller's.
        unsafe { settle_anomaly(record, thread, started) };
        return record.leave_apart(Unusual::Anomalous, 0, 0);
    }
    // SAFETY: the caller's.
    let (gross, nested) = unsafe { settle(record, thread, started, raw) };
    let why = match thread.detector.verdict(start) {
        Verdict::Interrupted => Unusual::Interrupted,
        Verdict::Clean | Verdict::Unknown => Unusual::Unknown,
    };
    record.leave_apart(why, gross, nested);
}

/// The first call of a callsite on this thread, or the first after a pause, a reset or a fork: what that costs is overhead to the
/// calls around it.
///
/// # Safety
///
/// As for [`prepare`].
#[cold]
#[inline(never)]
unsafe extern "C" fn prepare_first(callsite: &'static Callsite, started: *mut Started) {
    let found = registry::find(callsite);
    let thread = thread::this();
    let unmeasured = match found {
        Found::Nothing => Unmeasured::Ignored,
        Found::Late(record) => Unmeasured::Late(record),
        Found::Record(record) if clock::is_slow() => Unmeasured::Slow(record),
        Found::Record(record) => {
            thread.detector.arm();
            // SAFETY: the caller's; what the registry found lives as long as the thread.
            return unsafe { start_with(&*record, thread, started) };
        }
    };
    // SAFETY: the caller's; what the registry found lives as long as this call.
    unsafe {
        if let Unmeasured::Slow(record) | Unmeasured::Late(record) = unmeasured {
            start_with(&*record, thread, started);
        }
        (&raw mut (*started).record).write(ptr::null());
        (&raw mut (*started).unmeasured).write(unmeasured);
        (&raw mut (*started).start).write(clock::now());
    }
}

/// A call that the inlined reads did not measure.
///
/// # Safety
///
/// As for [`finish`], and the `record` is null.
#[cold]
#[inline(never)]
unsafe extern "C" fn finish_unmeasured(started: *const Started) {
    // SAFETY: the caller's; where `record` is null, `prepare_first` has written the rest.
    let (unmeasured, start) = unsafe { ((*started).unmeasured, (*started).start) };
    let (Unmeasured::Slow(record) | Unmeasured::Late(record)) = unmeasured else {
        return;
    };
    let raw = elapsed(start, clock::now()).max(0);
    // SAFETY: as in `prepare_first`.
    unsafe {
        let (gross, nested) = settle(&*record, &*(*started).thread, started, raw);
        (*record).leave_apart(Unusual::Unknown, gross, nested);
    }
    if let Unmeasured::Late(record) = unmeasured {
        registry::fold_late(record);
    }
}
