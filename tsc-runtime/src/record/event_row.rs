//! The events counted in the calls of one callsite, over all threads.

use std::ptr;
use std::sync::atomic::{
    AtomicI64, AtomicPtr, AtomicU32, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed},
};

/// The greatest number of events that can be counted at once.
pub(crate) const MOST: usize = 8;

/// Incremented when all counts are reset. A row with an earlier generation is empty.
pub(crate) static GENERATION: AtomicU32 = AtomicU32::new(0);

/// The row of a callsite, once it exists.
#[derive(Debug)]
pub(crate) struct RowCell(AtomicPtr<Row>);

impl RowCell {
    pub(crate) const fn new() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    pub(crate) fn get(&self) -> Option<&'static Row> {
        // SAFETY: the pointer is null or from `get_or_make`, and rows are never freed.
        unsafe { self.0.load(Acquire).as_ref() }
    }

    /// Returns the row; allocates it at the callsite's first call. There is at most one row for each callsite, and it is never freed.
    pub(crate) fn get_or_make(&self) -> &'static Row {
        self.get().unwrap_or_else(|| {
            let fresh = Box::into_raw(Box::new(Row::new()));
            match self
                .0
                .compare_exchange(ptr::null_mut(), fresh, AcqRel, Acquire)
            {
                // SAFETY: it was made just now, and is never freed.
                Ok(_) => unsafe { &*fresh },
                Err(other) => {
                    // SAFETY: the fresh row was made just now, and nothing else refers to it. The other row is valid as in `get`.
                    unsafe {
                        drop(Box::from_raw(fresh));
                        &*other
                    }
                }
            }
        })
    }
}

/// Sums that threads add to without a lock, so that a signal handler may do so in between.
#[derive(Debug)]
pub(crate) struct Row {
    generation: AtomicU32,
    calls: AtomicU64,
    sums: [AtomicI64; MOST],
}

impl Row {
    fn new() -> Self {
        Self {
            generation: AtomicU32::new(GENERATION.load(Relaxed)),
            calls: AtomicU64::new(0),
            sums: [const { AtomicI64::new(0) }; MOST],
        }
    }

    /// Called when a call has ended.
    pub(crate) fn add(&self, counted: &[i64; MOST]) {
        self.catch_up();
        self.calls.fetch_add(1, Relaxed);
        for (sum, counted) in self.sums.iter().zip(counted) {
            sum.fetch_add(*counted, Relaxed);
        }
    }

    /// The number of calls, and how often each event happened in them. If `forget` is true, both are reset.
    pub(crate) fn counts(&self, forget: bool) -> (u64, [i64; MOST]) {
        self.catch_up();
        if forget {
            let calls = self.calls.swap(0, Relaxed);
            (calls, self.sums.each_ref().map(|sum| sum.swap(0, Relaxed)))
        } else {
            let calls = self.calls.load(Relaxed);
            (calls, self.sums.each_ref().map(|sum| sum.load(Relaxed)))
        }
    }

    /// Clears the row if it belongs to an earlier generation.
    fn catch_up(&self) {
        let current = GENERATION.load(Relaxed);
        if self.generation.swap(current, Relaxed) != current {
            self.calls.store(0, Relaxed);
            self.sums.iter().for_each(|sum| sum.store(0, Relaxed));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_of_the_current_generation_and_handed_out_once() {
        const NOTHING: (u64, [i64; MOST]) = (0, [0; MOST]);
        let row = Row::new();
        assert_eq!(row.counts(false), NOTHING);
        let mut counted = [0; MOST];
        counted[..2].copy_from_slice(&[5, -1]);
        row.add(&counted);
        row.add(&counted);
        for forget in [false, true] {
            let (calls, counts) = row.counts(forget);
            assert_eq!((calls, &counts[..3]), (2, &[10, -2, 0][..]));
        }
        assert_eq!(row.counts(false), NOTHING);
        row.add(&counted);
        row.generation.fetch_sub(1, Relaxed);
        assert_eq!(row.counts(false), NOTHING);
    }
}
