//! Which path an unusual call takes: that of a thread that records its tree, or another one.

use super::slot::{Slot, Started};
use super::tree::{finish_call_in_tree, finish_in_tree, prepare_in_tree};
use super::unusual::{finish_linked, finish_outside_tree, prepare_outside_tree, stop_untimed};
use crate::record::callsite::Callsite;
use crate::record::thread::Thread;
use crate::tsc::Ticks;

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
        None => prepare_outside_tree(callsite, thread, slot),
        Some(contexts) => prepare_in_tree(callsite, thread, contexts, slot),
    }
}

/// Handles a call that [`finish`](super::finish) does not record itself. Leaves at once for the function that does.
#[cold]
#[inline(never)]
pub(super) extern "C" fn finish_unusual(started: &Started, stop: Ticks) {
    match started.thread().contexts() {
        None => finish_outside_tree(started, stop),
        Some(contexts) => finish_call_in_tree(contexts, started, stop),
    }
}

/// The stop of a poll, of which `finish` does the rest.
pub(super) fn finish_unusual_poll(started: &Started, finish: impl FnOnce()) {
    match started.thread().contexts() {
        None => finish_linked(started, finish),
        Some(contexts) => finish_in_tree(contexts, started, 0, finish),
    }
}

/// The stop of a call that the inlined reads have not timed. Does nothing if nothing measures it; this is each call of a callsite that is
/// left out.
#[cold]
#[inline(never)]
pub(super) extern "C" fn finish_untimed(slot: &Slot) {
    stop_untimed(slot, |started, stop| {
        started.note_panic();
        finish_unusual(started, stop);
    });
}
