//! The probe in unusual cases: a callsite's first call on a thread, a call that was interrupted, and a call that the inlined reads cannot
//! measure.

use core::hint;

use super::mixed::{self, finish_mixed, prepare_mixed};
use super::off_cpu::find_loss;
use super::tree::{self, finish_call_in_tree, prepare_in_tree};
use super::{ELSEWHERE, NOTHING, Settled, Started, Unmeasured, settle, start_with};
use crate::hooks;
use crate::interruption::Interruption;
use crate::on_cpu;
use crate::record::callsite::Callsite;
use crate::record::thread::{self, Thread};
use crate::record::{Exclusion, Record};
use crate::registry::{self, Found};
use crate::tsc::clock;
use crate::tsc::{Ticks, elapsed, is_anomalous};

/// Like [`settle`], for a call whose ticks are unknown: its callers see its overhead, but no work.
///
/// # Safety
///
/// As for [`settle`].
pub(super) unsafe fn settle_anomaly(record: &Record, thread: &Thread, started: *const Started) {
    thread
        .overhead
        .set(thread.overhead.get().wrapping_add(record.cost.get()));
    // SAFETY: guaranteed by the caller: a start on this thread has written `started`.
    thread.work.set(unsafe { (*started).work });
}

/// Called before [`settle`]: notes which part of the nested overhead was for registrations and reports.
///
/// # Safety
///
/// As for [`settle`].
#[inline(always)]
pub(super) unsafe fn settle_registration(
    record: &Record,
    thread: &Thread,
    started: *const Started,
) {
    // SAFETY: guaranteed by the caller: a start on this thread has written `started`.
    let (start, overhead_then) = unsafe { ((*started).start, (*started).overhead) };
    if thread.detector.registered_since(start) {
        record.add_registration_cost(registry::registration_cost_since(overhead_then));
    }
}

/// Handles a call that [`finish`](super::finish) does not record itself. Leaves at once for the function that does. Does nothing if the
/// callsite is left out, which is the case for each of its calls.
///
/// # Safety
///
/// As for [`finish`](super::finish).
#[cold]
#[inline(never)]
pub(super) unsafe extern "C" fn finish_unusual(started: *const Started, stop: Ticks) {
    // SAFETY: guaranteed by the caller. Every start writes the thread.
    unsafe {
        let thread = &*(*started).thread;
        match thread.contexts() {
            None if thread.is_mixed() => finish_mixed(started, stop),
            None => finish_apart(started, stop),
            Some(contexts) => finish_call_in_tree(contexts, started, stop),
        }
    }
}

/// The same, for calls with and without a place in the tree.
///
/// # Safety
///
/// As for [`finish`].
#[inline(never)]
pub(super) unsafe extern "C" fn finish_apart(started: *const Started, stop: Ticks) {
    // SAFETY: guaranteed by the caller: every start writes `record`.
    let record = unsafe { (*started).record };
    if record == ELSEWHERE {
        // SAFETY: guaranteed by the caller: a start on this thread has written `started`, and `record` is ELSEWHERE.
        return unsafe { finish_unmeasured(started) };
    }
    // SAFETY: guaranteed by the caller. It is a record.
    let record = unsafe { &*record };
    // SAFETY: guaranteed by the caller. There is a record, so the rest is written.
    let (thread, start) = unsafe { (&*(*started).thread, (*started).start) };
    let raw = elapsed(start, stop);
    if is_anomalous(raw) {
        // SAFETY: guaranteed by the caller: a start on this thread has written `started`, which has a record.
        unsafe { settle_anomaly(record, thread, started) };
        return record.record_excluded(Exclusion::Anomalous, 0, 0);
    }
    let interruption = thread.detector.verdict(start);
    // SAFETY: guaranteed by the caller: a start has written the overhead, because there is a record.
    let overhead_then = unsafe { (*started).overhead };
    let after = find_loss(thread, overhead_then, raw);
    let inside = thread.claim_loss(start, overhead_then);
    let off = inside.loss.off;
    // SAFETY: guaranteed by the caller: a start on this thread has written what these functions read, because there is a record.
    let Settled { gross, nested, .. } = unsafe {
        settle_registration(record, thread, started);
        settle(record, thread, started, raw.cast_unsigned(), off)
    };
    record.add_off_cpu(&inside);
    match interruption {
        Interruption::Clean => record.leave(gross, nested),
        Interruption::Interrupted => {
            let is_repaired = is_repaired(record, thread, gross, inside.loss.switches);
            let wall = gross.wrapping_add_signed(off);
            record.leave_interrupted(gross, nested, wall, is_repaired);
        }
        Interruption::Unknown => record.record_excluded(Exclusion::Unknown, gross, nested),
    }
    after.settle(thread);
}

/// Counts a call or a poll that a panic has ended. A destructor's calls during the unwinding are counted, too, although they return: the
/// stop cannot tell them apart.
///
/// # Safety
///
/// As for [`finish`](super::finish).
#[cold]
#[inline(never)]
pub(super) unsafe fn count_panicked(started: *const Started) {
    // SAFETY: guaranteed by the caller. A record lives as long as the call.
    let record = unsafe {
        match (*started).record {
            ELSEWHERE => (*started).unmeasured.record(),
            record => &*record,
        }
    };
    record.count_panicked();
}

/// Whether an interrupted call was on the CPU for so long that the uncertainty of its context switches does not matter.
pub(super) fn is_repaired(record: &Record, thread: &Thread, gross: u64, switches: u32) -> bool {
    if !thread.on_cpu.asks() {
        record.add_unasked();
        return false;
    }
    let net = gross.wrapping_sub(record.visible.get()).cast_signed();
    switches != 0 && on_cpu::is_certain(net, switches)
}

/// A start that finds the detector disarmed. The loss since the last check, and the cost of asking for it, lie before the call.
///
/// # Safety
///
/// As for [`prepare`](super::prepare), after [`start_with`].
#[cold]
#[inline(never)]
pub(super) unsafe extern "C" fn prepare_rearmed(thread: &Thread, started: *mut Started) -> bool {
    thread.rearm();
    // SAFETY: guaranteed by the caller: `started` is valid for writes.
    unsafe { (&raw mut (*started).overhead).write(thread.overhead.get()) };
    opaque_true()
}

/// True, which the compiler cannot know. If it knew what a function returns, it would not call the function in tail position but return
/// the value itself afterwards, and then the caller would need a stack frame in the usual case, too.
#[inline(always)]
pub(super) fn opaque_true() -> bool {
    hint::black_box(true)
}

/// A call of a callsite that the thread's table does not have. If the callsite is left out, or if call trees are recorded, this is every
/// call, so this function does as little as possible for them.
///
/// # Safety
///
/// As for [`prepare`](super::prepare).
#[cold]
#[inline(never)]
pub(super) unsafe extern "C" fn prepare_unusual(
    callsite: &'static Callsite,
    thread: &Thread,
    started: *mut Started,
) -> bool {
    // SAFETY: guaranteed by the caller: `started` is valid for writes.
    unsafe {
        if callsite.is_left_out() {
            (&raw mut (*started).record).write(NOTHING);
            return false;
        }
        match thread.contexts() {
            None if thread.is_mixed() => prepare_mixed(callsite, thread, started),
            None => prepare_first(callsite, thread, started),
            Some(contexts) => prepare_in_tree(callsite, thread, contexts, started),
        }
    }
}

/// The first call of a callsite on this thread, or the first after a pause, a reset or a fork. The cost of preparing it is overhead for the
/// calls around it.
///
/// # Safety
///
/// As for [`prepare`](super::prepare).
#[inline(never)]
pub(super) unsafe extern "C" fn prepare_first(
    callsite: &'static Callsite,
    thread: &Thread,
    started: *mut Started,
) -> bool {
    // SAFETY: guaranteed by the caller: `started` is valid for writes.
    unsafe {
        let is_timed = prepare_found(callsite, started);
        // If this was the thread's first call, it may have a tree now, or it may link frames from now on.
        tree::enter(thread, started);
        if thread.is_mixed() {
            mixed::link(callsite, started);
        }
        is_timed
    }
}

/// A call for which the registry finds out how it is measured.
///
/// # Safety
///
/// As for [`prepare`].
unsafe fn prepare_found(callsite: &'static Callsite, started: *mut Started) -> bool {
    let thread = thread::this();
    let unmeasured = match registry::find(callsite, hooks::install) {
        Found::Nothing => {
            // SAFETY: guaranteed by the caller: `started` is valid for writes.
            unsafe { (&raw mut (*started).record).write(NOTHING) };
            return false;
        }
        Found::Orphan(record) => Unmeasured::Orphan(record),
        Found::Record(record) if clock::is_os_clock() => Unmeasured::OsClock(record),
        Found::Record(record) => {
            thread.rearm();
            // SAFETY: guaranteed by the caller. What the registry found lives as long as the thread.
            unsafe {
                (*record).entry().enter();
                start_with(&*record, thread, started);
            }
            return true;
        }
    };
    // SAFETY: guaranteed by the caller. What the registry found lives as long as this call.
    unsafe {
        let record = unmeasured.record();
        record.entry().enter();
        start_with(record, thread, started);
        (&raw mut (*started).record).write(ELSEWHERE);
        (&raw mut (*started).unmeasured).write(unmeasured);
        // `finish` will see the duration from this value to 0, which counts as long. So it does not access the record first.
        (&raw mut (*started).start).write(clock::now().clamp(1, 1 << 62));
    }
    false
}

/// A call that the inlined reads did not measure.
///
/// # Safety
///
/// As for [`finish`], and `record` is [`ELSEWHERE`].
#[cold]
#[inline(never)]
pub(super) unsafe extern "C" fn finish_unmeasured(started: *const Started) {
    // SAFETY: guaranteed by the caller. If `record` is ELSEWHERE, `prepare_first` has written the rest.
    let (unmeasured, start) = unsafe { ((*started).unmeasured, (*started).start) };
    let raw = elapsed(start, clock::now()).max(0);
    // SAFETY: guaranteed by the caller. What the registry found lives as long as this call.
    unsafe {
        let (record, thread) = (unmeasured.record(), &*(*started).thread);
        settle_registration(record, thread, started);
        let settled = settle(record, thread, started, raw.cast_unsigned(), 0);
        record.record_excluded(Exclusion::Unknown, settled.gross, settled.nested);
    }
    if let Unmeasured::Orphan(record) = unmeasured {
        registry::fold_orphan(record);
    }
}
