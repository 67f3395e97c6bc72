//! Calls while the call tree is recorded: each one also has a place in the tree.
//!
//! These calls take the path of unusual calls: at the start because the thread seems to have no table, and at the stop because the detector
//! reports each call as interrupted. So usual calls need not check whether trees are recorded. A call adds the same ticks to its node as to
//! its record and the thread's running sums, so the nodes of a callsite add up to its row.

use super::unusual::{finish_apart, opaque_true, prepare_first, prepare_rearmed};
use super::{ELSEWHERE, NOTHING, Started, Unmeasured, settle, start_with};
use crate::interruption::Interruption;
use crate::record::callsite::Callsite;
use crate::record::contexts::{Contexts, Visit};
use crate::record::thread::Thread;
use crate::record::{Record, is_long};
use crate::tsc::{Ticks, elapsed};

/// A start on a thread that records its tree.
///
/// # Safety
///
/// As for [`prepare`](super::prepare).
#[inline(always)]
pub(super) unsafe fn prepare_in_tree(
    callsite: &'static Callsite,
    thread: &Thread,
    contexts: &Contexts,
    started: *mut Started,
) -> bool {
    let position = callsite.position();
    if !thread.has_in_tree(position) {
        // SAFETY: guaranteed by the caller: `started` is valid for writes.
        return unsafe { prepare_first(callsite, thread, started) };
    }
    // SAFETY: `has_in_tree` has returned true, so the table has the segment of `position`.
    let entry = unsafe { thread.entry(position) };
    // SAFETY: a record lives as long as its entry, and null becomes `None`.
    let Some(record) = (unsafe { entry.record().as_ref() }) else {
        // SAFETY: guaranteed by the caller: `started` is valid for writes.
        return unsafe { prepare_first(callsite, thread, started) };
    };
    entry.enter();
    let outer = contexts.current();
    // SAFETY: guaranteed by the caller: `started` is valid for writes.
    unsafe {
        start_with(record, thread, started);
        (&raw mut (*started).outer).write(outer);
    }
    let is_known = contexts.enter_known(outer, &record.place);
    if !(is_known && thread.detector.is_armed()) {
        // SAFETY: guaranteed by the caller: `started` is valid for writes. `start_with` has written it.
        return unsafe { prepare_rest(contexts, thread, started, is_known) };
    }
    true
}

/// The rest of a start, if the call's place in the tree is not known or the detector is disarmed.
///
/// # Safety
///
/// As for [`prepare`](super::prepare), after [`start_with`].
#[inline(never)]
unsafe extern "C" fn prepare_rest(
    contexts: &Contexts,
    thread: &Thread,
    started: *mut Started,
    is_known: bool,
) -> bool {
    // SAFETY: guaranteed by the caller: `start_with` has written `started`, with a record that outlives the call.
    let record = unsafe { &*(*started).record };
    if !is_known {
        contexts.enter_found(record.id, &record.place, is_inner(record));
    }
    if !thread.detector.is_armed() {
        // SAFETY: guaranteed by the caller: `start_with` has written `started`.
        return unsafe { prepare_rearmed(thread, started) };
    }
    opaque_true()
}

/// Gives the started call its place in the tree, if the thread has a tree.
///
/// # Safety
///
/// `started` was written by a start on this thread.
pub(super) unsafe fn enter(thread: &Thread, started: *mut Started) {
    let Some(contexts) = thread.contexts() else {
        return;
    };
    // SAFETY: guaranteed by the caller. A record lives as long as the thread's table, and the tree's calls end before that.
    unsafe {
        let record = match (*started).record {
            NOTHING => return,
            ELSEWHERE => (*started).unmeasured.record(),
            record => &*record,
        };
        let outer = contexts.enter(record.id, &record.place, is_inner(record));
        (&raw mut (*started).outer).write(outer);
    }
}

/// Whether the running call is inside another one of the same callsite.
fn is_inner(record: &Record) -> bool {
    record.entry().depth() > 1
}

/// The stop of a call that has a place in the tree.
///
/// # Safety
///
/// As for [`finish`](super::finish); `started` was written by [`enter`] or [`prepare_in_tree`] on this thread.
#[inline(always)]
pub(super) unsafe fn finish_call_in_tree(
    contexts: &Contexts,
    started: *const Started,
    stop: Ticks,
) {
    // SAFETY: guaranteed by the caller. `record` and `start` are always written.
    let (record, start) = unsafe { ((*started).record, (*started).start) };
    let raw = elapsed(start, stop).cast_unsigned();
    // SAFETY: guaranteed by the caller. A call that is not timed counts as long.
    let is_usual =
        unsafe { !is_long(raw) && (*(*started).thread).detector.is_clean_in_tree(start) };
    if !is_usual {
        // SAFETY: guaranteed by the caller: a start on this thread has written `started`.
        return unsafe { finish_unusual_in_tree(contexts, started, stop) };
    }
    // SAFETY: guaranteed by the caller. A call that does not count as long was timed, so its record exists.
    let (record, thread, work_then, outer) = unsafe {
        (
            &*record,
            &*(*started).thread,
            (*started).work,
            (*started).outer,
        )
    };
    let callees = thread.work.get().wrapping_sub(work_then).cast_signed();
    // SAFETY: guaranteed by the caller: a start on this thread has written `started`.
    let settled = unsafe { settle(record, thread, started, raw, 0) };
    let net = settled.net.cast_signed();
    let on_cpu = contexts.leave_usual(outer, net.wrapping_sub(callees));
    if record.entry().leave() {
        record.add_inner(true, settled.gross, settled.nested);
    } else {
        on_cpu.add(net);
    }
    record.add_sample(settled.gross);
}

/// The stop of a call that has a place in the tree and was interrupted, long, or not measured by the inlined reads.
///
/// # Safety
///
/// As for [`finish_call_in_tree`].
#[inline(never)]
unsafe extern "C" fn finish_unusual_in_tree(
    contexts: &Contexts,
    started: *const Started,
    stop: Ticks,
) {
    // SAFETY: guaranteed by the caller: a start on this thread has written `started`.
    unsafe { finish_in_tree(contexts, started, 1, || finish_apart(started, stop)) };
}

/// The stop of a call that has a place in the tree. `finish` does the rest of the stop. `calls` is 0 for a poll.
///
/// # Safety
///
/// `started` was written by [`enter`] on this thread.
#[inline(never)]
pub(super) unsafe fn finish_in_tree(
    contexts: &Contexts,
    started: *const Started,
    calls: u64,
    finish: impl FnOnce(),
) {
    // SAFETY: guaranteed by the caller: a start on this thread has written `started`, whose record outlives the call.
    let (thread, start, work_then, outer, record) = unsafe {
        let record: &Record = match (*started).record {
            ELSEWHERE => (*started).unmeasured.record(),
            record => &*record,
        };
        (
            &*(*started).thread,
            (*started).start,
            (*started).work,
            (*started).outer,
            record,
        )
    };
    let is_clean = thread.detector.verdict(start) == Interruption::Clean;
    let is_inner = is_inner(record);
    let (work, off) = (thread.work.get(), record.off_cpu());
    finish();
    let work_now = thread.work.get();
    let ticks_since = |then| work_now.wrapping_sub(then).cast_signed();
    let visit = Visit {
        calls,
        is_clean,
        on_cpu: if is_inner { 0 } else { ticks_since(work_then) },
        own: ticks_since(work),
        off: record.off_cpu().wrapping_sub(off),
    };
    contexts.leave(outer, visit);
}

impl Unmeasured {
    /// # Safety
    ///
    /// `record` points to a record.
    pub(super) unsafe fn record(&self) -> &Record {
        let (Self::OsClock(record) | Self::Orphan(record)) = *self;
        // SAFETY: guaranteed by the caller: the pointer is one to a record.
        unsafe { &*record }
    }
}
