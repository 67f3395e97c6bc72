//! Calls while the call tree is recorded: each one also has a place in the tree.
//!
//! These calls take the path of unusual calls: at the start because the thread seems to have no table, and at the stop because the detector
//! reports each call as interrupted. So usual calls need not check whether trees are recorded. A call adds the same ticks to its node as to
//! its record and the thread's running sums, so the nodes of a callsite add up to its row.

use super::settle;
use super::slot::{Slot, Started};
use super::stop::Measurement;
use super::unusual::{finish_measurement, opaque_true, prepare_first, prepare_rearmed};
use crate::record::Record;
use crate::record::callsite::Callsite;
use crate::record::contexts::Contexts;
use crate::record::counters::ContextSums;
use crate::record::thread::Thread;
use crate::tsc::{Ticks, elapsed};

/// A start on a thread that records its tree.
#[inline(always)]
pub(super) fn prepare_in_tree(
    callsite: &'static Callsite,
    thread: &'static Thread,
    contexts: &Contexts,
    slot: &mut Slot,
) -> bool {
    let Some((entry, record)) = thread.find_unusual(callsite.position()) else {
        return prepare_first(callsite, slot);
    };
    entry.enter();
    let outer = contexts.current();
    slot.set_timed(record, thread);
    slot.set_outer(outer);
    let is_known = contexts.enter_known(outer, &record.last_place);
    if !(is_known && thread.detector.is_armed()) {
        return prepare_rest(contexts, record, thread, slot, is_known);
    }
    true
}

/// The rest of a start, if the call's place in the tree is not known or the detector is disarmed.
#[inline(never)]
extern "C" fn prepare_rest(
    contexts: &Contexts,
    record: &Record,
    thread: &Thread,
    slot: &mut Slot,
    is_known: bool,
) -> bool {
    if !is_known {
        contexts.enter_found(record.id, &record.last_place, record.is_inner());
    }
    if !thread.detector.is_armed() {
        return prepare_rearmed(thread, slot);
    }
    opaque_true()
}

/// The stop of a call that has a place in the tree.
#[inline(always)]
pub(super) fn finish_call_in_tree(contexts: &Contexts, started: &Started, stop: Ticks) {
    let start = started.start();
    let raw = elapsed(start, stop).cast_unsigned();
    let thread = started.thread();
    let is_usual = !started.record().is_notable(raw) && thread.detector.is_undisturbed_since(start);
    if !(is_usual && started.is_timed()) {
        return finish_unusual_in_tree(contexts, started, stop);
    }
    let (record, before) = (started.record(), started.sums());
    let callees = thread.work.get().wrapping_sub(before.work).cast_signed();
    let settled = settle(record, thread, before, raw, 0);
    let net = settled.net.cast_signed();
    // SAFETY: the call has a place in the tree.
    let on_cpu = contexts.leave_usual(unsafe { started.outer() }, net.wrapping_sub(callees));
    if !record.end_activation(settled.gross, settled.nested) {
        on_cpu.add(net);
    }
    record.add_sample(settled.gross);
}

/// The stop of a call that has a place in the tree and was interrupted, long, or not timed.
#[inline(never)]
extern "C" fn finish_unusual_in_tree(contexts: &Contexts, started: &Started, stop: Ticks) {
    finish_in_tree(contexts, started, 1, || finish_measurement(started, stop));
}

/// The stop of a call that has a place in the tree. `finish` does the rest of the stop. `calls` is 0 for a poll.
#[inline(never)]
pub(super) fn finish_in_tree(
    contexts: &Contexts,
    started: &Started,
    calls: u64,
    finish: impl FnOnce(),
) {
    // SAFETY: the call has a place in the tree.
    let outer = unsafe { started.outer() };
    let call = Measurement::of(started);
    let (record, thread) = (call.record, call.thread);
    let is_clean = call.verdict().is_none();
    let is_inner = record.is_inner();
    let (work, blocked) = (thread.work.get(), record.blocked());
    finish();
    let work_now = thread.work.get();
    let ticks_since = |then| work_now.wrapping_sub(then).cast_signed();
    let visit = ContextSums {
        calls,
        // Of a recursion, the outermost call's.
        on_cpu: if is_inner {
            0
        } else {
            ticks_since(call.sums.work)
        },
        own: ticks_since(work),
        blocked: record.blocked().wrapping_sub(blocked),
        unclean: if is_clean { 0 } else { calls },
    };
    contexts.leave(outer, &visit);
}
