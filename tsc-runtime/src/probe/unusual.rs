//! What the paths of unusual calls have in common: a callsite's first call on a thread, a call that was interrupted, and a call that the
//! inlined reads cannot measure. `dispatch` decides which path a call takes.

use core::hint;

use super::slot::{Slot, Started};
use super::stop::Measurement;
use crate::hooks;
use crate::record::callsite::Callsite;
use crate::record::thread::{self, Thread};
use crate::record::{Record, light};
use crate::registry::{self, Found};
use crate::tsc::{Ticks, clock, elapsed};

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

/// Stops and records an unusual call, whether it has a place in the tree or not.
#[inline(never)]
pub(super) extern "C" fn finish_measurement(started: &Started, stop: Ticks) {
    let call = Measurement::of(started);
    call.stop(elapsed(call.start, stop), call.verdict(), |cost| {
        cost.record(&call);
    });
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
    enter_tree(thread, record, slot);
    if thread.is_mixed() {
        link(callsite, slot);
    }
    is_timed
}

/// Links the frame of a measured call that has started.
pub(super) fn link(callsite: &'static Callsite, slot: &Slot) {
    slot.frame.set_callsite(callsite);
    light::this().enter_uncounted(&slot.frame);
}

/// Gives the started call its place in the tree, if the thread has a tree.
fn enter_tree(thread: &Thread, record: &Record, slot: &mut Slot) {
    if let Some(contexts) = thread.contexts() {
        slot.set_outer(contexts.enter(record.id, &record.place, is_inner(record)));
    }
}

/// Whether the running call is inside another one of the same callsite.
pub(super) fn is_inner(record: &Record) -> bool {
    record.entry().depth() > 1
}
