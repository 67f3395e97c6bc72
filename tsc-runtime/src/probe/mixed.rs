//! Timed calls on a thread of a program that has light probes, too.
//!
//! Such a call links a frame, so that a tick in it is not its caller's, and looks whether the clock has ticked, like a light one. It takes the
//! path of unusual calls: at the start because the thread seems to have no table, and at the stop because the detector reports each call as
//! interrupted. So timed calls of other programs need not check anything.
//!
//! The light calls in a timed one are overhead for it. The thread counts all of them, and their cost is added to the running overhead
//! before each start and each stop reads it.

use core::ptr;

use super::slot::{Slot, Started};
use super::unusual::{finish_measurement, link, opaque_true, prepare_first, prepare_rearmed};
use crate::calibration::light_cost;
use crate::record::callsite::Callsite;
use crate::record::light;
use crate::record::thread::Thread;
use crate::registry::check_light;
use crate::tsc::Ticks;

/// A start on such a thread.
#[inline(never)]
pub(super) extern "C" fn prepare_mixed(
    callsite: &'static Callsite,
    thread: &'static Thread,
    slot: &mut Slot,
) -> bool {
    // What has happened until now belongs to the caller.
    check_light(light::this());
    add_light_calls(thread);
    let Some((entry, record)) = thread.find_unusual(callsite.position()) else {
        return prepare_first(callsite, slot);
    };
    entry.enter();
    slot.set_timed(record, thread);
    link(callsite, slot);
    if !thread.detector.is_armed_by_any() {
        return prepare_rearmed(thread, slot);
    }
    opaque_true()
}

/// The stop of a call on such a thread.
#[inline(never)]
pub(super) extern "C" fn finish_mixed(started: &Started, stop: Ticks) {
    add_light_calls(started.thread());
    finish_measurement(started, stop);
    unlink(started);
}

/// Called after a stop: what the thread has lost since its counter was read is not the call's. A call that has started before the program
/// had light probes has no frame.
pub(super) fn unlink(started: &Started) {
    let light = light::this();
    check_light(light);
    let frame = started.frame();
    if ptr::eq(light.innermost(), frame) {
        // SAFETY: it is the innermost frame, so it was linked.
        unsafe { light.leave(frame) };
    }
}

/// Adds what the light calls since the last time have cost to the running overhead.
pub(super) fn add_light_calls(thread: &Thread) {
    let calls = light::this().new_calls();
    if calls != 0 {
        thread.add_overhead(light_cost::of(calls));
    }
}
