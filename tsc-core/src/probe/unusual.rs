//! The paths of unusual calls: a callsite's first call on a thread, a call that was interrupted or is long, one that the inlined reads cannot
//! measure, each call on a thread that records its tree, and each in a program that has light probes, too.
//!
//! The last two come here at the start because the thread seems to have no table, and at the stop because the detector then calls none of them
//! clean. So other calls need not check anything. In a tree, a call adds the same ticks to its node as to its record and the thread's
//! running sums, so the nodes of a callsite add up to its row.
//!
//! # Calls beside light ones
//!
//! Such a call links a frame, so that a tick in it is not its caller's, and looks whether the clock has ticked, like a light one. The light
//! calls in it are overhead for it. The thread counts all of them, and their cost is added to the running overhead before each start and each
//! stop reads it.

use core::hint;

use super::slot::{Slot, Started};
use super::stop::{Activation, Visit};
use crate::calibration;
use crate::hooks;
use crate::on_cpu;
use crate::record::Record;
use crate::record::callsite::Callsite;
use crate::record::contexts::Contexts;
use crate::record::light;
use crate::record::thread::{self, Thread};
use crate::registry::{self, check_light};
use crate::tsc::{Ticks, clock, elapsed};

/// A call of a callsite that the thread's table does not have. If the callsite is left out, or if call trees are recorded, this is every
/// call, so this function does as little as possible for them.
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
    match thread.find_unusual(callsite.position()) {
        Some((entry, record)) => {
            entry.enter();
            match thread.contexts() {
                None => prepare_linked(callsite, record, thread, slot),
                Some(contexts) => prepare_in_tree(contexts, record, thread, slot),
            }
        }
        None => prepare_first(callsite, slot),
    }
}

/// A start in a program that has light probes, too.
#[inline(never)]
extern "C" fn prepare_linked(
    callsite: &'static Callsite,
    record: &Record,
    thread: &'static Thread,
    slot: &mut Slot,
) -> bool {
    end_caller(thread);
    slot.set_timed(record, thread);
    slot.frame.set_callsite(callsite);
    light::this().link_timed(&slot.frame);
    if !thread.detector.is_armed_by_any() {
        return prepare_rearmed(thread, slot);
    }
    true
}

/// What has happened until now belongs to the caller. Before its first timed call, a thread that has had light ones is not yet known to be mixed.
fn end_caller(thread: &Thread) {
    check_light(light::this());
    add_light_calls(thread);
}

/// A start on a thread that records its tree.
#[inline(always)]
fn prepare_in_tree(
    contexts: &Contexts,
    record: &Record,
    thread: &'static Thread,
    slot: &mut Slot,
) -> bool {
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

/// A start that finds the detector disarmed, or that has read events. The loss since the last check, and the cost of asking for it, lie before
/// the call.
#[cold]
#[inline(never)]
pub(super) extern "C" fn prepare_rearmed(thread: &Thread, slot: &mut Slot) -> bool {
    thread.rearm();
    slot.set_overhead(thread.overhead.get());
    opaque_true()
}

/// True, which the compiler cannot know. If it knew what a function returns, it would not call the function in tail position but return
/// the value itself afterwards, and then the caller would need a stack frame in the usual case, too.
#[inline(always)]
fn opaque_true() -> bool {
    hint::black_box(true)
}

/// The first call of a callsite on this thread, or the first after a pause, a reset or a fork. The cost of preparing it is overhead for the
/// calls around it.
#[inline(never)]
extern "C" fn prepare_first(callsite: &'static Callsite, slot: &mut Slot) -> bool {
    let thread = thread::this();
    end_caller(thread);
    slot.frame.set_callsite(callsite);
    let Some(found) = registry::find(callsite, hooks::install) else {
        slot.set_nothing();
        return false;
    };
    // SAFETY: what the registry found lives as long as the thread, or as long as this call.
    let record = unsafe { found.as_ref() };
    let is_timed = !record.is_orphan() && !clock::is_os_clock();
    record.entry().enter();
    if is_timed {
        thread.rearm();
        slot.set_timed(record, thread);
    } else {
        slot.set_untimed(found, thread);
    }
    // If this was the thread's first call, it may have a tree now, or it may link frames from now on.
    if let Some(contexts) = thread.contexts() {
        slot.set_outer(contexts.enter(record.id, &record.last_place, record.is_inner()));
    } else if thread.is_mixed() {
        light::this().link_timed(&slot.frame);
    }
    is_timed
}

/// Handles a call of `raw` ticks that [`finish`](super::finish) does not record itself. Leaves at once for the function that does.
#[cold]
#[inline(never)]
pub(super) extern "C" fn finish_unusual(started: &Started, raw: u64) {
    match started.thread().contexts() {
        None => finish_outside_tree(started, raw),
        Some(contexts) => finish_call_in_tree(contexts, started, raw),
    }
}

/// The stop of a poll with its place in the tree or its frame, if it has one. `finish` does the rest.
pub(super) fn finish_placed_poll(started: &Started, finish: impl FnOnce()) {
    match started.thread().contexts() {
        None if started.thread().is_mixed() => finish_linked(started, finish),
        None => finish(),
        Some(contexts) => {
            let visit = Visit::of(started, 0);
            finish();
            visit.leave(contexts, started);
        }
    }
}

/// The stop of a call that the inlined reads have not timed. Does nothing if nothing measures it; this is each call of a callsite that is
/// left out.
#[cold]
#[inline(never)]
pub(super) extern "C" fn finish_untimed(slot: &Slot) {
    stop_untimed(slot, |started, stop| {
        started.note_panic();
        finish_unusual(started, elapsed(started.start(), stop).cast_unsigned());
    });
}

/// Gives `finish` the call and the current time, unless nothing measures it.
pub(super) fn stop_untimed(slot: &Slot, finish: impl FnOnce(&Started, Ticks)) {
    // SAFETY: the probe's start has written the slot, and its stop has found no timed call.
    if let Some((started, record)) = unsafe { slot.untimed() } {
        finish(started, clock::now());
        registry::release(record);
    }
}

/// The stop of a call that has no place in a tree.
#[inline(never)]
extern "C" fn finish_outside_tree(started: &Started, raw: u64) {
    let call = Activation::of(started);
    let finish = || finish_activation(started, raw);
    if !started.thread().is_mixed() {
        finish_slowly(&call, finish);
    } else if call.record.is_notable(raw) || !call.thread.detector.is_undisturbed_since(call.start)
    {
        finish_linked(started, || finish_slowly(&call, finish));
    } else {
        finish_linked(started, finish);
    }
}

/// The stop of a call in which something has happened, which takes longer than a usual one. In a recursion in which slow calls are kept, that is
/// nearly every call. So what it takes beyond the calibrated cost is overhead for the calls around and no function's by ticks, unless an
/// interruption is in it.
#[inline(always)]
fn finish_slowly(call: &Activation<'_>, finish: impl FnOnce()) {
    let (record, thread) = (call.record, call.thread);
    if !thread.detector.is_armed_by_any() || clock::is_os_clock() {
        return finish();
    }
    let began = on_cpu::now();
    finish();
    if let Some(taken) = thread.taken_since(began) {
        let extra = (taken - record.hidden_cost()).max(0);
        thread.add_overhead(extra);
        record.counters.extra_cost.add(extra);
        if thread.is_mixed() {
            light::this().account.leave_out(extra);
        }
    }
}

/// The stop of a call or a poll that may have a frame. `finish` does the rest of the stop.
#[inline(always)]
fn finish_linked(started: &Started, finish: impl FnOnce()) {
    add_light_calls(started.thread());
    finish();
    unlink(started);
}

/// Stops and records a call, whether it has a place in the tree, a frame, or neither.
#[inline(never)]
extern "C" fn finish_activation(started: &Started, raw: u64) {
    let call = Activation::of(started);
    call.stop(raw.cast_signed(), |cost| cost.record(&call));
}

/// Adds what the light calls since the last time have cost to the running overhead, if the program has light probes: at most half of the time,
/// as for their own rows, because probes overlap with the code around them.
pub(super) fn add_light_calls(thread: &Thread) {
    if !thread.is_mixed() {
        return;
    }
    let light = light::this();
    let (calls, since) = light.new_calls();
    let cost = calibration::light::of_calls(calls).min(since.max(0) / 2);
    thread.add_overhead(cost);
    if light.is_without_timed_frame() {
        // It is in the ticks that were added as its callees', too.
        thread.add_work(-cost);
    }
}

/// Called after a stop: what the thread has lost since its counter was read is not the call's. A call that has started before the program
/// had light probes has no frame.
fn unlink(started: &Started) {
    let light = light::this();
    check_light(light);
    if light.unlink_timed(started.frame()) {
        started.record().counters.linked.add(1);
    }
}

/// The stop of a call on a thread that records its tree. A usual call is recorded here, as [`finish`](super::finish) does it elsewhere.
#[inline(always)]
fn finish_call_in_tree(contexts: &Contexts, started: &Started, raw: u64) {
    let call = Activation::of(started);
    let (record, thread) = (call.record, call.thread);
    let is_usual = !record.is_notable(raw) && thread.detector.is_undisturbed_since(call.start);
    if !(is_usual && call.is_timed) {
        return finish_unusual_in_tree(contexts, started, raw);
    }
    let callees = thread.work.get().wrapping_sub(call.sums.work).cast_signed();
    let settled = record.settle_with_handlers(thread, call.sums, raw, 0);
    let net = settled.net.cast_signed();
    // SAFETY: the thread has taken no cold path since the start, in which the child of a fork begins another tree. So the call has a place in
    // this one.
    let on_cpu = contexts.leave_usual(unsafe { started.outer() }, net.wrapping_sub(callees));
    if !record.end_activation(settled.gross, settled.nested) {
        on_cpu.add(net);
    }
    record.add_sample(settled.gross);
}

/// The same for a call that was interrupted, long, or not timed.
#[inline(never)]
extern "C" fn finish_unusual_in_tree(contexts: &Contexts, started: &Started, raw: u64) {
    finish_slowly(&Activation::of(started), || {
        let visit = Visit::of(started, 1);
        finish_activation(started, raw);
        visit.leave(contexts, started);
    });
}
