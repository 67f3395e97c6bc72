//! Calls while the call tree is recorded: each one also has a place in the tree.
//!
//! These calls take the path of unusual calls: at the start because the thread seems to have no table, and at the stop because the detector
//! reports each call as interrupted. So usual calls need not check whether trees are recorded. A call adds the same ticks to its node as to
//! its record and the thread's running sums, so the nodes of a callsite add up to its row.

use super::sampled::{self, prepare_sampled};
use super::unusual::{finish_apart, opaque_true, prepare_found, prepare_rearmed};
use super::{COUNTED, ELSEWHERE, NOTHING, Started, Unmeasured, settle, start_with};
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
        return unsafe { prepare_unusual_in_tree(callsite, thread, started) };
    }
    // SAFETY: `has_in_tree` has returned true, so the table has the segment of `position`.
    let entry = unsafe { thread.entry(position) };
    if !entry.times_every_call() {
        // SAFETY: guaranteed by the caller: `started` is valid for writes.
        return unsafe { prepare_unusual_in_tree(callsite, thread, started) };
    }
    // SAFETY: an entry that times every call has a record, which lives as long as the entry.
    let record = unsafe { &*entry.record() };
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
        contexts.enter_found(record.id, &record.place, is_running(record, 1));
    }
    if !thread.detector.is_armed() {
        // SAFETY: guaranteed by the caller: `start_with` has written `started`.
        return unsafe { prepare_rearmed(thread, started) };
    }
    opaque_true()
}

/// The first call of a callsite on this thread, or a call of a sampled callsite.
///
/// # Safety
///
/// As for [`prepare`](super::prepare).
#[inline(never)]
unsafe extern "C" fn prepare_unusual_in_tree(
    callsite: &'static Callsite,
    thread: &Thread,
    started: *mut Started,
) -> bool {
    // SAFETY: guaranteed by the caller. `started` has what this kind of start writes.
    unsafe {
        let is_timed = match thread.find(callsite.position()) {
            Some((entry, _)) => prepare_sampled(callsite, entry, thread, started),
            None => prepare_found(callsite, started),
        };
        enter(callsite, thread, started);
        is_timed
    }
}

/// Gives the started call its place in the tree, if the thread has a tree. A call that is not timed is counted there.
///
/// # Safety
///
/// `started` was written by a start on this thread.
pub(super) unsafe fn enter(callsite: &'static Callsite, thread: &Thread, started: *mut Started) {
    // SAFETY: guaranteed by the caller: a start on this thread has written `started`. If the record is ELSEWHERE after `enter_again`,
    // `unmeasured` is written.
    unsafe {
        let was_counted = (*started).record == COUNTED;
        enter_again(callsite, thread, started);
        if was_counted && let (ELSEWHERE, Some(contexts)) = ((*started).record, thread.contexts()) {
            contexts.count(&(*started).unmeasured.record().place);
        }
    }
}

/// The same, and it is counted already if it is not timed: a further poll of a future.
///
/// # Safety
///
/// As for [`enter`].
pub(super) unsafe fn enter_again(
    callsite: &'static Callsite,
    thread: &Thread,
    started: *mut Started,
) {
    let Some(contexts) = thread.contexts() else {
        return;
    };
    // SAFETY: guaranteed by the caller. A record lives as long as the thread's table, and the tree's calls end before that.
    unsafe {
        let record = match (*started).record {
            NOTHING => return,
            COUNTED => {
                let Some((_, record)) = thread.find(callsite.position()) else {
                    return;
                };
                // The call needs a stop, because its callees have their places below it.
                (&raw mut (*started).record).write(ELSEWHERE);
                (&raw mut (*started).unmeasured).write(Unmeasured::Counted(record));
                (&raw mut (*started).thread).write(thread);
                (&raw mut (*started).start).write(1);
                record
            }
            ELSEWHERE => (*started).unmeasured.record(),
            record => &*record,
        };
        let is_counted = is_counted(started);
        let is_running = is_running(record, u32::from(!is_counted));
        if is_counted {
            record.place.enter_counted();
        }
        (&raw mut (*started).outer).write(contexts.enter(record.id, &record.place, is_running));
    }
}

/// Whether calls of the callsite are running in addition to the `started` ones that the thread's table counts.
fn is_running(record: &Record, started: u32) -> bool {
    record.entry().depth() > started || record.place.has_counted()
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
    let is_usual = unsafe {
        !is_long(raw)
            && (*(*started).thread).detector.is_clean_in_tree(start)
            && !sampled::is_marked((*started).overhead)
    };
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

/// The stop of a call that has a place in the tree and was interrupted, long, sampled, or not measured by the inlined reads.
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
    // SAFETY: guaranteed by the caller: a start on this thread has written `started`.
    let is_counted = unsafe { is_counted(started) };
    if is_counted {
        let visit = Visit {
            is_clean: true,
            ..Visit::default()
        };
        record.place.leave_counted();
        return contexts.leave(outer, visit);
    }
    // SAFETY: guaranteed by the caller: every start of a call that is not only counted writes the overhead.
    let is_sampled = sampled::is_marked(unsafe { (*started).overhead });
    let is_clean = thread.detector.verdict(start) == Interruption::Clean;
    let is_inner = record.entry().depth() > 1;
    let (work, own, included, off) = (
        thread.work.get(),
        record.own(),
        record.included().net(),
        record.off_cpu(),
    );
    finish();
    let work_now = thread.work.get();
    let on_cpu = match (is_sampled, is_inner) {
        (true, _) => record.included().net().wrapping_sub(included),
        (false, true) => 0,
        (false, false) => work_now.wrapping_sub(work_then).cast_signed(),
    };
    let visit = Visit {
        calls,
        is_clean,
        on_cpu,
        own: if is_sampled {
            record.own().wrapping_sub(own)
        } else {
            work_now.wrapping_sub(work).cast_signed()
        },
        off: record.off_cpu().wrapping_sub(off),
    };
    contexts.leave(outer, visit);
}

/// Whether the started call is only counted.
///
/// # Safety
///
/// `started` was written by a start.
pub(super) unsafe fn is_counted(started: *const Started) -> bool {
    // SAFETY: guaranteed by the caller. `unmeasured` is written if `record` is ELSEWHERE.
    unsafe {
        match (*started).record {
            COUNTED => true,
            ELSEWHERE => matches!((*started).unmeasured, Unmeasured::Counted(_)),
            _ => false,
        }
    }
}

impl Unmeasured {
    /// # Safety
    ///
    /// `record` points to a record.
    pub(super) unsafe fn record(&self) -> &Record {
        let (Self::OsClock(record) | Self::Orphan(record) | Self::Counted(record)) = *self;
        // SAFETY: guaranteed by the caller: the pointer is one to a record.
        unsafe { &*record }
    }
}
