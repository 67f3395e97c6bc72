//! The paths of unusual calls: a callsite's first call on a thread, a call that was interrupted or is long, one that the inlined reads cannot
//! measure, and each call on a thread that records its call tree or has light probes, too.
//!
//! # Calls in a tree, and calls beside light ones
//!
//! All calls on such a thread come here: at the start because the thread seems to have no table, and at the stop because the detector reports
//! each call as interrupted. So usual calls of other threads need not check anything.
//!
//! A call in a tree adds the same ticks to its node as to its record and the thread's running sums, so the nodes of a callsite add up to its
//! row.
//!
//! A call in a program with light probes links a frame, so that a tick in it is not its caller's, and looks whether the clock has ticked, like
//! a light one. The light calls in it are overhead for it. The thread counts all of them, and their cost is added to the running overhead
//! before each start and each stop reads it.

use core::{hint, ptr};

use super::slot::{Slot, Started};
use super::stop::Measurement;
use crate::calibration::light_cost;
use crate::hooks;
use crate::record::callsite::Callsite;
use crate::record::contexts::Contexts;
use crate::record::counters::ContextSums;
use crate::record::thread::{self, Thread};
use crate::record::{Record, light};
use crate::registry::{self, Found, check_light};
use crate::tsc::{Ticks, clock};

/// A call of a callsite that the thread's table does not have. If the callsite is left out, this is every call, so this function does as little
/// as possible for them.
#[cold]
#[inline(never)]
pub(super) extern "C" fn prepare_unusual(
    callsite: &'static Callsite,
    thread: &'static Thread,
    slot: &mut Slot,
) -> bool {
    if callsite.is_left_out() {
        slot.set_nothing();
        return false;
    }
    if thread.is_mixed() {
        // What has happened until now belongs to the caller.
        check_light(light::this());
        add_light_calls(thread);
    }
    let Some((entry, record)) = thread.find_unusual(callsite.position()) else {
        return prepare_first(callsite, slot);
    };
    entry.enter();
    slot.set_timed(record, thread);
    enter_tree_or_link(callsite, thread, record, slot);
    if !thread.detector.is_armed_by_any() {
        return prepare_rearmed(thread, slot);
    }
    true
}

/// A start that finds the detector disarmed. The loss since the last check, and the cost of asking for it, lie before the call.
#[cold]
#[inline(never)]
pub(super) extern "C" fn prepare_rearmed(thread: &Thread, slot: &mut Slot) -> bool {
    thread.rearm();
    slot.set_overhead(thread.overhead.get());
    // True, which the compiler cannot know. If it knew, it would not call this function in tail position but return the value itself
    // afterwards, and then `prepare` would need a stack frame in the usual case, too.
    hint::black_box(true)
}

/// The first call of a callsite on this thread, or the first after a pause, a reset or a fork. The cost of preparing it is overhead for the
/// calls around it.
#[inline(never)]
extern "C" fn prepare_first(callsite: &'static Callsite, slot: &mut Slot) -> bool {
    let thread = thread::this();
    let Some(found) = registry::find(callsite, hooks::install) else {
        slot.set_nothing();
        return false;
    };
    let is_timed = !found.is_orphan && !clock::is_os_clock();
    if is_timed {
        thread.rearm();
    }
    // SAFETY: what the registry found lives as long as the thread, or as long as this call.
    let record = unsafe { found.record.as_ref() };
    record.entry().enter();
    if is_timed {
        slot.set_timed(record, thread);
    } else {
        slot.set_untimed(found, thread, clock::now());
    }
    // If this was the thread's first call, it may have a tree now, or it may link frames from now on.
    enter_tree_or_link(callsite, thread, record, slot);
    is_timed
}

/// Gives the started call its place in the tree, or links its frame, if the thread has trees or frames.
#[inline(always)]
fn enter_tree_or_link(
    callsite: &'static Callsite,
    thread: &Thread,
    record: &Record,
    slot: &mut Slot,
) {
    if let Some(contexts) = thread.contexts() {
        slot.set_outer(contexts.enter(record.id, &record.place, record.is_inner()));
    } else if thread.is_mixed() {
        slot.frame.set_callsite(callsite);
        light::this().enter_uncounted(&slot.frame);
    }
}

/// Adds what the light calls since the last time have cost to the running overhead.
pub(super) fn add_light_calls(thread: &Thread) {
    let calls = light::this().new_calls();
    if calls != 0 {
        thread.add_overhead(light_cost::of(calls));
    }
}

/// The stop of a call that the inlined reads have not timed. Does nothing if nothing measures it; this is each call of a callsite that is
/// left out.
#[cold]
#[inline(never)]
pub(super) extern "C" fn finish_untimed(slot: &Slot) {
    stop_untimed(slot, |started, stop| {
        if std::thread::panicking() {
            started.record().counters.panicked.add(1);
        }
        finish_unusual(started, stop);
    });
}

/// Gives `finish` the call and the current time, unless nothing measures it.
pub(super) fn stop_untimed(slot: &Slot, finish: impl FnOnce(&Started, Ticks)) {
    // SAFETY: the probe's start has written the slot, and its stop has found no timed call.
    if let Some((started, Found { record, is_orphan })) = unsafe { slot.untimed() } {
        finish(started, clock::now());
        if is_orphan {
            registry::fold_orphan(record);
        }
    }
}

/// Handles a call that [`finish`](super::finish) does not record itself.
#[cold]
#[inline(never)]
pub(super) extern "C" fn finish_unusual(started: &Started, stop: Ticks) {
    finish_in_place(started, 1, || {
        let call = Measurement::of(started);
        call.stop(stop, |cost| cost.record(&call));
    });
}

/// The stop of a call or a poll, whether it has a place in the tree, a frame, or neither. `finish` does the rest of the stop. `calls` is 0 for
/// a poll.
#[inline(always)]
pub(super) fn finish_in_place(started: &Started, calls: u64, finish: impl FnOnce()) {
    let thread = started.thread();
    if let Some(contexts) = thread.contexts() {
        finish_in_tree(contexts, started, calls, finish);
    } else if thread.is_mixed() {
        add_light_calls(thread);
        finish();
        unlink(started);
    } else {
        finish();
    }
}

fn finish_in_tree(contexts: &Contexts, started: &Started, calls: u64, finish: impl FnOnce()) {
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

/// Called after a stop: what the thread has lost since its counter was read is not the call's. A call that has started before the program
/// had light probes has no frame.
fn unlink(started: &Started) {
    let light = light::this();
    check_light(light);
    let frame = started.frame();
    if ptr::eq(light.innermost(), frame) {
        // SAFETY: it is the innermost frame, so it was linked.
        unsafe { light.leave(frame) };
    }
}
