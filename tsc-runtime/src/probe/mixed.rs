//! Timed calls on a thread of a program that has light probes, too.
//!
//! Such a call links a frame, so that a tick in it is not its caller's, and looks whether the clock has ticked, like a light one. It takes the
//! path of unusual calls: at the start because the thread seems to have no table, and at the stop because the detector reports each call as
//! interrupted. So timed calls of other programs need not check anything.
//!
//! The light calls in a timed one are overhead for it. The thread counts all of them, and their cost is added to the running overhead
//! before each start and each stop reads it.

use super::unusual::{finish_apart, opaque_true, prepare_first, prepare_rearmed};
use super::{NOTHING, Started, start_with};
use crate::calibration::light_cost;
use crate::record::callsite::Callsite;
use crate::record::light;
use crate::record::thread::Thread;
use crate::registry::check_light;
use crate::tsc::Ticks;

/// A start on such a thread.
///
/// # Safety
///
/// As for [`prepare`](super::prepare).
#[inline(never)]
pub(super) unsafe extern "C" fn prepare_mixed(
    callsite: &'static Callsite,
    thread: &Thread,
    started: *mut Started,
) -> bool {
    // What has happened until now belongs to the caller.
    check_light(light::this());
    add_light_calls(thread);
    // SAFETY: guaranteed by the caller: `started` is valid for writes.
    unsafe {
        let Some((entry, record)) = thread.find(callsite.position()) else {
            return prepare_first(callsite, thread, started);
        };
        entry.enter();
        start_with(record, thread, started);
        link(callsite, started);
        if !thread.detector.is_armed_by_any() {
            return prepare_rearmed(thread, started);
        }
    }
    opaque_true()
}

/// Links the frame of a call that has started.
///
/// # Safety
///
/// `started` was written by a start on this thread.
pub(super) unsafe fn link(callsite: &'static Callsite, started: *mut Started) {
    // SAFETY: guaranteed by the caller. The frame is a cell, which may be shared while the rest is written.
    unsafe {
        if (*started).record != NOTHING {
            let frame = &(*started).frame;
            frame.set_callsite(callsite);
            light::this().enter_uncounted(frame);
        }
    }
}

/// The stop of a call on such a thread.
///
/// # Safety
///
/// As for [`finish`](super::finish).
#[inline(never)]
pub(super) unsafe extern "C" fn finish_mixed(started: *const Started, stop: Ticks) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        unlink(&*(*started).thread, started);
        finish_apart(started, stop);
    }
}

/// Called at a stop, before the running overhead is read. A call that has started before the program had light probes has no frame.
///
/// # Safety
///
/// As for [`finish`](super::finish).
pub(super) unsafe fn unlink(thread: &Thread, started: *const Started) {
    let light = light::this();
    check_light(light);
    add_light_calls(thread);
    // SAFETY: guaranteed by the caller. If the frame is the innermost one, it was linked.
    unsafe {
        let frame = &raw const (*started).frame;
        if core::ptr::eq(light.innermost(), frame) {
            light.leave(&*frame);
        }
    }
}

/// Adds what the light calls since the last time have cost to the running overhead.
pub(super) fn add_light_calls(thread: &Thread) {
    let calls = light::this().new_calls();
    if calls != 0 {
        thread.add_overhead(light_cost::of(calls));
    }
}
