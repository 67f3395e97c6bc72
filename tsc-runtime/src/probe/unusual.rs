//! The probe in unusual cases: a callsite's first call on a thread, a call that was interrupted, and a call that the inlined reads cannot
//! measure.

use core::hint;

use super::mixed::{finish_mixed, link, prepare_mixed};
use super::slot::{Slot, Started, Untimed};
use super::stop::Measurement;
use super::tree::{self, finish_call_in_tree, prepare_in_tree};
use crate::hooks;
use crate::record::callsite::Callsite;
use crate::record::thread::{self, Thread};
use crate::registry::{self, Found};
use crate::tsc::clock;
use crate::tsc::{Ticks, elapsed};

/// Handles a call that [`finish`](super::finish) does not record itself. Leaves at once for the function that does.
#[cold]
#[inline(never)]
pub(super) extern "C" fn finish_unusual(started: &Started, stop: Ticks) {
    let thread = started.thread();
    match thread.contexts() {
        None if thread.is_mixed() => finish_mixed(started, stop),
        None => finish_apart(started, stop),
        Some(contexts) => finish_call_in_tree(contexts, started, stop),
    }
}

/// The stop of a call that the inlined reads have not timed. Does nothing if nothing measures it; this is each call of a callsite that is
/// left out.
#[cold]
#[inline(never)]
pub(super) extern "C" fn finish_untimed(slot: &Slot) {
    stop_untimed(slot, |started, stop| {
        if std::thread::panicking() {
            started.record().count_panicked();
        }
        finish_unusual(started, stop);
    });
}

/// Gives `finish` the call and the current time, unless nothing measures it.
pub(super) fn stop_untimed(slot: &Slot, finish: impl FnOnce(&Started, Ticks)) {
    // SAFETY: the probe's start has written the slot, and its stop has found no timed call.
    if let Some((started, Untimed { record, is_orphan })) = unsafe { slot.untimed() } {
        finish(started, clock::now());
        if is_orphan {
            registry::fold_orphan(record);
        }
    }
}

/// The same as [`finish_unusual`], for calls with and without a place in the tree.
#[inline(never)]
pub(super) extern "C" fn finish_apart(started: &Started, stop: Ticks) {
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
    match thread.contexts() {
        None if thread.is_mixed() => prepare_mixed(callsite, thread, slot),
        None => prepare_first(callsite, slot),
        Some(contexts) => prepare_in_tree(callsite, thread, contexts, slot),
    }
}

/// The first call of a callsite on this thread, or the first after a pause, a reset or a fork. The cost of preparing it is overhead for the
/// calls around it.
#[inline(never)]
pub(super) extern "C" fn prepare_first(callsite: &'static Callsite, slot: &mut Slot) -> bool {
    let thread = thread::this();
    let (record, is_orphan) = match registry::find(callsite, hooks::install) {
        Found::Nothing => {
            slot.set_nothing();
            return false;
        }
        Found::Orphan(record) => (record, true),
        Found::Record(record) => (record, false),
    };
    let is_timed = !is_orphan && !clock::is_os_clock();
    if is_timed {
        thread.rearm();
    }
    // SAFETY: what the registry found lives as long as the thread, or as long as this call.
    let found = unsafe { &*record };
    found.entry().enter();
    if is_timed {
        slot.set_timed(found, thread);
    } else {
        slot.set_untimed(Untimed { record, is_orphan }, thread, clock::now());
    }
    // If this was the thread's first call, it may have a tree now, or it may link frames from now on.
    tree::enter(thread, found, slot);
    if thread.is_mixed() {
        link(callsite, slot);
    }
    is_timed
}
