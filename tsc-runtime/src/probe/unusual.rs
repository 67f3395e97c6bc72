//! The paths of unusual calls: a callsite's first call on a thread, a call that was interrupted or is long, one that the inlined reads cannot
//! measure, and each call in a program that has light probes, too. `dispatch` decides which path a call takes.
//!
//! # Calls beside light ones
//!
//! They come here at the start because the thread seems to have no table, and at the stop because the detector reports each call as
//! interrupted. So timed calls of other programs need not check anything.
//!
//! Such a call links a frame, so that a tick in it is not its caller's, and looks whether the clock has ticked, like a light one. The light
//! calls in it are overhead for it. The thread counts all of them, and their cost is added to the running overhead before each start and each
//! stop reads it.

use core::{hint, ptr};

use super::slot::{Slot, Started};
use super::stop::Measurement;
use crate::calibration::overhead;
use crate::hooks;
use crate::record::callsite::Callsite;
use crate::record::light;
use crate::record::thread::{self, Thread};
use crate::registry::{self, check_light};
use crate::tsc::{Ticks, clock};

/// A start on a thread that does not record its tree.
#[inline(never)]
pub(super) extern "C" fn prepare_outside_tree(
    callsite: &'static Callsite,
    thread: &'static Thread,
    slot: &mut Slot,
) -> bool {
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
    link(callsite, slot);
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
    opaque_true()
}

/// True, which the compiler cannot know. If it knew what a function returns, it would not call the function in tail position but return
/// the value itself afterwards, and then the caller would need a stack frame in the usual case, too.
#[inline(always)]
pub(super) fn opaque_true() -> bool {
    hint::black_box(true)
}

/// The first call of a callsite on this thread, or the first after a pause, a reset or a fork. The cost of preparing it is overhead for the
/// calls around it.
#[inline(never)]
pub(super) extern "C" fn prepare_first(callsite: &'static Callsite, slot: &mut Slot) -> bool {
    let thread = thread::this();
    let Some(found) = registry::find(callsite, hooks::install) else {
        slot.set_nothing();
        return false;
    };
    // SAFETY: what the registry found lives as long as the thread, or as long as this call.
    let record = unsafe { found.as_ref() };
    let is_timed = !record.is_orphan() && !clock::is_os_clock();
    if is_timed {
        thread.rearm();
    }
    record.entry().enter();
    if is_timed {
        slot.set_timed(record, thread);
    } else {
        slot.set_untimed(record, thread, clock::now());
    }
    // If this was the thread's first call, it may have a tree now, or it may link frames from now on.
    if let Some(contexts) = thread.contexts() {
        slot.set_outer(contexts.enter(record.id, &record.last_place, record.is_inner()));
    } else if thread.is_mixed() {
        link(callsite, slot);
    }
    is_timed
}

/// Links the frame of a measured call that has started.
fn link(callsite: &'static Callsite, slot: &Slot) {
    slot.frame.set_callsite(callsite);
    light::this().enter_uncounted(&slot.frame);
}

/// Adds what the light calls since the last time have cost to the running overhead, if the program has light probes.
pub(super) fn add_light_calls(thread: &Thread) {
    if thread.is_mixed() {
        thread.add_overhead(overhead::of_light_calls(light::this().new_calls()));
    }
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
pub(super) extern "C" fn finish_outside_tree(started: &Started, stop: Ticks) {
    finish_linked(started, || finish_measurement(started, stop));
}

/// The stop of a call or a poll that may have a frame. `finish` does the rest of the stop.
#[inline(always)]
pub(super) fn finish_linked(started: &Started, finish: impl FnOnce()) {
    let thread = started.thread();
    if thread.is_mixed() {
        add_light_calls(thread);
        finish();
        unlink(started);
    } else {
        finish();
    }
}

/// Stops and records a call, whether it has a place in the tree, a frame, or neither.
#[inline(never)]
pub(super) extern "C" fn finish_measurement(started: &Started, stop: Ticks) {
    let call = Measurement::of(started);
    call.stop(stop, |cost| cost.record(&call));
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
