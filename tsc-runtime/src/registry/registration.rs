//! The time that a thread spends in the registry and on reports. It is overhead for the calls that are running, kept apart from the probes'
//! overhead.

use super::thread_end::with_shard_slot;
use super::{busy_with, in_cold_path, registry};
use crate::record::thread::{self, Thread};
use crate::registry::registration_costs::RegistrationCosts;
use crate::tsc::{Ticks, clock};

/// The time at which a cold path begins. What the thread has lost until now belongs to the running call.
pub(crate) fn begin_cold_path(thread: &Thread) -> Ticks {
    thread.rearm();
    clock::now()
}

/// The time since `began`, in the cold path, is overhead for the running calls, but not of a probe.
pub(super) fn add_registration_cost(thread: &Thread, began: Ticks) {
    let (now, before) = (clock::now(), thread.overhead.get());
    let spent = thread.cold_path_ticks(now.wrapping_sub(began));
    thread.note_loss_before(began, now);
    thread.add_overhead(spent.cast_signed());
    with_registration_costs(|costs| costs.add(before, spent));
    thread.detector.note_registration(now);
}

/// The time at which a report begins.
pub(crate) fn begin_report() -> Ticks {
    begin_cold_path(thread::this())
}

/// The same for a report.
pub(crate) fn add_cost_of_report(began: Ticks) {
    in_cold_path(|thread| add_registration_cost(thread, began));
}

/// The part of this thread's overhead beyond `overhead_then` that registrations and reports have added.
pub(crate) fn registration_cost_since(overhead_then: u64) -> u64 {
    busy_with(|_| with_registration_costs(|costs| costs.since(overhead_then)))
        .flatten()
        .unwrap_or(0)
}

/// Runs in the cold path, so that a signal handler does not wait for the lock that its thread holds. Returns `None` on a thread that has
/// recorded nothing or is ending, and if another thread holds the lock, which may be waiting for what a signal handler has interrupted
/// here.
fn with_registration_costs<T>(f: impl FnOnce(&mut RegistrationCosts) -> T) -> Option<T> {
    with_shard_slot(|slot| {
        let shard = slot.current(registry())?;
        Some(f(&mut shard.own.try_lock()?.registration_costs))
    })?
}
