//! What a thread spends in the registry and on reports: overhead to its calls in flight, kept apart from what probes cost them.

use super::thread_end::with_shard_slot;
use super::{busy_with, in_cold_path, registry};
use crate::record::thread::{self, Thread};
use crate::registry::registration_costs::RegistrationCosts;
use crate::tsc::Ticks;
use crate::tsc::clock;

/// The time at which a cold path begins: what the thread lost until now is the running call's.
pub(crate) fn begin_cold_path(thread: &Thread) -> Ticks {
    thread.rearm();
    clock::now()
}

/// What this thread has done since `began`, in the cold path, is overhead to the calls in flight, and none of a probe's.
pub(super) fn add_registration_cost(thread: &Thread, began: Ticks) {
    let (now, before) = (clock::now(), thread.overhead.get());
    let spent = now.wrapping_sub(began);
    let lost = thread.turn_loss_into_overhead(began, now);
    thread.add_overhead(spent.cast_signed().wrapping_sub(lost));
    with_registration_costs(|costs| costs.add(before, spent));
    thread.detector.note_registration(now);
}

/// The time at which a report begins.
pub(crate) fn begin_report() -> Ticks {
    begin_cold_path(thread::this())
}

/// The same of a report.
pub(crate) fn add_cost_of_report(began: Ticks) {
    in_cold_path(|thread| add_registration_cost(thread, began));
}

/// What of this thread's overhead beyond `overhead_then` registrations and reports have added.
pub(crate) fn registration_cost_since(overhead_then: u64) -> u64 {
    busy_with(|_| with_registration_costs(|costs| costs.since(overhead_then)))
        .flatten()
        .unwrap_or(0)
}

/// In the cold path, for a signal handler must not want the lock again. `None` on a thread that has recorded nothing, or is ending, and
/// where somebody else has the lock, who may wait for what a signal handler has interrupted here.
fn with_registration_costs<T>(f: impl FnOnce(&mut RegistrationCosts) -> T) -> Option<T> {
    with_shard_slot(|slot| {
        let shard = slot.current(registry())?;
        Some(f(&mut shard.own.try_lock()?.registration_costs))
    })?
}
