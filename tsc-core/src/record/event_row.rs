//! The events counted in the calls of one callsite, over all threads.

use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

use once_cell::race::OnceBox;

/// The greatest number of events that can be counted at once.
pub(crate) const MOST: usize = 8;

/// The row of a callsite, which is made at its first call.
pub(crate) type RowCell = OnceBox<EventRow>;

/// Sums that threads add to without a lock, so that a signal handler may do so in between.
#[derive(Debug, Default)]
pub(crate) struct EventRow {
    calls: AtomicI64,
    sums: [AtomicI64; MOST],
}

impl EventRow {
    /// Called when a call has ended.
    pub(crate) fn add(&self, counted: &[i64; MOST]) {
        self.calls.fetch_add(1, Relaxed);
        for (sum, counted) in self.sums.iter().zip(counted) {
            sum.fetch_add(*counted, Relaxed);
        }
    }

    /// The number of calls, and how often each event happened in them. If `forget` is true, both are reset.
    pub(crate) fn counts(&self, forget: bool) -> (u64, [i64; MOST]) {
        let read = |of: &AtomicI64| match forget {
            true => of.swap(0, Relaxed),
            false => of.load(Relaxed),
        };
        let calls = read(&self.calls).cast_unsigned();
        (calls, self.sums.each_ref().map(read))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_handed_out_once() {
        let row = EventRow::default();
        let mut counted = [0; MOST];
        counted[0] = 3;
        row.add(&counted);
        row.add(&counted);
        counted[0] = 6;
        assert_eq!(row.counts(false), (2, counted));
        assert_eq!(row.counts(true), (2, counted));
        assert_eq!(row.counts(false), (0, [0; MOST]));
    }
}
