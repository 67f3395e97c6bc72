//! Throughput: the number of bytes or items that a call works on.

use crate::count::Count;
use crate::record::callsite::Callsite;
use crate::record::thread;
use crate::{hooks, registry};

/// Adds to the callsite's count when it is dropped. That is after the stop, so that counting is not measured, and so that the call's record
/// exists, if the call was recorded.
#[derive(Debug)]
pub struct Units {
    callsite: &'static Callsite,
    count: u64,
}

impl Units {
    /// `bytes = count` or `items = count`.
    #[inline]
    #[must_use]
    pub fn new(callsite: &'static Callsite, count: impl Count) -> Self {
        Self {
            callsite,
            count: of_start(count),
        }
    }
}

impl Drop for Units {
    #[inline]
    fn drop(&mut self) {
        add(self.callsite, self.count);
    }
}

/// The same for a future, inside its first poll.
#[inline]
pub fn add_units(callsite: &'static Callsite, count: impl Count) {
    add(callsite, of_start(count));
}

/// The count of a call that starts now: nothing in a pause, in which it is not recorded.
#[inline]
fn of_start(count: impl Count) -> u64 {
    let count = count.count();
    if registry::is_paused() { 0 } else { count }
}

/// Whether a call is recorded is decided at its start, so its record is found in a pause, too. A function that only returns a future has none yet.
#[inline(never)]
fn add(callsite: &'static Callsite, count: u64) {
    if let Some((_, record)) = thread::this().find_invalidated(callsite.position()) {
        record.counters.units.add(count);
    } else if count != 0 {
        registry::with_record(callsite, hooks::install, |record| {
            record.counters.units.add(count)
        });
    }
}
