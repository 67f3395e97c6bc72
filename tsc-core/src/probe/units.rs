//! Throughput: the number of bytes or items that a call works on.

use crate::count::Count;
use crate::record::callsite::Callsite;
use crate::{hooks, registry};

/// Adds to the callsite's count when it is dropped. That is after the stop, so that counting is not measured, and so that the call's record
/// exists.
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
            count: count.count(),
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
    add(callsite, count.count());
}

#[inline(never)]
fn add(callsite: &'static Callsite, count: u64) {
    registry::with_record(callsite, hooks::install, |record| {
        record.counters.units.add(count)
    });
}
