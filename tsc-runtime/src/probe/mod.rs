//! The hot path: what one annotated call does. Read it from top to bottom; there is no more to it.
//!
//! A call consists of `prepare`, the read at the start, the function's body, the read at the stop, and `finish`. The two reads are inlined
//! into the annotated function, because they are what measures. `prepare` and `finish` run outside the fences and are not inlined, which
//! keeps the annotated function small. Neither of them locks, allocates, formats, or deals with units of time.
//!
//! Both are `extern "C"`, so that the annotated function needs no landing pad for them. Both handle unusual cases with a call in tail
//! position, so that the usual case needs no stack frame.

use core::marker::PhantomData;
use core::mem::MaybeUninit;

#[cfg(all(feature = "pmu", target_os = "linux", not(miri)))]
use crate::events;
use crate::record::callsite::Callsite;
use crate::record::light::Frame;
use crate::record::thread::{self, Thread};
use crate::record::{Record, is_long};
use crate::tsc::{FencePolicy, Ticks, elapsed};

pub(crate) mod empty_calls;
pub(crate) mod future;
pub(crate) mod gclk;
pub(crate) mod light;
mod mixed;
mod off_cpu;
pub(crate) mod per_type;
pub(crate) mod polls;
pub(crate) mod section;
mod tree;
pub(crate) mod units;
mod unusual;

use unusual::{count_panicked, finish_unusual, prepare_rearmed, prepare_unusual};

/// Space on the annotated function's stack for the values that a start hands to its stop. A probe only borrows it: if the probe contained
/// it, each start would copy it.
#[derive(Debug)]
pub struct Slot(MaybeUninit<Started>);

impl Slot {
    /// Empty, so it costs nothing. [`Probe::start`] writes the contents.
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
            // `prepare` returns whether to read the counter, because loading the record that it has just stored would take longer.
            if prepare(callsite, started) {
                (*started).start = P::start();
            }
        }
    }

    /// Stops: returns the values that the start has written, and the current time if the counter may be read. `None` if the call is not
    /// timed.
    ///
    /// # Safety
    ///
    /// [`start`](Self::start) was called.
    #[inline(always)]
    unsafe fn stop<P: FencePolicy>(&self) -> Option<(*const Started, Ticks)> {
        let started = self.0.as_ptr();
        // SAFETY: guaranteed by the caller: `start` was called, so `prepare` has written `record`.
        let stopped = if unsafe { (*started).record }.addr() > ELSEWHERE.addr() {
            Some((started, P::stop()))
        } else {
            cold_path();
            // SAFETY: `prepare` has written `record`, as above. It is loaded again, so that the usual case need not keep it in a register.
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

/// Stands in the place of a record if nothing measures the call.
const NOTHING: *const Record = core::ptr::null();
/// Stands in the place of a record if the call is measured without the inlined reads, as [`Unmeasured`] describes.
const ELSEWHERE: *const Record = core::ptr::without_provenance(1);

/// The measurement of one running call. It stops when it is dropped, whichever way the function is left.
///
/// Not `Send`, because the saved values belong to this thread.
#[derive(Debug)]
#[must_use]
pub struct Probe<'a, P: FencePolicy> {
    slot: &'a mut Slot,
    pair: PhantomData<(P, *const ())>,
}

/// The values that a start hands to its stop.
#[derive(Debug)]
#[repr(C)]
struct Started {
    /// The record of the call, or [`NOTHING`] or [`ELSEWHERE`].
    record: *const Record,
    /// The thread's running sums at the start. The two are not neighbours, neither here nor in [`Thread`]: otherwise the compiler would
    /// copy both with one load of 16 bytes, and such a load stalls if it spans two recent stores.
    overhead: u64,
    start: Ticks,
    work: u64,
    /// Saved, because finding the thread again takes a function call in position-independent code.
    thread: *const Thread,
    /// Written and read only where `record` is [`ELSEWHERE`].
    unmeasured: Unmeasured,
    /// The call tree's node from which this call was made. Written and read only if trees are recorded.
    outer: u32,
    /// Written and read only in programs that have light probes, too.
    frame: Frame,
}

/// How a call is measured that the cold path has started.
#[derive(Clone, Copy, Debug)]
enum Unmeasured {
    /// The counter may not be read, so the operating system's clock measures the call.
    OsClock(*const Record),
    /// The thread is ending, so a temporary record for this call alone takes it.
    Orphan(*const Record),
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
        // SAFETY: a probe exists only after `start` has written its slot.
        unsafe {
            if let Some((started, stop)) = self.slot.stop::<P>() {
                finish(started, stop);
            }
        }
    }
}

/// Finds this thread's record and saves what the stop needs. Returns whether the start is to be read; if not, `record` has the reason.
///
/// The fence that follows waits until all of this is done. So the loads are arranged to depend on each other as little as possible.
///
/// # Safety
///
/// `started` is valid for writes. Afterwards its fields are written, except `start` if the function returns true, and `unmeasured` unless
/// `record` is [`ELSEWHERE`].
#[inline(never)]
unsafe extern "C" fn prepare(callsite: &'static Callsite, started: *mut Started) -> bool {
    let thread = thread::this();
    let position = callsite.position();
    if !thread.has(position) {
        // SAFETY: guaranteed by the caller: `started` is valid for writes.
        return unsafe { prepare_unusual(callsite, thread, started) };
    }
    // SAFETY: `has` has returned true, so the table has the segment of `position`.
    let entry = unsafe { thread.entry(position) };
    // SAFETY: a record lives as long as its entry, and null becomes `None`.
    let Some(record) = (unsafe { entry.record().as_ref() }) else {
        // SAFETY: guaranteed by the caller: `started` is valid for writes.
        return unsafe { prepare_unusual(callsite, thread, started) };
    };
    entry.enter();
    // SAFETY: guaranteed by the caller: `started` is valid for writes.
    unsafe { start_with(record, thread, started) };
    if !thread.detector.is_armed() {
        // SAFETY: guaranteed by the caller: `started` is valid for writes. `start_with` has written it.
        return unsafe { prepare_rearmed(thread, started) };
    }
    true
}

/// # Safety
///
/// As for [`prepare`].
#[inline(always)]
unsafe fn start_with(record: &Record, thread: &Thread, started: *mut Started) {
    // SAFETY: guaranteed by the caller: `started` is valid for writes. Field by field, because the rest is written later or not at all.
    unsafe {
        (&raw mut (*started).record).write(record);
        (&raw mut (*started).overhead).write(thread.overhead.get());
        (&raw mut (*started).work).write(thread.work.get());
        (&raw mut (*started).thread).write(thread);
    }
}

/// Records the call. This function itself handles the usual short call, which is neither interrupted nor contains other probes.
///
/// # Safety
///
/// `started` was written by [`prepare`] on this thread. If its `record` points to a record, `start` was written, too; otherwise `record` is
/// [`ELSEWHERE`] and `stop` is 0.
#[inline(never)]
unsafe extern "C" fn finish(started: *const Started, stop: Ticks) {
    // SAFETY: guaranteed by the caller: a start has written `start`.
    let start = unsafe { (*started).start };
    let raw = elapsed(start, stop).cast_unsigned();
    if raw >= UNWINDING {
        // SAFETY: guaranteed by the caller: a start on this thread has written `started`, and `stop` belongs to it.
        return unsafe { finish_longer(started, stop) };
    }
    // SAFETY: guaranteed by the caller. A call that is not measured counts as long; for all others, record and thread exist and outlive the
    // call.
    unsafe {
        if !(*(*started).thread).detector.is_clean_since(start) {
            return finish_unusual(started, stop);
        }
        finish_clean(started, raw);
    }
}

/// No panic leaves a call in fewer ticks, so shorter calls need not ask whether there is one. Unwinding takes two walks over the stack,
/// which search tables and allocate: a microsecond or more. No x86 processor counts less than a tick in a nanosecond; other counters
/// may be slow, so there every call asks.
const UNWINDING: u64 = if cfg!(any(target_arch = "x86", target_arch = "x86_64")) {
    512
} else {
    0
};

/// Records a call that is not short: one that a panic ends, too.
///
/// # Safety
///
/// As for [`finish`].
#[inline(never)]
unsafe extern "C" fn finish_longer(started: *const Started, stop: Ticks) {
    if std::thread::panicking() {
        // SAFETY: guaranteed by the caller: a start on this thread has written `started`.
        unsafe { count_panicked(started) };
    }
    // SAFETY: guaranteed by the caller: a start has written `start`.
    let start = unsafe { (*started).start };
    let raw = elapsed(start, stop).cast_unsigned();
    // SAFETY: guaranteed by the caller, as in `finish`.
    unsafe {
        if is_long(raw) || !(*(*started).thread).detector.is_clean_since(start) {
            return finish_unusual(started, stop);
        }
        finish_clean(started, raw);
    }
}

/// Records a call that was neither interrupted nor long.
///
/// # Safety
///
/// As for [`finish`], and `record` points to a record.
#[inline(always)]
unsafe fn finish_clean(started: *const Started, raw: u64) {
    // SAFETY: guaranteed by the caller: a start on this thread has written `started`, and `record` points to a record.
    let (record, thread) = unsafe { (&*(*started).record, &*(*started).thread) };
    // SAFETY: guaranteed by the caller: every start with a record writes both.
    let (overhead_then, work_then) = unsafe { ((*started).overhead, (*started).work) };
    let overhead = thread.overhead.get();
    if overhead != overhead_then {
        // SAFETY: guaranteed by the caller: a start on this thread has written `started`, and `record` points to a record.
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

/// Records a call that contains other probes.
///
/// # Safety
///
/// As for [`finish`], and `record` points to a record.
#[inline(never)]
unsafe extern "C" fn finish_nesting(started: *const Started, raw: u64) {
    // SAFETY: guaranteed by the caller: a start on this thread has written `started`, and `record` points to a record.
    unsafe {
        // SAFETY: `finish` has found them to be different.
        core::hint::assert_unchecked((*(*started).thread).overhead.get() != (*started).overhead);
        let record = &*(*started).record;
        let settled = settle(record, &*(*started).thread, started, raw, 0);
        record.leave(settled.gross, settled.nested);
    }
}

/// The ticks of a call, as [`settle`] adds them to this thread's running sums.
struct Settled {
    gross: u64,
    /// The overhead of nested probes.
    nested: u64,
    /// The gross ticks without the call's own visible overhead.
    net: u64,
}

/// Updates this thread's running sums. `off` ticks of the added overhead were time off the CPU.
///
/// # Safety
///
/// As for [`finish`], and `record` points to a record.
#[inline(always)]
unsafe fn settle(
    record: &Record,
    thread: &Thread,
    started: *const Started,
    raw: u64,
    off: i64,
) -> Settled {
    // SAFETY: guaranteed by the caller: every start writes both.
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
    Settled { gross, nested, net }
}
