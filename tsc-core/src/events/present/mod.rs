//! The functions for events that probes and reports call.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use self::group::GroupReading;
use crate::record::Record;
use crate::record::callsite::{self, Callsite};
use crate::record::event_row::EventRow;
use tsc_report::EventCount;

mod group;
mod kinds;
#[cfg(test)]
mod tests;

#[cfg(fuzzing)]
pub(crate) use kinds::understood;

/// Whether events are counted.
static ARE_COUNTED: AtomicBool = AtomicBool::new(false);

/// Called when the process begins to measure: decides which events are counted, and prints which ones cannot be.
pub(crate) fn begin() {
    static IS_DECIDED: AtomicBool = AtomicBool::new(false);
    if !IS_DECIDED.swap(true, Relaxed) && !kinds::choose(group::try_to_open).is_empty() {
        ARE_COUNTED.store(true, Release);
    }
}

/// Whether events are counted.
#[inline(always)]
pub(crate) fn are_counted() -> bool {
    ARE_COUNTED.load(Acquire)
}

/// A running call whose events are counted: the row to which they belong, and the thread's counters at its start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CountedCall {
    row: &'static EventRow,
    start: GroupReading,
}

/// Called before a call's first read of the TSC. Also returns the ticks that this took.
pub(crate) fn start(record: &Record) -> Option<(CountedCall, u64)> {
    let row = record.events?;
    let (start, ticks) = group::read()?;
    Some((CountedCall { row, start }, ticks))
}

impl CountedCall {
    /// Called after the call's last read of the TSC. In a recursion, only the outermost call is recorded, but the others read the counters,
    /// too, so that all calls cost the same. Returns the ticks that this took.
    pub(crate) fn stop(&self, is_inner: bool) -> Option<u64> {
        let (stop, ticks) = group::read()?;
        if !is_inner && let Some(counted) = group::difference(&self.start, &stop) {
            self.row.add(&counted);
        }
        Some(ticks)
    }
}

/// The counts of the callsite's calls, which are reset if they are taken, so that each count is in exactly one report. Empty if no events are
/// counted.
pub(crate) fn counts(callsite: &Callsite, are_taken: bool) -> Vec<EventCount> {
    let row = callsite.events.get();
    let Some((calls, counts)) = row.map(|row| row.counts(are_taken)) else {
        return Vec::new();
    };
    let counted = kinds::chosen().iter().zip(counts).filter(|_| calls != 0);
    counted
        .map(|(kind, count)| EventCount {
            event: kind.name.to_owned(),
            calls,
            count,
        })
        .collect()
}

/// Resets all counts.
pub(crate) fn forget() {
    let rows = callsite::registered().filter_map(|callsite| callsite.events.get());
    rows.for_each(|row| _ = row.counts(true));
}

/// Resets everything in the child of a fork: the counts belong to the parent, and the counters to its threads.
pub(crate) fn start_from_zero() {
    forget();
    group::forget();
}
