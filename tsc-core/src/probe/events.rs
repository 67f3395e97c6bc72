//! Reads the thread's perf counters at both ends of a call, if events are counted: see [`events`].

use super::slot::{Slot, Started};
use super::unusual::prepare_rearmed;
use crate::events;

/// Called at the start of a timed call, before the fence. The time that this takes lies before the call.
#[cold]
#[inline(never)]
pub(super) fn read_at_start(slot: &mut Slot) {
    // SAFETY: `prepare` has written the slot but for the start, which nothing here reads.
    if let Some(started) = unsafe { slot.timed() }
        && let Some((call, ticks)) = events::start(started.record())
    {
        let thread = started.thread();
        slot.set_events(call);
        thread.add_overhead(ticks.cast_signed());
        prepare_rearmed(thread, slot);
    }
}

/// Called at its stop, after the fence and before the call is recorded. The time that this takes is overhead for the calls around it.
#[cold]
#[inline(never)]
pub(super) fn read_at_stop(started: &Started) {
    let is_inner = started.record().is_inner();
    if let Some(ticks) = started.events().and_then(|call| call.stop(is_inner)) {
        started.add_overhead_around(ticks);
    }
}
