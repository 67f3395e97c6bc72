//! Light probes in unusual cases: the first call of a callsite on a thread, and a check that finds that something has happened.

use crate::calibration;
use crate::hooks;
use crate::probe::empty_calls::Light;
use crate::record::callsite::{Callsite, meta};
use crate::record::light::{self, Frame, LightThread, Who};
use crate::registry::{self, check_light};
use crate::tick_clock;

/// The start of a call or of a poll, which `COUNTER` counts, if the inlined probe does not handle it. A constant is no argument, which takes less
/// code in each annotated function.
///
/// # Safety
///
/// The probe has set the frame's callsite.
#[cold]
#[inline(never)]
pub(super) unsafe extern "C" fn start<const COUNTER: usize>(frame: &Frame) {
    // SAFETY: the probe has set the frame's callsite.
    unsafe { start_counting(frame, COUNTER) };
}

/// # Safety
///
/// As for [`start`].
#[inline(never)]
unsafe fn start_counting(frame: &Frame, counter: usize) {
    let thread = light::this();
    // What has happened until now belongs to the caller.
    check(thread);
    // SAFETY: the probe has set the frame's callsite.
    if let Who::Fresh(callsite) = unsafe { frame.who() }
        && count(callsite, counter, 1)
    {
        thread.enter(frame, frame);
    } else {
        // Its time is its caller's. It is linked all the same: a block around it, whose frame lies in a future, may end before it does. Then the
        // end of a call that is not linked would bring the block's frame back.
        frame.set_callsite(&NOT_RECORDED);
        thread.link(frame, frame);
    }
}

/// Stands for all callsites in frames of calls that are not recorded. It is never called, so it has no number.
static NOT_RECORDED: Callsite =
    Callsite::new::<Light>(meta(&(), module_path!(), line!()).named("not recorded"));

/// Adds to a callsite's counter on this thread. Returns false if the thread has no row for it.
#[inline(never)]
pub(super) fn count(callsite: &'static Callsite, counter: usize, count: u64) -> bool {
    let thread = light::this();
    let is_found = || registry::find_row(callsite, hooks::install, counter, count);
    if !thread.has_valid(callsite.row()) && (callsite.is_left_out() || !is_found()) {
        return false;
    }
    // SAFETY: the thread has the row, according to `has_valid` or the registry.
    unsafe { thread.row(callsite.row()) }.add(counter, count);
    true
}

#[cold]
#[inline(never)]
pub(super) extern "C" fn stop() {
    check(light::this());
}

/// Finds out what has happened, and measures what a light call costs if that is due.
fn check(thread: &LightThread) {
    check_light(thread);
    if tick_clock::is_measurement_due() {
        registry::as_own_work(calibration::light::measure_again);
    }
}

/// The end of a block whose frame is not the innermost one: others are inside it that have not ended, or it is not linked any more, because calls
/// around it have ended.
#[cold]
#[inline(never)]
pub(super) extern "C" fn stop_out_of_order(frame: &Frame) {
    let thread = light::this();
    check(thread);
    thread.unlink(frame);
}
