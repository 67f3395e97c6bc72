//! Keeps a thread's cost of a counted call up to date.

use super::busy_with;
use super::registration::{add_registration_cost, begin_cold_path};
use crate::calibration::{counting, overhead};
use crate::record::callsite::Callsite;
use crate::record::contexts;
use crate::record::thread::Thread;
use crate::tsc::{Ticks, clock};

/// The cost is measured again after this time, which is about a millisecond at common rates. A measurement takes a hundredth of that. With a
/// fourth as many, the totals of the same program differed twice as much from run to run on a core whose speed changed.
const OLD: Ticks = 2_500_000;

/// Measures what a counted call costs if the last measurement on this thread is old. Called before a call that is timed in its turn. The
/// time is that of a cold path, and so not the callers'. Does nothing if call trees are recorded: then a measurement would have to allocate.
#[cold]
pub(crate) fn keep_up_to_date(callsite: &Callsite, thread: &Thread) {
    if contexts::are_recorded() || !thread.sampler.is_older_than(OLD, clock::now()) {
        return;
    }
    let began = begin_cold_path(thread);
    busy_with(|thread| {
        let counted = counting::measure(callsite, thread);
        thread.sampler.set_counted_cost(overhead::in_place(counted));
        thread.sampler.set_measured(clock::now());
        add_registration_cost(thread, began);
    });
}
